-- What balances of the past depend on beside money, and what charges took of each allocation.

-- Charges less what was given back: what belongs to a usage row.
ALTER TABLE allocation ADD COLUMN used INTEGER NOT NULL DEFAULT 0;
UPDATE allocation SET used = -s.moved FROM
    (SELECT allocation, SUM(delta_amount) AS moved FROM entry
     WHERE usage IS NOT NULL AND allocation IS NOT NULL GROUP BY allocation) AS s
    WHERE s.allocation = allocation.id;

-- The window and credit limit of an allocation from a transaction on, covered by its hash; of
-- transaction 0 what there was before these tables.
CREATE TABLE shape (
    allocation   INTEGER NOT NULL REFERENCES allocation(id),
    tx           INTEGER NOT NULL,
    start_at     INTEGER,
    end_at       INTEGER,
    credit_limit INTEGER NOT NULL CHECK (credit_limit >= 0),
    PRIMARY KEY (allocation, tx)
) STRICT, WITHOUT ROWID;
INSERT INTO shape SELECT id, 0, start_at, end_at, credit_limit FROM allocation;

-- Whether an account is there from a transaction on, likewise.
CREATE TABLE presence (
    account INTEGER NOT NULL REFERENCES account(id),
    tx      INTEGER NOT NULL,
    there   INTEGER NOT NULL,
    PRIMARY KEY (account, tx)
) STRICT, WITHOUT ROWID;
INSERT INTO presence SELECT id, 0, NOT deleted FROM account;

CREATE TRIGGER shape_no_update BEFORE UPDATE ON shape
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER shape_no_delete BEFORE DELETE ON shape
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER presence_no_update BEFORE UPDATE ON presence
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER presence_no_delete BEFORE DELETE ON presence
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
