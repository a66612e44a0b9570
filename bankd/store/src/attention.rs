//! Alerts, reading and writing: events beside their transactions, open alerts, and the outbox of
//! notices. A notice is written in the transaction of its event.

use super::sqlite::SqliteStore;
use super::{Error, codec, seal};
use bank_core::amount::Amount;
use bank_core::attention::{AttentionKind, Concern, Event, Open, Topic, Turn};
use bank_core::directory::Directory;
use bank_core::ids::{AccountId, AllocationId, LienId, ProjectId, TxId};
use bank_core::need::Need;
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};

/// Notices removed in one go.
const REMOVE_MAX: i64 = 1000;

/// Columns of an event, in the order that [`event`] reads; its sentence is the transaction's reason.
macro_rules! event_columns {
    () => {
        "e.tx, e.turn, e.kind, e.subject, e.threshold, e.of, e.level, e.account, e.allocation,
        e.lien, e.project, e.user, e.machine, e.amount, e.urgent, e.told"
    };
}
pub(crate) use event_columns;

/// A notification target of the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetRow {
    /// The name in the settings.
    pub name: String,
    /// Whether all events are sent immediately; else only urgent ones.
    pub all_at_once: bool,
    /// Whether cleared alerts are sent.
    pub clears: bool,
    /// The kinds; empty for all.
    pub kinds: Vec<AttentionKind>,
    /// Whether it receives events at all; else it receives only reports made for it.
    pub events: bool,
}

impl TargetRow {
    /// The kinds as they are kept.
    fn kinds_text(&self) -> String {
        if !self.events {
            // No kind can match this value.
            return ",,".to_owned();
        }
        if self.kinds.is_empty() {
            return String::new();
        }
        let words: Vec<&str> = self.kinds.iter().map(|kind| kind.word()).collect();
        format!(",{},", words.join(","))
    }
}

/// A notice on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Its number.
    pub id: i64,
    /// When it was made.
    pub made_at: Timestamp,
    /// Its events: one, or those of a digest.
    pub events: Vec<i64>,
    /// Recipient of a digest; empty for a notice of one event.
    pub recipient: String,
    /// The report to deliver; none for notices of events.
    pub report: Option<i64>,
    /// How often it was tried.
    pub attempts: i64,
}

/// The digests of one target for one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// The target.
    pub target: String,
    /// The last event that the digest before took account of: if it is another one meanwhile, nothing
    /// is made.
    pub after: i64,
    /// The last event that this one takes account of.
    pub upto: i64,
    /// When it was due.
    pub at: Timestamp,
    /// The recipients, each with its events.
    pub letters: Vec<(String, Vec<i64>)>,
}

/// A change of the outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoticeChange {
    /// It was delivered.
    Sent(i64),
    /// It could not be; with `true` it is not tried again.
    Failed(i64, String, bool),
    /// A dead one is tried again.
    Retry(i64),
    /// The digests of a day.
    Digest(Digest),
    /// Those that were sent or given up before an instant go.
    Forget(Timestamp),
}

/// Writes the alert events of a transaction, and a notice for each target that is notified
/// immediately.
pub(super) fn write(connection: &Connection, tx: TxId, event: &Event) -> Result<(), Error> {
    let topic = &event.topic;
    let concern = &event.concern;
    connection
        .prepare_cached(
            "INSERT INTO attention_event (tx, turn, kind, subject, threshold, of, level, account,
                 allocation, lien, project, user, machine, amount, urgent, told)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        )?
        .execute(rusqlite::params![
            tx.0,
            event.turn.word(),
            topic.kind.word(),
            topic.subject,
            topic.threshold,
            event.of.map(|tx| tx.0),
            event.level,
            concern.account.map(|a| a.0),
            concern.allocation.map(|a| a.0),
            concern.lien.map(|l| l.0),
            concern.project,
            concern.user,
            concern.machine,
            event.amount.map(|amount| amount.0),
            event.urgent,
            event.is_notified,
        ])?;
    let of = event.of.map(|tx| tx.0);
    match event.turn {
        Turn::Raised => connection.execute(
            "INSERT INTO attention (kind, subject, threshold, tx) VALUES (?1, ?2, ?3, ?4)",
            (topic.kind.word(), &topic.subject, topic.threshold, tx.0),
        )?,
        Turn::Cleared => connection.execute("DELETE FROM attention WHERE tx = ?1", [of])?,
        Turn::Acked => {
            let sql = "UPDATE attention SET acked = ?2 WHERE tx = ?1";
            connection.execute(sql, (of, tx.0))?
        }
    };
    if event.is_notified {
        post(connection, tx, event)?;
    }
    Ok(())
}

/// Puts an event into the outbox: for targets that receive all events immediately, and for the
/// others if it is urgent.
fn post(connection: &Connection, tx: TxId, event: &Event) -> Result<(), Error> {
    let to = "active = 1 AND (at_once = 'all' OR ?2) AND (clears = 1 OR ?3)
              AND (kinds = '' OR instr(kinds, ',' || ?4 || ',') > 0)";
    let raises = event.turn == Turn::Raised;
    let word = event.topic.kind.word();
    let sql = format!(
        "INSERT INTO notice (target, made_at, event, recipient, events, state, attempts, error)
         SELECT name, (SELECT at_recorded FROM tx WHERE id = ?1), ?1, '', '', 'waiting', 0, ''
         FROM target WHERE {to} ORDER BY name"
    );
    let made = connection.execute(&sql, (tx.0, event.urgent, raises, word))?;
    if made > 0 {
        let sql = format!("UPDATE target SET made = made + 1 WHERE {to} AND ?1 > 0 RETURNING name");
        let mut statement = connection.prepare_cached(&sql)?;
        let notice = (tx.0, event.urgent, raises, word);
        let names = statement.query_map(notice, |r| r.get::<_, String>(0))?;
        seal_targets(connection, &names.collect::<Result<Vec<_>, _>>()?)?;
        let newest = connection.last_insert_rowid();
        let made = i64::try_from(made).unwrap_or(0);
        for id in newest.saturating_sub(made).saturating_add(1)..=newest {
            seal::renew(connection, "notice", &[&id])?;
        }
    }
    Ok(())
}

pub(super) fn seal_targets(connection: &Connection, names: &[String]) -> Result<(), Error> {
    for name in names {
        seal::renew(connection, "target", &[name])?;
    }
    Ok(())
}

/// Switches the attention of a project off, or on again.
pub(super) fn write_quiet(
    connection: &Connection,
    project: ProjectId,
    quiet: bool,
) -> Result<usize, Error> {
    let sql = if quiet {
        "INSERT INTO attention_off (project) VALUES (?1) ON CONFLICT (project) DO NOTHING"
    } else {
        "DELETE FROM attention_off WHERE project = ?1"
    };
    Ok(connection.execute(sql, [project.0])?)
}

/// Puts the projects that are switched off into the reference data.
pub(super) fn put_quiet(connection: &Connection, directory: &mut Directory) -> Result<(), Error> {
    let mut statement = connection.prepare("SELECT project FROM attention_off")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        directory.put_quiet(ProjectId(row.get(0)?), true);
    }
    Ok(())
}

/// The events of the transactions from a number on, in their order. Their sentences are left out: they
/// are the reasons of the transactions.
pub(super) fn events_from(
    connection: &Connection,
    tx: i64,
    mut visit: impl FnMut(TxId, Event),
) -> Result<(), Error> {
    let sql = concat!(
        "SELECT ",
        event_columns!(),
        ", '' FROM attention_event e WHERE e.tx >= ?1 ORDER BY e.tx"
    );
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([tx])?;
    while let Some(row) = rows.next()? {
        visit(TxId(row.get(0)?), event(row)?);
    }
    Ok(())
}

/// An event of [`event_columns`], with its sentence after them.
pub(crate) fn event(row: &Row<'_>) -> Result<Event, Error> {
    let (turn, kind): (String, String) = (row.get(1)?, row.get(2)?);
    Ok(Event {
        topic: Topic {
            kind: codec::word("attention_event.kind", &kind, AttentionKind::parse)?,
            subject: row.get(3)?,
            threshold: row.get(4)?,
        },
        turn: codec::word("attention_event.turn", &turn, Turn::parse)?,
        of: row.get::<_, Option<i64>>(5)?.map(TxId),
        level: row.get(6)?,
        concern: Concern {
            account: row.get::<_, Option<i64>>(7)?.map(AccountId),
            allocation: row.get::<_, Option<i64>>(8)?.map(AllocationId),
            lien: row.get::<_, Option<i64>>(9)?.map(LienId),
            project: row.get(10)?,
            user: row.get(11)?,
            machine: row.get(12)?,
        },
        amount: row.get::<_, Option<i64>>(13)?.map(Amount),
        urgent: row.get(14)?,
        is_notified: row.get(15)?,
        message: row.get(16)?,
    })
}

/// Open alerts of the topics that a command needs.
pub(super) fn open_of(connection: &Connection, need: &Need) -> Result<Vec<Open>, Error> {
    let mut found = Vec::new();
    for topic in &need.topics {
        let sql = "SELECT tx, acked FROM attention
                   WHERE kind = ?1 AND subject = ?2 AND threshold = ?3";
        let key = (topic.kind.word(), &topic.subject, topic.threshold);
        let mut statement = connection.prepare_cached(sql)?;
        let row: Option<(i64, Option<i64>)> = statement
            .query_row(key, |r| Ok((r.get(0)?, r.get(1)?)))
            .optional()?;
        if let Some((tx, acked)) = row {
            found.extend(opened(connection, tx, acked)?);
        }
    }
    if let Some(tx) = need.raised_by {
        let sql = "SELECT acked FROM attention WHERE tx = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        let acked: Option<Option<i64>> = statement.query_row([tx.0], |r| r.get(0)).optional()?;
        if let Some(acked) = acked {
            found.extend(opened(connection, tx.0, acked)?);
        }
    }
    Ok(found)
}

fn opened(connection: &Connection, tx: i64, acked: Option<i64>) -> Result<Option<Open>, Error> {
    let sql = concat!(
        "SELECT ",
        event_columns!(),
        ", '' FROM attention_event e WHERE e.tx = ?1"
    );
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([tx])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let event = event(row)?;
    Ok(Some(Open {
        topic: event.topic,
        tx: TxId(tx),
        acked: acked.map(TxId),
        concern: event.concern,
        urgent: event.urgent,
        is_notified: event.is_notified,
    }))
}

impl SqliteStore {
    /// Takes over the targets from the settings: new ones begin with the next event, removed ones
    /// receive nothing more. The digests of a target that received all events immediately begin
    /// with the next event too.
    pub fn meet_targets(&self, targets: &[TargetRow], now: Timestamp) -> Result<(), Error> {
        let tx = &self.connection;
        let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        let mut changed: Vec<String> = {
            let sql = "UPDATE target SET active = 0 WHERE active = 1
                           AND name NOT IN (SELECT value FROM json_each(?1)) RETURNING name";
            let mut statement = tx.prepare(sql)?;
            let names = serde_json::Value::from(names).to_string();
            let gone = statement.query_map([names], |r| r.get(0))?;
            gone.collect::<Result<_, _>>()?
        };
        for target in targets {
            let at_once = if target.all_at_once { "all" } else { "urgent" };
            let rows = tx.execute(
                "INSERT INTO target (name, active, at_once, clears, kinds, digested, digest_at)
                 VALUES (?1, 1, ?2, ?3, ?4, (SELECT coalesce(max(tx), 0) FROM attention_event), ?5)
                 ON CONFLICT (name) DO UPDATE SET active = 1, at_once = ?2, clears = ?3, kinds = ?4,
                     digested = CASE WHEN at_once = ?2 THEN digested ELSE excluded.digested END
                     WHERE active <> 1 OR at_once <> ?2 OR clears <> ?3 OR kinds <> ?4",
                (
                    &target.name,
                    at_once,
                    target.clears,
                    target.kinds_text(),
                    now.0,
                ),
            )?;
            if rows > 0 {
                changed.push(target.name.clone());
            }
        }
        // Unchanged rows keep their seals, so that earlier tampering is still detected.
        seal_targets(tx, &changed)
    }

    /// Changes the outbox; returns the number of affected notices.
    pub fn change_notice(&self, change: &NoticeChange, now: Timestamp) -> Result<u64, Error> {
        let connection = &self.connection;
        let (id, rows) = match change {
            NoticeChange::Sent(id) => (
                id,
                connection.execute(
                    "UPDATE notice SET state = 'sent', attempts = attempts + 1, tried_at = ?2,
                     error = '' WHERE id = ?1 AND state = 'waiting'",
                    (id, now.0),
                )?,
            ),
            NoticeChange::Failed(id, why, dead) => {
                let state = if *dead { "dead" } else { "waiting" };
                (
                    id,
                    connection.execute(
                        "UPDATE notice SET state = ?3, attempts = attempts + 1, tried_at = ?2,
                         error = ?4 WHERE id = ?1 AND state = 'waiting'",
                        (id, now.0, state, why),
                    )?,
                )
            }
            NoticeChange::Retry(id) => (
                id,
                connection.execute(
                    "UPDATE notice SET state = 'waiting', attempts = 0, made_at = ?2, error = ''
                 WHERE id = ?1 AND state = 'dead'",
                    (id, now.0),
                )?,
            ),
            NoticeChange::Digest(digest) => return self.digest(digest, now),
            NoticeChange::Forget(before) => return self.forget_done(*before),
        };
        if rows > 0 {
            seal::renew(connection, "notice", &[id])?;
        }
        Ok(u64::try_from(rows).unwrap_or(u64::MAX))
    }

    fn digest(&self, digest: &Digest, now: Timestamp) -> Result<u64, Error> {
        let count = i64::try_from(digest.letters.len()).unwrap_or(i64::MAX);
        let taken = self.connection.execute(
            "UPDATE target SET digested = ?3, digest_at = ?4, made = made + ?5
             WHERE name = ?1 AND digested = ?2 AND digest_at < ?4",
            (
                &digest.target,
                digest.after,
                digest.upto,
                digest.at.0,
                count,
            ),
        )?;
        if taken == 0 {
            return Ok(0);
        }
        for (recipient, events) in &digest.letters {
            self.connection.execute(
                "INSERT INTO notice (target, made_at, event, recipient, events, state, attempts,
                     error) VALUES (?1, ?2, NULL, ?3, ?4, 'waiting', 0, '')",
                (&digest.target, now.0, recipient, numbers_text(events)),
            )?;
            let id = self.connection.last_insert_rowid();
            seal::renew(&self.connection, "notice", &[&id])?;
        }
        seal_targets(&self.connection, std::slice::from_ref(&digest.target))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    fn forget_done(&self, before: Timestamp) -> Result<u64, Error> {
        let old = "SELECT id FROM notice WHERE state <> 'waiting' AND tried_at < ?1
                   ORDER BY tried_at LIMIT ?2";
        let sql = format!(
            "UPDATE target SET removed = removed + (SELECT count(*) FROM notice
                 WHERE notice.target = target.name AND notice.id IN ({old}))
             WHERE name IN (SELECT target FROM notice WHERE id IN ({old})) RETURNING name"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let names = statement.query_map((before.0, REMOVE_MAX), |r| r.get::<_, String>(0))?;
        seal_targets(&self.connection, &names.collect::<Result<Vec<_>, _>>()?)?;
        let sql = format!("DELETE FROM notice WHERE id IN ({old})");
        let gone = self.connection.execute(&sql, (before.0, REMOVE_MAX))?;
        self.forget_texts()?;
        Ok(u64::try_from(gone).unwrap_or(u64::MAX))
    }
}

/// The first notice of a target that waits.
pub fn waiting_notice(connection: &Connection, target: &str) -> Result<Option<Letter>, Error> {
    let sql = "SELECT id, made_at, event, recipient, events, attempts, report FROM notice
               WHERE target = ?1 AND state = 'waiting' ORDER BY id LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([target], |r| {
        let (event, events): (Option<i64>, String) = (r.get(2)?, r.get(4)?);
        Ok(Letter {
            id: r.get(0)?,
            made_at: Timestamp(r.get(1)?),
            events: event.map_or_else(|| numbers(&events), |one| vec![one]),
            recipient: r.get(3)?,
            attempts: r.get(5)?,
            report: r.get(6)?,
        })
    });
    Ok(found.optional()?)
}

/// Numbers between commas.
pub(crate) fn numbers(text: &str) -> Vec<i64> {
    let words = text.split(',');
    words.filter_map(|word| word.parse().ok()).collect()
}

fn numbers_text(numbers: &[i64]) -> String {
    let words: Vec<String> = numbers.iter().map(i64::to_string).collect();
    words.join(",")
}
