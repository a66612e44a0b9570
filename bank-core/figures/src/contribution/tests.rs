//! The worked figures of reports.md, and what must hold for any of them.

use super::hardware::{Down, FACTOR_ONE, Factors, Kind, capacity, factor};
use super::utilisation::Buckets;
use super::*;
use bank_core::decimal::Decimal;
use bank_core::host::{Pattern, first};
use proptest::prelude::*;

const DAY: i64 = 86_400_000_000;

fn standing(exempt: bool, usage: i128, contribution: u128) -> Standing {
    Standing {
        exempt,
        usage,
        contribution,
    }
}

#[test]
fn the_ten_cells_are_those_of_the_vectors() {
    for (exempt, usage, contribution, cell) in [
        (false, 50, 25, "200%"),
        (false, 10, 30, "33%"),
        (false, 1, 80, "1%"),
        (false, 25, 25, "100%"),
        (false, 5, 0, "Over"),
        (false, 0, 5, "Under"),
        (false, 0, 0, "—"),
        (true, 5, 5, "Exempt"),
        (true, 5, 0, "Exempt"),
        (true, 0, 5, "Exempt"),
        (false, -5, 5, "Under"),
        (false, -5, 0, "—"),
    ] {
        let of = standing(exempt, usage, contribution);
        let total = Total {
            usage: 100,
            contribution: 100,
        };
        assert_eq!(Subscription::of(&of, total).text(), cell, "{of:?}");
    }
}

#[test]
fn nothing_divides_by_zero() {
    for (usage, contribution, cell) in [(0, 0, "—"), (1, 0, "Over"), (0, 1, "Under")] {
        let mut sums = Sums::default();
        let own = standing(false, usage, contribution);
        sums.groups.insert("amy".into(), own.clone());
        let (counted, _) = sums.totals().unwrap();
        assert_eq!(Subscription::of(&own, counted).text(), cell);
        let period = span(Timestamp(0), Timestamp(DAY)).unwrap();
        let table = sums.table(period, USAGE_UNITS).unwrap();
        assert_eq!(table.rows.len(), 2);
        assert_eq!(table.rows[1].subscription, "");
    }
    assert_eq!(fixed(&1.into(), &Natural::ZERO, 2), None);
    assert_eq!(percent(0, 0), "");
}

#[test]
fn halves_of_a_percent_go_away_from_zero() {
    assert_eq!(percent(1, 80_000), "0.00");
    assert_eq!(percent(1, 20_000), "0.01");
    assert_eq!(percent(1, 3), "33.33");
    assert_eq!(percent(2, 3), "66.67");
    assert_eq!(percent(u128::MAX, u128::MAX), "100.00");
    assert_eq!(decimal(5, 1_000, 2), "0.01");
    assert_eq!(decimal(4, 1_000, 2), "0.00");
    assert_eq!(decimal(7, 2, 0), "4");
    let hundredths = |number| signed(number, |number| decimal(number, 1_000, 2));
    assert_eq!(
        [-5, -4, 0, 5].map(hundredths),
        ["-0.01", "0.00", "0.00", "0.01"]
    );
}

#[test]
fn hosts_fit_their_patterns() {
    for (pattern, host, fits) in [
        ("old*", "old1", true),
        ("old*", "old", true),
        ("old*", "gold1", false),
        ("old", "old1", false),
        ("n[0-9][0-9]", "n07", true),
        ("n[0-9][0-9]", "n7", false),
        ("n[!0-9]*", "nx", true),
        ("n[!0-9]*", "n1", false),
        ("n?-ib*", "n1-ib0", true),
        ("*a*b*c", "xxaxxbxxbc", true),
        ("*a*b*c", "xxaxxcxxb", false),
        ("n[13]x", "n3x", true),
        ("Old*", "old1", false),
    ] {
        let pattern = Pattern::parse(pattern).unwrap();
        assert_eq!(pattern.fits(host), fits, "{pattern:?} {host}");
    }
    let long = "x".repeat(129);
    for text in [
        "", "a b", "a,b", "[", "[]", "]", "[9-0]", "[a-]", "a\n", &long,
    ] {
        assert_eq!(Pattern::parse(text), None, "{text:?}");
    }
}

#[test]
fn the_first_host_of_a_list_is_found_however_it_is_written() {
    for (list, host) in [
        ("n01", Some("n01")),
        ("n[01-04,07],gpu1", Some("n01")),
        ("n[01-04]-ib,gpu1", Some("n01-ib")),
        ("n01/0*4+n02/0", Some("n01")),
        ("16*n01 n02", Some("n01")),
        ("n01:4,n02:4", Some("n01")),
        ("slot1_2@n01.example", Some("n01.example")),
        ("n01*16", Some("n01")),
        ("", None),
        (",n01", None),
        ("n[", None),
    ] {
        assert_eq!(first(list).as_deref(), host, "{list}");
    }
}

fn kind(host: &str, factor: u64, valid: Window) -> Kind {
    Kind {
        hosts: vec![Pattern::parse(host).unwrap()],
        machine: String::new(),
        factor,
        processors: 10,
        nodes: 1,
        counts: true,
        valid,
        down: Vec::new(),
    }
}

fn until(end: i64) -> Window {
    Window {
        start: None,
        end: Some(Timestamp(end)),
    }
}

fn since(start: i64) -> Window {
    Window {
        start: Some(Timestamp(start)),
        end: None,
    }
}

#[test]
fn a_factor_is_that_of_the_first_kind_that_was_there_at_the_start() {
    let kinds = [
        kind("old*", FACTOR_ONE, Window::ALWAYS),
        kind("new*", FACTOR_ONE * 3 / 2, until(DAY)),
        kind("new*", FACTOR_ONE * 2, since(DAY)),
    ];
    for (host, at, expected) in [
        (Some("old1"), 0, FACTOR_ONE),
        (Some("new1"), DAY - 1, FACTOR_ONE * 3 / 2),
        (Some("new1"), DAY, FACTOR_ONE * 2),
        (Some("other"), DAY, FACTOR_ONE),
        (None, DAY, FACTOR_ONE),
    ] {
        assert_eq!(
            factor(&kinds, "m", host, Timestamp(at)),
            expected,
            "{host:?}"
        );
        // Remembered or not, it is the same.
        let mut many = Factors::new(kinds.to_vec());
        for _ in 0..2 {
            assert_eq!(many.of("m", Some("old1"), Timestamp(at)), FACTOR_ONE);
            assert_eq!(many.of("m", host, Timestamp(at)), expected, "{host:?}");
        }
    }
    // Without a host the machine says it, as long as it has one factor only.
    let mut own = kind("a*", FACTOR_ONE * 3, Window::ALWAYS);
    own.machine = "m".into();
    let mut other = own.clone();
    assert_eq!(
        factor(&[own.clone()], "m", None, Timestamp(0)),
        FACTOR_ONE * 3
    );
    other.factor = FACTOR_ONE * 4;
    assert_eq!(factor(&[own, other], "m", None, Timestamp(0)), FACTOR_ONE);
}

#[test]
fn capacity_is_weighed_by_the_time_that_it_is_there() {
    let whole = span(Timestamp(0), Timestamp(4 * DAY)).unwrap();
    let kinds = [kind("a*", FACTOR_ONE, since(3 * DAY))];
    let day = u128::try_from(DAY).unwrap();
    let expected = 10 * day * u128::from(FACTOR_ONE);
    assert_eq!(capacity(&kinds, None, whole), Some(expected));
    assert_eq!(capacity(&kinds, Some("m"), whole), Some(0));
    let mut buckets = Buckets::new(whole.cut(4));
    // All ten processors for the last day and a half: five of them are not there yet.
    let used = i128::try_from(expected).unwrap();
    buckets.add(2, used / 2).unwrap();
    buckets.add(3, used).unwrap();
    let shown = buckets.shown(&kinds, None, true).unwrap();
    let percent: Vec<Option<&str>> = shown.iter().map(|b| b.percent.as_deref()).collect();
    assert_eq!(percent, [None, None, None, Some("100.00")]);
    let mut at_end = Buckets::new(whole.cut(4));
    at_end.add(3, used * 3 / 2).unwrap();
    assert_eq!(at_end.add(4, 1), None, "there is no such bucket");
    let shown = at_end.shown(&kinds, None, false).unwrap();
    assert_eq!(
        shown[3].percent.as_deref(),
        Some("150.00"),
        "all at its end"
    );
    assert_eq!(shown[0].used, 0);
}

#[test]
fn nodes_that_are_down_give_nothing_and_are_never_missed_twice() {
    let whole = span(Timestamp(0), Timestamp(4 * DAY)).unwrap();
    let node_day = 5 * u128::try_from(DAY).unwrap() * u128::from(FACTOR_ONE);
    let down = |nodes, from: i64, until: Option<i64>| Down {
        nodes,
        valid: Window {
            start: Some(Timestamp(from)),
            end: until.map(Timestamp),
        },
    };
    // Four nodes of five processors, which are there for the last three days.
    let of = |downs: &[Down]| {
        let kinds = [Kind {
            processors: 5,
            nodes: 4,
            down: downs.to_vec(),
            ..kind("a*", FACTOR_ONE, since(DAY))
        }];
        let given = capacity(&kinds, None, whole).unwrap();
        // By parts it is the same.
        let edges = whole.cut(7);
        let parts = edges.windows(2).map(|pair| {
            let part = span(pair[0], pair[1]).unwrap();
            capacity(&kinds, None, part).unwrap()
        });
        assert_eq!(parts.sum::<u128>(), given, "{downs:?}");
        assert_eq!(given % node_day, 0, "{downs:?}");
        given / node_day
    };
    assert_eq!(of(&[]), 12);
    assert_eq!(of(&[down(None, DAY, Some(2 * DAY))]), 8);
    assert_eq!(of(&[down(None, 2 * DAY, None)]), 4);
    assert_eq!(
        of(&[down(Some(1), 0, None)]),
        9,
        "what was not there yet is not down"
    );
    assert_eq!(
        of(&[down(None, -9 * DAY, Some(DAY)), down(None, 4 * DAY, None)]),
        12
    );
    // Two at a time are of different nodes, three of them would be six nodes of four.
    let two = down(Some(2), 2 * DAY, Some(3 * DAY));
    assert_eq!(of(&[two.clone(), two.clone()]), 8);
    assert_eq!(of(&[two.clone(), two.clone(), two.clone()]), 8);
    assert_eq!(of(&[down(None, 0, Some(3 * DAY)), two.clone()]), 4);
    // One ends as the next begins.
    assert_eq!(of(&[down(Some(3), 3 * DAY, None), two]), 7);
}

#[test]
fn a_factored_use_is_cut_once_towards_zero() {
    for (micros, factor, counts) in [
        (10, FACTOR_ONE, 10),
        (10, 1_250_000_000, 12),
        (-10, 1_250_000_000, -12),
        (3, 333_333_333, 0),
        (0, 5, 0),
        (1 << 62, FACTOR_ONE * 2, 1 << 63),
    ] {
        assert_eq!(factored(micros, factor), counts, "{micros} {factor}");
    }
    assert_eq!(usage(2), Some(2 * i128::from(FACTOR_ONE)));
    assert_eq!(usage(-1), Some(-i128::from(FACTOR_ONE)));
    assert_eq!((usage(i128::MIN), usage(i128::MAX)), (None, None));
}

#[test]
fn parts_of_a_period_of_full_hours_are_on_full_hours() {
    let hour = Timestamp(crate::rollup::HOUR);
    let year = span(Timestamp(0), Timestamp(365 * DAY)).unwrap();
    let edges = year.cut(50);
    assert_eq!(
        (edges.len(), edges[0], edges[50]),
        (51, year.from(), year.to())
    );
    assert!(edges.iter().all(|edge| edge.0 % hour.0 == 0));
    assert!(edges.windows(2).all(|pair| pair[0] < pair[1]));
    let short = span(Timestamp(0), Timestamp(2 * hour.0)).unwrap();
    assert_eq!(
        short.cut(4)[1],
        Timestamp(hour.0 / 2),
        "fewer hours than parts"
    );
    let odd = span(Timestamp(1), Timestamp(DAY + 1)).unwrap();
    assert_eq!(odd.cut(2)[1], Timestamp(DAY / 2 + 1));
}

#[test]
fn what_does_not_fit_is_never_counted_wrong() {
    let mut sums = Sums::default();
    sums.add_usage(Some("amy"), i128::MAX).unwrap();
    assert_eq!(sums.add_usage(Some("amy"), 1), None);
    sums.add_usage(None, 1).unwrap();
    assert_eq!(sums.totals(), None);
    let installed = Installed {
        processors: u64::MAX,
        split: 10_000,
        factor: u64::MAX,
        valid: Window::ALWAYS,
    };
    assert_eq!(
        installed.over(span(Timestamp(0), Timestamp(DAY)).unwrap()),
        None
    );
    let decimal = Decimal::parse("1").unwrap();
    assert_eq!(u64::try_from(decimal.billionths()).unwrap(), FACTOR_ONE);
}

proptest! {
    /// Edges anywhere, in any order, add up to the whole: a job is never counted twice or lost.
    #[test]
    fn parts_add_up_to_the_whole(
        total in prop_oneof![0..1_000_u128, Just(u128::MAX), any::<u128>()],
        start in -10 * DAY..10 * DAY, length in 0..10 * DAY,
        mut edges in prop::collection::vec(-30 * DAY..30 * DAY, 0..20), at_end in any::<bool>(),
    ) {
        edges.extend([-31 * DAY, 31 * DAY]);
        edges.sort_unstable();
        edges.dedup();
        let credit = if at_end { Credit::End } else { Credit::Spread };
        let ran = (Timestamp(start), Timestamp(start + length));
        let parts = edges.windows(2).map(|pair| {
            part(total, ran, Span::new(Timestamp(pair[0]), Timestamp(pair[1])).unwrap(), credit)
        });
        prop_assert_eq!(parts.sum::<u128>(), total);
    }

    #[test]
    fn buckets_add_up_to_the_period(
        jobs in prop::collection::vec((0..1_000_000_u128, -5 * DAY..15 * DAY, 0..5 * DAY), 0..30),
        count in 1..60_u32,
    ) {
        let period = span(Timestamp(0), Timestamp(10 * DAY)).unwrap();
        let mut buckets = Buckets::new(period.cut(count));
        let mut whole = 0;
        for (total, start, length) in jobs {
            let ran = (Timestamp(start), Timestamp(start + length));
            let edges = period.cut(count);
            for (bucket, pair) in edges.windows(2).enumerate() {
                let own = span(pair[0], pair[1]).unwrap();
                let used = i128::try_from(part(total, ran, own, Credit::Spread)).unwrap();
                buckets.add(bucket, used).unwrap();
            }
            whole += i128::try_from(part(total, ran, period, Credit::Spread)).unwrap();
        }
        let shown = buckets.shown(&[], None, false).unwrap();
        prop_assert_eq!(shown.len(), usize::try_from(count).unwrap());
        prop_assert_eq!(shown.iter().map(|b| b.used).sum::<i128>(), whole);
    }

    #[test]
    fn shares_of_a_table_come_to_a_hundred(
        usages in prop::collection::vec(0..u64::MAX, 1..20), exempt in any::<bool>(),
    ) {
        let mut sums = Sums::default();
        for (place, usage) in usages.iter().enumerate() {
            let name = format!("g{place:02}");
            sums.groups.insert(name.clone(), standing(exempt, 0, 0));
            sums.add_usage(Some(&name), i128::from(*usage)).unwrap();
        }
        let period = span(Timestamp(0), Timestamp(1)).unwrap();
        let table = sums.table(period, USAGE_UNITS).unwrap();
        prop_assert!(table.rows.is_sorted_by_key(|row| row.group.is_none()));
        let hundredths: i64 = table.rows.iter().map(|row| {
            row.usage_share.replace('.', "").parse::<i64>().unwrap_or(0)
        }).sum();
        let off = i64::try_from(usages.len()).unwrap();
        prop_assert!(usages.iter().all(|u| *u == 0) || (hundredths - 10_000).abs() <= off);
    }

    #[test]
    fn a_pattern_of_a_name_fits_it_and_what_follows(name in "[a-z0-9.-]{1,20}", more in "[a-z0-9]{0,9}") {
        let prefix = Pattern::parse(&format!("{name}*")).unwrap();
        let host = format!("{name}{more}");
        prop_assert!(prefix.fits(&host));
        prop_assert_eq!(Pattern::parse(&name).unwrap().fits(&host), more.is_empty());
        prop_assert_eq!(first(&name), Some(name.clone()));
    }
}
