-- == Roles, tokens, proposals

-- SHA-256 of an API token, in hexadecimal: who shows the token is the client of the row. NULL for a
-- signing key.
ALTER TABLE auth_key ADD COLUMN token TEXT CHECK (token IS NULL OR length(token) = 64);
CREATE UNIQUE INDEX auth_key_token ON auth_key (token) WHERE token IS NOT NULL;

-- When a key or a token was used last, in seconds of the real time, to the minute. Says nothing of
-- the ledger: it is not journalled, and rows are replaced.
CREATE TABLE key_use (
    key    TEXT    PRIMARY KEY REFERENCES auth_key(id),
    used_s INTEGER NOT NULL
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
    done     INTEGER REFERENCES tx(id)
) STRICT;
CREATE INDEX proposal_open ON proposal (id) WHERE state = 'open';
CREATE TRIGGER proposal_kept BEFORE DELETE ON proposal BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
CREATE TRIGGER proposal_decided_once BEFORE UPDATE ON proposal WHEN OLD.state <> 'open' BEGIN
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
