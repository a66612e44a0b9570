-- The names of a finished use before a change, for exports of a project, a user or a machine that it leaves. NULL if
-- exports did not have the use before, and in changes of earlier versions.
ALTER TABLE use_change ADD COLUMN project_before TEXT;
ALTER TABLE use_change ADD COLUMN user_before TEXT;
ALTER TABLE use_change ADD COLUMN machine_before TEXT;
-- The digest of the record that an amendment replaced: the same record again changes nothing. NULL for any other change, for a
-- run of samples, and for amendments before this migration.
ALTER TABLE use_change ADD COLUMN digest BLOB;
DROP TRIGGER use_change_no_update;
CREATE TRIGGER use_change_no_update
BEFORE UPDATE OF id, identity, ended_before, project_before, user_before, machine_before, digest ON use_change
BEGIN SELECT RAISE(ABORT, 'changes of finished uses are append-only'); END;

-- 1: a person gave the use to its owner, by a settlement or an assignment, and its source named nobody else since.
ALTER TABLE usage_identity ADD COLUMN given INTEGER NOT NULL DEFAULT 0 CHECK (given IN (0, 1));
