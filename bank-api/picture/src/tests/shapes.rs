//! Charts of every shape: none, one, many, zero, below zero, very large; all of them well-formed.

use std::process::{Command, Stdio};

use super::gallery::{burn, usage};
use super::*;

fn alone(chart: &Chart) -> String {
    let report = Report {
        title: "A chart".to_owned(),
        period: None,
        zone: zone(),
        generated: 0,
        remarks: Vec::new(),
        parts: vec![Part {
            sections: vec![Section::chart("Ä & <chart>", chart.clone())],
            ..Part::default()
        }],
    };
    // The page is made as well: nothing of it may fail.
    assert!(super::report(&report).unwrap().ends_with("</html>\n"));
    for columns in [20, 80, 300] {
        for unicode in [false, true] {
            let text = screen(&report, Terminal { columns, unicode });
            let most = text.lines().map(words::cells).max().unwrap_or(0);
            // A long amount is never cut: the line is as long as it must be.
            assert!(most <= columns.max(110), "{most} of {columns}:\n{text}");
        }
    }
    drawing(&report)
}

use super::super::words;

/// Every kind of chart over these spans.
fn over_time(timed: &Timed) -> [Chart; 3] {
    [
        Chart::Columns(timed.clone()),
        Chart::Area(timed.clone()),
        Chart::Lines(timed.clone()),
    ]
}

fn constant(count: i64, amount: &str) -> Timed {
    let rows = (0..count).map(|day| {
        (
            usize::try_from(day).unwrap(),
            "a".to_owned(),
            number(amount),
        )
    });
    Timed::gathered("project", "SU", days(count), rows).unwrap()
}

/// Many series of one name after the other.
fn crowd(series: usize) -> Timed {
    let rows = (0..series).map(|n| {
        (
            n % 5,
            format!("project {n}"),
            Number::whole(1 + i64::try_from(n).unwrap()),
        )
    });
    Timed::gathered("project", "SU", days(5), rows).unwrap()
}

fn every() -> Vec<Chart> {
    let mut charts = Vec::new();
    for timed in [
        Timed::default(),
        constant(1, "0"),
        constant(1, "5.000"),
        constant(3, "-7"),
        constant(2, "1000000000000000000"),
        usage(400, "core-hours"),
        crowd(60),
        Timed::gathered("x", "", days(4), Vec::new()).unwrap(),
    ] {
        charts.extend(over_time(&timed));
    }
    let many: Vec<(String, Number)> = (0..400)
        .map(|n| (format!("user {n}"), Number::whole(400 - n)))
        .collect();
    let long = Bars {
        rows: many,
        ..bars("", &[])
    };
    for one in [
        bars("SU", &[]),
        bars("SU", &[("only", "3")]),
        bars("SU", &[("zero", "0"), ("nil", "0.000")]),
        bars("SU", &[("below", "-5"), ("above", "5")]),
        bars(
            "SU",
            &[("large", "1000000000000000000"), ("small", "0.000001")],
        ),
        bars("SU", &NASTY.map(|name| (name, "2"))),
        long,
    ] {
        charts.push(Chart::Bars(one.clone()));
        charts.push(Chart::Pie(one));
    }
    charts.push(Chart::Burn(Box::default()));
    charts.push(Chart::Burn(Box::new(burn())));
    let day = 86_400_000_000;
    let long = (0..5000)
        .map(|n| (n * day / 50, Number::whole(100_000 - n * 20)))
        .collect();
    charts.push(Chart::Burn(Box::new(Burn {
        amount: long,
        to: 100 * day,
        now: 100 * day,
        ..Burn::default()
    })));
    charts
}

#[test]
fn every_shape_is_drawn_and_well_formed() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (at, chart) in every().iter().enumerate() {
        let svg = alone(chart);
        assert!(
            !svg.contains("NaN") && svg.len() < 600_000,
            "{at}: {}",
            svg.len()
        );
        assert!(
            svg.contains("role=\"img\"") && svg.contains("<title id=") && svg.contains("<desc id=")
        );
        let path = folder.path().join(format!("{at}.svg"));
        std::fs::write(&path, svg).unwrap();
        paths.push(path);
    }
    if Command::new("xmllint")
        .arg("--version")
        .stderr(Stdio::null())
        .status()
        .is_err()
    {
        eprintln!("skipped: xmllint: no xmllint to read drawings with");
        return;
    }
    let lint = Command::new("xmllint")
        .args(["--noout", "--nonet"])
        .args(&paths)
        .output()
        .unwrap();
    assert!(
        lint.status.success(),
        "{}",
        String::from_utf8_lossy(&lint.stderr)
    );
}

/// A drawing within a page of the daemon: nothing that a strict policy refuses, the amounts of each series for
/// the script, and links that hostile names cannot leave.
#[test]
fn a_drawing_within_a_page_has_facts_and_links() {
    let all = NASTY.iter().enumerate();
    let rows = all.map(|(n, name)| (n % 3, (*name).to_owned(), Number::of(1_500, 3)));
    let timed = Timed::gathered("project", "SU", days(3), rows).unwrap();
    let section = Section::chart(NASTY[0], Chart::Columns(timed))
        .linked("/usage?project={name}&from={from}&until={until}")
        .zoomed("from", "until");
    let page = embedded(&section, "u", 2, zone());
    assert!(!page.contains("style=") && !page.contains("<style") && !page.contains("<b "));
    for wanted in [
        "role=\"group\"",
        "data-unit=\"SU\"",
        "data-at=\"2026-10-01|2026-10-02|2026-10-03|2026-10-04\"",
        "data-zoom=\"from until\"",
        "data-times=\"2026-09-30T23:00:00Z ",
        "<g class=\"key\" data-series=\"0\">",
        "data-name=\"J\u{fc}rgen \u{c5}ngstr\u{f6}m-B\u{fc}cher\" data-values=\"0 1.500 0\"",
        "<a href=\"/usage?project=%3Cb%20onload%3D%22x%28%29%22%3E%26%27%22&amp;from=2026-09-30T23%3A00%3A00Z\
         &amp;until=2026-10-01T23%3A00%3A00Z\" tabindex=\"-1\">",
    ] {
        assert!(page.contains(wanted), "{wanted}\n{page}");
    }
    // Names that are added up lead nowhere.
    let section = Section::chart("x", Chart::Columns(crowd(60))).linked("/p/{name}");
    let page = embedded(&section, "u", 2, zone());
    assert!(page.contains("/p/project%2059") && !page.contains("/p/53%20others"));
    let section = section.unlinked(["project 59".to_owned()]);
    let page = embedded(&section, "u", 2, zone());
    assert!(!page.contains("/p/project%2059") && page.contains("/p/project%2058"));
    let rules = style();
    assert!(rules.starts_with(".chart{--paper") && !rules.contains(":root"));
    assert!(
        rules.len() < 6_000 && script().len() <= 15_000,
        "{}",
        script().len()
    );
}

/// The forecast lies within its spread, which ends where nothing is left.
#[test]
fn the_spread_of_a_forecast_is_around_it() {
    let burn = burn();
    let day = 86_400_000_000;
    let (us, low, high) = burn.spread[12];
    assert!(
        low.compare(high).is_lt() && us > burn.now,
        "{low:?} {high:?}"
    );
    let (_, low, high) = burn.spread[24];
    assert_eq!(low.shown(), "0");
    assert!(high.compare(number("60000")).is_gt(), "{high:?}");
    assert!(spread(&[], number("1"), (number("1"), number("2")), 0).is_empty());
    // Seven days of 1 to 9 with a longer history on both sides.
    let amounts = [5, 1, 1, 1, 1, 1, 1, 1, 9, 9, 9, 9, 9, 9, 9, 5];
    let rows = amounts.iter().enumerate();
    let rows = rows.map(|(at, n)| (at, "a".to_owned(), Number::of(*n * 10, 1)));
    let count = i64::try_from(amounts.len()).unwrap();
    let timed = Timed::gathered("user", "SU", days(count), rows).unwrap();
    let (slow, fast) = timed.speeds().unwrap();
    assert_eq!(
        (slow.shown().as_str(), fast.shown().as_str()),
        ("1.0", "9.0")
    );
    let known = spread(
        &[(0, number("90")), (10 * day, number("40"))],
        number("5"),
        (slow, fast),
        30 * day,
    );
    assert_eq!(known[24].1.shown(), "40");
    assert_eq!(known[24].2.shown(), "80.0");
    // Behind the forecast the upper edge falls on to the end of the money.
    let (us, low, high) = known[25];
    assert_eq!(us, 30 * day);
    assert_eq!(
        (low.shown().as_str(), high.shown().as_str()),
        ("40", "60.0")
    );
    // With more time it reaches the end of the forecast, 40 days later.
    let line = [(0, number("90")), (10 * day, number("40"))];
    let known = spread(&line, number("5"), (slow, fast), 300 * day);
    let (us, low, high) = known[25];
    assert_eq!((low.shown().as_str(), high.shown().as_str()), ("40", "40"));
    assert!(us >= 50 * day && us < 50 * day + 60_000_000, "{us}");
    // Without an end of the money behind the forecast nothing is added.
    assert_eq!(spread(&line, number("5"), (slow, fast), 0).len(), 25);
    assert_eq!(constant(8, "1").speeds(), None);
}

#[test]
fn the_same_numbers_give_the_same_bytes() {
    for chart in every() {
        assert_eq!(alone(&chart), alone(&chart));
    }
}

#[test]
fn a_chart_that_cannot_be_drawn_gives_the_reason() {
    let obstacle = |chart: &Chart| chart.obstacle().unwrap_or_default();
    assert_eq!(
        obstacle(&Chart::Bars(bars("SU", &[]))),
        "No data in this period."
    );
    assert_eq!(
        obstacle(&Chart::Columns(Timed::default())),
        "No data in this period."
    );
    assert!(
        obstacle(&Chart::Columns(usage(401, "SU"))).contains("401 values exceed the limit of 400")
    );
    assert_eq!(obstacle(&Chart::Columns(usage(400, "SU"))), "");
    assert_eq!(
        obstacle(&Chart::Pie(bars("SU", &[("a", "-1"), ("b", "2")]))),
        "No picture: a share is below zero."
    );
    assert_eq!(
        obstacle(&Chart::Pie(bars("SU", &[("a", "0")]))),
        "No picture: all shares are zero."
    );
}

#[test]
fn many_series_are_added_up_and_the_table_has_them_all() {
    let timed = crowd(60);
    let folded = timed.folded(8);
    assert_eq!(folded.series.len(), 8);
    assert_eq!(folded.series[7].name, "53 others");
    for day in 0..5 {
        assert_eq!(folded.sum_at(day).shown(), timed.sum_at(day).shown());
    }
    let page = Section::chart("x", Chart::Columns(timed)).html("c", 2, zone(), "");
    for n in 0..60 {
        assert!(page.contains(&format!("<td>project {n}</td>")), "{n}");
    }
}

#[test]
fn a_page_names_no_address_and_runs_nothing() {
    let sections = every()
        .into_iter()
        .map(|chart| Section::chart(NASTY[0], chart))
        .collect();
    let report = Report {
        title: NASTY[0].to_owned(),
        period: None,
        zone: zone(),
        generated: 0,
        remarks: NASTY.map(str::to_owned).to_vec(),
        parts: vec![Part {
            sections,
            ..Part::default()
        }],
    };
    let page = super::report(&report).unwrap();
    for word in [
        "<script", "http:", "https:", "//", "@import", "src=", "href", "style=", "<b ", "onclick",
    ] {
        let policy = page.replace("sha256-", "");
        // The digest is base64 and may hold any of the letters.
        let body = &policy[policy.find("<meta name").unwrap()..];
        assert!(!body.contains(word), "{word}");
    }
    // What is drawn by a pattern names one of its own drawing.
    let mut ids: Vec<&str> = page
        .split(" id=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(count, ids.len(), "an id stands twice");
    for used in page
        .split("url(#")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
    {
        assert!(ids.binary_search(&used).is_ok(), "{used}");
    }
}
