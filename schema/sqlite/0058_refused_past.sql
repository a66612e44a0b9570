-- Refused uses of before. The transaction of a use that was amended or assigned since is unknown: it is taken to be the
-- newest chunk with a refusal of its project on its machine.
UPDATE usage_identity SET refused_tx = coalesce((
        SELECT e.tx FROM entry e INDEXED BY entry_would_refuse JOIN tx t ON t.id = e.tx
        WHERE e.kind = 'would_refuse' AND t.op = 'import'
            AND e.tx <= coalesce(usage_identity.tx, 9223372036854775807)
            AND e.machine = usage_identity.machine AND e.project IN (usage_identity.project, usage_identity.account)
        ORDER BY e.tx DESC LIMIT 1), tx)
WHERE refusal IS NOT NULL AND instance IS NULL AND refused_tx IS NULL;
