//! Waiting time of jobs: from submission to start, by queue, project, machine or user over time.

use bank_api::v1::{UsageFigures, UsageLine, UsageTable};
use bank_picture::reports::usage::{self as drawn, value};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use super::usage::{SHOWN, owner, pictured};
use crate::embedded::embedded;
use crate::failed::Failed;
use crate::page::Page;
use crate::parts::amount::{count, maybe, seconds};
use crate::parts::asked::{self, Asked, Words};
use crate::parts::period;
use crate::parts::table::{Table, figures, link, name, words};
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// The groupings.
const BY: Words = &[
    ("queue", "queue"),
    ("project", "project"),
    ("machine", "machine"),
    ("user", "user"),
];

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/waiting", show)
            .right(Right::SeeLedger)
            .below(&["/usage"])
            .takes(asked::takes())
            .picture(picture_alone),
    ]
}

/// The picture for other sites.
async fn picture_alone(visit: Visit) -> Shown {
    let asked = Asked::of(&visit, BY)?;
    let table = visit.get(over_time(&visit, &asked, Target::api)).await?;
    let table = asked::until_now(&visit, table);
    let title = format!("Waiting time by {}", asked.by);
    embedded(&visit, &title, drawn::waiting(&table).as_ref())
}

/// The route of the figures that are drawn.
fn over_time(visit: &Visit, asked: &Asked, root: fn(&[&str]) -> Target) -> Target {
    let target = asked
        .route(visit, root)
        .with("top", SHOWN)
        .with("sort", "started");
    target.with("every", asked.every).with("sums", "true")
}

async fn show(visit: Visit) -> Shown {
    let asked = Asked::of(&visit, BY)?;
    let data = asked.route(&visit, Target::data).with("part", "rows");
    let table = visit.get(over_time(&visit, &asked, Target::api)).await?;
    let table = asked::until_now(&visit, table);
    let deeper = deeper(&visit, asked.by).await?;
    let deeper = deeper.as_ref();
    let content = html! {
        (asked::filters(&visit, &asked, "waiting").await?)
        (period::with_choices(&visit, &asked.choices(&visit)))
        @if !table.sums.is_empty() { (drawing(&visit, deeper, &table, data.clone().with("every", asked.every))?) }
        (listed(&visit, &asked, deeper, &table, data))
        @if !table.sums.is_empty() {
            p .small { strong { "Mean wait: " } "of the jobs whose record has the time of their submission. Others are counted
                as started, and have no part in it." }
            p .small { strong { "Expansion factor: " } "waiting time and run time together, as a multiple of the run time. 1 is
                a job that did not wait." }
        }
        (asked::views(&visit, &asked, "waiting"))
    };
    let title = format!("Waiting time by {}", asked.by);
    Ok(visit.pictured(&title, &[], &content))
}

/// The page one level deeper, without its name and its period.
async fn deeper(visit: &Visit, by: &str) -> Result<Option<Target>, Failed> {
    let next = match by {
        "user" => return Asked::jobs_of_users(visit).await,
        "queue" | "machine" => "project",
        _ => "user",
    };
    Ok(Some(
        Asked::page(visit, "waiting", Some(by)).with("by", next),
    ))
}

fn drawing(
    visit: &Visit,
    deeper: Option<&Target>,
    table: &UsageTable,
    data: Target,
) -> Result<Markup, Failed> {
    let Some(section) = drawn::waiting(table) else {
        return Ok(html! {
            div .absent {
                "No waiting time in this period: no job started whose record has the time of its submission."
            }
        });
    };
    pictured(visit, "waiting", section, table, deeper, data)
}

fn listed(
    visit: &Visit,
    asked: &Asked,
    deeper: Option<&Target>,
    sums: &UsageTable,
    data: Target,
) -> Markup {
    let cells = |own: Markup, f: &UsageFigures| {
        vec![
            own,
            html! { (count(&f.started)) },
            seconds(f.wait_mean_s.as_deref()),
            maybe(f.expansion.as_deref()),
        ]
    };
    let row = |row: &UsageLine| {
        let Some(own) = owner(sums, row) else {
            return cells(name(&value(row, asked.by)), &row.figures);
        };
        let down = deeper.map(|down| asked.over(down.clone().with(asked.by, own)));
        let own = down.map_or_else(|| name(own), |down| link(&down, own));
        cells(own, &row.figures)
    };
    let total = cells(html! { "All" }, &sums.total);
    Table {
        caption: &asked.caption(visit),
        columns: vec![
            words(asked.label()),
            figures("Jobs started"),
            figures("Mean wait (s)"),
            figures("Expansion factor"),
        ],
        rows: sums.sums.iter().map(row).collect(),
        empty: html! {
            p { "No job ran in this period." }
            p .small { "Waiting times are read from usage records with a time of submission." }
        },
        data: Some(data),
        next: None,
    }
    .with_totals(&[total])
}
