//! Observation without enforcement: live refusals in mode strict.

use bank_api::v1::{Monitor, MonitorQuery, Watched as Shown};
use bank_core::directory::Bank;
use bank_core::refusal::Refusal;
use bank_core::time::Timestamp;
use bankd_store::read::monitor::{self, Place, Watched};

use super::call::{Call, Handled, ok};
use super::job::Work;
use super::json;
use super::mark::Mark;
use super::pages;

/// `GET /api/v1/monitor`: in the order of the journal.
pub(super) async fn list(call: Call) -> Handled {
    let query: MonitorQuery = call.query()?;
    let read = || {
        let window = window(&query)?;
        let limit = pages::limit(query.limit, pages::USUAL_OF_LONG)?;
        let after = query.after.as_deref().map(place).transpose()?;
        Ok((
            window,
            limit,
            after.unwrap_or((Mark::default(), Place::BEGIN)),
        ))
    };
    let (window, limit, after) = read().map_err(|refusal| call.refused(&refusal))?;
    let (mark, after) = after;
    let work = Work::new(&call.view, query.project, query.user, query.machine);
    let (names, code) = (work.clone(), query.code);
    let keep = move |row: &Watched| {
        let (_, machine) = &row.object;
        work.holds(&row.project, &row.user, machine) && code.as_ref().is_none_or(|c| *c == row.code)
    };
    let page = call.ask(move |connection| {
        let page = monitor::page(connection, window, after, limit, keep)?;
        let next = cursor(&Mark::at(connection, page.next.tx)?, page.next.row);
        Ok((page, next, mark.is_in(connection)?))
    });
    let (page, next, is_known) = page.await?;
    if !is_known {
        return Err(call.refused(&Mark::refused("after")));
    }
    if page.rows.is_empty() && !page.more && after == Place::BEGIN {
        names.check(&call).await?;
    }
    let bank = &call.directory().bank;
    ok(&Monitor {
        items: page.rows.into_iter().map(|row| shaped(row, bank)).collect(),
        next,
        more: page.more,
        unit: bank.unit.clone(),
    })
}

fn window(query: &MonitorQuery) -> Result<(Option<Timestamp>, Option<Timestamp>), Refusal> {
    let (since, until) = (query.since.as_ref(), query.until.as_ref());
    let period = json::read_period((since, "since"), (until, "until"))?;
    Ok((period.start, period.end))
}

fn cursor(mark: &Mark, row: i64) -> String {
    match row {
        i64::MAX => mark.to_string(),
        row => format!("{mark}.{row}"),
    }
}

fn place(text: &str) -> Result<(Mark, Place), Refusal> {
    let (mark, row) = text.split_once('.').unwrap_or((text, ""));
    let number = |text: &str| text.parse::<i64>().ok().filter(|number| *number >= 0);
    let row = if row.is_empty() {
        Some(i64::MAX)
    } else {
        number(row)
    };
    let found = Mark::read(mark).zip(row).map(|(mark, row)| {
        let place = Place { tx: mark.tx, row };
        (mark, place)
    });
    found.ok_or(Refusal::bad_value("after", "next of a page before"))
}

/// The needed and the available amount of a refusal for lack of money.
pub(super) fn figures(row: &Watched, bank: &Bank) -> (Option<String>, Option<String>) {
    if let Some((needed, available)) = &row.figures {
        return (Some(needed.clone()), Some(available.clone()));
    }
    // A use of a chunk needs its cost.
    let short = row.code == "insufficient_funds";
    let cost = row.reported.filter(|_| short);
    let there = row.available.filter(|_| short);
    (
        cost.map(|(_, cost)| json::sum(cost, bank)),
        there.map(|there| json::sum(there.into(), bank)),
    )
}

fn shaped(row: Watched, bank: &Bank) -> Shown {
    let (needed, available) = figures(&row, bank);
    let (job, machine) = row.object;
    Shown {
        at: json::time(row.at),
        job,
        machine,
        project: row.project,
        user: row.user,
        code: row.code,
        needed,
        available,
        source: row.source,
        transaction: row.tx,
    }
}
