-- How many jobs ran and how many waited, as collectors saw it at moments (decision note 0071).

-- Whose they are: as the source names them, and what that was to the bank when it was seen first.
CREATE TABLE snapshot_key (
    id      INTEGER PRIMARY KEY,
    source  INTEGER NOT NULL REFERENCES source(id),
    machine TEXT    NOT NULL,
    account TEXT    NOT NULL,
    login   TEXT    NOT NULL,
    project TEXT    NOT NULL,
    user    TEXT    NOT NULL,
    queue   TEXT    NOT NULL,
    seal    INTEGER NOT NULL DEFAULT 0,
    UNIQUE (source, machine, account, login, project, user, queue)
) STRICT;

-- One row for each time that a collector looked; what comes again takes the place of what was there.
CREATE TABLE snapshot (
    id     INTEGER PRIMARY KEY,
    source INTEGER NOT NULL REFERENCES source(id),
    -- µs since 1970.
    at     INTEGER NOT NULL,
    -- By ascending key: how much greater it is than the one before, how many ran and how many waited,
    -- each as a zigzag varint. Whoever is not in it had none.
    counts BLOB    NOT NULL,
    seal   INTEGER NOT NULL DEFAULT 0,
    UNIQUE (source, at)
) STRICT;
