-- Money that comes again each period, and what was last seen of the machine's clock.

-- Boundaries are start_at and the same day and time of day each period later, in UTC. Which is the
-- next stands in number, and moves on in the transaction that makes the period's allocation.
CREATE TABLE cycle (
    id       INTEGER PRIMARY KEY,
    name     TEXT    NOT NULL UNIQUE,
    account  INTEGER NOT NULL REFERENCES account(id),
    every    TEXT    NOT NULL CHECK (every IN ('month', 'quarter', 'year')),
    amount   INTEGER NOT NULL CHECK (amount > 0),
    rollover INTEGER NOT NULL CHECK (rollover BETWEEN 0 AND 100),
    start_at INTEGER NOT NULL,
    number   INTEGER NOT NULL,
    last     INTEGER REFERENCES allocation(id) DEFERRABLE INITIALLY DEFERRED,
    active   INTEGER NOT NULL,
    deleted  INTEGER NOT NULL,
    note     TEXT    NOT NULL
) STRICT;

-- One row, written every few minutes and at each step: with it a restart knows how much time has
-- passed, whatever the clock says.
CREATE TABLE clock (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    clock_at    INTEGER NOT NULL,
    steady_us   INTEGER NOT NULL,
    boot        INTEGER NOT NULL,
    believed_at INTEGER NOT NULL,
    back_from   INTEGER
) STRICT;
