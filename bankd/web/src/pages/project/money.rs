//! The allocations of a project on a time line, and what is held.

use bank_api::text::{format_rfc3339, parse_rfc3339};
use bank_api::v1::{Allocation, Lien, List};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use super::super::ask;
use super::Place;
use crate::failed::Failed;
use crate::parts::amount::{amount, maybe};
use crate::parts::table::{Column, Table, amounts, link, name, or_none, words};
use crate::target::Target;

/// The width of a time line, in units of its picture.
const WIDTH: i64 = 1000;

pub(super) async fn allocations(place: &Place<'_>) -> Result<Markup, Failed> {
    let visit = place.visit;
    let route = |root: fn(&[&str]) -> Target| {
        place.past(root(&["allocations"]).with("project", place.project))
    };
    let route = |root| place.turned(route(root), "allocations");
    let list: List<Allocation> = visit.get(route(Target::api)).await?;
    let unit = list.items.first().map_or("", |row| row.unit.as_str());
    let zone = visit.zone();
    let day = |time: &Option<String>, without: &str| {
        time.as_deref()
            .map_or_else(|| without.to_owned(), |time| zone.day(time))
    };
    let now = place.at.and_then(parse_rfc3339);
    let line = Line::of(&list.items, now.unwrap_or_else(|| visit.present()));
    let is_expired = |one: &Allocation| one.state == "expired";
    let has_expired = list.items.iter().any(is_expired);
    let row = |one: &Allocation| {
        let money = visit.link(&["journal"]).with("account", &one.account);
        let mut cells = vec![
            html! { (one.id) },
            link(&money, &one.account),
            html! { (one.state) },
            html! { (day(&one.start, "always")) },
            html! { (day(&one.until, "without end")) @if one.until.is_some() { (ask::longer(visit, one.id)) } },
            line.show(one),
            amount(&one.deposited),
        ];
        // What is left of an expired one cannot be spent.
        let (own, ended) = if is_expired(one) {
            (None, Some(&one.amount))
        } else {
            (Some(&one.amount), None)
        };
        cells.push(maybe(own.map(String::as_str)));
        cells.push(amount(&one.held));
        if has_expired {
            cells.push(maybe(ended.map(String::as_str)));
        }
        cells
    };
    let shown = |micros: i64| zone.day(&format_rfc3339(micros));
    // Without any date there is no time line, and each bar is as long as the others.
    let span = if line.has_dates {
        format!("{} to {}", shown(line.from), shown(line.until))
    } else {
        "Without dates".to_owned()
    };
    Ok(Table {
        caption: "Allocations",
        columns: columns(unit, &span, has_expired),
        rows: list.items.iter().map(row).collect(),
        empty: html! {
            p { "No money was deposited yet." }
            @if visit.may(Right::Deposit) {
                p .small { a href=(Target::page(&["deposit"]).with("name", place.project)) { "Make the first deposit" } "." }
            } @else if visit.may(Right::Ask) {
                p .small { a href=(Target::page(&["ask", "deposit"]).with("name", place.project)) { "Ask for a deposit" } "." }
            }
        },
        data: Some(route(Target::data)),
        next: place.next("allocations", list.next.as_deref()),
    }
    .show())
}

fn columns(unit: &str, span: &str, has_expired: bool) -> Vec<Column> {
    let mut columns = vec![
        words("Number"),
        words("Account"),
        words("State"),
        words("From"),
        words("Until (exclusive)"),
        words(span),
        amounts("Deposited", unit),
        amounts("Left", unit),
        amounts("Held", unit),
    ];
    columns.extend(has_expired.then(|| amounts("Expired unused", unit)));
    columns
}

/// The time in which the allocations of a table can be spent, and the instant of the page in it.
struct Line {
    from: i64,
    until: i64,
    now: i64,
    /// Whether an allocation has a start or an end.
    has_dates: bool,
}

impl Line {
    fn of(all: &[Allocation], now: i64) -> Self {
        let ends = all.iter().flat_map(|one| [&one.start, &one.until]);
        let ends = ends.filter_map(|end| parse_rfc3339(end.as_deref()?));
        let (from, until) = ends.fold((now, now), |(from, until), end| {
            (from.min(end), until.max(end))
        });
        Self {
            from,
            until: until.max(from.saturating_add(1)),
            now,
            has_dates: all
                .iter()
                .any(|one| one.start.is_some() || one.until.is_some()),
        }
    }

    /// An instant as a place from 0 to [`WIDTH`].
    fn place(&self, micros: i64) -> i64 {
        let whole = i128::from(self.until) - i128::from(self.from);
        let part = i128::from(micros) - i128::from(self.from);
        let place = (part.saturating_mul(WIDTH.into())).checked_div(whole);
        let place = place.and_then(|place| i64::try_from(place).ok());
        place.unwrap_or(0).clamp(0, WIDTH)
    }

    /// The window of an allocation as a bar, and the instant as a stroke. The dates are in the row, so that the
    /// picture is for eyes only.
    fn show(&self, one: &Allocation) -> Markup {
        let end = |end: &Option<String>| parse_rfc3339(end.as_deref()?);
        let start = end(&one.start).map_or(0, |start| self.place(start));
        let stop = end(&one.until).map_or(WIDTH, |until| self.place(until));
        let width = stop.saturating_sub(start).max(4);
        let now = self.place(self.now);
        html! {
            svg .span viewBox=(format!("0 0 {WIDTH} 16")) preserveAspectRatio="none" aria-hidden="true" {
                rect .(one.state) x=(start.min(WIDTH - 4)) y="3" width=(width) height="10" {}
                line x1=(now) y1="0" x2=(now) y2="16" {}
            }
        }
    }
}

pub(super) async fn liens(place: &Place<'_>) -> Result<Markup, Failed> {
    let visit = place.visit;
    let route =
        |root: fn(&[&str]) -> Target| place.past(root(&["liens"]).with("project", place.project));
    let route = |root| place.turned(route(root), "held");
    let list: List<Lien> = visit.get(route(Target::api)).await?;
    let unit = list.items.first().map_or("", |row| row.unit.as_str());
    let row = |lien: &Lien| {
        let job = visit
            .link(&["jobs", &lien.job])
            .with("machine", &lien.machine);
        vec![
            link(&job, &lien.job),
            name(&lien.machine),
            or_none(lien.user.as_deref()),
            html! { (visit.zone().time(&lien.placed)) },
            amount(&lien.amount),
        ]
    };
    let table = Table {
        caption: "Held now",
        columns: vec![
            words("Job"),
            words("Machine"),
            words("User"),
            words("From"),
            amounts("Held", unit),
        ],
        rows: list.items.iter().map(row).collect(),
        empty: html! { p { "Nothing is held: no job of this project runs." } },
        data: Some(route(Target::data)),
        next: place.next("held", list.next.as_deref()),
    };
    Ok(html! { div #held { (table.show()) } })
}
