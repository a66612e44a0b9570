-- The mode of a use is that of its first charge, and time that was reported by a source which does not charge
-- the machine waits with the use.

-- NULL before the first charge.
ALTER TABLE instance ADD COLUMN mode TEXT;
-- Seconds that were reported and are not billed.
ALTER TABLE instance ADD COLUMN kept_s INTEGER NOT NULL DEFAULT 0;
-- The first charge says whether money moved; the word for shadow figures is that of the project or machine.
UPDATE instance SET mode = CASE
    WHEN (SELECT u.billing FROM usage u WHERE u.id = instance.record) = 'shadow' THEN coalesce(
        (SELECT p.mode FROM project p WHERE p.name = instance.project AND p.mode IN ('notional', 'track')),
        (SELECT m.mode FROM machine m WHERE m.name = instance.machine AND m.mode IN ('notional', 'track')),
        'notional')
    ELSE 'strict' END
WHERE record IS NOT NULL;
