//! The arguments of the program, and periods by hand.

use super::*;
use bankd_config::PeriodWord;

fn report(kind: &str) -> ScheduledReport {
    ScheduledReport {
        name: "month".to_owned(),
        report: kind.to_owned(),
        options: vec!["--by".to_owned(), "user".to_owned()],
        every: PeriodWord::Daily,
        tz: "Europe/Berlin".to_owned(),
        deliver: vec!["archive".to_owned()],
        ..ScheduledReport::default()
    }
}

#[test]
fn the_program_receives_the_period_in_its_zone() {
    let period = SpanRow {
        name: "2026-10-25".to_owned(),
        from: 1_792_879_200_000_000,
        until: 1_792_969_200_000_000,
    };
    let arguments = |kind: &str| words(&report(kind), &period, "unix:/s", None).join(" ");
    assert_eq!(
        arguments("usage"),
        "usage --server unix:/s --config /dev/null --from 2026-10-24T22:00:00Z \
         --to 2026-10-25T23:00:00Z --tz Europe/Berlin -O html --by user"
    );
    let forecast = arguments("forecast");
    assert_eq!(
        forecast,
        "report forecast --server unix:/s --config /dev/null -O html --by user"
    );
    assert!(
        arguments("priority").starts_with("priority --yes --server"),
        "{forecast}"
    );
    let page = words(&report("personal"), &period, "unix:/s", Some("-o a")).join("|");
    assert!(
        page.contains("|-O|html|--scheduled|--user=-o a|--by|"),
        "{page}"
    );
    let kept = made(&report("usage"), &period, None, b"text".to_vec());
    assert_eq!(kept.file, "month-2026-10-25.html");
    assert_eq!(kept.body.as_deref(), Some(&b"text"[..]));
}

#[test]
fn what_only_acts_keeps_its_last_line() {
    let acts = ScheduledReport {
        deliver: Vec::new(),
        ..report("export-apel")
    };
    let kept = made(
        &acts,
        &SpanRow::default(),
        None,
        b"Group  Uses\nchem      3\n\nThe program ran for 1 of 1 group\x1b.\n \n".to_vec(),
    );
    let message = "The program ran for 1 of 1 group .";
    assert_eq!((kept.message.as_str(), kept.body), (message, None));
    assert_eq!(
        last_line("3 records in 1 message in /spool\n"),
        "3 records in 1 message in /spool"
    );
    assert_eq!(last_line("\n"), "");
}

#[test]
fn periods_by_hand_are_those_of_the_definition() {
    // 2026-10-25T12:00:00Z.
    let now = Timestamp(1_792_929_600_000_000);
    let report = report("usage");
    let last = period_of(&report, None, now).unwrap();
    assert_eq!(last.name, "2026-10-24");
    let named = period_of(&report, Some("2026-10-25"), now).unwrap();
    assert_eq!(named.from, last.until);
    assert_eq!(period_of(&report, Some("2026-10"), now), None);
    let (next, at) = next(&report, last.until).unwrap();
    assert_eq!((next, at), (named.clone(), named.until));
}
