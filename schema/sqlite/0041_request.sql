-- Requests: proposals of people who may not do what they ask for. `asked` is the reason of such a person, and
-- NULL for a proposal; a request can be withdrawn.
ALTER TABLE proposal RENAME TO proposal_1;
DROP INDEX proposal_open;
DROP TRIGGER proposal_kept;
DROP TRIGGER proposal_decided_once;

-- What somebody proposed and somebody else decides. The number is that of the transaction that
-- proposed it, whose reason is the request, so that the journal's hash covers it.
CREATE TABLE proposal (
    id       INTEGER PRIMARY KEY REFERENCES tx(id),
    kind     TEXT    NOT NULL,
    amount   INTEGER NOT NULL CHECK (amount >= 0),
    request  TEXT    NOT NULL,
    proposer TEXT    NOT NULL,
    client   TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    until_at INTEGER NOT NULL,
    state    TEXT    NOT NULL CHECK (state IN ('open', 'approved', 'rejected', 'withdrawn')),
    decider  TEXT    NOT NULL,
    reason   TEXT    NOT NULL,
    done     INTEGER REFERENCES tx(id),
    asked    TEXT,
    seal     INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO proposal (id, kind, amount, request, proposer, client, at, until_at, state, decider, reason, done)
    SELECT id, kind, amount, request, proposer, client, at, until_at, state, decider, reason, done FROM proposal_1;
DROP TABLE proposal_1;
CREATE INDEX proposal_open ON proposal (id) WHERE state = 'open';
CREATE TRIGGER proposal_kept BEFORE DELETE ON proposal BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
CREATE TRIGGER proposal_decided_once BEFORE UPDATE OF id, kind, amount, request, proposer, client, at,
    until_at, state, decider, reason, done, asked ON proposal WHEN OLD.state <> 'open' BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
