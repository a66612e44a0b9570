//! What a job would cost, before it is submitted.

use bank_api::text::{format_clock, parse_duration};
use bank_api::v1::{NewQuote, Quote};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use crate::failed::Failed;
use crate::page::Page;
use crate::parts::amount::{amount, grouped};
use crate::parts::form::{Field, Kind, fields, refusal};
use crate::parts::message::{message, said};
use crate::parts::sent;
use crate::parts::table::{Table, link};
use crate::target::Target;
use crate::visit::{Shown, Visit};

const FIELDS: [Field<'static>; 8] = [
    Field::optional(
        "project",
        "Project",
        Kind::Words,
        "Empty: your default project.",
    ),
    Field::either(
        "machine",
        "Machine",
        Kind::Words,
        "needed if there are several",
        "",
    ),
    Field::optional("processors", "Processors", Kind::Whole, ""),
    Field::optional("nodes", "Nodes", Kind::Whole, ""),
    Field::optional("memory_mb", "Memory (MB)", Kind::Whole, ""),
    Field::optional("class", "Queue", Kind::Words, ""),
    Field::optional("qos", "Quality of service", Kind::Words, ""),
    Field::needed(
        "wall_s",
        "Wall time",
        Kind::Words,
        "Such as 12:00:00, 90m or 2d.",
    ),
];

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/quote", show)
            .right(Right::Quote)
            .takes_fields(&FIELDS)
            .nav("Quote"),
    ]
}

async fn show(visit: Visit) -> Shown {
    let is_asked = FIELDS
        .iter()
        .any(|field| visit.parameter(field.name).is_some());
    let answer = if is_asked {
        price(&visit).await.map(Some)
    } else {
        Ok(None)
    };
    let failed = answer.as_ref().err();
    let content = html! {
        p .lead { "What a job would cost, and whether it could start now. Nothing is held." }
        @if let Some(failed) = failed { (refusal(&visit, &FIELDS, failed)) }
        form .entry method="get" action="/quote" {
            (fields(&visit, &FIELDS, failed))
            button type="submit" { "What does it cost?" }
        }
        @if let Ok(Some((quote, why))) = &answer {
            @if let Some(why) = why { (message(why)) }
            (result(&visit, quote))
        }
    };
    Ok(sent::refused(visit.page("Quote", &[], &content), failed))
}

/// The price, and why the job could not start.
async fn price(visit: &Visit) -> Result<(Quote, Option<Failed>), Failed> {
    let text = |name: &str| visit.parameter(name).map(|text| text.trim().to_owned());
    let whole = |name: &str| {
        let read = |text: String| {
            text.parse::<i64>().map_err(|_| {
                Failed::new("bad_value", format!("{text:?} is not a whole number")).field(name)
            })
        };
        text(name).map(read).transpose()
    };
    let wall = text("wall_s").unwrap_or_default();
    let wall_s = parse_duration(&wall).ok_or_else(|| {
        let detail = format!("{wall:?} is not a duration such as 12:00:00, 90m or 2d");
        Failed::new("bad_value", detail).field("wall_s")
    })?;
    let mut body = NewQuote {
        project: text("project"),
        machine: text("machine"),
        processors: whole("processors")?,
        nodes: whole("nodes")?,
        memory_mb: whole("memory_mb")?,
        class: text("class"),
        qos: text("qos"),
        wall_s,
        ..NewQuote::default()
    };
    let target = || Target::api(&["quotes"]);
    match visit.ask(target(), &body).await {
        Ok(quote) => Ok((quote, None)),
        // Too little money is an answer too: the price is shown beside it.
        Err(failed) if failed.problem().code == "insufficient_funds" => {
            body.cost_only = true;
            Ok((visit.ask(target(), &body).await?, Some(failed)))
        }
        Err(failed) => Err(failed),
    }
}

fn result(visit: &Visit, quote: &Quote) -> Markup {
    let unit = &quote.unit;
    let table = Table::of("Calculation of the price", &quote.lines)
        .words("Factor", |line| html! { span .prose { (line.text) } })
        .figures("Amount", |line| html! { (grouped(&line.amount)) })
        .words("Unit", |line| html! { (line.unit) })
        .empty(html! { p { "No rate applies: the job is free." } });
    html! {
        @for warning in &quote.warnings { div .message { p { (said(warning)) } } }
        dl .facts {
            dt { "Cost (" (unit) ")" } dd { strong { (amount(&quote.cost)) } }
            @if let Some(project) = &quote.project {
                dt { "Project" } dd { (link(&visit.link(&["projects", project]), project)) }
            }
            @if let Some(account) = &quote.account { dt { "Account" } dd { (account) } }
            @if let Some(available) = &quote.available {
                dt { "Free now (" (unit) ")" } dd { (amount(available)) }
            }
            @if let Some(remaining) = &quote.remaining {
                dt { "Free afterwards (" (unit) ")" } dd { (amount(remaining)) }
            }
            @if let Some(wall) = visit.parameter("wall_s").and_then(parse_duration) {
                dt { "Wall time" } dd { (format_clock(wall)) }
            }
        }
        (table.show())
    }
}
