//! What a page and a picture bound, and that a column of a table never mixes decimals.

use super::*;

fn timed(names: usize, spans: i64) -> Result<Timed, TooLarge> {
    let rows = (0..names).map(|n| (n % 3, format!("user{n}"), number("1.500")));
    Timed::gathered("user", "SU", days(spans), rows)
}

fn page(sections: Vec<Section>) -> Result<String, TooLarge> {
    report(&Report {
        title: "Much".to_owned(),
        period: None,
        zone: zone(),
        generated: 0,
        remarks: Vec::new(),
        parts: vec![Part {
            sections,
            ..Part::default()
        }],
    })
}

/// What stands in a column of a table, from top to bottom, its sum included.
fn column(html: &str, at: usize) -> Vec<&str> {
    let rows = html.split("<tr>").skip(2);
    let cells = rows.filter_map(|row| row.split("</t").nth(at)?.rsplit('>').next());
    cells.collect()
}

#[test]
fn more_names_and_times_than_are_drawn_are_refused_with_what_helps() {
    assert!(timed(1000, 100).is_ok());
    let failure = timed(1001, 100).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "too many values for a picture: 1,001 names in 100 time intervals are 100,100 values; \
         the limit is 100,000"
    );
    // A name that stands in many rows is one name.
    let rows = (0..200_000).map(|n| (n % 3, "amy".to_owned(), number("1")));
    assert!(Timed::gathered("user", "SU", days(3), rows).is_ok());
}

#[test]
fn a_page_is_no_longer_than_a_browser_opens() {
    let names = |count: usize| {
        let rows = (0..count).map(|n| (format!("{n}{}", "x".repeat(200)), number("1.500")));
        let bars = Bars {
            what: "user".to_owned(),
            unit: "SU".to_owned(),
            rows: rows.collect(),
        };
        Section::chart("Used", Chart::Bars(bars))
    };
    assert!(page(vec![names(1000)]).unwrap().len() < crate::bounds::PAGE_MAX);
    let failure = page(vec![names(40_000), names(40_000)]).unwrap_err();
    let failure = failure.to_string();
    assert!(
        failure.starts_with("the page is too large: it would have more than ")
            && failure.ends_with(" MiB; the limit is 16 MiB"),
        "{failure:?}"
    );
}

/// Names that used nothing at a time have no row of it; what is there adds up.
#[test]
fn a_long_table_omits_zeros_with_a_note() {
    let html = page(vec![Section::chart(
        "Used",
        Chart::Columns(timed(60, 30).unwrap()),
    )]);
    let html = html.unwrap();
    assert!(
        html.contains("<caption>Zero values are omitted (60 rows)</caption>"),
        "{html}"
    );
    assert_eq!(html.matches("<td class=\"n\">1.500</td>").count(), 60);
}

#[test]
fn decimals_are_never_mixed_within_a_column() {
    let rows = [
        (0, "amy", "1.500"),
        (2, "amy", "2.250"),
        (1, "bob", "7.125"),
    ];
    let rows = rows.map(|(at, name, amount)| (at, name.to_owned(), number(amount)));
    let timed = Timed::gathered("user", "SU", days(3), rows).unwrap();
    let html = Section::chart("Used", Chart::Lines(timed)).html("c", 2, zone(), "");
    assert_eq!(column(&html, 1), ["0.000", "7.125", "0.000"], "{html}");
    assert_eq!(column(&html, 2), ["1.500", "0.000", "2.250"], "{html}");
    // Shares and sums likewise; counts stay whole.
    let html = Section::chart("Used", Chart::Bars(bars("", &[("a", "3"), ("b", "0")])));
    let html = html.html("c", 2, zone(), "");
    assert_eq!(column(&html, 1), ["3", "0", "3"], "{html}");
    assert_eq!(column(&html, 2), ["100.00 %", "0.00 %", "100.00 %"]);
}

/// What the daemon has added up of others, and what a picture adds up, are one.
#[test]
fn there_is_one_rest_and_it_comes_last() {
    let rows = (0..12).map(|n| (0, format!("user{n}"), Number::whole(12 - n)));
    let rows = rows.chain([(0, OTHERS.to_owned(), Number::whole(500))]);
    let timed = Timed::gathered("user", "SU", days(1), rows).unwrap();
    assert_eq!(timed.series.last().unwrap().name, OTHERS);
    assert_eq!(timed.bars().rows.last().unwrap().0, OTHERS);
    let folded = timed.folded(8);
    let names: Vec<&str> = folded.series.iter().map(|s| s.name.as_str()).collect();
    let mut want: Vec<String> = (0..7).map(|n| format!("user{n}")).collect();
    want.push(OTHERS.to_owned());
    assert_eq!(names, want);
    assert_eq!(folded.series[7].sum().shown(), "515");
    let pie = Section::chart("x", Chart::Pie(timed.bars())).html("c", 2, zone(), "");
    assert!(!pie.contains(" others:"), "{pie}");
    assert!(pie.contains("(all others): "), "{pie}");
}
