-- The time that the machine's clock would show if it had not stepped back, while it shows an earlier one. NULL while it is
-- not behind.
ALTER TABLE clock ADD COLUMN unstepped_at INTEGER;
