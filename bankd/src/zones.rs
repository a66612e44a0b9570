//! Time zones as lists of changes, for rates with hours: the core knows no zones (decision 2).
//!
//! The only user of the zone tables. They are asked once, when a rate is set; what they said is kept
//! with the rate, so that a later table changes no price of the past (docs/decisions/0015).

use bank_core::calendar::Zone;
use chrono::{DateTime, Offset as _, TimeZone as _};
use chrono_tz::Tz;

/// 2000-01-01 and 2100-01-01, in seconds since 1970: between them changes are kept.
const FIRST: i64 = 946_684_800;
const LAST: i64 = 4_102_444_800;
/// No zone changes twice within a day.
const STEP: i64 = 86_400;

/// The offsets of a zone by its name, such as `Europe/Berlin`, from 2000 to 2100; before and after
/// that those of the ends. `None` for a name that the tables do not have.
pub fn zone(name: &str) -> Option<Zone> {
    let zone: Tz = name.parse().ok()?;
    let first = offset(zone, FIRST)?;
    let mut found = Zone {
        first,
        changes: Vec::new(),
    };
    let (mut now, mut known) = (FIRST, first);
    while now < LAST {
        let next = now + STEP;
        let then = offset(zone, next)?;
        if then != known {
            found.changes.push((change(zone, now, next)?, then));
            known = then;
        }
        now = next;
    }
    Some(found)
}

/// The second at which the offset changes, between one before and one at or after the change.
fn change(zone: Tz, mut before: i64, mut after: i64) -> Option<i64> {
    let new = offset(zone, after)?;
    while after - before > 1 {
        let middle = i64::midpoint(before, after);
        if offset(zone, middle)? == new {
            after = middle;
        } else {
            before = middle;
        }
    }
    Some(after)
}

fn offset(zone: Tz, second: i64) -> Option<i32> {
    let utc = DateTime::from_timestamp(second, 0)?.naive_utc();
    Some(zone.offset_from_utc_datetime(&utc).fix().local_minus_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_changes_when_its_clocks_do() {
        let berlin = zone("Europe/Berlin").unwrap();
        assert_eq!(berlin.first, 3600);
        // 2026-03-29T01:00:00Z and 2026-10-25T01:00:00Z.
        assert!(berlin.changes.contains(&(1_774_746_000, 7200)));
        assert!(berlin.changes.contains(&(1_792_890_000, 3600)));
        assert_eq!(berlin.changes.len(), 200);
        assert_eq!(zone("UTC"), Some(Zone::default()));
        assert_eq!(zone("Mars/Olympus"), None);
    }
}
