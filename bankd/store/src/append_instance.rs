//! Instances and liens out.

use super::{Error, codec, seal};
use bank_core::decimal::Decimal;
use bank_core::effects::InstanceChange;
use bank_core::ids::{InstanceId, Next};
use bank_core::model::{Instance, Lien, LienState};
use bank_core::terms::Span;
use bank_core::time::Timestamp;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, params};
use std::borrow::Cow;
use std::ops::RangeInclusive;

pub(super) fn write_instance(
    connection: &Connection,
    change: &InstanceChange,
    before: Next,
) -> Result<(), Error> {
    let instance = &change.instance;
    let (sql, written): (_, &[RangeInclusive<usize>]) = if instance.id.0 >= before.instance {
        (INSERT, &[0..=49])
    } else {
        match (change.standing_changed, change.facts_changed) {
            (true, true) => (STANDING_AND_FACTS, &[0..=0, 6..=49]),
            (true, false) => (STANDING, &[0..=0, 6..=24, 43..=49]),
            (false, true) => (
                COUNTS_AND_FACTS,
                &[0..=0, 10..=19, 25..=42, 45..=45, 48..=48],
            ),
            (false, false) => (COUNTS, &[0..=0, 10..=19, 45..=45, 48..=48]),
        }
    };
    let row = columns(instance);
    let mut statement = connection.prepare_cached(sql)?;
    for place in written.iter().flat_map(RangeInclusive::clone) {
        // The place of a column in the row is that of its parameter, from one.
        let Some(value) = row.get(place).filter(|value| !is_null(value)) else {
            continue;
        };
        statement.raw_bind_parameter(place.saturating_add(1), value)?;
    }
    statement.raw_bind_parameter(row.len().saturating_add(1), seal::of_values(&row)?)?;
    statement.raw_execute()?;
    Ok(())
}

/// Whether a value is that of a parameter to which nothing is bound, as in a statement from the cache.
fn is_null(value: &ToSqlOutput<'_>) -> bool {
    matches!(
        value,
        ToSqlOutput::Borrowed(ValueRef::Null) | ToSqlOutput::Owned(Value::Null)
    )
}

/// The columns of an instance in the order of [`super::instance::INSTANCE`], which its seal is over.
fn columns(i: &Instance) -> [ToSqlOutput<'_>; 50] {
    let (exact_whole, exact_part) = codec::columns(i.exact_sum);
    let (once_whole, once_part) = codec::columns(i.once_sum);
    let (f, u) = (&i.facts, &i.facts.usage);
    let decimal = |d: Option<Decimal>| owned(d.map(|d| Value::Text(d.to_string())));
    let list = |text: Cow<'static, str>| ToSqlOutput::Owned(Value::Text(text.into_owned()));
    let time = |at: Option<Timestamp>| number(at.map(|t| t.0));
    let flag = |is: bool| number(Some(i64::from(is)));
    [
        number(Some(i.id.0)),
        text(Some(&i.key.machine)),
        text(Some(i.key.object_type.word())),
        text(Some(&i.key.object_id)),
        number(Some(i.number)),
        number(Some(i.opened.0)),
        number(i.closed.map(|c| c.0.0)),
        text(i.closed.map(|c| c.1.word())),
        number(i.account.map(|a| a.0)),
        number(i.fallback_from.map(|a| a.0)),
        number(Some(exact_whole)),
        number(Some(exact_part)),
        number(Some(once_whole)),
        number(Some(once_part)),
        number(Some(i.billed.0)),
        number(Some(i.shadow_billed.0)),
        number(Some(i.charged.0)),
        ToSqlOutput::Owned(Value::Text(i.processor_seconds.to_string())),
        number(i.record.map(|u| u.0)),
        number(i.last_usage.map(|u| u.0)),
        time(i.rates_at),
        number(i.quote.map(|q| q.0)),
        flag(i.absorbed),
        time(i.due),
        number(i.lien.as_ref().map(|l| l.id.0)),
        text(Some(&f.project)),
        text(Some(&f.user)),
        text(Some(&f.group)),
        text(u.qos.as_deref()),
        text(u.class.as_deref()),
        decimal(u.processors),
        decimal(u.nodes),
        decimal(u.memory_mb),
        decimal(u.disk_mb),
        list(codec::quantities(&u.gres)),
        list(codec::pairs(&u.attributes)),
        number(f.wall.map(|s| s.0)),
        time(f.start),
        time(f.end),
        time(f.submit),
        text(Some(&f.state)),
        number(f.exit_code),
        list(codec::pairs(&f.other)),
        flag(i.lien_expired),
        time(i.began),
        time(i.used_until),
        number(Some(i.disputed.0)),
        time(i.earliest),
        text(i.mode.map(bank_core::model::Mode::word)),
        number(Some(i.kept.0)),
    ]
}

fn number(number: Option<i64>) -> ToSqlOutput<'static> {
    owned(number.map(Value::Integer))
}

fn text(text: Option<&str>) -> ToSqlOutput<'_> {
    let value = text.map_or(ValueRef::Null, |text| ValueRef::Text(text.as_bytes()));
    ToSqlOutput::Borrowed(value)
}

fn owned(value: Option<Value>) -> ToSqlOutput<'static> {
    ToSqlOutput::Owned(value.unwrap_or(Value::Null))
}

const INSERT: &str =
    "INSERT INTO instance (id, machine, object_type, object_id, number, opened_at, closed_at,
    closed_by, account, fallback_from, exact_whole, exact_part, once_whole, once_part,
    billed, shadow_billed, charged_s, processor_s, record, last_usage, rates_at, quote,
    absorbed, due_at, lien, project, user, group_name, qos, class, processors, nodes,
    memory_mb, disk_mb, gres, attributes, wall_s, start_at, end_at, submit_at, state,
    exit_code, other, lien_expired, began_at, used_until, disputed_s, earliest_at, mode, kept_s, seal)
    VALUES (?1, ?2,
    ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
    ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38,
    ?39, ?40, ?41, ?42, ?43, ?44, ?45, ?46, ?47, ?48, ?49, ?50, ?51)";

/// The counters that a charge increases. No index and no foreign key covers these columns, so this
/// is far cheaper than [`STANDING`].
const COUNTS: &str =
    "UPDATE instance SET exact_whole = ?11, exact_part = ?12, once_whole = ?13, once_part =
    ?14, billed = ?15, shadow_billed = ?16, charged_s = ?17, processor_s = ?18, record =
    ?19, last_usage = ?20, used_until = ?46, mode = ?49, seal = ?51 WHERE id = ?1";

/// The same with the facts from the scheduler, in one statement: most charges need this.
const COUNTS_AND_FACTS: &str =
    "UPDATE instance SET exact_whole = ?11, exact_part = ?12, once_whole = ?13, once_part =
    ?14, billed = ?15, shadow_billed = ?16, charged_s = ?17, processor_s = ?18, record =
    ?19, last_usage = ?20, used_until = ?46, mode = ?49, project = ?26, user = ?27, group_name = ?28,
    qos = ?29, class = ?30, processors = ?31, nodes = ?32, memory_mb = ?33, disk_mb = ?34,
    gres = ?35, attributes = ?36, wall_s = ?37, start_at = ?38, end_at = ?39, submit_at =
    ?40, state = ?41, exit_code = ?42, other = ?43, seal = ?51 WHERE id = ?1";

/// The state with its counters.
const STANDING: &str =
    "UPDATE instance SET closed_at = ?7, closed_by = ?8, account = ?9, fallback_from = ?10,
    exact_whole = ?11, exact_part = ?12, once_whole = ?13, once_part = ?14, billed = ?15,
    shadow_billed = ?16, charged_s = ?17, processor_s = ?18, record = ?19, last_usage = ?20,
    rates_at = ?21, quote = ?22, absorbed = ?23, due_at = ?24, lien = ?25, lien_expired =
    ?44, began_at = ?45, used_until = ?46, mode = ?49, disputed_s = ?47, earliest_at = ?48, kept_s = ?50, seal = ?51 WHERE id = ?1";

/// Both.
const STANDING_AND_FACTS: &str =
    "UPDATE instance SET closed_at = ?7, closed_by = ?8, account = ?9, fallback_from = ?10,
    exact_whole = ?11, exact_part = ?12, once_whole = ?13, once_part = ?14, billed = ?15,
    shadow_billed = ?16, charged_s = ?17, processor_s = ?18, record = ?19, last_usage = ?20,
    rates_at = ?21, quote = ?22, absorbed = ?23, due_at = ?24, lien = ?25, lien_expired =
    ?44, began_at = ?45, used_until = ?46, mode = ?49, disputed_s = ?47, earliest_at = ?48, kept_s = ?50, project = ?26, user = ?27,
    group_name = ?28, qos = ?29, class = ?30, processors = ?31, nodes = ?32, memory_mb =
    ?33, disk_mb = ?34, gres = ?35, attributes = ?36, wall_s = ?37, start_at = ?38, end_at =
    ?39, submit_at = ?40, state = ?41, exit_code = ?42, other = ?43, seal = ?51 WHERE id =
    ?1";

pub(super) fn write_lien(connection: &Connection, lien: &Lien, before: Next) -> Result<(), Error> {
    if lien.id.0 >= before.lien {
        connection
            .prepare_cached(
                "INSERT INTO lien (id, instance, state, placed, start_at, end_at, shadow, lapsed,
                     seal) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8)",
            )?
            .execute(params![
                lien.id.0,
                lien.instance.0,
                lien.state.word(),
                lien.placed.0,
                lien.start.0,
                lien.end.0,
                lien.shadow,
                sealed(lien, 0)?,
            ])?;
        return write_portions(connection, lien);
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
    relay(connection, lien)?;
    forget_portions(connection, lien)
}

/// Rewrites a lien whose end or portions changed.
pub(super) fn relay_lien(connection: &Connection, lien: &Lien) -> Result<(), Error> {
    relay(connection, lien)?;
    forget_portions(connection, lien)?;
    write_portions(connection, lien)
}

/// The changeable columns of a lien other than its portions.
fn relay(connection: &Connection, lien: &Lien) -> Result<(), Error> {
    let (state, lapsed) = (lien.state.word(), lien.lapsed.0);
    let seal = sealed(lien, lapsed)?;
    let sql = "UPDATE lien SET state = ?2, end_at = ?3, lapsed = ?4, seal = ?5 WHERE id = ?1";
    connection
        .prepare_cached(sql)?
        .execute((lien.id.0, state, lien.end.0, lapsed, seal))?;
    Ok(())
}

/// The seal of a lien's row and of the number of its portions, which an ended one has none of.
fn sealed(lien: &Lien, lapsed: i64) -> Result<i64, Error> {
    let portions = match lien.state {
        LienState::Open => lien.portions.len(),
        _ => 0,
    };
    seal::of_values(params![
        lien.id.0,
        lien.instance.0,
        lien.state.word(),
        lien.placed.0,
        lien.start.0,
        lien.end.0,
        lien.shadow,
        lapsed,
        i64::try_from(portions).unwrap_or(i64::MAX),
    ])
}

fn forget_portions(connection: &Connection, lien: &Lien) -> Result<(), Error> {
    connection
        .prepare_cached("DELETE FROM lien_allocation WHERE lien = ?1")?
        .execute([lien.id.0])?;
    Ok(())
}

fn write_portions(connection: &Connection, lien: &Lien) -> Result<(), Error> {
    for (n, portion) in (0_i64..).zip(&lien.portions) {
        connection
            .prepare_cached("INSERT INTO lien_allocation VALUES (?1, ?2, ?3, ?4)")?
            .execute((lien.id.0, n, portion.allocation.0, portion.amount.0))?;
    }
    Ok(())
}

/// Rewrites the billed windows of an instance.
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
            .prepare_cached(
                "INSERT INTO billed_window (instance, start_at, end_at) VALUES (?1, ?2, ?3)",
            )?
            .execute((instance.0, window.start.0, window.end.0))?;
        let key = params![instance.0, window.start.0];
        seal::renew(connection, "billed_window", key)?;
    }
    Ok(())
}
