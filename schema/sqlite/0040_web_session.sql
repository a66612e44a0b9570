-- Sessions of people on the web pages. Beside the ledger: ended ones are deleted.
CREATE TABLE web_session (
    id        INTEGER PRIMARY KEY,
    -- SHA-256 of the text in the cookie.
    hash      BLOB    NOT NULL UNIQUE,
    -- The person, and the uid of somebody who signed in through the socket.
    name      TEXT    NOT NULL,
    uid       INTEGER,
    -- `link`, `header` or `oidc`.
    way       TEXT    NOT NULL,
    -- Roles by groups of an identity provider, with spaces between.
    roles     TEXT    NOT NULL,
    -- As the browser names itself, shortened.
    agent     TEXT    NOT NULL,
    -- Seconds of the real time.
    created_s INTEGER NOT NULL,
    used_s    INTEGER NOT NULL,
    seal      INTEGER NOT NULL DEFAULT 0
) STRICT;
