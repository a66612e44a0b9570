//! The tables of the log, and the statements over them.

/// The format of the tables.
pub(super) const VERSION: i32 = 1;

pub(super) const FORMAT: &str = "SELECT version FROM bank_log_format";

/// Creates what is missing, in the one transaction of a text with several statements. The lock is for two nodes that do it at the same time.
/// Bodies are compressed by the bank, so `PostgreSQL` does not try it again.
pub(super) const CREATE: &str = "\
SELECT pg_advisory_xact_lock(7021980114);
CREATE TABLE IF NOT EXISTS bank_log_format (version integer NOT NULL);
DO $$ BEGIN
    IF EXISTS (SELECT FROM bank_log_format WHERE version <> 1) THEN
        RAISE 'the tables exist in another format: use the version of bankd that made them';
    END IF;
END $$;
INSERT INTO bank_log_format SELECT 1 WHERE NOT EXISTS (SELECT FROM bank_log_format);
CREATE TABLE IF NOT EXISTS bank_log (
    bank text NOT NULL,
    position bigint NOT NULL CHECK (position > 0),
    epoch bigint NOT NULL,
    batch_id bytea NOT NULL CHECK (octet_length(batch_id) = 16),
    body bytea NOT NULL,
    hash_before bytea NOT NULL,
    hash_after bytea NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (bank, position)
);
ALTER TABLE bank_log ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE TABLE IF NOT EXISTS bank_writer (
    bank text PRIMARY KEY,
    epoch bigint NOT NULL,
    node text NOT NULL,
    address text NOT NULL,
    durable bigint NOT NULL,
    seen timestamptz NOT NULL,
    heir text
);
CREATE TABLE IF NOT EXISTS bank_node (
    bank text NOT NULL,
    node text NOT NULL,
    address text NOT NULL,
    applied bigint NOT NULL,
    version text NOT NULL,
    seen timestamptz NOT NULL,
    PRIMARY KEY (bank, node)
)";

/// These tables are made when they are first needed: logs of earlier versions do not have them.
pub(super) const HAS_SECRETS: &str =
    "SELECT to_regclass('bank_secret') IS NOT NULL AND to_regclass('bank_key') IS NOT NULL";

pub(super) const CREATE_SECRETS: &str = "\
SELECT pg_advisory_xact_lock(7021980114);
CREATE TABLE IF NOT EXISTS bank_secret (bank text PRIMARY KEY, secret bytea NOT NULL);
CREATE TABLE IF NOT EXISTS bank_key (
    bank text NOT NULL,
    id text NOT NULL,
    secret bytea NOT NULL,
    PRIMARY KEY (bank, id)
)";

pub(super) const KEYS: &str =
    "SELECT id, secret FROM bank_key WHERE bank = $1 ORDER BY id COLLATE \"C\"";

pub(super) const KEEP_KEY: &str = "\
INSERT INTO bank_key (bank, id, secret) VALUES ($1, $2, $3)
ON CONFLICT (bank, id) DO UPDATE SET secret = excluded.secret";

pub(super) const REMOVE_KEY: &str = "DELETE FROM bank_key WHERE bank = $1 AND id = $2";

/// Banks with an entry in the log.
pub(super) const BANKS: &str = "SELECT DISTINCT bank FROM bank_writer ORDER BY bank";

pub(super) const KEEP_SECRET: &str =
    "INSERT INTO bank_secret (bank, secret) VALUES ($1, $2) ON CONFLICT (bank) DO NOTHING";

pub(super) const SECRET: &str = "SELECT secret FROM bank_secret WHERE bank = $1";

/// Inserts an entry if it follows the last one. A position is therefore never filled again after its entry was
/// trimmed, also not by a writer that was stopped for days.
///
/// If the entry of the same batch is there, its row is written again: the commit of this statement follows that
/// of the row in the write-ahead log, so when a standby has this commit, it has the row.
pub(super) const APPEND: &str = "\
INSERT INTO bank_log AS log (bank, position, epoch, batch_id, body, hash_before, hash_after, at)
SELECT $1::text, $2::bigint, $3::bigint, $4::bytea, $5::bytea, $6::bytea, $7::bytea, $8::bigint
WHERE $2::bigint = 1 + coalesce((SELECT max(position) FROM bank_log WHERE bank = $1), 0)
   OR EXISTS (SELECT FROM bank_log WHERE bank = $1 AND position = $2 AND batch_id = $4)
ON CONFLICT (bank, position) DO UPDATE SET at = log.at WHERE log.batch_id = excluded.batch_id";

pub(super) const READ: &str = "\
SELECT position, epoch, batch_id, body, hash_before, hash_after, at FROM (
    SELECT position, epoch, batch_id, body, hash_before, hash_after, at,
        sum(octet_length(body)) OVER (ORDER BY position) - octet_length(body) AS before
    FROM bank_log WHERE bank = $1 AND position >= $2 ORDER BY position LIMIT 1000
) AS ahead WHERE before = 0 OR before < $3 ORDER BY position";

pub(super) const FIND: &str = "\
SELECT position, epoch, batch_id, body, hash_before, hash_after, at FROM bank_log WHERE bank = $1 AND position = $2";

pub(super) const LAST: &str = "SELECT coalesce(max(position), 0) FROM bank_log WHERE bank = $1";

pub(super) const FIRST: &str = "SELECT coalesce(min(position), 1) FROM bank_log WHERE bank = $1";

pub(super) const LEASE: &str = "\
SELECT epoch, node, address, durable,
    greatest(0, (extract(epoch FROM clock_timestamp() - seen) * 1000)::bigint) FROM bank_writer WHERE bank = $1";

/// Parameters: bank, node, address, milliseconds.
pub(super) const TAKE: &str = "\
INSERT INTO bank_writer AS writer (bank, epoch, node, address, durable, seen)
VALUES ($1, 1, $2, $3, 0, clock_timestamp())
ON CONFLICT (bank) DO UPDATE
SET epoch = writer.epoch + 1, node = excluded.node, address = excluded.address, seen = clock_timestamp(), heir = NULL
WHERE writer.node = excluded.node
   OR (writer.node = '' AND (writer.heir IS NULL OR writer.heir = excluded.node))
   OR writer.seen < clock_timestamp() - $4::bigint * interval '1 millisecond'
RETURNING epoch, node, address, durable, 0::bigint";

pub(super) const RENEW: &str = "\
UPDATE bank_writer SET seen = clock_timestamp(), durable = greatest(durable, $4)
WHERE bank = $1 AND node = $2 AND epoch = $3";

pub(super) const HAND_OVER: &str = "\
UPDATE bank_writer SET seen = clock_timestamp(), node = '', address = '', heir = $4
WHERE bank = $1 AND node = $2 AND epoch = $3";

pub(super) const REPORT: &str = "\
INSERT INTO bank_node (bank, node, address, applied, version, seen) VALUES ($1, $2, $3, $4, $5, clock_timestamp())
ON CONFLICT (bank, node) DO UPDATE
SET address = excluded.address, applied = excluded.applied, version = excluded.version, seen = excluded.seen";

pub(super) const NODES: &str = "\
SELECT node, address, applied, version,
    greatest(0, (extract(epoch FROM clock_timestamp() - seen) * 1000)::bigint)
FROM bank_node WHERE bank = $1 ORDER BY node COLLATE \"C\"";

pub(super) const LEAVE: &str = "DELETE FROM bank_node WHERE bank = $1 AND node = $2";

/// Deletes some of the oldest entries below a position, never the last entry.
pub(super) const TRIM: &str = "\
DELETE FROM bank_log WHERE bank = $1 AND position IN (
    SELECT position FROM bank_log
    WHERE bank = $1 AND position < $2 AND position < (SELECT max(position) FROM bank_log WHERE bank = $1)
    ORDER BY position LIMIT 500)";

pub(super) const SAFETY: &str = "\
SELECT current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
    current_setting('synchronous_standby_names'), (SELECT count(*) FROM pg_stat_replication)";
