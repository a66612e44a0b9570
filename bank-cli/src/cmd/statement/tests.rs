//! Screens and pages of statements.

use bank_api::v1::{Statement, StatementGroup, StatementLine, StatementPart};

use super::html::Html;
use super::{Writer, text};
use crate::context::test_context;
use crate::out::{assert_fits, filled, test_form};

fn group(heading: &str, amount: &str, entries: i64, jobs: i64) -> StatementGroup {
    StatementGroup {
        heading: heading.to_owned(),
        amount: amount.to_owned(),
        entries,
        jobs,
        adjustment: false,
    }
}

fn part(name: &str, jobs: i64, charged: &str) -> StatementPart {
    StatementPart {
        name: Some(name.to_owned()),
        jobs,
        charged: charged.to_owned(),
        refunded: "0.000".to_owned(),
    }
}

/// The bank of the samples, one hour east of Greenwich.
fn chem() -> Statement {
    let some = |text: &str| Some(text.to_owned());
    Statement {
        of: "project".to_owned(),
        name: "chem".to_owned(),
        accounts: vec!["chem".to_owned()],
        from: some("2026-09-30T23:00:00Z"),
        until: "2026-11-20T23:00:00Z".to_owned(),
        transaction: 1_048_702,
        opening: some("401200.000"),
        credits: vec![group("refunds", "1200.000", 1, 1)],
        debits: vec![group("charges", "-49900.000", 2_410, 1_893)],
        total_credits: "1200.000".to_owned(),
        total_debits: "-49900.000".to_owned(),
        closing: some("352500.000"),
        held: some("42000.000"),
        liens: Some(17),
        balance: some("310500.000"),
        credit_limit: some("0.000"),
        available: some("310500.000"),
        debt: some("0.000"),
        parts: vec![
            part("amy", 1_201, "31050.000"),
            part("bob", 692, "18850.000"),
        ],
        entries: 2_411,
        unit: "SU".to_owned(),
        ..Statement::default()
    }
}

#[test]
fn every_heading_has_a_line_of_its_own() {
    let mut statement = chem();
    statement
        .credits
        .insert(0, group("deposits", "250000.500", 2, 0));
    statement
        .credits
        .push(group("transfers_in", "10.000", 1, 0));
    statement.debits.push(group("expiries", "-100.000", 1, 0));
    statement.debits.push(StatementGroup {
        adjustment: true,
        ..group("charges", "-40.000", 1, 1)
    });
    statement.credit_limit = Some("500.000".to_owned());
    statement.debt = Some("7.000".to_owned());
    statement.burn_per_day = Some("1310.400".to_owned());
    statement.empty_at = Some("2026-12-04T12:00:00Z".to_owned());
    statement.closed = true;
    let expected = "\
Statement  chem  from 2026-10-01 to 2026-11-21 (exclusive), 51 days      SU
Opening amount                                 401,200.000
+ deposits         2                            250,000.500
+ refunds          1 job                          1,200.000
+ transfers in     1                                 10.000
− charges      1,893 jobs                       −49,900.000
− expiries         1                               −100.000
− charges          1 job  adjusting a closed period  −40.000
Closing amount                                 352,500.000
of which held by 17 running jobs                42,000.000
Credit limit                                       500.000
Available                                      310,500.000
In debt by                                           7.000
At 1,310 SU/day it is empty on 2026-12-04.
Without sub-projects.
Closed by transaction 1048702. This statement is final.
By user        jobs     charged    refunded  share
amy           1,201  31,050.000       0.000    62%
bob             692  18,850.000       0.000    38%
";
    assert_eq!(text::summary(&test_context().form, &statement), expected);
}

/// However long figures are, two never touch.
#[test]
fn columns_of_parts_stay_apart() {
    let mut statement = chem();
    statement.parts = vec![StatementPart {
        refunded: "13500000.250".to_owned(),
        ..part("amy", 1, "27649664.000")
    }];
    let screen = text::summary(&test_context().form, &statement);
    let row = screen.lines().last().unwrap();
    let cells: Vec<&str> = row.split("  ").filter(|cell| !cell.is_empty()).collect();
    let cells: Vec<&str> = cells.into_iter().map(str::trim).collect();
    assert_eq!(
        cells,
        ["amy", "1", "27,649,664.000", "13,500,000.250", "100%"]
    );
}

fn charge(job: &str) -> StatementLine {
    StatementLine {
        at: "2026-10-02T08:00:00Z".to_owned(),
        kind: "charge".to_owned(),
        account: "chem".to_owned(),
        project: Some("chem".to_owned()),
        user: Some("amy".to_owned()),
        job: Some(job.to_owned()),
        amount: "-12.500".to_owned(),
        ..StatementLine::default()
    }
}

#[test]
fn lines_are_between_the_head_and_the_sums() {
    let screen = |width| {
        let mut context = test_context();
        context.form.width = width;
        text::Screen::new(&context)
    };
    let statement = chem();
    let after = [Some("401187.500".to_owned())];
    let lines = [charge("1632")];
    let shown = |width| {
        let lines = screen(width).lines(&statement, &lines, &after, true);
        screen(width).head(&statement).unwrap() + &lines.unwrap()
    };
    let expected = "\
Statement  chem  from 2026-10-01 to 2026-11-21 (exclusive), 51 days      SU
Time                 Kind             Project       User        Job                       Amount              Left
                     opening                                                                           401,200.000
2026-10-02 09:00:00  charge           chem          amy         1632                     −12.500       401,187.500
";
    assert_eq!(shown(120), expected);
    let expected = "\
Statement  chem  from 2026-10-01 to 2026-11-21 (exclusive), 51 days      SU
Time                 Kind     Project  User  Job    Amount         Left
                     opening                                401,200.000
2026-10-02 09:00:00  charge   chem     amy   1632  −12.500  401,187.500
";
    assert_eq!(shown(80), expected);
}

#[test]
fn a_page_loads_nothing_and_escapes_names() {
    let mut html = Html::new(&test_context());
    let mut statement = chem();
    statement.name = "<script>alert('x')</script>&".to_owned();
    let lines = [charge("\"1632\" <b>")];
    let mut page = Writer::head(&html, &statement).unwrap();
    page += &html.lines(&statement, &lines, &[None], true).unwrap();
    page += &Writer::foot(&mut html, &statement).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    for word in [
        "<script", "http:", "https:", "url(", "@import", "src=", "href=", " on", "<b>",
    ] {
        let found = page.find(word);
        // Words of the text are no attributes.
        let is_text = word == " on" && !page.contains(" onload") && !page.contains(" onclick");
        assert!(found.is_none() || is_text, "{word}: {page}");
    }
    assert!(page.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;"));
    for part in [
        "@media print",
        "prefers-color-scheme:dark",
        "<caption>",
        "scope=\"col\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let count = |tag: &str| page.matches(tag).count();
    for tag in ["table", "tr", "thead", "tbody", "div"] {
        let opened = count(&format!("<{tag}>")) + count(&format!("<{tag} "));
        assert_eq!(opened, count(&format!("</{tag}>")), "{tag}");
    }
}

#[test]
fn the_widest_sums_fit_a_terminal() {
    let form = test_form();
    for mut statement in filled::<Statement>() {
        statement.of = "project".to_owned();
        for headings in [["deposits", "refunds"], ["activations", "transfers_in"]] {
            for groups in [&mut statement.credits, &mut statement.debits] {
                for (group, heading) in groups.iter_mut().zip(headings) {
                    group.heading = heading.to_owned();
                    group.adjustment = !group.adjustment;
                }
            }
            assert_fits(&text::summary(&form, &statement));
        }
    }
}
