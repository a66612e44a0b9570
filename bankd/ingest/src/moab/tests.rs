//! Lines of events and traces, with their results.

use super::*;
use crate::Record;

/// A line of so many columns, some of them given by their number.
fn line(columns: usize, given: &[(usize, &str)]) -> String {
    let mut all = vec!["1"; columns];
    for (number, text) in given {
        all[number - 1] = text;
    }
    all.join(" ")
}

fn read(log: Log, options: &[&str], text: &str) -> Found {
    let options = Options {
        columns: options.iter().map(|text| (*text).to_owned()).collect(),
        ..Options::default()
    };
    let mut reader = Moab::new(log, &options).unwrap();
    let mut input = text.as_bytes();
    let mut found = Found::Malformed("nothing".to_owned());
    let mut sink = |record: Record| {
        found = record.found;
        Ok(())
    };
    reader.file("events", &mut input, &mut sink).unwrap();
    found
}

fn results(found: &Found) -> String {
    found.shown(|job| {
        let none = "none".to_owned();
        let account = job.account.clone().unwrap_or(none);
        format!("{} {account} {} {}", job.id, job.wall, job.procs.unwrap())
    })
}

#[test]
fn events_of_jobs_are_charged_once_they_end() {
    let end = [
        (3, "job"),
        (4, "77"),
        (5, "JOBEND"),
        (15, "1700000000"),
        (16, "1700000060"),
        (25, "4"),
        (29, "chem"),
        (36, "2"),
    ];
    let with = |more: &[(usize, &str)]| {
        let given: Vec<(usize, &str)> = end.iter().chain(more).copied().collect();
        line(46, &given)
    };
    for (text, expected) in [
        (with(&[]), "77 chem 60 8"),
        (with(&[(29, "-")]), "77 none 60 8"),
        (with(&[(5, "jobcancel")]), "77 chem 60 8"),
        (with(&[(5, "jobcancel"), (15, "0")]), "never_started"),
        (with(&[(5, "jobhold")]), "event_jobhold"),
        (with(&[(3, "node")]), "object_node"),
        (line(4, &[]), "!4 columns where an event has at least 5"),
        (
            line(41, &[(3, "job"), (5, "jobend")]),
            "!41 columns where the end of a job has at least 42",
        ),
    ] {
        assert_eq!(results(&read(Log::Events, &[], &text)), expected, "{text}");
    }
    let moved = with(&[(30, "bio")]);
    let options = ["account=30", "tasks=1", "procs_per_task=1"];
    assert_eq!(results(&read(Log::Events, &options, &moved)), "77 bio 60 1");
}

/// Blanks in the executable, column 30, do not make other processors of a task of it.
#[test]
fn shifted_columns_are_rejected() {
    let line = |name: &str| {
        format!(
            "01:00:10 1793494800:4 job moab.1 jobend 2 8 amy staff 7200 Completed [batch:1] 1793491200 1793491200 \
             1793491200 1793494800 - - >= 0M >= 0M - 1793491200 8 -1 -:- - chem {name} - 0 - 28000 base 1 0 0 0 0 0 \
             n01,n02 rm1 - - -"
        )
    };
    let result = |name: &str| results(&read(Log::Events, &[], &line(name)));
    assert_eq!(result("job.sh"), "moab.1 chem 3600 8");
    for blanks in 1..=9 {
        let name = format!("my{}", " job".repeat(blanks));
        let result = result(&name);
        assert!(
            result.ends_with("blanks in a name shift the columns"),
            "{name}: {result}"
        );
    }
    let options = ["used=36", "procs_per_task=38", "hosts=44"];
    let moved = results(&read(Log::Events, &options, &line("my job 2.sh")));
    assert_eq!(moved, "moab.1 chem 3600 8");
}

#[test]
fn columns_that_are_none_are_refused() {
    for (stated, expected) in [
        (
            "acount=3",
            "--columns: no column \"acount\"; there are id, user",
        ),
        (
            "account=0",
            "--columns: \"account=0\"; as account=29, from 1",
        ),
        ("account", "--columns: \"account\"; as account=29, from 1"),
    ] {
        let options = Options {
            columns: vec![stated.to_owned()],
            ..Options::default()
        };
        let refused = Moab::new(Log::Events, &options).unwrap_err();
        assert!(refused.starts_with(expected), "{refused}");
    }
}

#[test]
fn traces_have_43_or_44_columns() {
    let given = [
        (1, "7"),
        (7, "Completed"),
        (11, "100"),
        (12, "160"),
        (22, "4"),
        (26, "[NONE]"),
    ];
    for (columns, expected) in [
        (44, "7 none 60 4"),
        (43, "7 none 60 4"),
        (45, "!45 columns where a trace has 43 or 44"),
    ] {
        assert_eq!(
            results(&read(Log::Trace, &[], &line(columns, &given))),
            expected
        );
    }
    let never = line(44, &[(7, "NotRun")]);
    assert_eq!(results(&read(Log::Trace, &[], &never)), "never_started");
}

#[test]
fn jobs_as_xml_are_charged_once_they_end() {
    let moab = "<job Account=\"chem\" Class=\"batch\" CompletionTime=\"1700000060\" Group=\"g\" \
                JobID=\"77\" JobName=\"a&lt;b\" ReqProcs=\"8\" StartTime=\"1700000000\" \
                StatPSUtl=\"368.01\" State=\"Completed\" User=\"amy\"";
    let sss = "<Job><JobId>9</JobId><Credentials><UserId>amy</UserId><ProjectId>bio</ProjectId>\
               </Credentials><State>Completed</State><StartTime>1700000000</StartTime>\
               <EndTime>1700000090</EndTime><TaskGroup><TaskCount>3</TaskCount></TaskGroup>\
               <TaskGroup><TaskCount>2</TaskCount><Processors>4</Processors></TaskGroup></Job>";
    for (text, expected) in [
        (format!("{moab}/>"), "77 chem 60 8"),
        (format!("{moab}></job>"), "77 chem 60 8"),
        (format!("  <?xml version=\"1.0\"?>{moab}/>"), "77 chem 60 8"),
        (
            format!("<Event type=\"JOBEND\">{moab}/></Event>"),
            "77 chem 60 8",
        ),
        (
            format!("<Event><EventType>jobcancel</EventType>{moab}/></Event>"),
            "77 chem 60 8",
        ),
        (
            format!("<Event type=\"jobstart\">{moab}/></Event>"),
            "event_jobstart",
        ),
        (sss.to_owned(), "9 bio 90 11"),
        (sss.replace("1700000090", "1699999999"), "9 bio 0 11"),
        (moab.replace("1700000060", "0") + "/>", "not_ended"),
        (moab.replace("1700000000", "0") + "/>", "never_started"),
        (moab.replace("ReqProcs=\"8\"", "") + "/>", "!no processors"),
        (
            moab.replace("ReqProcs=\"8\"", "")
                + "><req TCReqMin=\"4\" ReqProcPerTask=\"2\"/><req TCReqMin=\"1\"/></job>",
            "77 chem 60 9",
        ),
        (moab.replace("JobID=\"77\"", "") + "/>", "!no id of the job"),
        (
            moab.replace("\"8\"", "\"-8\"") + "/>",
            "!processors: \"-8\" is not a number",
        ),
        (
            moab.replace("1700000060", "soon") + "/>",
            "!completion: \"soon\" is not a time",
        ),
        ("<node NodeID=\"n1\"/>".to_owned(), "object_node"),
        (
            format!("<Data>{moab}/>{moab}/></Data>"),
            "!XML: several jobs in one line",
        ),
        (format!("{moab}>"), "!XML: cut off inside of an element"),
        ("<job></jab>".to_owned(), "!XML: not well-formed"),
        (
            "<!DOCTYPE a [<!ENTITY b 'c'>]><job/>".to_owned(),
            "!XML: a DOCTYPE is not taken",
        ),
        ("<job>&b;</job>".to_owned(), "!XML: an unknown entity"),
        (
            format!("{}{}", "<a>".repeat(40), "</a>".repeat(40)),
            "!XML: nested too deep",
        ),
    ] {
        assert_eq!(results(&read(Log::Events, &[], &text)), expected, "{text}");
    }
    let Found::Jobs(jobs) = read(
        Log::Events,
        &[],
        &format!("{moab} ReqAWDuration=\"7200\"/>"),
    ) else {
        panic!("no job");
    };
    let job = &jobs[0];
    let texts = [
        &job.user,
        &job.group,
        &job.queue,
        &job.name,
        &job.state_word,
    ];
    let texts = texts.map(|text| text.as_deref().unwrap_or("none"));
    assert_eq!(texts, ["amy", "g", "batch", "a<b", "Completed"]);
    assert_eq!((job.limit_s, job.state), (Some(7200), State::Completed));
    assert_eq!(
        job.cpu.map(|used| used.to_string()).as_deref(),
        Some("368.01")
    );
}

#[test]
fn jobs_as_pairs_are_charged_once_they_end() {
    let pairs = "UNAME=amy;GNAME=g;ACCOUNT=chem;RCLASS=[batch:1];STATE=Completed;TASKS=4;DPROCS=2;\
                 STARTTIME=1700000000;COMPLETETIME=1700000060;WCLIMIT=1:00:00";
    let lead = "01:00:10 1700000060:4 job moab.1";
    for (text, expected) in [
        (format!("{lead} JOBEND {pairs}"), "moab.1 chem 60 8"),
        (
            format!("{lead} jobend {}", pairs.replace(';', " ")),
            "moab.1 chem 60 8",
        ),
        (format!("{lead} jobstart {pairs}"), "event_jobstart"),
        (format!("moab.1 {pairs}"), "moab.1 chem 60 8"),
        (format!("JOBID=7;{pairs};ACCOUNT=bio"), "7 chem 60 8"),
        (format!("JOBID=7;EVENT=JOBHOLD;{pairs}"), "event_jobhold"),
        (pairs.to_owned(), "!no id of the job"),
        (format!("OBJECT=node;JOBID=7;{pairs}"), "object_node"),
        (
            format!("JOBID=7;{}", pairs.replace("chem", "\"chem bio; 2026\"")),
            "7 chem bio; 2026 60 8",
        ),
        (
            format!("JOBID=7;{}", pairs.replace("chem", "chem\\;bio")),
            "7 chem;bio 60 8",
        ),
        (
            format!("JOBID=7;{}", pairs.replace("DPROCS=2;", "")),
            "7 chem 60 4",
        ),
        (
            format!("JOBID=7;{}", pairs.replace("DPROCS=2", "DPROCS=x")),
            "!processors per task: \"x\" is not a number",
        ),
    ] {
        assert_eq!(results(&read(Log::Events, &[], &text)), expected, "{text}");
    }
    let Found::Jobs(jobs) = read(Log::Events, &[], &format!("moab.1 {pairs}")) else {
        panic!("no job");
    };
    assert_eq!(jobs[0].limit_s, Some(3600));
    assert_eq!(jobs[0].queue.as_deref(), Some("batch"));
}

/// Nodes and mebibytes of a job.
fn sizes(found: &Found) -> String {
    let Found::Jobs(jobs) = found else {
        return results(found);
    };
    let word = |number: Option<Number>| number.map_or("-".to_owned(), |number| number.to_string());
    let mebibytes = jobs[0].memory_bytes.and_then(|bytes| {
        let mebibyte = Number::whole(1 << 20);
        bytes.over(mebibyte, 3)
    });
    format!("{} {}", word(jobs[0].nodes), word(mebibytes))
}

#[test]
fn traces_have_nodes_and_memory_of_a_task() {
    let given = [
        (2, "2"),
        (7, "Completed"),
        (11, "100"),
        (12, "160"),
        (22, "8"),
        (33, "512M"),
        (38, "n1:n2"),
    ];
    for (more, expected) in [
        (&[][..], "2 4096"),
        // The first host only, as of Maui 3.0.
        (&[(38, "n1")], "2 4096"),
        (&[(38, "n1:n2:n3:n1")], "3 4096"),
        (&[(38, "[NONE]")], "2 4096"),
        (&[(2, "0")], "2 4096"),
        (&[(2, "0"), (38, "0")], "- 4096"),
        (&[(33, "0M")], "2 -"),
        (&[(33, "[NONE]")], "2 -"),
        (&[(33, "1.5")], "2 12"),
        (&[(2, "two")], "!nodes requested: \"two\" is not a number"),
    ] {
        let given: Vec<(usize, &str)> = given.iter().chain(more).copied().collect();
        let found = read(Log::Trace, &[], &line(44, &given));
        assert_eq!(sizes(&found), expected, "{more:?}");
    }
}

#[test]
fn events_have_nodes_and_memory_of_a_task() {
    let given = [
        (3, "job"),
        (5, "jobend"),
        (6, "4"),
        (15, "1700000000"),
        (16, "1700000060"),
        (25, "8"),
        (37, "512"),
        (42, "n1,n2"),
    ];
    for (more, options, expected) in [
        (&[][..], &[][..], "2 4096"),
        (&[(42, "n1:6,n2:2")], &[], "2 4096"),
        (&[(42, "n[1-4]")], &[], "4 4096"),
        (&[(42, "-")], &[], "4 4096"),
        (&[(6, "-"), (37, "-"), (42, "-")], &[], "- -"),
        (&[(7, "6"), (42, "-")], &["nodes=7"], "6 4096"),
        (&[(38, "1")], &["procs_per_task=38"], "2 -"),
        (
            &[(38, "1"), (39, "16M")],
            &["procs_per_task=38", "memory_per_task=39"],
            "2 128",
        ),
    ] {
        let given: Vec<(usize, &str)> = given.iter().chain(more).copied().collect();
        let found = read(Log::Events, options, &line(46, &given));
        assert_eq!(sizes(&found), expected, "{more:?}");
    }
}

#[test]
fn events_by_name_have_nodes_and_memory_of_a_task() {
    let times = "STARTTIME=1700000000 COMPLETETIME=1700000060";
    let xml = |more: &str| {
        format!(
            "<job JobID=\"7\" ReqProcs=\"8\" StartTime=\"1700000000\" CompletionTime=\"1700000060\" {more}</job>"
        )
    };
    for (text, expected) in [
        (format!("moab.1 TASKS=8 {times}"), "- -"),
        (format!("moab.1 TASKS=8 DMEM=512 NODES=4 {times}"), "4 4096"),
        (
            format!("moab.1 TASKS=8 DMEM=0 NODES=4 TASKLIST=n1:n1:n2 {times}"),
            "2 -",
        ),
        (xml("ReqNodes=\"4\">"), "4 -"),
        (
            xml(
                "ReqNodes=\"4\"><req TCReqMin=\"6\" DMem=\"100\" AllocNodeList=\"n1:4,n2:2\"/>\
                 <req TCReqMin=\"2\" DMem=\"50\" AllocNodeList=\"n2:1,n3:1\"/>",
            ),
            "3 700",
        ),
        (xml("ReqNodes=\"x\">"), "!nodes: \"x\" is not a number"),
    ] {
        assert_eq!(sizes(&read(Log::Events, &[], &text)), expected, "{text}");
    }
}
