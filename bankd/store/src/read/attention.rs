//! Alert events, open alerts, and the outbox.

use super::super::Error;
use super::super::allocation::{self, ALLOCATION};
use super::super::attention::{event, event_columns, numbers};
use super::Page;
use bank_core::attention::{Event, Open, Turn};
use bank_core::ids::{AccountId, LienId, TxId};
use bank_core::model::Allocation;
use bank_core::time::{Seconds, Timestamp};
use rusqlite::{Connection, OptionalExtension};

/// Liens looked at in one go; more are looked at the next time.
const LIENS_MAX: i64 = 10_000;

/// An event with its transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// The transaction.
    pub tx: TxId,
    /// When it was journalled.
    pub at: Timestamp,
    /// The event.
    pub event: Event,
    /// Whether it is raised and not cleared.
    pub is_open: bool,
    /// The person who acknowledged it, if it is open.
    pub acked_by: Option<String>,
    /// The scheduler's id of the lien's job.
    pub job: Option<String>,
}

/// A notice of the outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeRow {
    /// Its number.
    pub id: i64,
    /// Target, by its name in the settings.
    pub target: String,
    /// When it was made.
    pub made_at: Timestamp,
    /// Its events.
    pub events: Vec<i64>,
    /// Recipient of a digest; empty for a notice of one event.
    pub recipient: String,
    /// The report that it brings: the name of its definition, and its period.
    pub report: Option<(String, String)>,
    /// `waiting`, `sent` or `dead`.
    pub state: String,
    /// How often it was tried.
    pub attempts: i64,
    /// When last.
    pub tried_at: Option<Timestamp>,
    /// Why that failed.
    pub error: String,
}

/// State of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetStanding {
    /// Its name.
    pub name: String,
    /// Whether it is in the settings.
    pub active: bool,
    /// Notices that wait.
    pub waiting: i64,
    /// Notices that were given up.
    pub dead: i64,
    /// Why the first that waits failed last; empty where it did not.
    pub error: String,
}

/// A target's digests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestState {
    /// The last event that they took account of.
    pub digested: i64,
    /// When the last one was due.
    pub at: Timestamp,
    /// Words of kinds; empty for all.
    pub kinds: String,
}

/// Open alerts.
pub fn open(connection: &Connection) -> Result<Vec<Open>, Error> {
    let sql = concat!(
        "SELECT ",
        event_columns!(),
        ", '', a.acked FROM attention a JOIN attention_event e ON e.tx = a.tx ORDER BY e.tx"
    );
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let event = event(row)?;
        found.push(Open {
            topic: event.topic,
            tx: TxId(row.get(0)?),
            acked: row.get::<_, Option<i64>>(17)?.map(TxId),
            concern: event.concern,
            urgent: event.urgent,
            is_notified: event.is_notified,
        });
    }
    Ok(found)
}

/// Events before a transaction, the newest first, that `keep` accepts; with `all` also those no
/// longer open, clearings and acknowledgements.
pub fn events(
    connection: &Connection,
    below: i64,
    limit: usize,
    all: bool,
    keep: impl Fn(&EventRow) -> bool,
) -> Result<Page<EventRow>, Error> {
    let which = if all {
        "attention_event e LEFT JOIN attention a ON a.tx = e.tx"
    } else {
        "attention a JOIN attention_event e ON e.tx = a.tx"
    };
    let sql = format!(
        "SELECT {}, t.reason, t.at_recorded, a.tx IS NOT NULL,
             (SELECT actor FROM tx WHERE id = a.acked),
             (SELECT object_id FROM lien l JOIN instance i ON i.id = l.instance WHERE l.id = e.lien)
         FROM {which} JOIN tx t ON t.id = e.tx WHERE e.tx < ?1 ORDER BY e.tx DESC",
        event_columns!()
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([below])?;
    super::scan(&mut rows, limit, |row| {
        let found = EventRow {
            tx: TxId(row.get(0)?),
            event: event(row)?,
            at: Timestamp(row.get(17)?),
            is_open: row.get(18)?,
            acked_by: row.get(19)?,
            job: row.get(20)?,
        };
        Ok((found.tx.0, keep(&found).then_some(found)))
    })
}

/// One event by its transaction.
pub fn event_of(connection: &Connection, tx: i64) -> Result<Option<EventRow>, Error> {
    let below = tx.saturating_add(1);
    let found = events(connection, below, 1, true, |_| true)?;
    Ok(found.rows.into_iter().find(|row| row.tx.0 == tx))
}

/// Events for the digests of a target: raised after the last digested one, not sent immediately,
/// and still open. Also returns the last existing event.
pub fn undigested(
    connection: &Connection,
    target: &str,
) -> Result<Option<(DigestState, Vec<EventRow>, i64)>, Error> {
    let sql =
        "SELECT digested, digest_at, kinds FROM target WHERE name = ?1 AND at_once = 'urgent'";
    let state = connection.prepare_cached(sql)?.query_row([target], |r| {
        Ok(DigestState {
            digested: r.get(0)?,
            at: Timestamp(r.get(1)?),
            kinds: r.get(2)?,
        })
    });
    let Some(state) = state.optional()? else {
        return Ok(None);
    };
    let newest = "SELECT coalesce(max(tx), 0) FROM attention_event";
    let newest: i64 = connection.query_row(newest, [], |r| r.get(0))?;
    let wanted = |row: &EventRow| {
        let event = &row.event;
        let kind = format!(",{},", event.topic.kind.word());
        row.tx.0 > state.digested
            && event.turn == Turn::Raised
            && event.is_notified
            && !event.urgent
            && (state.kinds.is_empty() || state.kinds.contains(&kind))
    };
    let page = events(connection, i64::MAX, super::SCAN_MAX, false, wanted)?;
    let mut rows = page.rows;
    rows.reverse();
    Ok(Some((state, rows, newest)))
}

/// Notices before a number, the newest first; with `all` those too that were sent.
pub fn notices(
    connection: &Connection,
    below: i64,
    limit: usize,
    all: bool,
) -> Result<Page<NoticeRow>, Error> {
    let sql =
        "SELECT n.id, n.target, n.made_at, n.event, n.recipient, n.events, n.state, n.attempts,
             n.tried_at, n.error, r.schedule,
             r.period || CASE r.person WHEN '' THEN '' ELSE ' ' || r.person END
         FROM notice n LEFT JOIN report_run r ON r.id = n.report
         WHERE n.id < ?1 AND (?2 OR n.state <> 'sent') ORDER BY n.id DESC LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let more = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let rows = statement.query_map((below, all, more), |r| {
        let (event, events): (Option<i64>, String) = (r.get(3)?, r.get(5)?);
        Ok(NoticeRow {
            id: r.get(0)?,
            target: r.get(1)?,
            made_at: Timestamp(r.get(2)?),
            events: event.map_or_else(|| numbers(&events), |one| vec![one]),
            recipient: r.get(4)?,
            state: r.get(6)?,
            attempts: r.get(7)?,
            tried_at: r.get::<_, Option<i64>>(8)?.map(Timestamp),
            error: r.get(9)?,
            report: match (r.get(10)?, r.get(11)?) {
                (Some(name), Some(period)) => Some((name, period)),
                _ => None,
            },
        })
    })?;
    let mut rows: Vec<NoticeRow> = rows.collect::<Result<_, _>>()?;
    let next = (rows.len() > limit).then(|| {
        rows.truncate(limit);
        rows.last().map_or(0, |row| row.id)
    });
    Ok(Page { rows, next })
}

/// Number of open alerts, and the state of each target, by name.
pub fn standing(connection: &Connection) -> Result<(i64, Vec<TargetStanding>), Error> {
    let open: i64 = connection.query_row("SELECT count(*) FROM attention", [], |r| r.get(0))?;
    let sql = "SELECT name, active,
                   (SELECT count(*) FROM notice n WHERE n.target = t.name AND n.state = 'waiting'),
                   (SELECT count(*) FROM notice n WHERE n.target = t.name AND n.state = 'dead'),
                   coalesce((SELECT error FROM notice n WHERE n.target = t.name
                       AND n.state = 'waiting' ORDER BY id LIMIT 1), '')
               FROM target t ORDER BY name";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |r| {
        Ok(TargetStanding {
            name: r.get(0)?,
            active: r.get(1)?,
            waiting: r.get(2)?,
            dead: r.get(3)?,
            error: r.get(4)?,
        })
    })?;
    Ok((open, rows.collect::<Result<_, _>>()?))
}

/// Every allocation that is not over, or ended after an instant, by account and number.
pub fn living(connection: &Connection, since: Timestamp) -> Result<Vec<Allocation>, Error> {
    let sql = format!(
        "SELECT {ALLOCATION} FROM allocation WHERE phase <> 'expired' OR end_at > ?1
         ORDER BY account, id"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([since.0])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(allocation::read(row)?);
    }
    Ok(found)
}

/// An open lien that holds beyond the time that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StuckLien {
    /// The lien.
    pub lien: LienId,
    /// The account on which it holds money; of several the first.
    pub account: AccountId,
    /// Its remaining hold, minor units.
    pub held: i128,
    /// When the time that was asked for was over.
    pub over_at: Timestamp,
    /// The scheduler's object id.
    pub object_id: String,
    /// Machine as named.
    pub machine: String,
    /// Project as named.
    pub project: String,
    /// User as named.
    pub user: String,
}

/// Liens that hold so long beyond the wall time of their use, and whether these are all.
pub fn stuck_liens(
    connection: &Connection,
    beyond: Seconds,
    now: Timestamp,
) -> Result<(Vec<StuckLien>, bool), Error> {
    let before = now.minus(beyond);
    let sql = "SELECT l.id, min(a.account), sum(p.amount), l.start_at + i.wall_s * 1000000,
                   i.object_id, i.machine, i.project, i.user
               FROM lien_allocation p JOIN lien l ON l.id = p.lien
                   JOIN instance i ON i.id = l.instance JOIN allocation a ON a.id = p.allocation
               WHERE l.state = 'open' AND l.shadow = 0 AND i.wall_s IS NOT NULL
                   AND l.start_at + i.wall_s * 1000000 <= ?1
               GROUP BY l.id ORDER BY l.id LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map((before.0, LIENS_MAX.saturating_add(1)), |r| {
        Ok(StuckLien {
            lien: LienId(r.get(0)?),
            account: AccountId(r.get(1)?),
            held: r.get::<_, i64>(2)?.into(),
            over_at: Timestamp(r.get(3)?),
            object_id: r.get(4)?,
            machine: r.get(5)?,
            project: r.get(6)?,
            user: r.get(7)?,
        })
    })?;
    let mut rows: Vec<StuckLien> = rows.collect::<Result<_, _>>()?;
    let most = usize::try_from(LIENS_MAX).unwrap_or(usize::MAX);
    let complete = rows.len() <= most;
    rows.truncate(most);
    Ok((rows, complete))
}
