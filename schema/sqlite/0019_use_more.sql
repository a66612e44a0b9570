-- What finished uses say beside what they are charged by: their disk, and those of their attributes that
-- reports and exports ask for.

-- NULL where nobody says.
ALTER TABLE usage_identity ADD COLUMN disk_bytes INTEGER;
-- One attribute a line, such as node=wrk-88; NULL for none.
ALTER TABLE usage_identity ADD COLUMN more TEXT;
