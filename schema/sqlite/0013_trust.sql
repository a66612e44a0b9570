-- == Attention and its outbox

-- What was raised, cleared or seen, one row beside its transaction, whose reason is the sentence for
-- people. Covered by the hash of the transaction. Times are those of the transaction.
CREATE TABLE attention_event (
    tx         INTEGER PRIMARY KEY,
    turn       TEXT    NOT NULL CHECK (turn IN ('raised', 'cleared', 'acked')),
    kind       TEXT    NOT NULL,
    -- account:3, allocation:7, lien:12, source:sge.
    subject    TEXT    NOT NULL,
    -- Percent of used, days of expiring, else 0.
    threshold  INTEGER NOT NULL,
    -- The transaction that raised it; NULL for one that raises.
    of         INTEGER,
    -- Percent used, days left below zero, or 1.
    level      INTEGER NOT NULL,
    account    INTEGER,
    allocation INTEGER,
    lien       INTEGER,
    project    TEXT    NOT NULL,
    user       TEXT    NOT NULL,
    machine    TEXT    NOT NULL,
    -- What it is about, in minor units.
    amount     INTEGER,
    urgent     INTEGER NOT NULL CHECK (urgent IN (0, 1)),
    -- Whether anybody is told of it.
    told       INTEGER NOT NULL CHECK (told IN (0, 1))
) STRICT;
CREATE TRIGGER attention_event_no_update BEFORE UPDATE ON attention_event
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER attention_event_no_delete BEFORE DELETE ON attention_event
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;

-- What is raised and not cleared: what the events come to.
CREATE TABLE attention (
    kind      TEXT    NOT NULL,
    subject   TEXT    NOT NULL,
    threshold INTEGER NOT NULL,
    tx        INTEGER NOT NULL UNIQUE REFERENCES attention_event(tx),
    -- The transaction in which somebody said to have seen it.
    acked     INTEGER REFERENCES attention_event(tx),
    PRIMARY KEY (kind, subject, threshold)
) STRICT, WITHOUT ROWID;

-- Projects of which nothing is watched.
CREATE TABLE attention_off (
    project INTEGER PRIMARY KEY REFERENCES project(id)
) STRICT;

-- Who is told, by the name in the settings. One that is not in them any more is kept with its notices
-- and gets no new ones.
CREATE TABLE target (
    name     TEXT    PRIMARY KEY,
    active   INTEGER NOT NULL CHECK (active IN (0, 1)),
    -- What it gets at once: all, or urgent; the others come with its digest.
    at_once  TEXT    NOT NULL CHECK (at_once IN ('all', 'urgent')),
    -- Whether it hears that something cleared.
    clears   INTEGER NOT NULL CHECK (clears IN (0, 1)),
    -- Words of kinds between commas, with one at each end; empty for all.
    kinds    TEXT    NOT NULL,
    -- The last event that its digests took account of, and when the last one was made: µs since 1970.
    digested INTEGER NOT NULL,
    digest_at INTEGER NOT NULL,
    -- Notices ever made for it, and those that were removed some time after they were sent or given up.
    made     INTEGER NOT NULL DEFAULT 0,
    removed  INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- The outbox: what a target is told, made in the transaction of its event, in the order of the
-- numbers for each target. One that was sent or given up goes
-- after a while.
CREATE TABLE notice (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    target    TEXT    NOT NULL REFERENCES target(name),
    made_at   INTEGER NOT NULL,
    -- Its event; NULL for a digest.
    event     INTEGER REFERENCES attention_event(tx),
    -- A digest: whom it is for, and the numbers of its events between commas.
    recipient TEXT    NOT NULL,
    events    TEXT    NOT NULL,
    state     TEXT    NOT NULL CHECK (state IN ('waiting', 'sent', 'dead')),
    attempts  INTEGER NOT NULL,
    -- When it was tried last, and why that failed; of a sent one when it was sent.
    tried_at  INTEGER,
    error     TEXT    NOT NULL
) STRICT;
CREATE INDEX notice_waiting ON notice (target, id) WHERE state = 'waiting';
CREATE INDEX notice_done ON notice (tried_at) WHERE state <> 'waiting';
