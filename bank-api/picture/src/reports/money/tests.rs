//! What movements and forecasts come to, for a chart.

use bank_api::v1::{ForecastRow, Statement, StatementLine};

use super::*;

fn time(text: &str) -> i64 {
    parse_rfc3339(text).unwrap()
}

/// October, one hour east of Greenwich.
fn october() -> Statement {
    Statement {
        of: "project".to_owned(),
        from: Some("2026-09-30T23:00:00Z".to_owned()),
        until: "2026-10-31T23:00:00Z".to_owned(),
        opening: Some("1000.000".to_owned()),
        credit_limit: Some("50.000".to_owned()),
        unit: "SU".to_owned(),
        ..Statement::default()
    }
}

fn line(at: &str, kind: &str, user: &str, amount: &str) -> StatementLine {
    StatementLine {
        at: at.to_owned(),
        kind: kind.to_owned(),
        user: Some(user.to_owned()),
        amount: amount.to_owned(),
        ..StatementLine::default()
    }
}

fn shown(points: &[(i64, Number)]) -> Vec<String> {
    let one = |(us, n): &(i64, Number)| {
        let at = bank_api::text::format_rfc3339(*us);
        format!("{} {}", at.get(..10).unwrap(), n.shown())
    };
    points.iter().map(one).collect()
}

#[test]
fn movements_come_to_a_line_and_to_columns() {
    let statement = october();
    let mut track = Track::new(&statement, Zone::named("Europe/Berlin").unwrap(), 0);
    for line in [
        line("2026-10-02T08:00:00Z", "charge", "amy", "-100.000"),
        line("2026-10-05T08:00:00Z", "deposit", "", "500.000"),
        // A correction of September keeps its date, and moves money in October.
        line("2026-09-10T08:00:00Z", "late_charge", "bob", "-30.000"),
        line("2026-10-20T08:00:00Z", "refund", "amy", "40.000"),
        line("2026-10-31T22:59:59Z", "charge", "bob", "-0.500"),
    ] {
        track.take(&line);
    }
    let burn = track.burn(&statement).unwrap();
    assert_eq!(
        shown(&burn.amount),
        [
            "2026-09-30 1,000.000",
            "2026-10-02 900.000",
            "2026-10-05 1,400.000",
            "2026-10-05 1,370.000",
            "2026-10-20 1,410.000",
            "2026-10-31 1,409.500"
        ]
    );
    assert_eq!(shown(&burn.deposits), ["2026-10-05 500.000"]);
    let charged = track.charged("SU").unwrap();
    assert_eq!(charged.spans.len(), 31);
    let mut of = Vec::new();
    for series in &charged.series {
        let values = series.values.iter().flatten().enumerate();
        let own = values.filter(|(_, n)| !n.is_zero());
        of.extend(own.map(|(day, n)| format!("{day} {} {}", series.name, n.shown())));
    }
    assert_eq!(
        of,
        [
            "1 amy 100.000",
            "19 amy −40.000",
            "0 bob 30.000",
            "30 bob 0.500"
        ]
    );
}

#[test]
fn many_movements_take_little_memory() {
    let statement = october();
    let mut track = Track::new(&statement, Zone::named("Europe/Berlin").unwrap(), 0);
    for n in 0..20_000_i64 {
        let at = bank_api::text::format_rfc3339(time("2026-10-01T00:00:00Z") + n * 100_000_000);
        track.take(&line(&at, "charge", "amy", "-0.010"));
    }
    assert!(track.amount.len() <= KEPT && track.charged.sums.len() <= KEPT);
    let burn = track.burn(&statement).unwrap();
    assert_eq!(burn.amount.last().unwrap().1.shown(), "800.000");
    let sum = track.charged("SU").unwrap().bars().rows;
    assert_eq!(sum.len(), 1);
    assert_eq!(sum.first().unwrap().1.shown(), "200.000");
}

#[test]
fn what_comes_ends_at_the_credit_and_drops_where_money_ends() {
    let statement = october();
    let now = time("2026-10-31T23:00:00Z");
    let burn = Burn {
        from: time("2026-09-30T23:00:00Z"),
        to: now,
        now,
        amount: vec![(now, Number::whole(1000))],
        ..Burn::default()
    };
    let row = ForecastRow {
        burn_per_day: Some("10.000".to_owned()),
        unused_at: Some("2026-11-10T23:00:00Z".to_owned()),
        unused: Some("300.000".to_owned()),
        empty_at: Some("2027-01-24T23:00:00Z".to_owned()),
        ..ForecastRow::default()
    };
    assert_eq!(
        shown(&coming(&[row], &statement, &burn)),
        [
            "2026-10-31 1,000",
            "2026-11-10 900.000",
            "2026-11-10 600.000",
            "2027-01-24 −50.000"
        ]
    );
    // Nothing is spent: nothing changes.
    let idle = shown(&coming(&[ForecastRow::default()], &statement, &burn));
    assert_eq!(idle, ["2026-10-31 1,000", "2026-11-30 1,000"]);
}

#[test]
fn lines_are_cut_in_proportion() {
    let day = |n: i64| n * DAY;
    let line = [(0, Number::whole(100)), (day(10), Number::ZERO)];
    let (at, amount) = cut(line, day(4))[1];
    assert_eq!((at, amount.shown().as_str()), (day(4), "60"));
    let (at, _) = cut(line, day(20))[1];
    assert_eq!(at, day(10));
    let kept = shortened(&[line[0], line[1], (day(30), Number::whole(90))], day(20));
    assert_eq!(kept.len(), 3);
    assert_eq!(kept.last().unwrap().1.shown(), "45");
}

#[test]
fn spent_evenly_begins_at_the_last_deposit() {
    let burn = Burn {
        from: 0,
        to: 30 * DAY,
        amount: vec![
            (0, Number::whole(50)),
            (3 * DAY, Number::whole(150)),
            (9 * DAY, Number::ZERO),
        ],
        deposits: vec![(3 * DAY, Number::whole(100))],
        ..Burn::default()
    };
    let [(from, amount), (end, nothing)] = ideal(&burn, Some(60 * DAY)).unwrap();
    assert_eq!(
        (from, amount.shown(), end),
        (3 * DAY, "150".to_owned(), 60 * DAY)
    );
    assert!(nothing.is_zero());
    assert!(ideal(&burn, None).is_none());
    assert!(ideal(&burn, Some(2 * DAY)).is_none());
}

/// The rates of all accounts are added, the end is that of the last one, and no amount is below it before.
#[test]
fn several_accounts_end_with_the_last_one() {
    let statement = Statement {
        credit_limit: None,
        ..october()
    };
    let now = time("2026-10-31T23:00:00Z");
    let burn = Burn {
        now,
        amount: vec![(now, Number::whole(1000))],
        ..Burn::default()
    };
    let row = |a_day: &str, empty: Option<&str>| ForecastRow {
        burn_per_day: Some(a_day.to_owned()),
        empty_at: empty.map(str::to_owned),
        ..ForecastRow::default()
    };
    let first = ForecastRow {
        unused_at: Some("2027-03-10T23:00:00Z".to_owned()),
        unused: Some("5.000".to_owned()),
        ..row("30.000", Some("2026-11-10T23:00:00Z"))
    };
    let rows = [first.clone(), row("2.500", Some("2027-03-31T23:00:00Z"))];
    assert_eq!(
        shown(&coming(&rows, &statement, &burn)),
        [
            "2026-10-31 1,000",
            "2027-03-10 0",
            "2027-03-10 0",
            "2027-03-31 0"
        ]
    );
    // One of them lasts: the line goes on for 30 days, with the charges of both.
    let rows = [
        row("30.000", Some("2026-11-10T23:00:00Z")),
        row("2.500", None),
    ];
    assert_eq!(
        shown(&coming(&rows, &statement, &burn)),
        ["2026-10-31 1,000", "2026-11-30 25.000"]
    );
}

/// The spread of a forecast is that of the last 30 days, in a picture of a year too.
#[test]
fn the_spread_is_of_recent_days() {
    let statement = Statement {
        from: Some("2025-10-31T23:00:00Z".to_owned()),
        opening: Some("159.000".to_owned()),
        credit_limit: None,
        ..october()
    };
    let mut track = Track::new(&statement, Zone::named("Europe/Berlin").unwrap(), 0);
    for day in 0..29 {
        let at = time("2026-10-02T12:00:00Z") + day * DAY;
        let amount = if day < 14 { "-1.000" } else { "-3.000" };
        track.take(&line(
            &bank_api::text::format_rfc3339(at),
            "charge",
            "amy",
            amount,
        ));
    }
    let row = ForecastRow {
        burn_per_day: Some("2.000".to_owned()),
        empty_at: Some("2026-12-20T23:00:00Z".to_owned()),
        ..ForecastRow::default()
    };
    let burn = ahead(&statement, &track, Beside::default(), &[row]).unwrap();
    assert_eq!(track.charged("SU").unwrap().spans.len(), 12);
    // Of 100 after 25 days, at 3 and at 1 a day.
    let (us, low, high) = burn.spread[12];
    assert_eq!(us, burn.now + 25 * DAY);
    assert_eq!(
        (low.shown().as_str(), high.shown().as_str()),
        ("25.000", "75.000")
    );
}

#[test]
fn the_last_end_is_that_of_allocations_in_force() {
    let until = time("2026-10-31T23:00:00Z");
    let of = |start: Option<&str>, end: Option<&str>, state: &str| Allocation {
        start: start.map(str::to_owned),
        until: end.map(str::to_owned),
        state: state.to_owned(),
        ..Allocation::default()
    };
    let mut ends = Ends::default();
    ends.take(&of(None, Some("2027-01-01T00:00:00Z"), "active"), until);
    ends.take(&of(None, Some("2026-10-01T00:00:00Z"), "expired"), until);
    ends.take(
        &of(
            Some("2026-12-01T00:00:00Z"),
            Some("2028-01-01T00:00:00Z"),
            "future",
        ),
        until,
    );
    assert_eq!(ends.last(), Some(time("2027-01-01T00:00:00Z")));
    ends.take(&of(None, None, "active"), until);
    assert_eq!(ends.last(), None);
}
