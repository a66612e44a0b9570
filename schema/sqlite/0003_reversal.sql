-- What takes something back. The rows stand beside the journal, so that an entry without them is
-- as short as before.

-- A refund and the charge entry that it gives back, a reversal's entry and its opposite.
CREATE TABLE correction (
    entry INTEGER PRIMARY KEY,
    of    INTEGER NOT NULL
) STRICT;

-- A transaction and its opposite: there is one at most.
CREATE TABLE reversal (
    tx INTEGER PRIMARY KEY,
    by INTEGER NOT NULL
) STRICT;

-- The transaction that removed an account last.
CREATE TABLE removal (
    account INTEGER PRIMARY KEY REFERENCES account(id),
    tx      INTEGER NOT NULL
) STRICT;

CREATE TRIGGER correction_no_update BEFORE UPDATE ON correction
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER correction_no_delete BEFORE DELETE ON correction
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER reversal_no_update BEFORE UPDATE ON reversal
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER reversal_no_delete BEFORE DELETE ON reversal
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
