//! Refunds and corrections of a project, the newest first.

use bank_api::v1::{JournalEntry, JournalPage};
use maud::{Markup, html};

use super::Place;
use crate::failed::Failed;
use crate::parts::amount::change;
use crate::parts::deed;
use crate::parts::table::{Table, amounts, link, name, or_none, prose, words};
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
    let row = |row: &JournalEntry| {
        let number = row.transaction.to_string();
        let job = row.job.as_deref().map(|job| {
            let target = visit.link(&["jobs", job]);
            link(&target.maybe("machine", row.machine.as_deref()), job)
        });
        let reason = row.reason.as_deref();
        let reason = reason.map(|reason| deed::reason(visit.zone(), reason));
        vec![
            link(&visit.link(&["transactions", &number]), &number),
            html! { (visit.zone().time(&row.at_effective)) },
            deed::cell(&row.kind),
            name(&row.actor),
            job.unwrap_or_else(|| or_none(None)),
            or_none(row.user.as_deref()),
            change(&row.amount),
            prose(reason.as_deref()),
        ]
    };
    Ok(Table {
        caption: "Refunds and corrections",
        columns: vec![
            words("Transaction"),
            words("Time"),
            words("Kind"),
            words("By"),
            words("Job"),
            words("User"),
            amounts("Amount", &format!("change, {}", visit.unit())),
            words("Reason"),
        ],
        rows: page.items.iter().rev().map(row).collect(),
        empty: html! { p { "Nothing was refunded or corrected." } },
        data: Some(route(Target::data)),
        next,
    }
    .show())
}
