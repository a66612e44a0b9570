//! What accounts paid for an instance, charge by charge.

use super::super::Error;
use super::chain::chain;
use super::charged::Subject;
use super::taken::parts_of;
use bank_core::ids::AccountId;
use bank_core::time::Timestamp;
use rusqlite::Connection;

/// The part of a charge or a refund that an account paid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payment {
    /// Its transaction.
    pub(crate) tx: i64,
    /// When the charge counts.
    pub(crate) at: Timestamp,
    pub(crate) account: AccountId,
    /// Real and shadow, in minor units; below zero where it went back.
    pub(crate) amount: i128,
}

/// All payments for an instance, in the order of their transactions. The entries of each are found by its usage rows, because
/// the journal has no index by instance.
pub(crate) fn payments(connection: &Connection, instance: i64) -> Result<Vec<Payment>, Error> {
    let mut found = Vec::new();
    let Some(subject) = Subject::read(connection, instance)? else {
        return Ok(found);
    };
    for charge in chain(connection, subject.last_usage)?.values().flatten() {
        for part in parts_of(connection, charge)? {
            found.push(Payment {
                tx: charge.tx,
                at: charge.at,
                account: AccountId(part.account),
                amount: part.amount.real.saturating_add(part.amount.shadow),
            });
        }
    }
    Ok(found)
}
