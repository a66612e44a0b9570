//! Rows in: exactly those that a command needs, by integer keys and unique indexes.

use super::recent::{Account, Recent};
use super::{Error, codec, hash, load_past, load_work, period, refused, uses};
use bank_core::amount::Amount;
use bank_core::decimal::Decimal;
use bank_core::directory::{Bank, Directory};
use bank_core::ids::{
    AccountId, AllocationId, EntryId, InstanceId, LienId, Next, QuoteId, UsageId,
};
use bank_core::model::{
    Allocation, Closing, Cycle, Facts, Instance, InstanceKey, Lien, LienState, Mode, ObjectType,
    Phase, Portion,
};
use bank_core::need::{INSTANCES_MAX, Need};
use bank_core::time::{Seconds, Timestamp, Window};
use bank_core::usage::Usage;
use bank_core::view::View;
use rusqlite::{Connection, OptionalExtension, Row};

/// Boundaries journalled in one go.
const DUE_MAX: usize = 200;

macro_rules! allocation_columns {
    () => {
        "id, account, start_at, end_at, phase, amount, held, credit_limit, deposited, shadow,
        shadow_held, last_entry, used, opened_at, since_at"
    };
}

macro_rules! instance_columns {
    () => {
        "id, machine, object_type, object_id, number, opened_at, closed_at, closed_by, account,
        fallback_from, exact_whole, exact_part, once_whole, once_part, billed, shadow_billed,
        charged_s, processor_s, record, last_usage, rates_at, quote, absorbed, due_at, lien,
        project, user, group_name, qos, class, processors, nodes, memory_mb, disk_mb, gres,
        attributes, wall_s, start_at, end_at, submit_at, state, exit_code, other, lien_expired,
        began_at, used_until, disputed_s, earliest_at, mode, kept_s"
    };
}

/// Columns of an allocation, in the order that [`allocation`] reads.
pub(super) const ALLOCATION: &str = allocation_columns!();

/// Columns of an instance, in the order that [`instance`] reads.
pub(super) const INSTANCE: &str = instance_columns!();

/// The end of the journal.
pub(super) struct Tail {
    pub(super) hash: Vec<u8>,
    pub(super) recorded: Timestamp,
}

/// The newest transaction's hash and time; those of the bank itself before the first.
pub(super) fn tail(connection: &Connection, bank: &Bank) -> Result<Tail, Error> {
    let sql = "SELECT hash, at_recorded FROM tx ORDER BY id DESC LIMIT 1";
    let last = connection
        .query_row(sql, [], |r| Ok((r.get(0)?, r.get(1)?)))
        .optional()?;
    Ok(match last {
        Some((hash, recorded)) => Tail {
            hash,
            recorded: Timestamp(recorded),
        },
        None => Tail {
            hash: hash::first(bank),
            recorded: Timestamp(i64::MIN),
        },
    })
}

/// The numbers that new rows get.
pub(super) fn next(connection: &Connection) -> Result<Next, Error> {
    let after = |table: &str| -> Result<i64, Error> {
        let sql = format!("SELECT COALESCE(MAX(id), 0) + 1 FROM {table}");
        Ok(connection.query_row(&sql, [], |r| r.get(0))?)
    };
    Ok(Next {
        tx: after("tx")?,
        entry: after("entry")?,
        allocation: after("allocation")?,
        instance: after("instance")?,
        lien: after("lien")?,
        quote: after("quote")?,
        usage: after("usage")?,
    })
}

/// The earliest boundary there is.
pub(super) fn next_due(connection: &Connection) -> Result<Option<Timestamp>, Error> {
    let first = |table: &str| -> Result<Option<i64>, Error> {
        let sql = format!("SELECT MIN(due_at) FROM {table} WHERE due_at IS NOT NULL");
        Ok(connection
            .prepare_cached(&sql)?
            .query_row([], |r| r.get(0))?)
    };
    let both = [first("instance")?, first("allocation")?];
    Ok(both.into_iter().flatten().min().map(Timestamp))
}

/// The rows that a command needs.
pub(super) fn view(
    connection: &Connection,
    recent: &mut Recent,
    need: &Need,
    next: Next,
) -> Result<View, Error> {
    let mut view = View {
        next,
        ..View::default()
    };
    if let Some(key) = &need.instance {
        view.instances = instances_of(connection, key)?;
        view.refused = refused::wanted(connection, need, &view)?;
    }
    uses::add(connection, need, &mut view)?;
    if let Some(id) = need.lien {
        load_work::lien(connection, id, &mut view)?;
    }
    let mut accounts = need.accounts.clone();
    accounts.extend(view.instances.iter().filter_map(|i| i.account));
    accounts.sort_unstable();
    accounts.dedup();
    for account in accounts {
        let found = &mut view.allocations;
        of_account(connection, recent, account, need.ending_after, found)?;
    }
    add_portions(connection, &mut view)?;
    if need.windows {
        load_work::windows(connection, &mut view)?;
    }
    load_work::money(connection, need, &mut view)?;
    load_work::named(connection, need, &mut view)?;
    if load_past::wanted(need) {
        load_past::add(connection, recent, need, &mut view)?;
    }
    if need.closed {
        period::add(connection, need, &mut view)?;
    }
    Ok(view)
}

/// What has a boundary at or before an instant, the earliest first.
pub(super) fn due(
    connection: &Connection,
    recent: &mut Recent,
    now: Timestamp,
    next: Next,
    cycles: Vec<Cycle>,
) -> Result<Option<View>, Error> {
    let mut view = View {
        next,
        cycles,
        ..View::default()
    };
    let sql = format!(
        "SELECT {INSTANCE} FROM instance WHERE due_at IS NOT NULL AND due_at <= ?1
         ORDER BY due_at LIMIT {DUE_MAX}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([now.0])?;
    while let Some(row) = rows.next()? {
        view.instances.push(with_lien(connection, row)?);
    }
    let sql = format!(
        "SELECT {ALLOCATION} FROM allocation WHERE due_at IS NOT NULL AND due_at <= ?1
         ORDER BY due_at LIMIT {DUE_MAX}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([now.0])?;
    while let Some(row) = rows.next()? {
        view.allocations.push(allocation(row)?);
    }
    if view.instances.is_empty() && view.allocations.is_empty() && view.cycles.is_empty() {
        return Ok(None);
    }
    add_portions(connection, &mut view)?;
    for account in Directory::accounts_of_cycles(&view.cycles) {
        let mut own = Vec::new();
        of_account(connection, recent, account, None, &mut own)?;
        own.retain(|a| view.allocation(a.id).is_none());
        view.allocations.append(&mut own);
    }
    Ok(Some(view))
}

pub(super) fn instances_of(
    connection: &Connection,
    key: &InstanceKey,
) -> Result<Vec<Instance>, Error> {
    let sql = concat!(
        "SELECT ",
        instance_columns!(),
        " FROM instance WHERE object_id = ?1 AND machine = ?2 AND object_type = ?3
          ORDER BY number DESC"
    );
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((&key.object_id, &key.machine, key.object_type.word()))?;
    let mut found = Vec::new();
    // The index is walked no further than asked for.
    while found.len() < INSTANCES_MAX {
        let Some(row) = rows.next()? else { break };
        found.push(with_lien(connection, row)?);
    }
    Ok(found)
}

/// An instance by its number.
pub(super) fn instance_by_id(
    connection: &Connection,
    id: InstanceId,
) -> Result<Option<Instance>, Error> {
    let sql = concat!(
        "SELECT ",
        instance_columns!(),
        " FROM instance WHERE id = ?1"
    );
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([id.0])?;
    match rows.next()? {
        Some(row) => with_lien(connection, row).map(Some),
        None => Ok(None),
    }
}

pub(super) fn with_lien(connection: &Connection, row: &Row<'_>) -> Result<Instance, Error> {
    let mut found = instance(row)?;
    if let Some(id) = row.get::<_, Option<i64>>(24)? {
        found.lien = lien(connection, LienId(id))?;
    }
    Ok(found)
}

/// An instance without its lien.
pub(super) fn instance(row: &Row<'_>) -> Result<Instance, Error> {
    let closed_by = text_or_null(row, 7)?;
    let closed_by = closed_by
        .map(|w| codec::word("instance.closed_by", w, Closing::parse))
        .transpose()?;
    let closed_at = row.get::<_, Option<i64>>(6)?.map(Timestamp);
    let processor_s = text(row, 17)?;
    let time = |column: usize| row.get::<_, Option<i64>>(column).map(|t| t.map(Timestamp));
    let object_type = text(row, 2)?;
    let mode = text_or_null(row, 48)?;
    Ok(Instance {
        id: InstanceId(row.get(0)?),
        key: InstanceKey {
            machine: row.get(1)?,
            object_type: codec::word("object_type", object_type, ObjectType::parse)?,
            object_id: row.get(3)?,
        },
        number: row.get(4)?,
        opened: Timestamp(row.get(5)?),
        closed: closed_at.zip(closed_by),
        account: row.get::<_, Option<i64>>(8)?.map(AccountId),
        fallback_from: row.get::<_, Option<i64>>(9)?.map(AccountId),
        exact_sum: codec::trillionths(row.get(10)?, row.get(11)?),
        once_sum: codec::trillionths(row.get(12)?, row.get(13)?),
        billed: Amount(row.get(14)?),
        shadow_billed: Amount(row.get(15)?),
        charged: Seconds(row.get(16)?),
        processor_seconds: codec::word("processor_s", processor_s, |t| t.parse().ok())?,
        record: row.get::<_, Option<i64>>(18)?.map(UsageId),
        last_usage: row.get::<_, Option<i64>>(19)?.map(UsageId),
        rates_at: time(20)?,
        quote: row.get::<_, Option<i64>>(21)?.map(QuoteId),
        absorbed: row.get(22)?,
        lien_expired: row.get(43)?,
        due: time(23)?,
        began: time(44)?,
        earliest: time(47)?,
        used_until: time(45)?,
        disputed: Seconds(row.get(46)?),
        mode: mode
            .map(|word| codec::word("instance.mode", word, Mode::parse))
            .transpose()?,
        kept: Seconds(row.get(49)?),
        lien: None,
        facts: facts(row)?,
    })
}

/// A text column where it stands, without a copy.
fn text<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r str> {
    Ok(row.get_ref(column)?.as_str()?)
}

fn text_or_null<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<Option<&'r str>> {
    Ok(row.get_ref(column)?.as_str_or_null()?)
}

fn facts(row: &Row<'_>) -> Result<Facts, Error> {
    let decimal = |what: &'static str, column: usize| -> Result<Option<Decimal>, Error> {
        let text = text_or_null(row, column)?;
        text.map(|t| codec::word(what, t, Decimal::read))
            .transpose()
    };
    let time = |column: usize| row.get::<_, Option<i64>>(column).map(|t| t.map(Timestamp));
    Ok(Facts {
        project: row.get(25)?,
        user: row.get(26)?,
        group: row.get(27)?,
        usage: Usage {
            qos: row.get(28)?,
            class: row.get(29)?,
            processors: decimal("instance.processors", 30)?,
            nodes: decimal("instance.nodes", 31)?,
            memory_mb: decimal("instance.memory_mb", 32)?,
            disk_mb: decimal("instance.disk_mb", 33)?,
            gres: codec::read_quantities("instance.gres", text(row, 34)?)?,
            attributes: codec::read_pairs("instance.attributes", text(row, 35)?)?,
            counted: None,
        },
        wall: row.get::<_, Option<i64>>(36)?.map(Seconds),
        start: time(37)?,
        end: time(38)?,
        submit: time(39)?,
        state: row.get(40)?,
        exit_code: row.get(41)?,
        other: codec::read_pairs("instance.other", text(row, 42)?)?,
    })
}

pub(super) fn lien(connection: &Connection, id: LienId) -> Result<Option<Lien>, Error> {
    let sql = "SELECT l.instance, l.state, l.placed, l.start_at, l.end_at, l.shadow,
                   p.allocation, p.amount, l.lapsed
               FROM lien l LEFT JOIN lien_allocation p ON p.lien = l.id
               WHERE l.id = ?1 ORDER BY p.n";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([id.0])?;
    let mut found: Option<Lien> = None;
    while let Some(row) = rows.next()? {
        let lien = match &mut found {
            Some(lien) => lien,
            None => found.insert(Lien {
                id,
                instance: InstanceId(row.get(0)?),
                state: codec::word("lien.state", text(row, 1)?, LienState::parse)?,
                placed: Amount(row.get(2)?),
                start: Timestamp(row.get(3)?),
                end: Timestamp(row.get(4)?),
                shadow: row.get(5)?,
                portions: Vec::new(),
                lapsed: Amount(row.get(8)?),
            }),
        };
        if let Some(allocation) = row.get::<_, Option<i64>>(6)? {
            lien.portions.push(Portion {
                allocation: AllocationId(allocation),
                amount: Amount(row.get(7)?),
            });
        }
    }
    Ok(found)
}

pub(super) fn liens_on(
    connection: &Connection,
    allocation: AllocationId,
    liens: &mut Vec<Lien>,
) -> Result<(), Error> {
    let sql = "SELECT DISTINCT lien FROM lien_allocation WHERE allocation = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let ids: Vec<i64> = statement
        .query_map([allocation.0], |r| r.get(0))?
        .collect::<Result<_, _>>()?;
    for id in ids {
        if !liens.iter().any(|l| l.id.0 == id) {
            liens.extend(lien(connection, LienId(id))?);
        }
    }
    Ok(())
}

/// The allocations of an account by number, those that ended before an instant left out.
pub(super) fn of_account(
    connection: &Connection,
    recent: &mut Recent,
    account: AccountId,
    ending_after: Option<Timestamp>,
    found: &mut Vec<Allocation>,
) -> Result<(), Error> {
    let lasts = |a: &&Allocation| {
        let over = |end: Timestamp| ending_after.is_some_and(|after| end <= after);
        !a.window.end.is_some_and(over)
    };
    let after = match recent.account(account) {
        Account::All(known) => {
            found.extend(known.iter().filter(lasts));
            return Ok(());
        }
        Account::Large => ending_after,
        Account::Unknown => None,
    };
    let sql = concat!(
        "SELECT ",
        allocation_columns!(),
        " FROM allocation WHERE account = ?1 AND (end_at IS NULL OR end_at > ?2) ORDER BY id"
    );
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((account.0, after.map_or(i64::MIN, |t| t.0)))?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(allocation(row)?);
    }
    found.extend(all.iter().filter(lasts));
    if after.is_none() {
        recent.keep(account, &all);
    }
    Ok(())
}

/// The allocations that the liens in view lie on.
fn add_portions(connection: &Connection, view: &mut View) -> Result<(), Error> {
    let liens = view.instances.iter().filter_map(|i| i.lien.as_ref());
    let on: Vec<AllocationId> = liens
        .flat_map(|l| &l.portions)
        .map(|p| p.allocation)
        .collect();
    for id in on {
        add_allocation(connection, id, &mut view.allocations)?;
    }
    Ok(())
}

pub(super) fn add_allocation(
    connection: &Connection,
    id: AllocationId,
    found: &mut Vec<Allocation>,
) -> Result<(), Error> {
    if found.iter().any(|a| a.id == id) {
        return Ok(());
    }
    let sql = concat!(
        "SELECT ",
        allocation_columns!(),
        " FROM allocation WHERE id = ?1"
    );
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([id.0])?;
    if let Some(row) = rows.next()? {
        found.push(allocation(row)?);
    }
    Ok(())
}

/// An allocation.
pub(super) fn allocation(row: &Row<'_>) -> Result<Allocation, Error> {
    let phase = codec::word("allocation.phase", text(row, 4)?, Phase::parse)?;
    Ok(Allocation {
        id: AllocationId(row.get(0)?),
        account: AccountId(row.get(1)?),
        window: Window {
            start: row.get::<_, Option<i64>>(2)?.map(Timestamp),
            end: row.get::<_, Option<i64>>(3)?.map(Timestamp),
        },
        opened: Timestamp(row.get(13)?),
        since: Timestamp(row.get(14)?),
        phase,
        amount: Amount(row.get(5)?),
        held: Amount(row.get(6)?),
        credit_limit: Amount(row.get(7)?),
        deposited: Amount(row.get(8)?),
        used: Amount(row.get(12)?),
        shadow: Amount(row.get(9)?),
        shadow_held: Amount(row.get(10)?),
        last_entry: row.get::<_, Option<i64>>(11)?.map(EntryId),
    })
}
