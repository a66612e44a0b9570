//! The first screen of an operator: whether every job is being charged.

use bank_api::v1::{
    Followed, Lien, List, MachineStatus, RefusedJob, Source, Status, WhatIf, WouldRefuseSum,
};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};
use serde_json::Value;

use crate::failed::Failed;
use crate::page::Page;
use crate::parts::amount::{amount, count, grouped, maybe};
use crate::parts::nodes;
use crate::parts::project::Projects;
use crate::parts::table::{Table, amounts, figures, link, name, or_none, words};
use crate::parts::turn;
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// Rows of a table; the CSV has all.
const SHOWN: &str = "50";

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/operations", show)
            .right(Right::SeeSources)
            .takes(["refused-after", "liens-after", "downtimes-after"])
            .nav("Operations"),
    ]
}

async fn show(visit: Visit) -> Shown {
    let status: Status = visit.get(Target::api(&["status"])).await?;
    let sources: List<Source> = visit.get(Target::api(&["sources"])).await?;
    if sources.items.is_empty() && status.machines.is_empty() {
        let content = html! { (question()) (state(&visit, &status, &findings(&status, &[]), true)) (beginning(&visit)) };
        return Ok(visit.page("Operations", &[], &content));
    }
    let content = html! {
        (question())
        (state(&visit, &status, &findings(&status, &sources.items), false))
        @if let Some(cluster) = &status.cluster { (nodes::table(cluster)) }
        (table_of_sources(&visit, &sources.items))
        (table_of_files(&sources.items))
        (table_of_machines(&visit, &status.machines))
        (refused(&visit).await?)
        (liens(&visit).await?)
        (would_refuse(&visit).await?)
        (downtimes(&visit).await?)
    };
    Ok(visit.page("Operations", &[], &content))
}

fn question() -> Markup {
    html! { p .lead { "Is every job being charged?" } }
}

/// A number of things with their word, such as `1 record` and `2 records`.
fn number(number: i64, word: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{} {word}{end}", count(number))
}

/// What is wrong now, in sentences.
fn findings(status: &Status, sources: &[Source]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut find = |is_wrong: bool, text: String| {
        if is_wrong {
            all.push(text);
        }
    };
    find(
        !status.healthy,
        "The writer stopped, or the last commit failed.".to_owned(),
    );
    let clock = &status.clock;
    find(
        !clock.state.is_empty() && clock.state != "ok",
        format!("The clock of the ledger is {}.", clock.state),
    );
    for source in &status.silent_sources {
        find(true, format!("Source {source} is silent."));
    }
    for source in sources.iter().filter(|source| source.quarantined > 0) {
        let (name, count) = (&source.name, source.quarantined);
        find(
            true,
            format!("Source {name}: {} cannot be read.", number(count, "record")),
        );
    }
    for file in sources.iter().flat_map(|source| &source.follow) {
        if let Some(error) = &file.error {
            find(true, format!("{}: {error}", file.path));
        }
    }
    for sink in &status.sinks {
        if let Some(error) = &sink.error {
            find(true, format!("Records {}: {error}", sink.path));
        }
    }
    if let Some(unbilled) = status
        .unbilled
        .as_ref()
        .filter(|unbilled| unbilled.count > 0)
    {
        let text = format!(
            "Without a project: {}, {} {} that are not billed.",
            number(unbilled.count, "job"),
            grouped(&unbilled.amount),
            status.unit
        );
        find(true, text);
    }
    let disputed = status.disputed.unwrap_or_default();
    find(
        disputed > 0,
        format!(
            "More time reported than can have been used: {}.",
            number(disputed, "job")
        ),
    );
    let stuck = status.stuck.len();
    find(stuck > 0, format!("{stuck} boundaries cannot be booked."));
    for error in [&status.backup_error, &status.checkpoint_error]
        .into_iter()
        .flatten()
    {
        find(true, error.clone());
    }
    all.extend(status.cluster.iter().flat_map(nodes::findings));
    all
}

/// What comes first in a bank to which nothing reports.
fn beginning(visit: &Visit) -> Markup {
    html! {
        div .empty {
            p { "No job is charged yet: this bank has no machine, and no source has reported usage." }
            ol {
                li { "Record a machine: " code { "bank machine add NAME" } }
                li {
                    @if visit.may(Right::SeeSettings) { a href=(visit.link(&["rates"])) { "Set a rate" } } @else { "Set a rate" }
                    ", or every job is free: " code { "bank rate set VBR Processors 1" }
                }
                li { "Connect the scheduler, follow an accounting file with " code { "[[follow]]" } " in bankd.toml, or start a
                    collector." }
            }
            p .small { "Sources, machines, refused holds and open holds appear here as soon as there are any." }
        }
    }
}

/// The findings, and the state of the daemon.
fn state(visit: &Visit, status: &Status, findings: &[String], is_new: bool) -> Markup {
    html! {
        @if findings.is_empty() && is_new {
        } @else if findings.is_empty() {
            div .message.good role="status" { p { "Nothing is wrong." } }
        } @else {
            div .message.bad { ul { @for one in findings { li { (one) } } } }
        }
        dl .facts {
            dt { "bankd" } dd { (status.version) }
            dt { "Up for (h:min:s)" } dd { (bank_api::text::format_clock(status.uptime_s)) }
            dt { "Mode" } dd { (status.mode) }
            dt { "Waiting commands" } dd { (status.queue_depth) " of " (status.queue_capacity) }
            @if let Some(liens) = status.open_liens { dt { "Open holds" } dd { a href="#liens" { (liens) } } }
            @if let Some(backup) = &status.last_backup {
                dt { "Last backup" } dd { (visit.zone().time(&backup.made_at)) }
            }
        }
    }
}

fn table_of_sources(visit: &Visit, items: &[Source]) -> Markup {
    let time = |time: &Option<String>| {
        let zone = visit.zone();
        time.as_deref()
            .map_or_else(|| "–".to_owned(), |time| zone.time(time))
    };
    let row = |source: &Source| {
        vec![
            name(&source.name),
            or_none(source.machine.as_deref()),
            html! { @if source.silent { strong .flag { "silent" } } @else { "reports" } },
            html! { (time(&source.last_contact)) },
            html! { (time(&source.last_event)) },
            html! { (source.lag_s.map_or_else(|| "–".to_owned(), bank_api::text::format_clock)) },
            html! { (count(source.records)) },
            html! { (count(source.skipped)) },
            html! { span .flag[source.quarantined > 0] { (source.quarantined) } },
        ]
    };
    Table {
        caption: "Sources",
        columns: vec![
            words("Source"),
            words("Machine"),
            words("State"),
            words("Last contact"),
            words("Last use"),
            figures("Lag (h:min:s)"),
            figures("Records"),
            figures("Not charged"),
            figures("Not readable"),
        ],
        rows: items.iter().map(row).collect(),
        empty: html! {
            p { "No source has reported yet." }
            p .small { "Follow an accounting file with " code { "[[follow]]" } " in bankd.toml, or start a collector." }
        },
        data: Some(Target::data(&["sources"])),
        next: None,
    }
    .show()
}

fn table_of_files(items: &[Source]) -> Markup {
    let files = items
        .iter()
        .flat_map(|source| source.follow.iter().map(move |file| (source, file)));
    let row = |(source, file): (&Source, &Followed)| {
        vec![
            name(&file.path),
            name(&source.name),
            html! { @if file.state == "ok" { "ok" } @else { strong .flag { (file.state) } } },
            html! { (file.behind) },
            or_none(file.error.as_deref()),
        ]
    };
    let rows: Vec<_> = files.map(row).collect();
    if rows.is_empty() {
        return html! {};
    }
    Table {
        caption: "Followed files",
        columns: vec![
            words("File"),
            words("Source"),
            words("State"),
            figures("Bytes behind"),
            words("Error"),
        ],
        rows,
        empty: html! {},
        data: Some(Target::data(&["sources"]).with("part", "follow")),
        next: None,
    }
    .show()
}

fn table_of_machines(visit: &Visit, items: &[MachineStatus]) -> Markup {
    let row = |machine: &MachineStatus| {
        let contact = machine.last_contact.as_deref();
        vec![
            link(
                &visit.link(&["jobs"]).with("machine", &machine.name),
                &machine.name,
            ),
            html! { (machine.mode) @if machine.test { " (test)" } },
            html! { (contact.map_or_else(|| "never".to_owned(), |time| visit.zone().time(time))) },
        ]
    };
    Table {
        caption: "Machines",
        columns: vec![words("Machine"), words("Mode"), words("Last document")],
        rows: items.iter().map(row).collect(),
        empty: html! { p { "No machine yet: " code { "bank machine add NAME" } } },
        data: Some(Target::data(&["status"]).with("part", "machines")),
        next: None,
    }
    .show()
}

async fn refused(visit: &Visit) -> Result<Markup, Failed> {
    let route = |root: fn(&[&str]) -> Target| root(&["refused-reserves"]);
    let route = |root| turn::asked(visit, route(root), "refused", SHOWN);
    let list: List<RefusedJob> = visit.get(route(Target::api)).await?;
    let row = |row: &RefusedJob| {
        let job = visit
            .link(&["jobs", &row.job])
            .with("machine", &row.machine);
        let refused = &row.refused;
        vec![
            link(&job, &row.job),
            name(&row.machine),
            name(&refused.project),
            name(&refused.user),
            html! { (visit.zone().time(&refused.at)) },
            html! { (refused.tries) },
            html! { span .prose { (refused.detail) } },
        ]
    };
    Ok(Table {
        caption: "Refused holds",
        columns: vec![
            words("Job"),
            words("Machine"),
            words("Project"),
            words("User"),
            words("Last time"),
            figures("Tries"),
            words("Reason"),
        ],
        rows: list.items.iter().map(row).collect(),
        empty: html! { p { "No job was refused." } },
        data: Some(route(Target::data)),
        next: turn::next(visit.link(&["operations"]), "refused", list.next.as_deref()),
    }
    .show())
}

async fn liens(visit: &Visit) -> Result<Markup, Failed> {
    let route = |root: fn(&[&str]) -> Target| root(&["liens"]);
    let route = |root| turn::asked(visit, route(root), "liens", SHOWN);
    let list: List<Lien> = visit.get(route(Target::api)).await?;
    let unit = list.items.first().map_or("", |row| row.unit.as_str());
    let zone = visit.zone();
    let row = |lien: &Lien| {
        let job = visit
            .link(&["jobs", &lien.job])
            .with("machine", &lien.machine);
        let end = lien.end.as_deref();
        vec![
            link(&job, &lien.job),
            name(&lien.machine),
            or_none(lien.project.as_deref()),
            html! { (zone.time(&lien.placed)) },
            html! { (end.map_or_else(|| "–".to_owned(), |time| zone.time(time))) },
            amount(&lien.amount),
        ]
    };
    let table = Table {
        caption: "Open holds, the newest first",
        columns: vec![
            words("Job"),
            words("Machine"),
            words("Project"),
            words("From"),
            words("Ends"),
            amounts("Held", unit),
        ],
        rows: list.items.iter().map(row).collect(),
        empty: html! { p { "Nothing is held: no job runs." } },
        data: Some(route(Target::data)),
        next: turn::next(visit.link(&["operations"]), "liens", list.next.as_deref()),
    };
    Ok(html! { div #liens { (table.show()) } })
}

/// What the mode strict would have refused.
async fn would_refuse(visit: &Visit) -> Result<Markup, Failed> {
    let route = |root: fn(&[&str]) -> Target| root(&["what-if"]);
    let found: WhatIf = visit.get(route(Target::api).with("limit", "1")).await?;
    let names = found.projects.iter().map(|row| row.project.as_str());
    let projects = Projects::among(visit, names).await?;
    let row = |row: &WouldRefuseSum| {
        vec![
            projects.show(visit, Some(&row.project)),
            html! { (row.jobs) },
            maybe(Some(&row.needed)),
            amount(&row.used),
        ]
    };
    Ok(Table {
        caption: "What strict would have refused in 30 days",
        columns: vec![
            words("Project"),
            figures("Jobs"),
            amounts("Needed", &found.unit),
            amounts("Cost of what ran", &found.unit),
        ],
        rows: found.projects.iter().map(row).collect(),
        empty: html! { p { "Nothing: every job that ran could have been paid." } },
        data: Some(route(Target::data).with("part", "projects")),
        next: None,
    }
    .show())
}

async fn downtimes(visit: &Visit) -> Result<Markup, Failed> {
    let route = |root: fn(&[&str]) -> Target| root(&["downtimes"]);
    let route = |root| turn::asked(visit, route(root), "downtimes", SHOWN);
    let list: List<Value> = visit.get(route(Target::api)).await?;
    let text = |row: &Value, member: &str| match row.get(member) {
        None | Some(Value::Null) => "–".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let zone = visit.zone();
    let row = |row: &Value| {
        vec![
            html! { (text(row, "id")) },
            html! { (text(row, "hardware")) },
            html! { (text(row, "nodes")) },
            html! { (zone.time(&text(row, "from"))) },
            html! { (zone.time(&text(row, "until"))) },
            name(&text(row, "reason")),
        ]
    };
    Ok(Table {
        caption: "Downtimes",
        columns: vec![
            words("Number"),
            words("Hardware"),
            words("Nodes"),
            words("From"),
            words("Until (exclusive)"),
            words("Reason"),
        ],
        rows: list.items.iter().map(row).collect(),
        empty: html! { p { "No downtime is recorded: " code { "bank downtime add" } } },
        data: Some(route(Target::data)),
        next: turn::next(
            visit.link(&["operations"]),
            "downtimes",
            list.next.as_deref(),
        ),
    }
    .show())
}
