-- The place of this file in the log of its cluster; no row in a bank on a single machine (docs/decisions/0200).
-- Local to its machine: it is in no entry of the log.
CREATE TABLE place (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    -- The name of this node.
    node     TEXT    NOT NULL,
    -- The last entry that the file contains, and the epoch of its writer.
    position INTEGER NOT NULL CHECK (position >= 0),
    epoch    INTEGER NOT NULL CHECK (epoch >= 0)
) STRICT;
