-- Rollups are counted again when this migration has run. The hours of a finished use count for the account that paid
-- most of it. In the modes `track` and `notional` they stayed with the account of its first charge.

-- A reissued refund is new money of its allocation. It counted as less use of that allocation, which it never had.
WITH RECURSIVE reissued (entry) AS (
    SELECT c.entry FROM correction c JOIN entry e ON e.id = c.entry JOIN entry o ON o.id = c.of
    WHERE e.usage IS NOT NULL AND o.allocation <> e.allocation
    UNION
    SELECT c.entry FROM correction c JOIN reissued r ON r.entry = c.of
)
UPDATE allocation SET used = used + money.amount
FROM (SELECT e.allocation, sum(e.delta_amount) AS amount
      FROM reissued r JOIN entry e ON e.id = r.entry WHERE e.usage IS NOT NULL GROUP BY e.allocation) AS money
WHERE money.allocation = allocation.id;

-- Waypoints contain the same sums. They are placed again.
DELETE FROM waypoint_late;
DELETE FROM waypoint_sum;
DELETE FROM waypoint;
