-- The files beside a followed one: which of them are read, how far, and why others are not.
CREATE TABLE follow_file (
    source  TEXT    NOT NULL,
    path    TEXT    NOT NULL,
    number  INTEGER NOT NULL,
    file    TEXT    NOT NULL,
    -- `read`, or the reason why it is not.
    why     TEXT    NOT NULL,
    device  INTEGER NOT NULL,
    inode   INTEGER NOT NULL,
    -- How it looked when that was noted: bytes, and nanoseconds since 1970.
    size    INTEGER NOT NULL,
    written INTEGER NOT NULL,
    -- Bytes and lines that are dealt with, and SHA-256 over the first and the last of these bytes.
    length  INTEGER NOT NULL,
    line    INTEGER NOT NULL,
    print   BLOB    NOT NULL,
    -- These bytes are those of the compressed file, not of its content.
    is_raw  INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    seal    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (source, path, number)
) STRICT, WITHOUT ROWID;
