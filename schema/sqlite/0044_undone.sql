-- Rollups do not count a job of which every charge was undone (docs/decisions/0195). Made anew when this migration has
-- run.
DELETE FROM rollup_block;
