-- Nodes of a kind that are known not to work for a time (reports.md 1.7 item 3).

CREATE TABLE downtime (
    id       INTEGER PRIMARY KEY,
    hardware INTEGER NOT NULL REFERENCES hardware(id),
    -- How many of them; NULL for all.
    nodes    INTEGER CHECK (nodes > 0),
    from_at  INTEGER NOT NULL,
    -- NULL while nobody knows the end.
    until_at INTEGER CHECK (until_at > from_at),
    reason   TEXT    NOT NULL,
    deleted  INTEGER NOT NULL
) STRICT;
