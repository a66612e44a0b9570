-- The principal investigator of usage, from mappings (docs/decisions/0172). Empty for none.
ALTER TABLE mapping ADD COLUMN pi TEXT;
ALTER TABLE usage_identity ADD COLUMN pi TEXT NOT NULL DEFAULT '';

-- The end of a run of samples before an amendment that only prolonged it; NULL for any other change.
ALTER TABLE use_change ADD COLUMN ended_before INTEGER;
DROP TRIGGER use_change_no_update;
CREATE TRIGGER use_change_no_update BEFORE UPDATE OF id, identity, ended_before ON use_change
BEGIN SELECT RAISE(ABORT, 'changes of finished uses are append-only'); END;

-- Rollups keep it apart. Made anew when this migration has run.
DELETE FROM rollup_month;
DELETE FROM rollup_hour;
DELETE FROM rollup;
DELETE FROM rollup_key;
DROP TABLE rollup_key;

-- Whose usage. account 0: none paid.
CREATE TABLE rollup_key (
    id      INTEGER PRIMARY KEY,
    project TEXT    NOT NULL,
    account INTEGER NOT NULL,
    user    TEXT    NOT NULL,
    machine TEXT    NOT NULL,
    queue   TEXT    NOT NULL,
    qos     TEXT    NOT NULL,
    pi      TEXT    NOT NULL,
    seal    INTEGER NOT NULL DEFAULT 0,
    UNIQUE (project, account, user, machine, queue, qos, pi)
) STRICT;
