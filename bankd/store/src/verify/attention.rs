//! Checks alerts: the open alerts follow from the events, and every notice of the outbox has its
//! events and is counted.

use super::super::{Error, attention};
use super::{Finding, Report};
use bank_core::attention::{Topic, Turn};
use bank_core::ids::TxId;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Adds findings to the report.
pub(super) fn check(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let open = follow(connection, report)?;
    raised(connection, &open, report)?;
    notices(connection, report)?;
    targets(connection, report)
}

/// Open alerts: by topic the transaction that raised it, and the last acknowledgement.
type Raised = BTreeMap<Topic, (TxId, Option<TxId>)>;

/// Follows the events in their order: each topic is raised once, and cleared or seen while it is.
fn follow(connection: &Connection, report: &mut Report) -> Result<Raised, Error> {
    let mut open = Raised::new();
    attention::events_from(connection, 0, |tx, event| {
        let known = open.get(&event.topic).copied();
        let fits = match event.turn {
            Turn::Raised => known.is_none() && event.of.is_none(),
            Turn::Cleared => known.is_some_and(|(of, _)| event.of == Some(of)),
            Turn::Acked => known.is_some_and(|(of, acked)| event.of == Some(of) && acked.is_none()),
        };
        if !fits {
            let topic = &event.topic;
            let text = format!(
                "transaction {}: it has {} {} of {}, which does not follow from the open alerts",
                tx.0,
                event.turn.word(),
                topic.kind.word(),
                topic.subject
            );
            report.find(Finding::new("attention_event", tx.0, text));
        }
        match (event.turn, known) {
            (Turn::Raised, _) => {
                open.insert(event.topic, (tx, None));
            }
            (Turn::Cleared, _) => {
                open.remove(&event.topic);
            }
            (Turn::Acked, Some((of, _))) => {
                open.insert(event.topic, (of, Some(tx)));
            }
            (Turn::Acked, None) => {}
        }
    })?;
    Ok(open)
}

/// The table of open alerts matches.
fn raised(connection: &Connection, open: &Raised, report: &mut Report) -> Result<(), Error> {
    let sql = "SELECT kind, subject, threshold, tx, acked FROM attention
               ORDER BY kind, subject, threshold";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let message =
        |kind: &str, subject: &str, threshold: i64| format!("{kind} {threshold} of {subject}");
    let mut expected: BTreeMap<(String, String, i64), (i64, Option<i64>)> = open
        .iter()
        .map(|(topic, (tx, acked))| {
            let key = (
                topic.kind.word().to_owned(),
                topic.subject.clone(),
                topic.threshold,
            );
            (key, (tx.0, acked.map(|tx| tx.0)))
        })
        .collect();
    while let Some(row) = rows.next()? {
        let key: (String, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let found = (row.get(3)?, row.get(4)?);
        let topic = message(&key.0, &key.1, key.2);
        match expected.remove(&key) {
            Some(events) if events == found => {}
            Some(_) => {
                let text =
                    format!("alert {topic}: its transactions differ from those of its events");
                report.find(Finding::new("attention", topic, text));
            }
            None => {
                let text = format!("alert {topic}: no event raised it");
                report.find(Finding::new("attention", topic, text));
            }
        }
    }
    for ((kind, subject, threshold), (tx, _)) in expected {
        let topic = message(&kind, &subject, threshold);
        let text = format!("alert {topic}: missing, transaction {tx} raised it");
        report.find(Finding::new("attention", topic, text));
    }
    Ok(())
}

/// Every notice has existing events, or an existing report; a notice of one event has an event that
/// is sent.
fn notices(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let mut statement = connection.prepare(
        "SELECT n.id, n.event, n.recipient, n.events, n.state, n.attempts, n.tried_at, e.told,
             n.report, n.state <> 'waiting' OR r.body IS NOT NULL
         FROM notice n LEFT JOIN attention_event e ON e.tx = n.event
             LEFT JOIN report_run r ON r.id = n.report AND r.state = 'made' ORDER BY n.id",
    )?;
    let mut known = connection.prepare("SELECT 1 FROM attention_event WHERE tx = ?1")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, event): (i64, Option<i64>) = (row.get(0)?, row.get(1)?);
        let (recipient, events): (String, String) = (row.get(2)?, row.get(3)?);
        let (state, attempts): (String, i64) = (row.get(4)?, row.get(5)?);
        let (tried, message): (Option<i64>, Option<bool>) = (row.get(6)?, row.get(7)?);
        let own = attention::numbers(&events);
        let listed = match event {
            _ if row.get::<_, Option<i64>>(8)?.is_some() => {
                event.is_none() && own.is_empty() && row.get::<_, bool>(9)?
            }
            Some(_) => message == Some(true) && own.is_empty() && recipient.is_empty(),
            None => !own.is_empty() && !recipient.is_empty(),
        };
        let mut all = listed;
        for tx in own {
            all = all && known.exists([tx])?;
        }
        if !all {
            let text = format!("notice {id}: its event or report is missing");
            report.find(Finding::new("notice", id, text));
        }
        if state == "sent" && (attempts < 1 || tried.is_none()) {
            let text = format!("notice {id}: it was sent, but never tried");
            report.find(Finding::new("notice", id, text));
        }
    }
    Ok(())
}

/// The notices of each target exist or were removed after delivery.
fn targets(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let mut statement = connection.prepare(
        "SELECT t.name, t.made, t.removed, (SELECT count(*) FROM notice n WHERE n.target = t.name),
             t.digested > (SELECT coalesce(max(tx), 0) FROM attention_event)
         FROM target t ORDER BY t.name",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        let (made, removed, there): (i64, i64, i64) = (row.get(1)?, row.get(2)?, row.get(3)?);
        if made.checked_sub(removed) != Some(there) {
            let text = format!(
                "target {name:?}: {made} notices were made and {removed} removed, but {there} exist"
            );
            report.find(Finding::new("target", &name, text));
        }
        if row.get::<_, bool>(4)? {
            let text = format!("target {name:?}: its digests are ahead of the events");
            report.find(Finding::new("target", &name, text));
        }
    }
    Ok(())
}
