-- What collectors report: who they are, what they said by its identity, what could not be read, and
-- how far followed files are.

-- One row for each collector; its figures are kept in the transaction of what they count.
CREATE TABLE source (
    id            INTEGER PRIMARY KEY,
    name          TEXT    NOT NULL UNIQUE,
    -- Empty where its records came through the API.
    format        TEXT    NOT NULL,
    -- The machine that its records are of where they name none; empty for none.
    machine       TEXT    NOT NULL,
    -- µs since 1970 on the ledger's clock; 0 where nobody knows.
    first_contact INTEGER NOT NULL,
    last_contact  INTEGER NOT NULL,
    -- The latest end that it reported.
    last_event    INTEGER,
    records       INTEGER NOT NULL DEFAULT 0,
    jobs          INTEGER NOT NULL DEFAULT 0,
    skipped       INTEGER NOT NULL DEFAULT 0,
    rejected      INTEGER NOT NULL DEFAULT 0
) STRICT;

-- One row for each identity; an amended record takes the place of the one before it.
CREATE TABLE usage_identity (
    id           INTEGER PRIMARY KEY,
    source       INTEGER NOT NULL REFERENCES source(id),
    object_id    TEXT    NOT NULL,
    -- 0 where it never started. All times are µs since 1970.
    start_at     INTEGER NOT NULL,
    end_at       INTEGER,
    submit_at    INTEGER,
    machine      TEXT    NOT NULL,
    object_type  TEXT    NOT NULL,
    -- As the source names them, and what they are to the bank.
    account      TEXT    NOT NULL,
    login        TEXT    NOT NULL,
    project      TEXT    NOT NULL,
    user         TEXT    NOT NULL,
    group_name   TEXT    NOT NULL,
    queue        TEXT    NOT NULL,
    qos          TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    exit_code    INTEGER,
    flags        TEXT    NOT NULL,
    -- Thousandths of processors, cut; NULL where nobody says.
    millis       INTEGER,
    nodes        INTEGER,
    gpus         INTEGER,
    memory_bytes INTEGER,
    wall_us      INTEGER,
    cpu_us       INTEGER,
    requested_s  INTEGER,
    revision     INTEGER NOT NULL,
    became       TEXT    NOT NULL,
    policy       TEXT    NOT NULL,
    counted      TEXT    NOT NULL,
    instance     INTEGER REFERENCES instance(id),
    -- Priced, in minor units; in the shadow totals where it moved no money.
    amount       INTEGER,
    -- Where that lies in the shadow totals, if it came with a chunk.
    allocation   INTEGER,
    -- The code of what strict enforcement would have said.
    refusal      TEXT,
    -- What there was then, where it was for want of money and came with a chunk.
    available    INTEGER,
    -- The transaction that took it in; NULL where it moved nothing.
    tx           INTEGER,
    -- Its line as it came: the block and the place in it, from 0.
    block        INTEGER,
    place        INTEGER,
    -- The first 16 bytes of SHA-256 over everything that was said: tells equal from amended. Rows
    -- of earlier versions have the text itself.
    digest       BLOB    NOT NULL,
    UNIQUE (source, object_id, start_at)
) STRICT;
CREATE INDEX usage_identity_end ON usage_identity (machine, end_at);
CREATE INDEX usage_identity_instance ON usage_identity (instance) WHERE instance IS NOT NULL;
-- What strict would have refused, by the transaction that took it in.
CREATE INDEX usage_identity_refusal ON usage_identity (tx) WHERE refusal IS NOT NULL;

INSERT INTO source (name, format, machine, first_contact, last_contact, last_event, records, jobs)
    SELECT source, '', '', 0, 0, max(end_at), count(*), count(*) FROM finished_use GROUP BY source;
INSERT INTO usage_identity (source, object_id, start_at, end_at, machine, object_type, account,
        login, project, user, group_name, queue, qos, state, flags, revision, became, policy,
        counted, instance, digest)
    SELECT s.id, f.object_id, f.start_at, f.end_at, f.machine, f.object_type, f.project, f.user,
        f.project, f.user, '', '', '', '', '', f.revision, f.became, f.policy, f.counted,
        f.instance, CAST(f.record AS BLOB)
    FROM finished_use f JOIN source s ON s.name = f.source;
DROP TABLE finished_use;

-- The lines of a chunk as they came, each behind its length (4 bytes, the lowest first), compressed
-- as one zstd frame.
CREATE TABLE raw_block (
    id     INTEGER PRIMARY KEY,
    source INTEGER NOT NULL REFERENCES source(id),
    -- The transaction of the chunk; NULL where each line was a transaction of its own.
    tx     INTEGER,
    lines  INTEGER NOT NULL,
    bytes  INTEGER NOT NULL,
    body   BLOB    NOT NULL
) STRICT;

-- What could not be read or taken, oldest out first.
CREATE TABLE quarantine (
    id     INTEGER PRIMARY KEY,
    at     INTEGER NOT NULL,
    source TEXT    NOT NULL,
    peer   TEXT    NOT NULL,
    -- File or route.
    place  TEXT    NOT NULL,
    line   INTEGER NOT NULL,
    reason TEXT    NOT NULL,
    bytes  INTEGER NOT NULL,
    body   BLOB    NOT NULL
) STRICT;

-- One row: what the quarantine holds, and what fell out of it.
CREATE TABLE quarantine_total (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    held    INTEGER NOT NULL,
    bytes   INTEGER NOT NULL,
    dropped INTEGER NOT NULL
) STRICT;
INSERT INTO quarantine_total VALUES (1, 0, 0, 0);

-- How far a followed file was taken in.
CREATE TABLE follow (
    source      TEXT    NOT NULL,
    path        TEXT    NOT NULL,
    device      INTEGER NOT NULL,
    inode       INTEGER NOT NULL,
    -- SHA-256 over the first and the last of the bytes taken in, and how many of the first.
    head        BLOB    NOT NULL,
    head_length INTEGER NOT NULL,
    offset      INTEGER NOT NULL,
    line        INTEGER NOT NULL,
    -- What else its follower must know to go on.
    state       TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (source, path)
) STRICT, WITHOUT ROWID;

-- The quarantine by collector, and whether a line is in it already.
CREATE INDEX quarantine_source ON quarantine (source, id);
CREATE INDEX quarantine_place ON quarantine (source, place, line, bytes);

-- How the files of a collector were read last: how a line out of the quarantine is read again.
CREATE TABLE source_reading (
    source  INTEGER PRIMARY KEY REFERENCES source(id),
    -- JSON, as the request had them.
    options TEXT NOT NULL
) STRICT;

-- Records of AUDITOR's API -----------------------------------------------------------------------

-- One row for each record, in the order in which they came. What never changes of it is kept as the
-- text that is answered.
CREATE TABLE auditor_record (
    id        INTEGER PRIMARY KEY,
    record_id TEXT    NOT NULL UNIQUE,
    -- µs since 1970.
    start_at  INTEGER NOT NULL,
    -- The largest number there is while it goes on, so that it comes last.
    end_at    INTEGER NOT NULL,
    -- Whole seconds from start to end; NULL while it goes on.
    runtime   INTEGER,
    -- The name of the certificate that sent it; empty where nobody is known.
    creator   TEXT    NOT NULL,
    -- When its lien is placed again; NULL for never.
    renew_at  INTEGER,
    -- JSON up to its end, without the closing brace.
    head      TEXT    NOT NULL
) STRICT;
CREATE INDEX auditor_record_end ON auditor_record (end_at);
CREATE INDEX auditor_record_start ON auditor_record (start_at);
CREATE INDEX auditor_record_renew ON auditor_record (renew_at) WHERE renew_at IS NOT NULL;

-- One row for each value of a key of a record's meta, by the first 8 bytes of SHA-256 over both.
CREATE TABLE auditor_value (
    pair   INTEGER NOT NULL,
    end_at INTEGER NOT NULL,
    record INTEGER NOT NULL,
    PRIMARY KEY (pair, end_at, record)
) STRICT, WITHOUT ROWID;

-- The health of collectors: seconds without a word after which one counts as silent (NULL: as the
-- settings say, 0: never), and whether it was taken off the list until it speaks again.
ALTER TABLE source ADD COLUMN silent_after_s INTEGER CHECK (silent_after_s >= 0);
ALTER TABLE source ADD COLUMN removed INTEGER NOT NULL DEFAULT 0 CHECK (removed IN (0, 1));

-- Whom usage is for: mappings, other names of users, and usage that waits for a project.

CREATE TABLE mapping (
    id          INTEGER PRIMARY KEY,
    -- Lower is asked first, then the lower number.
    priority    INTEGER NOT NULL,
    -- One condition a line, such as account=grp_*.
    conditions  TEXT    NOT NULL,
    -- What it gives, with places to fill; NULL for nothing.
    project     TEXT,
    user        TEXT,
    description TEXT    NOT NULL,
    deleted     INTEGER NOT NULL
) STRICT;

CREATE TABLE user_alias (
    alias TEXT    PRIMARY KEY,
    user  INTEGER NOT NULL REFERENCES user(id)
) STRICT, WITHOUT ROWID;

-- Rows of usage_identity whose names were no project's when they came. It names its rows without a
-- reference: a chunk of a new site may bring thousands, and none is ever deleted.
CREATE TABLE unmapped (
    identity INTEGER PRIMARY KEY
) STRICT;
INSERT INTO unmapped
    SELECT u.id FROM usage_identity u
    WHERE u.became <> 'unused'
        AND NOT EXISTS (SELECT 1 FROM project p WHERE p.name = u.project AND p.deleted = 0)
        AND NOT EXISTS (SELECT 1 FROM account a WHERE a.name = u.project AND a.deleted = 0)
        AND NOT (u.project = '' AND EXISTS (SELECT 1 FROM user p
            WHERE p.name = u.user AND p.deleted = 0 AND p.default_project IS NOT NULL));
