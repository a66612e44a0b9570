-- == Roles, tokens, proposals

-- SHA-256 of an API token: who shows the token is the client of the row. NULL for a signing key.
ALTER TABLE auth_key ADD COLUMN token BLOB CHECK (token IS NULL OR length(token) = 32);
CREATE UNIQUE INDEX auth_key_token ON auth_key (token) WHERE token IS NOT NULL;

-- When a key or a token was used last, in seconds of the real time, to the minute. Says nothing of
-- the ledger: it is not journalled, and rows are replaced.
CREATE TABLE key_use (
    key    TEXT    PRIMARY KEY REFERENCES auth_key(id),
    used_s INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
