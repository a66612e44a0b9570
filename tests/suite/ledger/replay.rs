//! The journal replayed into a fresh book, by the plainest means there are: the oracle of `replayed`.

use bank_core::model::Phase;
use bank_core::time::{Timestamp, Window};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};

/// One line of the journal, as a replay needs it.
pub(super) struct Line {
    pub(super) entry: i64,
    pub(super) tx: i64,
    pub(super) effective: i64,
    pub(super) recorded: i64,
    pub(super) kind: String,
    pub(super) allocation: i64,
    pub(super) lien: Option<i64>,
    pub(super) is_use: bool,
    pub(super) takes_back: Option<i64>,
    pub(super) amount: i64,
    pub(super) held: i64,
    pub(super) active: i64,
    pub(super) shadow: i64,
    pub(super) shadow_held: i64,
}

/// The journal, and what stands beside it.
pub(super) struct Journal {
    pub(super) lines: Vec<Line>,
    /// Allocation, transaction, window and limit.
    pub(super) shapes: Vec<(i64, i64, Window, i64)>,
    /// When each transaction took effect, and was recorded.
    pub(super) times: BTreeMap<i64, (i64, i64)>,
    pub(super) deposits: BTreeSet<i64>,
}

impl Journal {
    pub(super) fn read(reader: &Connection) -> Journal {
        let sql = "SELECT e.id, e.tx, t.at_effective, t.at_recorded, e.kind, e.allocation, e.lien,
                       e.usage IS NOT NULL, c.of, e.delta_amount, e.delta_held, e.delta_active,
                       e.delta_shadow, e.delta_shadow_held
                   FROM entry e JOIN tx t ON t.id = e.tx LEFT JOIN correction c ON c.entry = e.id
                   WHERE e.allocation IS NOT NULL ORDER BY e.id";
        let mut statement = reader.prepare(sql).unwrap();
        let lines = statement.query_map([], |r| {
            Ok(Line {
                entry: r.get(0)?,
                tx: r.get(1)?,
                effective: r.get(2)?,
                recorded: r.get(3)?,
                kind: r.get(4)?,
                allocation: r.get(5)?,
                lien: r.get(6)?,
                is_use: r.get(7)?,
                takes_back: r.get(8)?,
                amount: r.get(9)?,
                held: r.get(10)?,
                active: r.get(11)?,
                shadow: r.get(12)?,
                shadow_held: r.get(13)?,
            })
        });
        let mut lines: Vec<Line> = lines.unwrap().map(Result::unwrap).collect();
        reissued_is_no_use(&mut lines);
        let sql = "SELECT allocation, tx, start_at, end_at, credit_limit FROM shape ORDER BY tx";
        let mut statement = reader.prepare(sql).unwrap();
        let shapes = statement.query_map([], |r| {
            let window = Window {
                start: r.get::<_, Option<i64>>(2)?.map(Timestamp),
                end: r.get::<_, Option<i64>>(3)?.map(Timestamp),
            };
            Ok((r.get(0)?, r.get(1)?, window, r.get(4)?))
        });
        let shapes = shapes.unwrap().map(Result::unwrap).collect();
        let sql = "SELECT id, at_effective, at_recorded FROM tx";
        let mut statement = reader.prepare(sql).unwrap();
        let times = statement.query_map([], |r| Ok((r.get(0)?, (r.get(1)?, r.get(2)?))));
        let times = times.unwrap().map(Result::unwrap).collect();
        let mut deposits = BTreeSet::new();
        for line in &lines {
            let carried = line.kind == "cycle_reset" && line.amount > 0;
            let back = line.takes_back.is_some_and(|of| deposits.contains(&of));
            if line.kind == "deposit" || carried || back {
                deposits.insert(line.entry);
            }
        }
        Journal {
            lines,
            shapes,
            times,
            deposits,
        }
    }

    /// A fresh book of what counts.
    pub(super) fn replay(&self, at: Timestamp, counts: impl Fn(i64, i64, i64) -> bool) -> Fresh {
        let mut fresh = Fresh::default();
        for line in &self.lines {
            if !counts(line.tx, line.effective, line.recorded) {
                continue;
            }
            let own = fresh.allocations.entry(line.allocation).or_default();
            own[0] += line.amount;
            own[1] += line.held;
            own[2] += line.amount * i64::from(self.deposits.contains(&line.entry));
            own[3] -= line.amount * i64::from(line.is_use);
            own[4] += line.shadow;
            own[5] += line.shadow_held;
            *fresh.active.entry(line.allocation).or_default() += line.active;
            if let Some(lien) = line.lien {
                let held = fresh.liens.entry((lien, line.allocation)).or_default();
                *held += line.held + line.shadow_held;
            }
        }
        fresh.liens.retain(|_, held| *held > 0);
        for (allocation, tx, window, limit) in &self.shapes {
            let is_explained = *tx == 0 || {
                let (effective, recorded) = self.times[tx];
                counts(*tx, effective, recorded)
            };
            if is_explained {
                let phase = Phase::of(window, at);
                fresh.shapes.insert(*allocation, (*window, *limit, phase));
            }
        }
        fresh
    }
}

/// A refund on another allocation than that of its charge is new money there, and its reversal takes that money.
fn reissued_is_no_use(lines: &mut [Line]) {
    let mut known: BTreeMap<i64, (i64, bool)> = BTreeMap::new();
    for line in lines {
        let of = line.takes_back.and_then(|of| known.get(&of));
        let is_reissued = of.is_some_and(|(on, again)| *on != line.allocation || *again);
        known.insert(line.entry, (line.allocation, is_reissued));
        line.is_use &= !is_reissued;
    }
}

/// What a replay comes to.
#[derive(Default)]
pub(super) struct Fresh {
    /// Amount, held, deposited, used, shadow and shadow held.
    pub(super) allocations: BTreeMap<i64, [i64; 6]>,
    pub(super) active: BTreeMap<i64, i64>,
    /// What liens hold on allocations.
    pub(super) liens: BTreeMap<(i64, i64), i64>,
    pub(super) shapes: BTreeMap<i64, (Window, i64, Phase)>,
}

impl Journal {
    /// The allocations that entries name.
    pub(super) fn allocations(&self) -> Vec<i64> {
        let all: BTreeSet<i64> = self.lines.iter().map(|line| line.allocation).collect();
        all.into_iter().collect()
    }
}
