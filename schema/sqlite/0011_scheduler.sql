-- How a machine's scheduler is meant, and what can have been used of an instance.

ALTER TABLE machine ADD COLUMN reservation_account TEXT;
ALTER TABLE machine ADD COLUMN test INTEGER NOT NULL DEFAULT 0;
ALTER TABLE machine ADD COLUMN charge_duration TEXT
    CHECK (charge_duration IN ('incremental', 'cumulative'));

-- The earlier of first reserve and start, the latest event time of a charge, and the seconds that
-- were reported beyond what can have been used in between.
ALTER TABLE instance ADD COLUMN began_at INTEGER;
ALTER TABLE instance ADD COLUMN used_until INTEGER;
ALTER TABLE instance ADD COLUMN disputed_s INTEGER NOT NULL DEFAULT 0;
CREATE INDEX instance_disputed ON instance (disputed_s) WHERE disputed_s > 0;
