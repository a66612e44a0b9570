-- What a choice among accounts depended on beside reference data and money, so that it can be
-- explained whatever changed since.

-- The settings that the order hangs on, from a transaction on, covered by its hash; of transaction 0
-- those that a bank was made with. What came before the first row was not written down.
CREATE TABLE settings (
    tx            INTEGER PRIMARY KEY,
    mode          TEXT    NOT NULL,
    fallback      TEXT    NOT NULL,
    spend_order   TEXT    NOT NULL,
    require_cover INTEGER NOT NULL,
    shortfall     TEXT    NOT NULL
) STRICT;
CREATE TRIGGER settings_no_update BEFORE UPDATE ON settings
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER settings_no_delete BEFORE DELETE ON settings
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;

-- What a lien or a charge was asked with, where its entries do not say the same; covered by the hash
-- of its transaction.
CREATE TABLE choice (
    tx          INTEGER PRIMARY KEY REFERENCES tx(id),
    project     INTEGER REFERENCES project(id),
    user        INTEGER REFERENCES user(id),
    machine     INTEGER REFERENCES machine(id),
    -- The only account that the request let pay.
    only_account INTEGER REFERENCES account(id),
    any_member  INTEGER NOT NULL,
    -- The account that paid for the job before, and was asked first.
    own         INTEGER REFERENCES account(id),
    -- Class, quality of service and the rest, where lists look at them; NULL where none did.
    facts       TEXT,
    processors  TEXT,
    group_name  TEXT
) STRICT;
CREATE TRIGGER choice_no_update BEFORE UPDATE ON choice
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER choice_no_delete BEFORE DELETE ON choice
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
