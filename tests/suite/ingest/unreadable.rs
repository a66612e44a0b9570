//! Counts that cannot be read make a record unreadable, and NULs before a record are no part of it.

use bankd_ingest::Options;

use super::nasty::read;

const HEAD: &str = "JobID|User|Account|State|Start|End|NNodes|NCPUS|AllocTRES\n";

fn sacct(nodes: &str, processors: &str, resources: &str) -> String {
    format!(
        "{HEAD}7|amy|chem|COMPLETED|2026-01-01T00:00:00|2026-01-01T01:00:00|{nodes}|{processors}|{resources}\n"
    )
}

#[test]
fn a_count_of_slurm_that_cannot_be_read_is_not_zero() {
    let many = "99999999999999999999";
    for (nodes, processors, resources, expected) in [
        ("1", "8", "", "7 amy chem 3600 8 0"),
        ("", "", "", "7 amy chem 3600 - 0"),
        ("1", "8", "gres/gpu=2", "7 amy chem 3600 8 2"),
        ("1", "8", "gres/gpu=-1", "7 amy chem 3600 8 0"),
        ("1", many, "", "!"),
        (many, "8", "", "!"),
        ("1", "8", "gres/gpu=99999999999999999999", "!"),
        // It can be read, and is more than the bank can count in an hour.
        ("1", "999999999999999999", "", "!"),
        ("1", "100000000000", "", "!"),
    ] {
        let text = sacct(nodes, processors, resources);
        let found = read("sacct", text.as_bytes(), &Options::default());
        assert_eq!(found, expected, "{nodes} {processors} {resources}");
    }
    // What never ran has no count that matters.
    let waiting = sacct("1", many, "").replace("2026-01-01T01:00:00", "Unknown");
    let found = read("sacct", waiting.as_bytes(), &Options::default());
    assert_eq!(found, "not_ended");
}

#[test]
fn other_renderings_of_slurm_likewise() {
    let keyed = |processors: &str| {
        format!(
            "JobID=\"7\" User=\"amy\" Account=\"chem\" State=\"COMPLETED\" Start=\"2026-01-01T00:00:00\" \
             End=\"2026-01-01T01:00:00\" NNodes=\"1\" NCPUS=\"{processors}\"\n"
        )
    };
    let block = |processors: &str| {
        format!(
            "JobId=7 UserId=amy(1001) GroupId=g(1) Account=chem JobState=COMPLETED \
             StartTime=2026-01-01T00:00:00 EndTime=2026-01-01T01:00:00 NumNodes=1 NumCPUs={processors}\n"
        )
    };
    let document = |processors: &str| {
        format!(
            r#"{{"jobs":[{{"job_id":7,"user":"amy","account":"chem","state":{{"current":"COMPLETED"}},
            "time":{{"start":1767225600,"end":1767229200}},"nodes":"n1","tres":{{"allocated":[
            {{"type":"cpu","name":"","count":{processors}}},
            {{"type":"energy","name":"","count":18446744073709551614}}]}}}}]}}"#
        )
    };
    for (format, with) in [
        ("sacct-keyvalue", &keyed as &dyn Fn(&str) -> String),
        ("slurm-scontrol", &block),
        ("slurm-json", &document),
    ] {
        for (processors, expected) in [
            ("8", "7 amy chem 3600 8 0"),
            ("99999999999999999999", "!"),
            ("999999999999999999", "!"),
        ] {
            let found = read(format, with(processors).as_bytes(), &Options::default());
            assert_eq!(found, expected, "{format} {processors}");
        }
    }
}

#[test]
fn processors_of_other_formats_likewise() {
    let many = "9".repeat(40);
    let pbs = |more: &str| {
        format!("01/02/2026 03:04:05;E;7.srv;user=amy start=1700000000 end=1700000060 {more}\n")
    };
    for (more, expected) in [
        ("resources_used.ncpus=4".to_owned(), "7.srv amy - 60 4 -"),
        ("resources_used.ncpus=1K".to_owned(), "!"),
        (format!("resources_used.ncpus={many}"), "!"),
        ("resources_used.ncpus=999999999999999999".to_owned(), "!"),
    ] {
        let found = read("pbs", pbs(&more).as_bytes(), &Options::default());
        assert_eq!(found, expected, "{more}");
    }
    let ad = format!(
        "GlobalJobId = \"7\"\nOwner = \"amy\"\nJobStatus = 4\nJobStartDate = 1700000000\n\
         CompletionDate = 1700000060\nRemoteWallClockTime = 60\nRequestCpus = {many}\n"
    );
    assert_eq!(read("htcondor", ad.as_bytes(), &Options::default()), "!");
}

/// A log that was emptied in place while its writer went on at its old offset.
#[test]
fn nuls_before_a_record_are_no_part_of_it() {
    let hole = "\0".repeat(3 << 20);
    let pbs = "01/02/2026 03:04:05;E;7.srv;user=amy start=1700000000 end=1700000060\n";
    let slurm = sacct("1", "8", "");
    let grid = "all.q:n1:staff:amy:job:7:chem:0:1764550000:1764550800:1764554400:0:0:3600:1:0:0:0:0:0:0:0:0:0:0:\
         0:0:0:0:NONE:NONE:chem:dep:smp:2:0:7200:0.0:0.0:-q all.q:0.0:NONE:0.0:0:0\n";
    for (format, text, expected) in [
        ("pbs", format!("{hole}{pbs}"), "7.srv amy - 60 1 -"),
        (
            "pbs",
            pbs.replace("user=", "\u{1}user=\0").replace("amy", "a\0my"),
            "7.srv amy - 60 1 -",
        ),
        (
            "pbs",
            format!("{pbs}{hole}{pbs}\0\0"),
            "7.srv amy - 60 1 -; 7.srv amy - 60 1 -",
        ),
        ("sacct", format!("{hole}{slurm}"), "7 amy chem 3600 8 0"),
        (
            "sacct",
            slurm.replace("\n7|", &format!("\n{hole}7|")),
            "7 amy chem 3600 8 0",
        ),
        ("sge", format!("{hole}{grid}"), "7 amy chem 3600 2 -"),
    ] {
        let found = read(format, text.as_bytes(), &Options::default());
        assert_eq!(found, expected, "{format}");
    }
}
