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
