-- Numbers of records that left the quarantine because it was full were used too.
UPDATE sqlite_sequence SET seq = max(seq, (SELECT held + dropped FROM quarantine_total))
WHERE name = 'quarantine';
