-- What clusters are made of, who paid for it, and whose projects use it (reports.md 1.7); the host
-- that a finished use began on.

CREATE TABLE hardware (
    id          INTEGER PRIMARY KEY,
    -- Lower is asked first for the factor of a host, then the lower number.
    priority    INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    -- By name; empty for any.
    machine     TEXT    NOT NULL,
    -- One pattern a line; empty for every host of the machine.
    hosts       TEXT    NOT NULL,
    -- In billionths.
    factor      INTEGER NOT NULL CHECK (factor > 0),
    -- Of a node.
    processors  INTEGER NOT NULL,
    nodes       INTEGER NOT NULL,
    -- Whether it adds to the capacity.
    counts      INTEGER NOT NULL CHECK (counts IN (0, 1)),
    from_at     INTEGER,
    until_at    INTEGER,
    description TEXT    NOT NULL,
    deleted     INTEGER NOT NULL
) STRICT;

CREATE TABLE contributor (
    name        TEXT    PRIMARY KEY,
    -- Their login name; empty where nobody knows.
    user        TEXT    NOT NULL,
    exempt      INTEGER NOT NULL CHECK (exempt IN (0, 1)),
    -- One name a line.
    projects    TEXT    NOT NULL,
    description TEXT    NOT NULL,
    deleted     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE contribution (
    id          INTEGER PRIMARY KEY,
    contributor TEXT    NOT NULL REFERENCES contributor(name),
    paid_by     TEXT    NOT NULL,
    what        TEXT    NOT NULL,
    processors  INTEGER NOT NULL,
    -- In hundredths of a percent.
    split       INTEGER NOT NULL CHECK (split BETWEEN 0 AND 10000),
    -- In billionths.
    factor      INTEGER NOT NULL CHECK (factor > 0),
    from_at     INTEGER,
    until_at    INTEGER,
    description TEXT    NOT NULL,
    deleted     INTEGER NOT NULL
) STRICT;

-- The first of its hosts; NULL where nobody says.
ALTER TABLE usage_identity ADD COLUMN host TEXT;
