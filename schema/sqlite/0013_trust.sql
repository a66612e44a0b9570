-- == Roles, tokens, proposals

-- SHA-256 of an API token, in hexadecimal: who shows the token is the client of the row. NULL for a
-- signing key.
ALTER TABLE auth_key ADD COLUMN token TEXT CHECK (token IS NULL OR length(token) = 64);
CREATE UNIQUE INDEX auth_key_token ON auth_key (token) WHERE token IS NOT NULL;

-- When a key or a token was used last, in seconds of the real time, to the minute. Says nothing of
-- the ledger: it is not journalled, and rows are replaced.
CREATE TABLE key_use (
    key    TEXT    PRIMARY KEY REFERENCES auth_key(id),
    used_s INTEGER NOT NULL,
    seal   INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- What a member is in a project: a manager looks after it, a pi reads all of it.
ALTER TABLE member ADD COLUMN role TEXT NOT NULL DEFAULT 'member'
    CHECK (role IN ('member', 'pi', 'manager'));

-- Roles that people were given, by login name, over a project with all below it or over the bank.
-- Rows stay when they are taken back.
CREATE TABLE role_grant (
    id       INTEGER PRIMARY KEY,
    name     TEXT    NOT NULL,
    role     TEXT    NOT NULL,
    project  INTEGER REFERENCES project(id),
    until_at INTEGER,
    revoked  INTEGER NOT NULL
) STRICT;

-- How much somebody may move: everybody by a role, or a person, a client, a key or a token by name.
CREATE TABLE amount_limit (
    subject       TEXT    NOT NULL CHECK (subject IN ('role', 'name')),
    name          TEXT    NOT NULL,
    per_operation INTEGER CHECK (per_operation >= 0),
    per_day       INTEGER CHECK (per_day >= 0),
    PRIMARY KEY (subject, name)
) STRICT, WITHOUT ROWID;

-- What was moved on a UTC day of the ledger clock, by client and by key, token or person. Sums of the
-- journal, for the limits of a day; days that are over are removed.
CREATE TABLE moved (
    day    INTEGER NOT NULL,
    client TEXT    NOT NULL,
    actor  TEXT    NOT NULL,
    amount INTEGER NOT NULL CHECK (amount >= 0),
    seal   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (day, client, actor)
) STRICT, WITHOUT ROWID;

-- What somebody proposed and somebody else decides. The number is that of the transaction that
-- proposed it, whose reason is the request, so that the journal's hash covers it.
CREATE TABLE proposal (
    id       INTEGER PRIMARY KEY REFERENCES tx(id),
    kind     TEXT    NOT NULL,
    amount   INTEGER NOT NULL CHECK (amount >= 0),
    request  TEXT    NOT NULL,
    proposer TEXT    NOT NULL,
    client   TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    until_at INTEGER NOT NULL,
    state    TEXT    NOT NULL CHECK (state IN ('open', 'approved', 'rejected')),
    decider  TEXT    NOT NULL,
    reason   TEXT    NOT NULL,
    done     INTEGER REFERENCES tx(id),
    seal     INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX proposal_open ON proposal (id) WHERE state = 'open';
CREATE TRIGGER proposal_kept BEFORE DELETE ON proposal BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
CREATE TRIGGER proposal_decided_once BEFORE UPDATE OF id, kind, amount, request, proposer, client, at,
    until_at, state, decider, reason, done ON proposal WHEN OLD.state <> 'open' BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;

-- == The past
-- What is needed to show the bank as it was (decision notes 0056, 0057).

-- Reference data as it was from a transaction on, one row for each change, covered by the hash of
-- its transaction. The state is a JSON array of the columns of its row with the lists that belong
-- to it; NULL where it is gone. Of transaction 0 what there was before this table.
CREATE TABLE version (
    kind  TEXT    NOT NULL,
    key   TEXT    NOT NULL,
    tx    INTEGER NOT NULL,
    state TEXT,
    PRIMARY KEY (kind, key, tx)
) STRICT, WITHOUT ROWID;
CREATE INDEX version_tx ON version (tx);

-- One row: SHA-256 over what is said to be of transaction 0, which no transaction's hash covers.
CREATE TABLE origin (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    digest BLOB    NOT NULL
) STRICT;

-- Every so many entries a place in the journal is marked, at the end of a transaction. This table and
-- the next two are made of the journal alone: they may be made anew at any time, and `verify` proves
-- them.
CREATE TABLE waypoint (
    n       INTEGER PRIMARY KEY,
    -- The last transaction with entries up to here, and its last entry.
    tx      INTEGER NOT NULL UNIQUE,
    entry   INTEGER NOT NULL,
    -- When the first transaction behind the waypoint before was recorded.
    from_at INTEGER NOT NULL,
    -- Whether every allocation that changed since its last sum has one here.
    whole   INTEGER NOT NULL CHECK (whole IN (0, 1))
) STRICT;

-- How an allocation stood at a waypoint: not at each, but so often that few entries lie between.
CREATE TABLE waypoint_sum (
    allocation  INTEGER NOT NULL,
    n           INTEGER NOT NULL,
    -- Its last entry up to there.
    entry       INTEGER NOT NULL,
    amount      INTEGER NOT NULL,
    held        INTEGER NOT NULL,
    deposited   INTEGER NOT NULL,
    used        INTEGER NOT NULL,
    shadow      INTEGER NOT NULL,
    shadow_held INTEGER NOT NULL,
    PRIMARY KEY (allocation, n)
) STRICT, WITHOUT ROWID;

-- Entries that count before their stretch of the journal began: before `waypoint.from_at`.
CREATE TABLE waypoint_late (
    allocation   INTEGER NOT NULL,
    at_effective INTEGER NOT NULL,
    entry        INTEGER NOT NULL,
    PRIMARY KEY (allocation, at_effective, entry)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER version_no_update BEFORE UPDATE ON version
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER version_no_delete BEFORE DELETE ON version
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;

-- == Statements and closed periods
-- Periods of the books that were closed. The hash of the transaction covers all of it.

-- A close: everything before end_at is closed by it. start_at is the end of the close before; NULL
-- where the first close named no start.
CREATE TABLE period_close (
    tx       INTEGER PRIMARY KEY,
    start_at INTEGER,
    end_at   INTEGER NOT NULL,
    CHECK (start_at IS NULL OR start_at < end_at)
) STRICT;

-- What each account had when a closed period ended: over the allocations that were active then.
-- projects: the only project that could spend it, below those above it, one a line from the top.
CREATE TABLE period_total (
    tx           INTEGER NOT NULL,
    account      INTEGER NOT NULL REFERENCES account(id),
    amount       INTEGER NOT NULL,
    held         INTEGER NOT NULL,
    credit_limit INTEGER NOT NULL,
    liens        INTEGER NOT NULL,
    projects     TEXT    NOT NULL,
    PRIMARY KEY (tx, account)
) STRICT, WITHOUT ROWID;

-- A close that was taken back: it was the last one that stood.
CREATE TABLE period_reopen (
    tx        INTEGER PRIMARY KEY,
    closed_by INTEGER NOT NULL UNIQUE
) STRICT;

CREATE TRIGGER period_close_no_update BEFORE UPDATE ON period_close
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER period_close_no_delete BEFORE DELETE ON period_close
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER period_total_no_update BEFORE UPDATE ON period_total
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER period_total_no_delete BEFORE DELETE ON period_total
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER period_reopen_no_update BEFORE UPDATE ON period_reopen
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER period_reopen_no_delete BEFORE DELETE ON period_reopen
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;

-- == Attention and its outbox

-- What was raised, cleared or seen, one row beside its transaction, whose reason is the sentence for
-- people. Covered by the hash of the transaction. Times are those of the transaction.
CREATE TABLE attention_event (
    tx         INTEGER PRIMARY KEY,
    turn       TEXT    NOT NULL CHECK (turn IN ('raised', 'cleared', 'acked')),
    kind       TEXT    NOT NULL,
    -- account:3, allocation:7, lien:12, source:sge.
    subject    TEXT    NOT NULL,
    -- Percent of used, days of expiring, else 0.
    threshold  INTEGER NOT NULL,
    -- The transaction that raised it; NULL for one that raises.
    of         INTEGER,
    -- Percent used, days left below zero, or 1.
    level      INTEGER NOT NULL,
    account    INTEGER,
    allocation INTEGER,
    lien       INTEGER,
    project    TEXT    NOT NULL,
    user       TEXT    NOT NULL,
    machine    TEXT    NOT NULL,
    -- What it is about, in minor units.
    amount     INTEGER,
    urgent     INTEGER NOT NULL CHECK (urgent IN (0, 1)),
    -- Whether anybody is told of it.
    told       INTEGER NOT NULL CHECK (told IN (0, 1))
) STRICT;
CREATE TRIGGER attention_event_no_update BEFORE UPDATE ON attention_event
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER attention_event_no_delete BEFORE DELETE ON attention_event
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;

-- What is raised and not cleared: what the events come to.
CREATE TABLE attention (
    kind      TEXT    NOT NULL,
    subject   TEXT    NOT NULL,
    threshold INTEGER NOT NULL,
    tx        INTEGER NOT NULL UNIQUE REFERENCES attention_event(tx),
    -- The transaction in which somebody said to have seen it.
    acked     INTEGER REFERENCES attention_event(tx),
    PRIMARY KEY (kind, subject, threshold)
) STRICT, WITHOUT ROWID;

-- Projects of which nothing is watched.
CREATE TABLE attention_off (
    project INTEGER PRIMARY KEY REFERENCES project(id)
) STRICT;

-- Who is told, by the name in the settings. One that is not in them any more is kept with its notices
-- and gets no new ones.
CREATE TABLE target (
    name     TEXT    PRIMARY KEY,
    active   INTEGER NOT NULL CHECK (active IN (0, 1)),
    -- What it gets at once: all, or urgent; the others come with its digest.
    at_once  TEXT    NOT NULL CHECK (at_once IN ('all', 'urgent')),
    -- Whether it hears that something cleared.
    clears   INTEGER NOT NULL CHECK (clears IN (0, 1)),
    -- Words of kinds between commas, with one at each end; empty for all.
    kinds    TEXT    NOT NULL,
    -- The last event that its digests took account of, and when the last one was made: µs since 1970.
    digested INTEGER NOT NULL,
    digest_at INTEGER NOT NULL,
    -- Notices ever made for it, and those that were removed some time after they were sent or given up.
    made     INTEGER NOT NULL DEFAULT 0,
    removed  INTEGER NOT NULL DEFAULT 0,
    seal     INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- The outbox: what a target is told, made in the transaction of its event, in the order of the
-- numbers for each target. One that was sent or given up goes
-- after a while.
CREATE TABLE notice (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    target    TEXT    NOT NULL REFERENCES target(name),
    made_at   INTEGER NOT NULL,
    -- Its event; NULL for a digest.
    event     INTEGER REFERENCES attention_event(tx),
    -- A digest: whom it is for, and the numbers of its events between commas.
    recipient TEXT    NOT NULL,
    events    TEXT    NOT NULL,
    state     TEXT    NOT NULL CHECK (state IN ('waiting', 'sent', 'dead')),
    attempts  INTEGER NOT NULL,
    -- When it was tried last, and why that failed; of a sent one when it was sent.
    tried_at  INTEGER,
    error     TEXT    NOT NULL,
    seal      INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX notice_waiting ON notice (target, id) WHERE state = 'waiting';
CREATE INDEX notice_done ON notice (tried_at) WHERE state <> 'waiting';

-- == Proof

-- A checksum over all columns of each row that the journal does not prove; what was there before is
-- sealed when this migration has run.
ALTER TABLE bank ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE clock ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE quote ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE removal ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE billed_window ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE shortage ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE source ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE source_reading ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE raw_block ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE quarantine ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE quarantine_total ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE follow ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sink ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE auditor_record ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE instance ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lien ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE idempotency ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE record ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_identity ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;

-- Rows of tables that grow seldom, and the sum of their seals below 2^61: what was added or removed
-- behind the daemon's back differs from it. Filled when this migration has run, and kept by temporary
-- triggers of the daemon's own connection: triggers in here would count for everybody.
CREATE TABLE tally (
    name  TEXT    PRIMARY KEY,
    rows  INTEGER NOT NULL,
    seals INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row: the newest numbers of tables that grow with every charge, how many answers are kept, and
-- the sum of their seals.
CREATE TABLE extent (
    id             INTEGER PRIMARY KEY CHECK (id = 1),
    tx             INTEGER NOT NULL,
    entry          INTEGER NOT NULL,
    usage          INTEGER NOT NULL,
    allocation     INTEGER NOT NULL,
    instance       INTEGER NOT NULL,
    lien           INTEGER NOT NULL,
    quote          INTEGER NOT NULL,
    record         INTEGER NOT NULL,
    usage_identity INTEGER NOT NULL,
    answers        INTEGER NOT NULL,
    answer_seals   INTEGER NOT NULL
) STRICT;

-- One row: usage of transactions after this one is under their hashes; what was there before comes to
-- the digest.
CREATE TABLE proof_start (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    tx     INTEGER NOT NULL,
    digest BLOB    NOT NULL
) STRICT;
