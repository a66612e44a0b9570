-- Rates with hours, quotes for several jobs, what a charge was priced by, and declared attributes.

-- The hours as they were written, and the offsets of their zone when the rate was set: 3600;SECOND:7200;…
ALTER TABLE rate ADD COLUMN hours TEXT NOT NULL DEFAULT '';
ALTER TABLE rate ADD COLUMN zone TEXT NOT NULL DEFAULT '';

-- How many instances a quote may still be bound to.
ALTER TABLE quote ADD COLUMN uses INTEGER NOT NULL DEFAULT 1;
UPDATE quote SET uses = 0 WHERE instance IS NOT NULL;

-- What was priced beside the processors, and the instant whose rates counted where a quote was bound.
ALTER TABLE usage ADD COLUMN facts TEXT NOT NULL DEFAULT '';
ALTER TABLE usage ADD COLUMN rates_at INTEGER;

CREATE TABLE attribute (
    name        TEXT    NOT NULL COLLATE NOCASE PRIMARY KEY,
    kind        TEXT    NOT NULL CHECK (kind IN ('text', 'number')),
    description TEXT    NOT NULL,
    deleted     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
