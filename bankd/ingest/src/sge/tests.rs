//! Lines of accounting files.

use super::*;
use crate::Record;

/// A line of 45 fields, some of them given by their number.
fn line(fields: &[(usize, &str)]) -> String {
    let mut all = vec!["0"; 45];
    let usual = [
        (1, "all.q"),
        (2, "n1"),
        (3, "staff"),
        (4, "amy"),
        (5, "run"),
        (6, "77"),
        (7, "sge"),
        (9, "1700000000"),
        (10, "1700000100"),
        (11, "1700000160"),
        (32, "NONE"),
        (35, "4"),
        (40, "NONE"),
        (42, "NONE"),
    ];
    for (number, text) in usual.iter().chain(fields) {
        all[number - 1] = text;
    }
    all.join(":")
}

fn read(options: &Options, text: &str) -> Found {
    let mut input = text.as_bytes();
    let mut found = None;
    let mut sink = |record: Record| {
        found = Some(record.found);
        Ok(())
    };
    let mut reader = Sge::new(Dialect::Colons, options);
    reader.file("accounting", &mut input, &mut sink).unwrap();
    found.unwrap()
}

fn job(fields: &[(usize, &str)]) -> Job {
    match read(&Options::default(), &line(fields)) {
        Found::Jobs(jobs) => jobs[0].clone(),
        other => panic!("{fields:?}: {other:?}"),
    }
}

#[test]
fn who_pays_is_the_account_else_the_project() {
    for (account, project, pays) in [
        ("sge", "NONE", None),
        ("sge", "chem", Some("chem")),
        ("bio", "chem", Some("bio")),
        ("NONE", "chem", None),
    ] {
        let job = job(&[(7, account), (32, project)]);
        assert_eq!(job.account.as_deref(), pays, "{account} {project}");
    }
}

#[test]
fn times_are_seconds_milliseconds_or_microseconds() {
    for unit in ["", "000", "000000"] {
        let times = ["1700000000", "1700000100", "1700000160"].map(|t| format!("{t}{unit}"));
        let [submit, start, end] = times;
        let job = job(&[(9, &submit), (10, &start), (11, &end)]);
        assert_eq!(
            (job.start_us, job.wall),
            (1_700_000_100_000_000, Number::whole(60))
        );
    }
    let job = job(&[(10, "1700000100500"), (11, "1700000160250")]);
    assert_eq!(job.wall.to_string(), "59.75");
}

#[test]
fn slots_tasks_and_states() {
    for (fields, expected) in [
        (&[(35, "0")][..], "77 1 failed=0 240"),
        (&[(36, "3")], "77[3] 4 failed=0 240"),
        (&[(12, "100"), (13, "137")], "77 4 failed=100 240"),
    ] {
        let job = job(fields);
        let core = job.wall.times(job.procs.unwrap()).unwrap();
        let (word, procs) = (job.state_word.unwrap(), job.procs.unwrap());
        let core = if procs == Number::whole(1) {
            "240".to_owned()
        } else {
            core.to_string()
        };
        assert_eq!(format!("{} {procs} {word} {core}", job.id), expected);
    }
    for (fields, label) in [
        (&[(10, "0"), (11, "0")][..], "never_started"),
        (&[(10, "-5")], "never_started"),
        (&[(11, "1700000000")], "never_started"),
        (&[(42, "1.eddie244")], "slave_task"),
    ] {
        let found = read(&Options::default(), &line(fields));
        assert_eq!(found, Found::Skipped(label.into()), "{fields:?}");
    }
}

/// As a count of slots, it makes the record unreadable: it is not "no GPU".
#[test]
fn a_count_of_gpus_that_cannot_be_read_is_rejected() {
    let huge = "9".repeat(41);
    for (value, is_count) in [
        ("2", true),
        ("0.5", true),
        ("1K", false),
        ("2x", false),
        ("", false),
        (huge.as_str(), false),
    ] {
        let category = format!("-u amy -l h_rt=60,gpu={value},mem_free=2G");
        let found = match read(&Options::default(), &line(&[(40, &category)])) {
            Found::Jobs(jobs) => Ok(jobs[0].gpus),
            Found::Malformed(why) => Err(why),
            other => panic!("{category}: {other:?}"),
        };
        let expected = if is_count {
            Ok(Number::parse(value))
        } else {
            Err(format!("gpu: {value:?} is not a count"))
        };
        assert_eq!(found, expected, "{category}");
    }
}

/// A site can have a complex of this name that is a property of hosts.
#[test]
fn a_boolean_gpu_is_no_count() {
    let job = read(&Options::default(), &line(&[(40, "-u amy -l gpu=TRUE")]));
    let Found::Jobs(jobs) = job else {
        panic!("{job:?}");
    };
    assert_eq!(jobs[0].gpus, None);
}

#[test]
fn gpus_of_a_category_count_for_the_job_or_each_slot() {
    let category = "-u amy -l h_rt=36000,gpu=2,mem_free=2G -pe mpi 4";
    let per_slot = Options {
        gpus_per_slot: true,
        ..Options::default()
    };
    for (options, gpus) in [(&Options::default(), 2), (&per_slot, 8)] {
        let Found::Jobs(jobs) = read(options, &line(&[(40, category)])) else {
            panic!("no job");
        };
        assert_eq!(jobs[0].gpus, Some(Number::whole(gpus)));
    }
}

#[test]
fn fields_behind_a_colon_in_the_category_are_not_taken_for_others() {
    // The category has a colon, so that 41 and later are further right.
    for category in ["", "-l h=a:b,gpu=2", "-l h=a:b:c,gpu=2"] {
        let job = job(&[(40, category), (41, "0.000"), (43, "4096")]);
        assert_eq!(job.memory_bytes, Some(Number::whole(4096)), "{category}");
        let gpus = (!category.is_empty()).then_some(Number::whole(2));
        assert_eq!(job.gpus, gpus, "{category}");
        for more in ["", ":NONE:NONE:1:2:host:/a:b:qsub a:b:3600.5:80:NONE"] {
            let slave = line(&[(40, category), (42, "1.node2"), (43, "4096")]);
            let found = read(&Options::default(), &[&slave, more].concat());
            assert_eq!(found, Found::Skipped("slave_task".into()), "{slave}{more}");
        }
    }
    // A text that imitates these fields; without any that look right the line is a job.
    let imitated = line(&[(40, "-l h=a:0.0:1.node2:0:0:0")]);
    let found = read(&Options::default(), &imitated);
    assert!(matches!(found, Found::Malformed(_)), "{found:?}");
    assert_eq!(job(&[(43, "x")]).memory_bytes, None);
}

#[test]
fn a_reporting_file_has_two_fields_more() {
    let found = read(
        &Options::default(),
        &format!("1700000161:acct:{}", line(&[])),
    );
    assert!(matches!(found, Found::Jobs(_)), "{found:?}");
    for (text, expected) in [
        ("1767571100:new_job:1767571100:9:-1:NONE", "event_new_job"),
        ("1767571200:queue:all.q:node1:1767571200:", "event_queue"),
    ] {
        let found = read(&Options::default(), text);
        assert_eq!(found, Found::Skipped(expected.into()), "{text}");
    }
    for text in ["all.q:new_job:1767571100:9", "1767571200:acct:all.q:node1"] {
        let found = read(&Options::default(), text);
        assert!(matches!(found, Found::Malformed(_)), "{text}: {found:?}");
    }
    let job = job(&[(2, "acct")]);
    assert_eq!(job.hosts.as_deref(), Some("acct"));
}
