-- Which waypoints have sums of all, and how many sums each has, depends on how far they were made to
-- lie apart: the journal does not say it, so that the row is sealed with the count under its seal.
ALTER TABLE waypoint ADD COLUMN sums INTEGER NOT NULL DEFAULT 0;
ALTER TABLE waypoint ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE waypoint SET sums = counted.sums
FROM (SELECT n, count(*) AS sums FROM waypoint_sum GROUP BY n) AS counted
WHERE counted.n = waypoint.n;
