//! Finished uses by their identity, and reserves that money was short for: in and out.

use super::{Error, codec, load, sources};
use bank_core::decimal::Decimal;
use bank_core::effects::{Became, KnownUse, Shortage, UseRow};
use bank_core::ids::InstanceId;
use bank_core::model::{InstanceKey, ObjectType};
use bank_core::need::Identity;
use bank_core::view::View;
use rusqlite::{Connection, Row, params};
use sha2::{Digest as _, Sha256};

/// Writes a finished use; the record before it of the same identity is replaced. `tx` is the
/// transaction that took it in, where there was one.
pub(super) fn write_use(
    connection: &Connection,
    row: &UseRow,
    tx: Option<i64>,
) -> Result<(), Error> {
    let report = &row.report;
    let (request, figures) = (&report.request, &report.figures);
    let (facts, usage) = (&request.facts, &request.facts.usage);
    let source = sources::id_of(connection, &report.source)?;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let whole = |number: Option<Decimal>, unit: i128| number.and_then(|n| in_units(n, unit));
    let gpus = usage.number("gpu").or_else(|| usage.number("gpus"));
    let mut statement = connection.prepare_cached(WRITE)?;
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
        text(&request.whose.project),
        text(&request.whose.user),
        facts.group,
        text(&usage.class),
        text(&usage.qos),
        facts.state,
        facts.exit_code,
        report.flags,
        whole(usage.processors, 1_000),
        whole(usage.nodes, 1),
        whole(gpus, 1),
        whole(usage.memory_mb, 1 << 20),
        figures.wall_us,
        whole(figures.cpu_s, 1_000_000),
        facts.wall.map(|s| s.0),
        row.revision,
        row.became.word(),
        row.policy,
        row.counted,
        row.instance.map(|i| i.0),
        row.amount.map(|a| a.0),
        row.refusal,
        tx,
        digest(&row.record).as_slice(),
    ])?;
    Ok(())
}

const WRITE: &str = "INSERT INTO usage_identity (source, object_id, start_at, end_at, submit_at,
        machine, object_type, account, login, project, user, group_name, queue, qos, state,
        exit_code, flags, millis, nodes, gpus, memory_bytes, wall_us, cpu_us, requested_s,
        revision, became, policy, counted, instance, amount, refusal, tx, digest)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,
        ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33)
    ON CONFLICT (source, object_id, start_at) DO UPDATE SET end_at = ?4, submit_at = ?5,
        machine = ?6, object_type = ?7, account = ?8, login = ?9, project = ?10, user = ?11,
        group_name = ?12, queue = ?13, qos = ?14, state = ?15, exit_code = ?16, flags = ?17,
        millis = ?18, nodes = ?19, gpus = ?20, memory_bytes = ?21, wall_us = ?22, cpu_us = ?23,
        requested_s = ?24, revision = ?25, became = ?26, policy = ?27, counted = ?28,
        instance = ?29, amount = ?30, refusal = ?31, tx = ?32, block = NULL, place = NULL,
        digest = ?33";

/// A quantity in a smaller unit, cut; none where it is beyond what a column holds.
fn in_units(number: Decimal, unit: i128) -> Option<i64> {
    let units = number.billionths().checked_mul(unit)?;
    i64::try_from(units.checked_div(1_000_000_000)?).ok()
}

/// What tells equal records from amended ones.
fn digest(record: &str) -> [u8; 16] {
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
    u.became, u.policy, u.counted, u.instance, u.digest";

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
    let known = read(row, Some(&identity.record))?;
    let instance = known.instance;
    view.known = Some(known);
    let Some(id) = instance.filter(|id| view.instances.iter().all(|i| i.id != *id)) else {
        return Ok(());
    };
    view.instances.extend(load::instance_by_id(connection, id)?);
    Ok(())
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
    rows.next()?.map(|row| read(row, None)).transpose()
}

fn read(r: &Row<'_>, record: Option<&str>) -> Result<KnownUse, Error> {
    let kind: String = r.get(3)?;
    let became: String = r.get(6)?;
    let stored: Vec<u8> = r.get(10)?;
    let is_same = |record: &str| stored == digest(record) || stored == record.as_bytes();
    Ok(KnownUse {
        source: r.get(0)?,
        key: InstanceKey {
            object_id: r.get(1)?,
            machine: r.get(2)?,
            object_type: codec::word("usage_identity.object_type", &kind, ObjectType::parse)?,
        },
        project: r.get(4)?,
        is_same: record.is_some_and(is_same),
        revision: r.get(5)?,
        became: codec::word("usage_identity.became", &became, Became::parse)?,
        policy: r.get(7)?,
        counted: r.get(8)?,
        instance: r.get::<_, Option<i64>>(9)?.map(InstanceId),
    })
}
