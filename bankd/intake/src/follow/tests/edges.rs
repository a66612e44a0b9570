//! Records of several lines where a window ends, and readers that need the beginning of the file.

use super::*;
use crate::follow::window::{BYTES_MAX, Context, Ending, How};

const HEADER: &str = "JobID|User|Account|Start|End|State|NCPUS|TotalCPU|Elapsed\n";

fn sacct(id: &str, cpu: &str) -> String {
    format!("{id}|amy|chem|2026-11-01T00:00:00|2026-11-01T01:00:00|COMPLETED|4|{cpu}|01:00:00\n")
}

fn cpu_of(records: &[Record], id: &str) -> String {
    let jobs = records.iter().flat_map(|record| match &record.found {
        Found::Jobs(jobs) => jobs.as_slice(),
        _ => &[],
    });
    let job = jobs.into_iter().find(|job| job.id == id).unwrap();
    job.cpu.unwrap().to_string()
}

#[test]
fn a_job_waits_for_its_steps() {
    let mut f = Follower::new("jobs", "sacct", Options::default());
    f.append("jobs", HEADER);
    f.append(
        "jobs",
        &(sacct("1", "00:00:00") + &sacct("1.batch", "00:10:00")),
    );
    f.look().unwrap();
    assert_eq!(f.ids(), [""; 0], "a step may follow");
    f.append("jobs", &sacct("1.0", "00:20:00"));
    f.look().unwrap();
    f.append("jobs", &sacct("2", "00:00:00"));
    f.look().unwrap();
    let all = f.ids();
    assert_eq!(all, ["(step)", "(step)", "1"]);
    assert_eq!(cpu_of(&f.taken.records, "1"), "1800");
    f.restart();
    f.settle();
    assert_eq!(f.ids().last().unwrap(), "2", "nobody writes any more");
    assert_eq!(counts(&f.ids())["1"], 1);
    f.append("jobs", &sacct("3", "00:01:00"));
    f.settle();
    assert_eq!(f.ids().len(), 5, "the header line is known still");
    assert_eq!(f.taken.records[4].line, 6);
}

/// A job with more steps than a window takes is one job all the same.
#[test]
fn a_job_with_very_many_steps_is_whole() {
    let mut f = Follower::new("jobs", "sacct", Options::default());
    f.plan.limit = 50;
    f.restart();
    let steps: String = (0..400)
        .map(|n| sacct(&format!("1.{n}"), "00:00:01"))
        .collect();
    let text = HEADER.to_owned() + &sacct("1", "00:00:00") + &steps + &sacct("2", "00:00:09");
    f.append("jobs", &text);
    f.settle();
    assert_eq!(cpu_of(&f.taken.records, "1"), "400");
    let ids = f.ids();
    let counts = counts(&ids);
    assert_eq!((counts["(step)"], counts["1"], counts["2"]), (400, 1, 1));
}

#[test]
fn a_quoted_cell_goes_on_in_the_next_line() {
    let mapping = "header = true\n[fields]\nid = \"id\"\nprocs = \"procs\"\n\
                   start = { column = \"start\", format = \"epoch_s\" }\n\
                   end = { column = \"end\", format = \"epoch_s\" }\n";
    let options = Options {
        mapping: Some(mapping.to_owned()),
        ..Options::default()
    };
    let mut f = Follower::new("jobs.csv", "csv", options);
    f.append("jobs.csv", "id,start,end,procs,note\n");
    f.append("jobs.csv", "1,1790000000,1790000060,2,\"one\n");
    f.look().unwrap();
    assert_eq!(f.ids(), [""; 0]);
    f.append("jobs.csv", "two\"\n2,1790000000,1790000060,2,x\n");
    f.look().unwrap();
    assert_eq!(f.ids(), ["1", "2"]);
    f.restart();
    f.append("jobs.csv", "3,1790000000,1790000060,2,x\n");
    f.look().unwrap();
    assert_eq!(f.ids(), ["1", "2", "3"]);
    assert_eq!(f.taken.records[2].line, 5);
}

#[test]
fn a_block_waits_for_its_end() {
    let block = |id: usize| {
        format!(
            "JobId={id} JobName=x\n   UserId=amy(1) Account=chem\n   JobState=COMPLETED\n   \
             StartTime=2026-11-01T00:00:00 EndTime=2026-11-01T01:00:00\n   NumCPUs=4\n\n"
        )
    };
    let mut f = Follower::new("jobs", "slurm-scontrol", Options::default());
    let (first, second) = (block(1), block(2));
    f.append("jobs", &(first.clone() + &second[..60]));
    f.look().unwrap();
    f.append("jobs", &second[60..]);
    f.look().unwrap();
    assert_eq!(f.ids(), ["1"]);
    f.settle();
    assert_eq!(f.ids(), ["1", "2"]);
}

/// A file split at any point gives the same records as in one read.
#[test]
fn windows_give_what_the_whole_file_gives() {
    let history: Vec<String> = (0..6)
        .map(|n| {
            format!(
                "GlobalJobId = \"s#{n}\"\nJobStatus = 4\nJobStartDate = 1790000000\n\
                 CompletionDate = 1790000060\nRemoteWallClockTime = 60.0\nOwner = \"amy\"\n\
                 *** Offset = 0 ClusterId = {n}\n"
            )
        })
        .collect();
    let history = history.concat();
    let steps: String = (0..5)
        .map(|n| sacct(&n.to_string(), "00:00:00") + &sacct(&format!("{n}.0"), "00:00:07"))
        .collect();
    let cases = [
        ("pbs", jobs(0..6), false),
        ("htcondor", history, false),
        ("sacct", HEADER.to_owned() + &steps, true),
    ];
    for (format, text, needs_context) in cases {
        let how = How {
            format: formats::named(format).unwrap(),
            options: &Options::default(),
            name: "x",
            limit: 5000,
        };
        let bytes = text.as_bytes();
        let all = how.read(&Context::default(), bytes, Ending::Over).unwrap();
        assert_eq!((all.bytes, all.is_full), (bytes.len(), false));
        for at in 0..=bytes.len() {
            let one = how
                .read(&Context::default(), &bytes[..at], Ending::Open)
                .unwrap();
            let context = if needs_context {
                Context::of(&how, &bytes[..one.bytes]).unwrap()
            } else {
                Context::default()
            };
            let two = how
                .read(&context, &bytes[one.bytes..], Ending::Over)
                .unwrap();
            let mut found = one.records.clone();
            found.extend(two.records.into_iter().map(|mut record| {
                record.line += one.lines;
                record
            }));
            assert_eq!(found, all.records, "{format} cut at {at}");
            assert_eq!(one.bytes + two.bytes, bytes.len());
        }
    }
}

#[test]
fn a_line_without_an_end_costs_itself_only() {
    let mut f = Follower::new("acct", "pbs", Options::default());
    f.append("acct", &job(0));
    f.append("acct", &"x".repeat(BYTES_MAX + 100));
    f.append("acct", &("\n".to_owned() + &job(1)));
    f.look().unwrap();
    let ids = f.ids();
    assert_eq!(ids.first().unwrap(), "0.s");
    assert_eq!(ids.last().unwrap(), "1.s");
    assert!(
        ids[1..ids.len() - 1].iter().all(|id| id == "(malformed)"),
        "{ids:?}"
    );
}

#[test]
fn a_file_of_another_format_is_an_error_that_names_it() {
    let mut f = Follower::new("jobs", "sacct", Options::default());
    f.append("jobs", &jobs(0..200));
    let step = f.look();
    let all_bad = f.ids().iter().all(|id| id == "(malformed)");
    assert!(step.is_err() || all_bad, "{:?}", f.ids());
}
