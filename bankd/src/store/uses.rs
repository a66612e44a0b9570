//! What is known of finished uses by their identity; reserves that money was short for, in and out.

use super::{Error, codec, load, seal};
use bank_core::amount::Amount;
use bank_core::command::Chunk;
use bank_core::effects::{Became, KnownUse, OtherUse, Shortage};
use bank_core::ids::{AllocationId, InstanceId};
use bank_core::model::{Instance, InstanceKey, ObjectType};
use bank_core::need::{Identity, Need};
use bank_core::reconcile::short_id;
use bank_core::time::Timestamp;
use bank_core::view::{Already, View};
use rusqlite::types::ToSql;
use rusqlite::{Connection, Row, params};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

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
    let (key, kind) = (&row.key, row.key.object_type.word());
    let one: &[&dyn ToSql] = &[&key.object_id, &key.machine, &kind, &row.project];
    seal::renew(connection, "shortage", one)
}

const COLUMNS: &str = "s.name, u.object_id, u.machine, u.object_type, u.project, u.revision,
    u.became, u.policy, u.counted, u.instance, u.digest, u.amount, u.allocation,
    u.refusal, u.user";

/// What a command asks about finished uses.
pub(super) fn add(connection: &Connection, need: &Need, view: &mut View) -> Result<(), Error> {
    if let Some(machine) = &need.charges_on {
        view.machine_charged = is_charged(connection, machine)?;
    }
    if let Some(identity) = &need.identity {
        add_known(connection, identity, view)?;
    }
    if let Some(key) = &need.alias {
        view.instances.extend(load::instances_of(connection, key)?);
    }
    match &need.others {
        Some(key) => add_others(connection, key, need, view),
        None => Ok(()),
    }
}

/// The finished use of an identity, and its instance.
fn add_known(connection: &Connection, identity: &Identity, view: &mut View) -> Result<(), Error> {
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

/// Reports whose identities are looked for together.
const TOGETHER: usize = 64;

/// What is known of the reports of a chunk, in their order; nothing at all where none is known.
pub(super) fn of_chunk(connection: &Connection, chunk: &Chunk) -> Result<Vec<Already>, Error> {
    let mut already = Vec::new();
    let has_instances = connection
        .prepare_cached("SELECT 1 FROM instance LIMIT 1")?
        .exists([])?;
    if has_instances {
        let sql = "SELECT 1 FROM instance
                   WHERE object_id = ?1 AND machine = ?2 AND object_type = ?3 LIMIT 1";
        let mut used = connection.prepare_cached(sql)?;
        for (n, report) in chunk.reports.iter().enumerate() {
            let request = &report.request;
            let kind = request.object_type.word();
            let machine = &request.whose.machine;
            let short = short_id(&request.object_id);
            let is_used = used.exists((&request.object_id, machine, kind))?
                || (short != request.object_id && used.exists((short, machine, kind))?);
            if is_used && let Some(already) = at(&mut already, chunk, n) {
                already.has_instance = true;
            }
        }
    }
    let mut own = None;
    for (id, name) in sources(connection)? {
        if name == chunk.source {
            own = Some(id);
            continue;
        }
        for n in maybe_known(connection, chunk, id)? {
            let Some(report) = chunk.reports.get(n) else {
                continue;
            };
            let mut others = Vec::new();
            others_of(connection, (id, &name), &report.request.key(), &mut others)?;
            if let Some(already) = at(&mut already, chunk, n).filter(|_| !others.is_empty()) {
                already.others.extend(others);
            }
        }
    }
    let Some(source) = own else {
        return Ok(already);
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM usage_identity u JOIN source s ON s.id = u.source
         WHERE u.source = ?1 AND u.object_id = ?2 AND u.start_at = ?3"
    );
    let mut known = connection.prepare_cached(&sql)?;
    for n in maybe_known(connection, chunk, source)? {
        let Some(report) = chunk.reports.get(n) else {
            continue;
        };
        let key = (source, &report.request.object_id, report.incarnation().0);
        let mut rows = known.query(key)?;
        if let Some(row) = rows.next()? {
            let record = report.canonical();
            let said = chunk.said.get(n).copied();
            let said = said.unwrap_or_else(|| digest(&record));
            let known = read(row, Some(&said), &record)?;
            if let Some(already) = at(&mut already, chunk, n) {
                already.known = Some(known);
            }
        }
    }
    Ok(already)
}

/// What is known of one report; room for all of them is made for the first.
fn at<'a>(already: &'a mut Vec<Already>, chunk: &Chunk, n: usize) -> Option<&'a mut Already> {
    if already.is_empty() {
        already.resize_with(chunk.reports.len(), Already::default);
    }
    already.get_mut(n)
}

/// The reports of a chunk that a row may be there for. Sources number their jobs, so that new ones
/// mostly lie where no row is: one look for many of them, in the order of their ids.
fn maybe_known(connection: &Connection, chunk: &Chunk, source: i64) -> Result<Vec<usize>, Error> {
    let id = |place: &usize| {
        let report = chunk.reports.get(*place);
        report.map(|report| report.request.object_id.as_str())
    };
    let sql = "SELECT 1 FROM usage_identity
               WHERE source = ?1 AND object_id BETWEEN ?2 AND ?3 LIMIT 1";
    let mut between = connection.prepare_cached(sql)?;
    let mut found = Vec::new();
    for some in chunk.reports.by_id().chunks(TOGETHER) {
        let (first, last) = (some.first().and_then(id), some.last().and_then(id));
        if between.exists((source, first, last))? {
            found.extend(some);
        }
    }
    Ok(found)
}

/// The finished uses of an object, whoever reported them. A scheduler's charge of a use that is open asks
/// for none: what a collector has charged is closed.
fn add_others(
    connection: &Connection,
    key: &InstanceKey,
    need: &Need,
    view: &mut View,
) -> Result<(), Error> {
    let is_open = || view.instances.iter().all(Instance::is_open);
    if need.identity.is_none() && !view.instances.is_empty() && is_open() {
        return Ok(());
    }
    let mut aliases = Vec::new();
    for (id, name) in sources(connection)? {
        let found = others_of(connection, (id, &name), key, &mut view.others)?;
        aliases.extend(found);
    }
    for id in aliases {
        if view.instances.iter().all(|i| i.id != id) {
            view.instances.extend(load::instance_by_id(connection, id)?);
        }
    }
    Ok(())
}

fn sources(connection: &Connection) -> Result<Vec<(i64, String)>, Error> {
    let mut statement = connection.prepare_cached("SELECT id, name FROM source")?;
    let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Adds the finished uses of an object that one source reported. Returns the instances of those with another
/// id.
fn others_of(
    connection: &Connection,
    (source, name): (i64, &str),
    key: &InstanceKey,
    found: &mut Vec<OtherUse>,
) -> Result<Vec<InstanceId>, Error> {
    let mut aliases = Vec::new();
    let columns = "SELECT start_at, end_at, instance, became, object_id FROM usage_identity";
    let exact = "object_id = ?2";
    // A server name can follow the id; it does not begin with a digit.
    let longer = "object_id > ?2 || '.' AND object_id < ?2 || '/'";
    let (id, kind) = (key.object_id.as_str(), key.object_type.word());
    let short = short_id(id);
    let alias = (short != id).then_some((exact, short));
    for (which, id) in [(exact, id), (longer, id)].into_iter().chain(alias) {
        let sql = format!(
            "{columns} WHERE source = ?1 AND {which} AND machine = ?3 AND object_type = ?4"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query((source, id, &key.machine, kind))?;
        while let Some(r) = rows.next()? {
            let own: String = r.get(4)?;
            if own != id && short_id(&own) != id {
                continue;
            }
            let became: String = r.get(3)?;
            let became = codec::word("usage_identity.became", &became, Became::parse)?;
            let instance = r.get::<_, Option<i64>>(2)?.map(InstanceId);
            aliases.extend(instance.filter(|_| own != key.object_id));
            found.push(OtherUse {
                source: name.to_owned(),
                start: Timestamp(r.get(0)?),
                end: r.get::<_, Option<i64>>(1)?.map(Timestamp),
                instance,
                is_charged: became.counts(),
            });
        }
    }
    Ok(aliases)
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
        user: r.get(14)?,
    })
}
