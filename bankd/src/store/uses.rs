//! Finished uses by their identity, and reserves that money was short for: in and out.

use super::{Error, codec, load};
use bank_core::effects::{Became, Shortage, UseRow};
use bank_core::ids::InstanceId;
use bank_core::model::{InstanceKey, ObjectType};
use bank_core::need::Identity;
use bank_core::time::Timestamp;
use bank_core::view::View;
use rusqlite::{Connection, Row, params};

/// Writes a finished use; the record before it of the same identity is replaced.
pub(super) fn write_use(connection: &Connection, row: &UseRow) -> Result<(), Error> {
    connection
        .prepare_cached(
            "INSERT INTO finished_use (source, object_id, start_at, machine, object_type, end_at,
                 project, user, record, revision, became, policy, counted, instance)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
             ON CONFLICT (source, object_id, start_at) DO UPDATE SET machine = ?4,
                 object_type = ?5, end_at = ?6, project = ?7, user = ?8, record = ?9,
                 revision = ?10, became = ?11, policy = ?12, counted = ?13, instance = ?14",
        )?
        .execute(params![
            row.source,
            row.key.object_id,
            row.start.0,
            row.key.machine,
            row.key.object_type.word(),
            row.end.map(|t| t.0),
            row.project,
            row.user,
            row.record,
            row.revision,
            row.became.word(),
            row.policy,
            row.counted,
            row.instance.map(|i| i.0),
        ])?;
    Ok(())
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

const COLUMNS: &str = "source, object_id, start_at, machine, object_type, end_at, project, user,
    record, revision, became, policy, counted, instance";

/// The finished use of an identity, and its instance.
pub(super) fn add_known(
    connection: &Connection,
    identity: &Identity,
    view: &mut View,
) -> Result<(), Error> {
    let sql = format!(
        "SELECT {COLUMNS} FROM finished_use WHERE source = ?1 AND object_id = ?2 AND start_at = ?3"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let key = (&identity.source, &identity.id, identity.start.0);
    let mut rows = statement.query(key)?;
    let Some(row) = rows.next()? else {
        return Ok(());
    };
    let known = read(row)?;
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
pub(super) fn of_instance(connection: &Connection, instance: i64) -> Result<Option<UseRow>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM finished_use WHERE instance = ?1 LIMIT 1");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([instance])?;
    rows.next()?.map(read).transpose()
}

fn read(r: &Row<'_>) -> Result<UseRow, Error> {
    let kind: String = r.get(4)?;
    let became: String = r.get(10)?;
    Ok(UseRow {
        source: r.get(0)?,
        key: InstanceKey {
            object_id: r.get(1)?,
            machine: r.get(3)?,
            object_type: codec::word("finished_use.object_type", &kind, ObjectType::parse)?,
        },
        start: Timestamp(r.get(2)?),
        end: r.get::<_, Option<i64>>(5)?.map(Timestamp),
        project: r.get(6)?,
        user: r.get(7)?,
        record: r.get(8)?,
        revision: r.get(9)?,
        became: codec::word("finished_use.became", &became, Became::parse)?,
        policy: r.get(11)?,
        counted: r.get(12)?,
        instance: r.get::<_, Option<i64>>(13)?.map(InstanceId),
    })
}
