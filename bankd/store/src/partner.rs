//! Messages between this bank and its partners: of the journal's transactions to them, and from them
//! (decision 0174).

use super::sqlite::SqliteStore;
use super::{Error, codec, numbers, seal};
use bank_api::text::{format_amount, format_rfc3339};
use bank_api::v1::PartnerCharge;
use bank_core::amount::Amount;
use bank_core::effects::Effects;
use bank_core::ids::UNBILLED;
use bank_core::partner::{Delivered, Sent};
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

/// A message, as its row has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartnerRow {
    /// The other bank.
    pub partner: String,
    /// Whether this bank sends it.
    pub sent: bool,
    /// Its number.
    pub number: i64,
    /// The transaction here.
    pub tx: i64,
    /// The transaction there; none while it is in flight.
    pub counterpart: Option<i64>,
    /// The use here.
    pub instance: i64,
    /// When the sender recorded it.
    pub recorded_at: i64,
    /// The project at the receiving bank.
    pub project: String,
    /// Minor units; below zero for a return.
    pub amount: i64,
    /// The message, or for a received one its SHA-256.
    pub message: String,
    /// The id of the job here.
    pub object_id: String,
    /// The machine of the job here.
    pub machine: String,
}

/// A question that a partner was asked, and no reserve names yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Its id.
    pub id: String,
    /// The partner.
    pub partner: String,
    /// When it was asked, µs since 1970.
    pub at: i64,
    /// The release, as it is sent.
    pub message: String,
}

/// A change of the messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartnerChange {
    /// A partner has carried a message out, in this transaction of its journal.
    Confirmed(String, i64, i64),
    /// A partner has no message after this number, although it confirmed some: it was restored.
    Rewound(String, i64),
    /// A partner is asked to hold money.
    Asked(Question),
    /// A question is settled: refused, or its lien released.
    Settled(String),
}

const COLUMNS: &str = "e.partner, e.sent, e.number, e.tx, e.counterpart, e.instance, e.recorded_at,
    e.project, e.amount, e.message, i.object_id, i.machine
    FROM partner_entry e JOIN instance i ON i.id = e.instance";

fn row(r: &Row<'_>) -> rusqlite::Result<PartnerRow> {
    Ok(PartnerRow {
        partner: r.get(0)?,
        sent: r.get(1)?,
        number: r.get(2)?,
        tx: r.get(3)?,
        counterpart: r.get(4)?,
        instance: r.get(5)?,
        recorded_at: r.get(6)?,
        project: r.get(7)?,
        amount: r.get(8)?,
        message: r.get(9)?,
        object_id: r.get(10)?,
        machine: r.get(11)?,
    })
}

/// Writes the messages of a command, behind its transactions.
pub(super) fn write(store: &SqliteStore, effects: &Effects) -> Result<(), Error> {
    let rows = &effects.partners;
    for sent in &rows.sent {
        write_sent(store, sent)?;
    }
    if let Some((tx, instance, message)) = &rows.received {
        write_received(&store.connection, (tx.0, instance.0), message)?;
    }
    if let Some(question) = &rows.held {
        settle(&store.connection, question)?;
    }
    Ok(())
}

/// The number of the last message of a partner in one direction; 0 before the first.
pub fn last(connection: &Connection, partner: &str, sent: bool) -> Result<i64, Error> {
    let sql = "SELECT coalesce(max(number), 0) FROM partner_entry WHERE partner = ?1 AND sent = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row((partner, sent), |r| r.get(0))?)
}

/// Whether there is a message to or from a partner, or an open use of one of its projects or machines.
pub(super) fn is_used(connection: &Connection, partner: &str) -> Result<bool, Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM partner_entry WHERE partner = ?1)
               OR EXISTS (SELECT 1 FROM instance
                          WHERE due_at IS NOT NULL AND closed_at IS NULL
                            AND (substr(project, -length(?2)) = ?2 OR substr(machine, -length(?2)) = ?2))";
    let end = format!("@{partner}");
    Ok(connection.query_row(sql, (partner, end), |r| r.get(0))?)
}

/// The sum of the messages that charged a use; none if no partner did. It looks at all messages, for rare commands.
pub(super) fn delivered(connection: &Connection, instance: i64) -> Result<Option<i64>, Error> {
    let sql = "SELECT sum(amount) FROM partner_entry WHERE instance = ?1 AND sent = 0";
    Ok(connection.query_row(sql, [instance], |r| r.get(0))?)
}

/// Whether a partner delivered a transaction.
pub(super) fn is_delivered(connection: &Connection, tx: i64) -> Result<bool, Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM partner_entry WHERE tx = ?1 AND sent = 0)";
    Ok(connection.query_row(sql, [tx], |r| r.get(0))?)
}

fn write_sent(store: &SqliteStore, sent: &Sent) -> Result<(), Error> {
    let connection = &store.connection;
    let number = last(connection, &sent.partner, true)?.saturating_add(1);
    let bank = &store.directory.bank;
    let places = bank.precision.places();
    let recorded = store.stamp.now.0;
    let message = PartnerCharge {
        number,
        transaction: sent.tx.0,
        recorded_at: format_rfc3339(recorded),
        at: format_rfc3339(sent.at.0),
        project: sent.project.clone(),
        user: sent.user.clone(),
        machine: sent.key.machine.clone(),
        kind: sent.key.object_type.word().to_owned(),
        job: sent.key.object_id.clone(),
        amount: format_amount(sent.amount.0, places),
        unit: bank.unit.clone(),
        precision: places,
        seconds: if sent.amount < Amount::ZERO {
            sent.seconds.0
        } else {
            sent.seconds.0.max(0)
        },
        processors: sent.processors.to_string(),
        ends: sent.ends.word().to_owned(),
    };
    let message = serde_json::to_string(&message).map_err(|error| Error::Value {
        what: "message to a partner",
        value: error.to_string(),
    })?;
    let sql =
        "INSERT INTO partner_entry (partner, sent, number, tx, counterpart, instance, account,
                   recorded_at, project, amount, message)
               VALUES (?1, 1, ?2, ?3, NULL, ?4, ?5, ?6, ?7, ?8, ?9)";
    connection.prepare_cached(sql)?.execute(params![
        sent.partner,
        number,
        sent.tx.0,
        sent.instance.0,
        sent.account.map(|account| account.0),
        recorded,
        sent.project,
        sent.amount.0,
        message,
    ])?;
    renew(connection, &sent.partner, true, number)
}

fn write_received(
    connection: &Connection,
    (tx, instance): (i64, i64),
    message: &Delivered,
) -> Result<(), Error> {
    let sql =
        "INSERT INTO partner_entry (partner, sent, number, tx, counterpart, instance, account,
                   recorded_at, project, amount, message)
               VALUES (?1, 0, ?2, ?3, ?4, ?5, NULL, ?6, ?7, ?8, ?9)";
    connection.prepare_cached(sql)?.execute(params![
        message.partner,
        message.number,
        tx,
        message.transaction,
        instance,
        message.recorded.0,
        message.project,
        message.amount.0,
        digest_text(&message.digest),
    ])?;
    renew(connection, &message.partner, false, message.number)
}

/// The digest of a message as its row has it.
pub fn digest_text(digest: &[u8; 32]) -> String {
    codec::hex(digest)
}

fn renew(connection: &Connection, partner: &str, sent: bool, number: i64) -> Result<(), Error> {
    seal::renew(connection, "partner_entry", &[&partner, &sent, &number])
}

fn settle(connection: &Connection, question: &str) -> Result<u64, Error> {
    let sql = "DELETE FROM partner_question WHERE id = ?1";
    let gone = connection.prepare_cached(sql)?.execute([question])?;
    Ok(u64::try_from(gone).unwrap_or(0))
}

impl SqliteStore {
    /// Changes the state of messages; returns the number of changed rows.
    pub fn change_partner(&self, change: &PartnerChange) -> Result<u64, Error> {
        let connection = &self.connection;
        match change {
            PartnerChange::Confirmed(partner, number, counterpart) => {
                let sql = "UPDATE partner_entry SET counterpart = ?3
                           WHERE partner = ?1 AND sent = 1 AND number = ?2";
                let changed = connection.execute(sql, (partner, number, counterpart))?;
                renew(connection, partner, true, *number)?;
                Ok(u64::try_from(changed).unwrap_or(0))
            }
            PartnerChange::Rewound(partner, last) => self.rewind(partner, *last),
            PartnerChange::Asked(question) => {
                let sql = "INSERT INTO partner_question (id, partner, at, message)
                           VALUES (?1, ?2, ?3, ?4)";
                let Question {
                    id,
                    partner,
                    at,
                    message,
                } = question;
                connection.execute(sql, (id, partner, at, message))?;
                seal::renew(connection, "partner_question", &[id])?;
                Ok(1)
            }
            PartnerChange::Settled(question) => settle(connection, question),
        }
    }

    fn rewind(&self, partner: &str, last: i64) -> Result<u64, Error> {
        let sql = "SELECT number FROM partner_entry WHERE partner = ?1 AND sent = 1 AND number > ?2
                   AND counterpart IS NOT NULL";
        let mut statement = self.connection.prepare(sql)?;
        let numbers = statement.query_map((partner, last), |r| r.get(0))?;
        let numbers: Vec<i64> = numbers.collect::<Result<_, _>>()?;
        let sql = "UPDATE partner_entry SET counterpart = NULL
                   WHERE partner = ?1 AND sent = 1 AND number = ?2";
        for number in &numbers {
            self.connection.execute(sql, (partner, number))?;
            renew(&self.connection, partner, true, *number)?;
        }
        Ok(u64::try_from(numbers.len()).unwrap_or(0))
    }
}

/// The first message to a partner that is in flight.
pub fn waiting(connection: &Connection, partner: &str) -> Result<Option<PartnerRow>, Error> {
    let sql = format!(
        "SELECT {COLUMNS} WHERE e.partner = ?1 AND e.sent = 1 AND e.counterpart IS NULL
         ORDER BY e.number LIMIT 1"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row([partner], row).optional()?)
}

/// The number of the last message that a partner confirmed; 0 before the first.
pub fn confirmed(connection: &Connection, partner: &str) -> Result<i64, Error> {
    let sql = "SELECT number FROM partner_entry
               WHERE partner = ?1 AND sent = 1 AND counterpart IS NOT NULL
               ORDER BY number DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let last = statement.query_row([partner], |r| r.get(0)).optional()?;
    Ok(last.unwrap_or(0))
}

/// Messages that wait for a partner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The partner.
    pub partner: String,
    /// Their number.
    pub count: i64,
    /// When the oldest was recorded.
    pub since: Timestamp,
}

/// The partners for which messages wait, by name.
pub fn all_waiting(connection: &Connection) -> Result<Vec<Waiting>, Error> {
    let sql = "SELECT partner, count(*), min(recorded_at) FROM partner_entry
               WHERE counterpart IS NULL GROUP BY partner ORDER BY partner";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |r| {
        Ok(Waiting {
            partner: r.get(0)?,
            count: r.get(1)?,
            since: Timestamp(r.get(2)?),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What transactions of a time took for projects of a partner without a message of that amount: there is none, unless
/// something failed. As rows with the number 0.
pub fn without_message(
    connection: &Connection,
    partner: &str,
    (from, until): (Timestamp, Timestamp),
) -> Result<Vec<PartnerRow>, Error> {
    let last = numbers::last_entry(connection)?;
    let first = |at| {
        let tx = numbers::first_recorded_from(connection, at)?;
        numbers::first_entry_of(connection, tx, last)
    };
    let sql = "SELECT ?4, 1, 0, s.tx, NULL, s.instance, t.at_recorded,
                      substr(s.project, 1, length(s.project) - length(?3)), s.amount, '',
                      i.object_id, i.machine
               FROM (SELECT tx, project, max(instance) AS instance, -sum(delta_amount) AS amount
                     FROM entry WHERE id >= ?1 AND id < ?2 AND substr(project, -length(?3)) = ?3
                       AND account IS NOT NULL
                       AND account IS NOT (SELECT id FROM account WHERE name = ?5)
                     GROUP BY tx, project) s
               JOIN tx t ON t.id = s.tx JOIN instance i ON i.id = s.instance
               WHERE s.amount <> 0 AND NOT EXISTS (
                   SELECT 1 FROM partner_entry p WHERE p.tx = s.tx AND p.partner = ?4 AND p.sent = 1
                     AND p.project || ?3 = s.project AND p.amount = s.amount)
               ORDER BY s.tx LIMIT 1000";
    let mut statement = connection.prepare_cached(sql)?;
    let end = format!("@{partner}");
    let values = params![first(from)?, first(until)?, end, partner, UNBILLED];
    let rows = statement.query_map(values, row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// One message.
pub fn entry(
    connection: &Connection,
    partner: &str,
    sent: bool,
    number: i64,
) -> Result<Option<PartnerRow>, Error> {
    let sql = format!("SELECT {COLUMNS} WHERE e.partner = ?1 AND e.sent = ?2 AND e.number = ?3");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement
        .query_row((partner, sent, number), row)
        .optional()?)
}

/// The messages of one direction in a time, behind a number, at most so many.
pub fn entries(
    connection: &Connection,
    (partner, sent): (&str, bool),
    (from, until): (Timestamp, Timestamp),
    after: i64,
    most: usize,
) -> Result<Vec<PartnerRow>, Error> {
    let sql = format!(
        "SELECT {COLUMNS} WHERE e.partner = ?1 AND e.sent = ?2 AND e.number > ?5
         AND e.recorded_at >= ?3 AND e.recorded_at < ?4 ORDER BY e.number LIMIT ?6"
    );
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params![partner, sent, from.0, until.0, after, most], row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The messages of a transaction.
pub fn of_transaction(connection: &Connection, tx: i64) -> Result<Vec<PartnerRow>, Error> {
    let sql = format!("SELECT {COLUMNS} WHERE e.tx = ?1 ORDER BY e.partner, e.sent, e.number");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([tx], row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The open questions of a partner that were asked before an instant, oldest first.
pub fn questions(
    connection: &Connection,
    partner: &str,
    before: i64,
) -> Result<Vec<Question>, Error> {
    let sql = "SELECT id, partner, at, message FROM partner_question
               WHERE partner = ?1 AND at < ?2 ORDER BY at, id LIMIT 100";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map((partner, before), |r| {
        Ok(Question {
            id: r.get(0)?,
            partner: r.get(1)?,
            at: r.get(2)?,
            message: r.get(3)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
