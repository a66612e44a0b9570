-- The first ledger. Amounts are integers in minor units, times are microseconds UTC, NULL in a
-- window means unbounded. The journal (tx, entry) and usage are append-only and have no secondary
-- index: a history follows entry.prev, usage is found through its instance.

CREATE TABLE bank (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    uuid       TEXT    NOT NULL,
    precision  INTEGER NOT NULL CHECK (precision BETWEEN 0 AND 6),
    unit       TEXT    NOT NULL,
    test       INTEGER NOT NULL CHECK (test IN (0, 1)),
    init_uid   INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE project (
    id          INTEGER PRIMARY KEY,
    name        TEXT    NOT NULL UNIQUE,
    parent      INTEGER REFERENCES project(id),
    active      INTEGER NOT NULL,
    deleted     INTEGER NOT NULL,
    mode        TEXT,
    description TEXT    NOT NULL
) STRICT;

CREATE TABLE user (
    id              INTEGER PRIMARY KEY,
    name            TEXT    NOT NULL UNIQUE,
    active          INTEGER NOT NULL,
    deleted         INTEGER NOT NULL,
    common_name     TEXT    NOT NULL,
    email           TEXT    NOT NULL,
    default_project INTEGER REFERENCES project(id)
) STRICT;

CREATE TABLE machine (
    id               INTEGER PRIMARY KEY,
    name             TEXT    NOT NULL UNIQUE,
    active           INTEGER NOT NULL,
    deleted          INTEGER NOT NULL,
    mode             TEXT,
    flush_interval_s INTEGER NOT NULL,
    fallback         TEXT,
    description      TEXT    NOT NULL
) STRICT;

CREATE TABLE member (
    project INTEGER NOT NULL REFERENCES project(id),
    user    INTEGER NOT NULL REFERENCES user(id),
    active  INTEGER NOT NULL,
    PRIMARY KEY (project, user)
) STRICT, WITHOUT ROWID;

CREATE TABLE account (
    id          INTEGER PRIMARY KEY,
    name        TEXT    NOT NULL UNIQUE,
    priority    INTEGER NOT NULL,
    fallback    TEXT,
    blocked     INTEGER NOT NULL,
    deleted     INTEGER NOT NULL,
    description TEXT    NOT NULL
) STRICT;

CREATE TABLE account_constraint (
    account   INTEGER NOT NULL REFERENCES account(id),
    n         INTEGER NOT NULL,
    dimension TEXT    NOT NULL CHECK (dimension IN ('project', 'user', 'machine')),
    value     TEXT    NOT NULL,
    allow     INTEGER NOT NULL,
    subtree   INTEGER NOT NULL,
    PRIMARY KEY (account, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE rate (
    id          INTEGER PRIMARY KEY,
    kind        TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    instance    TEXT    NOT NULL,
    billionths  INTEGER NOT NULL CHECK (billionths >= 0),
    per_s       INTEGER NOT NULL CHECK (per_s IN (1, 60, 3600, 86400)),
    machine     INTEGER REFERENCES machine(id),
    from_at     INTEGER,
    until_at    INTEGER,
    description TEXT    NOT NULL
) STRICT;

-- The public halves of signing keys; the secrets are files in keys/.
CREATE TABLE auth_key (
    id       TEXT    PRIMARY KEY,
    client   TEXT    NOT NULL,
    roles    TEXT    NOT NULL,
    projects TEXT    NOT NULL,
    machines TEXT    NOT NULL,
    from_at  INTEGER,
    until_at INTEGER,
    disabled INTEGER NOT NULL,
    deleted  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE allocation (
    id           INTEGER PRIMARY KEY,
    account      INTEGER NOT NULL REFERENCES account(id),
    start_at     INTEGER,
    end_at       INTEGER,
    phase        TEXT    NOT NULL CHECK (phase IN ('future', 'active', 'expired')),
    amount       INTEGER NOT NULL,
    held         INTEGER NOT NULL CHECK (held >= 0),
    credit_limit INTEGER NOT NULL CHECK (credit_limit >= 0),
    deposited    INTEGER NOT NULL,
    shadow       INTEGER NOT NULL,
    shadow_held  INTEGER NOT NULL CHECK (shadow_held >= 0),
    last_entry   INTEGER,
    -- The next instant at which the journal has something to say about it.
    due_at       INTEGER GENERATED ALWAYS AS (
        CASE phase WHEN 'future' THEN start_at WHEN 'active' THEN end_at END) VIRTUAL
) STRICT;
CREATE INDEX allocation_account ON allocation (account, end_at);
CREATE INDEX allocation_due ON allocation (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE instance (
    id            INTEGER PRIMARY KEY,
    machine       TEXT    NOT NULL,
    object_type   TEXT    NOT NULL,
    object_id     TEXT    NOT NULL,
    number        INTEGER NOT NULL,
    opened_at     INTEGER NOT NULL,
    closed_at     INTEGER,
    closed_by     TEXT,
    account       INTEGER REFERENCES account(id),
    fallback_from INTEGER REFERENCES account(id),
    -- The running exact sum: whole credits, and trillionths in 0 to 10^12 - 1.
    exact_whole   INTEGER NOT NULL,
    exact_part    INTEGER NOT NULL,
    once_whole    INTEGER NOT NULL,
    once_part     INTEGER NOT NULL,
    billed        INTEGER NOT NULL,
    shadow_billed INTEGER NOT NULL,
    charged_s     INTEGER NOT NULL,
    processor_s   TEXT    NOT NULL,
    -- Its first and its latest usage row; usage.prev leads from one to the other.
    record        INTEGER,
    last_usage    INTEGER,
    rates_at      INTEGER,
    quote         INTEGER,
    absorbed      INTEGER NOT NULL,
    lien_expired  INTEGER NOT NULL,
    due_at        INTEGER,
    lien          INTEGER,
    -- What the scheduler said last.
    project       TEXT    NOT NULL,
    user          TEXT    NOT NULL,
    group_name    TEXT    NOT NULL,
    qos           TEXT,
    class         TEXT,
    processors    TEXT,
    nodes         TEXT,
    memory_mb     TEXT,
    disk_mb       TEXT,
    gres          TEXT    NOT NULL,
    attributes    TEXT    NOT NULL,
    wall_s        INTEGER,
    start_at      INTEGER,
    end_at        INTEGER,
    submit_at     INTEGER,
    state         TEXT    NOT NULL,
    exit_code     INTEGER,
    other         TEXT    NOT NULL,
    UNIQUE (object_id, machine, object_type, number)
) STRICT;
CREATE INDEX instance_due ON instance (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE lien (
    id       INTEGER PRIMARY KEY,
    instance INTEGER NOT NULL REFERENCES instance(id),
    state    TEXT    NOT NULL,
    placed   INTEGER NOT NULL,
    start_at INTEGER NOT NULL,
    end_at   INTEGER NOT NULL,
    shadow   INTEGER NOT NULL
) STRICT;

-- What open liens hold; the rows of an ended lien go, the journal keeps them.
CREATE TABLE lien_allocation (
    lien       INTEGER NOT NULL REFERENCES lien(id),
    n          INTEGER NOT NULL,
    allocation INTEGER NOT NULL REFERENCES allocation(id),
    amount     INTEGER NOT NULL CHECK (amount >= 0),
    PRIMARY KEY (lien, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE quote (
    id         INTEGER PRIMARY KEY,
    tid        TEXT    NOT NULL UNIQUE,
    project    INTEGER NOT NULL REFERENCES project(id),
    user       INTEGER REFERENCES user(id),
    machine    INTEGER REFERENCES machine(id),
    amount     INTEGER NOT NULL,
    duration_s INTEGER NOT NULL,
    from_at    INTEGER NOT NULL,
    until_at   INTEGER NOT NULL,
    instance   INTEGER REFERENCES instance(id)
) STRICT;

CREATE TABLE tx (
    id           INTEGER PRIMARY KEY,
    req_id       TEXT    NOT NULL,
    at_effective INTEGER NOT NULL,
    at_recorded  INTEGER NOT NULL,
    actor        TEXT    NOT NULL,
    client       TEXT    NOT NULL,
    origin       TEXT    NOT NULL,
    op           TEXT    NOT NULL,
    idem_key     TEXT,
    instance     INTEGER,
    reverses     INTEGER,
    corrects     INTEGER,
    reason       TEXT    NOT NULL,
    prev_hash    BLOB    NOT NULL,
    hash         BLOB    NOT NULL
) STRICT;

CREATE TABLE entry (
    id                INTEGER PRIMARY KEY,
    tx                INTEGER NOT NULL,
    n                 INTEGER NOT NULL,
    prev              INTEGER,
    kind              TEXT    NOT NULL,
    account           INTEGER,
    allocation        INTEGER,
    lien              INTEGER,
    usage             INTEGER,
    delta_amount      INTEGER NOT NULL,
    delta_held        INTEGER NOT NULL,
    delta_active      INTEGER NOT NULL,
    delta_shadow      INTEGER NOT NULL,
    delta_shadow_held INTEGER NOT NULL,
    amount_after      INTEGER NOT NULL,
    held_after        INTEGER NOT NULL,
    project           TEXT    NOT NULL,
    user              TEXT    NOT NULL,
    machine           TEXT    NOT NULL,
    instance          INTEGER
) STRICT;

CREATE TABLE usage (
    id         INTEGER PRIMARY KEY,
    -- The previous usage row of the same instance, so that a history needs no index.
    prev       INTEGER,
    instance   INTEGER NOT NULL,
    tx         INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    charged_s  INTEGER NOT NULL,
    processors TEXT    NOT NULL,
    amount     INTEGER NOT NULL,
    billing    TEXT    NOT NULL,
    late       INTEGER NOT NULL
) STRICT;

CREATE TABLE idempotency (
    client      TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    nonce       TEXT    NOT NULL,
    status      INTEGER NOT NULL,
    media       TEXT    NOT NULL,
    body        BLOB    NOT NULL,
    -- NULL: kept for ever.
    until_at    INTEGER,
    PRIMARY KEY (client, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_until ON idempotency (until_at) WHERE until_at IS NOT NULL;

-- Lines on their way to the record files, and how far each file is confirmed.
CREATE TABLE outbox (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    sink TEXT    NOT NULL,
    line TEXT    NOT NULL
) STRICT;

CREATE TABLE sink (
    name   TEXT    PRIMARY KEY,
    upto   INTEGER NOT NULL,
    device INTEGER NOT NULL,
    inode  INTEGER NOT NULL,
    length INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER tx_no_update BEFORE UPDATE ON tx
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER tx_no_delete BEFORE DELETE ON tx
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER entry_no_update BEFORE UPDATE ON entry
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER entry_no_delete BEFORE DELETE ON entry
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER usage_no_update BEFORE UPDATE ON usage
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER usage_no_delete BEFORE DELETE ON usage
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
