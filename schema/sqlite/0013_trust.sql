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
