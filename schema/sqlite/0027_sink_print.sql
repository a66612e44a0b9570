-- What a record file is known by where it was renamed or copied: SHA-256 over the last confirmed bytes.
ALTER TABLE sink ADD COLUMN print BLOB NOT NULL DEFAULT x'';
