//! The source of all exports, in one order that never changes: the usage records of charges, and
//! the finished uses of collectors that moved no money, each once, and again after an amendment.
//!
//! A cursor has three positions: in the records, in the changes of uses, and in the uses. A page is
//! read in one snapshot, changes before uses. A change of a use before the cursor is exported. A
//! change of a later use is not, because the use itself is exported in its new state. So every use
//! is exported exactly once in each state.
//!
//! Changes are read in runs, which end at the newest change of the first page. Of several changes in a
//! run only the last one is exported. So the version that the cursor passed is known: it is that of
//! the beginning of the run, and the record names it as replaced.

use super::super::record::present_end;
use super::super::{Error, KeptRecord, records_after, rollup};
use bank_core_figures::sizes;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

/// How far an export is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The last usage record that it has looked at.
    pub record: i64,
    /// The last finished use.
    pub identity: i64,
    /// The last change of a finished use.
    pub change: i64,
    /// The run of changes that the position is in; none if it is not within one.
    pub run: Option<Run>,
}

/// Changes that are read together: of several ones of a use, the last one is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The last change before them.
    pub from: i64,
    /// The last one of them.
    pub to: i64,
}

/// Export form of charges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChargeForm {
    /// As it was recorded: a job as it was when it closed, and each change by itself.
    AsRecorded,
    /// A job in its current state, for formats without changes: an amended job is exported at the
    /// position of its latest amendment only.
    Current,
}

/// One thing to export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A usage record, and the present end of its use if a collector states it.
    Kept(KeptRecord, Option<i64>),
    /// A usage record of a job whose finished use was amended later: the amendment replaces it.
    Amended(KeptRecord),
    /// The record of the latest amendment of a job, with the job's totals.
    Amending(KeptRecord, Box<Amendment>),
    /// A finished use.
    Used(Box<Used>),
    /// A finished use that the cursor passed and that is no longer exported: a charge has it, or it used nothing.
    Gone(Box<Used>),
}

/// The names of a finished use in an earlier version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owner {
    /// The project; empty for none.
    pub project: String,
    /// The user; empty for none.
    pub user: String,
    /// The machine as named.
    pub machine: String,
}

/// A finished use that moved no money. Times are microseconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Its number.
    pub id: i64,
    /// How often it changed, from 0.
    pub revision: i64,
    /// The version that the cursor passed; none if it passed none.
    pub replaced: Option<i64>,
    /// The names in that version; none if it was not exported, or if an earlier version of the bank changed it.
    pub before: Option<Owner>,
    /// The collector.
    pub source: String,
    /// The id of the job as the source prints it.
    pub object_id: String,
    /// `job` or `reservation`.
    pub object_type: String,
    /// Start; 0 if unknown.
    pub start: i64,
    /// When it ended.
    pub end: i64,
    /// When it was submitted.
    pub submit: Option<i64>,
    /// When it was taken in.
    pub created: i64,
    /// The machine as named.
    pub machine: String,
    /// The project that it was for; empty for none.
    pub project: String,
    /// The user; empty for none.
    pub user: String,
    /// The group; empty for none.
    pub group: String,
    /// Queue, class or partition; empty for none.
    pub queue: String,
    /// Quality of service; empty for none.
    pub qos: String,
    /// The source's word for how it ended.
    pub state: String,
    /// Exit code.
    pub exit_code: Option<i64>,
    /// Thousandths of processors.
    pub millis: Option<i64>,
    /// Nodes.
    pub nodes: Option<i64>,
    /// GPUs.
    pub gpus: Option<i64>,
    /// Memory that it had, in bytes.
    pub memory: Option<i64>,
    /// Microseconds that it ran.
    pub wall: Option<i64>,
    /// Microseconds of its processors.
    pub cpu: Option<i64>,
    /// Seconds that it asked for.
    pub requested_s: Option<i64>,
    /// Its shadow cost, in minor units.
    pub amount: i64,
    /// The principal investigator, from a mapping; empty for none.
    pub pi: String,
    /// Further data of its source, and the stored attributes: see [`bank_core::usage::kept`].
    pub more: Option<String>,
}

impl Used {
    /// Processors in millionths, cut; none if its source has no number of them.
    pub fn processors(&self) -> Option<i128> {
        sizes::processors(self.millis, self.more.as_deref().unwrap_or_default())
    }

    /// Processors × wall time, in microseconds.
    pub fn processor_time(&self, wall: i64) -> i128 {
        sizes::processor_time(self.millis, self.more.as_deref().unwrap_or_default(), wall)
    }
}

/// Totals of an amended job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amendment {
    /// The finished use in its current state.
    pub used: Used,
    /// Its total charges, minor units.
    pub billed: i64,
    /// The same in the shadow totals.
    pub shadow: i64,
    /// Whose use it is by the amendment, without later settlements: after the undo of an amendment, that of before.
    pub project: String,
    /// The user.
    pub user: String,
}

/// A page of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Portion {
    /// In their order.
    pub items: Vec<Item>,
    /// Where the next page goes on.
    pub place: Place,
    /// Whether there was more to look at.
    pub more: bool,
}

/// The columns that [`used`] reads.
macro_rules! columns {
    () => {
        "SELECT u.id, (SELECT count(*) FROM use_change c WHERE c.identity = u.id), s.name,
             u.object_id, u.object_type, u.start_at, u.submit_at, u.end_at, u.machine, t.at_recorded,
             u.project, u.user, u.group_name, u.queue, u.qos, u.state, u.exit_code, u.millis, u.nodes,
             u.gpus, u.memory_bytes, u.wall_us, u.cpu_us, u.requested_s, u.became, u.instance, u.amount,
             u.more, u.pi
         FROM usage_identity u JOIN source s ON s.id = u.source LEFT JOIN tx t ON t.id = u.tx"
    };
}

/// How far there is anything.
pub fn newest(connection: &Connection) -> Result<Place, Error> {
    let newest = |sql: &str| -> Result<i64, Error> {
        Ok(connection
            .prepare_cached(sql)?
            .query_row([], |r| r.get(0))?)
    };
    Ok(Place {
        record: newest("SELECT coalesce(max(id), 0) FROM record")?,
        identity: newest("SELECT coalesce(max(id), 0) FROM usage_identity")?,
        change: newest("SELECT coalesce(max(id), 0) FROM use_change")?,
        run: None,
    })
}

/// The rows after a cursor; reads a bounded number of rows. The connection must be in a snapshot,
/// as for every question: otherwise changes and uses would be of different moments.
pub fn page(
    connection: &Connection,
    after: Place,
    limit: i64,
    form: ChargeForm,
) -> Result<Portion, Error> {
    let mut portion = Portion {
        place: after,
        ..Portion::default()
    };
    let mut left = limit;
    for kept in records_after(connection, after.record, left)? {
        portion.place.record = kept.id;
        portion.items.push(match form {
            ChargeForm::AsRecorded => {
                let ended = present_end(connection, kept.id)?;
                Item::Kept(kept, ended)
            }
            ChargeForm::Current => current_item(connection, kept)?,
        });
        left = left.saturating_sub(1);
    }
    left = changes(connection, &mut portion, left)?;
    if left > 0 {
        left = uses(connection, &mut portion, left)?;
    }
    portion.more = left == 0;
    Ok(portion)
}

/// Uses behind the cursor that became others; gives how many rows may still be looked at.
fn changes(connection: &Connection, portion: &mut Portion, limit: i64) -> Result<i64, Error> {
    let newest = newest(connection)?.change;
    let mut left = limit;
    while left > 0 && portion.place.change < newest {
        let run = portion.place.run.unwrap_or(Run {
            from: portion.place.change,
            to: newest,
        });
        left = changes_of(connection, portion, run, left)?;
        portion.place.run = Some(run).filter(|run| portion.place.change < run.to);
    }
    Ok(left)
}

/// Those of a run.
fn changes_of(
    connection: &Connection,
    portion: &mut Portion,
    run: Run,
    limit: i64,
) -> Result<i64, Error> {
    let sql = "SELECT id, identity FROM use_change WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((portion.place.change, run.to, limit))?;
    let mut left = limit;
    while let Some(row) = rows.next()? {
        portion.place.change = row.get(0)?;
        left = left.saturating_sub(1);
        let identity: i64 = row.get(1)?;
        let later = "SELECT 1 FROM use_change WHERE identity = ?1 AND id > ?2 AND id <= ?3";
        let is_later =
            connection
                .prepare_cached(later)?
                .exists((identity, portion.place.change, run.to))?;
        if identity <= portion.place.identity && !is_later {
            portion.items.extend(changed(connection, identity, run)?);
        }
    }
    if left > 0 {
        portion.place.change = run.to;
    }
    Ok(left)
}

/// A use that changed in a run.
fn changed(connection: &Connection, identity: i64, run: Run) -> Result<Option<Item>, Error> {
    let mut one = connection.prepare_cached(concat!(columns!(), " WHERE u.id = ?1"))?;
    let mut found = one.query([identity])?;
    let Some(row) = found.next()? else {
        return Ok(None);
    };
    let Some(used) = read(row)? else {
        return Ok(None);
    };
    let before = before(connection, identity, run)?;
    let is_gone = !is_exported(row)?;
    if is_gone && before.is_none() {
        return Ok(None);
    }
    let used = Box::new(Used {
        // Later changes have a run of their own.
        revision: version(connection, identity, run.to)?,
        replaced: Some(version(connection, identity, run.from)?),
        before,
        ..used
    });
    Ok(Some(if is_gone {
        Item::Gone(used)
    } else {
        Item::Used(used)
    }))
}

/// How often a use changed up to a change.
fn version(connection: &Connection, identity: i64, upto: i64) -> Result<i64, Error> {
    let sql = "SELECT count(*) FROM use_change WHERE identity = ?1 AND id <= ?2";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row((identity, upto), |r| r.get(0))?)
}

/// The names of a use before a run.
fn before(connection: &Connection, identity: i64, run: Run) -> Result<Option<Owner>, Error> {
    let sql = "SELECT project_before, user_before, machine_before FROM use_change
               WHERE identity = ?1 AND id > ?2 ORDER BY id LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let names = statement.query_row((identity, run.from), |r| {
        Ok((r.get(0)?, r.get(1)?, r.get(2)?))
    });
    let names: Option<(Option<String>, Option<String>, Option<String>)> = names.optional()?;
    Ok(names.and_then(|(project, user, machine)| {
        Some(Owner {
            project: project?,
            user: user?,
            machine: machine?,
        })
    }))
}

/// Uses after the cursor.
fn uses(connection: &Connection, portion: &mut Portion, limit: i64) -> Result<i64, Error> {
    let sql = concat!(columns!(), " WHERE u.id > ?1 ORDER BY u.id LIMIT ?2");
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![portion.place.identity, limit])?;
    let mut left = limit;
    while let Some(row) = rows.next()? {
        portion.place.identity = row.get(0)?;
        left = left.saturating_sub(1);
        portion.items.extend(used(row)?);
    }
    Ok(left)
}

/// A record with the current state of its job.
fn current_item(connection: &Connection, kept: KeptRecord) -> Result<Item, Error> {
    let sql =
        "SELECT u.id, u.instance FROM record r JOIN usage u ON u.id = r.number WHERE r.id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([kept.id], |r| Ok((r.get(0)?, r.get(1)?)));
    let Some((usage, instance)): Option<(i64, i64)> = found.optional()? else {
        return Ok(Item::Kept(kept, None));
    };
    let sql = concat!(
        columns!(),
        " WHERE u.instance = ?1 AND u.became IN ('charged', 'adjusted', 'free') ORDER BY u.id DESC LIMIT 1"
    );
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([instance])?;
    let Some(row) = rows.next()? else {
        return Ok(Item::Kept(kept, None));
    };
    let Some(latest) = latest_amendment(connection, instance)? else {
        return Ok(Item::Kept(kept, None));
    };
    if usage != latest {
        return Ok(Item::Amended(kept));
    }
    let Some(used) = read(row)? else {
        return Ok(Item::Kept(kept, None));
    };
    let sql = "SELECT billed, shadow_billed FROM instance WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let (billed, shadow) = statement.query_row([instance], |r| Ok((r.get(0)?, r.get(1)?)))?;
    let names = rollup::names_by(connection, instance, latest)?;
    let amendment = Amendment {
        used,
        billed,
        shadow,
        project: names.0,
        user: names.1,
    };
    Ok(Item::Amending(kept, Box::new(amendment)))
}

/// The last charge that a record of a finished use made after the close of its instance: by an amended record,
/// or by the first one of a use that its scheduler had charged. None if there is none.
fn latest_amendment(connection: &Connection, instance: i64) -> Result<Option<i64>, Error> {
    let sql = "WITH RECURSIVE back (id, prev, tx, late) AS (
            SELECT u.id, u.prev, u.tx, u.late FROM instance i JOIN usage u ON u.id = i.last_usage
                WHERE i.id = ?1
            UNION ALL
            SELECT u.id, u.prev, u.tx, u.late FROM back b JOIN usage u ON u.id = b.prev)
        SELECT max(b.id) FROM back b JOIN tx t ON t.id = b.tx
            WHERE t.op = 'adjust' OR (b.late AND b.tx IN
                (SELECT i.tx FROM usage_identity i WHERE i.instance = ?1))";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row([instance], |r| r.get(0))?)
}

/// All uses that ended in a half-open period, in their current state: records that the visitor must
/// filter, then finished uses. Stops when the visitor is done.
pub fn whole(
    connection: &Connection,
    (from, to): (i64, i64),
    mut take: impl FnMut(Item) -> Result<bool, Error>,
) -> Result<(), Error> {
    let mut last = 0;
    loop {
        let records = records_after(connection, last, 1000)?;
        let Some(newest) = records.last() else { break };
        last = newest.id;
        for kept in records {
            if !take(current_item(connection, kept)?)? {
                return Ok(());
            }
        }
    }
    let sql = concat!(
        columns!(),
        " WHERE u.end_at >= ?1 AND u.end_at < ?2 ORDER BY u.id"
    );
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((from, to))?;
    while let Some(row) = rows.next()? {
        if let Some(item) = used(row)?
            && !take(item)?
        {
            return Ok(());
        }
    }
    Ok(())
}

/// A use, if it is exported.
fn used(r: &Row<'_>) -> Result<Option<Item>, Error> {
    if !is_exported(r)? {
        return Ok(None);
    }
    Ok(read(r)?.map(|used| Item::Used(Box::new(used))))
}

/// Not if the usage records have it, or it is another source's word for the same, or it used nothing.
fn is_exported(r: &Row<'_>) -> Result<bool, Error> {
    let (became, instance): (String, Option<i64>) = (r.get(24)?, r.get(25)?);
    Ok(instance.is_none() && !is_aside(&became))
}

/// A use that has ended.
fn read(r: &Row<'_>) -> Result<Option<Used>, Error> {
    let created: Option<i64> = r.get(9)?;
    let Some(end) = r.get(7)? else {
        return Ok(None);
    };
    Ok(Some(Used {
        id: r.get(0)?,
        revision: r.get(1)?,
        replaced: None,
        before: None,
        source: r.get(2)?,
        object_id: r.get(3)?,
        object_type: r.get(4)?,
        start: r.get(5)?,
        submit: r.get(6)?,
        end,
        machine: r.get(8)?,
        created: created.unwrap_or(end),
        project: r.get(10)?,
        user: r.get(11)?,
        group: r.get(12)?,
        queue: r.get(13)?,
        qos: r.get(14)?,
        state: r.get(15)?,
        exit_code: r.get(16)?,
        millis: r.get(17)?,
        nodes: r.get(18)?,
        gpus: r.get(19)?,
        memory: r.get(20)?,
        wall: r.get(21)?,
        cpu: r.get(22)?,
        requested_s: r.get(23)?,
        amount: r.get::<_, Option<i64>>(26)?.unwrap_or(0),
        more: r.get(27)?,
        pi: r.get(28)?,
    }))
}

fn is_aside(became: &str) -> bool {
    matches!(became, "kept" | "unused" | "duplicate")
}
