-- The names of a finished use before a change, for exports of a project, a user or a machine that it leaves. NULL if
-- exports did not have the use before, and in changes of earlier versions.
ALTER TABLE use_change ADD COLUMN project_before TEXT;
ALTER TABLE use_change ADD COLUMN user_before TEXT;
ALTER TABLE use_change ADD COLUMN machine_before TEXT;
DROP TRIGGER use_change_no_update;
CREATE TRIGGER use_change_no_update
BEFORE UPDATE OF id, identity, ended_before, project_before, user_before, machine_before ON use_change
BEGIN SELECT RAISE(ABORT, 'changes of finished uses are append-only'); END;
