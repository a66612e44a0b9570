-- Charged windows, so that none is billed twice, and what a lien held when it expired, so that it
-- can hold it again. Only callers that send start and end write the first; a scheduler never does.

CREATE TABLE billed_window (
    instance INTEGER NOT NULL REFERENCES instance(id),
    start_at INTEGER NOT NULL,
    end_at   INTEGER NOT NULL CHECK (end_at > start_at),
    PRIMARY KEY (instance, start_at)
) STRICT, WITHOUT ROWID;

ALTER TABLE lien ADD COLUMN lapsed INTEGER NOT NULL DEFAULT 0;
