//! Records through the readers of Slurm's formats.

use std::io;

use bank_core::usage::kept;

use crate::formats;
use crate::job::{Found, Record};
use crate::options::Options;
use crate::{Reader, Sink};

/// The result of a reader for a file: the counts of each job, a label, or a reason.
fn results(format: &str, text: &str) -> Vec<String> {
    let read = |reader: &mut dyn Reader, sink: &mut Sink<'_>| {
        let mut input = text.as_bytes();
        reader.file("f", &mut input, sink)
    };
    shown(format, &read)
}

/// The same for a record by itself.
fn again(format: &str, text: &str) -> Vec<String> {
    let read = |reader: &mut dyn Reader, sink: &mut Sink<'_>| {
        let mut input = text.as_bytes();
        reader.again("f", &mut input, sink)
    };
    shown(format, &read)
}

type Read<'a> = dyn Fn(&mut dyn Reader, &mut Sink<'_>) -> io::Result<()> + 'a;

fn shown(format: &str, read: &Read<'_>) -> Vec<String> {
    let format = formats::named(format).unwrap();
    let mut reader = (format.reader)(&Options::default()).unwrap();
    let mut results = Vec::new();
    let mut sink = |record: Record| {
        results.push(record.found.shown(|job| {
            let count = |count: Option<_>| count.map_or("none".to_owned(), |n| format!("{n}"));
            let counts = [job.procs, job.nodes, job.gpus].map(count).join(" ");
            let flags = job.flags.iter().flat_map(|flag| [" ", flag]);
            format!("{counts}{}", flags.collect::<String>())
        }));
        Ok(())
    };
    read(reader.as_mut(), &mut sink).unwrap();
    results
}

/// Sites keep `AllocTRES` only: its processors and nodes count where no column has them.
#[test]
fn resources_supply_the_counts_that_no_column_has() {
    let [start, end] = TIMES;
    for (columns, values, expected) in [
        ("AllocTRES", "cpu=16,gres/gpu=2,mem=8G,node=2", "16 2 2"),
        ("AllocTRES", "cpu=2K,node=1", "2048 1 0"),
        (
            "NCPUS|NNodes|AllocTRES",
            "4|1|cpu=16,node=2",
            "4 1 0 tres-disagrees",
        ),
        ("NCPUS|NNodes|AllocTRES", "||cpu=16,node=2", "16 2 0"),
        (
            "NCPUS|NNodes|AllocTRES",
            "0|1|cpu=16",
            "0 1 0 tres-disagrees",
        ),
        ("NCPUS|NNodes|AllocTRES", "4|1|cpu=16x", "4 1 0"),
        ("AllocTRES", "cpu=-16,node=2", "none 2 0"),
        ("AllocTRES", "cpu=16x", "!cpu: \"16x\" is not a count"),
        ("AllocTRES", "cpu=1,node=x", "!node: \"x\" is not a count"),
        ("AllocTRES", "cpu=4,gres/gpu=2.0", "4 none 2"),
        ("AllocTRES", "cpu=1.50K", "1536 none 0"),
        ("AllocTRES", "cpu=0.5", "!cpu: \"0.5\" is not a count"),
        (
            "NCPUS|AllocTRES",
            "4|gres/gpu=0.5",
            "!gres/gpu: \"0.5\" is not a count",
        ),
        ("NCPUS|AllocTRES", "4|billing=36.50,cpu=4", "4 none 0"),
        (
            "NCPUS|AllocTRES",
            "4|billing=x",
            "!billing: \"x\" is not a count",
        ),
        ("NCPUS|NNodes|ReqGRES", "12|3|PER_NODE:gpu:2", "12 3 6"),
        (
            "NCPUS|NNodes|ReqGRES",
            "12|3|gpu:a:two",
            "!GPUs: \"gpu:a:two\" is not a count",
        ),
    ] {
        let text = format!("JobID|State|Start|End|{columns}\n7|COMPLETED|{start}|{end}|{values}\n");
        assert_eq!(results("sacct", &text), [expected], "{text}");
    }
    let keyed = format!(
        "JobID=\"7\" State=\"COMPLETED\" Start=\"{start}\" End=\"{end}\" AllocTRES=\"cpu=16,node=2\""
    );
    assert_eq!(results("sacct-keyvalue", &keyed), ["16 2 0"]);
    let block = format!(
        "JobId=7 JobState=COMPLETED StartTime={start} EndTime={end} AllocTRES=cpu=16,node=2"
    );
    assert_eq!(results("slurm-scontrol", &block), ["16 2 0"]);
}

/// jobcomp has another name for it.
#[test]
fn a_job_has_its_reservation_in_every_rendering() {
    let [start, end] = TIMES;
    let times = format!("StartTime={start} EndTime={end}");
    for (format, text, expected) in [
        (
            "slurm-scontrol",
            format!("JobId=7 JobState=COMPLETED {times} NumCPUs=1 Reservation=r.1"),
            "r.1",
        ),
        (
            "slurm-jobcomp",
            format!(
                "JobId=7 Name=x JobState=COMPLETED {times} ProcCnt=1 WorkDir=/h ReservationName=r.1 Tres=cpu=1"
            ),
            "r.1",
        ),
        (
            "slurm-jobcomp",
            format!(
                "JobId=7 Name=x JobState=COMPLETED {times} ProcCnt=1 WorkDir=/h ReservationName= Tres=cpu=1"
            ),
            "none",
        ),
        (
            "slurm-jobcomp",
            format!(
                "JobId=7 Name=ReservationName=r JobState=COMPLETED {times} WorkDir=/ ReservationName=r.1"
            ),
            "r.1",
        ),
        (
            "slurm-jobcomp",
            format!(
                "JobId=7 Name=x ReservationName=r JobState=COMPLETED {times} WorkDir=/ ReservationName="
            ),
            "ReservationName= twice, with different values",
        ),
        (
            "sacct",
            format!("JobID|State|Start|End|Reservation\n7|COMPLETED|{start}|{end}|r.1"),
            "r.1",
        ),
    ] {
        let format = formats::named(format).unwrap();
        let mut reader = (format.reader)(&Options::default()).unwrap();
        let mut found = Vec::new();
        let mut sink = |record: Record| {
            found.push(match record.found {
                Found::Jobs(jobs) => {
                    let mut stated = jobs[0].stated.iter();
                    let own = stated.find(|(name, _)| *name == kept::RESERVATION);
                    own.map_or("none".to_owned(), |(_, own)| own.clone())
                }
                Found::Malformed(why) => why,
                found => format!("{found:?}"),
            });
            Ok(())
        };
        reader.file("f", &mut text.as_bytes(), &mut sink).unwrap();
        assert_eq!(found, [expected], "{text}");
    }
}

/// The quarantine keeps a job of a document without the document.
#[test]
fn a_job_by_itself_is_read_again() {
    let job = r#"{"job_id":7,"state":{"current":["COMPLETED"]},"time":{"start":100,"end":160},
        "tres":{"allocated":[{"type":"cpu","name":"","count":4}]}}"#;
    let whole = format!("{{\"jobs\":[{job}]}}");
    let bad = job.replace(":4}", ":\"4x\"}");
    for (text, expected) in [
        (job, "4 none 0"),
        (whole.as_str(), "4 none 0"),
        (bad.as_str(), "!tres cpu: \"4x\" is not a count"),
    ] {
        assert_eq!(again("slurm-json", text), [expected], "{text}");
    }
    let pod = r#"{"metadata":{"name":"p","namespace":"ns","uid":"u"},"spec":{"containers":
        [{"name":"c","resources":{"limits":{"cpu":"2"}}}]},"status":{"phase":"Succeeded","startTime":
        "2026-10-01T00:00:00Z","containerStatuses":[{"name":"c","state":{"terminated":{"startedAt":
        "2026-10-01T00:00:00Z","finishedAt":"2026-10-01T01:00:00Z"}}}]}}"#;
    assert_eq!(again("kubernetes", pod), ["2 none none"]);
}

const TIMES: [&str; 2] = ["2026-11-01T00:00:00", "2026-11-01T01:00:00"];

/// The columns that a rendering has are asked for in the same order as those of `sacct`.
#[test]
fn other_columns_supply_processors_and_nodes() {
    let [start, end] = TIMES;
    let keyed = format!(
        "JobID=\"7\" State=\"COMPLETED\" Start=\"{start}\" End=\"{end}\" AllocCPUS=\"16\" NodeList=\"n[1-2]\""
    );
    assert_eq!(results("sacct-keyvalue", &keyed), ["16 2 0"]);
    let bad = keyed.replace("16", "x");
    assert_eq!(
        results("sacct-keyvalue", &bad),
        ["!AllocCPUS: \"x\" is not a count"]
    );
    let block = format!(
        "JobId=7 JobState=COMPLETED StartTime={start} EndTime={end} NodeList=n[1-2] NumCPUs=16"
    );
    assert_eq!(results("slurm-scontrol", &block), ["16 2 0"]);
    for (nodes, expected) in [
        (r#""nodes":"n[1-3]""#, "4 3 0"),
        (r#""nodes":"n[1-3]","allocation_nodes":2"#, "4 2 0"),
        (
            r#""allocation_nodes":{"set":true,"number":2},"nodes":"""#,
            "4 2 0",
        ),
        (r#""allocation_nodes":0,"nodes":"""#, "4 none 0"),
    ] {
        let text = format!(
            r#"{{"jobs":[{{"job_id":7,"state":{{"current":["COMPLETED"]}},"time":{{"start":100,"end":160}},
            "tres":{{"allocated":[{{"type":"cpu","name":"","count":4}}]}},{nodes}}}]}}"#
        );
        assert_eq!(results("slurm-json", &text), [expected], "{nodes}");
    }
}

/// Slurm gives a job that is cancelled while it waits the time of the cancellation as its start and its end.
#[test]
fn a_moment_without_nodes_is_no_run() {
    let [start, later] = TIMES;
    let keys = |nodes: &str, end: &str, quote: &str| {
        let words = ["State=CANCELLED", &format!("End={end}"), nodes];
        let words = words.map(|word| word.replacen('=', &format!("={quote}"), 1) + quote);
        words.join(" ")
    };
    for (nodes, end, expected) in [
        ("NodeList=", start, "never_started"),
        ("NodeList=(null)", start, "never_started"),
        ("NodeList=n1", start, "16 1 0"),
        ("NodeList=(null)", later, "16 1 0"),
        ("Nodes=1", start, "16 1 0"),
    ] {
        let words = keys(nodes, end, "");
        let words = words.replace("State", "JobState").replace("End", "EndTime");
        let text =
            format!("JobId=7 {words} StartTime={start} RunTime=00:00:00 NumCPUs=16 NumNodes=1");
        assert_eq!(results("slurm-scontrol", &text), [expected], "{text}");
        let text = format!("JobId=7 {words} StartTime={start} NodeCnt=1 ProcCnt=16");
        assert_eq!(results("slurm-jobcomp", &text), [expected], "{text}");
        let words = keys(nodes, end, "\"");
        let text = format!("JobID=\"7\" {words} Start=\"{start}\" NCPUS=\"16\" NNodes=\"1\"");
        assert_eq!(results("sacct-keyvalue", &text), [expected], "{text}");
    }
}

/// Pairs in a text of the user's own do not decide.
#[test]
fn a_key_with_two_values_is_rejected() {
    let [start, end] = TIMES;
    let keyed = |name: &str| {
        format!(
            "JobID=\"7\" User=\"amy\" State=\"COMPLETED\" NCPUS=\"1\" QOS=\"dear\" Start=\"{start}\" \
             End=\"{end}\" JobName=\"{name}\""
        )
    };
    for (name, expected) in [
        ("x", "1 none 0"),
        ("x\" JobName=\"y", "1 none 0"),
        ("x\" QOS=\"dear", "1 none 0"),
        (
            "x\" User=\"boss\" QOS=\"free",
            "!User= twice, with different values",
        ),
        ("x\" QOS=\"free", "!QOS= twice, with different values"),
        ("x\" NCPUS=\"", "!NCPUS= twice, with different values"),
    ] {
        assert_eq!(
            results("sacct-keyvalue", &keyed(name)),
            [expected],
            "{name}"
        );
    }
}

/// The processor time and the time limit of each job.
fn times(format: &str, text: &str) -> Vec<String> {
    let format = formats::named(format).unwrap();
    let mut reader = (format.reader)(&Options::default()).unwrap();
    let mut times = Vec::new();
    let mut sink = |record: Record| {
        if let Found::Jobs(jobs) = record.found {
            let cpu = jobs[0].cpu.map_or("none".to_owned(), |cpu| cpu.to_string());
            let limit = jobs[0].limit_s.map_or("none".to_owned(), |s| s.to_string());
            times.push(format!("{cpu} {limit}"));
        }
        Ok(())
    };
    reader.file("f", &mut text.as_bytes(), &mut sink).unwrap();
    times
}

#[test]
fn processor_time_is_the_sum_of_its_parts() {
    let [start, end] = TIMES;
    for (columns, values, expected) in [
        ("UserCPU|SystemCPU", "00:10:00|00:05:00", "900 none"),
        ("UserCPU|SystemCPU", "|00:05:00", "300 none"),
        (
            "TotalCPU|UserCPU|SystemCPU",
            "00:16:00|00:10:00|00:05:00",
            "960 none",
        ),
        (
            "TotalCPU|UserCPU|SystemCPU",
            "|00:10:00|00:05:00",
            "900 none",
        ),
        ("TotalCPU", "", "0 none"),
        ("NCPUS", "4", "none none"),
    ] {
        let text = format!("JobID|State|Start|End|{columns}\n7|COMPLETED|{start}|{end}|{values}\n");
        assert_eq!(times("sacct", &text), [expected], "{text}");
    }
    let steps = format!(
        "JobID|State|Start|End|UserCPU|SystemCPU\n7|COMPLETED|{start}|{end}|00:00:00|00:00:00\n\
         7.0|COMPLETED|{start}|{end}|00:10:00|00:05:00\n7.1|COMPLETED|{start}|{end}|00:00:10|00:00:00\n"
    );
    assert_eq!(times("sacct", &steps), ["910 none"]);
    let keyed = format!("JobID=\"7\" State=\"COMPLETED\" Start=\"{start}\" End=\"{end}\"");
    for (more, expected) in [
        ("", "none none"),
        (" TotalCPU=\"01:00:00\"", "3600 none"),
        (" UserCPU=\"00:10:00\" SystemCPU=\"00:05:00\"", "900 none"),
    ] {
        let text = format!("{keyed}{more}");
        assert_eq!(times("sacct-keyvalue", &text), [expected], "{text}");
    }
    let document = r#"{"jobs":[{"job_id":7,"state":{"current":"COMPLETED"},"time":{"start":100,"end":160,"limit":2,
        "system":{"seconds":300,"microseconds":500000},"user":{"seconds":600,"microseconds":0}}}]}"#;
    assert_eq!(times("slurm-json", document), ["900.5 120"]);
}

/// jobcomp prints minutes, `scontrol` a clock.
#[test]
fn time_limits_have_the_unit_of_their_rendering() {
    let [start, end] = TIMES;
    for (limit, expected) in [
        ("120", "none 7200"),
        ("02:00:00", "none 7200"),
        ("UNLIMITED", "none none"),
        ("Partition_Limit", "none none"),
    ] {
        let text = format!(
            "JobId=7 UserId=amy(1) Name=x JobState=COMPLETED TimeLimit={limit} StartTime={start} EndTime={end}"
        );
        assert_eq!(times("slurm-jobcomp", &text), [expected], "{limit}");
    }
}

/// Outputs of several calls in one file: each header line is that of the lines behind it.
#[test]
fn a_later_header_has_the_columns_of_the_lines_behind_it() {
    let [start, end] = TIMES;
    let times = format!("COMPLETED|{start}|{end}");
    let first = format!("JobID|NCPUS|NNodes|State|Start|End\n1|4|1|{times}\n");
    let other = format!("JobID|NNodes|NCPUS|State|Start|End|\n2|1|4|{times}|\n");
    let job = "4 1 0".to_owned();
    for (text, expected) in [
        (format!("{first}{other}{first}"), vec![&*job; 3]),
        (format!("{first}{first}"), vec![&*job; 2]),
        (
            format!("{first}3|4\n{other}"),
            vec![&*job, "!the line ends before its last column", &*job],
        ),
        (
            format!("{first}JobID|NNodes|NCPUS\n2|4|1|{times}"),
            vec![&*job, "!the line ends before its last column", &*job],
        ),
    ] {
        assert_eq!(results("sacct", &text), expected, "{text}");
    }
}
