-- Rollups have one row for each day and key, count waiting times, and are kept in blocks of whole days and months
-- (docs/decisions/0190). Made anew when this migration has run.
DROP TABLE rollup_month;
DROP TABLE rollup_hour;
DROP TABLE rollup;

-- One row for each day, counted from 1970, and key: how many jobs ran on the day, and its hours. For each hour that has
-- anything its number, which of the nineteen figures follow (four bytes, the lowest first), and these as zigzag varints.
CREATE TABLE rollup (
    day     INTEGER NOT NULL,
    key     INTEGER NOT NULL REFERENCES rollup_key(id),
    running INTEGER NOT NULL,
    hours   BLOB    NOT NULL,
    seal    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (day, key)
) STRICT, WITHOUT ROWID;

-- All keys of a UTC day (unit 1) or month (unit 2), counted from 1970: their number, the keys as differences, and for
-- each figure that any has its place (one byte) and one for each key. All but the place are zigzag varints.
CREATE TABLE rollup_block (
    unit    INTEGER NOT NULL CHECK (unit IN (1, 2)),
    number  INTEGER NOT NULL,
    figures BLOB    NOT NULL,
    PRIMARY KEY (unit, number)
) STRICT, WITHOUT ROWID;

-- What strict enforcement would have refused.
CREATE INDEX entry_would_refuse ON entry (tx) WHERE kind = 'would_refuse';
