//! Any record in every form is valid and read back unchanged (`usage-records.md` 8, item 2).

use bank_api::records::{Read, check, file as file_reader, ur1};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use super::*;
use crate::stored;

/// Names that break readers which are not careful.
fn name() -> impl Strategy<Value = String> {
    let odd = [
        "sim & fit",
        "<a>",
        "\"q\"",
        "it's",
        "100%",
        "a=b",
        "a|b",
        "two words",
        "Zürich-Ångström",
        "%%",
        "%41",
        "node_1",
        "x",
        "tab\there",
        "line\nfeed",
        "cr\rhere",
        "]]>",
        "&amp;",
        "a;",
    ];
    prop_oneof![
        3 => prop::sample::select(odd.to_vec()).prop_map(str::to_owned),
        2 => "[a-zA-Z0-9._-]{1,20}",
        1 => "\\PC{1,12}",
        1 => Just("n".repeat(300)),
    ]
    // The forms' own words for nothing.
    .prop_filter("a word for nothing", |name| {
        let plain = name.trim();
        plain == name && !["", "[NONE]", "NONE", "[DEFAULT]"].contains(&plain)
    })
}

/// Microseconds, whole seconds mostly; with a leap day and the end of a year.
fn time() -> impl Strategy<Value = i64> {
    let days = [1_709_164_800, 1_798_761_599, 0, 1_772_359_200];
    (
        prop::sample::select(days.to_vec()),
        prop::sample::select(vec![0, 250_000, 1]),
    )
        .prop_map(|(second, micros)| second * SECOND + micros)
}

fn hosts() -> impl Strategy<Value = Vec<String>> {
    let hosts = ["n1", "node-2.example.org", "gpu_3", "x", "slot1@host"];
    prop::collection::vec(prop::sample::select(hosts.to_vec()), 0..4)
        .prop_map(|hosts| hosts.into_iter().map(str::to_owned).collect())
}

fn usage() -> impl Strategy<Value = Usage> {
    let processors = prop_oneof![
        4 => (1..5000_i128).prop_map(|n| n * 1_000_000),
        1 => Just(250_000),
        1 => Just(1_500_000),
    ];
    let rate = prop_oneof![3 => Just(1_000_000), 1 => Just(930_000), 1 => 0..1_000_000_i64];
    let charged = prop_oneof![1 => Just(0), 5 => (1..100_000_i64).prop_map(|s| s * SECOND)];
    (processors, rate, charged).prop_map(|(p, r, c)| Usage::one(p, Some(r), c))
}

fn occasion() -> impl Strategy<Value = Occasion> {
    prop_oneof![
        2 => Just(Occasion::Charge),
        2 => Just(CLOSE),
        1 => Just(LATE),
        1 => Just(REFUND),
    ]
}

fn state() -> impl Strategy<Value = State> {
    prop::sample::select(vec![
        State::Completed,
        State::Failed,
        State::Timeout,
        State::Aborted,
        State::Preempted,
        State::Running,
        State::Suspended,
        State::Held,
        State::Queued,
    ])
}

type Names = (
    String,
    Option<String>,
    Option<String>,
    Option<String>,
    String,
    Option<String>,
    Option<String>,
);

pub(super) fn record() -> impl Strategy<Value = Record> {
    (bare(), prop::option::of(name()), extras()).prop_map(|(bare, group, extras)| {
        let [requested, processors_requested, each, total, gpus, uid, gid] = extras;
        Record {
            group,
            requested: requested.map(|s| s * SECOND),
            requested_processors: processors_requested.map(|n| n * 1_000_000),
            requested_memory: each,
            memory_total: total,
            gpus,
            began: total,
            used_until: each,
            outcome: match uid {
                None => Outcome::Billed,
                Some(n) if n % 2 == 0 => Outcome::Unbilled,
                Some(_) => Outcome::Shadow,
            },
            uid,
            gid,
            ..bare
        }
    })
}

fn extras() -> impl Strategy<Value = [Option<i64>; 7]> {
    prop::array::uniform7(prop::option::of(0..100_000_i64))
}

fn bare() -> impl Strategy<Value = Record> {
    let maybe = || prop::option::of(name());
    let names: BoxedStrategy<Names> =
        (name(), maybe(), maybe(), maybe(), name(), maybe(), maybe()).boxed();
    let times = (
        time(),
        prop::option::of(time()),
        prop::option::of(time()),
        prop::option::of(time()),
    );
    let sizes = (
        prop::option::of(0..4096_i64),
        prop::option::of(0..(1_i64 << 40)),
        prop::option::of(0..10_000 * SECOND),
        prop::option::of(0..10_000 * SECOND),
        prop::option::of(0..10_000 * SECOND),
        prop::option::of(-1..300_i64),
    );
    let money = prop_oneof![Just(0), Just(1), 0..i64::MAX, Just(1_000_000_000_000_000)];
    (
        names,
        times,
        sizes,
        money,
        usage(),
        occasion(),
        state(),
        hosts(),
        any::<bool>(),
        1..1_000_000_i64,
    )
        .prop_map(
            |(names, times, sizes, amount, usage, occasion, state, hosts, is_job, id)| {
                let amount = if occasion == REFUND {
                    -(amount / 2) - 1
                } else {
                    amount
                };
                Record {
                    record_id: id,
                    created_at: times.0,
                    kind: if is_job { Kind::Job } else { Kind::Reservation },
                    object_id: names.0,
                    job_name: names.1,
                    user: names.2,
                    project: names.3,
                    machine: names.4,
                    qos: names.5,
                    host_type: names.6.clone(),
                    class: names.6,
                    hosts,
                    nodes: sizes.0,
                    memory_per_node: sizes.1,
                    submit_time: times.1,
                    start_time: times.2,
                    end_time: times.3,
                    wall: sizes.2,
                    cpu_user: sizes.3,
                    cpu_system: sizes.4,
                    exit_code: sizes.5,
                    state,
                    usage,
                    amount,
                    ..job(occasion)
                }
            },
        )
}

/// The one record of a text, with what is wrong with it.
fn read(text: &str) -> (Vec<Read>, Vec<String>) {
    let (mut records, mut errors) = (Vec::new(), Vec::new());
    check(text.as_bytes(), |record, findings| {
        records.extend(record.cloned());
        errors.extend(
            findings
                .iter()
                .filter(|f| f.is_error)
                .map(|f| f.text.clone()),
        );
        Ok(())
    })
    .unwrap();
    (records, errors)
}

fn only_file(text: &str) -> file_reader::Record {
    match read(text) {
        (records, errors) if errors.is_empty() => match records.as_slice() {
            [Read::File(record)] => (**record).clone(),
            other => panic!("{text}: {other:?}"),
        },
        (_, errors) => panic!("{text}: {errors:?}"),
    }
}

/// Data that the form of Maui does not carry for a reservation are as they are there.
fn carried(record: &Record, dialect: Dialect) -> file_reader::Record {
    let is_maui = dialect == Dialect::Maui;
    let is_reservation = record.kind == Kind::Reservation;
    let default = || Some("DEFAULT".to_owned());
    let named = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
    file_reader::Record {
        verb: Some(file_reader::Verb::Withdrawal),
        is_reservation,
        machine: if is_maui && is_reservation {
            default()
        } else {
            Some(record.machine.clone())
        },
        account: named(&record.project),
        user: named(&record.user).or(Some("KITTY".to_owned())),
        host_type: named(&record.host_type).or_else(default),
        request_id: Some(record.object_id.clone()),
        qos: record.qos.clone().filter(|_| !(is_maui && is_reservation)),
        nodes: record.nodes,
        amount: Some(i128::from(record.amount) * 1_000_000_000),
        ..file_reader::Record::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn kept_text_is_the_record(record in record()) {
        let text = stored::write(&record);
        prop_assert_eq!(stored::read(&text), Some(record));
    }

    #[test]
    fn file_lines_read_back(record in record()) {
        for dialect in [Dialect::Moab6, Dialect::Maui] {
            let options = FileOptions { dialect, extended: true, ..FileOptions::default() };
            let Some(line) = file::render(&record, &options).unwrap() else {
                continue;
            };
            prop_assert_eq!(line.matches('\n').count(), 1);
            let found = only_file(&line);
            let seconds = record.usage.charged() / SECOND;
            let least = i64::from(dialect == Dialect::Maui);
            prop_assert_eq!(found.duration, Some(seconds.max(least)), "{}", &line);
            // Two decimals of the rate: the product is off by less than half a hundredth each, or by
            // the raised rate.
            let (procs, rate) = (found.processors.unwrap(), found.rate.unwrap());
            let product = i128::from(procs) * rate;
            let exact = record.usage.processors() * i128::from(record.usage.rate.unwrap_or(1_000_000)) / 1000;
            let off = (product - exact).abs();
            prop_assert!(off <= i128::from(procs) * 10_000_000, "{}: {} {}", &line, product, exact);
            let rest = file_reader::Record { processors: None, rate: None, duration: None, ..found };
            prop_assert_eq!(rest, carried(&record, dialect));
        }
    }

    #[test]
    fn usage_records_read_back(record in record()) {
        let Some(line) = ggf::render(&record, &GGF) else {
            return Ok(());
        };
        prop_assert_eq!(line.matches('\n').count(), 1);
        let (records, errors) = read(&line);
        prop_assert_eq!(errors, Vec::<String>::new(), "{}", &line);
        let [Read::Ur1(found)] = records.as_slice() else {
            panic!("{line}");
        };
        compare(&record, found);
    }
}

/// Compares the data of a usage record, field by field.
fn compare(record: &Record, found: &ur1::Record) {
    let whole = matches!(record.occasion, Occasion::Close { .. });
    assert_eq!(found.is_job, whole && record.kind == Kind::Job);
    assert_eq!(
        found.record_id,
        Some(format!("bank:0a1b2c3d:{}", record.record_id))
    );
    assert_eq!(found.created, Some(record.created_at));
    assert_eq!(found.local_job_id.as_ref(), Some(&record.object_id));
    let kitty = (record.kind == Kind::Reservation).then(|| "KITTY".to_owned());
    assert_eq!(found.user, record.user.clone().or(kitty));
    assert_eq!(found.project, record.project);
    assert_eq!(found.machine.as_ref(), Some(&record.machine));
    assert_eq!(found.charge, Some(text::decimal(record.amount.into(), 3)));
    assert_eq!(
        (found.start, found.end),
        (record.start_time, record.end_time)
    );
    let processors = text::ceiling(record.usage.processors());
    assert_eq!(found.processors.map(i128::from), Some(processors));
    if !whole {
        assert_eq!(found.wall, Some(record.wall.unwrap_or_default()));
        return;
    }
    assert_eq!(found.wall, record.wall);
    assert_eq!(found.job_name, record.job_name);
    assert_eq!((&found.qos, &found.queue), (&record.qos, &record.class));
    assert_eq!(found.submitted, record.submit_time);
    assert_eq!(found.nodes, record.nodes.filter(|nodes| *nodes > 0));
    assert_eq!(
        (found.cpu_user, found.cpu_system),
        (record.cpu_user, record.cpu_system)
    );
    let kilobytes = record.memory_per_node.map(|bytes| (bytes + 512) / 1024);
    let memory = kilobytes.filter(|kb| *kb > 0).map(|kb| kb * 1024);
    assert_eq!(found.memory, memory);
    let named = found.hosts.len()
        + found
            .resources
            .iter()
            .filter(|(what, _)| what == "bank.host")
            .count();
    assert!(named >= record.hosts.len());
}

/// Hundreds of them in one document, by the published schema.
#[test]
fn any_usage_record_is_valid_by_the_schema() {
    let Some(schemas) = goldens::schemas() else {
        return;
    };
    let mut runner = TestRunner::deterministic();
    let strategy = record();
    let lines: String = (0..500)
        .filter_map(|_| ggf::render(&strategy.new_tree(&mut runner).unwrap().current(), &GGF))
        .collect();
    assert!(lines.lines().count() > 200);
    let space = "http://schema.ogf.org/urf/2003/09/urf";
    let document = format!("<UsageRecords xmlns=\"{space}\">\n{lines}</UsageRecords>\n");
    goldens::validate(&schemas, &document);
}
