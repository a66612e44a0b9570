-- Whose word a machine's usage is charged by and how, the quality of service that counts on its
-- fallback account; finished uses by their identity, and reserves that money was short for.

ALTER TABLE machine ADD COLUMN source TEXT;
ALTER TABLE machine ADD COLUMN charge_policy TEXT;
ALTER TABLE machine ADD COLUMN fallback_qos TEXT;

-- One row for each identity; an amended record takes the place of the one before it.
CREATE TABLE finished_use (
    source      TEXT    NOT NULL,
    object_id   TEXT    NOT NULL,
    -- 0 where it never started.
    start_at    INTEGER NOT NULL,
    machine     TEXT    NOT NULL,
    object_type TEXT    NOT NULL,
    end_at      INTEGER,
    project     TEXT    NOT NULL,
    user        TEXT    NOT NULL,
    record      TEXT    NOT NULL,
    revision    INTEGER NOT NULL,
    became      TEXT    NOT NULL,
    policy      TEXT    NOT NULL,
    counted     TEXT    NOT NULL,
    instance    INTEGER REFERENCES instance(id),
    PRIMARY KEY (source, object_id, start_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX finished_use_instance ON finished_use (instance) WHERE instance IS NOT NULL;

-- The latest for each object and project: why a job runs on another account.
CREATE TABLE shortage (
    machine     TEXT    NOT NULL,
    object_type TEXT    NOT NULL,
    object_id   TEXT    NOT NULL,
    project     TEXT    NOT NULL,
    user        TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    needed      INTEGER NOT NULL,
    available   INTEGER NOT NULL,
    PRIMARY KEY (object_id, machine, object_type, project)
) STRICT, WITHOUT ROWID;
CREATE INDEX shortage_at ON shortage (at);

-- The liens of a job: what was held when it came to run on another account.
CREATE INDEX lien_instance ON lien (instance);
