//! Charges of a machine compared with records of other sources (decisions.md 19).

use std::collections::BTreeMap;

use bank_api::v1::{ReconcileQuery, ReconcileRow, ReconcileSum, Reconciled};
use bank_core::decimal::Decimal;
use bank_core::directory::Bank;
use bank_core::reconcile::{Difference, Kind, Side, compare, compare_twice};
use bank_core::refusal::Refusal;
use bank_core::time::{MICROS, Timestamp};
use bankd_store::read::reconcile::{self, Pair, Place, Question};

use super::call::{Call, Handled, ok};
use super::json::{self, read_time_of};
use super::report::recent;
use super::view::{Lookup as _, View};

/// Rows that a page without a limit looks at, and the most that one may.
const LIMIT: (u32, u32) = (1_000, 10_000);
/// Allowed difference of wall times in seconds: default and maximum.
const TOLERANCE: (i64, i64) = (1, 86_400);

/// `GET /api/v1/reconcile`: records by their end, then charges without one.
pub(super) async fn show(call: Call) -> Handled {
    let query: ReconcileQuery = call.query()?;
    let refused = |refusal: Refusal| call.refused(&refusal);
    let time = window(&query, call.now()).map_err(refused)?;
    let machine = machine(&call, query.machine.as_deref())?;
    let limit = query.limit.unwrap_or(LIMIT.0);
    let tolerance_s = query.tolerance_s.unwrap_or(TOLERANCE.0);
    if !(1..=LIMIT.1).contains(&limit) {
        let (field, expected) = ("limit", "1 to 10000");
        return Err(refused(Refusal::BadValue { field, expected }));
    }
    if !(0..=TOLERANCE.1).contains(&tolerance_s) {
        let (field, expected) = ("tolerance_s", "0 to 86400");
        return Err(refused(Refusal::BadValue { field, expected }));
    }
    let after = query.after.as_deref().map(cursor).transpose();
    let after = after.map_err(refused)?;
    let question = Question {
        machine: machine.name.clone(),
        source: query.source.clone(),
        charging: machine.source.clone(),
        time,
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let found = call.ask(move |connection| reconcile::page(connection, &question, after, limit));
    let (pairs, next) = found.await?;
    let bank = &call.directory().bank;
    let mut page = Page::default();
    let seen = pairs
        .into_iter()
        .filter(|pair| sees(&call.view, &machine.name, pair));
    for pair in seen {
        page.add(&pair, tolerance_s.saturating_mul(MICROS), query.all, bank);
    }
    ok(&Reconciled {
        machine: machine.name.clone(),
        charged_by: machine.source.unwrap_or_else(|| "scheduler".to_owned()),
        from: json::time(time.0),
        until: json::time(time.1),
        items: page.items,
        totals: page
            .sums
            .iter()
            .map(|(kind, sum)| (kind.word().to_owned(), sum.shown(bank)))
            .collect(),
        next: next.map(written),
        unit: bank.unit.clone(),
    })
}

/// Whether a caller sees a pair: the work of its record and that of its charge.
fn sees(view: &View, machine: &str, pair: &Pair) -> bool {
    let charge = pair.charge.iter().map(|(side, _)| side);
    let mut sides = pair.record.iter().chain(charge);
    sides.all(|side| view.sees_work(&side.project, &side.user, machine))
}

fn window(query: &ReconcileQuery, now: Timestamp) -> Result<(Timestamp, Timestamp), Refusal> {
    let from = read_time_of(query.from.as_ref(), "from")?;
    recent(from, read_time_of(query.until.as_ref(), "until")?, now)
}

/// The machine of the query: the only one if none is named.
fn machine(
    call: &Call,
    name: Option<&str>,
) -> Result<bank_core::model::Machine, crate::error::Failure> {
    if let Some(name) = name {
        return Ok(call.view.machine_ever(name)?.clone());
    }
    let machines = call.directory().machines();
    let mut seen = machines.filter(|m| !m.deleted && call.view.sees_machine(&m.name));
    match (seen.next(), seen.next()) {
        (Some(only), None) => Ok(only.clone()),
        _ => Err(call.refused(&Refusal::bad_value(
            "machine",
            "a machine name: `bank reconcile -m MACHINE`",
        ))),
    }
}

/// `r:END:NUMBER` or `c:NUMBER`, as [`written`] writes them.
fn cursor(text: &str) -> Result<Place, Refusal> {
    let mut parts = text.split(':');
    let kind = parts.next();
    let numbers: Option<Vec<i64>> = parts.map(|part| part.parse().ok()).collect();
    match (kind, numbers.as_deref()) {
        (Some("r"), Some([end, id])) => Ok(Place::Record(*end, *id)),
        (Some("c"), Some([id])) => Ok(Place::Charge(*id)),
        _ => Err(Refusal::bad_value("after", "`next` of the previous page")),
    }
}

fn written(place: Place) -> String {
    match place {
        Place::Record(end, id) => format!("r:{end}:{id}"),
        Place::Charge(id) => format!("c:{id}"),
    }
}

/// The rows and sums of one page.
#[derive(Default)]
struct Page {
    items: Vec<ReconcileRow>,
    sums: BTreeMap<Kind, Sum>,
}

#[derive(Default)]
struct Sum {
    jobs: i64,
    /// Billionths of processor-seconds × microseconds.
    recorded: i128,
    charged: i128,
    /// Minor units.
    amount: i128,
}

impl Sum {
    fn shown(&self, bank: &Bank) -> ReconcileSum {
        ReconcileSum {
            jobs: self.jobs,
            processor_s: work(self.recorded),
            charged_processor_s: work(self.charged),
            amount: json::sum(self.amount, bank),
        }
    }
}

impl Page {
    fn add(&mut self, pair: &Pair, tolerance_us: i64, all: bool, bank: &Bank) {
        let charge = pair.charge.as_ref().map(|(side, _)| side);
        let (kind, differences) = match &pair.record {
            Some(record) if pair.is_twice => compare_twice(record, charge, tolerance_us),
            Some(record) => compare(record, charge, tolerance_us),
            None => (Kind::NotRecorded, Vec::new()),
        };
        let sum = self.sums.entry(kind).or_default();
        let worked = |side: Option<&Side>| side.and_then(Side::work).unwrap_or_default();
        sum.jobs += 1;
        sum.recorded = sum.recorded.saturating_add(worked(pair.record.as_ref()));
        sum.charged = sum.charged.saturating_add(worked(charge));
        let amount = pair.charge.as_ref().map(|(_, amount)| *amount);
        sum.amount = sum.amount.saturating_add(amount.unwrap_or_default());
        if kind == Kind::Matched && !all {
            return;
        }
        let none = Side::default();
        let (recorded, charged) = (
            pair.record.as_ref().unwrap_or(&none),
            charge.unwrap_or(&none),
        );
        let times = pair.record.as_ref().unwrap_or(charged);
        let say = |difference: &Difference| described(difference, recorded, charged);
        self.items.push(ReconcileRow {
            kind: kind.word().to_owned(),
            job: pair.job.clone(),
            source: pair.source.clone(),
            start: times.start.map(json::time),
            end: times.end.map(json::time),
            differences: differences.iter().map(say).collect(),
            wall_s: recorded.wall_us.map(seconds),
            charged_wall_s: charged.wall_us.map(seconds),
            processors: recorded.processors.map(|p| p.to_string()),
            charged_processors: charged.processors.map(|p| p.to_string()),
            project: json::some(&recorded.project),
            charged_project: json::some(&charged.project),
            user: json::some(&recorded.user),
            charged_user: json::some(&charged.user),
            amount: amount.map(|amount| json::sum(amount, bank)),
        });
    }
}

/// A difference in words: recorded and charged value.
fn described(difference: &Difference, recorded: &Side, charged: &Side) -> String {
    let signed = |text: String| {
        if text.starts_with('-') {
            text
        } else {
            format!("+{text}")
        }
    };
    match difference {
        Difference::Wall(us) => {
            let us = i64::try_from(*us).unwrap_or(i64::MAX);
            format!("wall {} s", signed(seconds(us)))
        }
        Difference::Processors(billionths) => {
            let more = Decimal::from_billionths(*billionths).to_string();
            format!("processors {}", signed(more))
        }
        Difference::Project => format!("project {} not {}", recorded.project, charged.project),
        Difference::User => format!("user {} not {}", recorded.user, charged.user),
    }
}

/// Microseconds as exact seconds.
fn seconds(us: i64) -> String {
    Decimal::from_billionths(i128::from(us).saturating_mul(1_000)).to_string()
}

/// Billionths × microseconds as processor-seconds, cut to nine places.
fn work(sum: i128) -> String {
    Decimal::from_billionths(sum / i128::from(MICROS)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_come_back_as_they_went() {
        for place in [
            Place::Record(-5, 7),
            Place::Record(1 << 60, 1),
            Place::Charge(0),
        ] {
            assert_eq!(cursor(&written(place)), Ok(place));
        }
        for text in ["", "r", "r:1", "r:1:2:3", "c:", "c:x", "d:1", "c:1:2"] {
            assert!(cursor(text).is_err(), "{text}");
        }
    }

    #[test]
    fn figures_are_exact() {
        assert_eq!(seconds(3_600_000_000), "3600");
        assert_eq!(seconds(-1), "-0.000001");
        assert_eq!(work(4_000_000_000 * 3_600_000_000), "14400");
        let side = |project: &str| Side {
            project: project.to_owned(),
            ..Side::default()
        };
        let text = described(&Difference::Project, &side("chem"), &side("bio"));
        assert_eq!(text, "project chem not bio");
        let wall = Difference::Wall(-1_500_000);
        assert_eq!(described(&wall, &side(""), &side("")), "wall -1.5 s");
        let more = Difference::Processors(12_000_000_000);
        assert_eq!(described(&more, &side(""), &side("")), "processors +12");
    }
}
