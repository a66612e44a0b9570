//! One page with every kind of chart, one with nasty names, one of two parts, one without data: the
//! golden texts.

use super::*;

/// Compares with the golden text, or writes it.
#[expect(
    clippy::disallowed_methods,
    reason = "a test says by the environment that goldens are written"
)]
fn golden(name: &str, text: &str) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/golden");
    let path = folder.join(name);
    if std::env::var("BANK_WRITE_GOLDEN").is_ok() {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    if let Some((line, (is, should))) = (1..)
        .zip(text.lines().zip(want.lines()))
        .find(|(_, (is, should))| is != should)
    {
        panic!("{name}:{line}:\n is {is}\nwas {should}");
    }
    assert_eq!(text.len(), want.len(), "{name}: more or less than before");
}

fn page(title: &str, parts: Vec<Part>) -> Report {
    Report {
        title: title.to_owned(),
        period: Some(Span {
            from: at("2026-09-30T23:00:00Z"),
            to: at("2026-10-31T23:00:00Z"),
        }),
        zone: zone(),
        generated: at("2026-11-20T21:41:00Z"),
        remarks: vec!["Amounts in SU (core-hours).".to_owned()],
        parts,
    }
}

/// Three projects over so many days, a little wild but the same on every machine.
pub(super) fn usage(count: i64, unit: &str) -> Timed {
    let mut rows = Vec::new();
    let mut seed = 7_i64;
    for day in 0..count {
        for (name, size) in [("chem", 900), ("astro/dark", 500), ("bio", 300)] {
            seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
            let amount = size * 1000 + seed % (size * 700);
            let amount = if day % 7 > 4 { amount / 3 } else { amount };
            let day = usize::try_from(day).unwrap();
            rows.push((day, name.to_owned(), Number::of(amount.into(), 3)));
        }
    }
    Timed::gathered("project", unit, days(count), rows).unwrap()
}

fn utilisation() -> Timed {
    let mut timed = usage(31, "%");
    timed.series.truncate(2);
    for (at, series) in timed.series.iter_mut().enumerate() {
        let name = ["cluster", "gpu"][at];
        name.clone_into(&mut series.name);
        for (day, value) in series.values.iter_mut().enumerate() {
            let tenths = value.unwrap().minor(3) % 620 + 300 - 150 * i128::try_from(at).unwrap();
            *value = Some(Number::of(tenths, 1));
            // Nothing is known of three days of the second.
            if at == 1 && (12..15).contains(&day) {
                *value = None;
            }
        }
    }
    timed.limit = Some(("capacity".to_owned(), Number::whole(100)));
    timed
}

pub(super) fn burn() -> Burn {
    let day = 86_400_000_000;
    let from = at("2026-09-30T23:00:00Z");
    let mut amount = vec![(from, number("401200.000"))];
    let mut left = 401_200_000_i128;
    for n in 1..51 {
        left -= 900_000 + (n * 7919 % 1300) * 700;
        if n == 20 {
            left += 120_000_000;
        }
        let n = i64::try_from(n).unwrap();
        amount.push((from + n * day, Number::of(left, 3)));
    }
    let now = from + 51 * day;
    let held = [0, 10, 20, 30, 40, 50].map(|n: i64| {
        let (us, amount) = amount[usize::try_from(n).unwrap()];
        (
            us,
            amount,
            Number::of((20_000 + i128::from(n) * 400) * 1000, 3),
        )
    });
    let end = at("2027-03-31T23:00:00Z");
    let forecast = vec![
        (now, Number::of(left, 3)),
        (at("2026-12-31T23:00:00Z"), number("351000")),
        (at("2026-12-31T23:00:00Z"), number("290000")),
        (at("2027-03-10T12:00:00Z"), Number::ZERO),
    ];
    Burn {
        unit: "SU".to_owned(),
        from,
        to: end,
        spread: spread(
            &forecast,
            number("3000"),
            (number("2400"), number("4000")),
            0,
        ),
        forecast,
        ideal: Some([(from, number("401200")), (end, Number::ZERO)]),
        held: held.to_vec(),
        deposits: vec![(from + 20 * day, number("120000"))],
        amount,
        now,
    }
}

fn subscription() -> Beside {
    let row = |name: &str, used: &str, paid: Option<&str>| {
        (name.to_owned(), vec![Some(number(used)), paid.map(number)])
    };
    Beside {
        what: "contributor".to_owned(),
        unit: "%".to_owned(),
        series: vec!["usage".to_owned(), "contribution".to_owned()],
        rows: vec![
            row("smith", "55.25", Some("40.00")),
            row("jones", "30.00", Some("60.00")),
            row("unassigned", "14.75", None),
        ],
    }
}

fn gallery() -> Report {
    let users = bars(
        "SU",
        &[
            ("amy", "31050.000"),
            ("bob", "18850.500"),
            ("carol", "7.250"),
            ("dave", "0.000"),
        ],
    );
    let single = {
        let mut timed = usage(12, "jobs");
        timed.series.truncate(1);
        timed
    };
    let pie = bars(
        "SU",
        &[
            ("amy", "500.00"),
            ("bob", "100.00"),
            ("carol", "150.00"),
            ("dave", "0.00"),
            ("erin", "250.00"),
            ("grace", "300.00"),
            ("unassigned", "40.00"),
        ],
    );
    let sections = vec![
        Section::chart("Use by member", Chart::Bars(users)).note("Members without use are listed."),
        Section::chart("Use by day", Chart::Columns(usage(31, "SU"))),
        Section::chart("Jobs by day", Chart::Columns(single)),
        Section::chart("Use by project", Chart::Area(usage(31, "SU"))),
        Section::chart("Utilisation", Chart::Lines(utilisation())),
        Section::chart("Burn-down of chem", Chart::Burn(Box::new(burn()))),
        Section::chart("Usage shares", Chart::Pie(pie)),
        Section::chart("Subscription", Chart::Beside(subscription())),
    ];
    page(
        "Every kind of chart",
        vec![Part {
            sections,
            ..Part::default()
        }],
    )
}

fn nasty() -> Report {
    let amounts = [
        "1000000000000000000",
        "-350000000000000000.5",
        "12.125",
        "0",
        "7",
        "1",
    ];
    let rows: Vec<_> = NASTY.into_iter().zip(amounts).collect();
    let timed = Timed::gathered(
        "project",
        "SU",
        days(3),
        NASTY.iter().enumerate().map(|(n, name)| {
            let amount = Number::whole(i64::try_from(n * 9 + 5).unwrap());
            (n % 3, (*name).to_owned(), amount)
        }),
    )
    .unwrap();
    let mut refunds = usage(9, "SU");
    for value in refunds.series[1].values.iter_mut().flatten() {
        *value = Number::ZERO.minus(*value);
    }
    let all = &rows[..];
    let sections = vec![
        Section::chart("Bars & <names>", Chart::Bars(bars("SU & \"more\"", all))),
        Section::chart("Columns", Chart::Columns(timed.clone())),
        Section::chart("With refunds", Chart::Columns(refunds)),
        Section::chart("Lines", Chart::Lines(timed)),
        Section::chart(
            "Pie",
            Chart::Pie(bars("SU", &[("x", "1"), (NASTY[0], "2"), (NASTY[2], "3")])),
        ),
    ];
    page(
        NASTY[0],
        vec![Part {
            sections,
            ..Part::default()
        }],
    )
}

fn beside() -> Report {
    let part = |heading: &str, count: i64, sections: Vec<Section>| {
        let spans = days(count);
        Part {
            heading: Some(heading.to_owned()),
            period: Some(Span {
                from: spans[0].from,
                to: spans[spans.len() - 1].to,
            }),
            sections,
        }
    };
    let shares = || Chart::Pie(bars("SU", &[("amy", "500"), ("bob", "100")]));
    let month = vec![
        Section::chart("Usage shares", shares()),
        Section::chart("Use", Chart::Area(usage(31, "SU"))),
    ];
    let nothing = vec![
        Section::chart(
            "Usage shares",
            Chart::Pie(bars("SU", &[("amy", "0"), ("bob", "0")])),
        ),
        Section::chart("Use", Chart::Area(Timed::default())),
        Section::table("Contributions", Table::default()),
    ];
    page(
        "Two periods",
        vec![part("October", 31, month), part("One day", 1, nothing)],
    )
}

#[test]
fn every_kind_of_chart() {
    golden("gallery.html", &report(&gallery()).unwrap());
}

#[test]
fn nasty_names_and_sizes() {
    golden("nasty.html", &report(&nasty()).unwrap());
}

#[test]
fn two_periods_side_by_side_one_of_them_without_data() {
    golden("beside.html", &report(&beside()).unwrap());
}

#[test]
fn drawings_are_self_contained() {
    for (name, section) in gallery().sections().enumerate() {
        let alone = page(
            "x",
            vec![Part {
                sections: vec![section.clone()],
                ..Part::default()
            }],
        );
        golden(&format!("chart-{name}.svg"), &drawing(&alone));
    }
    let empty = page("Empty", vec![Part::default()]);
    golden("nothing.svg", &drawing(&empty));
}

#[test]
fn screens_in_plain_characters() {
    let wide = Terminal {
        columns: 80,
        unicode: true,
    };
    golden("screen.txt", &screen(&gallery(), wide));
    let ascii = Terminal {
        columns: 40,
        unicode: false,
    };
    let text = screen(&gallery(), ascii) + &screen(&nasty(), ascii);
    assert!(text.is_ascii(), "{text}");
    golden("screen-ascii.txt", &text);
}
