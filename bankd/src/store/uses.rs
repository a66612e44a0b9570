//! Finished uses by their identity, and reserves that money was short for: in and out.

use super::sqlite::SqliteStore;
use super::{Error, codec, load, sources};
use bank_core::amount::Amount;
use bank_core::command::Chunk;
use bank_core::decimal::Decimal;
use bank_core::effects::{Became, KnownUse, Shortage, UseRow};
use bank_core::ids::{AllocationId, InstanceId};
use bank_core::model::{InstanceKey, ObjectType};
use bank_core::need::Identity;
use bank_core::time::Timestamp;
use bank_core::usage::Usage;
use bank_core::view::{Already, View};
use rusqlite::{Connection, OptionalExtension, Row, params};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

/// Writes finished uses; the record before each of the same identity is replaced. `tx` is the
/// transaction that took them in, where there was one.
pub(super) fn write_uses(
    store: &SqliteStore,
    rows: &[UseRow],
    tx: Option<i64>,
) -> Result<(), Error> {
    let mut source: Option<(&str, i64)> = None;
    for row in rows {
        let name = row.report.source.as_str();
        let id = match source {
            Some((known, id)) if known == name => id,
            _ => sources::id_of(&store.connection, name)?,
        };
        source = Some((name, id));
        write_use(store, row, id, tx)?;
    }
    Ok(())
}

fn write_use(store: &SqliteStore, row: &UseRow, source: i64, tx: Option<i64>) -> Result<(), Error> {
    let report = &row.report;
    let (request, figures) = (&report.request, &report.figures);
    let (facts, usage) = (&request.facts, &request.facts.usage);
    let whole = |number: Option<Decimal>, unit: i128| number.and_then(|n| in_units(n, unit));
    let place = row.place.or(store.place).filter(|_| store.block.is_some());
    let mut statement = store.connection.prepare_cached(WRITE)?;
    statement.execute(params![
        source,
        request.object_id,
        report.incarnation().0,
        facts.end.map(|t| t.0),
        facts.submit.map(|t| t.0),
        request.whose.machine,
        request.object_type.word(),
        report.account(),
        report.login(),
        row.project(),
        request.whose.user.as_deref().unwrap_or_default(),
        facts.group,
        usage.class.as_deref().unwrap_or_default(),
        usage.qos.as_deref().unwrap_or_default(),
        facts.state,
        facts.exit_code,
        report.flags,
        whole(usage.processors, 1_000),
        whole(usage.nodes, 1),
        whole(gpus(usage), 1),
        whole(usage.memory_mb, 1 << 20),
        figures.wall_us.or_else(|| between(facts.start, facts.end)),
        whole(figures.cpu_s, 1_000_000),
        facts.wall.map(|s| s.0),
        row.revision,
        row.became.word(),
        row.policy,
        row.counted,
        row.instance.map(|i| i.0),
        row.amount.map(|a| a.0),
        row.on.map(|a| a.0),
        row.refusal,
        tx,
        store.block.filter(|_| place.is_some()),
        place,
        row.said
            .unwrap_or_else(|| digest(&report.canonical()))
            .as_slice(),
    ])?;
    Ok(())
}

fn gpus(usage: &Usage) -> Option<Decimal> {
    usage
        .gres
        .iter()
        .find(|(name, _)| name == "gpu")
        .map(|(_, n)| *n)
}

fn between(start: Option<Timestamp>, end: Option<Timestamp>) -> Option<i64> {
    Some(end?.0.saturating_sub(start?.0))
}

const WRITE: &str = "INSERT INTO usage_identity (source, object_id, start_at, end_at, submit_at,
        machine, object_type, account, login, project, user, group_name, queue, qos, state,
        exit_code, flags, millis, nodes, gpus, memory_bytes, wall_us, cpu_us, requested_s,
        revision, became, policy, counted, instance, amount, allocation, refusal, tx, block,
        place, digest)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,
        ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36)
    ON CONFLICT (source, object_id, start_at) DO UPDATE SET end_at = ?4, submit_at = ?5,
        machine = ?6, object_type = ?7, account = ?8, login = ?9, project = ?10, user = ?11,
        group_name = ?12, queue = ?13, qos = ?14, state = ?15, exit_code = ?16, flags = ?17,
        millis = ?18, nodes = ?19, gpus = ?20, memory_bytes = ?21, wall_us = ?22, cpu_us = ?23,
        requested_s = ?24, revision = ?25, became = ?26, policy = ?27, counted = ?28,
        instance = ?29, amount = ?30, allocation = ?31, refusal = ?32, tx = ?33, block = ?34,
        place = ?35, digest = ?36";

/// A quantity in a smaller unit, cut; none where it is beyond what a column holds.
fn in_units(number: Decimal, unit: i128) -> Option<i64> {
    let units = number.billionths().checked_mul(unit)?;
    i64::try_from(units.checked_div(1_000_000_000)?).ok()
}

/// What tells equal records from amended ones: the first 16 bytes of SHA-256 over
/// [`UsageReport::canonical`](bank_core::command::UsageReport::canonical).
pub fn digest(record: &str) -> [u8; 16] {
    let whole: [u8; 32] = Sha256::digest(record.as_bytes()).into();
    let mut short = [0; 16];
    for (to, from) in short.iter_mut().zip(whole) {
        *to = from;
    }
    short
}

/// Remembers a shortage; an older one of the same object and project is replaced.
pub(super) fn write_shortage(connection: &Connection, row: &Shortage) -> Result<(), Error> {
    connection
        .prepare_cached(
            "INSERT INTO shortage (machine, object_type, object_id, project, user, at, needed,
                 available) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (object_id, machine, object_type, project) DO UPDATE SET user = ?5,
                 at = ?6, needed = ?7, available = ?8",
        )?
        .execute(params![
            row.key.machine,
            row.key.object_type.word(),
            row.key.object_id,
            row.project,
            row.user,
            row.at.0,
            row.needed.0,
            row.available.0,
        ])?;
    Ok(())
}

const COLUMNS: &str = "s.name, u.object_id, u.machine, u.object_type, u.project, u.revision,
    u.became, u.policy, u.counted, u.instance, u.digest, u.amount, u.allocation,
    u.refusal";

/// The finished use of an identity, and its instance.
pub(super) fn add_known(
    connection: &Connection,
    identity: &Identity,
    view: &mut View,
) -> Result<(), Error> {
    let sql = format!(
        "SELECT {COLUMNS} FROM source s JOIN usage_identity u ON u.source = s.id
         WHERE s.name = ?1 AND u.object_id = ?2 AND u.start_at = ?3"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let key = (&identity.source, &identity.id, identity.start.0);
    let mut rows = statement.query(key)?;
    let Some(row) = rows.next()? else {
        return Ok(());
    };
    let known = read(row, Some(&digest(&identity.record)), &identity.record)?;
    let instance = known.instance;
    view.known = Some(known);
    let Some(id) = instance.filter(|id| view.instances.iter().all(|i| i.id != *id)) else {
        return Ok(());
    };
    view.instances.extend(load::instance_by_id(connection, id)?);
    Ok(())
}

/// What is known of the reports of a chunk, in their order.
pub(super) fn of_chunk(connection: &Connection, chunk: &Chunk) -> Result<Vec<Already>, Error> {
    let mut already = vec![Already::default(); chunk.reports.len()];
    let sql = "SELECT id FROM source WHERE name = ?1";
    let source: Option<i64> = connection
        .prepare_cached(sql)?
        .query_row([&chunk.source], |r| r.get(0))
        .optional()?;
    let has_any = |sql| -> Result<bool, Error> { Ok(connection.prepare_cached(sql)?.exists([])?) };
    let sql = format!(
        "SELECT {COLUMNS} FROM usage_identity u JOIN source s ON s.id = u.source
         WHERE u.source = ?1 AND u.object_id = ?2 AND u.start_at = ?3"
    );
    let mut known = connection.prepare_cached(&sql)?;
    let mut used = connection.prepare_cached(
        "SELECT 1 FROM instance WHERE object_id = ?1 AND machine = ?2 AND object_type = ?3 LIMIT 1",
    )?;
    let has_instances = has_any("SELECT 1 FROM instance LIMIT 1")?;
    for (n, (report, already)) in chunk.reports.iter().zip(&mut already).enumerate() {
        let request = &report.request;
        let id = &request.object_id;
        if has_instances {
            let kind = request.object_type.word();
            already.has_instance = used.exists((id, &request.whose.machine, kind))?;
        }
        let Some(source) = source else { continue };
        let mut rows = known.query((source, id, report.incarnation().0))?;
        if let Some(row) = rows.next()? {
            let record = report.canonical();
            let said = chunk.said.get(n).copied();
            let said = said.unwrap_or_else(|| digest(&record));
            already.known = Some(read(row, Some(&said), &record)?);
        }
    }
    Ok(already)
}

/// Whether anything was charged on a machine. Asked while no source has claimed it: the first record
/// that is charged does.
pub(super) fn is_charged(connection: &Connection, machine: &str) -> Result<bool, Error> {
    let sql = "SELECT 1 FROM instance WHERE machine = ?1 AND last_usage IS NOT NULL LIMIT 1";
    Ok(connection.prepare_cached(sql)?.exists([machine])?)
}

/// The finished use that an instance was charged for.
pub(super) fn of_instance(
    connection: &Connection,
    instance: i64,
) -> Result<Option<KnownUse>, Error> {
    let sql = format!(
        "SELECT {COLUMNS} FROM usage_identity u JOIN source s ON s.id = u.source
         WHERE u.instance = ?1 LIMIT 1"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([instance])?;
    rows.next()?.map(|row| read(row, None, "")).transpose()
}

/// A row as it is known to a record with a digest; rows of earlier versions have the text of theirs.
fn read(r: &Row<'_>, said: Option<&[u8; 16]>, record: &str) -> Result<KnownUse, Error> {
    let kind: String = r.get(3)?;
    let became: String = r.get(6)?;
    let stored = r.get_ref(10)?.as_blob().map_err(rusqlite::Error::from)?;
    let is_same = |said: &[u8; 16]| stored == said || stored == record.as_bytes();
    Ok(KnownUse {
        source: r.get(0)?,
        key: InstanceKey {
            object_id: r.get(1)?,
            machine: r.get(2)?,
            object_type: codec::word("usage_identity.object_type", &kind, ObjectType::parse)?,
        },
        project: r.get(4)?,
        is_same: said.is_some_and(is_same),
        revision: r.get(5)?,
        became: codec::word("usage_identity.became", &became, Became::parse)?,
        policy: r.get(7)?,
        counted: r.get(8)?,
        instance: r.get::<_, Option<i64>>(9)?.map(InstanceId),
        amount: r.get::<_, Option<i64>>(11)?.map(Amount),
        on: r.get::<_, Option<i64>>(12)?.map(AllocationId),
        refusal: r.get::<_, Option<String>>(13)?.map(Cow::Owned),
    })
}
