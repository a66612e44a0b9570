//! Lines of accounting logs, and the counts in them.

use super::*;

#[test]
fn processors_are_counted_in_every_spelling() {
    for (hosts, count) in [
        ("n1/7+n1/6", 2),
        ("n1/0-3,8+n2/1", 6),
        ("n1/0*13+n2/0*13", 26),
        ("n1/24", 1),
        ("h/0*0", 0),
        ("n1/0*13+n2/0*-5", 13),
        ("n1", 1),
    ] {
        assert_eq!(host_processors(hosts), count, "{hosts}");
    }
    for (nodes, count) in [
        ("n1:ppn=2+n2:ppn=2", Ok(Some(4))),
        ("2:ppn=8+1", Ok(Some(17))),
        ("3", Ok(Some(3))),
        ("n1+n2:ppn=4", Ok(Some(5))),
        ("2:fast:ppn=8:gpus=2+1:slow", Ok(Some(17))),
        ("3:ppn=4#shared", Ok(Some(12))),
        ("1:ppn=2+3:ppn=4#excl:x", Ok(Some(14))),
        ("2:ppn=x+1", Err("2:ppn=x")),
        ("-2:ppn=-2", Ok(None)),
        ("0", Ok(None)),
        ("", Ok(None)),
    ] {
        assert_eq!(node_processors(nodes), count, "{nodes}");
    }
    for (nodes, count) in [
        ("2:ppn=4:gpus=2#shared", Ok(Some(4))),
        ("1:gpus=2+-1:gpus=-9", Ok(Some(2))),
        ("1:gpus=2:exclusive_process+n2:gpu=1", Ok(Some(3))),
        ("4:ppn=2:gpu", Ok(None)),
        ("1:gpus=2+1:gpus=x", Err("1:gpus=x")),
        ("1:gpu=", Err("1:gpu=")),
        ("", Ok(None)),
    ] {
        assert_eq!(node_gpus(nodes), count, "{nodes}");
    }
}

/// As a count of processors, it makes the record unreadable: it is not "no GPU".
#[test]
fn a_count_of_gpus_that_cannot_be_read_is_rejected() {
    let huge = "9".repeat(41);
    for (words, expected) in [
        ("", "none"),
        ("Resource_List.ngpus=2", "2"),
        ("Resource_List.ngpus=0 Resource_List.gpus=3", "3"),
        ("Resource_List.ngpus=-1", "none"),
        ("Resource_List.nodect=1:gpu=2", "2"),
        (
            "Resource_List.ngpus=2x",
            r#"Resource_List.ngpus: "2x" is not a count"#,
        ),
        (
            "Resource_List.gpus=1.5",
            r#"Resource_List.gpus: "1.5" is not a count"#,
        ),
        (
            "Resource_List.nodes=1:ppn=4:gpus=x",
            r#"Resource_List.nodes: "1:ppn=4:gpus=x" is not a count"#,
        ),
        (
            "Resource_List.nodect=1:gpu=x",
            r#"Resource_List.nodect: "1:gpu=x" is not a count"#,
        ),
        // Another value comes first.
        ("Resource_List.ngpus=2 Resource_List.gpus=x", "2"),
        (
            &format!("Resource_List.ngpus={huge}"),
            &format!("Resource_List.ngpus: {huge:?} is not a count"),
        ),
    ] {
        let line = format!("01/01/2026 00:00:00;E;1.srv;start=100 end=160 {words}");
        let found = match judged(&line) {
            Ok(Ok(job)) => job.gpus.map_or("none".to_owned(), |gpus| gpus.to_string()),
            Ok(Err(label)) => label.to_string(),
            Err(why) => why,
        };
        assert_eq!(found, expected, "{words}");
    }
}

#[test]
fn sizes_have_many_units() {
    for (text, bytes) in [
        ("15240kb", Some(15_605_760)),
        ("12.27M", Some(12_866_027)),
        ("10", Some(10_240)),
        ("10b", Some(10)),
        ("2gw", Some(17_179_869_184)),
        ("x", None),
    ] {
        assert_eq!(size(text).and_then(Number::as_whole), bytes, "{text}");
    }
}

#[test]
fn lines_are_charged_skipped_or_rejected() {
    for (line, expected) in [
        (
            "E;1.srv;start=100 end=160 resources_used.ncpus=4",
            "1.srv 100 60 4",
        ),
        (
            "E;1.srv;start=100 end=160 Resource_List.ncpus=3",
            "1.srv 100 60 3",
        ),
        ("E;1.srv;start=100 end=160", "1.srv 100 60 1"),
        (
            "E;1.srv;start=100 end=160 resources_used.ncpus=0 Resource_List.ncpus=3",
            "1.srv 100 60 3",
        ),
        (
            "E;1.srv;start=100 end=160 resources_used.ncpus=1K",
            "!resources_used.ncpus: \"1K\" is not a count",
        ),
        (
            "E;1.srv;start=100 end=160 Resource_List.ncpus=x",
            "!Resource_List.ncpus: \"x\" is not a count",
        ),
        (
            "E;1.srv;start=100 end=160 Resource_List.ncpus=1 Resource_List.nodes=3",
            "1.srv 100 60 3",
        ),
        (
            "E;1.srv;start=100 end=160 Resource_List.ncpus=8 Resource_List.nodes=1",
            "1.srv 100 60 8",
        ),
        (
            "E;1.srv;start=100 end=160 Resource_List.ncpus=99 Resource_List.nodes=2:ppn=8+1",
            "1.srv 100 60 17",
        ),
        (
            "E;1.srv;start=100 end=160 Resource_List.nodes=2:ppn=x",
            "!Resource_List.nodes: \"2:ppn=x\" is not a count",
        ),
        // What ran counts, whatever was asked for.
        (
            "E;1.srv;start=100 end=160 exec_host=n1/0*4 Resource_List.nodes=2:ppn=x",
            "1.srv 100 60 4",
        ),
        (
            "E;1.srv;user=a account=c user=b start=100 end=160",
            "!user= twice, with different values",
        ),
        (
            "E;1.srv;user=a account=\"c\" user=b x=\"\" start=100 end=160",
            "!user= twice, with different values",
        ),
        ("E;1.srv;user=a user=a start=100 end=160", "1.srv 100 60 1"),
        // The order of the keys is free.
        (
            "E;1.srv;exec_host=n1/0*4 resources_used.ncpus=4 end=160 start=100",
            "1.srv 100 60 4",
        ),
        (
            "E;1.srv;start=100 exec_host=n1/0 exec_host=n1/0-7 end=160",
            "!exec_host= twice, with different values",
        ),
        (
            "E;1.srv;start=100 resources_used.walltime=00:01:00",
            "1.srv 100 60 1 repaired",
        ),
        (
            "E;1.srv;start=200 end=160 resources_used.walltime=60",
            "1.srv 100 60 1 repaired",
        ),
        ("E;1.srv;start=200 end=160", "1.srv 200 0 1"),
        ("E;1[].srv;ctime=5", "never_started"),
        // The parent of an array has no usage of its own, also with times.
        (
            "E;1[].srv;start=100 end=160 Resource_List.ncpus=4 run_count=0",
            "never_started",
        ),
        ("E;1[];start=100 end=160", "never_started"),
        ("E;1[7].srv;start=100 end=160", "1[7].srv 100 60 1"),
        ("E;1.srv;start=100", "never_started"),
        ("E;1.srv;start=-100 end=160", "never_started"),
        ("E;1.srv;start=x end=160", "!start: \"x\" is not a time"),
        ("E;;start=100 end=160", "!an ended job without an id"),
        ("Q;1.srv;queue=q", "event_Q"),
        ("z;1.srv;", "event_z"),
        ("E;1.srv", "!no header: time;letter;id;message"),
    ] {
        let result = match judged(&format!("01/02/2026 03:04:05;{line}")) {
            Ok(Ok(job)) => {
                let (start, procs) = (job.start_us / 1_000_000, job.procs.unwrap());
                let flags = job.flags.iter().map(|flag| format!(" {flag}"));
                let flags: String = flags.collect();
                format!("{} {start} {} {procs}{flags}", job.id, job.wall)
            }
            Ok(Err(label)) => label.to_string(),
            Err(why) => format!("!{why}"),
        };
        assert_eq!(result, expected, "{line}");
    }
}

/// TORQUE prints the account as it is. A figure that the server prints only where it has one may be in it.
#[test]
fn figures_in_a_text_of_the_user_are_rejected() {
    let times = "qtime=50 etime=50 start=100";
    let rest =
        "Resource_List.nodes=2:ppn=8 session=5 total_execution_slots=16 end=160 Exit_status=0";
    let used = "resources_used.walltime=00:01:00";
    let line = |account: &str, requested: &str| {
        format!(
            "user=amy account={account} jobname=j queue=batch ctime=50 {times} owner=a@h \
             exec_host=n1/0-7+n2/0-7 {requested}{rest} {used}"
        )
    };
    let pro = |account: &str| {
        format!(
            "user=amy account=\"{account}\" project=p jobname=j queue=q ctime=50 {times} exec_host=n1/0*4 \
             Resource_List.ncpus=4 session=5 end=160 Exit_status=0 resources_used.ncpus=4 run_count=1"
        )
    };
    let only = |key: &str| format!("{key}= in a text of the user only");
    for (message, expected) in [
        (line("chem", ""), "16".to_owned()),
        (line("chem x=1", ""), "16".to_owned()),
        (
            line("chem resources_used.ncpus=1", ""),
            only("resources_used.ncpus"),
        ),
        (
            line("\"chem\" resources_used.ncpus=\"1\"", ""),
            only("resources_used.ncpus"),
        ),
        (
            line("chem\tresources_used.ncpus=1 jobname=j queue=batch", ""),
            only("resources_used.ncpus"),
        ),
        (
            line("chem Resource_List.ngpus=0", ""),
            only("Resource_List.ngpus"),
        ),
        (
            line("chem total_execution_slots=1", ""),
            "total_execution_slots= twice, with different values".to_owned(),
        ),
        (line("chem project=rich", ""), only("project")),
        (
            line(
                "chem",
                "Resource_List.software=x resources_used.ncpus=1 session=5 ",
            ),
            only("resources_used.ncpus"),
        ),
        // The account behind all others.
        (
            format!(
                "user=amy jobname=j queue=batch ctime=50 {times} exec_host=n1/0-7 end=160 {used} account=chem"
            ),
            "8".to_owned(),
        ),
        (
            format!(
                "user=amy jobname=j queue=batch ctime=50 {times} exec_host=n1/0-7 end=160 {used} \
                 account=chem resources_used.ncpus=1"
            ),
            only("resources_used.ncpus"),
        ),
        (pro("chem"), "4".to_owned()),
        (
            pro("chem\" resources_used.walltime=1 x=\""),
            only("resources_used.walltime"),
        ),
    ] {
        let result = match judged(&format!("01/02/2026 03:04:05;E;1.srv;{message}")) {
            Ok(Ok(job)) => job.procs.unwrap().to_string(),
            Ok(Err(label)) => label.to_string(),
            Err(why) => why,
        };
        assert_eq!(result, expected, "{message}");
    }
}

#[test]
fn values_may_be_quoted() {
    let pairs = Pairs::read("a=1 account=\"chem 2026 spring\" odd b=x=y").unwrap();
    assert_eq!(pairs.text("account"), Some("chem 2026 spring"));
    assert_eq!((pairs.text("a"), pairs.text("b")), (Some("1"), Some("x=y")));
}

#[test]
fn the_exit_status_has_the_end() {
    for (exit, expected) in [
        (Some("0"), State::Completed),
        (Some("1"), State::Failed),
        (Some("-28"), State::Timeout),
        (Some("-29"), State::Timeout),
        (Some("271"), State::Aborted),
        (Some("x"), State::Unknown),
        (None, State::Unknown),
    ] {
        assert_eq!(state(exit), expected, "{exit:?}");
    }
}
