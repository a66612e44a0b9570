//! The allocations of a project on a time line, and what is held.

use bank_api::text::{format_rfc3339, parse_rfc3339};
use bank_api::v1::{Allocation, Lien, List};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use super::super::ask;
use super::Place;
use crate::failed::Failed;
use crate::parts::amount::{amount, maybe};
use crate::parts::table::{Table, job, link, name, or_none};
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
    let day = |time: &Option<String>, without: &str| zone.day_or(time.as_deref(), without);
    let now = place.at.and_then(parse_rfc3339);
    let line = Line::of(&list.items, now.unwrap_or_else(|| visit.present()));
    let is_expired = |one: &Allocation| one.state == "expired";
    // A debt that ended with its allocation is no money that expired.
    let is_debt = |one: &Allocation| is_expired(one) && one.amount.starts_with('-');
    let is_unused = |one: &Allocation| is_expired(one) && !is_debt(one);
    let has_unused = list.items.iter().any(is_unused);
    let has_debt = list.items.iter().any(is_debt);
    let until = |one: &Allocation| {
        let until = day(&one.until, "without end");
        html! { (until) @if one.until.is_some() { (ask::longer(visit, one.id)) } }
    };
    // What is left of an expired one cannot be spent.
    let left =
        |one: &Allocation, is_shown: bool| maybe(Some(one.amount.as_str()).filter(|_| is_shown));
    let shown = |micros: i64| zone.day(&format_rfc3339(micros));
    // Without any date there is no time line, and each bar is as long as the others.
    let span = if line.has_dates {
        format!("{} to {}", shown(line.from), shown(line.until))
    } else {
        "Without dates".to_owned()
    };
    let account = |one: &Allocation| {
        let journal = visit.link(&["journal"]);
        link(&journal.with("account", &one.account), &one.account)
    };
    let mut table = Table::of("Allocations", &list.items)
        .words("Number", |one| html! { (one.id) })
        .words("Account", account)
        .words("State", |one| html! { (one.state) })
        .words("From", |one| html! { (day(&one.start, "always")) })
        .words("Until (exclusive)", until)
        .words(&span, |one| line.show(one))
        .amounts("Deposited", unit, |one| amount(&one.deposited))
        .amounts("Left", unit, |one| left(one, !is_expired(one)))
        .amounts("Held", unit, |one| amount(&one.held));
    if has_unused {
        table = table.amounts("Expired unused", unit, |one| left(one, is_unused(one)));
    }
    if has_debt {
        table = table.amounts("Debt at its end", unit, |one| left(one, is_debt(one)));
    }
    Ok(table
        .empty(html! {
            p { "No money was deposited yet." }
            @if visit.may(Right::Deposit) {
                p .small { a href=(Target::page(&["deposit"]).with("name", place.project)) { "Make the first deposit" } "." }
            } @else if visit.may(Right::Ask) {
                p .small { a href=(Target::page(&["ask", "deposit"]).with("name", place.project)) { "Ask for a deposit" } "." }
            }
        })
        .data(route(Target::data))
        .next(place.next("allocations", list.next.as_deref()))
        .show())
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
    let table = Table::of("Held now", &list.items)
        .words("Job", |lien| job(visit, &lien.job, Some(&lien.machine)))
        .words("Machine", |lien| name(&lien.machine))
        .words("User", |lien| or_none(lien.user.as_deref()))
        .words("From", |lien| html! { (visit.zone().time(&lien.placed)) })
        .amounts("Held", unit, |lien| amount(&lien.amount))
        .empty(html! { p { "Nothing is held: no job of this project runs." } })
        .data(route(Target::data))
        .next(place.next("held", list.next.as_deref()));
    Ok(html! { div #held { (table.show()) } })
}
