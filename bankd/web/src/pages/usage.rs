//! Usage over time, by project, user, queue or machine: a picture whose marks lead one level deeper, down to jobs.

use bank_api::v1::{UsageFigures, UsageLine, UsageTable};
use bank_picture::Section;
use bank_picture::printable::printable;
use bank_picture::reports::usage::{self as drawn, Measure, value};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use crate::embedded::embedded;
use crate::failed::Failed;
use crate::page::Page;
use crate::parts::amount::{amount, count, hours, is_zero};
use crate::parts::asked::{self, Asked, Words};
use crate::parts::period::{self, Choice};
use crate::parts::picture;
use crate::parts::project::Projects;
use crate::parts::table::{Table, amounts, figures, has_shadow, link, name, words};
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// Names of their own; of the others a row has the sum. The CSV has all.
pub(crate) const SHOWN: &str = "20";

/// The groupings.
const BY: Words = &[
    ("project", "project"),
    ("user", "user"),
    ("queue", "queue"),
    ("machine", "machine"),
];

/// The figures that can be drawn.
const OF: Words = &[
    ("core", "core-hours"),
    ("gpu", "GPU-hours"),
    ("node", "node-hours"),
    ("wall", "wall hours"),
    ("memory", "memory MiB-hours"),
    ("disk", "disk MiB-hours"),
    ("charge", "charges"),
    ("shadow", "shadow charges"),
];

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/usage", show)
            .right(Right::SeeLedger)
            .takes(asked::takes())
            .takes(["of"])
            .picture(picture_alone)
            .nav("Usage"),
    ]
}

/// The picture for other sites.
async fn picture_alone(visit: Visit) -> Shown {
    let asked = Asked::of(&visit, BY)?;
    let of = asked::word(&visit, "of", OF)?;
    let table: UsageTable = visit
        .get(over_time(&visit, &asked, of, Target::api))
        .await?;
    let table = asked::until_now(&visit, table);
    let has_some = !is_zero(hours_of(of, &table.total));
    let section = drawn::over_time(&table, &measure(of, &table.unit)).ok();
    let section = section.filter(|_| has_some);
    embedded(&visit, &format!("Usage by {}", asked.by), section.as_ref())
}

/// The route of the figures that are drawn.
fn over_time(visit: &Visit, asked: &Asked, of: &str, root: fn(&[&str]) -> Target) -> Target {
    let target = asked.route(visit, root).with("top", SHOWN).with("sort", of);
    target.with("every", asked.every).with("sums", "true")
}

async fn show(visit: Visit) -> Shown {
    let asked = Asked::of(&visit, BY)?;
    let of = asked::word(&visit, "of", OF)?;
    let data = asked.route(&visit, Target::data).with("part", "rows");
    let table: UsageTable = visit
        .get(over_time(&visit, &asked, of, Target::api))
        .await?;
    let table = asked::until_now(&visit, table);
    let choice = Choice {
        name: "of",
        label: "Figure",
        words: OF,
        chosen: of,
    };
    let [by, length] = asked.choices(&visit);
    let ways = Ways::of(&visit, &asked, of, &table).await?;
    let content = html! {
        (asked::filters(&visit, &asked, "usage").await?)
        (period::with_choices(&visit, &[by, choice, length]))
        @if !table.sums.is_empty() { (drawing(&visit, &ways, of, &table, data.clone().with("every", asked.every))?) }
        (listed(&visit, &asked, &ways, of, &table, data))
        @if !table.sums.is_empty() { @for remark in drawn::remarks(&table) { p .small { (remark) } } }
        (asked::views(&visit, &asked, "usage"))
    };
    let trail = trail(&visit, &asked);
    Ok(visit.pictured(&format!("Usage by {}", asked.by), &trail, &content))
}

/// The page above: the same period without filters.
fn trail(visit: &Visit, asked: &Asked) -> Vec<(&'static str, Target)> {
    let is_narrow = ["project", "user", "queue", "machine"]
        .iter()
        .any(|name| visit.parameter(name).is_some());
    let above = Target::page(&["usage"]).maybe("zone", visit.parameter("zone"));
    let above = is_narrow.then(|| ("All usage", asked.over(above)));
    above.into_iter().collect()
}

/// The picture, or a sentence if there is nothing to draw.
fn drawing(
    visit: &Visit,
    ways: &Ways,
    of: &str,
    table: &UsageTable,
    data: Target,
) -> Result<Markup, Failed> {
    if is_zero(hours_of(of, &table.total)) {
        let label = OF.iter().find(|(word, _)| *word == of);
        let label = label.map_or(of, |(_, label)| label);
        return Ok(html! {
            div .absent { "No " (label) " in this period." }
        });
    }
    let section = match drawn::over_time(table, &measure(of, &table.unit)) {
        Ok(section) => section,
        Err(large) => return Ok(html! { div .absent { (large) } }),
    };
    pictured(visit, "usage", section, table, ways.deeper.as_ref(), data)
}

/// The picture of a table of usage, with its data. Marks lead to the page one level deeper, if there is one, which gets
/// their name and their period, and periods can be selected. Names that are none have no link.
pub(crate) fn pictured(
    visit: &Visit,
    id: &str,
    section: Section,
    table: &UsageTable,
    deeper: Option<&Target>,
    data: Target,
) -> Result<Markup, Failed> {
    let by = table.by.first().map_or("", String::as_str);
    let link = |deeper: &Target| {
        let deeper = deeper.as_str();
        format!("{deeper}&{by}={{name}}&from={{from}}&to={{until}}")
    };
    let plain = table.rows.iter().filter(|row| {
        let own = owner(table, row);
        own.is_none_or(|own| printable(own) != own)
    });
    let plain: Vec<String> = plain.map(|row| drawn::name(table, row)).collect();
    let section = section.unlinked(plain).zoomed("from", "to");
    let section = match deeper {
        Some(deeper) => section.linked(link(deeper)),
        None => section,
    };
    Ok(picture::show(&section, id, picture::zone(visit)?, data))
}

/// The name of a row, if it is the name of something.
pub(crate) fn owner<'t>(table: &UsageTable, row: &'t UsageLine) -> Option<&'t str> {
    let value = row.keys.get(table.by.first()?)?.as_deref();
    value.filter(|value| !value.is_empty() && !row.others)
}

/// Where the names and the numbers of jobs of the page lead.
struct Ways {
    /// The page one level deeper, without its name and its period.
    deeper: Option<Target>,
    /// Whether the page of jobs lists what the rows count.
    has_jobs: bool,
    /// The projects among the rows: the page of jobs has no other names.
    projects: Projects,
}

impl Ways {
    async fn of(
        visit: &Visit,
        asked: &Asked,
        of: &str,
        table: &UsageTable,
    ) -> Result<Self, Failed> {
        let by = asked.by;
        let jobs = Asked::jobs_of_users(visit).await?;
        // A member does not see the jobs of others, which a project's figures count.
        let is_seen = by == "user" || visit.sees_others();
        let has_jobs = jobs.is_some() && by != "queue" && is_seen;
        let names = table.sums.iter().filter_map(|row| owner(table, row));
        let names = names.filter(|_| by == "project" && has_jobs);
        let page = |next: &str| {
            let page = Asked::page(visit, "usage", Some(by));
            Some(page.with("by", next).with("of", of))
        };
        Ok(Self {
            projects: Projects::among(visit, names).await?,
            deeper: match by {
                "user" => jobs,
                "machine" => page("project"),
                _ => page("user"),
            },
            has_jobs,
        })
    }

    /// Whether the jobs of a row are listed.
    fn lists(&self, by: &str, own: &str) -> bool {
        self.has_jobs && (by != "project" || self.projects.has(own))
    }
}

fn measure(of: &str, unit: &str) -> Measure {
    let hours = |title: &str, seconds| Measure::hours(title.to_owned(), seconds);
    match of {
        "gpu" => hours("GPU-hours", |f| Some(&f.gpu_seconds)),
        "node" => hours("node-hours", |f| Some(&f.node_seconds)),
        "wall" => hours("wall hours", |f| Some(&f.wall_seconds)),
        "memory" => hours("memory MiB-hours", |f| Some(&f.memory_mib_seconds)),
        "disk" => hours("disk MiB-hours", |f| Some(&f.disk_mib_seconds)),
        "charge" => Measure::charged(unit),
        "shadow" => Measure::shadow(unit),
        _ => hours("core-hours", |f| Some(&f.core_seconds)),
    }
}

/// The figure that is drawn, in hours or in the unit of the bank.
fn hours_of<'f>(of: &str, figures: &'f UsageFigures) -> &'f str {
    match of {
        "gpu" => &figures.gpu_hours,
        "node" => &figures.node_hours,
        "wall" => &figures.wall_hours,
        "memory" => &figures.memory_mib_hours,
        "disk" => &figures.disk_mib_hours,
        "charge" => &figures.charged,
        "shadow" => &figures.shadow_charged,
        _ => &figures.core_hours,
    }
}

/// The sums of the period. Names lead one level deeper, numbers of jobs to the jobs.
fn listed(
    visit: &Visit,
    asked: &Asked,
    ways: &Ways,
    of: &str,
    sums: &UsageTable,
    data: Target,
) -> Markup {
    let label = OF.iter().find(|(word, _)| *word == of);
    let more = label.filter(|(word, _)| !["core", "charge", "shadow"].contains(word));
    let shadow = has_shadow(&sums.total);
    let cells = |own: Markup, jobs: Markup, f: &UsageFigures| {
        let mut cells = vec![own, jobs, hours(&f.core_hours)];
        cells.extend(more.map(|_| hours(hours_of(of, f))));
        cells.push(amount(&f.charged));
        cells.extend(shadow.then(|| amount(&f.shadow_charged)));
        cells.push(html! { (f.share.as_deref().unwrap_or("–")) });
        cells
    };
    let row = |row: &UsageLine| {
        let f = &row.figures;
        let Some(own) = owner(sums, row) else {
            return cells(name(&value(row, asked.by)), html! { (count(&f.jobs)) }, f);
        };
        let down = ways.deeper.clone();
        let down = down.map(|down| asked.over(down.with(asked.by, own)));
        let jobs = asked.over(Asked::jobs(visit, Some(asked.by)).with(asked.by, own));
        let count = html! { @if ways.lists(asked.by, own) { a href=(jobs) { (count(&f.jobs)) } } @else { (count(&f.jobs)) } };
        let own = down.map_or_else(|| name(own), |down| link(&down, own));
        cells(own, count, f)
    };
    let total = |f: &UsageFigures| cells(html! { "Total" }, html! { (count(&f.jobs)) }, f);
    let mut columns = vec![words(asked.label()), figures("Jobs"), figures("Core-hours")];
    columns.extend(more.map(|(_, label)| figures(label)));
    columns.push(amounts("Charged", &sums.unit));
    columns.extend(shadow.then(|| amounts("Shadow", &sums.unit)));
    columns.push(figures("Share (%)"));
    Table {
        caption: &asked.caption(visit),
        columns,
        rows: sums.sums.iter().map(row).collect(),
        empty: html! {
            p { "Nothing was used in this period." }
            p .small { "Usage appears here when jobs run and their records arrive." }
        },
        data: Some(data),
        next: None,
    }
    .with_totals(&[total(&sums.total)])
}
