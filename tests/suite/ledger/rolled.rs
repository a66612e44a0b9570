//! Rollups are what usage comes to, whatever happens: charges, totals that fall, refunds, undone charges,
//! finished uses one by one and in chunks, amended and kept ones, other hardware for what stands; and an
//! answer from rollups is the one from records, to the last unit.

use super::fixture::T0;
use super::ground::Ground;
use super::history::{history, wild};
use super::wild::{Dice, Known};
use bank_core::calendar::Zone;
use bank_core::command::{Chunk, Command, RecordAction, RecordChange, UsageReport};
use bank_core::decimal::Decimal;
use bank_core::kind::{self, Key, Value};
use bank_core::model::{Facts, ObjectType};
use bank_core::policy::{Ended, Figures};
use bank_core::time::{MICROS, Timestamp};
use bank_core_figures::rollup::grid::{Every, Grid};
use bank_core_figures::rollup::{HOUR, Measure, Sums};
use bankd_store::read::report::{Answer, Owner, ReportRequest, from_records, from_rollups};
use bankd_store::{open_reader, rollup};
use std::collections::BTreeMap;
use std::sync::Arc;

const SEEDS: [u64; 3] = [7_113, 31, 2_026];

/// A finished use of few ids and starts, so that identities meet and are amended.
pub(super) fn finished(dice: &mut Dice, now: Timestamp) -> UsageReport {
    let mut report = UsageReport {
        source: "slurm".to_owned(),
        ..UsageReport::default()
    };
    report.figures = Figures {
        ended: Ended::Completed,
        cpu_s: (dice.below(2) == 0).then(|| Decimal::whole(17)),
        ..Figures::default()
    };
    let hosts = [Some("n1"), Some("n2"), Some("old1"), None];
    report.host = hosts[usize::try_from(dice.below(4)).unwrap()].map(str::to_owned);
    let id = dice.below(6);
    let length = [0, 59, 3_600, 90_061, 200_000][usize::try_from(dice.below(5)).unwrap()];
    let now_s = now.0.div_euclid(MICROS);
    // The same ids come again in the same days: the same identity, other figures.
    let start = (now_s - 400_000).div_euclid(86_400) * 86_400 + i64::try_from(id).unwrap() * 777;
    let end = (start + length).min(now_s);
    let request = &mut report.request;
    request.object_type = ObjectType::Job;
    request.object_id = format!("f{id}");
    let projects = ["P", "R", "N", "X", "nosuch"];
    let project = projects[usize::try_from(dice.below(5)).unwrap()];
    request.whose.project = Some(project.to_owned());
    request.whose.user = Some(["amy", "bob"][usize::try_from(id % 2).unwrap()].to_owned());
    if id < 4 { "unheard" } else { "blue" }.clone_into(&mut request.whose.machine);
    request.facts = Facts {
        project: project.to_owned(),
        start: Some(Timestamp(start * MICROS)),
        end: Some(Timestamp(end * MICROS)),
        submit: Some(Timestamp((start - 300) * MICROS)),
        ..Facts::default()
    };
    let usage = &mut request.facts.usage;
    usage.processors = Some(Decimal::whole(1 + i64::try_from(dice.below(7)).unwrap()));
    usage.class = Some("batch".to_owned());
    report
}

/// Hardware of one machine or all of them, with hosts or without, with bounds or without.
fn hardware(dice: &mut Dice) -> Command {
    let id = Key::Number(1 + i64::try_from(dice.below(9)).unwrap());
    let mut pick = |of: u64| usize::try_from(dice.below(of)).unwrap();
    let machines = [None, Some("colony"), Some("blue")];
    let hosts = [vec![], vec!["n*"], vec!["old[0-9]", "n2"]];
    let hosts = hosts[pick(3)].iter();
    let bounds = [-400_000, -86_400, -3_600, 0, 40_000, 200_000];
    let bound = |at: usize| {
        let seconds = bounds.get(at).copied();
        seconds.map(|s| Timestamp(T0.0.div_euclid(MICROS) * MICROS + s * MICROS))
    };
    let time = |bound: Option<Timestamp>| bound.map_or(Value::None, Value::Time);
    let factor = [1_000_000_000, 1_333_333_333, 2_500_000_000, 700_000_000][pick(4)];
    let machine = machines[pick(3)].map_or(Value::None, |name| Value::Text(name.to_owned()));
    let values = [
        ("name", Value::Text("kind".to_owned())),
        ("machine", machine),
        (
            "hosts",
            Value::List(hosts.map(ToString::to_string).collect()),
        ),
        ("factor", Value::Whole(factor)),
        ("processors", Value::Whole(8)),
        ("nodes", Value::Whole(2)),
        ("from", time(bound(pick(12)))),
        ("until", time(bound(pick(12)))),
        ("priority", Value::Whole(i64::try_from(pick(3)).unwrap())),
    ];
    let values = values
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec();
    let action = match pick(6) {
        0 => RecordAction::Remove(id),
        1 | 2 => RecordAction::Set(id, values),
        _ => RecordAction::Add(None, values),
    };
    let change = RecordChange::new(kind::of("hardware").unwrap(), action);
    Command::Record(Box::new(change))
}

pub(super) fn operation(dice: &mut Dice, known: Known, now: Timestamp) -> Option<Command> {
    match dice.below(10) {
        0 => Some(Command::Usage(Box::new(finished(dice, now)))),
        1 => {
            let count = 1 + dice.below(4);
            let reports = (0..count).map(|_| Arc::new(finished(dice, now))).collect();
            Some(Command::Import(Box::new(Chunk {
                source: "slurm".to_owned(),
                digest: "0".to_owned(),
                reports,
                ..Chunk::default()
            })))
        }
        2 => Some(hardware(dice)),
        _ => wild(dice, known, now),
    }
}

#[test]
fn rollups_are_what_usage_comes_to() {
    for seed in SEEDS {
        let (mut store, clock) = history(seed, 900, operation);
        let reader = open_reader(store.path()).unwrap();
        let found = rollup::compare(&reader).unwrap();
        assert_eq!((found.differing, found.examples), (0, Vec::new()));
        assert!(found.rows > 20, "{} rows", found.rows);
        agree(&reader, clock);
        // Made anew, they are the same.
        let rows = store.store().rebuild_rollups().unwrap();
        assert_eq!(u64::try_from(rows).unwrap(), found.rows);
        assert_eq!(store.proof(), Vec::<String>::new());
    }
}

pub(super) type Rows = BTreeMap<(usize, Vec<String>), (Sums, usize)>;

pub(super) fn rows(answer: Answer) -> Rows {
    let others = answer.others.into_iter();
    let others = others.map(|(bucket, figures)| ((bucket, vec!["(others)".to_owned()]), figures));
    let rows = answer.rows.into_iter().chain(others);
    rows.map(|(key, figures)| (key, (figures.sums, figures.users.len())))
        .collect()
}

/// Both ways to an answer agree, in any zone and for buckets of any size, within hours too.
fn agree(reader: &rusqlite::Connection, clock: Timestamp) {
    let hour = |at: i64| Timestamp(at.div_euclid(HOUR) * HOUR);
    let until = hour(clock.0 + 3 * HOUR);
    let zones = [
        Zone::default(),
        Zone {
            first: 3_600,
            changes: vec![(T0.0.div_euclid(3_600 * MICROS) * 3_600 + 86_400, 7_200)],
        },
        Zone {
            first: -18_000,
            changes: Vec::new(),
        },
        Zone {
            first: 19_800,
            changes: Vec::new(),
        },
    ];
    let (mut weighed, mut pieces) = (0, 0);
    let by: [fn(&Owner<'_>) -> Vec<String>; 3] = [
        |owner| vec![owner.project.to_owned()],
        |owner| vec![owner.account.to_string(), owner.user.to_owned()],
        |_| Vec::new(),
    ];
    let mut compared = 0;
    for zone in &zones {
        for every in [Every::Hour, Every::Day, Every::Month, Every::All] {
            for (from, by) in [20, 6, 1].into_iter().zip(by) {
                let from = hour(T0.0 - from * 24 * HOUR + 5 * HOUR);
                // Every other time both ends lie within an hour.
                let within = i64::from(compared % 2 == 1) * 1_234_567_891;
                let (from, until) = (Timestamp(from.0 + within), Timestamp(until.0 - within));
                let grid = Grid::new(from, until, every, zone, 10_000).unwrap();
                pieces += within.min(1);
                let request = || ReportRequest {
                    grid: grid.clone(),
                    place: Box::new(move |owner, _| Some((by(owner), owner.user.to_owned()))),
                    at_end: false,
                    users: true,
                    top: None,
                    weighed: Measure::Core,
                };
                let rolled = rows(from_rollups(reader, &request()).unwrap());
                let looked = rows(from_records(reader, &request()).unwrap());
                assert_eq!(rolled, looked, "{every:?} {zone:?} {within}");
                let sums = rolled.values().map(|(sums, _)| sums);
                let is_weighed =
                    |sums: &&Sums| sums.get(Measure::Factored) != sums.get(Measure::Core);
                weighed += sums.filter(is_weighed).count();
                compared += rolled.len();
            }
        }
    }
    assert!(compared > 100, "{compared} rows");
    assert!(weighed > 20, "{weighed} rows with factors");
    assert!(pieces > 3, "{pieces} periods within hours");
    let all = Grid::new(Timestamp(0), until, Every::All, &Zone::default(), 1).unwrap();
    let request = ReportRequest {
        grid: all,
        place: Box::new(|_, _| Some((Vec::new(), String::new()))),
        at_end: false,
        users: false,
        top: None,
        weighed: Measure::Core,
    };
    let total = from_rollups(reader, &request).unwrap();
    let (charged, shadow): (i64, i64) = reader
        .query_row(
            "SELECT (SELECT coalesce(sum(amount), 0) FROM usage WHERE billing <> 'shadow'),
                 (SELECT coalesce(sum(amount), 0) FROM usage WHERE billing = 'shadow')
                  + (SELECT coalesce(sum(amount), 0) FROM usage_identity WHERE instance IS NULL)",
            [],
            |r| Ok((r.get(0)?, r.get(1)?)),
        )
        .unwrap();
    let (_, figures) = total.rows.first_key_value().unwrap();
    assert_eq!(figures.sums.get(Measure::Charge), charged.into());
    assert_eq!(figures.sums.get(Measure::Shadow), shadow.into());
}
