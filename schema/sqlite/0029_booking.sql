-- When an allocation was created, and when it entered its present phase (that before, if it is expired):
-- credits without a start pay from the first on, and no charge is booked before the second.
ALTER TABLE allocation ADD COLUMN opened_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE allocation ADD COLUMN since_at INTEGER NOT NULL DEFAULT 0;

CREATE TEMP TABLE first_entry AS
    SELECT allocation, min(id) AS entry FROM entry WHERE allocation IS NOT NULL GROUP BY allocation;
CREATE TEMP TABLE activated AS
    SELECT e.allocation, max(t.at_effective) AS at FROM entry e JOIN tx t ON t.id = e.tx
    WHERE e.kind = 'activate' GROUP BY e.allocation;
UPDATE allocation SET opened_at = coalesce((
    SELECT t.at_effective FROM temp.first_entry f JOIN entry e ON e.id = f.entry JOIN tx t ON t.id = e.tx
    WHERE f.allocation = allocation.id), 0) WHERE id <> 1;
UPDATE allocation SET since_at = max(opened_at, coalesce((
    SELECT at FROM temp.activated a WHERE a.allocation = allocation.id), opened_at)) WHERE id <> 1;
DROP TABLE temp.first_entry;
DROP TABLE temp.activated;

-- What came into allocations, beside usage: few among all entries.
CREATE INDEX entry_money ON entry (allocation, tx) WHERE usage IS NULL
    AND kind IN ('deposit', 'transfer_in', 'adjust', 'cycle_reset', 'reverse');

-- The last transaction that was written before charges were booked by these columns: what came earlier
-- keeps the time that it has.
ALTER TABLE proof_start ADD COLUMN booked_after INTEGER NOT NULL DEFAULT 0;
UPDATE proof_start SET booked_after = (SELECT coalesce(max(id), 0) FROM tx);
