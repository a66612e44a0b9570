-- The earliest instant at which a use can have run, where no reserve came before its first charge.
ALTER TABLE instance ADD COLUMN earliest_at INTEGER;

-- The latest refused reserve of each object: why it has no lien, and when its start was asked for.
CREATE TABLE refused_reserve (
    machine     TEXT    NOT NULL,
    object_type TEXT    NOT NULL,
    object_id   TEXT    NOT NULL,
    project     TEXT    NOT NULL,
    user        TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    -- The latest that asked for a start; NULL if all asked for more time only.
    started_at  INTEGER,
    tries       INTEGER NOT NULL,
    code        TEXT    NOT NULL,
    -- The project, user, machine or account that the refusal is about.
    subject     TEXT    NOT NULL,
    needed      INTEGER NOT NULL,
    available   INTEGER NOT NULL,
    seal        INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (object_id, machine, object_type)
) STRICT, WITHOUT ROWID;
