-- Partner banks, and the messages between them and this bank (docs/decisions/log.md, 0174).

CREATE TABLE partner (
    name        TEXT    PRIMARY KEY,
    active      INTEGER NOT NULL CHECK (active IN (0, 1)),
    -- The account that has what the partner owes; empty for none.
    account     TEXT    NOT NULL,
    url         TEXT    NOT NULL,
    -- The id of the key that the partner gave to this bank.
    signing_key TEXT    NOT NULL,
    away        TEXT    NOT NULL CHECK (away IN ('refuse', 'accept')),
    timeout_ms  INTEGER NOT NULL,
    -- One name a line; empty for all.
    projects    TEXT    NOT NULL,
    description TEXT    NOT NULL,
    deleted     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row for each message: of the transaction here, and of its counterpart at the partner.
CREATE TABLE partner_entry (
    partner     TEXT    NOT NULL,
    -- Whether this bank sends it: its jobs, charged to a project of the partner.
    sent        INTEGER NOT NULL CHECK (sent IN (0, 1)),
    -- From 1 without gaps.
    number      INTEGER NOT NULL CHECK (number > 0),
    tx          INTEGER NOT NULL REFERENCES tx(id),
    -- The transaction at the partner; NULL until the partner has confirmed it.
    counterpart INTEGER,
    -- The use here.
    instance    INTEGER NOT NULL REFERENCES instance(id),
    -- The account that has what the partner owes; NULL for a received one.
    account     INTEGER REFERENCES account(id),
    -- When the sender recorded it.
    recorded_at INTEGER NOT NULL,
    -- The project at the bank that receives it.
    project     TEXT    NOT NULL,
    -- Minor units; below zero for a return.
    amount      INTEGER NOT NULL,
    -- The message, for a sent one; the SHA-256 of the message, for a received one.
    message     TEXT    NOT NULL,
    seal        INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (partner, sent, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX partner_entry_tx ON partner_entry (tx);
CREATE INDEX partner_entry_waiting ON partner_entry (partner, number) WHERE counterpart IS NULL;

-- Reserves that a partner was asked about and that are not written yet: what the partner holds for one that
-- is never written is released.
CREATE TABLE partner_question (
    id      TEXT    PRIMARY KEY,
    partner TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    -- The release, as it is sent.
    message TEXT    NOT NULL,
    seal    INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
