//! Numbers, axes and texts.

use super::super::calendar::Axis;
use super::super::scale::Scale;
use super::super::words;
use super::*;

fn labels(numbers: &[&str]) -> Vec<String> {
    let scale = Scale::of(numbers.iter().map(|text| number(text)));
    scale
        .ticks(1000)
        .into_iter()
        .map(|(_, label)| label)
        .collect()
}

#[test]
fn marks_are_round_and_enclose_all() {
    for (numbers, want) in [
        (&["0"][..], "0 1"),
        (&[], "0 1"),
        (&["0.000"], "0 0.2 0.4 0.6 0.8 1"),
        (&["1", "5"], "0 1 2 3 4 5"),
        (&["7.5"], "0 2 4 6 8"),
        (&["401200.000"], "0 100,000 200,000 300,000 400,000 500,000"),
        (&["-350", "1000"], "−500 0 500 1,000"),
        (&["-3"], "−3 −2 −1 0"),
        (&["0.003"], "0 0.001 0.002 0.003"),
        (&["1000000000000000000"], "0 0.2 0.4 0.6 0.8 1"),
        (&["34000000"], "0 10 20 30 40"),
    ] {
        assert_eq!(labels(numbers).join(" "), want, "{numbers:?}");
    }
    for (number, want) in [
        ("5000000", "SU"),
        ("34000000", "million SU"),
        ("1000000000000000000", "10¹⁸ SU"),
    ] {
        let scale = Scale::of([self::number(number)]);
        assert_eq!(scale.unit("SU"), want);
    }
}

#[test]
fn places_are_in_proportion() {
    let scale = Scale::of([number("0"), number("1000000000000000000")]);
    assert_eq!(scale.at(number("500000000000000000"), 1_000_000), 500_000);
    assert_eq!(scale.at(number("0.000000001"), 1_000_000), 0);
    let scale = Scale::of([number("-50"), number("50")]);
    assert_eq!(scale.zero(1000) * 2, 1000);
    assert_eq!(scale.at(number("-1000"), 1000), 0);
}

#[test]
fn numbers_are_exact_and_bounded() {
    assert_eq!(number("0.1").plus(number("0.25")).shown(), "0.35");
    assert_eq!(number("1").minus(number("2.500")).shown(), "−1.500");
    assert_eq!(number("1.0000000005").shown(), "1.000000000");
    let large = number("999999999999999999.999999999");
    assert_eq!(large.shown(), "999,999,999,999,999,999.999999999");
    assert!(Number::read("1e5").is_none() && Number::read("").is_none());
    // The worked figures of the contribution report.
    for (part, whole, want) in [
        ("500", "1340", "37.31"),
        ("40", "1340", "2.99"),
        ("1", "8", "12.50"),
        ("1", "16000", "0.01"),
    ] {
        assert_eq!(number(part).share(number(whole)).unwrap().shown(), want);
    }
    assert_eq!(number("5").share(number("0")), None);
}

fn times(from: &str, to: &str, most: usize) -> String {
    let axis = Axis::new(at(from), at(to), zone());
    let ticks = axis.ticks(1000, most).into_iter();
    ticks
        .map(|(at, label)| format!("{at}:{label}"))
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn time_is_marked_where_it_begins_on_the_wall_clock() {
    assert_eq!(
        times("2026-09-30T23:00:00Z", "2026-10-31T23:00:00Z", 6),
        "129:2026-10-05 354:2026-10-12 580:2026-10-19 806:2026-10-26"
    );
    assert_eq!(
        times("2025-12-31T23:00:00Z", "2026-12-31T23:00:00Z", 6),
        "0:2026-01 161:2026-03 328:2026-05 495:2026-07 665:2026-09 832:2026-11 1000:2027-01"
    );
    assert_eq!(
        times("2026-10-05T22:30:00Z", "2026-10-06T04:30:00Z", 6),
        "83:10-06 00:00 250:10-06 01:00 416:10-06 02:00 583:10-06 03:00 750:10-06 04:00 916:10-06 05:00"
    );
    assert_eq!(
        times("2026-10-05T12:00:00Z", "2026-10-05T12:00:00Z", 6),
        "0:13:00"
    );
    // A thousand years have their marks too.
    assert_eq!(
        times("1500-01-01T00:00:00Z", "2400-01-01T00:00:00Z", 9)
            .split(' ')
            .count(),
        9
    );
}

#[test]
fn an_axis_shows_all_offsets_of_its_zone() {
    let berlin = Zone::named("Europe/Berlin").unwrap();
    let title = |from, to| Axis::new(at(from), at(to), berlin).title();
    for (from, to, expected) in [
        ("2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z", "+0200"),
        (
            "2026-03-01T00:00:00Z",
            "2026-04-01T00:00:00Z",
            "+0100, later +0200",
        ),
        (
            "2025-12-31T23:00:00Z",
            "2026-12-31T23:00:00Z",
            "+0100, meanwhile +0200",
        ),
        (
            "2026-01-31T23:00:00Z",
            "2027-06-30T22:00:00Z",
            "+0100, later +0200",
        ),
    ] {
        assert_eq!(title(from, to), format!("time ({expected})"), "{from}");
    }
}

#[test]
fn an_axis_shows_its_zone() {
    let title = |from, to| Axis::new(at(from), at(to), zone()).title();
    assert_eq!(
        title("2026-10-05T12:00:00Z", "2026-11-05T12:00:00Z"),
        "time (+0100)"
    );
    assert_eq!(
        title("2026-10-05T12:00:00Z", "2026-10-05T20:00:00Z"),
        "time on 2026-10-05 (+0100)"
    );
}

#[test]
fn utc_has_its_name() {
    let (from, to) = (at("2026-10-05T12:00:00Z"), at("2026-11-05T12:00:00Z"));
    let title = |zone: &str| Axis::new(from, to, Zone::named(zone).unwrap()).title();
    assert_eq!(title("UTC"), "time (UTC)");
    assert_eq!(title("Africa/Abidjan"), "time (+0000)");
}

#[test]
fn nothing_in_a_name_is_obeyed() {
    for (text, want) in [
        ("<a href='x'>&\"", "&lt;a href=&#39;x&#39;&gt;&amp;&quot;"),
        ("a\nb\u{0}\u{1b}c\u{202e}d\u{2028}\u{ffff}", "a?b??c?d??"),
        ("Jürgen", "Jürgen"),
        ("כימיה", "\u{2068}כימיה\u{2069}"),
    ] {
        assert_eq!(escaped(text), want);
    }
}

#[test]
fn long_names_are_cut_and_marks_take_no_room() {
    assert_eq!(words::fitted("abcdef", 6, '…'), "abcdef");
    assert_eq!(words::fitted("abcdefg", 6, '…'), "abcde…");
    assert_eq!(words::fitted("計算化学", 5, '…'), "計算…");
    assert_eq!(
        words::fitted("e\u{301}e\u{301}", 2, '…'),
        "e\u{301}e\u{301}"
    );
    assert_eq!(words::fitted("abc", 0, '…'), "…");
}
