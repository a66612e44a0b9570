-- Exports: what a cursor goes along beside the usage records, and the numbers that the Standard
-- Workload Format has in place of names.

-- One row for each time that a finished use became another one: it was amended, or given a project.
-- An export that has it already makes it again.
CREATE TABLE use_change (
    id       INTEGER PRIMARY KEY,
    identity INTEGER NOT NULL REFERENCES usage_identity(id),
    seal     INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX use_change_identity ON use_change (identity);
CREATE TRIGGER use_change_no_update BEFORE UPDATE OF id, identity ON use_change
BEGIN SELECT RAISE(ABORT, 'changes of finished uses are append-only'); END;
CREATE TRIGGER use_change_no_delete BEFORE DELETE ON use_change
BEGIN SELECT RAISE(ABORT, 'changes of finished uses are append-only'); END;

-- What was amended before this table was there.
INSERT INTO use_change (identity) SELECT id FROM usage_identity WHERE revision > 0 ORDER BY id;

-- From 1 in each kind, in the order of appearance; never given twice.
CREATE TABLE swf_id (
    -- `user`, `group` or `queue`.
    kind   TEXT    NOT NULL,
    name   TEXT    NOT NULL,
    number INTEGER NOT NULL,
    seal   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, name),
    UNIQUE (kind, number)
) STRICT, WITHOUT ROWID;
