-- Settlements and assignments before schema 48: their uses stay with the project that a person named.
UPDATE usage_identity SET given = 1
WHERE instance IN (
        SELECT u.instance FROM tx t JOIN usage u ON u.tx = t.id
        WHERE t.op = 'settle' OR t.reason LIKE 'assigned source=%'
    )
    OR (instance IS NULL AND tx IN (SELECT id FROM tx WHERE reason LIKE 'assigned source=%'));
