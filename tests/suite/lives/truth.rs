//! What the rows of the journal alone come to: charges, time and active money, added up without the
//! read side of the daemon.

use std::collections::BTreeMap;

use bank_core::decimal::Decimal;
use rusqlite::Connection;

use super::idle::{idle, idle_of};
use super::owners::owners;

const MICROS: i64 = 1_000_000;

/// Whose: project, account, user, machine.
pub(super) type Key = [String; 4];
/// A job: machine and id.
pub(super) type Job = (String, String);

/// What was charged: minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Charged {
    pub(super) real: i128,
    pub(super) shadow: i128,
}

/// The sums of one job.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact about the job by itself"
)]
pub(super) struct OfJob {
    pub(super) charged: Charged,
    /// Processors × time, in microseconds.
    pub(super) core: i128,
    /// The time itself, in microseconds: of two uses of one id both, even where they overlap.
    pub(super) wall: i128,
    /// The sum of its charges in record files, which have no price in mode `track`.
    pub(super) listed: i128,
    /// Processors × time that was charged, in microseconds, regardless of a collector's record.
    pub(super) billed: i128,
    /// More than charges: something was given back, taken back, amended or given to somebody else.
    pub(super) is_corrected: bool,
    /// It was charged by itself, and not only counted.
    pub(super) has_rows: bool,
    /// It has time that charges alone report.
    is_counted: bool,
    /// Records of collectors have all of its time.
    pub(super) is_reported: bool,
}

/// One journal entry of active money.
#[derive(Clone, Debug)]
pub(super) struct Moved {
    pub(super) account: String,
    pub(super) user: String,
    pub(super) kind: String,
    pub(super) active: i64,
    pub(super) amount: i64,
    /// A charge, or what gives one back. The expiry entry beside money that goes back to an ended allocation is
    /// neither, though that of an amended record names the usage row.
    pub(super) is_use: bool,
    pub(super) project: String,
    pub(super) machine: String,
    /// The kind of transaction that wrote it.
    pub(super) op: String,
    pub(super) tx: i64,
    pub(super) reverses: Option<i64>,
    pub(super) effective: i64,
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Truth {
    pub(super) charged: BTreeMap<Key, Charged>,
    /// By month as `2026-01`.
    pub(super) monthly: BTreeMap<(Key, String), Charged>,
    pub(super) jobs: BTreeMap<Job, OfJob>,
    /// By project, user and machine.
    pub(super) core: BTreeMap<[String; 3], i128>,
    pub(super) moves: Vec<Moved>,
    /// What adds up nowhere: a usage row whose entries do not come to its amount.
    pub(super) odd: Vec<String>,
}

struct Row {
    instance: i64,
    tx: i64,
    at: i64,
    seconds: i64,
    processors: i128,
    amount: i64,
    is_shadow: bool,
    reverses: Option<i64>,
    /// Idle processors × µs of a reservation.
    idle: i128,
}

#[derive(Clone)]
struct Entry {
    usage: Option<i64>,
    of: Option<i64>,
    key: Key,
    amount: i64,
    shadow: i64,
}

struct Use {
    job: Job,
    project: String,
    user: String,
    /// Its mode is `track`.
    is_tracked: bool,
}

/// A finished use that counts.
struct Finished {
    instance: Option<i64>,
    key: Key,
    job: String,
    start: i64,
    end: i64,
    core: i128,
    wall: i64,
    amount: i64,
}

impl Truth {
    pub(super) fn read(journal: &Connection) -> Truth {
        let mut truth = Truth::default();
        let rows = usage_rows(journal);
        let entries = entries(journal, &mut truth.moves);
        let uses = uses(journal);
        let finished = finished(journal);
        truth.charges(&rows, &entries, &uses, &finished);
        let whose = (&uses, &owners(journal));
        truth.time(&rows, whose, &finished, &idle(journal));
        truth.lines(&rows, &uses);
        for one in &finished {
            let job = (one.key[3].clone(), one.job.clone());
            let own = truth.jobs.entry(job).or_default();
            own.is_reported = !own.is_counted;
        }
        for one in finished.iter().filter(|one| one.instance.is_none()) {
            let charged = Charged {
                real: 0,
                shadow: one.amount.into(),
            };
            let job = (one.key[3].clone(), one.job.clone());
            truth.add(&one.key, &job, charged, (one.start, one.end));
        }
        truth.corrections(journal);
        truth
    }

    fn add(&mut self, key: &Key, job: &Job, charged: Charged, window: (i64, i64)) {
        let sum = |own: &mut Charged, more: Charged| {
            own.real += more.real;
            own.shadow += more.shadow;
        };
        sum(self.charged.entry(key.clone()).or_default(), charged);
        sum(
            &mut self.jobs.entry(job.clone()).or_default().charged,
            charged,
        );
        for (month, share) in months(window) {
            let part = Charged {
                real: share(charged.real),
                shadow: share(charged.shadow),
            };
            let own = self.monthly.entry((key.clone(), month)).or_default();
            sum(own, part);
        }
    }

    /// The sums of the charges of each job alone.
    fn lines(&mut self, rows: &BTreeMap<i64, Row>, uses: &BTreeMap<i64, Use>) {
        for row in rows.values() {
            let Some(of) = uses.get(&row.instance) else {
                continue;
            };
            let own = self.jobs.entry(of.job.clone()).or_default();
            if !(row.is_shadow && of.is_tracked) {
                own.listed += i128::from(row.amount);
            }
            own.billed += row.processors * i128::from(row.seconds) * i128::from(MICROS);
        }
    }

    /// Which jobs have usage rows, and which of them others than charges.
    fn corrections(&mut self, journal: &Connection) {
        let sql = "SELECT i.machine, i.object_id,
                max(t.op NOT IN ('charge', 'usage', 'import') OR u.amount < 0 OR u.charged_s < 0)
            FROM usage u JOIN tx t ON t.id = u.tx JOIN instance i ON i.id = u.instance
            GROUP BY i.machine, i.object_id";
        let read = |r: &rusqlite::Row<'_>| Ok(((r.get(0)?, r.get(1)?), r.get::<_, bool>(2)?));
        for (job, is_corrected) in all(journal, sql, read) {
            let own = self.jobs.entry(job).or_default();
            (own.has_rows, own.is_corrected) = (true, is_corrected);
        }
        // What a collector reported and moved no money has no line in record files.
        let sql = "SELECT DISTINCT machine, object_id FROM usage_identity";
        let read = |r: &rusqlite::Row<'_>| Ok((r.get(0)?, r.get(1)?));
        for job in all(journal, sql, read) {
            let own = self.jobs.entry(job).or_default();
            own.has_rows &= own.charged.shadow == 0 && own.charged.real != 0;
        }
    }

    fn charges(
        &mut self,
        rows: &BTreeMap<i64, Row>,
        entries: &BTreeMap<i64, Entry>,
        uses: &BTreeMap<i64, Use>,
        finished: &[Finished],
    ) {
        let mut moved: BTreeMap<i64, i128> = BTreeMap::new();
        for entry in entries.values() {
            if let Some(usage) = entry.usage {
                *moved.entry(usage).or_default() -=
                    i128::from(entry.amount) + i128::from(entry.shadow);
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        // What all charges of a finished use took in one name is spread over its time as a whole.
        let mut spread: BTreeMap<(Key, (i64, i64), i64), (Job, Charged)> = BTreeMap::new();
        for (id, entry) in entries {
            let Some(row) = entry.usage.and_then(|usage| rows.get(&usage)) else {
                continue;
            };
            let usage = entry.usage.unwrap();
            // Of shadow money what lies on no allocation stands in the usage row alone.
            let rest = if seen.insert(usage) {
                i128::from(row.amount) - moved[&usage]
            } else {
                0
            };
            if rest != 0 && !row.is_shadow {
                self.odd
                    .push(format!("usage {usage}: its entries leave {rest}"));
            }
            let charged = Charged {
                real: -i128::from(entry.amount),
                shadow: if row.is_shadow { rest } else { 0 } - i128::from(entry.shadow),
            };
            let own = finished
                .iter()
                .find(|one| one.instance == Some(row.instance));
            let window = own.map_or_else(
                || {
                    let root = root(entry, entries, rows).unwrap_or(row);
                    (root.at - root.seconds.abs() * MICROS, root.at)
                },
                |one| (one.start, one.end),
            );
            let job = uses
                .get(&row.instance)
                .map(|of| of.job.clone())
                .unwrap_or_default();
            let whole = own.map_or(-id, |_| row.instance);
            let place = (entry.key.clone(), window, whole);
            let (_, sum) = spread
                .entry(place)
                .or_insert_with(|| (job, Charged::default()));
            sum.real += charged.real;
            sum.shadow += charged.shadow;
        }
        for ((key, window, _), (job, charged)) in spread {
            self.add(&key, &job, charged, window);
        }
    }

    fn time(
        &mut self,
        rows: &BTreeMap<i64, Row>,
        (uses, owners): (&BTreeMap<i64, Use>, &BTreeMap<i64, [String; 2]>),
        finished: &[Finished],
        idle: &BTreeMap<i64, i128>,
    ) {
        let mut by_tx: BTreeMap<(i64, i64), Vec<(&i64, &Row)>> = BTreeMap::new();
        for (id, row) in rows {
            let own = by_tx.entry((row.instance, row.tx)).or_default();
            own.push((id, row));
        }
        let mut by_rows: BTreeMap<i64, i128> = BTreeMap::new();
        let is_reported = |id: i64| finished.iter().any(|one| one.instance == Some(id));
        let mut found: Vec<(Job, [String; 3], i128, i128)> = Vec::new();
        for ((instance, tx), own) in &by_tx {
            let Some(of) = uses.get(instance).filter(|_| !is_reported(*instance)) else {
                continue;
            };
            let (mut sign, mut counted) = (1, own);
            // What takes a transaction back is the opposite of that one.
            while let Some(undone) = counted
                .iter()
                .find_map(|(_, row)| row.reverses)
                .filter(|undone| undone < tx)
                .and_then(|undone| by_tx.get(&(*instance, undone)))
            {
                (sign, counted) = (-sign, undone);
            }
            self.jobs.entry(of.job.clone()).or_default().is_counted = true;
            for (id, row) in counted {
                let wall = i128::from(row.seconds) * i128::from(MICROS) * sign;
                let own = || [of.project.clone(), of.user.clone()];
                let [project, user] = owners.get(id).cloned().unwrap_or_else(own);
                let whose = [project, user, of.job.0.clone()];
                // A reservation counts its idle part, of which its rows have each owner's.
                let core = if idle.contains_key(instance) {
                    *by_rows.entry(*instance).or_default() += row.idle * sign;
                    row.idle * sign
                } else {
                    row.processors * wall
                };
                found.push((of.job.clone(), whose, core, wall));
            }
        }
        for (instance, core) in idle {
            let of = &uses[instance];
            let whose = [of.project.clone(), of.user.clone(), of.job.0.clone()];
            let rest = core - by_rows.get(instance).unwrap_or(&0);
            found.push((of.job.clone(), whose, rest, 0));
        }
        for one in finished {
            let [project, _, user, machine] = one.key.clone();
            let (project, user) = match one.instance.and_then(|id| uses.get(&id)) {
                Some(of) => (of.project.clone(), of.user.clone()),
                None => (project, user),
            };
            let job = (machine.clone(), one.job.clone());
            let whose = [project, user, machine];
            found.push((job, whose, one.core, one.wall.into()));
        }
        for (job, whose, core, wall) in found {
            *self.core.entry(whose).or_default() += core;
            let own = self.jobs.entry(job).or_default();
            own.core += core;
            own.wall += wall;
        }
    }
}

/// The charge that an entry is of, or gives back.
fn root<'r>(
    entry: &Entry,
    entries: &BTreeMap<i64, Entry>,
    rows: &'r BTreeMap<i64, Row>,
) -> Option<&'r Row> {
    let mut entry = entry.clone();
    while let Some(of) = entry.of {
        entry = entries.get(&of)?.clone();
    }
    rows.get(&entry.usage?)
}

type Share = Box<dyn Fn(i128) -> i128>;

/// The months that a window touches, each with what it gets of a total.
fn months((start, end): (i64, i64)) -> Vec<(String, Share)> {
    let name = |at: i64| bank_api::text::format_rfc3339(at)[..7].to_owned();
    if start >= end {
        let all: Share = Box::new(|total| total);
        return vec![(name(start), all)];
    }
    let first_of_next = |at: i64| {
        let text = bank_api::text::format_rfc3339(at);
        let (year, month): (i64, i64) = (text[..4].parse().unwrap(), text[5..7].parse().unwrap());
        let (year, month) = if month == 12 {
            (year + 1, 1)
        } else {
            (year, month + 1)
        };
        bank_api::text::parse_rfc3339(&format!("{year}-{month:02}-01T00:00:00Z")).unwrap()
    };
    let (mut at, mut found): (i64, Vec<(String, Share)>) = (start, Vec::new());
    while at < end {
        let until = first_of_next(at).min(end);
        let length = i128::from(end - start);
        let (from, to) = (i128::from(at - start), i128::from(until - start));
        let share: Share = Box::new(move |total| total * to / length - total * from / length);
        found.push((name(at), share));
        at = until;
    }
    found
}

pub(super) fn all<T>(
    journal: &Connection,
    sql: &str,
    read: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Vec<T> {
    let mut statement = journal.prepare_cached(sql).unwrap();
    let rows = statement.query_map([], |row| read(row)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn usage_rows(journal: &Connection) -> BTreeMap<i64, Row> {
    let sql =
        "SELECT u.id, u.instance, u.tx, u.at, u.charged_s, u.processors, u.amount, t.reverses,
                   u.billing = 'shadow', u.facts
               FROM usage u JOIN tx t ON t.id = u.tx";
    all(journal, sql, |r| {
        let processors: String = r.get(5)?;
        let billionths = Decimal::parse(&processors).unwrap_or_default().billionths();
        let row = Row {
            instance: r.get(1)?,
            tx: r.get(2)?,
            at: r.get(3)?,
            seconds: r.get(4)?,
            processors: billionths / 1_000_000_000,
            amount: r.get(6)?,
            reverses: r.get(7)?,
            is_shadow: r.get(8)?,
            idle: idle_of(&r.get::<_, String>(9)?),
        };
        Ok((r.get(0)?, row))
    })
    .into_iter()
    .collect()
}

fn entries(journal: &Connection, moves: &mut Vec<Moved>) -> BTreeMap<i64, Entry> {
    let sql = "SELECT e.id, e.usage, c.of, e.project, a.name, e.user, e.machine, e.instance,
            e.delta_amount, e.delta_shadow, e.delta_active, e.kind, t.op, t.id, t.reverses, t.at_effective
        FROM entry e JOIN tx t ON t.id = e.tx LEFT JOIN account a ON a.id = e.account
        LEFT JOIN correction c ON c.entry = e.id ORDER BY e.id";
    let read = |r: &rusqlite::Row<'_>| {
        let account: Option<String> = r.get(4)?;
        let account = account.unwrap_or_default();
        let entry = Entry {
            usage: r.get(1)?,
            of: r.get(2)?,
            key: [r.get(3)?, account.clone(), r.get(5)?, r.get(6)?],
            amount: r.get(8)?,
            shadow: r.get(9)?,
        };
        let kind: String = r.get(11)?;
        let moved = Moved {
            account,
            project: r.get(3)?,
            user: r.get(5)?,
            machine: r.get(6)?,
            amount: r.get(8)?,
            active: r.get(10)?,
            op: r.get(12)?,
            tx: r.get(13)?,
            reverses: r.get(14)?,
            effective: r.get(15)?,
            is_use: entry.usage.is_some() && kind != "expire",
            kind,
        };
        Ok((r.get::<_, i64>(0)?, entry, moved))
    };
    let mut found = BTreeMap::new();
    for (id, entry, moved) in all(journal, sql, read) {
        found.insert(id, entry);
        moves.push(moved);
    }
    found
}

fn uses(journal: &Connection) -> BTreeMap<i64, Use> {
    let sql =
        "SELECT id, machine, object_id, project, user, coalesce(mode = 'track', 0) FROM instance";
    let read = |r: &rusqlite::Row<'_>| {
        let of = Use {
            job: (r.get(1)?, r.get(2)?),
            project: r.get(3)?,
            user: r.get(4)?,
            is_tracked: r.get(5)?,
        };
        Ok((r.get(0)?, of))
    };
    all(journal, sql, read).into_iter().collect()
}

fn finished(journal: &Connection) -> Vec<Finished> {
    let sql = "SELECT u.instance, u.project, a.name, u.user, u.machine, u.object_id, u.start_at,
            u.end_at, coalesce(u.millis, 0), u.wall_us, coalesce(u.amount, 0)
        FROM usage_identity u LEFT JOIN allocation l ON l.id = u.allocation
        LEFT JOIN account a ON a.id = l.account
        WHERE u.became IN ('charged', 'adjusted', 'free') ORDER BY u.id";
    all(journal, sql, |r| {
        let account: Option<String> = r.get(2)?;
        let (start, end, millis): (i64, i64, i64) = (r.get(6)?, r.get(7)?, r.get(8)?);
        let wall: Option<i64> = r.get(9)?;
        let wall = wall.unwrap_or(end - start);
        Ok(Finished {
            instance: r.get(0)?,
            key: [r.get(1)?, account.unwrap_or_default(), r.get(3)?, r.get(4)?],
            job: r.get(5)?,
            start,
            end,
            core: i128::from(millis) * i128::from(wall) / 1000,
            wall,
            amount: r.get(10)?,
        })
    })
}
