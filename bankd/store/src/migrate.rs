//! Numbered migrations: each once, in order, in a transaction of its own, never edited later.

use super::{Error, extent, rollup, seal, start, tally};
use rusqlite::{Connection, TransactionBehavior};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// `bank` in ASCII: marks the file as one of ours.
pub(super) const APPLICATION_ID: i32 = 0x6261_6e6b;

/// The migrations by the names of their files.
macro_rules! migrations {
    ($($name:literal)*) => {
        [$(include_str!(concat!("../../../schema/sqlite/", $name))),*]
    };
}

/// Every migration, the first with number 1.
const MIGRATIONS: [&str; 60] = migrations! {
    "0001_ledger.sql" "0002_accounts.sql" "0003_reversal.sql" "0004_rates.sql" "0005_windows.sql"
    "0006_cycles.sql" "0007_particulars.sql" "0008_past.sql" "0009_usage.sql" "0010_records.sql"
    "0011_scheduler.sql" "0012_collectors.sql" "0013_trust.sql" "0014_waypoint_seal.sql" "0015_rollup.sql"
    "0016_contribution.sql" "0017_export.sql" "0018_choice.sql" "0019_use_more.sql" "0020_schedule.sql"
    "0021_measured.sql" "0022_month.sql" "0023_downtime.sql" "0024_snapshot.sql" "0025_fallback.sql"
    "0026_follow_file.sql" "0027_sink_print.sql" "0028_refused.sql" "0029_booking.sql" "0030_mode.sql"
    "0031_shadow.sql" "0032_later_credits.sql" "0033_effective.sql" "0034_kind_record.sql" "0035_user_alias.sql"
    "0036_pi.sql" "0037_report_person.sql" "0038_reservation_time.sql" "0039_partner.sql" "0040_web_session.sql"
    "0041_request.sql" "0042_idle_time.sql" "0043_blocks.sql" "0044_undone.sql" "0045_place.sql"
    "0046_portions.sql" "0047_owners.sql" "0048_earlier_records.sql" "0049_given.sql" "0050_quarantine_numbers.sql"
    "0051_quarantine_past.sql" "0052_use_account.sql" "0053_correction_time.sql" "0054_answer.sql" "0055_uuids.sql"
    "0056_answer_seal.sql" "0057_refused_use.sql" "0058_refused_past.sql" "0059_clock_unstepped.sql" "0060_clock_seal.sql"
};

/// The last migration that changed the rollup format: a bank of an earlier version is backfilled.
const ROLLUPS: i64 = 53;

/// The last migration that a test lets this program have; all of them if it is 0.
#[cfg(feature = "test-hooks")]
static LAST: std::sync::atomic::AtomicI64 = std::sync::atomic::AtomicI64::new(0);

/// Makes this program one of an earlier schema version, for tests of nodes with two versions.
#[cfg(feature = "test-hooks")]
pub fn end_at(version: i64) {
    LAST.store(version, std::sync::atomic::Ordering::Relaxed);
}

/// The schema version that this program reads and writes.
pub fn current_version() -> i64 {
    #[cfg(feature = "test-hooks")]
    if let last @ 1.. = LAST.load(std::sync::atomic::Ordering::Relaxed) {
        return last;
    }
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Migrates a database to the current version. A database of a later version is rejected, as is one
/// with other migrations than this program.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), Error> {
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS migration (
             number   INTEGER PRIMARY KEY,
             checksum TEXT NOT NULL
         ) STRICT;",
    )?;
    let version: i64 = connection.query_row("PRAGMA user_version", [], |r| r.get(0))?;
    if version > current_version() {
        let ours = current_version();
        return Err(Error::NotABank(format!(
            "the database has schema version {version}, this program knows up to {ours}: \
             use the newer bankd that wrote it"
        )));
    }
    for (index, sql) in MIGRATIONS.iter().enumerate() {
        let number = i64::try_from(index).unwrap_or(i64::MAX).saturating_add(1);
        if number > current_version() {
            break;
        }
        let checksum = checksum(sql);
        if number <= version {
            check_applied(connection, number, &checksum)?;
            continue;
        }
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        tx.execute_batch(sql)?;
        tx.execute("INSERT INTO migration VALUES (?1, ?2)", (number, &checksum))?;
        tx.pragma_update(None, "user_version", number)?;
        if number == current_version() {
            if version < ROLLUPS {
                rollup::rebuild(&tx)?;
            }
            seal_all(&tx)?;
        }
        tx.commit()?;
    }
    Ok(())
}

/// Seals are recomputed after a migration, because their columns changed. Earlier damage is no
/// longer detected, so verify a bank before the migration.
fn seal_all(connection: &Connection) -> Result<(), Error> {
    seal::fill(connection)?;
    tally::renew(connection)?;
    start::keep(connection)?;
    start::renew(connection)?;
    extent::write(connection, &extent::measure(connection)?)
}

/// The migrations with their checksums, as a database of the current version has them.
pub(super) fn expected() -> impl Iterator<Item = (i64, String)> {
    let all = (1..).zip(MIGRATIONS.iter().map(|sql| checksum(sql)));
    all.take_while(|(number, _)| *number <= current_version())
}

/// Rejects files that are not a bank's database, such as an empty file.
pub(super) fn check_bank(connection: &Connection) -> Result<(), Error> {
    let id: i32 = connection.query_row("PRAGMA application_id", [], |r| r.get(0))?;
    if id == APPLICATION_ID {
        return Ok(());
    }
    let path = connection.path().unwrap_or_default();
    let is_empty = std::fs::metadata(path).is_ok_and(|file| file.len() == 0);
    let what = if is_empty { "empty, and " } else { "" };
    Err(Error::NotABank(format!(
        "{path} is {what}not a bank's database: restore the last good backup (`bankd restore`), \
         or name another folder with --data"
    )))
}

/// Rejects files that are not a bank, and banks of another version: read-only callers do not
/// migrate.
pub(super) fn check_current(connection: &Connection) -> Result<(), Error> {
    check_bank(connection)?;
    let version: i64 = connection.query_row("PRAGMA user_version", [], |r| r.get(0))?;
    let ours = current_version();
    if version == ours {
        return Ok(());
    }
    let way = if version < ours {
        "start `bankd serve` once, which brings it up to date, or use the bankd that wrote it"
    } else {
        "use the newer bankd that wrote it"
    };
    Err(Error::NotABank(format!(
        "the database has schema version {version}, this program reads {ours}: {way}"
    )))
}

fn check_applied(connection: &Connection, number: i64, checksum: &str) -> Result<(), Error> {
    let sql = "SELECT checksum FROM migration WHERE number = ?1";
    let stored: String = connection.query_row(sql, [number], |r| r.get(0))?;
    if stored == checksum {
        return Ok(());
    }
    Err(Error::NotABank(format!(
        "migration {number} of the database is not the one of this program"
    )))
}

fn checksum(sql: &str) -> String {
    let digest = Sha256::digest(sql.as_bytes());
    let mut text = String::with_capacity(64);
    for byte in digest {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Makes a bank of an older version without anything in it, for tests.
///
/// # Errors
/// If the file cannot be written.
#[cfg(any(test, feature = "test-hooks"))]
pub fn old_bank(path: &std::path::Path, version: usize) -> Result<(), Error> {
    let bank = Connection::open(path)?;
    bank.execute_batch(
        "CREATE TABLE migration (number INTEGER PRIMARY KEY, checksum TEXT NOT NULL) STRICT;",
    )?;
    bank.pragma_update(None, "application_id", APPLICATION_ID)?;
    for (number, sql) in (1..).zip(MIGRATIONS.iter().take(version)) {
        bank.execute_batch(sql)?;
        let row = (number, checksum(sql));
        bank.execute("INSERT INTO migration VALUES (?1, ?2)", row)?;
        bank.pragma_update(None, "user_version", number)?;
    }
    let new = super::bank::NewBank {
        uuid: "of old".to_owned(),
        precision: bank_core::amount::Precision::DEFAULT,
        unit: "SU".to_owned(),
        test: false,
        init_uid: 0,
        created_at: bank_core::time::Timestamp(0),
    };
    super::bank::insert(&bank, &new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bank_core_figures::rollup::Measure;

    /// An empty bank of an older version.
    fn bank_of(version: usize) -> Connection {
        let bank = Connection::open_in_memory().unwrap();
        bank.execute_batch(
            "PRAGMA foreign_keys = ON;
             CREATE TABLE migration (number INTEGER PRIMARY KEY, checksum TEXT NOT NULL) STRICT;",
        )
        .unwrap();
        for (number, sql) in (1..).zip(&MIGRATIONS[..version]) {
            bank.execute_batch(sql).unwrap();
            let row = (number, checksum(sql));
            bank.execute("INSERT INTO migration VALUES (?1, ?2)", row)
                .unwrap();
            bank.pragma_update(None, "user_version", number).unwrap();
        }
        bank
    }

    /// Charged amounts come from the journal; windows, limits and accounts start with their current
    /// values.
    #[test]
    fn an_older_bank_learns_what_was_used() {
        let mut bank = bank_of(7);
        bank.execute_batch(
            "INSERT INTO account (id, name, priority, fallback, blocked, deleted, description)
                 VALUES (1, 'chem', 0, NULL, 0, 0, ''), (2, 'gone', 0, NULL, 0, 1, '');
             INSERT INTO allocation (id, account, start_at, end_at, phase, amount, held,
                 credit_limit, deposited, shadow, shadow_held, last_entry)
                 VALUES (1, 1, NULL, 9, 'active', 50, 0, 7, 100, 0, 0, 4),
                     (2, 1, NULL, NULL, 'active', 0, 0, 0, 0, 0, 0, NULL);
             INSERT INTO entry (id, tx, n, kind, account, allocation, usage, delta_amount,
                 delta_held, delta_active, delta_shadow, delta_shadow_held, amount_after,
                 held_after, project, user, machine)
                 VALUES (1, 1, 0, 'deposit', 1, 1, NULL, 100, 0, 100, 0, 0, 100, 0, '', '', ''),
                     (2, 2, 0, 'charge', 1, 1, 1, -40, 0, -40, 0, 0, 60, 0, '', '', ''),
                     (3, 3, 0, 'refund', 1, 1, 2, 10, 0, 10, 0, 0, 70, 0, '', '', ''),
                     (4, 4, 0, 'withdraw', 1, 1, NULL, -20, 0, -20, 0, 0, 50, 0, '', '', '');",
        )
        .unwrap();
        migrate(&mut bank).unwrap();
        let text = |sql: &str| -> String { bank.query_row(sql, [], |r| r.get(0)).unwrap() };
        let used = "SELECT group_concat(id || ':' || used) FROM allocation";
        assert_eq!(text(used), "1:30,2:0");
        let shapes = "SELECT group_concat(allocation || ':' || tx || ':' || ifnull(end_at, '-')
                          || ':' || credit_limit) FROM shape";
        assert_eq!(text(shapes), "1:0:9:7,2:0:-:0");
        let presences = "SELECT group_concat(account || ':' || tx || ':' || there) FROM presence";
        assert_eq!(text(presences), "1:0:1,2:0:0");
    }

    /// A read-only open of a bank of another version reports the required action.
    #[test]
    fn a_bank_of_another_version_is_named_as_one() {
        let mut bank = bank_of(7);
        let message = check_current(&bank).unwrap_err().to_string();
        assert!(message.contains("not a bank's database"), "{message}");
        bank.pragma_update(None, "application_id", APPLICATION_ID)
            .unwrap();
        let message = check_current(&bank).unwrap_err().to_string();
        assert!(
            message.contains("has schema version 7") && message.contains("`bankd serve`"),
            "{message}"
        );
        migrate(&mut bank).unwrap();
        check_current(&bank).unwrap();
        bank.pragma_update(None, "user_version", 999).unwrap();
        let message = check_current(&bank).unwrap_err().to_string();
        assert!(message.contains("the newer bankd"), "{message}");
    }

    /// Usage of before is added up: a finished use over midnight, and a charge with its refund.
    #[test]
    fn an_older_bank_gets_its_usage_added_up() {
        let mut bank = bank_of(13);
        bank.execute_batch(
            "INSERT INTO bank (id, uuid, precision, unit, test, init_uid, created_at)
                 VALUES (1, 'of old', 3, 'SU', 0, 0, 0);
             INSERT INTO account (id, name, priority, fallback, blocked, deleted, description)
                 VALUES (1, 'chem', 0, NULL, 0, 0, '');
             INSERT INTO allocation (id, account, phase, amount, held, credit_limit, deposited,
                 shadow, shadow_held) VALUES (1, 1, 'active', 0, 0, 0, 0, 0, 0);
             INSERT INTO source (id, name, format, machine, first_contact, last_contact)
                 VALUES (1, 's', '', '', 0, 0);
             INSERT INTO usage_identity (source, object_id, start_at, end_at, machine, object_type,
                 account, login, project, user, group_name, queue, qos, state, flags, millis,
                 revision, became, policy, counted, amount, allocation, digest)
                 VALUES (1, 'j', 82800000000, 93600000000, 'blue', 'job', 'chem', 'amy', 'chem',
                     'amy', '', 'q', '', '', '', 2000, 0, 'charged', '', '', 10, 1, x'00');
             INSERT INTO instance (id, machine, object_type, object_id, number, opened_at, account,
                 exact_whole, exact_part, once_whole, once_part, billed, shadow_billed, charged_s,
                 processor_s, record, last_usage, absorbed, lien_expired, project, user, group_name,
                 gres, attributes, state, other, used_until)
                 VALUES (1, 'blue', 'job', 'k', 1, 0, 1, 0, 0, 0, 0, 0, 0, 3600, '0', 1, 2, 0, 0,
                     'chem', 'bob', '', '', '', '', '', 7200000000);
             INSERT INTO usage (id, prev, instance, tx, at, charged_s, processors, amount, billing,
                 late) VALUES (1, NULL, 1, 1, 7200000000, 3600, '4', 40, 'billed', 0),
                     (2, 1, 1, 2, 999000000000, 0, '0', -15, 'refund', 0);
             INSERT INTO entry (id, tx, n, kind, account, allocation, usage, delta_amount,
                 delta_held, delta_active, delta_shadow, delta_shadow_held, amount_after,
                 held_after, project, user, machine)
                 VALUES (1, 1, 0, 'charge', 1, 1, 1, -40, 0, -40, 0, 0, 0, 0, 'chem', 'bob', 'blue'),
                     (2, 2, 0, 'refund', 1, 1, 2, 15, 0, 15, 0, 0, 0, 0, 'chem', 'bob', 'blue');
             INSERT INTO correction VALUES (2, 1);",
        )
        .unwrap();
        migrate(&mut bank).unwrap();
        let name = |key: i64| -> String {
            let sql = "SELECT user || ' ' || account FROM rollup_key WHERE id = ?1";
            bank.query_row(sql, [key], |r| r.get(0)).unwrap()
        };
        let mut days = Vec::new();
        rollup::each_day(&bank, (0, 2), |row| {
            let of = |measure| row.sums().get(measure);
            let core = of(Measure::Core) / 3_600_000_000;
            let money = format!("{}+{}", of(Measure::Charge), of(Measure::Shadow));
            let jobs = [Measure::Started, Measure::Ended, Measure::Running].map(of);
            days.push(format!(
                "{} {} {core} {money} {jobs:?}",
                row.day,
                name(row.key)
            ));
        })
        .unwrap();
        days.sort();
        assert_eq!(
            days,
            [
                "0 amy 1 2 0+3 [1, 0, 1]",
                "0 bob 1 4 25+0 [1, 0, 1]",
                "1 amy 1 4 0+7 [0, 1, 1]"
            ]
        );
        assert_eq!(rollup::compare(&bank).unwrap().differing, 0);
    }

    /// Append-only tables are sealed again as well, and remain append-only.
    #[test]
    fn an_older_bank_with_append_only_rows_is_brought_up_to_date() {
        let mut bank = bank_of(20);
        bank.execute_batch(
            "INSERT INTO bank (id, uuid, precision, unit, test, init_uid, created_at)
                 VALUES (1, 'of old', 3, 'SU', 0, 0, 0);
             INSERT INTO record (id, created_at, number, text) VALUES (1, 0, 1, 'Oclose');
             INSERT INTO period_close (tx, start_at, end_at) VALUES (1, 0, 9);",
        )
        .unwrap();
        let triggers = "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'";
        let count = |bank: &Connection| -> i64 {
            let read = |r: &rusqlite::Row<'_>| r.get(0);
            bank.query_row(triggers, [], read).unwrap()
        };
        migrate(&mut bank).unwrap();
        assert_eq!(count(&bank), count(&bank_of(MIGRATIONS.len())));
        let unsealed = "SELECT count(*) FROM record WHERE seal = 0";
        let read = |r: &rusqlite::Row<'_>| r.get::<_, i64>(0);
        assert_eq!(bank.query_row(unsealed, [], read).unwrap(), 0);
        let refused = bank
            .execute_batch("UPDATE record SET text = ''")
            .unwrap_err();
        assert!(refused.to_string().contains("append-only"), "{refused}");
    }

    /// Its quarantined records stay under their numbers, and the next one gets a new number.
    #[test]
    fn the_quarantine_of_an_older_bank_stays() {
        let mut bank = bank_of(49);
        bank.execute_batch(
            "INSERT INTO bank (id, uuid, precision, unit, test, init_uid, created_at)
                 VALUES (1, 'of old', 3, 'SU', 0, 0, 0);
             INSERT INTO quarantine (id, at, source, peer, place, line, reason, bytes, body)
                 VALUES (3, 7, 's', '', 'f', 1, 'why', 1, x'61'), (4, 7, 's', '', 'f', 2, 'why', 1, x'62');
             UPDATE quarantine_total SET held = 2, bytes = 2, dropped = 7;",
        )
        .unwrap();
        migrate(&mut bank).unwrap();
        bank.execute_batch(
            "DELETE FROM quarantine WHERE id = 4;
             INSERT INTO quarantine (at, source, peer, place, line, reason, bytes, body)
                 VALUES (8, 's', '', 'f', 3, 'why', 1, x'63');",
        )
        .unwrap();
        let rows: String = bank
            .query_row(
                "SELECT group_concat(id || ':' || line || ':' || cast(body AS TEXT)) FROM quarantine",
                [],
                |r| r.get(0),
            )
            .unwrap();
        assert_eq!(rows, "3:1:a,10:3:c");
    }

    /// A bank of the first version keeps its lists, and takes new ones.
    #[test]
    fn the_lists_of_an_older_bank_stay() {
        let mut bank = bank_of(1);
        bank.execute_batch(
            "INSERT INTO project VALUES (1, 'chem', NULL, 1, 0, NULL, '');
             INSERT INTO account VALUES (1, 'chem', 0, NULL, 0, 0, '');
             INSERT INTO account_constraint VALUES (1, 0, 'project', 'chem', 1, 1);
             INSERT INTO account_constraint VALUES (1, 1, 'user', 'MEMBERS', 1, 0);",
        )
        .unwrap();
        migrate(&mut bank).unwrap();
        migrate(&mut bank).unwrap();
        let lists: String = bank
            .query_row(
                "SELECT group_concat(dimension || ':' || value || ':' || subtree)
                 FROM account_constraint JOIN account ON account = id WHERE overflow = 'no'",
                [],
                |r| r.get(0),
            )
            .unwrap();
        assert_eq!(lists, "project:chem:1,user:MEMBERS:0");
        bank.execute_batch("INSERT INTO account_constraint VALUES (1, 2, 'zone', 'Asia', 1, 0)")
            .unwrap();
        let none = "INSERT INTO account_constraint VALUES (1, 3, '', 'Asia', 1, 0)";
        assert!(bank.execute_batch(none).is_err());
    }
}
