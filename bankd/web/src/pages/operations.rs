//! The first screen of an operator: whether every job is being charged.

use bank_api::text::format_clock;
use bank_api::v1::{Followed, Lien, List, MachineStatus, RefusedJob, Source, Status, WhatIf};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};
use serde_json::Value;

use crate::failed::Failed;
use crate::page::Page;
use crate::parts::amount::{amount, count, grouped, maybe};
use crate::parts::nodes;
use crate::parts::project::Projects;
use crate::parts::table::{Table, job, link, name, or_none};
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
    for reason in &status.obstacles {
        find(true, format!("Commands are refused: {reason}."));
    }
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
            "On #unbilled, without a project: {}, {} {}.",
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
            dt { "Up for (h:min:s)" } dd { (format_clock(status.uptime_s)) }
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
    let zone = visit.zone();
    Table::of("Sources", items)
        .words("Source", |source| name(&source.name))
        .words("Machine", |source| or_none(source.machine.as_deref()))
        .words("State", |source| html! { @if source.silent { strong .flag { "silent" } } @else { "reports" } })
        .words("Last contact", |source| html! { (zone.time_or(source.last_contact.as_deref(), "–")) })
        .words("Last use", |source| html! { (zone.time_or(source.last_event.as_deref(), "–")) })
        .figures("Lag (h:min:s)", |source| html! { (source.lag_s.map_or_else(|| "–".to_owned(), format_clock)) })
        .figures("Records", |source| html! { (count(source.records)) })
        .figures("Not charged", |source| html! { (count(source.skipped)) })
        .figures("Not readable", |source| html! { span .flag[source.quarantined > 0] { (source.quarantined) } })
        .empty(html! {
            p { "No source has reported yet." }
            p .small { "Follow an accounting file with " code { "[[follow]]" } " in bankd.toml, or start a collector." }
        })
        .data(Target::data(&["sources"]))
        .show()
}

fn table_of_files(items: &[Source]) -> Markup {
    let files = items
        .iter()
        .flat_map(|source| source.follow.iter().map(move |file| (source, file)));
    let files: Vec<(&Source, &Followed)> = files.collect();
    if files.is_empty() {
        return html! {};
    }
    Table::of("Followed files", files)
        .words("File", |(_, file)| name(&file.path))
        .words("Source", |(source, _)| name(&source.name))
        .words("State", |(_, file)| html! { @if file.state == "ok" { "ok" } @else { strong .flag { (file.state) } } })
        .figures("Bytes behind", |(_, file)| html! { (file.behind) })
        .words("Error", |(_, file)| or_none(file.error.as_deref()))
        .data(Target::data(&["sources"]).with("part", "follow"))
        .show()
}

fn table_of_machines(visit: &Visit, items: &[MachineStatus]) -> Markup {
    let jobs = |machine: &str| link(&visit.link(&["jobs"]).with("machine", machine), machine);
    let contact = |machine: &MachineStatus| {
        let last = machine.last_contact.as_deref();
        html! { (visit.zone().time_or(last, "never")) }
    };
    Table::of("Machines", items)
        .words("Machine", |machine| jobs(&machine.name))
        .words(
            "Mode",
            |machine| html! { (machine.mode) @if machine.test { " (test)" } },
        )
        .words("Last document", contact)
        .empty(html! { p { "No machine yet: " code { "bank machine add NAME" } } })
        .data(Target::data(&["status"]).with("part", "machines"))
        .show()
}

async fn refused(visit: &Visit) -> Result<Markup, Failed> {
    let route = |root: fn(&[&str]) -> Target| root(&["refused-reserves"]);
    let route = |root| turn::asked(visit, route(root), "refused", SHOWN);
    let list: List<RefusedJob> = visit.get(route(Target::api)).await?;
    Ok(Table::of("Refused holds", &list.items)
        .words("Job", |row| job(visit, &row.job, Some(&row.machine)))
        .words("Machine", |row| name(&row.machine))
        .words("Project", |row| name(&row.refused.project))
        .words("User", |row| name(&row.refused.user))
        .words(
            "Last time",
            |row| html! { (visit.zone().time(&row.refused.at)) },
        )
        .figures("Tries", |row| html! { (row.refused.tries) })
        .words(
            "Reason",
            |row| html! { span .prose { (row.refused.detail) } },
        )
        .empty(html! { p { "No job was refused." } })
        .data(route(Target::data))
        .next(turn::next(
            visit.link(&["operations"]),
            "refused",
            list.next.as_deref(),
        ))
        .show())
}

async fn liens(visit: &Visit) -> Result<Markup, Failed> {
    let route = |root: fn(&[&str]) -> Target| root(&["liens"]);
    let route = |root| turn::asked(visit, route(root), "liens", SHOWN);
    let list: List<Lien> = visit.get(route(Target::api)).await?;
    let unit = list.items.first().map_or("", |row| row.unit.as_str());
    let zone = visit.zone();
    let table = Table::of("Open holds, the newest first", &list.items)
        .words("Job", |lien| job(visit, &lien.job, Some(&lien.machine)))
        .words("Machine", |lien| name(&lien.machine))
        .words("Project", |lien| or_none(lien.project.as_deref()))
        .words("From", |lien| html! { (zone.time(&lien.placed)) })
        .words(
            "Ends",
            |lien| html! { (zone.time_or(lien.end.as_deref(), "–")) },
        )
        .amounts("Held", unit, |lien| amount(&lien.amount))
        .empty(html! { p { "Nothing is held: no job runs." } })
        .data(route(Target::data))
        .next(turn::next(
            visit.link(&["operations"]),
            "liens",
            list.next.as_deref(),
        ));
    Ok(html! { div #liens { (table.show()) } })
}

/// What the mode strict would have refused.
async fn would_refuse(visit: &Visit) -> Result<Markup, Failed> {
    let route = |root: fn(&[&str]) -> Target| root(&["what-if"]);
    let found: WhatIf = visit.get(route(Target::api).with("limit", "1")).await?;
    let names = found.projects.iter().map(|row| row.project.as_str());
    let projects = Projects::among(visit, names).await?;
    Ok(
        Table::of("What strict would have refused in 30 days", &found.projects)
            .words("Project", |row| projects.show(visit, Some(&row.project)))
            .figures("Jobs", |row| html! { (row.jobs) })
            .amounts("Needed", &found.unit, |row| maybe(Some(&row.needed)))
            .amounts("Cost of what ran", &found.unit, |row| amount(&row.used))
            .empty(html! { p { "Nothing: every job in the modes track and notional could have been paid." } })
            .data(route(Target::data).with("part", "projects"))
            .show(),
    )
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
    Ok(Table::of("Downtimes", &list.items)
        .words("Number", |row| html! { (text(row, "id")) })
        .words("Hardware", |row| html! { (text(row, "hardware")) })
        .words("Nodes", |row| html! { (text(row, "nodes")) })
        .words("From", |row| html! { (zone.time(&text(row, "from"))) })
        .words(
            "Until (exclusive)",
            |row| html! { (zone.time(&text(row, "until"))) },
        )
        .words("Reason", |row| name(&text(row, "reason")))
        .empty(html! { p { "No downtime is recorded: " code { "bank hardware downtime add" } } })
        .data(route(Target::data))
        .next(turn::next(
            visit.link(&["operations"]),
            "downtimes",
            list.next.as_deref(),
        ))
        .show())
}
