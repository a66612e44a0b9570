//! `gusage`: what each user of a project was charged, as Gold lays it out (ledger.md 9), net of refunds.

use bank_api::v1::{UsageQuery, UsageTable};

use super::options::Given;
use super::sheet::{self, Cell, money, one, text};
use crate::{config, context::Context, fail::Failure};

/// Charges by user, the largest first.
pub(super) fn usage(context: &Context, given: &Given) -> Result<String, Failure> {
    let project = given
        .text("project")
        .or(given.all("words").first().copied())
        .map(str::to_owned);
    let from = context.time(given.owned("startTime").as_ref())?;
    let until = context.time(given.owned("endTime").as_ref())?;
    let bounded = |time: Option<String>| time.filter(|time| !time.ends_with("infinity"));
    let query = UsageQuery {
        from: bounded(from),
        until: bounded(until),
        by: Some("user".to_owned()),
        tz: config::zone_name(),
        project,
        user: given.owned("user"),
        machine: given.owned("machine"),
        sort: Some("charge".to_owned()),
        ..UsageQuery::default()
    };
    let table: UsageTable = context.get(&["report", "usage"], &query)?;
    let line = |name: &Option<String>, amount: &str| -> Vec<Cell> {
        let name = name.as_deref().unwrap_or("(others)");
        vec![one(name), one(amount)]
    };
    let rows: Vec<Vec<Cell>> = table
        .rows
        .iter()
        .map(|row| {
            let name = row.keys.get("user").cloned().flatten();
            line(&name, &row.figures.charged)
        })
        .collect();
    sheet::print(given, &[text("User"), money("Amount")], &rows)
}
