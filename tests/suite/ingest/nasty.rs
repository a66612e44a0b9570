//! Small files that are nasty in the ways of the specification (`collectors.md` a to f), each with what
//! a hand calculation makes of it: written from the pages, not from the samples.

use bankd_ingest::{Found, Options, Record, formats};

/// What a reader makes of a text: for each record its jobs as `id user account wall procs gpus`, the
/// label of a skip, or `!` where it cannot be read.
fn outline(format: &str, text: &[u8]) -> String {
    read(format, text, &Options::default())
}

pub(super) fn read(format: &str, text: &[u8], options: &Options) -> String {
    let mut outline = Vec::new();
    let mut reader = (formats::named(format).unwrap().reader)(options).unwrap();
    let mut sink = |record: Record| {
        match record.found {
            Found::Jobs(jobs) => outline.extend(jobs.iter().map(|job| {
                let text = |text: &Option<String>| text.clone().unwrap_or("-".to_owned());
                let count = |number: Option<bankd_ingest::Number>| {
                    number.map_or("-".to_owned(), |number| number.to_string())
                };
                let (user, account) = (text(&job.user), text(&job.account));
                let (procs, gpus) = (count(job.procs), count(job.gpus));
                format!("{} {user} {account} {} {procs} {gpus}", job.id, job.wall)
            })),
            Found::Skipped(label) => outline.push(label.into_owned()),
            Found::Malformed(_) => outline.push("!".to_owned()),
            Found::Counts(_) => {}
        }
        Ok(())
    };
    let mut input = text;
    reader.file("nasty", &mut input, &mut sink).unwrap();
    reader.finish(&mut sink).unwrap();
    outline.join("; ")
}

/// A line of fields, some of them given by their number.
fn line(usual: &[&str], given: &[(usize, &str)], between: &str) -> String {
    let mut all = usual.to_vec();
    for (number, text) in given {
        all[number - 1] = text;
    }
    all.join(between)
}

fn compare(format: &str, cases: &[(String, &str)]) {
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let found = outline(format, text.as_bytes());
        if found != *expected {
            wrong.push(format!("{text:?}\n  gave  {found}\n  meant {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{format}:\n{}", wrong.join("\n"));
}

#[test]
fn sacct_without_a_header_line() {
    let usual = [
        "7",
        "7",
        "c",
        "p",
        "normal",
        "chem",
        "g",
        "100",
        "amy",
        "1000",
        "2026-01-01T00:00:00",
        "2026-01-01T00:00:00",
        "2026-01-01T00:10:00",
        "2026-01-01T00:11:00",
        "00:01:00",
        "0:0",
        "COMPLETED",
        "1",
        "4",
        "4",
        "4000M",
        "cpu=4,mem=4000M,node=1",
        "cpu=4,mem=4000M,node=1",
        "01:00:00",
        "n1",
        "job",
    ];
    let with = |given: &[(usize, &str)]| line(&usual, given, "|");
    let plain = "7 amy chem 60 4 0";
    let cases = [
        (with(&[]), plain),
        (with(&[]) + "\r\n\r\n", plain),
        (with(&[(26, "a | grep x | b")]), plain),
        (with(&[(26, "")]), plain),
        (with(&[(17, "CANCELLED by 1000")]), plain),
        (with(&[(17, "completed")]), plain),
        (with(&[(17, "REQUEUED")]), "live_state"),
        (with(&[(17, "MELTED")]), "unknown_state"),
        (with(&[(14, "Unknown")]), "not_ended"),
        (with(&[(13, "Unknown")]), "never_started"),
        (with(&[(13, "None")]), "never_started"),
        (with(&[(13, "2026-02-30T00:00:00")]), "!"),
        (with(&[(25, "None assigned")]), "never_started"),
        (with(&[(1, "7.batch")]), "step"),
        (with(&[(1, "7_3.extern")]), "step"),
        (with(&[(1, "7+1")]), "7+1 amy chem 60 4 0"),
        (with(&[(1, "7_")]), "!"),
        (with(&[(1, "")]), "!"),
        (
            with(&[(1, "7_[1-2,9-11:2%1]")]),
            "7_1 amy chem 60 4 0; 7_2 amy chem 60 4 0; 7_9 amy chem 60 4 0; 7_11 amy chem 60 4 0",
        ),
        // The end is right, and the run time says when it began; without one it used nothing.
        (with(&[(13, "2026-01-01T01:00:00")]), plain),
        (
            with(&[(13, "2026-01-01T01:00:00"), (15, "")]),
            "7 amy chem 0 4 0",
        ),
        (
            with(&[(13, "1969-12-31T23:59:00"), (14, "1970-01-01T00:00:00")]),
            plain,
        ),
        (
            with(&[(23, "gres/gpu=2,gres/gpu:a100=2")]),
            "7 amy chem 60 4 2",
        ),
        (
            with(&[(23, "gres/gpu:a100=1,gres/gpu:h100=2")]),
            "7 amy chem 60 4 3",
        ),
        (with(&[(6, "(null)"), (9, "")]), "7 - - 60 4 0"),
        (
            with(&[(6, "none"), (9, "unknown")]),
            "7 unknown none 60 4 0",
        ),
        // The processors of the resources; without them none.
        (with(&[(19, "")]), plain),
        (with(&[(19, ""), (23, "")]), "7 amy chem 60 - 0"),
        (
            format!("{}\n{}", with(&[]), with(&[(13, "2026-01-01T00:10:30")])),
            "7 amy chem 60 4 0; 7 amy chem 30 4 0",
        ),
    ];
    // Most lines of a file must look like the layout, so each comes behind three that do.
    let usual = format!("{}\n", with(&[])).repeat(3);
    let cases = cases.map(|(text, message)| {
        let message = format!("{plain}; {plain}; {plain}; {message}");
        (usual.clone() + &text, message)
    });
    let cases: Vec<(String, &str)> = cases
        .iter()
        .map(|(text, message)| (text.clone(), message.as_str()))
        .collect();
    compare("sacct", &cases);
    let latin = [with(&[]).as_bytes(), b"\xe4\xff"].concat();
    assert_eq!(outline("sacct", &latin), plain);
}

#[test]
fn sacct_with_a_header_line() {
    let head = "jobid|State|User|ACCOUNT|Start|End|NCPUS|SubmitLine|TotalCPU";
    let of = |id: &str, line: &str, cpu: &str| {
        format!("{id}|COMPLETED|amy|chem|2026-01-01T00:00:00|2026-01-01T00:01:00|2|{line}|{cpu}")
    };
    let plain = "7 amy chem 60 2 0";
    compare(
        "sacct",
        &[
            (format!("{head}\n{}\n", of("7", "sbatch", "00:10")), plain),
            (format!("{head}|\n{}|\n", of("7", "sbatch", "00:10")), plain),
            (
                format!("{head}\n{}\n", of("7", "a | b || c", "00:10")),
                plain,
            ),
            (
                format!("{head}\n{}\n", of("7", "a\nb\n\nc", "00:10")),
                plain,
            ),
            (
                format!("{head}\n{}\n{}", "8|COMPLETED|bob", of("7", "x", "00:10")),
                "!; 7 amy chem 60 2 0",
            ),
            (format!("{head}\n7|COMPLETED|amy"), "!"),
            (
                format!(
                    "{head}\n{}\n",
                    of("7", "x", "00:10").replace("|2|", "|two|")
                ),
                "!",
            ),
            (
                format!(
                    "{head}\n{}\n{}",
                    of("7", "x", "00:00"),
                    of("7.0", "", "00:05")
                ),
                "step; 7 amy chem 60 2 0",
            ),
        ],
    );
}

#[test]
fn grid_engine_accounting() {
    let mut usual = vec!["0"; 45];
    for (number, text) in [
        (1, "all.q"),
        (2, "n1"),
        (3, "g"),
        (4, "amy"),
        (5, "job"),
        (6, "77"),
        (7, "sge"),
        (9, "1700000000"),
        (10, "1700000100"),
        (11, "1700000160"),
        (32, "chem"),
        (33, "dep"),
        (35, "4"),
        (37, "9.5"),
        (40, "NONE"),
        (42, "NONE"),
        (43, "1024.000"),
    ] {
        usual[number - 1] = text;
    }
    let with = |given: &[(usize, &str)]| line(&usual, given, ":");
    let plain = "77 amy chem 60 4 -";
    compare(
        "sge",
        &[
            (format!("# Version: 8.1.9\n#\n{}", with(&[])), plain),
            (with(&[])[..with(&[]).len() - 4].to_owned(), plain),
            (line(&usual[..43], &[], ":"), plain),
            (line(&usual[..42], &[], ":"), "!"),
            (with(&[]) + &":x".repeat(29), plain),
            (with(&[(7, "bio")]), "77 amy bio 60 4 -"),
            (with(&[(32, "NONE")]), "77 amy - 60 4 -"),
            (with(&[(36, "12")]), "77[12] amy chem 60 4 -"),
            (with(&[(35, "0")]), "77 amy chem 60 1 -"),
            (with(&[(12, "100"), (13, "137")]), plain),
            (with(&[(10, "0"), (11, "0"), (12, "21")]), "never_started"),
            (with(&[(11, "1700000099")]), "never_started"),
            (with(&[(11, "1700000100")]), "77 amy chem 0 4 -"),
            (with(&[(42, "1.eddie244")]), "slave_task"),
            (
                with(&[
                    (9, "1700000000000"),
                    (10, "1700000100000"),
                    (11, "1700000160500"),
                ]),
                "77 amy chem 60.5 4 -",
            ),
            (
                with(&[(9, "0"), (10, "1700000100000000"), (11, "1700000160000001")]),
                "77 amy chem 60.000001 4 -",
            ),
            (with(&[(5, "a|b \u{e9}"), (2, "n 1. beowulf")]), plain),
            (
                with(&[(40, "-u amy -l gpu=2,h_rt=60 -pe mpi 4")]),
                "77 amy chem 60 4 2",
            ),
            (with(&[(40, "-l gpu=-2")]), plain),
            (with(&[(40, "-l a=b:c:d")]), plain),
            (with(&[(37, "-5")]), "!"),
            (format!("1700000161:acct:{}", with(&[])), plain),
        ],
    );
}

#[test]
fn pbs_accounting() {
    let with = |message: &str| format!("01/02/2026 03:04:05;E;7.srv;{message}");
    let ran = "user=amy account=chem start=1700000000 end=1700000060";
    compare(
        "pbs",
        &[
            (with(ran), "7.srv amy chem 60 1 -"),
            (
                with("user=amy account=\"chem 2026 spring\" start=1700000000 end=1700000060"),
                "7.srv amy chem 2026 spring 60 1 -",
            ),
            (
                with(&format!("{ran} exec_host=n1/24")),
                "7.srv amy chem 60 1 -",
            ),
            (
                with(&format!("{ran} exec_host=n1/0*13+n2/0*13")),
                "7.srv amy chem 60 26 -",
            ),
            (
                with(&format!("{ran} exec_host=n1/0-3,8+n2/1")),
                "7.srv amy chem 60 6 -",
            ),
            (
                with(&format!("{ran} exec_host=n1/7+n1/6 Resource_List.ncpus=1")),
                "7.srv amy chem 60 2 -",
            ),
            (
                with(&format!("{ran} exec_host=h/0*0 resources_used.ncpus=48")),
                "7.srv amy chem 60 48 -",
            ),
            (
                with(&format!("{ran} Resource_List.nodes=a:ppn=2+b:ppn=3:gpus=2")),
                "7.srv amy chem 60 5 2",
            ),
            (
                with(&format!(
                    "{ran} Resource_List.nodes=4:ppn=8 Resource_List.ngpus=1"
                )),
                "7.srv amy chem 60 32 1",
            ),
            (
                with("user=amy start=1700000000 resources_used.walltime=729:39:16"),
                "7.srv amy - 2626756 1 -",
            ),
            (with("user=amy ctime=1700000000"), "never_started"),
            (
                with(&ran.replace("start=1700000000", "start=-5")),
                "never_started",
            ),
            (with(&ran.replace("1700000060", "x")), "!"),
            (with(ran).replace(";7.srv;", ";;"), "!"),
            (with(ran).replace("01/02/2026", "2026-01-02"), "!"),
            (with(ran).replace(";E;", ";z;"), "event_z"),
            (
                with(ran).replace(";E;", &format!(";{};", "z".repeat(90))),
                &format!("event_{}", "z".repeat(90)),
            ),
        ],
    );
}

#[test]
fn lsf_accounting() {
    let with = |requested: &str, ran: &str, index: &str| {
        format!(
            "\"JOB_FINISH\" \"10.1\" 1700000060 7 100 33 4 1699999990 0 0 1700000000 \"amy\" \"q\" \
             \"a \"\"b\"\" c\" \"\" \"\" \"h\" \"/\" \"\" \"\" \"\" \"f\" {requested} {ran} 64 60.0 \"n\" \
             \"x;y\" 1.5 0.5 -1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 \"\" \"chem\" 0 4 \"\" \"\" {index}"
        )
    };
    let plain = "7 amy chem 60 4 -";
    let usual = with("0", "2 \"n1\" \"16*n2\"", "0");
    compare(
        "lsf",
        &[
            (usual.clone(), plain),
            (usual.clone() + " 1024 0 \"\" -1", plain),
            (with("1 \"n9\"", "1 \"n1\"", "0"), plain),
            (with("02", "\"n1\" \"n2\"", "0"), plain),
            (with("02", "\"n1\"", "0"), "!"),
            (with("0", "0", "0"), plain),
            (with("0", "1 \"n1\"", "3"), "7[3] amy chem 60 4 -"),
            (usual.replace("\"chem\"", "!\n \"chem\""), plain),
            (usual.replace("1700000000 ", "0 "), "never_started"),
            (usual.replace("1700000000 ", "-9 "), "never_started"),
            (usual.replace(" 33 4 ", " 33 -4 "), "!"),
            (usual.replace("JOB_FINISH", "JOB_NEW"), "event_JOB_NEW"),
            ("\"JOB_FINISH\" \"10.1\" 1700000060".to_owned(), "!"),
            (
                usual.replace("1700000060", "1699999000"),
                "7 amy chem 0 4 -",
            ),
        ],
    );
}

#[test]
fn htcondor_history() {
    let ad = |more: &str| {
        format!(
            "GlobalJobId = \"s#1.0#9\"\nOwner = \"amy\"\nJobStatus = 4\nJobStartDate = 1700000000\n\
             CompletionDate = 1700000090\nRemoteWallClockTime = 60.5\nRequestCpus = 2\n{more}\n"
        )
    };
    let plain = "s#1.0#9 amy - 60.5 2 0";
    compare(
        "htcondor",
        &[
            (ad(""), plain),
            (ad("requestcpus = 8\nREQUESTCPUS = 2"), plain),
            (ad("CpusProvisioned = 4"), "s#1.0#9 amy - 60.5 4 0"),
            (
                ad("RequestCpus = ifThenElse(a, 1, 2)"),
                "s#1.0#9 amy - 60.5 1 0",
            ),
            (ad("GPUsProvisioned = 1"), "s#1.0#9 amy - 60.5 2 1"),
            (ad("RequestGPUs = undefined"), plain),
            (
                ad("AcctGroup = \"bio\"\nAccountingGroup = \"chem\""),
                "s#1.0#9 amy chem 60.5 2 0",
            ),
            (ad("Owner = \"a\\\"b\""), "s#1.0#9 a\"b - 60.5 2 0"),
            (
                ad("JobStatus = 3\nCompletionDate = 0\nEnteredCurrentStatus = 1700000070"),
                plain,
            ),
            (ad("JobStatus = 5"), "live_state"),
            (ad("JobStartDate = 0"), "never_started"),
            (ad("ToE = [ Who = \"x\"; JobStatus = 2 ]"), plain),
            (ad("ToE = [\nJobStatus = 2\n]"), plain),
            (ad("RemoteWallClockTime = -1"), "!"),
            (
                ad("RemoteWallClockTime = undefined"),
                "s#1.0#9 amy - 90 2 0",
            ),
            (
                format!("{}*** Offset = 1 ClusterId = 1\n{}", ad(""), ad("")),
                &format!("{plain}; {plain}"),
            ),
            (
                format!("\n\n{}\n\n{}", ad(""), ad("")),
                &format!("{plain}; {plain}"),
            ),
        ],
    );
}

#[test]
fn workload_traces() {
    let swf = "7 100 10 60 4 -1 -1 8 -1 -1 1 12 3 -1 0 -1 -1 -1";
    let head = "; UnixStartTime: 1700000000\n";
    compare(
        "swf",
        &[
            (format!("{head}{swf}"), "7 12 - 60 4 -"),
            (format!("{head}{}", swf.replace(' ', "\t")), "7 12 - 60 4 -"),
            (format!("{head}{swf} 1 2 3"), "7 12 - 60 4 -"),
            (
                format!("{head}{}", swf.replace("60 4 ", "60 -1 ")),
                "7 12 - 60 8 -",
            ),
            (
                format!("{head}{}", swf.replace(" 60 4 ", " -1 4 ")),
                "no_runtime_or_procs",
            ),
            (
                format!("{head}{}", swf.replace(" 60 4 ", " 0.25 4 ")),
                "7 12 - 0.25 4 -",
            ),
            (
                format!("{head}{}", swf.replace(" 12 3 ", " -1 -1 ")),
                "7 - - 60 4 -",
            ),
            (swf.replacen("7 ", "0 ", 1), "0 12 - 60 4 -"),
            (format!("job_id submit wait\n{swf}"), "7 12 - 60 4 -"),
            ("7 100 10 60".to_owned(), "!"),
            (swf.replace(" 60 ", " x "), "!"),
        ],
    );
    let mut usual = vec!["0"; 44];
    for (number, text) in [
        (1, "7"),
        (4, "amy"),
        (5, "g"),
        (7, "Completed"),
        (8, "[batch:1]"),
        (9, "1699999990"),
        (11, "1700000000"),
        (12, "1700000060"),
        (22, "4"),
        (24, "-:low"),
        (26, "chem"),
        (30, "12.5"),
        (32, "2"),
        (38, "n1"),
    ] {
        usual[number - 1] = text;
    }
    let with = |given: &[(usize, &str)]| line(&usual, given, " ");
    let plain = "7 amy chem 60 8 -";
    compare(
        "maui",
        &[
            (format!("# JobID x\n{}", with(&[])), plain),
            (line(&usual, &[], "   "), plain),
            (line(&usual[..43], &[], " "), plain),
            (line(&usual[..42], &[], " "), "!"),
            (with(&[(27, "a b")]), "!"),
            (with(&[(26, "[NONE]")]), "7 amy - 60 8 -"),
            (with(&[(7, "NotRun")]), "never_started"),
            (with(&[(11, "0")]), "never_started"),
            (with(&[(11, "-1")]), "never_started"),
            (with(&[(7, "Removed")]), plain),
            (with(&[(12, "1699999999")]), "7 amy chem 0 8 -"),
            (with(&[(22, "-4")]), "!"),
        ],
    );
}
