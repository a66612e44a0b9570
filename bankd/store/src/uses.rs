//! Stored state of finished uses by identity, and reserves with insufficient funds, reading and
//! writing.

use super::{Error, codec, instance, seal};
use bank_core::amount::Amount;
use bank_core::command::{AsNamed, Chunk, HISTORY, Identity};
use bank_core::effects::{Became, KnownUse, OtherUse, PricedFact, Shortage};
use bank_core::ids::{AllocationId, InstanceId};
use bank_core::model::{Instance, InstanceKey, ObjectType};
use bank_core::need::{INSTANCES_MAX, Need};
use bank_core::reconcile::{is_same_id, short_id};
use bank_core::time::Timestamp;
use bank_core::view::{Already, View};
use rusqlite::types::ToSql;
use rusqlite::{Connection, Row, params};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

/// Distinguishes equal records from amended ones: the first 16 bytes of SHA-256 over
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
    u.refusal, u.user, u.more, u.pi, u.account, u.login, u.id, u.given,
    u.qos != '', u.queue != '', u.group_name != '', u.nodes IS NOT NULL, u.memory_bytes IS NOT NULL,
    u.disk_bytes IS NOT NULL";

/// The place of the first column about a priced fact, in the order of [`PricedFact::ALL`].
const STATED: usize = 21;

/// The rows of finished uses that a command needs.
pub(super) fn add(connection: &Connection, need: &Need, view: &mut View) -> Result<(), Error> {
    if let Some((machine, source)) = &need.charges_on {
        view.machine_charged = is_charged(connection, machine, source)?;
    }
    if let Some(identity) = &need.identity {
        add_known(connection, identity, view)?;
    }
    if let Some(key) = &need.alias {
        let mut own = instances_like(connection, key)?;
        own.retain(|i| view.instances.iter().all(|known| known.id != i.id));
        view.instances.append(&mut own);
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
    let known = known_to(connection, row, &digest(&identity.record), identity)?;
    let instance = known.instance;
    view.known = Some(known);
    let Some(id) = instance.filter(|id| view.instances.iter().all(|i| i.id != *id)) else {
        return Ok(());
    };
    view.instances.extend(instance::by_id(connection, id)?);
    Ok(())
}

/// Number of reports whose identities are read together.
const TOGETHER: usize = 64;

/// The stored state of a chunk's reports, in order; empty if none is stored.
pub(super) fn of_chunk(connection: &Connection, chunk: &Chunk) -> Result<Vec<Already>, Error> {
    let mut already = Vec::new();
    add_used(connection, chunk, &mut already)?;
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
            let identity = report.identity();
            let checksum = chunk.digests.get(n).copied();
            let checksum = checksum.unwrap_or_else(|| digest(&identity.record));
            let known = known_to(connection, row, &checksum, &identity)?;
            if let Some(already) = at(&mut already, chunk, n) {
                already.known = Some(known);
            }
        }
    }
    Ok(already)
}

/// Which objects of a chunk have instances, with the name of a server behind their ids or without.
fn add_used(
    connection: &Connection,
    chunk: &Chunk,
    already: &mut Vec<Already>,
) -> Result<(), Error> {
    let sql = "SELECT 1 FROM instance WHERE object_id >= ?1 AND object_id < ?2 || '/' LIMIT 1";
    let mut any = connection.prepare_cached(sql)?;
    let near = near(chunk, |bounds| Ok(any.exists(bounds)?))?;
    for n in near {
        let Some(report) = chunk.reports.get(n) else {
            continue;
        };
        if is_used(connection, &report.request.key())?
            && let Some(already) = at(already, chunk, n)
        {
            already.has_instance = true;
        }
    }
    Ok(())
}

/// The stored state of one report; the first call allocates space for all.
fn at<'a>(already: &'a mut Vec<Already>, chunk: &Chunk, n: usize) -> Option<&'a mut Already> {
    if already.is_empty() {
        already.resize_with(chunk.reports.len(), Already::default);
    }
    already.get_mut(n)
}

/// The reports of a chunk that a row of a source may be there for.
fn maybe_known(connection: &Connection, chunk: &Chunk, source: i64) -> Result<Vec<usize>, Error> {
    let sql = "SELECT 1 FROM usage_identity
               WHERE source = ?1 AND object_id >= ?2 AND object_id < ?3 || '/' LIMIT 1";
    let mut any = connection.prepare_cached(sql)?;
    near(
        chunk,
        |(first, last)| Ok(any.exists((source, first, last))?),
    )
}

/// The reports of a chunk whose ids are near existing rows. Sources number their jobs, so new ids
/// are mostly beyond existing rows: one lookup covers many of them, in the order of their ids. Its
/// bounds include the ids with and without a server's name, and another id before a slash.
fn near<'c>(
    chunk: &'c Chunk,
    mut is_any: impl FnMut((&'c str, &'c str)) -> Result<bool, Error>,
) -> Result<Vec<usize>, Error> {
    let mut found = Vec::new();
    for some in chunk.reports.by_id().chunks(TOGETHER) {
        let reports = || some.iter().filter_map(|place| chunk.reports.get(*place));
        let ids = || reports().map(|report| report.request.object_id.as_str());
        let end = |id: &str| id.bytes().chain([b'/']).collect::<Vec<u8>>();
        let first = ids().map(short_id).min();
        let last = ids().max_by_key(|id| end(id));
        if let Some(bounds) = first.zip(last)
            && is_any(bounds)?
        {
            found.extend(some);
        }
    }
    Ok(found)
}

/// The finished uses of an object from any collector. A scheduler's further charge of an open use needs none: its first
/// charge saw that no collector counts it.
fn add_others(
    connection: &Connection,
    key: &InstanceKey,
    need: &Need,
    view: &mut View,
) -> Result<(), Error> {
    let is_billed = |i: &Instance| i.is_open() && i.is_charged();
    let are_billed = || view.instances.iter().all(is_billed);
    if need.identity.is_none() && !view.instances.is_empty() && are_billed() {
        return Ok(());
    }
    let mut aliases = Vec::new();
    for (id, name) in sources(connection)? {
        let found = others_of(connection, (id, &name), key, &mut view.others)?;
        aliases.extend(found);
    }
    for id in aliases {
        if view.instances.iter().all(|i| i.id != id) {
            view.instances.extend(instance::by_id(connection, id)?);
        }
    }
    Ok(())
}

/// Rows with the id of an object that are looked at, the newest.
const ALIKE_MAX: i64 = 1_000;

const EXACT: &str = "object_id = ?1";

/// The other ids of an object as an SQL condition with its parameters. An id with a server's name
/// equals the same id without it.
fn alike(id: &str) -> (&'static str, &str) {
    let short = short_id(id);
    if short == id {
        ("object_id > ?1 || '.' AND object_id < ?1 || '/'", id)
    } else {
        (EXACT, short)
    }
}

/// The instances of an object under its other ids, with the name of a server or without it.
fn instances_like(connection: &Connection, key: &InstanceKey) -> Result<Vec<Instance>, Error> {
    let (which, id) = alike(&key.object_id);
    let sql = format!(
        "SELECT {} FROM instance WHERE {which} AND machine = ?2 AND object_type = ?3
         ORDER BY object_id DESC, machine DESC, object_type DESC, number DESC LIMIT {ALIKE_MAX}",
        instance::INSTANCE
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query((id, &key.machine, key.object_type.word()))?;
    let mut found = Vec::new();
    while found.len() < INSTANCES_MAX {
        let Some(row) = rows.next()? else { break };
        let own = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
        if is_same_id(own, &key.object_id) {
            found.push(instance::with_lien(connection, row)?);
        }
    }
    Ok(found)
}

/// Whether an object was ever used, with the name of a server behind its id or without.
fn is_used(connection: &Connection, key: &InstanceKey) -> Result<bool, Error> {
    for (which, id) in [(EXACT, key.object_id.as_str()), alike(&key.object_id)] {
        let sql = format!(
            "SELECT object_id FROM instance WHERE {which} AND machine = ?2 AND object_type = ?3
             ORDER BY object_id DESC LIMIT {ALIKE_MAX}"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query((id, &key.machine, key.object_type.word()))?;
        while let Some(row) = rows.next()? {
            let own = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
            if is_same_id(own, &key.object_id) {
                return Ok(true);
            }
        }
    }
    Ok(false)
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
    let columns =
        "SELECT start_at, end_at, instance, became, object_id, policy FROM usage_identity";
    let (id, kind) = (key.object_id.as_str(), key.object_type.word());
    for (which, id) in [(EXACT, id), alike(id)] {
        let sql = format!(
            "{columns} WHERE source = ?1 AND {which} AND machine = ?3 AND object_type = ?4
             ORDER BY object_id DESC, start_at DESC LIMIT {ALIKE_MAX}",
            which = which.replace("?1", "?2")
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query((source, id, &key.machine, kind))?;
        while let Some(r) = rows.next()? {
            let own: String = r.get(4)?;
            if !is_same_id(&own, id) {
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
                is_charged: became.counts() && r.get::<_, String>(5)? != HISTORY,
            });
        }
    }
    Ok(aliases)
}

/// The machines that anything was reported of: one step through the index for each.
pub(super) fn machines(connection: &Connection) -> Result<Vec<String>, Error> {
    let sql = "SELECT machine FROM usage_identity WHERE machine > ?1 ORDER BY machine LIMIT 1";
    let first = "SELECT machine FROM usage_identity ORDER BY machine LIMIT 1";
    let mut found: Vec<String> = Vec::new();
    let mut next: Vec<String> = query(connection, first, [])?;
    while let Some(machine) = next.pop() {
        next = query(connection, sql, [&machine])?;
        found.push(machine);
    }
    Ok(found)
}

fn query(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<String>, Error> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(values, |r| r.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Whether a job was charged on a machine, other than by records of a source. Asked while no source has claimed it: the
/// first record that is charged does, also on a machine that was removed and added again. Reservations are charged by their
/// scheduler beside any source.
pub(super) fn is_charged(
    connection: &Connection,
    machine: &str,
    source: &str,
) -> Result<bool, Error> {
    let sql = "SELECT 1 FROM instance i WHERE i.machine = ?1 AND i.object_type = 'job'
                   AND i.last_usage IS NOT NULL
                   AND NOT EXISTS (SELECT 1 FROM usage_identity u JOIN source s ON s.id = u.source
                                   WHERE u.instance = i.id AND s.name = ?2)
               LIMIT 1";
    Ok(connection.prepare_cached(sql)?.exists([machine, source])?)
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

/// Notes that a person gave the finished use of an instance to its owner.
pub(super) fn give(connection: &Connection, instance: InstanceId) -> Result<(), Error> {
    let sql = "UPDATE usage_identity SET given = 1 WHERE instance = ?1 RETURNING id";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([instance.0], |r| r.get(0))?;
    let numbers: Vec<i64> = rows.collect::<Result<_, _>>()?;
    let mut numbers = numbers.iter();
    numbers.try_for_each(|number| seal::renew(connection, "usage_identity", &[number]))
}

/// A row compared with a new record: that one may be the stored one, or one that was replaced since.
fn known_to(
    connection: &Connection,
    row: &Row<'_>,
    checksum: &[u8; 16],
    identity: &Identity,
) -> Result<KnownUse, Error> {
    let mut known = read(row, Some((checksum, identity)))?;
    // Equal texts differ in the reservation that they name.
    let is_equal = row.get_ref(10)?.as_blob().is_ok_and(|own| own == checksum);
    let may_repeat = !is_equal && !known.is_same && !identity.is_present;
    if may_repeat && known.revision > 0 {
        let sql = "SELECT 1 FROM use_change WHERE identity = ?1 AND digest = ?2";
        let number: i64 = row.get(19)?;
        let mut statement = connection.prepare_cached(sql)?;
        known.is_earlier = statement.exists((number, checksum.as_slice()))?;
    }
    Ok(known)
}

/// The priced facts that the record of a row states.
fn stated(r: &Row<'_>) -> Result<Vec<PricedFact>, Error> {
    let mut found = Vec::new();
    for (column, fact) in (STATED..).zip(PricedFact::ALL) {
        if r.get(column)? {
            found.push(fact);
        }
    }
    Ok(found)
}

/// A row in the form that a new record with its digest needs; rows of earlier versions contain the text
/// of their record.
fn read(r: &Row<'_>, new: Option<(&[u8; 16], &Identity)>) -> Result<KnownUse, Error> {
    let kind: String = r.get(3)?;
    let became: String = r.get(6)?;
    let stored = r.get_ref(10)?.as_blob().map_err(rusqlite::Error::from)?;
    let more = r
        .get_ref(15)?
        .as_str_or_null()
        .map_err(rusqlite::Error::from)?;
    let is_same = |(checksum, identity): (&[u8; 16], &Identity)| {
        let is_equal = stored == checksum || stored == identity.record.as_bytes();
        is_equal && identity.is_in_reservation_of(more)
    };
    Ok(KnownUse {
        source: r.get(0)?,
        key: InstanceKey {
            object_id: r.get(1)?,
            machine: r.get(2)?,
            object_type: codec::word("usage_identity.object_type", &kind, ObjectType::parse)?,
        },
        project: r.get(4)?,
        stated: stated(r)?,
        is_same: new.is_some_and(is_same),
        is_earlier: false,
        revision: r.get(5)?,
        became: codec::word("usage_identity.became", &became, Became::parse)?,
        policy: r.get(7)?,
        counted: r.get(8)?,
        instance: r.get::<_, Option<i64>>(9)?.map(InstanceId),
        amount: r.get::<_, Option<i64>>(11)?.map(Amount),
        on: r.get::<_, Option<i64>>(12)?.map(AllocationId),
        refusal: r.get::<_, Option<String>>(13)?.map(Cow::Owned),
        user: r.get(14)?,
        pi: r.get(16)?,
        named: AsNamed {
            account: r.get(17)?,
            user: r.get(18)?,
        },
        given: r.get(20)?,
    })
}
