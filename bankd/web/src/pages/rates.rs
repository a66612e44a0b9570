//! The rates in force, and what a period would have cost with another one.

use bank_api::v1::{List, NewRate, Rate, RateTest, RateTested, Replay, ReplayRow};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use crate::failed::Failed;
use crate::page::Page;
use crate::parts::amount::{amount, count};
use crate::parts::form::{Field, Kind, filled, refusal};
use crate::parts::message::said;
use crate::parts::period;
use crate::parts::project::Projects;
use crate::parts::table::{Table, amounts, figures, link, name, or_none, words};
use crate::target::Target;
use crate::visit::{Shown, Visit};

const PER: Kind = Kind::Choice(&[
    ("", "as usual for the kind"),
    ("second", "second"),
    ("minute", "minute"),
    ("hour", "hour"),
    ("day", "day"),
    ("none", "without time"),
]);

const FIELDS: [Field<'static>; 8] = [
    Field::needed("kind", "Kind", Kind::Words, "Such as VBR or VBM."),
    Field::needed(
        "name",
        "Name",
        Kind::Words,
        "What is priced, such as Processors.",
    ),
    Field::optional(
        "instance",
        "Value",
        Kind::Words,
        "For rates by name, such as high for a quality of service.",
    ),
    Field::needed("rate", "Rate", Kind::Figure, "Such as 1.5."),
    Field::optional("per", "Per", PER, ""),
    Field::optional("machine", "Machine", Kind::Words, "Empty: all machines."),
    Field::optional("from", "From", Kind::Time, "The period to price again."),
    Field::optional("to", "To (exclusive)", Kind::Time, ""),
];

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/rates", show)
            .right(Right::SeeSettings)
            .takes(["at", "after"])
            .nav("Rates"),
        Page::get("/rates/test", test)
            .right(Right::PriceThePast)
            .takes_fields(&FIELDS),
    ]
}

async fn show(visit: Visit) -> Shown {
    let at = visit.at()?;
    let route = |root: fn(&[&str]) -> Target| {
        root(&["rates"])
            .maybe("at", at.as_deref())
            .maybe("after", visit.parameter("after"))
    };
    let list: List<Rate> = visit.get(route(Target::api)).await?;
    let next = list.next.as_deref();
    let next = next.map(|next| visit.link(&["rates"]).with("after", next));
    let content = html! {
        (period::instant(&visit))
        (Table {
            caption: "In force",
            columns: vec![
                words("Name"),
                words("Value"),
                words("Kind"),
                figures("Rate"),
                words("Per"),
                words("Machine"),
                words("From"),
                words("Until (exclusive)"),
                words("Hours"),
            ],
            rows: list.items.iter().map(|rate| cells(&visit, rate)).collect(),
            empty: html! {
                p { "No rates yet: every job is free." }
                p .small { "An administrator sets the first one: " code { "bank rate set VBR Processors 1" } }
            },
            data: Some(route(Target::data)),
            next,
        }.show())
        @if visit.may(Right::PriceThePast) {
            h2 { "What would last month have cost?" }
            p { a .button href=(visit.link(&["rates", "test"])) { "Try a rate" } }
        }
    };
    Ok(visit.page("Rates", &[], &content))
}

fn cells(visit: &Visit, rate: &Rate) -> Vec<Markup> {
    let day = |time: &Option<String>| {
        let zone = visit.zone();
        time.as_deref()
            .map_or_else(|| "–".to_owned(), |time| zone.day(time))
    };
    let test = Target::page(&["rates", "test"])
        .with("kind", &rate.kind)
        .with("name", &rate.name)
        .with("instance", &rate.instance)
        .with("rate", &rate.rate)
        .with("per", &rate.per)
        .maybe("machine", rate.machine.as_deref());
    vec![
        html! {
            @if visit.may(Right::PriceThePast) { (link(&test, &rate.name)) } @else { (name(&rate.name)) }
        },
        name(if rate.instance.is_empty() {
            "–"
        } else {
            &rate.instance
        }),
        html! { (rate.kind) },
        html! { (rate.rate) },
        html! { (rate.per) },
        name(rate.machine.as_deref().unwrap_or("all")),
        html! { (day(&rate.from)) },
        html! { (day(&rate.until)) },
        html! { (rate.when.as_deref().unwrap_or("always")) },
    ]
}

async fn test(visit: Visit) -> Shown {
    let asked = match visit.parameter("rate") {
        Some(_) => replay(&visit).await.map(Some),
        None => Ok(None),
    };
    let trail = [("Rates", visit.link(&["rates"]))];
    let replay = asked
        .as_ref()
        .ok()
        .and_then(|asked| asked.as_ref()?.replay.as_ref());
    let rows = replay.map_or(&[][..], |replay| &replay.rows);
    let names = rows.iter().filter_map(|row| row.project.as_deref());
    let projects = Projects::among(&visit, names).await?;
    let failed = asked.as_ref().err();
    let (from, to) = visit.zone().last_month(visit.present());
    let value = |name: &str| match (visit.parameter(name), name) {
        (Some(value), _) => value,
        (None, "from") => &from,
        (None, "to") => &to,
        (None, _) => "",
    };
    let content = html! {
        p .lead { "Prices past jobs again, as if this rate had been in force. Nothing changes." }
        @if let Some(failed) = failed { (refusal(&visit, &FIELDS, failed)) }
        form .entry method="get" action="/rates/test" {
            @if let Some(zone) = visit.parameter("zone") { input type="hidden" name="zone" value=(zone); }
            (filled(&visit, &FIELDS, value, failed))
            button type="submit" { "What would it have cost?" }
        }
        @if let Ok(Some(answer)) = &asked { (result(&visit, &projects, answer)) }
    };
    let mut page = visit.page("What would last month have cost?", &trail, &content);
    if let Some(failed) = failed {
        *page.status_mut() = failed.status();
    }
    Ok(page)
}

/// Asks for the price of the period with the entered rate.
async fn replay(visit: &Visit) -> Result<RateTested, Failed> {
    let text = |name: &str| visit.parameter(name).map(str::to_owned);
    let (from, to) = visit.zone().last_month(visit.present());
    let time = |name: &str, usual: String| {
        let entered = text(name).unwrap_or(usual);
        visit.time_of(name, &entered).map(Some)
    };
    let body = RateTest {
        rates: vec![NewRate {
            kind: text("kind").unwrap_or_default(),
            name: text("name").unwrap_or_default(),
            instance: text("instance").unwrap_or_default(),
            rate: text("rate").unwrap_or_default(),
            per: text("per"),
            machine: text("machine"),
            ..NewRate::default()
        }],
        from: time("from", from)?,
        to: time("to", to)?,
        ..RateTest::default()
    };
    visit.ask(Target::api(&["rates", "test"]), &body).await
}

fn result(visit: &Visit, projects: &Projects, answer: &RateTested) -> Markup {
    let unit = &answer.unit;
    let Some(replay) = &answer.replay else {
        return html! {};
    };
    let zone = visit.zone();
    html! {
        @for warning in &answer.warnings { div .message { p { (said(warning)) } } }
        h2 { (zone.time(&replay.from)) " to " (zone.time(&replay.to)) }
        dl .facts {
            dt { "Charges" } dd { (count(replay.total.charges)) }
            dt { "Billed (" (unit) ")" } dd { (amount(&replay.total.billed)) }
            dt { "With this rate (" (unit) ")" } dd { strong { (amount(&replay.total.proposed)) } }
            dt { "Difference (" (unit) ")" } dd { strong { (amount(&replay.total.difference)) } }
            @if replay.left_out > 0 { dt { "Left out" } dd { (replay.left_out) " jobs: their price is too large" } }
        }
        (by_user(visit, projects, replay, unit))
    }
}

fn by_user(visit: &Visit, projects: &Projects, replay: &Replay, unit: &str) -> Markup {
    let row = |row: &ReplayRow| {
        vec![
            projects.show(visit, row.project.as_deref()),
            or_none(row.user.as_deref()),
            html! { (count(row.charges)) },
            amount(&row.billed),
            amount(&row.proposed),
            amount(&row.difference),
        ]
    };
    Table {
        caption: "By project and user",
        columns: vec![
            words("Project"),
            words("User"),
            figures("Charges"),
            amounts("Billed", unit),
            amounts("With this rate", unit),
            amounts("Difference", unit),
        ],
        rows: replay.rows.iter().map(row).collect(),
        empty: html! { p { "Nothing was charged in this period." } },
        data: None,
        next: None,
    }
    .show()
}
