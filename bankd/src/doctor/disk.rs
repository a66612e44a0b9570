//! Room on the disk, the write-ahead log, and the last backup.

use bank_api::text::parse_rfc3339;
use bank_api::v1::LastBackup;
use bankd_config::{self as config, data_dir::DataDir};
use bankd_ledger::clock;
use bankd_safekeeping::backup;

use super::{Found, State};

/// Below this nothing can be written for long.
const LITTLE: u64 = 256 << 20;
/// A write-ahead log that is larger is not written back.
const WAL_LARGE: u64 = 512 << 20;
/// Maximum age of a backup in hours if the settings define no interval: one day plus two hours of
/// tolerance.
const BACKUP_H: i64 = 26;
/// An hour in microseconds.
const HOUR_US: i64 = 3_600_000_000;

/// Whether there is room for the bank to grow.
pub(super) fn space(data: &DataDir) -> Found {
    match backup::free(data.path()) {
        Ok(free) => judged(free, backup::size(data)),
        Err(error) => Found::of(
            "disk",
            State::Fail,
            format!("{}: {error}", data.path().display()),
            "check that the directory is there",
        ),
    }
}

/// With less than the bank's own size neither a backup nor a new schema has room beside it.
fn judged(free: u64, size: u64) -> Found {
    let message = format!(
        "{} MiB are free, the bank has {}",
        free >> 20,
        size.div_ceil(1 << 20)
    );
    if free < LITTLE {
        return Found::of("disk", State::Fail, message, "free space: charges need it");
    }
    if free < size.saturating_mul(2).saturating_add(LITTLE) {
        let todo = "make room: a backup or a new schema needs as much as the bank has";
        return Found::of("disk", State::Warn, message, todo);
    }
    Found::ok("disk", message)
}

/// Whether the write-ahead log is written back.
pub(super) fn wal(data: &DataDir) -> Found {
    let bytes = backup::wal_bytes(data);
    let message = format!("{} MiB of write-ahead log", bytes.div_ceil(1 << 20));
    if bytes <= WAL_LARGE {
        return Found::ok("log", message);
    }
    let todo = "a long read of bank.db blocks the checkpoint: end the reading process";
    Found::of("log", State::Warn, message, todo)
}

/// Whether there is a backup, and how old it is.
pub(super) fn backup(data: &DataDir, settings: &config::Backup) -> Found {
    if let Some(failure) = backup::failure(data) {
        let todo = "correct the named problem: the daemon tries again every 10 minutes";
        let message = format!("the daemon's own failed: {failure}");
        return Found::of("backup", State::Fail, message, todo);
    }
    let often = settings.every_h;
    let patience = if often > 0 {
        often.saturating_add(2)
    } else {
        BACKUP_H
    };
    aged(backup::last(data), patience, clock::real_us(), |path| {
        std::path::Path::new(path).join(backup::MANIFEST).is_file()
    })
}

fn aged(
    last: Option<LastBackup>,
    patience_h: i64,
    now_us: i64,
    is_there: impl Fn(&str) -> bool,
) -> Found {
    const NAME: &str = "backup";
    let todo = "`bankd backup` creates one; backup.every_h or a timer creates them regularly";
    let Some(last) = last else {
        return Found::of(NAME, State::Warn, "no backup exists", todo);
    };
    let made_us = parse_rfc3339(&last.made_at).unwrap_or(i64::MIN);
    let hours = now_us.saturating_sub(made_us).div_euclid(HOUR_US);
    let message = format!("{}, of {}", last.path, last.made_at);
    if !is_there(&last.path) {
        let todo = "it is no longer there: find it, or create another";
        return Found::of(NAME, State::Warn, message, todo);
    }
    if hours > patience_h {
        return Found::of(
            NAME,
            State::Warn,
            format!("{message}: {hours} hours ago"),
            todo,
        );
    }
    Found::ok(NAME, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_judged_by_what_the_bank_needs() {
        let (mib, gib) = (1_u64 << 20, 1_u64 << 30);
        for (free, size, state) in [
            (100 * mib, mib, State::Fail),
            (gib, 10 * mib, State::Ok),
            (gib, gib, State::Warn),
            (3 * gib, gib, State::Ok),
            (u64::MAX, u64::MAX, State::Ok),
        ] {
            assert_eq!(judged(free, size).state, state, "{free} {size}");
        }
    }

    #[test]
    fn a_backup_grows_old() {
        let last = LastBackup {
            path: "/b".to_owned(),
            made_at: "1970-01-01T00:00:00Z".to_owned(),
            ..LastBackup::default()
        };
        let of = |hours: i64, there: bool| {
            aged(Some(last.clone()), 26, hours * HOUR_US, |_| there).state
        };
        assert_eq!(of(26, true), State::Ok);
        assert_eq!(of(27, true), State::Warn);
        assert_eq!(of(1, false), State::Warn);
        assert_eq!(aged(None, 26, 0, |_| true).state, State::Warn);
    }
}
