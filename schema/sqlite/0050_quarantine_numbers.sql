-- The number of a quarantined record is never used again: a command for one that has left acts on no other record.
ALTER TABLE quarantine RENAME TO quarantine_before;
CREATE TABLE quarantine (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    at     INTEGER NOT NULL,
    source TEXT    NOT NULL,
    peer   TEXT    NOT NULL,
    -- File or route.
    place  TEXT    NOT NULL,
    line   INTEGER NOT NULL,
    reason TEXT    NOT NULL,
    bytes  INTEGER NOT NULL,
    body   BLOB    NOT NULL,
    seal   INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO quarantine (id, at, source, peer, place, line, reason, bytes, body, seal)
SELECT id, at, source, peer, place, line, reason, bytes, body, seal FROM quarantine_before;
DROP TABLE quarantine_before;
CREATE INDEX quarantine_source ON quarantine (source, id);
CREATE INDEX quarantine_place ON quarantine (source, place, line, bytes);
