//! Queries of users, projects, accounts and jobs (`gold-wire.md` 3.1, 3.7).
//!
//! `select` reads the requested attributes and conditions. This module provides the rows that are in the
//! scope of the peer's key. Rows are ordered by name or number, and their number is bounded.

mod account;
mod cell;
mod job;
mod project;
mod select;
mod user;

use std::sync::Arc;

use bankd_services::Services;
use bankd_store as store;
use rusqlite::Connection;

use super::reply::element;
use super::request::{Call, plain, unsupported};
use super::{Content, Fault};
use crate::{Value, Verified};
use select::Select;

/// Rows of one answer at most.
const ROWS_MAX: usize = 10_000;

/// Answers a query.
pub(super) async fn answer(
    services: &Arc<Services>,
    request: &Verified,
    call: &Call,
) -> Result<Content, Fault> {
    let rows = match call.object.as_str() {
        "User" => user::rows(services, request, call).await?,
        "Project" => project::rows(services, request, call)?,
        "Account" => account::rows(services, request, call).await?,
        "Job" => job::rows(services, request, call).await?,
        other => return Err(unsupported(&format!("Query of {}", plain(other)))),
    };
    Ok(Content {
        value: Value::Success,
        code: "000",
        message: None,
        count: Some(rows.len()),
        // Data is present even without rows: otherwise Maui repeats the query for every job.
        data: Some(rows.concat()),
    })
}

/// Asks the ledger; boundaries that have passed are journalled first.
async fn ask<T, F>(services: &Arc<Services>, question: F) -> Result<T, Fault>
where
    T: Send + 'static,
    F: FnOnce(&Connection) -> Result<T, store::Error> + Send + 'static,
{
    services.writer.settle().await?;
    Ok(services.readers.run(question).await?)
}

/// The first rows as XML; that there were more is logged.
fn written<T>(
    select: &Select,
    object: &'static str,
    mut rows: Vec<T>,
    cell: impl Fn(&T, &str) -> cell::Cell,
) -> Vec<String> {
    let more = rows.len().saturating_sub(ROWS_MAX);
    if more > 0 {
        tracing::warn!(
            object,
            left_out = more,
            "a query of the gateway finds too much"
        );
        rows.truncate(ROWS_MAX);
    }
    let row = |row: &T| {
        let cells = select
            .wanted()
            .iter()
            .map(|name| element(name, &cell(row, name).xml()));
        element(object, &cells.collect::<String>())
    };
    rows.iter().map(row).collect()
}
