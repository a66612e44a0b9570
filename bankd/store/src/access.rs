//! Permissions: roles of people, limits, amounts moved per day, proposals; reading and writing.

use super::{Error, codec, seal};
use bank_core::amount::Amount;
use bank_core::directory::Directory;
use bank_core::effects::{Effects, Moved};
use bank_core::ids::{GrantId, ProjectId, ProposalId, TxId};
use bank_core::model::{Grant, Limit, LimitOf, MemberRole, Proposal, ProposalKind, ProposalState};
use bank_core::need::MovedBy;
use bank_core::role::Role;
use bank_core::time::Timestamp;
use bank_core::view::MovedBefore;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

/// The time of the decision is that of its transaction. Rejections of earlier versions are found by their reason.
const PROPOSAL: &str = "SELECT id, kind, amount, request, proposer, client, at, until_at, state,
    decider, reason, done, asked,
    CASE WHEN state = 'open' THEN NULL WHEN done IS NOT NULL THEN
        (SELECT t.at_recorded FROM tx t WHERE t.id = proposal.done)
    ELSE (SELECT t.at_recorded FROM tx t WHERE t.id > proposal.id AND t.op = 'reject'
        AND t.reason = rtrim('proposal=' || proposal.id || ' ' || proposal.reason) ORDER BY t.id LIMIT 1) END
    FROM proposal";

/// Adds the roles of people and the limits to the reference data.
pub(super) fn add_all(connection: &Connection, directory: &mut Directory) -> Result<(), Error> {
    let sql = "SELECT id, name, role, project, until_at, revoked FROM role_grant";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(r) = rows.next()? {
        directory.put_grant(grant(r)?);
    }
    let sql = "SELECT subject, name, per_operation, per_day FROM amount_limit";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(r) = rows.next()? {
        directory.put_limit(limit(r)?);
    }
    Ok(())
}

/// A member's place by its word.
pub(super) fn member_role(word: &str) -> Result<MemberRole, Error> {
    codec::word("member.role", word, MemberRole::parse)
}

pub(super) fn grant(r: &Row<'_>) -> Result<Grant, Error> {
    let role: String = r.get(2)?;
    Ok(Grant {
        id: GrantId(r.get(0)?),
        name: r.get(1)?,
        role: codec::word("role_grant.role", &role, Role::parse)?,
        project: r.get::<_, Option<i64>>(3)?.map(ProjectId),
        until: r.get::<_, Option<i64>>(4)?.map(Timestamp),
        revoked: r.get(5)?,
    })
}

pub(super) fn limit(r: &Row<'_>) -> Result<Limit, Error> {
    let (subject, name): (String, String) = (r.get(0)?, r.get(1)?);
    let of = match subject.as_str() {
        "role" => LimitOf::Role(codec::word("amount_limit.name", &name, Role::parse)?),
        _ => LimitOf::Name(name),
    };
    Ok(Limit {
        of,
        per_operation: r.get::<_, Option<i64>>(2)?.map(Amount),
        per_day: r.get::<_, Option<i64>>(3)?.map(Amount),
    })
}

pub(super) fn write_grant(connection: &Connection, g: &Grant) -> Result<usize, Error> {
    Ok(connection.execute(
        "INSERT INTO role_grant (id, name, role, project, until_at, revoked)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (id) DO UPDATE SET until_at = ?5, revoked = ?6",
        params![
            g.id.0,
            g.name,
            g.role.word(),
            g.project.map(|p| p.0),
            g.until.map(|t| t.0),
            g.revoked
        ],
    )?)
}

/// The two columns that name the subject of a limit.
pub(super) fn subject(of: &LimitOf) -> (&'static str, &str) {
    match of {
        LimitOf::Role(role) => ("role", role.word()),
        LimitOf::Name(name) => ("name", name),
    }
}

pub(super) fn write_limit(connection: &Connection, limit: &Limit) -> Result<usize, Error> {
    let (kind, name) = subject(&limit.of);
    Ok(connection.execute(
        "INSERT INTO amount_limit (subject, name, per_operation, per_day) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (subject, name) DO UPDATE SET per_operation = ?3, per_day = ?4",
        params![
            kind,
            name,
            limit.per_operation.map(|a| a.0),
            limit.per_day.map(|a| a.0)
        ],
    )?)
}

pub(super) fn remove_limit(connection: &Connection, of: &LimitOf) -> Result<usize, Error> {
    let (kind, name) = subject(of);
    let sql = "DELETE FROM amount_limit WHERE subject = ?1 AND name = ?2";
    Ok(connection.execute(sql, [kind, name])?)
}

/// Writes proposals, and the amounts that a person moved.
pub(super) fn write(connection: &Connection, effects: &Effects) -> Result<(), Error> {
    for proposal in &effects.proposals {
        write_proposal(connection, proposal)?;
    }
    match &effects.moved {
        Some(moved) => write_moved(connection, moved),
        None => Ok(()),
    }
}

/// Adds to the amount that a person moved on a day; removes days before the last one.
fn write_moved(connection: &Connection, moved: &Moved) -> Result<(), Error> {
    let mut statement = connection.prepare_cached("DELETE FROM moved WHERE day < ?1")?;
    statement.execute([moved.day.saturating_sub(1)])?;
    let sql = "SELECT amount FROM moved WHERE day = ?1 AND client = ?2 AND actor = ?3";
    let key = params![moved.day, moved.human, moved.actor];
    let before: Option<i64> = connection
        .prepare_cached(sql)?
        .query_row(key, |r| r.get(0))
        .optional()?;
    // A sum beyond the range of the column exceeds every limit.
    let amount = before.unwrap_or(0).saturating_add(moved.amount.0);
    let sql = "INSERT INTO moved (day, client, actor, amount) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT (day, client, actor) DO UPDATE SET amount = ?4";
    let row = params![moved.day, moved.human, moved.actor, amount];
    connection.prepare_cached(sql)?.execute(row)?;
    let key: [&dyn ToSql; 3] = [&moved.day, &moved.human, &moved.actor];
    seal::renew(connection, "moved", &key)
}

/// The amount that a person moved on a day. Older versions wrote the name of the client.
pub(super) fn moved_before(connection: &Connection, by: &MovedBy) -> Result<MovedBefore, Error> {
    let sql = "SELECT actor, amount FROM moved WHERE day = ?1 AND client IN (?2, 'unix:' || ?2)";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![by.day, by.human])?;
    let mut before = MovedBefore::default();
    while let Some(r) = rows.next()? {
        let (actor, amount): (String, i64) = (r.get(0)?, r.get(1)?);
        before.by_human = before.by_human.saturating_add(amount.into());
        if actor == by.actor {
            before.by_actor = before.by_actor.saturating_add(amount.into());
        }
    }
    Ok(before)
}

fn write_proposal(connection: &Connection, p: &Proposal) -> Result<(), Error> {
    let sql = "INSERT INTO proposal (id, kind, amount, request, proposer, client, at, until_at,
                   state, decider, reason, done, asked)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
               ON CONFLICT (id) DO UPDATE SET state = ?9, decider = ?10, reason = ?11, done = ?12";
    connection.execute(
        sql,
        params![
            p.id.0,
            p.kind.word(),
            p.amount.0,
            p.request,
            p.proposer,
            p.client,
            p.at.0,
            p.until.0,
            p.state.word(),
            p.decider,
            p.reason,
            p.done.map(|t| t.0),
            p.asked
        ],
    )?;
    seal::renew(connection, "proposal", &[&p.id.0])
}

/// A proposal by number.
pub fn proposal(connection: &Connection, id: ProposalId) -> Result<Option<Proposal>, Error> {
    let mut statement = connection.prepare_cached(&format!("{PROPOSAL} WHERE id = ?1"))?;
    let mut rows = statement.query([id.0])?;
    rows.next()?.map(read_proposal).transpose()
}

/// The proposal that an approved request became: its transaction follows the one of the approval.
pub fn passed_on(connection: &Connection, request: &Proposal) -> Result<Option<Proposal>, Error> {
    let sql = "WHERE id = (SELECT t.id + 1 FROM tx t WHERE t.id = ?1 AND t.op = 'request_pass')";
    let mut statement = connection.prepare_cached(&format!("{PROPOSAL} {sql}"))?;
    let mut rows = statement.query([request.done.map(|tx| tx.0)])?;
    rows.next()?.map(read_proposal).transpose()
}

/// The proposals of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proposals {
    /// Open ones.
    Open,
    /// All.
    All,
    /// All requests.
    Requests,
}

/// Proposals, the newest first; before a number, at most so many.
pub fn proposals(
    connection: &Connection,
    which: Proposals,
    before: Option<i64>,
    limit: usize,
) -> Result<Vec<Proposal>, Error> {
    let state = match which {
        Proposals::Open => "state = 'open'",
        Proposals::All => "1",
        Proposals::Requests => "asked IS NOT NULL",
    };
    let sql = format!("{PROPOSAL} WHERE {state} AND id < ?1 ORDER BY id DESC LIMIT ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query((before.unwrap_or(i64::MAX), limit))?;
    let mut found = Vec::new();
    while let Some(r) = rows.next()? {
        found.push(read_proposal(r)?);
    }
    Ok(found)
}

/// The number of open requests of a person at an instant.
pub(super) fn open_requests(
    connection: &Connection,
    person: &str,
    now: Timestamp,
) -> Result<i64, Error> {
    let sql = "SELECT count(*) FROM proposal WHERE state = 'open' AND asked IS NOT NULL
               AND until_at > ?1 AND client IN (?2, 'unix:' || ?2)";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row(params![now.0, person], |r| r.get(0))?)
}

fn read_proposal(r: &Row<'_>) -> Result<Proposal, Error> {
    let (kind, state): (String, String) = (r.get(1)?, r.get(8)?);
    let id: i64 = r.get(0)?;
    Ok(Proposal {
        id: ProposalId(id),
        kind: codec::word("proposal.kind", &kind, ProposalKind::parse)?,
        amount: Amount(r.get(2)?),
        request: r.get(3)?,
        asked: r.get(12)?,
        proposer: r.get(4)?,
        client: r.get(5)?,
        at: Timestamp(r.get(6)?),
        until: Timestamp(r.get(7)?),
        state: codec::word("proposal.state", &state, ProposalState::parse)?,
        decider: r.get(9)?,
        reason: r.get(10)?,
        tx: TxId(id),
        done: r.get::<_, Option<i64>>(11)?.map(TxId),
        decided_at: r.get::<_, Option<i64>>(13)?.map(Timestamp),
    })
}
