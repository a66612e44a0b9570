-- == Proof

-- A checksum over all columns of each row that the journal does not prove; what was there before is
-- sealed when this migration has run.
ALTER TABLE bank ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE clock ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE quote ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE removal ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE billed_window ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE shortage ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE source ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE source_reading ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE raw_block ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE quarantine ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE quarantine_total ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE follow ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sink ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE auditor_record ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE instance ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lien ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE idempotency ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE record ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_identity ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;

-- Rows of tables that grow seldom, and the sum of their seals below 2^61: what was added or removed
-- behind the daemon's back differs from it.
CREATE TABLE tally (
    name  TEXT    PRIMARY KEY,
    rows  INTEGER NOT NULL,
    seals INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO tally (name, rows, seals)
    SELECT 'clock', count(*), 0 FROM clock
    UNION ALL SELECT 'removal', count(*), 0 FROM removal
    UNION ALL SELECT 'billed_window', count(*), 0 FROM billed_window
    UNION ALL SELECT 'shortage', count(*), 0 FROM shortage
    UNION ALL SELECT 'source', count(*), 0 FROM source
    UNION ALL SELECT 'source_reading', count(*), 0 FROM source_reading
    UNION ALL SELECT 'raw_block', count(*), 0 FROM raw_block
    UNION ALL SELECT 'quarantine', count(*), 0 FROM quarantine
    UNION ALL SELECT 'follow', count(*), 0 FROM follow
    UNION ALL SELECT 'sink', count(*), 0 FROM sink
    UNION ALL SELECT 'auditor_record', count(*), 0 FROM auditor_record
    UNION ALL SELECT 'unmapped', count(*), coalesce(sum(identity), 0) % 2305843009213693952 FROM unmapped;

CREATE TRIGGER clock_comes AFTER INSERT ON clock
BEGIN UPDATE tally SET rows = rows + 1, seals = (seals + NEW.seal) % 2305843009213693952
    WHERE name = 'clock'; END;
CREATE TRIGGER clock_goes AFTER DELETE ON clock
BEGIN UPDATE tally SET rows = rows - 1, seals = (seals + 2305843009213693952 - OLD.seal) % 2305843009213693952
    WHERE name = 'clock'; END;
CREATE TRIGGER clock_sealed AFTER UPDATE OF seal ON clock
BEGIN UPDATE tally SET seals = (seals + 2305843009213693952 - OLD.seal + NEW.seal) % 2305843009213693952
    WHERE name = 'clock'; END;
CREATE TRIGGER removal_comes AFTER INSERT ON removal
BEGIN UPDATE tally SET rows = rows + 1, seals = (seals + NEW.seal) % 2305843009213693952
    WHERE name = 'removal'; END;
CREATE TRIGGER removal_goes AFTER DELETE ON removal
BEGIN UPDATE tally SET rows = rows - 1, seals = (seals + 2305843009213693952 - OLD.seal) % 2305843009213693952
    WHERE name = 'removal'; END;
CREATE TRIGGER removal_sealed AFTER UPDATE OF seal ON removal
BEGIN UPDATE tally SET seals = (seals + 2305843009213693952 - OLD.seal + NEW.seal) % 2305843009213693952
    WHERE name = 'removal'; END;
CREATE TRIGGER billed_window_comes AFTER INSERT ON billed_window
BEGIN UPDATE tally SET rows = rows + 1, seals = (seals + NEW.seal) % 2305843009213693952
    WHERE name = 'billed_window'; END;
CREATE TRIGGER billed_window_goes AFTER DELETE ON billed_window
BEGIN UPDATE tally SET rows = rows - 1, seals = (seals + 2305843009213693952 - OLD.seal) % 2305843009213693952
    WHERE name = 'billed_window'; END;
CREATE TRIGGER billed_window_sealed AFTER UPDATE OF seal ON billed_window
BEGIN UPDATE tally SET seals = (seals + 2305843009213693952 - OLD.seal + NEW.seal) % 2305843009213693952
    WHERE name = 'billed_window'; END;
CREATE TRIGGER shortage_comes AFTER INSERT ON shortage
BEGIN UPDATE tally SET rows = rows + 1, seals = (seals + NEW.seal) % 2305843009213693952
    WHERE name = 'shortage'; END;
CREATE TRIGGER shortage_goes AFTER DELETE ON shortage
BEGIN UPDATE tally SET rows = rows - 1, seals = (seals + 2305843009213693952 - OLD.seal) % 2305843009213693952
    WHERE name = 'shortage'; END;
CREATE TRIGGER shortage_sealed AFTER UPDATE OF seal ON shortage
BEGIN UPDATE tally SET seals = (seals + 2305843009213693952 - OLD.seal + NEW.seal) % 2305843009213693952
    WHERE name = 'shortage'; END;
CREATE TRIGGER source_comes AFTER INSERT ON source
BEGIN UPDATE tally SET rows = rows + 1, seals = (seals + NEW.seal) % 2305843009213693952
    WHERE name = 'source'; END;
CREATE TRIGGER source_goes AFTER DELETE ON source
BEGIN UPDATE tally SET rows = rows - 1, seals = (seals + 2305843009213693952 - OLD.seal) % 2305843009213693952
    WHERE name = 'source'; END;
CREATE TRIGGER source_sealed AFTER UPDATE OF seal ON source
BEGIN UPDATE tally SET seals = (seals + 2305843009213693952 - OLD.seal + NEW.seal) % 2305843009213693952
    WHERE name = 'source'; END;
CREATE TRIGGER source_reading_comes AFTER INSERT ON source_reading
BEGIN UPDATE tally SET rows = rows + 1, seals = (seals + NEW.seal) % 2305843009213693952
    WHERE name = 'source_reading'; END;
CREATE TRIGGER source_reading_goes AFTER DELETE ON source_reading
BEGIN UPDATE tally SET rows = rows - 1, seals = (seals + 2305843009213693952 - OLD.seal) % 2305843009213693952
    WHERE name = 'source_reading'; END;
CREATE TRIGGER source_reading_sealed AFTER UPDATE OF seal ON source_reading
BEGIN UPDATE tally SET seals = (seals + 2305843009213693952 - OLD.seal + NEW.seal) % 2305843009213693952
    WHERE name = 'source_reading'; END;
CREATE TRIGGER raw_block_comes AFTER INSERT ON raw_block
BEGIN UPDATE tally SET rows = rows + 1, seals = (seals + NEW.seal) % 2305843009213693952
    WHERE name = 'raw_block'; END;
CREATE TRIGGER raw_block_goes AFTER DELETE ON raw_block
BEGIN UPDATE tally SET rows = rows - 1, seals = (seals + 2305843009213693952 - OLD.seal) % 2305843009213693952
    WHERE name = 'raw_block'; END;
CREATE TRIGGER raw_block_sealed AFTER UPDATE OF seal ON raw_block
BEGIN UPDATE tally SET seals = (seals + 2305843009213693952 - OLD.seal + NEW.seal) % 2305843009213693952
    WHERE name = 'raw_block'; END;
CREATE TRIGGER quarantine_comes AFTER INSERT ON quarantine
BEGIN UPDATE tally SET rows = rows + 1, seals = (seals + NEW.seal) % 2305843009213693952
    WHERE name = 'quarantine'; END;
CREATE TRIGGER quarantine_goes AFTER DELETE ON quarantine
BEGIN UPDATE tally SET rows = rows - 1, seals = (seals + 2305843009213693952 - OLD.seal) % 2305843009213693952
    WHERE name = 'quarantine'; END;
CREATE TRIGGER quarantine_sealed AFTER UPDATE OF seal ON quarantine
BEGIN UPDATE tally SET seals = (seals + 2305843009213693952 - OLD.seal + NEW.seal) % 2305843009213693952
    WHERE name = 'quarantine'; END;
CREATE TRIGGER follow_comes AFTER INSERT ON follow
BEGIN UPDATE tally SET rows = rows + 1, seals = (seals + NEW.seal) % 2305843009213693952
    WHERE name = 'follow'; END;
CREATE TRIGGER follow_goes AFTER DELETE ON follow
BEGIN UPDATE tally SET rows = rows - 1, seals = (seals + 2305843009213693952 - OLD.seal) % 2305843009213693952
    WHERE name = 'follow'; END;
CREATE TRIGGER follow_sealed AFTER UPDATE OF seal ON follow
BEGIN UPDATE tally SET seals = (seals + 2305843009213693952 - OLD.seal + NEW.seal) % 2305843009213693952
    WHERE name = 'follow'; END;
CREATE TRIGGER sink_comes AFTER INSERT ON sink
BEGIN UPDATE tally SET rows = rows + 1, seals = (seals + NEW.seal) % 2305843009213693952
    WHERE name = 'sink'; END;
CREATE TRIGGER sink_goes AFTER DELETE ON sink
BEGIN UPDATE tally SET rows = rows - 1, seals = (seals + 2305843009213693952 - OLD.seal) % 2305843009213693952
    WHERE name = 'sink'; END;
CREATE TRIGGER sink_sealed AFTER UPDATE OF seal ON sink
BEGIN UPDATE tally SET seals = (seals + 2305843009213693952 - OLD.seal + NEW.seal) % 2305843009213693952
    WHERE name = 'sink'; END;
CREATE TRIGGER auditor_record_comes AFTER INSERT ON auditor_record
BEGIN UPDATE tally SET rows = rows + 1, seals = (seals + NEW.seal) % 2305843009213693952
    WHERE name = 'auditor_record'; END;
CREATE TRIGGER auditor_record_goes AFTER DELETE ON auditor_record
BEGIN UPDATE tally SET rows = rows - 1, seals = (seals + 2305843009213693952 - OLD.seal) % 2305843009213693952
    WHERE name = 'auditor_record'; END;
CREATE TRIGGER auditor_record_sealed AFTER UPDATE OF seal ON auditor_record
BEGIN UPDATE tally SET seals = (seals + 2305843009213693952 - OLD.seal + NEW.seal) % 2305843009213693952
    WHERE name = 'auditor_record'; END;
CREATE TRIGGER unmapped_comes AFTER INSERT ON unmapped
BEGIN UPDATE tally SET rows = rows + 1, seals = (seals + NEW.identity) % 2305843009213693952
    WHERE name = 'unmapped'; END;
CREATE TRIGGER unmapped_goes AFTER DELETE ON unmapped
BEGIN UPDATE tally SET rows = rows - 1, seals = (seals + 2305843009213693952 - OLD.identity) % 2305843009213693952
    WHERE name = 'unmapped'; END;

-- One row: the newest numbers of tables that grow with every charge, how many answers are kept, and
-- the sum of their seals.
CREATE TABLE extent (
    id             INTEGER PRIMARY KEY CHECK (id = 1),
    tx             INTEGER NOT NULL,
    entry          INTEGER NOT NULL,
    usage          INTEGER NOT NULL,
    allocation     INTEGER NOT NULL,
    instance       INTEGER NOT NULL,
    lien           INTEGER NOT NULL,
    quote          INTEGER NOT NULL,
    record         INTEGER NOT NULL,
    usage_identity INTEGER NOT NULL,
    answers        INTEGER NOT NULL,
    answer_seals   INTEGER NOT NULL
) STRICT;

-- One row: usage of transactions after this one is under their hashes; what was there before comes to
-- the digest.
CREATE TABLE proof_start (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    tx     INTEGER NOT NULL,
    digest BLOB    NOT NULL
) STRICT;
-- == The past
-- What is needed to show the bank as it was (decision notes 0056, 0057).

-- Reference data as it was from a transaction on, one row for each change, covered by the hash of
-- its transaction. The state is a JSON array of the columns of its row with the lists that belong
-- to it; NULL where it is gone. Of transaction 0 what there was before this table.
CREATE TABLE version (
    kind  TEXT    NOT NULL,
    key   TEXT    NOT NULL,
    tx    INTEGER NOT NULL,
    state TEXT,
    PRIMARY KEY (kind, key, tx)
) STRICT, WITHOUT ROWID;
CREATE INDEX version_tx ON version (tx);

-- One row: SHA-256 over what is said to be of transaction 0, which no transaction's hash covers.
CREATE TABLE origin (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    digest BLOB    NOT NULL
) STRICT;

-- Every so many entries a place in the journal is marked, at the end of a transaction. This table and
-- the next two are made of the journal alone: they may be made anew at any time, and `verify` proves
-- them.
CREATE TABLE waypoint (
    n       INTEGER PRIMARY KEY,
    -- The last transaction with entries up to here, and its last entry.
    tx      INTEGER NOT NULL UNIQUE,
    entry   INTEGER NOT NULL,
    -- When the first transaction behind the waypoint before was recorded.
    from_at INTEGER NOT NULL,
    -- Whether every allocation that changed since its last sum has one here.
    whole   INTEGER NOT NULL CHECK (whole IN (0, 1))
) STRICT;

-- How an allocation stood at a waypoint: not at each, but so often that few entries lie between.
CREATE TABLE waypoint_sum (
    allocation  INTEGER NOT NULL,
    n           INTEGER NOT NULL,
    -- Its last entry up to there.
    entry       INTEGER NOT NULL,
    amount      INTEGER NOT NULL,
    held        INTEGER NOT NULL,
    deposited   INTEGER NOT NULL,
    used        INTEGER NOT NULL,
    shadow      INTEGER NOT NULL,
    shadow_held INTEGER NOT NULL,
    PRIMARY KEY (allocation, n)
) STRICT, WITHOUT ROWID;

-- Entries that count before their stretch of the journal began: before `waypoint.from_at`.
CREATE TABLE waypoint_late (
    allocation   INTEGER NOT NULL,
    at_effective INTEGER NOT NULL,
    entry        INTEGER NOT NULL,
    PRIMARY KEY (allocation, at_effective, entry)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER version_no_update BEFORE UPDATE ON version
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER version_no_delete BEFORE DELETE ON version
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
