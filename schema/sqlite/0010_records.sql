-- Usage records are kept for ever, one row for each charge, close and later change, in the order in
-- which they were made; each record file is a place in it. Lines are made of them when they are
-- written, so that an export makes the same ones again.

CREATE TABLE record (
    id         INTEGER PRIMARY KEY,
    created_at INTEGER NOT NULL,
    -- Its number for readers: the usage row of a change, the first one of the instance else.
    number     INTEGER NOT NULL,
    text       TEXT    NOT NULL
) STRICT;

CREATE TRIGGER record_no_update BEFORE UPDATE ON record
BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;
CREATE TRIGGER record_no_delete BEFORE DELETE ON record
BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;

-- Lines that waited in the outbox go with it: they are of charges without a record.
DROP TABLE outbox;
UPDATE sink SET upto = 0;

-- The settings by which the lines behind the confirmed length were made.
ALTER TABLE sink ADD COLUMN form TEXT NOT NULL DEFAULT '';

ALTER TABLE machine ADD COLUMN fqdn TEXT NOT NULL DEFAULT '';
