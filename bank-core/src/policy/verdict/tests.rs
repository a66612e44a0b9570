//! The worked table of nami.md 4.3, and vectors of our own arithmetic.

use super::super::CHARGE_POLICIES;
use super::*;
use proptest::prelude::*;
use std::borrow::Cow;

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(1_767_225_600 + seconds)
}

fn share(processors: &str, memory_mb: &str) -> Share {
    Share {
        processors: decimal(processors),
        memory_mb: decimal(memory_mb),
        ..Share::default()
    }
}

/// The job of the worked figures: 16 processors, a limit of 5400 s, 2 nodes of 20 processors.
fn job(ended: Ended, used: i64, cpu: &str) -> Finished<'static> {
    Finished {
        start: Some(at(0)),
        end: Some(at(used)),
        requested: Some(Seconds(5400)),
        processors: Some(decimal("16")),
        may_lack_processors: false,
        nodes: Some(decimal("2")),
        exit_code: None,
        figures: Cow::Owned(Figures {
            wall_us: None,
            ended,
            cpu_s: Some(decimal(cpu)),
            blocked_processors: Some(decimal("40")),
            dedicated: false,
            equivalents: equivalents_text("1024,2097152:16,1,6144"),
            ..Figures::default()
        }),
    }
}

/// auditor-api.md 9.1: if the source confirms an end before the start, the use is on record at no price, with
/// every policy. Without that confirmation the clocks differed a little, and it counts a second.
#[test]
fn a_job_with_a_negative_time_is_free() {
    let mut backwards = job(Ended::Completed, -10, "5");
    assert_eq!(charged("DEBITALLWC", &backwards), "16");
    backwards.figures.to_mut().backwards = true;
    for word in ["DEBITALLWC", "DEBITALLCPU", "DEBITREQUESTEDWC"] {
        let verdict = verdict(ChargePolicy::parse(word).unwrap(), &backwards);
        assert_eq!(verdict.unwrap(), Verdict::Free("negative_time"), "{word}");
    }
}

/// A job without a number of processors has one; a sample that states none has none.
#[test]
fn samples_without_processors_have_none() {
    for (processors, alone, sampled) in [(None, "100", "0"), (Some("0"), "100", "0")] {
        let mut job = job(Ended::Unknown, 100, "0");
        job.processors = processors.map(decimal);
        assert_eq!(charged("DEBITALLWC", &job), alone);
        job.may_lack_processors = true;
        assert_eq!(charged("DEBITALLWC", &job), sampled);
    }
}

fn charged(word: &str, job: &Finished<'_>) -> String {
    match verdict(ChargePolicy::parse(word).unwrap(), job) {
        Ok(Verdict::Charged(quantity)) => quantity.total().unwrap().to_string(),
        Ok(Verdict::Free(_)) => "0".to_owned(),
        Ok(Verdict::Unused(why)) => why.to_owned(),
        Err(refusal) => refusal.code().to_owned(),
    }
}

#[test]
fn the_worked_table() {
    let jobs = |cpu: &'static str| {
        [
            job(Ended::Completed, 3600, cpu),
            job(Ended::Failed, 3600, cpu),
            job(Ended::Removed, 3600, cpu),
            job(Ended::Removed, 5400, cpu),
        ]
    };
    let table = [
        ("DEBITALLWC", "28800", [57_600, 57_600, 57_600, 86_400]),
        ("DEBITSUCCESSFULWC", "28800", [57_600, 0, 0, 86_400]),
        ("DEBITALLCPU", "28800", [28_800, 28_800, 28_800, 28_800]),
        ("DEBITALLCPU", "0.01", [57_600, 57_600, 57_600, 86_400]),
        ("DEBITSUCCESSFULCPU", "28800", [28_800, 0, 0, 28_800]),
        ("DEBITSUCCESSFULCPU", "0.01", [57_600, 0, 0, 86_400]),
        ("DEBITALLPE", "28800", [172_800, 172_800, 172_800, 259_200]),
        ("DEBITSUCCESSFULPE", "28800", [172_800, 0, 0, 259_200]),
        (
            "DEBITALLBLOCKED",
            "28800",
            [144_000, 144_000, 144_000, 216_000],
        ),
        ("DEBITSUCCESSFULBLOCKED", "28800", [144_000, 0, 0, 216_000]),
        ("DEBITSUCCESSFULNODE", "28800", [7200, 0, 0, 10_800]),
        ("DEBITALLNODE", "28800", [7200, 7200, 7200, 10_800]),
        (
            "DEBITREQUESTEDWC",
            "28800",
            [86_400, 86_400, 86_400, 86_400],
        ),
    ];
    for (word, cpu, expected) in table {
        let got = jobs(cpu).map(|job| charged(word, &job));
        assert_eq!(got, expected.map(|n: i64| n.to_string()), "{word} {cpu}");
    }
}

/// The differences from the worked job, the policy, and the quantity or the reason for none.
const FURTHER: &[(&str, &str, &str)] = &[
    ("end=0", "DEBITALLWC", "16"),
    ("end=-9", "DEBITALLWC", "16"),
    ("end=10.5", "DEBITALLWC", "176"),
    ("end=10.499999", "DEBITALLWC", "160"),
    ("end=0.2", "DEBITALLWC", "16"),
    ("start=none", "DEBITALLWC", "never_started"),
    ("ended=queued", "DEBITALLWC", "never_started"),
    ("ended=rejected", "DEBITALLWC", "rejected"),
    ("ended=suspended", "DEBITALLWC", "0"),
    ("ended=running", "DEBITALLWC", "bad_value"),
    ("end=none", "DEBITALLWC", "missing_field"),
    ("ended=timeout end=5400", "DEBITSUCCESSFULWC", "86400"),
    ("ended=removed end=5399", "DEBITSUCCESSFULWC", "0"),
    ("ended=removed end=5401", "DEBITSUCCESSFULWC", "86416"),
    (
        "ended=removed end=5401 requested=none",
        "DEBITSUCCESSFULWC",
        "0",
    ),
    ("ended=preempted", "DEBITSUCCESSFULWC", "0"),
    ("ended=preempted", "DEBITALLWC", "57600"),
    ("exit=1", "DEBITSUCCESSFULWC", "0"),
    ("exit=0", "DEBITSUCCESSFULWC", "57600"),
    ("ended=unknown", "DEBITSUCCESSFULWC", "57600"),
    ("processors=none", "DEBITALLWC", "3600"),
    ("processors=0", "DEBITALLWC", "3600"),
    ("processors=0.25", "DEBITALLWC", "900"),
    ("processors=0.25", "DEBITREQUESTEDWC", "1350"),
    ("dedicated=yes", "DEBITALLWC", "144000"),
    ("dedicated=yes cpu=none", "DEBITALLCPU", "144000"),
    ("cpu=none", "DEBITALLCPU", "57600"),
    ("cpu=0.010000001", "DEBITALLCPU", "0.010000001"),
    ("cpu=70000.5", "DEBITALLCPU", "70000.5"),
    ("blocked=none", "DEBITALLBLOCKED", "57600"),
    ("nodes=none", "DEBITALLNODE", "57600"),
    ("requested=none", "DEBITREQUESTEDWC", "57600"),
    ("pe=none", "DEBITALLPE", "57600"),
    // Memory is dominant, then processors, then both requirements count, then an endless share.
    ("pe=1024,2097152:16,1,6144", "DEBITALLPE", "172800"),
    ("pe=1024,2097152:4,8,1024", "DEBITALLPE", "115200"),
    ("pe=1024,2097152:4,8,1024:16,1,6144", "DEBITALLPE", "288000"),
    ("pe=10,7:1,1,2", "DEBITALLPE", "72000/7"),
    ("pe=0,0:1,1,2", "DEBITALLPE", "57600"),
];

fn changed(changes: &str) -> Finished<'static> {
    let mut job = job(Ended::Completed, 3600, "28800");
    for change in changes.split(' ') {
        let (what, value) = change.split_once('=').unwrap();
        let number = Decimal::parse(value);
        let time = || {
            let micros = number?.billionths() / 1000;
            Some(Timestamp(at(0).0 + i64::try_from(micros).unwrap()))
        };
        let whole = number.and_then(Decimal::as_whole);
        match what {
            "start" => job.start = time(),
            "end" => job.end = time(),
            "requested" => job.requested = whole.map(Seconds),
            "processors" => job.processors = number,
            "nodes" => job.nodes = number,
            "exit" => job.exit_code = whole,
            "ended" => job.figures.to_mut().ended = Ended::parse(value).unwrap(),
            "cpu" => job.figures.to_mut().cpu_s = number,
            "blocked" => job.figures.to_mut().blocked_processors = number,
            "dedicated" => job.figures.to_mut().dedicated = true,
            _ => job.figures.to_mut().equivalents = equivalents_text(value),
        }
    }
    job
}

/// `processors,memory` of the partition, then `:tasks,processors,memory` for each requirement.
fn equivalents_text(text: &str) -> Option<Equivalents> {
    let mut parts = text
        .split(':')
        .map(|part| part.split(',').collect::<Vec<_>>());
    let partition = parts.next().filter(|p| p.len() == 2)?;
    let tasks = parts.map(|task| (decimal(task[0]), share(task[1], task[2])));
    Some(Equivalents {
        partition: share(partition[0], partition[1]),
        tasks: tasks.collect(),
    })
}

#[test]
fn what_the_table_does_not_show() {
    for (changes, word, expected) in FURTHER {
        assert_eq!(
            charged(word, &changed(changes)),
            *expected,
            "{word} {changes}"
        );
    }
}

#[test]
fn every_policy_has_its_word() {
    for (policy, word) in CHARGE_POLICIES {
        assert_eq!(policy.word(), word);
        assert_eq!(ChargePolicy::parse(&word.to_lowercase()), Some(policy));
    }
    assert_eq!(ChargePolicy::parse("DEBITSOMEWC"), None);
    assert_eq!(ChargePolicy::default().word(), "DEBITALLWC");
    for word in ["CANCELLED", "Aborted", "removed"] {
        assert_eq!(Ended::parse(word), Some(Ended::Removed));
    }
    assert_eq!(Ended::parse("gone"), None);
}

fn any_end() -> impl Strategy<Value = Ended> {
    prop::sample::select(vec![
        Ended::Completed,
        Ended::Failed,
        Ended::Timeout,
        Ended::Removed,
        Ended::Preempted,
        Ended::Suspended,
        Ended::Rejected,
        Ended::Waiting,
        Ended::Unknown,
    ])
}

fn total(policy: ChargePolicy, job: &Finished<'_>) -> Fraction {
    match verdict(policy, job).unwrap() {
        Verdict::Charged(quantity) => quantity.total().unwrap(),
        _ => Fraction::ZERO,
    }
}

proptest! {
    #[test]
    fn no_policy_charges_more_than_its_variant_for_all(
        ended in any_end(),
        used in -5i64..10_000,
        limit in 0i64..10_000,
        processors in 0i64..5000,
        cpu in 0i128..10_000_000_000_000_000,
        nodes in 0i64..100,
        blocked in 0i64..5000,
        exit in -1i64..3,
        memory in 0i64..9999,
        bits in 0u8..16,
    ) {
        let known = |bit: u8| bits & (1 << bit) != 0;
        let mut job = job(ended, used, "0");
        job.requested = known(0).then_some(Seconds(limit));
        job.processors = Some(Decimal::whole(processors));
        job.nodes = Some(Decimal::whole(nodes));
        job.exit_code = known(1).then_some(exit);
        let figures = job.figures.to_mut();
        figures.cpu_s = Some(Decimal::from_billionths(cpu));
        figures.blocked_processors = known(2).then_some(Decimal::whole(blocked));
        figures.dedicated = known(3);
        figures.equivalents = equivalents_text(&format!("1024,2097152:3,2,{memory}"));
        for (policy, word) in CHARGE_POLICIES {
            let all = ChargePolicy { whose: Whose::All, ..policy };
            let (own, most) = (total(policy, &job), total(all, &job));
            prop_assert!(own == most || own == Fraction::ZERO, "{word}: {own} of {most}");
        }
        let wall = total(ChargePolicy::default(), &job);
        let cpu_policy = ChargePolicy::parse("DEBITALLCPU").unwrap();
        if wall != Fraction::ZERO && cpu > NO_CPU_DATA {
            // Exact to the last billionth of a second.
            prop_assert_eq!(total(cpu_policy, &job), Fraction::of(Decimal::from_billionths(cpu)));
        }
    }
}
