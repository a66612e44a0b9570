//! The rates in force, and what a period would have cost with another one.

use bank_api::v1::{List, NewRate, Rate, RateTest, RateTested, Replay};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use crate::failed::Failed;
use crate::page::Page;
use crate::parts::amount::{amount, count};
use crate::parts::form::{Field, Kind, filled, refusal};
use crate::parts::message::said;
use crate::parts::period;
use crate::parts::project::Projects;
use crate::parts::sent;
use crate::parts::sentence::capital;
use crate::parts::table::{Table, link, name, or_none};
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

const KIND: Kind = Kind::Choice(&[
    ("VBR", "VBR: value × rate × time"),
    ("NBR", "NBR: rate × time, by name"),
    (
        "MVBR",
        "MVBR: value × rate × time, if another property has a value",
    ),
    ("VBU", "VBU: value × rate, for each use"),
    ("NBU", "NBU: rate for each use, by name"),
    ("VBM", "VBM: factor, by value"),
    ("NBM", "NBM: factor, by name"),
    ("VBF", "VBF: fee, by value"),
    ("NBF", "NBF: fee, by name"),
    ("MIN", "MIN: lowest price of a job"),
    ("MAX", "MAX: highest price of a job"),
]);

const FIELDS: [Field<'static>; 8] = [
    Field::needed("kind", "Kind", KIND, ""),
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
        (table(&visit, &list.items, route(Target::data), next))
        (kinds(&list.items))
        @if visit.may(Right::PriceThePast) {
            section .change {
                h2 { "What would last month have cost?" }
                p { a .button href=(visit.link(&["rates", "test"])) { "Try a rate" } }
            }
        }
    };
    Ok(visit.page("Rates", &[], &content))
}

/// The kinds of rates, in words.
const KINDS: &[(&str, &str)] = &[
    ("VBR", "value-based resource: value × rate × time"),
    (
        "NBR",
        "name-based resource: rate × time, for uses with this value",
    ),
    (
        "MVBR",
        "value-based resource of uses with another value: value × rate × time",
    ),
    ("VBU", "value-based usage: value × rate, once for a use"),
    (
        "NBU",
        "name-based usage: rate, once for a use with this value",
    ),
    (
        "VBM",
        "value-based multiplier: the price is multiplied by value × rate",
    ),
    (
        "NBM",
        "name-based multiplier: the price of uses with this value is multiplied by the rate",
    ),
    (
        "VBF",
        "value-based fee: value × rate, after the multipliers",
    ),
    ("NBF", "name-based fee: rate, after the multipliers"),
    ("MIN", "the least that a use costs"),
    ("MAX", "the most that a use costs"),
];

fn kind(code: &str) -> &str {
    let known = KINDS.iter().find(|(known, _)| *known == code);
    known.map_or(code, |(_, words)| words)
}

/// What the codes in the table mean.
fn kinds(rates: &[Rate]) -> Markup {
    let is_used = |code: &str| rates.iter().any(|rate| rate.kind == code);
    html! {
        @for (code, words) in KINDS.iter().filter(|(code, _)| is_used(code)) {
            p .small { strong { (code) ": " } (words) "." }
        }
    }
}

/// The unit of a rate: a factor has none.
fn unit(unit: &str, rate: &Rate) -> String {
    let of = match rate.kind.as_str() {
        "VBM" | "NBM" => return "factor".to_owned(),
        "VBR" | "MVBR" | "VBU" | "VBF" => format!(" for each of {}", rate.name),
        _ => String::new(),
    };
    match rate.per.as_str() {
        "" | "none" => format!("{unit}{of}"),
        per => format!("{unit}{of} per {per}"),
    }
}

fn table(visit: &Visit, items: &[Rate], data: Target, next: Option<Target>) -> Markup {
    let test = |rate: &Rate| {
        let target = Target::page(&["rates", "test"])
            .with("kind", &rate.kind)
            .with("name", &rate.name)
            .with("instance", &rate.instance)
            .with("rate", &rate.rate)
            .with("per", &rate.per);
        target.maybe("machine", rate.machine.as_deref())
    };
    let own = |rate: &Rate| {
        html! {
            @if visit.may(Right::PriceThePast) { (link(&test(rate), &rate.name)) } @else { (name(&rate.name)) }
        }
    };
    let value = |text: &str| name(if text.is_empty() { "–" } else { text });
    let zone = visit.zone();
    Table::of("In force", items)
        .words("Name", own)
        .words("Value", |rate| value(&rate.instance))
        .words("Kind", |rate| html! { abbr title=(kind(&rate.kind)) { (rate.kind) } })
        .figures("Rate", |rate| html! { (rate.rate) })
        .words("Unit of the rate", |rate| html! { (unit(&visit.unit(), rate)) })
        .words("Machine", |rate| name(rate.machine.as_deref().unwrap_or("all")))
        .words("From", |rate| html! { (zone.day_or(rate.from.as_deref(), "–")) })
        .words("Until (exclusive)", |rate| html! { (zone.day_or(rate.until.as_deref(), "–")) })
        .words("Hours", |rate| html! { (rate.when.as_deref().unwrap_or("always")) })
        .empty(html! {
            p { "No rates yet: every job is free." }
            p .small { "An administrator sets the first one: " code { "bank rate set VBR Processors 1" } }
        })
        .data(data)
        .next(next)
        .show()
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
    let page = visit.page("What would last month have cost?", &trail, &content);
    Ok(sent::refused(page, failed))
}

/// The rows of the table as JSON and CSV: the same entries, priced again.
fn data(visit: &Visit) -> Target {
    let names = FIELDS.iter().map(|field| field.name).chain(["zone"]);
    names.fold(Target::data(&["rates", "test"]), |target, name| {
        target.maybe(name, visit.parameter(name))
    })
}

/// Asks for the price of the period with the entered rate.
pub(crate) async fn replay(visit: &Visit) -> Result<RateTested, Failed> {
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
    let period = period::words(visit, Some(&replay.from), Some(&replay.to));
    html! {
        @for warning in &answer.warnings { div .message { p { (said(warning)) } } }
        h2 { (capital(&period)) }
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
    Table::of("By project and user", &replay.rows)
        .words("Project", |row| {
            projects.show(visit, row.project.as_deref())
        })
        .words("User", |row| or_none(row.user.as_deref()))
        .figures("Charges", |row| html! { (count(row.charges)) })
        .amounts("Billed", unit, |row| amount(&row.billed))
        .amounts("With this rate", unit, |row| amount(&row.proposed))
        .amounts("Difference", unit, |row| amount(&row.difference))
        .empty(html! { p { "Nothing was charged in this period." } })
        .data(data(visit))
        .show()
}
