//! Checks rollups: each day is the sum of its hours, each month the sum of its days, and the total
//! of each key matches the usage. Seals protect single days; `bankd rollup verify` recomputes
//! everything.

use super::super::Error;
use super::super::rollup::{Counted, Key, add_up, each, each_hour, each_month, stored};
use super::{Finding, Report};
use bank_core_figures::rollup::{MEASURES, Measure, Sign, Sums, day_of};
use rusqlite::{Connection, Row};
use std::collections::BTreeMap;

/// The tables that this module checks.
pub(super) const TABLES: &[&str] = &["rollup_key", "rollup", "rollup_hour", "rollup_month"];

/// Project, user, machine, queue, quality of service and account.
type Name = ([String; 6], i64);

/// Totals of a key: running jobs by hours, and by days.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Total {
    sums: Sums,
    days: i128,
}

/// Adds findings to the report.
pub(super) fn check(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    months(connection, report)?;
    let mut stored = standing(connection, report)?;
    let mut should: BTreeMap<Name, Total> = BTreeMap::new();
    each(connection, &mut |key, _, counted| {
        let own = should.entry(name(key)).or_default();
        add(own, &counted);
        Ok(())
    })?;
    should.retain(|_, total| *total != Total::default());
    stored.retain(|_, total| *total != Total::default());
    for (name, is) in &stored {
        if should.get(name) != Some(is) {
            wrong(report, name, should.get(name), Some(is));
        }
    }
    for (name, should) in should
        .iter()
        .filter(|(name, _)| !stored.contains_key(*name))
    {
        wrong(report, name, Some(should), None);
    }
    Ok(())
}

/// Compares the stored months with their days, one after the other.
fn months(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let sql = "SELECT min(month) FROM rollup_month WHERE month > ?1";
    let mut statement = connection.prepare(sql)?;
    let mut last = i64::MIN;
    while let Some(month) = statement.query_row([last], |r| r.get(0))? {
        let mut stored: BTreeMap<i64, Sums> = BTreeMap::new();
        let behind = i64::saturating_add(month, 1);
        each_month(connection, (month, behind), |_, key, sums| {
            stored.insert(key, *sums);
        })?;
        let should = add_up(connection, month)?.rows;
        let missing = should.keys().filter(|key| !stored.contains_key(*key));
        for key in stored.keys().chain(missing) {
            if stored.get(key) == should.get(key) {
                continue;
            }
            let text = format!(
                "rollups of month {month} from 1970, key {key}: the month differs from its days"
            );
            let show = |sums: Option<&Sums>| sums.map(|s| format!("{:?}", s.0)).unwrap_or_default();
            let finding = Finding::new("rollup", format!("{month} {key}"), text);
            report.find(finding.differs(show(should.get(key)), show(stored.get(key))));
        }
        last = month;
    }
    Ok(())
}

fn wrong(report: &mut Report, name: &Name, should: Option<&Total>, is: Option<&Total>) {
    let ([project, user, machine, ..], account) = name;
    let text = format!(
        "rollups of project {project:?}, user {user:?}, machine {machine:?}, account {account}: \
         the rows differ from the usage; `bankd rollup rebuild` rebuilds them"
    );
    let show = |total: Option<&Total>| total.map(|t| format!("{:?} {}", t.sums.0, t.days));
    let (should, is) = (
        show(should).unwrap_or_default(),
        show(is).unwrap_or_default(),
    );
    report.find(Finding::new("rollup", project, text).differs(should, is));
}

fn name(key: &Key<'_>) -> Name {
    let texts = [
        key.project,
        key.user,
        key.machine,
        key.queue,
        key.qos,
        key.pi,
    ];
    (texts.map(str::to_owned), key.account)
}

fn add(total: &mut Total, counted: &Counted) {
    match counted {
        Counted::Sums(used, sign) => total.sums.add(used.totals(), *sign),
        Counted::Job(job) => {
            let (first, last) = job.hours();
            let span = |first: i64, last: i64| last.saturating_sub(first).saturating_add(1);
            let sums = Sums::default()
                .with(Measure::Started, 1)
                .with(Measure::Ended, i128::from(job.has_ended))
                .with(Measure::Running, span(first, last).into());
            total.sums.add(&sums, Sign::Plus);
            let days = span(day_of(first).0, day_of(last).0);
            total.days = total.days.saturating_add(days.into());
        }
    }
}

/// Existing totals by key; a day that differs from its hours is reported immediately.
fn standing(connection: &Connection, report: &mut Report) -> Result<BTreeMap<Name, Total>, Error> {
    let mut keys: BTreeMap<i64, (Name, Total)> = BTreeMap::new();
    let sql = "SELECT id, project, user, machine, queue, qos, pi, account FROM rollup_key";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let texts = [
            row.get(1)?,
            row.get(2)?,
            row.get(3)?,
            row.get(4)?,
            row.get(5)?,
            row.get(6)?,
        ];
        let name = (texts, row.get(7)?);
        keys.insert(row.get(0)?, (name, Total::default()));
    }
    let sql =
        "SELECT r.day, r.key, h.hours, r.core, r.gpu, r.node, r.wall, r.cpu, r.memory, r.disk,
                   r.factored, r.charge, r.shadow, r.measured, r.started, r.ended, r.running
               FROM rollup r LEFT JOIN rollup_hour h ON h.day = r.day AND h.key = r.key
               UNION ALL
               SELECT h.day, h.key, h.hours, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
               FROM rollup_hour h
               WHERE NOT EXISTS (SELECT 1 FROM rollup r WHERE r.day = h.day AND r.key = h.key)";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (day, key): (i64, i64) = (row.get(0)?, row.get(1)?);
        let (of_hours, of_day) = both(row)?;
        let running = of_day.get(Measure::Running);
        let held = Sums(of_hours.0.map(|figure| stored(figure).into()));
        let is_same = of_day.with(Measure::Running, held.get(Measure::Running)) == held;
        let Some((_, total)) = keys.get_mut(&key).filter(|_| is_same) else {
            let text = format!("rollups of day {day}, key {key}: the day differs from its hours");
            report.find(Finding::new("rollup", format!("{day} {key}"), text));
            continue;
        };
        total.sums.add(&of_hours, Sign::Plus);
        total.days = total.days.saturating_add(running);
    }
    Ok(keys.into_values().collect())
}

/// Totals of a row's hours, and the stored values of its day.
fn both(row: &Row<'_>) -> Result<(Sums, Sums), Error> {
    let mut of_hours = Sums::default();
    if let Some(hours) = row
        .get_ref(2)?
        .as_blob_or_null()
        .map_err(rusqlite::Error::from)?
    {
        each_hour(hours, |_, sums| of_hours.add(sums, Sign::Plus))?;
    }
    let mut of_day = Sums::default();
    for (place, figure) in (0..MEASURES).zip(&mut of_day.0) {
        *figure = row.get::<_, i64>(place.saturating_add(3))?.into();
    }
    Ok((of_hours, of_day))
}
