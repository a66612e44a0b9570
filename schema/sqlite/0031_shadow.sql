-- Rollups keep what moved money apart from what would have been charged (docs/decisions/0145). Made anew when
-- this migration has run.
DELETE FROM rollup_month;
DROP TABLE rollup_hour;
DROP TABLE rollup;

-- One row for each day, counted from 1970, and key. Processors, graphics processors, nodes, wall time,
-- used processor time, factored usage and measured time of processors in microseconds, memory and disk
-- in MiB times milliseconds, real and shadow charges in minor units; jobs that began, ended and ran.
CREATE TABLE rollup (
    day      INTEGER NOT NULL,
    key      INTEGER NOT NULL REFERENCES rollup_key(id),
    core     INTEGER NOT NULL,
    gpu      INTEGER NOT NULL,
    node     INTEGER NOT NULL,
    wall     INTEGER NOT NULL,
    cpu      INTEGER NOT NULL,
    memory   INTEGER NOT NULL,
    disk     INTEGER NOT NULL,
    factored INTEGER NOT NULL,
    charge   INTEGER NOT NULL,
    shadow   INTEGER NOT NULL,
    measured INTEGER NOT NULL,
    started  INTEGER NOT NULL,
    ended    INTEGER NOT NULL,
    running  INTEGER NOT NULL,
    seal     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (day, key)
) STRICT, WITHOUT ROWID;

-- The hours of such a day: for each that has anything its number, which of the fourteen figures follow
-- (two bytes, the lowest first), and these as zigzag varints.
CREATE TABLE rollup_hour (
    day   INTEGER NOT NULL,
    key   INTEGER NOT NULL REFERENCES rollup_key(id),
    hours BLOB    NOT NULL,
    seal  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (day, key)
) STRICT, WITHOUT ROWID;
