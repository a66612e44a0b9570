-- What came into allocations beside usage, and what left them: late usage is paid by credits that were there
-- at its time and have not left since (docs/decisions/0139).
DROP INDEX entry_money;
CREATE INDEX entry_money ON entry (allocation, tx) WHERE usage IS NULL AND delta_amount <> 0;
