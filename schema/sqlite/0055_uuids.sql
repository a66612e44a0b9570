-- Request ids and idempotency keys that are UUIDs, in 16 bytes instead of 36. Their text is in `req_id` and `idem_key` in
-- rows of earlier versions, and where it is no UUID; `req_id` is empty and `idem_key` NULL where it is here.
ALTER TABLE tx ADD COLUMN req_uuid BLOB;
ALTER TABLE tx ADD COLUMN key_uuid BLOB;
