//! Refunds and corrections of a project, the newest first.

use bank_api::v1::{JournalEntry, JournalPage};
use maud::{Markup, html};

use super::Place;
use crate::failed::Failed;
use crate::parts::amount::change;
use crate::parts::deed;
use crate::parts::table::{Table, job, link, name, or_none, prose};
use crate::target::Target;

/// The kinds of entries that correct others.
const KINDS: &str = "refund,adjust,reverse";
/// Rows; the journal has all.
const SHOWN: &str = "20";

pub(super) async fn show(place: &Place<'_>) -> Result<Markup, Failed> {
    let visit = place.visit;
    let route = |root: fn(&[&str]) -> Target| {
        let target = root(&["journal"]).with("project", place.project);
        let target = target.with("kind", KINDS).maybe("until", place.at);
        target.with("newest", "true")
    };
    let asked = route(Target::api).with("limit", SHOWN);
    let page: JournalPage = visit.get(asked).await?;
    let next = page.next.as_deref().map(|next| {
        let journal = visit.link(&["journal"]).with("project", place.project);
        let journal = journal.with("kind", KINDS).with("before", next);
        journal.maybe("to", place.at)
    });
    let transaction = |row: &JournalEntry| {
        let number = row.transaction.to_string();
        link(&visit.link(&["transactions", &number]), &number)
    };
    let of_job = |row: &JournalEntry| match row.job.as_deref() {
        Some(own) => job(visit, own, row.machine.as_deref()),
        None => or_none(None),
    };
    let reason = |row: &JournalEntry| {
        let reason = row.reason.as_deref();
        prose(
            reason
                .map(|reason| deed::reason(visit.zone(), reason))
                .as_deref(),
        )
    };
    let unit = format!("change, {}", visit.unit());
    Ok(
        Table::of("Refunds and corrections", page.items.iter().rev())
            .words("Transaction", transaction)
            .words(
                "Time",
                |row| html! { (visit.zone().time(&row.at_effective)) },
            )
            .words("Kind", |row| deed::cell(&row.kind))
            .words("By", |row| name(&row.actor))
            .words("Job", of_job)
            .words("User", |row| or_none(row.user.as_deref()))
            .amounts("Amount", &unit, |row| change(&row.amount))
            .words("Reason", reason)
            .empty(html! { p { "Nothing was refunded or corrected." } })
            .data(route(Target::data))
            .next(next)
            .show(),
    )
}
