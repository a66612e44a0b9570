//! Liens that questions of partner banks placed.

use super::super::{Error, idempotency, numbers};
use super::journal;
use bank_api::v1::PartnerHeld;
use rusqlite::Connection;

/// The lien that the answer to a question of a partner placed, if it placed one.
pub fn lien_of(
    connection: &Connection,
    client: &str,
    question: &str,
) -> Result<Option<i64>, Error> {
    let body = idempotency::body(connection, client, question)?;
    let held: Option<PartnerHeld> = body.and_then(|body| serde_json::from_slice(&body).ok());
    let Some(tx) = held.and_then(|held| held.transaction) else {
        return Ok(None);
    };
    let last = numbers::last_entry(connection)?;
    let entries = journal::entries_of(connection, tx, last)?;
    let placed = entries.iter().find(|entry| entry.kind == "lien");
    Ok(placed.and_then(|entry| entry.lien))
}
