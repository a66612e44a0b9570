//! Usage that waits for a project: the names from its source, and the allocation of its money.

use super::super::Error;
use bank_core::amount::Amount;
use bank_core::command::Identity;
use bank_core::ids::AccountId;
use bank_core::time::Timestamp;
use bank_core_figures::sizes::processor_time;
use rusqlite::{Connection, Row};

/// A finished use whose names matched no project on arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The number of its row: pages go on behind it.
    pub number: i64,
    /// Which use it is.
    pub identity: Identity,
    /// The format of its collector; empty if unknown.
    pub format: String,
    /// When it ended.
    pub end: Option<Timestamp>,
    /// The machine as named.
    pub machine: String,
    /// The account as its source names it; empty for none.
    pub account: String,
    /// The user as its source names them.
    pub user: String,
    /// The group.
    pub group: String,
    /// Queue, class or partition.
    pub queue: String,
    /// Quality of service.
    pub qos: String,
    /// Processors × the time that it ran, in microseconds; where the source states none, from its start to its end.
    pub core_us: i128,
    /// Its amount, less refunds.
    pub amount: Amount,
    /// The part of it on `#unbilled`.
    pub is_unbilled: bool,
    /// The account that paid after all, such as one that is open to everybody.
    pub paid_by: Option<AccountId>,
}

/// The uses after a row in the order of arrival, a bounded number of them; none after the last.
pub fn page(connection: &Connection, behind: i64, most: usize) -> Result<Vec<Waiting>, Error> {
    // The rows of an instance contain its refunds and undone charges; uses of a chunk have no instance.
    let sql = "SELECT u.id, s.name, u.object_id, u.start_at, s.format, u.end_at, u.machine,
            u.account, u.login, u.group_name, u.queue, u.qos, u.millis, u.wall_us,
            coalesce((WITH RECURSIVE chain (prev, amount) AS (
                    SELECT prev, amount FROM usage WHERE id = i.last_usage
                    UNION ALL
                    SELECT c.prev, c.amount FROM chain JOIN usage c ON c.id = chain.prev)
                SELECT sum(amount) FROM chain), u.amount),
            i.account, coalesce(i.billed, 0), coalesce(u.more, '')
        FROM unmapped m JOIN usage_identity u ON u.id = m.identity
            JOIN source s ON s.id = u.source LEFT JOIN instance i ON i.id = u.instance
        WHERE m.identity > ?1 ORDER BY m.identity LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((behind, i64::try_from(most).unwrap_or(i64::MAX)))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn read(r: &Row<'_>) -> Result<Waiting, Error> {
    let (start, end): (i64, Option<i64>) = (r.get(3)?, r.get(5)?);
    let between = end.map_or(0, |end| end.saturating_sub(start).max(0));
    let (millis, wall): (Option<i64>, Option<i64>) = (r.get(12)?, r.get(13)?);
    let (wall, more) = (wall.unwrap_or(between), r.get::<_, String>(17)?);
    let account: Option<i64> = r.get(15)?;
    let suspense = bank_core::book::suspense_account().id;
    Ok(Waiting {
        number: r.get(0)?,
        identity: Identity {
            source: r.get(1)?,
            id: r.get(2)?,
            start: Timestamp(start),
            record: String::new(),
            reservation: String::new(),
            is_present: false,
        },
        format: r.get(4)?,
        end: end.map(Timestamp),
        machine: r.get(6)?,
        account: r.get(7)?,
        user: r.get(8)?,
        group: r.get(9)?,
        queue: r.get(10)?,
        qos: r.get(11)?,
        core_us: processor_time(Some(millis.unwrap_or(1000)), &more, wall),
        amount: Amount(r.get::<_, Option<i64>>(14)?.unwrap_or(0)),
        is_unbilled: r.get::<_, i64>(16)? != 0,
        paid_by: account.map(AccountId).filter(|id| *id != suspense),
    })
}
