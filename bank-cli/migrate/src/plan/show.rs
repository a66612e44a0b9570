//! The plan as text: counts, accounts with their money, new names, what is not moved and why.

use std::fmt::Write as _;

use bank_api::text::format_rfc3339;
use bank_api::v1::MigrationKind;
use bank_picture::printable::printable;

use super::Plan;

/// Most things of one reason.
const SHOWN: usize = 20;

const KINDS: [(MigrationKind, &str); 8] = [
    (MigrationKind::Machine, "machines"),
    (MigrationKind::Project, "projects"),
    (MigrationKind::User, "users"),
    (MigrationKind::Member, "members"),
    (MigrationKind::Account, "accounts"),
    (MigrationKind::Rate, "rates"),
    (MigrationKind::Allocation, "allocations"),
    (MigrationKind::Lien, "open reservations"),
];

pub(super) fn text(plan: &Plan) -> String {
    let mut text = String::new();
    let at = format_rfc3339(plan.settings.at);
    let _ = writeln!(
        text,
        "{} closes and this bank opens at {at}.\n",
        plan.settings.source
    );
    counts(plan, &mut text);
    accounts(plan, &mut text);
    if !plan.renamed().is_empty() {
        text.push_str("\nNew names:\n");
        let rows = plan
            .renamed()
            .iter()
            .map(|(kind, old, new)| format!("{kind} {old:?} becomes {new}"));
        several(rows, &mut text);
    }
    if !plan.skipped().is_empty() {
        text.push_str("\nNot moved:\n");
    }
    for (reason, things) in plan.skipped() {
        let _ = writeln!(text, "  {} ({}):", printable(reason), things.len());
        several(things.iter().map(|thing| format!("  {thing}")), &mut text);
    }
    let notes = plan.notes();
    if !notes.is_empty() {
        text.push_str("\nNotes:\n");
        several(notes.into_iter(), &mut text);
    }
    if plan.compared > 0 {
        let _ = writeln!(
            text,
            "\n{} figures of the list agree with the old bank.",
            plan.compared
        );
    }
    text
}

fn several(rows: impl Iterator<Item = String>, text: &mut String) {
    let rows: Vec<String> = rows.collect();
    for row in rows.iter().take(SHOWN) {
        let _ = writeln!(text, "  {}", printable(row));
    }
    if rows.len() > SHOWN {
        let _ = writeln!(
            text,
            "    and {} more; --json lists all",
            rows.len() - SHOWN
        );
    }
}

fn counts(plan: &Plan, text: &mut String) {
    let items = &plan.request.items;
    for (kind, word) in KINDS {
        let count = items.iter().filter(|item| item.add == kind).count();
        let _ = writeln!(text, "{count:>8} {word}");
    }
    let (jobs, charged) = (plan.history.len(), plan.charged());
    let noun = if jobs == 1 {
        "finished job"
    } else {
        "finished jobs"
    };
    let _ = writeln!(text, "{jobs:>8} {noun}, charged {charged}");
}

/// Each account with what it has.
fn accounts(plan: &Plan, text: &mut String) {
    let titles = ["Account", "Amount", "Held", "Credit limit"].map(str::to_owned);
    let mut rows = vec![titles];
    for own in plan.expected() {
        let name = printable(&own.account);
        rows.push([
            name,
            own.amount.clone(),
            own.held.clone(),
            own.credit_limit.clone(),
        ]);
    }
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let [name, amount, held, limit] = [width(0), width(1), width(2), width(3)];
    text.push('\n');
    for [a, b, c, d] in &rows {
        let line = format!("{a:<name$}  {b:>amount$}  {c:>held$}  {d:>limit$}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
}
