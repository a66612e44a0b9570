//! Checks rollups: the block of a day is the sum of its rows, that of a month the sum of its days, and the total
//! of each key matches the usage. Seals protect single days; `bankd rollup verify` recomputes
//! everything.

use super::super::Error;
use super::super::rollup::{Counted, Key, UNITS, Unit, add_up, each, each_day, next_stored, read};
use super::{Finding, Report};
use bank_core_figures::rollup::{Measure, Sign, Sums, day_of};
use rusqlite::Connection;
use std::collections::BTreeMap;

/// The tables that this module checks.
pub(super) const TABLES: &[&str] = &["rollup_key", "rollup", "rollup_block"];

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
    for unit in UNITS {
        blocks(connection, unit, report)?;
    }
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

/// Compares the stored blocks with what they are made of, one after the other.
fn blocks(connection: &Connection, unit: Unit, report: &mut Report) -> Result<(), Error> {
    let word = unit.word();
    let mut last = i64::MIN;
    while let Some(number) = next_stored(connection, unit, last)? {
        last = number;
        let stored = match read(connection, unit, number) {
            Ok(block) => block.unwrap_or_default().rows(),
            Err(Error::Value { .. }) => {
                let text = format!("rollups of {word} {number} from 1970: the block is damaged");
                report.find(Finding::new("rollup", format!("{word} {number}"), text));
                continue;
            }
            Err(error) => return Err(error),
        };
        let Some(should) = add_up(connection, unit, number)? else {
            let text = format!("rollups of {word} {number} from 1970: a day of it has no block");
            report.find(Finding::new("rollup", format!("{word} {number}"), text));
            continue;
        };
        let should = should.rows;
        let missing = should.keys().filter(|key| !stored.contains_key(*key));
        for key in stored.keys().chain(missing) {
            if stored.get(key) == should.get(key) {
                continue;
            }
            let text = format!(
                "rollups of {word} {number} from 1970, key {key}: the block differs from its parts"
            );
            let show = |sums: Option<&Sums>| sums.map(|s| format!("{:?}", s.0)).unwrap_or_default();
            let finding = Finding::new("rollup", format!("{word} {number} {key}"), text);
            report.find(finding.differs(show(should.get(key)), show(stored.get(key))));
        }
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
            let sums = job
                .begun()
                .with(Measure::Ended, i128::from(job.has_ended))
                .with(Measure::Submitted, i128::from(job.submit.is_some()))
                .with(Measure::Running, span(first, last).into());
            total.sums.add(&sums, Sign::Plus);
            let days = span(day_of(first).0, day_of(last).0);
            total.days = total.days.saturating_add(days.into());
        }
    }
}

/// Existing totals by key; a row of an unknown key is reported immediately.
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
    each_day(connection, (i64::MIN, i64::MAX), |row| {
        let (day, key) = (row.day, row.key);
        let Some((_, total)) = keys.get_mut(&key) else {
            let text = format!("rollups of day {day}, key {key}: there is no such key");
            report.find(Finding::new("rollup", format!("{day} {key}"), text));
            return;
        };
        total.sums.add(&row.hours, Sign::Plus);
        total.days = total.days.saturating_add(row.running);
    })?;
    Ok(keys.into_values().collect())
}
