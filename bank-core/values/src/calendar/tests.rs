use super::*;

/// Berlin in 2026: winter until 29 March 01:00 UTC, summer until 25 October 01:00 UTC.
fn berlin(name: &str) -> Option<Zone> {
    match name {
        "UTC" => Some(Zone::default()),
        "Europe/Berlin" => Some(Zone {
            first: 3600,
            changes: vec![(1_774_746_000, 7200), (1_792_890_000, 3600)],
        }),
        _ => None,
    }
}

fn calendar(text: &str) -> Calendar {
    Calendar::read(text, berlin).unwrap()
}

/// Monday 2026-06-01T00:00:00Z.
const MONDAY: i64 = 1_780_272_000;

fn at(days: i64, clock: &str) -> Timestamp {
    let (hours, minutes) = clock.split_once(':').unwrap();
    let (hours, minutes): (i64, i64) = (hours.parse().unwrap(), minutes.parse().unwrap());
    Timestamp::from_seconds(MONDAY + days * DAY_S + hours * 3600 + minutes * 60)
}

#[test]
fn hours_are_those_of_the_zone() {
    let office = calendar("Mon-Fri 08:00-20:00 Europe/Berlin");
    // In summer 08:00 in Berlin is 06:00 UTC.
    for (days, clock, inside) in [
        (0, "05:59", false),
        (0, "06:00", true),
        (0, "17:59", true),
        (0, "18:00", false),
        (4, "12:00", true),
        (5, "12:00", false),
        (7, "06:00", true),
    ] {
        assert_eq!(office.contains(at(days, clock)), inside, "{days} {clock}");
    }
}

#[test]
fn hours_past_midnight_belong_to_the_day_on_which_they_begin() {
    let night = calendar("Fri 20:00-08:00");
    for (days, clock, inside) in [
        (4, "19:59", false),
        (4, "20:00", true),
        (5, "07:59", true),
        (5, "08:00", false),
        (5, "21:00", false),
        (4, "03:00", false),
    ] {
        assert_eq!(night.contains(at(days, clock)), inside, "{days} {clock}");
    }
}

#[test]
fn an_edge_is_later_and_nothing_changes_before_it() {
    for text in [
        "Mon-Fri 08:00-20:00 Europe/Berlin",
        "20:00-08:00 Europe/Berlin",
        "Sat,Sun 00:00-24:00; Mon-Fri 22:30-05:15",
    ] {
        let calendar = calendar(text);
        // Across the change to winter time.
        let mut now = Timestamp::from_seconds(1_792_600_000);
        for _ in 0..40 {
            let next = calendar.next_edge(now);
            assert!(next > now, "{text}");
            let middle = Timestamp(i64::midpoint(now.0, next.0));
            let last = Timestamp(next.0 - 1);
            let held = calendar.contains(now);
            assert_eq!(calendar.contains(middle), held, "{text} {now:?}");
            assert_eq!(calendar.contains(last), held, "{text} {now:?}");
            now = next;
        }
    }
}

#[test]
fn what_is_no_calendar_is_refused() {
    for text in [
        "",
        "Mon-Fri",
        "8:00-20:00",
        "08:00-08:00",
        "24:00-08:00",
        "08:00-25:00",
        "08:00-20:60",
        "Foo 08:00-20:00",
        "08:00-20:00 Mars/Olympus",
        "08:00-20:00 UTC; 21:00-22:00",
        "a b c 08:00-20:00",
    ] {
        let read = Calendar::read(text, berlin);
        assert!(
            matches!(read, Err(Refusal::BadValue { field: "when", .. })),
            "{text}: {read:?}"
        );
    }
}

#[test]
fn a_zone_reads_as_it_was_written() {
    for name in ["UTC", "Europe/Berlin"] {
        let zone = berlin(name).unwrap();
        assert_eq!(Zone::parse(&zone.text()), Some(zone));
    }
    assert_eq!(Zone::parse("x"), None);
    assert_eq!(Zone::parse("0;1"), None);
}
