//! Records through the readers of Slurm's formats.

use std::io;

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
        results.push(match record.found {
            Found::Jobs(jobs) => {
                let job = &jobs[0];
                let count = |count: Option<_>| count.map_or("none".to_owned(), |n| format!("{n}"));
                let counts = [job.procs, job.nodes, job.gpus].map(count).join(" ");
                let flags = job.flags.iter().flat_map(|flag| [" ", flag]);
                format!("{counts}{}", flags.collect::<String>())
            }
            Found::Skipped(label) => label.to_string(),
            Found::Malformed(why) => format!("!{why}"),
            Found::Counts(counts) => format!("{counts:?}"),
        });
        Ok(())
    };
    read(reader.as_mut(), &mut sink).unwrap();
    results
}

/// Sites keep `AllocTRES` only: its processors and nodes count where no column has them.
#[test]
fn resources_supply_the_counts_that_no_column_has() {
    const TIMES: &str = "2026-11-01T00:00:00|2026-11-01T01:00:00";
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
        ("AllocTRES", "cpu=16x", "!cpu: \"16x\" is no count"),
        ("AllocTRES", "cpu=1,node=x", "!node: \"x\" is no count"),
        ("AllocTRES", "cpu=4,gres/gpu=2.0", "4 none 2"),
        ("AllocTRES", "cpu=1.50K", "1536 none 0"),
        ("AllocTRES", "cpu=0.5", "!cpu: \"0.5\" is no count"),
        (
            "NCPUS|AllocTRES",
            "4|gres/gpu=0.5",
            "!gres/gpu: \"0.5\" is no count",
        ),
        ("NCPUS|AllocTRES", "4|billing=36.50,cpu=4", "4 none 0"),
        (
            "NCPUS|AllocTRES",
            "4|billing=x",
            "!billing: \"x\" is no count",
        ),
        ("NCPUS|NNodes|ReqGRES", "12|3|PER_NODE:gpu:2", "12 3 6"),
        (
            "NCPUS|NNodes|ReqGRES",
            "12|3|gpu:two",
            "!GPUs: \"gpu:two\" is no count",
        ),
    ] {
        let text = format!("JobID|State|Start|End|{columns}\n7|COMPLETED|{TIMES}|{values}\n");
        assert_eq!(results("sacct", &text), [expected], "{text}");
    }
    let (start, end) = TIMES.split_once('|').unwrap();
    let keyed = format!(
        "JobID=\"7\" State=\"COMPLETED\" Start=\"{start}\" End=\"{end}\" AllocTRES=\"cpu=16,node=2\""
    );
    assert_eq!(results("sacct-keyvalue", &keyed), ["16 2 0"]);
    let block = format!(
        "JobId=7 JobState=COMPLETED StartTime={start} EndTime={end} AllocTRES=cpu=16,node=2"
    );
    assert_eq!(results("slurm-scontrol", &block), ["16 2 0"]);
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
        (bad.as_str(), "!tres cpu: \"4x\" is no count"),
    ] {
        assert_eq!(again("slurm-json", text), [expected], "{text}");
    }
    let pod = r#"{"metadata":{"name":"p","namespace":"ns","uid":"u"},"spec":{"containers":
        [{"name":"c","resources":{"limits":{"cpu":"2"}}}]},"status":{"phase":"Succeeded","startTime":
        "2026-10-01T00:00:00Z","containerStatuses":[{"name":"c","state":{"terminated":{"startedAt":
        "2026-10-01T00:00:00Z","finishedAt":"2026-10-01T01:00:00Z"}}}]}}"#;
    assert_eq!(again("kubernetes", pod), ["2 none none"]);
}
