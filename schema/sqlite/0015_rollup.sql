-- Usage added up by UTC day and hour (reports.md 7, decision 31). All of it is made of usage rows and
-- finished uses, in their own transactions; it can be made anew at any time. Filled when this migration
-- has run.

-- Whose usage. account 0: none paid.
CREATE TABLE rollup_key (
    id      INTEGER PRIMARY KEY,
    project TEXT    NOT NULL,
    account INTEGER NOT NULL,
    user    TEXT    NOT NULL,
    machine TEXT    NOT NULL,
    queue   TEXT    NOT NULL,
    qos     TEXT    NOT NULL,
    seal    INTEGER NOT NULL DEFAULT 0,
    UNIQUE (project, account, user, machine, queue, qos)
) STRICT;

-- One row for each day, counted from 1970, and key. Processors, graphics processors, nodes, wall time,
-- used processor time and factored usage in microseconds, memory and disk in MiB times milliseconds,
-- charge in minor units; jobs that began, ended and ran.
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
    started  INTEGER NOT NULL,
    ended    INTEGER NOT NULL,
    running  INTEGER NOT NULL,
    seal     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (day, key)
) STRICT, WITHOUT ROWID;

-- The hours of such a day: for each that has anything its number, which of the twelve figures follow
-- (two bytes, the lowest first), and these as zigzag varints.
CREATE TABLE rollup_hour (
    day   INTEGER NOT NULL,
    key   INTEGER NOT NULL REFERENCES rollup_key(id),
    hours BLOB    NOT NULL,
    seal  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (day, key)
) STRICT, WITHOUT ROWID;
