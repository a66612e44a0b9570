//! Instances and liens out.

use super::{Error, codec};
use bank_core::effects::InstanceChange;
use bank_core::ids::InstanceId;
use bank_core::model::{Instance, Lien, LienState};
use bank_core::terms::Span;
use bank_core::view::Next;
use rusqlite::{Connection, params};

pub(super) fn write_instance(
    connection: &Connection,
    change: &InstanceChange,
    before: Next,
) -> Result<(), Error> {
    let i = &change.instance;
    if i.id.0 >= before.instance {
        return insert_instance(connection, i);
    }
    match (change.standing_changed, change.facts_changed) {
        (true, true) => {
            update_instance(connection, i)?;
            update_facts(connection, i)
        }
        (true, false) => update_instance(connection, i),
        (false, true) => update_counts_and_facts(connection, i),
        (false, false) => update_counts(connection, i),
    }
}

fn insert_instance(connection: &Connection, i: &Instance) -> Result<(), Error> {
    let (exact_whole, exact_part) = codec::columns(i.exact_sum);
    let (once_whole, once_part) = codec::columns(i.once_sum);
    let f = &i.facts;
    let text = |d: Option<bank_core::decimal::Decimal>| d.map(|d| d.to_string());
    connection
        .prepare_cached(
            "INSERT INTO instance (id, machine, object_type, object_id, number, opened_at,
                 closed_at, closed_by, account, fallback_from, exact_whole, exact_part,
                 once_whole, once_part, billed, shadow_billed, charged_s, processor_s, record,
                 last_usage, rates_at, quote, absorbed, due_at, lien, project, user, group_name,
                 qos, class, processors, nodes, memory_mb, disk_mb, gres, attributes, wall_s,
                 start_at, end_at, submit_at, state, exit_code, other, lien_expired, began_at,
                 used_until, disputed_s)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                 ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33,
                 ?34, ?35, ?36, ?37, ?38, ?39, ?40, ?41, ?42, ?43, ?44, ?45, ?46, ?47)",
        )?
        .execute(params![
            i.id.0,
            i.key.machine,
            i.key.object_type.word(),
            i.key.object_id,
            i.number,
            i.opened.0,
            i.closed.map(|c| c.0.0),
            i.closed.map(|c| c.1.word()),
            i.account.map(|a| a.0),
            i.fallback_from.map(|a| a.0),
            exact_whole,
            exact_part,
            once_whole,
            once_part,
            i.billed.0,
            i.shadow_billed.0,
            i.charged.0,
            i.processor_seconds.to_string(),
            i.record.map(|u| u.0),
            i.last_usage.map(|u| u.0),
            i.rates_at.map(|t| t.0),
            i.quote.map(|q| q.0),
            i.absorbed,
            i.due.map(|t| t.0),
            i.lien.as_ref().map(|l| l.id.0),
            f.project,
            f.user,
            f.group,
            f.usage.qos,
            f.usage.class,
            text(f.usage.processors),
            text(f.usage.nodes),
            text(f.usage.memory_mb),
            text(f.usage.disk_mb),
            codec::quantities(&f.usage.gres),
            codec::pairs(&f.usage.attributes),
            f.wall.map(|s| s.0),
            f.start.map(|t| t.0),
            f.end.map(|t| t.0),
            f.submit.map(|t| t.0),
            f.state,
            f.exit_code,
            codec::pairs(&f.other),
            i.lien_expired,
            i.began.map(|t| t.0),
            i.used_until.map(|t| t.0),
            i.disputed.0,
        ])?;
    Ok(())
}

fn update_instance(connection: &Connection, i: &Instance) -> Result<(), Error> {
    let (exact_whole, exact_part) = codec::columns(i.exact_sum);
    let (once_whole, once_part) = codec::columns(i.once_sum);
    connection
        .prepare_cached(
            "UPDATE instance SET closed_at = ?2, closed_by = ?3, account = ?4, fallback_from = ?5,
                 exact_whole = ?6, exact_part = ?7, once_whole = ?8, once_part = ?9, billed = ?10,
                 shadow_billed = ?11, charged_s = ?12, processor_s = ?13, record = ?14,
                 last_usage = ?15, rates_at = ?16, quote = ?17, absorbed = ?18, due_at = ?19,
                 lien = ?20, lien_expired = ?21, began_at = ?22, used_until = ?23,
                 disputed_s = ?24 WHERE id = ?1",
        )?
        .execute(params![
            i.id.0,
            i.closed.map(|c| c.0.0),
            i.closed.map(|c| c.1.word()),
            i.account.map(|a| a.0),
            i.fallback_from.map(|a| a.0),
            exact_whole,
            exact_part,
            once_whole,
            once_part,
            i.billed.0,
            i.shadow_billed.0,
            i.charged.0,
            i.processor_seconds.to_string(),
            i.record.map(|u| u.0),
            i.last_usage.map(|u| u.0),
            i.rates_at.map(|t| t.0),
            i.quote.map(|q| q.0),
            i.absorbed,
            i.due.map(|t| t.0),
            i.lien.as_ref().map(|l| l.id.0),
            i.lien_expired,
            i.began.map(|t| t.0),
            i.used_until.map(|t| t.0),
            i.disputed.0,
        ])?;
    Ok(())
}

/// What a charge counts up. No index and no foreign key looks at these columns, so this is far
/// cheaper than [`update_instance`].
fn update_counts(connection: &Connection, i: &Instance) -> Result<(), Error> {
    let (exact_whole, exact_part) = codec::columns(i.exact_sum);
    let (once_whole, once_part) = codec::columns(i.once_sum);
    connection
        .prepare_cached(
            "UPDATE instance SET exact_whole = ?2, exact_part = ?3, once_whole = ?4,
                 once_part = ?5, billed = ?6, shadow_billed = ?7, charged_s = ?8, processor_s = ?9,
                 record = ?10, last_usage = ?11, used_until = ?12 WHERE id = ?1",
        )?
        .execute(params![
            i.id.0,
            exact_whole,
            exact_part,
            once_whole,
            once_part,
            i.billed.0,
            i.shadow_billed.0,
            i.charged.0,
            i.processor_seconds.to_string(),
            i.record.map(|u| u.0),
            i.last_usage.map(|u| u.0),
            i.used_until.map(|t| t.0),
        ])?;
    Ok(())
}

/// The same with what the scheduler said, in one statement: what most charges need.
fn update_counts_and_facts(connection: &Connection, i: &Instance) -> Result<(), Error> {
    let (exact_whole, exact_part) = codec::columns(i.exact_sum);
    let (once_whole, once_part) = codec::columns(i.once_sum);
    let f = &i.facts;
    let text = |d: Option<bank_core::decimal::Decimal>| d.map(|d| d.to_string());
    connection
        .prepare_cached(
            "UPDATE instance SET exact_whole = ?2, exact_part = ?3, once_whole = ?4,
                 once_part = ?5, billed = ?6, shadow_billed = ?7, charged_s = ?8, processor_s = ?9,
                 record = ?10, last_usage = ?11, project = ?12, user = ?13, group_name = ?14,
                 qos = ?15, class = ?16, processors = ?17, nodes = ?18, memory_mb = ?19,
                 disk_mb = ?20, gres = ?21, attributes = ?22, wall_s = ?23, start_at = ?24,
                 end_at = ?25, submit_at = ?26, state = ?27, exit_code = ?28, other = ?29,
                 used_until = ?30 WHERE id = ?1",
        )?
        .execute(params![
            i.id.0,
            exact_whole,
            exact_part,
            once_whole,
            once_part,
            i.billed.0,
            i.shadow_billed.0,
            i.charged.0,
            i.processor_seconds.to_string(),
            i.record.map(|u| u.0),
            i.last_usage.map(|u| u.0),
            f.project,
            f.user,
            f.group,
            f.usage.qos,
            f.usage.class,
            text(f.usage.processors),
            text(f.usage.nodes),
            text(f.usage.memory_mb),
            text(f.usage.disk_mb),
            codec::quantities(&f.usage.gres),
            codec::pairs(&f.usage.attributes),
            f.wall.map(|s| s.0),
            f.start.map(|t| t.0),
            f.end.map(|t| t.0),
            f.submit.map(|t| t.0),
            f.state,
            f.exit_code,
            codec::pairs(&f.other),
            i.used_until.map(|t| t.0),
        ])?;
    Ok(())
}

fn update_facts(connection: &Connection, i: &Instance) -> Result<(), Error> {
    let f = &i.facts;
    let text = |d: Option<bank_core::decimal::Decimal>| d.map(|d| d.to_string());
    connection
        .prepare_cached(
            "UPDATE instance SET project = ?2, user = ?3, group_name = ?4, qos = ?5, class = ?6,
                 processors = ?7, nodes = ?8, memory_mb = ?9, disk_mb = ?10, gres = ?11,
                 attributes = ?12, wall_s = ?13, start_at = ?14, end_at = ?15, submit_at = ?16,
                 state = ?17, exit_code = ?18, other = ?19 WHERE id = ?1",
        )?
        .execute(params![
            i.id.0,
            f.project,
            f.user,
            f.group,
            f.usage.qos,
            f.usage.class,
            text(f.usage.processors),
            text(f.usage.nodes),
            text(f.usage.memory_mb),
            text(f.usage.disk_mb),
            codec::quantities(&f.usage.gres),
            codec::pairs(&f.usage.attributes),
            f.wall.map(|s| s.0),
            f.start.map(|t| t.0),
            f.end.map(|t| t.0),
            f.submit.map(|t| t.0),
            f.state,
            f.exit_code,
            codec::pairs(&f.other),
        ])?;
    Ok(())
}

pub(super) fn write_lien(connection: &Connection, lien: &Lien, before: Next) -> Result<(), Error> {
    if lien.id.0 >= before.lien {
        connection
            .prepare_cached(
                "INSERT INTO lien (id, instance, state, placed, start_at, end_at, shadow)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![
                lien.id.0,
                lien.instance.0,
                lien.state.word(),
                lien.placed.0,
                lien.start.0,
                lien.end.0,
                lien.shadow
            ])?;
        for (n, portion) in (0_i64..).zip(&lien.portions) {
            connection
                .prepare_cached("INSERT INTO lien_allocation VALUES (?1, ?2, ?3, ?4)")?
                .execute((lien.id.0, n, portion.allocation.0, portion.amount.0))?;
        }
        return Ok(());
    }
    if lien.state == LienState::Open {
        for (n, portion) in (0_i64..).zip(&lien.portions) {
            connection
                .prepare_cached(
                    "UPDATE lien_allocation SET amount = ?3 WHERE lien = ?1 AND n = ?2",
                )?
                .execute((lien.id.0, n, portion.amount.0))?;
        }
        return Ok(());
    }
    connection
        .prepare_cached("UPDATE lien SET state = ?2, lapsed = ?3 WHERE id = ?1")?
        .execute((lien.id.0, lien.state.word(), lien.lapsed.0))?;
    connection
        .prepare_cached("DELETE FROM lien_allocation WHERE lien = ?1")?
        .execute([lien.id.0])?;
    Ok(())
}

/// A lien whose end or whose portions are other than before, as a whole.
pub(super) fn relay_lien(connection: &Connection, lien: &Lien) -> Result<(), Error> {
    connection
        .prepare_cached("UPDATE lien SET state = ?2, end_at = ?3, lapsed = ?4 WHERE id = ?1")?
        .execute((lien.id.0, lien.state.word(), lien.end.0, lien.lapsed.0))?;
    connection
        .prepare_cached("DELETE FROM lien_allocation WHERE lien = ?1")?
        .execute([lien.id.0])?;
    for (n, portion) in (0_i64..).zip(&lien.portions) {
        connection
            .prepare_cached("INSERT INTO lien_allocation VALUES (?1, ?2, ?3, ?4)")?
            .execute((lien.id.0, n, portion.allocation.0, portion.amount.0))?;
    }
    Ok(())
}

/// The billed windows of an instance, all of them anew.
pub(super) fn write_windows(
    connection: &Connection,
    instance: InstanceId,
    windows: &[Span],
) -> Result<(), Error> {
    connection
        .prepare_cached("DELETE FROM billed_window WHERE instance = ?1")?
        .execute([instance.0])?;
    for window in windows {
        connection
            .prepare_cached("INSERT INTO billed_window VALUES (?1, ?2, ?3)")?
            .execute((instance.0, window.start.0, window.end.0))?;
    }
    Ok(())
}
