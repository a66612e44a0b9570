//! Hardware with its downtimes, contributions and contributors: in and out.

use super::{Error, codec};
use bank_core::contribution::hardware::Kind;
use bank_core::contribution::host::Pattern;
use bank_core::directory::{Directory, Equipped};
use bank_core::ids::{ContributionId, DowntimeId, HardwareId};
use bank_core::model::{Contribution, Contributor, Downtime, Hardware};
use bank_core::time::{Timestamp, Window};
use rusqlite::{Connection, Row, params};

const HARDWARE: &str =
    "SELECT id, priority, name, machine, hosts, factor, processors, nodes, counts,
    from_at, until_at, description, deleted FROM hardware ORDER BY id";
const DOWNTIMES: &str =
    "SELECT id, hardware, nodes, from_at, until_at, reason, deleted FROM downtime ORDER BY id";
const CONTRIBUTORS: &str =
    "SELECT name, user, exempt, projects, description, deleted FROM contributor ORDER BY name";
const CONTRIBUTIONS: &str =
    "SELECT id, contributor, paid_by, what, processors, split, factor, from_at,
    until_at, description, deleted FROM contribution ORDER BY id";

/// Reads all of it into a directory.
pub(super) fn add_all(connection: &Connection, directory: &mut Directory) -> Result<(), Error> {
    let own = &mut directory.equipment;
    each(connection, HARDWARE, |r| {
        own.put_hardware(hardware(r)?);
        Ok(())
    })?;
    each(connection, DOWNTIMES, |r| {
        own.put_downtime(downtime(r)?);
        Ok(())
    })?;
    each(connection, CONTRIBUTORS, |r| {
        own.put_contributor(contributor(r)?);
        Ok(())
    })?;
    each(connection, CONTRIBUTIONS, |r| {
        own.put_contribution(contribution(r)?);
        Ok(())
    })
}

/// The hardware that stands, as factors go by it: in its order.
pub(super) fn kinds(connection: &Connection) -> Result<Vec<Kind>, Error> {
    let mut own = Equipped::default();
    each(connection, HARDWARE, |r| {
        own.put_hardware(hardware(r)?);
        Ok(())
    })?;
    Ok(own.kinds())
}

/// Hardware as it stands, if there is any of that number.
pub(super) fn hardware_of(
    connection: &Connection,
    id: HardwareId,
) -> Result<Option<Hardware>, Error> {
    let mut statement = connection.prepare(HARDWARE)?;
    let mut rows = statement.query([])?;
    while let Some(r) = rows.next()? {
        if r.get::<_, i64>(0)? == id.0 {
            return Ok(Some(hardware(r)?));
        }
    }
    Ok(None)
}

fn each(
    connection: &Connection,
    sql: &str,
    mut row: impl FnMut(&Row<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(r) = rows.next()? {
        row(r)?;
    }
    Ok(())
}

pub(super) fn hardware(r: &Row<'_>) -> Result<Hardware, Error> {
    let hosts = codec::lines(&r.get::<_, String>(4)?);
    let pattern = |text: String| codec::word("hardware.hosts", &text, Pattern::parse);
    Ok(Hardware {
        id: HardwareId(r.get(0)?),
        priority: r.get(1)?,
        name: r.get(2)?,
        machine: r.get(3)?,
        hosts: hosts.into_iter().map(pattern).collect::<Result<_, _>>()?,
        factor: factor(r, 5)?,
        processors: r.get(6)?,
        nodes: r.get(7)?,
        counts: r.get(8)?,
        valid: window(r, 9)?,
        description: r.get(11)?,
        deleted: r.get(12)?,
    })
}

pub(super) fn downtime(r: &Row<'_>) -> Result<Downtime, Error> {
    Ok(Downtime {
        id: DowntimeId(r.get(0)?),
        hardware: HardwareId(r.get(1)?),
        nodes: r.get(2)?,
        valid: window(r, 3)?,
        reason: r.get(5)?,
        deleted: r.get(6)?,
    })
}

pub(super) fn contributor(r: &Row<'_>) -> Result<Contributor, Error> {
    Ok(Contributor {
        name: r.get(0)?,
        user: r.get(1)?,
        exempt: r.get(2)?,
        projects: codec::lines(&r.get::<_, String>(3)?),
        description: r.get(4)?,
        deleted: r.get(5)?,
    })
}

pub(super) fn contribution(r: &Row<'_>) -> Result<Contribution, Error> {
    Ok(Contribution {
        id: ContributionId(r.get(0)?),
        contributor: r.get(1)?,
        paid_by: r.get(2)?,
        what: r.get(3)?,
        processors: r.get(4)?,
        split: r.get(5)?,
        factor: factor(r, 6)?,
        valid: window(r, 7)?,
        description: r.get(9)?,
        deleted: r.get(10)?,
    })
}

fn factor(r: &Row<'_>, place: usize) -> Result<u64, Error> {
    let billionths: i64 = r.get(place)?;
    codec::word("factor", &billionths.to_string(), |text| text.parse().ok())
}

fn window(r: &Row<'_>, place: usize) -> Result<Window, Error> {
    let behind = place.saturating_add(1);
    Ok(Window {
        start: r.get::<_, Option<i64>>(place)?.map(Timestamp),
        end: r.get::<_, Option<i64>>(behind)?.map(Timestamp),
    })
}

pub(super) fn write_hardware(connection: &Connection, own: &Hardware) -> Result<usize, Error> {
    let hosts: Vec<String> = own
        .hosts
        .iter()
        .map(|host| host.text().to_owned())
        .collect();
    Ok(connection.execute(
        "INSERT INTO hardware (id, priority, name, machine, hosts, factor, processors, nodes, counts,
             from_at, until_at, description, deleted)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
         ON CONFLICT (id) DO UPDATE SET priority = ?2, name = ?3, machine = ?4, hosts = ?5,
             factor = ?6, processors = ?7, nodes = ?8, counts = ?9, from_at = ?10, until_at = ?11,
             description = ?12, deleted = ?13",
        params![
            own.id.0,
            own.priority,
            own.name,
            own.machine,
            codec::join(&hosts),
            stored(own.factor),
            own.processors,
            own.nodes,
            own.counts,
            own.valid.start.map(|at| at.0),
            own.valid.end.map(|at| at.0),
            own.description,
            own.deleted,
        ],
    )?)
}

pub(super) fn write_downtime(connection: &Connection, own: &Downtime) -> Result<usize, Error> {
    Ok(connection.execute(
        "INSERT INTO downtime (id, hardware, nodes, from_at, until_at, reason, deleted)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (id) DO UPDATE SET hardware = ?2, nodes = ?3, from_at = ?4, until_at = ?5,
             reason = ?6, deleted = ?7",
        params![
            own.id.0,
            own.hardware.0,
            own.nodes,
            own.valid.start.map(|at| at.0),
            own.valid.end.map(|at| at.0),
            own.reason,
            own.deleted,
        ],
    )?)
}

pub(super) fn write_contributor(
    connection: &Connection,
    own: &Contributor,
) -> Result<usize, Error> {
    Ok(connection.execute(
        "INSERT INTO contributor (name, user, exempt, projects, description, deleted)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (name) DO UPDATE SET user = ?2, exempt = ?3, projects = ?4, description = ?5,
             deleted = ?6",
        params![
            own.name,
            own.user,
            own.exempt,
            codec::join(&own.projects),
            own.description,
            own.deleted,
        ],
    )?)
}

pub(super) fn write_contribution(
    connection: &Connection,
    own: &Contribution,
) -> Result<usize, Error> {
    Ok(connection.execute(
        "INSERT INTO contribution (id, contributor, paid_by, what, processors, split, factor,
             from_at, until_at, description, deleted)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
         ON CONFLICT (id) DO UPDATE SET contributor = ?2, paid_by = ?3, what = ?4, processors = ?5,
             split = ?6, factor = ?7, from_at = ?8, until_at = ?9, description = ?10, deleted = ?11",
        params![
            own.id.0,
            own.contributor,
            own.paid_by,
            own.what,
            own.processors,
            own.split,
            stored(own.factor),
            own.valid.start.map(|at| at.0),
            own.valid.end.map(|at| at.0),
            own.description,
            own.deleted,
        ],
    )?)
}

/// Factors are bounded far below what a column holds.
fn stored(factor: u64) -> i64 {
    i64::try_from(factor).unwrap_or(i64::MAX)
}
