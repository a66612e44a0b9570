-- The answer to a command whose key is a UUID of version 7, beside its transaction, which has the client and the key: a
-- quarter of the bytes of a row of `idempotency`, and no index of ends. What is there before stays where it is.
CREATE TABLE answer (
    -- The milliseconds of the key, then 15 bits of a checksum of it.
    place   INTEGER NOT NULL,
    tx      INTEGER NOT NULL,
    -- Whether it is kept for ever. Others go with their transactions, seven days after these.
    stays   INTEGER NOT NULL,
    -- The first 8 bytes of the fingerprint, then 6 bytes of a checksum of the nonce, if there is one.
    request BLOB    NOT NULL,
    status  INTEGER NOT NULL,
    media   TEXT    NOT NULL,
    body    BLOB    NOT NULL,
    seal    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (place, tx)
) STRICT, WITHOUT ROWID;

-- The last transaction whose answer went, if it had one that goes.
ALTER TABLE extent ADD COLUMN answered INTEGER NOT NULL DEFAULT 0;
UPDATE extent SET answered = tx;
