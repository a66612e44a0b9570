//! Finished uses that the bank only records.

use bank_api::v1::{List, RecordedUse, RecordedUseQuery};
use bank_core::directory::Directory;
use bankd_store::read::recorded::{self, RecordedRow};

use super::call::{Call, Handled, ok};
use super::job::{Work, period};
use super::json;
use super::pages::numbered;

/// `GET /api/v1/uses`: newest first.
pub(super) async fn list(call: Call) -> Handled {
    let query: RecordedUseQuery = call.query()?;
    let (limit, below) = numbered(&call, query.limit, query.after.as_deref())?;
    let bounds = [&query.from, &query.until, &query.period].map(Option::as_deref);
    let period = period(bounds).map_err(|r| call.refused(&r))?;
    let work = Work::new(&call.view, query.project, query.user, query.machine);
    let wanted = work.clone();
    let page = call.ask(move |connection| {
        let keep = |row: &RecordedRow| wanted.holds(&row.project, &row.user, &row.machine);
        let page = recorded::list(connection, below, limit.saturating_add(1), period, keep)?;
        Ok(page.within(limit, |row| row.id))
    });
    let page = page.await?;
    if page.rows.is_empty() && page.next.is_none() {
        work.check(&call).await?;
    }
    let directory = call.directory();
    ok(&List {
        items: page
            .rows
            .iter()
            .map(|row| shaped(directory, row))
            .collect::<Vec<_>>(),
        next: page.next.map(|id| id.to_string()),
    })
}

fn shaped(directory: &Directory, row: &RecordedRow) -> RecordedUse {
    let bank = &directory.bank;
    RecordedUse {
        source: row.source.clone(),
        id: row.object_id.clone(),
        kind: row.object_type.word().to_owned(),
        machine: row.machine.clone(),
        project: json::some(&row.project).or_else(|| json::some(&row.account)),
        user: json::some(&row.user).or_else(|| json::some(&row.login)),
        group: json::some(&row.group),
        queue: json::some(&row.queue),
        qos: json::some(&row.qos),
        state: json::some(&row.state),
        submit: row.submit.map(json::time),
        start: json::time(row.start),
        end: json::time(row.end),
        wall_s: row.wall.to_string(),
        processors: row.processors.map(|count| count.to_string()),
        nodes: row.nodes,
        gpus: row.gpus,
        shadow_charged: row.amount.map(|amount| json::amount(amount, bank)),
        unit: bank.unit.clone(),
    }
}
