//! Reference data out: one upsert a kind of row.

use super::{Error, access, attention, codec, cycle, kind};
use bank_core::effects::DirectoryRow;
use bank_core::model::{Account, Key, Overflow};
use bank_core::rate::Rate;
use rusqlite::{Connection, params};

pub(super) fn write_reference(connection: &Connection, row: &DirectoryRow) -> Result<(), Error> {
    match row {
        DirectoryRow::Member(m) => connection.execute(
            "INSERT INTO member (project, user, active, role) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (project, user) DO UPDATE SET active = ?3, role = ?4",
            (m.project.0, m.user.0, m.active, m.role.word()),
        )?,
        DirectoryRow::MemberGone(project, user) => connection.execute(
            "DELETE FROM member WHERE project = ?1 AND user = ?2",
            (project.0, user.0),
        )?,
        DirectoryRow::Account(a) => write_account(connection, a)?,
        DirectoryRow::Rate(r) => write_rate(connection, r)?,
        DirectoryRow::Key(k) => write_key(connection, k)?,
        DirectoryRow::Cycle(c) => cycle::write(connection, c)?,
        DirectoryRow::Record(record) => kind::write(connection, record)?,
        DirectoryRow::Quiet(project, quiet) => {
            attention::write_quiet(connection, *project, *quiet)?
        }
        DirectoryRow::Grant(g) => access::write_grant(connection, g)?,
        DirectoryRow::Limit(l) => access::write_limit(connection, l)?,
        DirectoryRow::LimitGone(of) => access::remove_limit(connection, of)?,
    };
    Ok(())
}

fn write_rate(connection: &Connection, r: &Rate) -> Result<usize, Error> {
    Ok(connection.execute(
        "INSERT INTO rate (id, kind, name, instance, billionths, per_s, machine, from_at,
             until_at, description, hours, zone)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
         ON CONFLICT (id) DO UPDATE SET until_at = ?9",
        params![
            r.id.0,
            r.kind.code(),
            r.name,
            r.instance,
            r.value.0,
            r.per.seconds(),
            r.machine.map(|m| m.0),
            r.window.start.map(|t| t.0),
            r.window.end.map(|t| t.0),
            r.description,
            r.hours(),
            r.when.as_ref().map_or_else(String::new, |c| c.zone.text())
        ],
    )?)
}

fn write_key(connection: &Connection, k: &Key) -> Result<usize, Error> {
    Ok(connection.execute(
        "INSERT INTO auth_key (id, client, roles, projects, machines, from_at, until_at,
             disabled, deleted, token) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT (id) DO UPDATE SET roles = ?3, projects = ?4, machines = ?5,
             from_at = ?6, until_at = ?7, disabled = ?8, deleted = ?9",
        params![
            k.id,
            k.client,
            codec::join(&k.roles),
            codec::join(&k.projects),
            codec::join(&k.machines),
            k.window.start.map(|t| t.0),
            k.window.end.map(|t| t.0),
            k.disabled,
            k.deleted,
            k.token.map(|hash| codec::hex(&hash))
        ],
    )?)
}

fn write_account(connection: &Connection, a: &Account) -> Result<usize, Error> {
    connection.execute(
        "INSERT INTO account (id, name, priority, fallback, blocked, deleted, description, parent,
             share, overflow, discrete) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
         ON CONFLICT (id) DO UPDATE SET priority = ?3, fallback = ?4, blocked = ?5, deleted = ?6,
             description = ?7, parent = ?8, share = ?9, overflow = ?10, discrete = ?11",
        params![
            a.id.0,
            a.name,
            a.priority,
            a.fallback,
            a.blocked,
            a.deleted,
            a.description,
            a.link.map(|l| l.parent.0),
            a.link.map_or(0, |l| l.share),
            a.link.map_or(Overflow::No, |l| l.overflow).word(),
            a.discrete
        ],
    )?;
    connection.execute(
        "DELETE FROM account_constraint WHERE account = ?1",
        [a.id.0],
    )?;
    for (n, c) in (0_i64..).zip(&a.constraints) {
        connection.execute(
            "INSERT INTO account_constraint VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![a.id.0, n, c.dimension.word(), c.value, c.allow, c.subtree],
        )?;
    }
    Ok(a.constraints.len())
}
