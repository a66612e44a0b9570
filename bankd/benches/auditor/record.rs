//! The records of the bench, by number: what a collector of a batch system sends, 500 a day.

use std::fmt::Write as _;

use bank_api::text::format_rfc3339;

/// Records that end in a day.
pub(crate) const PER_DAY: u64 = 500;
/// Groups that the records belong to.
pub(crate) const GROUPS: u64 = 50;

/// Microseconds of a day.
const DAY_US: u64 = 86_400_000_000;
/// When the first of them ends: 2015-01-01.
const FIRST_US: u64 = 1_420_070_400_000_000;

/// The name of a record.
pub(crate) fn name(number: u64) -> String {
    format!("slurm-{number}")
}

/// The group of a record.
pub(crate) fn group(number: u64) -> String {
    format!("group{}", number % GROUPS)
}

/// A record as its collector writes it.
pub(crate) fn json(number: u64, to: &mut String) {
    let stop = FIRST_US + number * (DAY_US / PER_DAY);
    let start = stop - (60 + number % 7200) * 1_000_000;
    let cores = 1 + number % 64;
    // Writing into a text never fails.
    let _ = write!(
        to,
        "{{\"record_id\":\"{}\",\"meta\":{{\"site_id\":[\"hpc\"],\"group_id\":[\"{}\"],\
         \"user_id\":[\"user{}\"]}},\"components\":[{{\"name\":\"Cores\",\"amount\":{cores},\
         \"scores\":[{{\"name\":\"HEPSPEC\",\"value\":12.5}}]}},{{\"name\":\"Memory\",\
         \"amount\":{},\"scores\":[]}}],\"start_time\":\"{}\",\"stop_time\":\"{}\"}}",
        name(number),
        group(number),
        number % 997,
        cores * 2048,
        time(start),
        time(stop),
    );
}

/// Midnight at which a day begins, counted from the first.
pub(crate) fn day(number: u64) -> String {
    time(FIRST_US + number * DAY_US).replace(':', "%3A")
}

fn time(us: u64) -> String {
    format_rfc3339(i64::try_from(us).unwrap_or(i64::MAX))
}
