-- The idle processor-seconds of a reservation that the usage row of a charge counts, in billionths. NULL for charges
-- from before, whose usage rows count all reserved time.
ALTER TABLE reservation_time RENAME TO reservation_time_1;
DROP INDEX reservation_time_of;
DROP INDEX reservation_time_instance;
DROP TRIGGER reservation_time_no_delete;

-- Time that a charge counted: of the reservation itself, with its priced usage, or of a job in it. A row with
-- `back` takes an equal row back. Times are whole seconds. `at` is the instant at which the charge counts.
CREATE TABLE reservation_time (
    tx          INTEGER NOT NULL REFERENCES tx(id),
    n           INTEGER NOT NULL,
    instance    INTEGER NOT NULL REFERENCES instance(id),
    machine     TEXT NOT NULL,
    reservation TEXT NOT NULL,
    start_at    INTEGER NOT NULL,
    end_at      INTEGER NOT NULL CHECK (end_at > start_at),
    processors  TEXT NOT NULL,
    facts       TEXT,
    back        INTEGER NOT NULL CHECK (back IN (0, 1)),
    exact       TEXT NOT NULL,
    idle        TEXT,
    at          INTEGER NOT NULL,
    seal        INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tx, n)
) STRICT, WITHOUT ROWID;
INSERT INTO reservation_time (tx, n, instance, machine, reservation, start_at, end_at, processors, facts, back, exact, at)
    SELECT tx, n, instance, machine, reservation, start_at, end_at, processors, facts, back, exact, at
        FROM reservation_time_1;
DROP TABLE reservation_time_1;

CREATE INDEX reservation_time_of ON reservation_time (machine, reservation, end_at);
CREATE INDEX reservation_time_instance ON reservation_time (instance);

CREATE TRIGGER reservation_time_no_delete BEFORE DELETE ON reservation_time
BEGIN SELECT RAISE(ABORT, 'the time of reservations is append-only'); END;
