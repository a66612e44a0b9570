//! Ads and lines with pipes, with their results.

use super::*;

fn results(text: &str) -> Vec<String> {
    let mut input = text.as_bytes();
    let mut results = Vec::new();
    let mut sink = |record: Record| {
        results.push(record.found.shown(|job| {
            let account = job.account.as_deref().unwrap_or("none").to_owned();
            let procs = job.procs.unwrap();
            let end = job.end_us / 1_000_000;
            format!("{} {account} {end} {} {procs}", job.id, job.wall)
        }));
        Ok(())
    };
    History.file("history", &mut input, &mut sink).unwrap();
    results
}

#[test]
fn memory_is_provisioned_else_requested() {
    for (more, mebibytes) in [
        ("RequestMemory = 2048", Some(2048)),
        ("RequestMemory = 2048\nMemoryProvisioned = 4096", Some(4096)),
        ("RequestMemory = ifThenElse(x, 1, 2)", None),
        ("", None),
    ] {
        let text = format!(
            "GlobalJobId = \"s#1.0#9\"\nJobStatus = 4\nJobStartDate = 100\nCompletionDate = 170\n{more}\n"
        );
        let mut found = None;
        let mut sink = |record: Record| {
            if let Found::Jobs(jobs) = record.found {
                found = jobs[0].memory_bytes;
            }
            Ok(())
        };
        let mut input = text.as_bytes();
        History.file("history", &mut input, &mut sink).unwrap();
        let bytes = mebibytes.map(|size: i128| Number::whole(size << 20));
        assert_eq!(found, bytes, "{more}");
    }
}

#[test]
fn ads_are_charged_by_what_they_say_last() {
    let ad = |more: &str| {
        format!(
            "GlobalJobId = \"s#1.0#9\"\nJobStatus = 4\nJobStartDate = 100\n\
             CompletionDate = 0\nRemoteWallClockTime = 60.0\n{more}"
        )
    };
    for (text, expected) in [
        (ad("completiondate = 170\n"), "s#1.0#9 none 170 60 1"),
        (
            ad("EnteredCurrentStatus = 180\nCpusProvisioned = 4"),
            "s#1.0#9 none 180 60 4",
        ),
        (
            ad("JobStatus = 3\nEnteredCurrentStatus = 180"),
            "s#1.0#9 none 180 60 1",
        ),
        (
            ad("RequestCpus = ifThenElse(x, 1, 2)"),
            "s#1.0#9 none 160 60 1",
        ),
        (ad("RequestCpus = 4.0"), "s#1.0#9 none 160 60 4"),
        (
            ad("RequestCpus = 2\nCpusProvisioned = \"8.0\""),
            "s#1.0#9 none 160 60 8",
        ),
        (
            ad("RequestCpus = 4.000000000000000E+00"),
            "s#1.0#9 none 160 60 4",
        ),
        (ad("RequestCpus = -4.0"), "s#1.0#9 none 160 60 1"),
        (
            ad("RequestCpus = 1e99"),
            "!requestcpus: \"1e99\" is not a count",
        ),
        (
            ad("AcctGroup = \"bio\"\nProjectName = \"chem\""),
            "s#1.0#9 bio 160 60 1",
        ),
        (
            ad("ToE = [\n JobStatus = 2\n A = \"]\"\n]\nCpusProvisioned = 2"),
            "s#1.0#9 none 160 60 2",
        ),
        (
            ad("Args = \"[ \\\" [\"\nCpusProvisioned = 2"),
            "s#1.0#9 none 160 60 2",
        ),
        (ad("GlobalJobId = \"\""), "!GlobalJobId: missing"),
        (
            ad("CompletionDate = 170").replace("RemoteWallClockTime", "Unheard"),
            "s#1.0#9 none 170 70 1",
        ),
        (
            ad("CompletionDate = 170\nRemoteWallClockTime = 0.0"),
            "s#1.0#9 none 170 0 1",
        ),
        (
            ad("CompletionDate = 170\nRemoteWallClockTime = undefined"),
            "s#1.0#9 none 170 70 1",
        ),
        (
            ad(&format!("A = \"{0}\"\n", "a".repeat(900_000))
                .replace("A =", "A0 =")
                .repeat(5)),
            "!an ad of more than 4194304 bytes",
        ),
        (
            ad(&format!("A = \"{}\"", "a".repeat(1 << 20))),
            "!a line of more than 1048576 bytes",
        ),
        (ad("JobStatus = 2"), "live_state"),
        (ad("JobStartDate = undefined"), "never_started"),
        (
            ad("JobStartDate = soon"),
            "!jobstartdate: \"soon\" is not a number",
        ),
    ] {
        assert_eq!(results(&text), [expected], "{text}");
    }
}

/// The run time is that of all starts, and so is the processor time.
#[test]
fn the_processor_time_is_that_of_all_starts() {
    let last = "RemoteUserCpu = 70.0\nRemoteSysCpu = 5.0\n";
    for (more, expected) in [
        ("", "75"),
        (
            "CumulativeRemoteUserCpu = 140.0\nCumulativeRemoteSysCpu = 10\n",
            "150",
        ),
        ("CumulativeRemoteUserCpu = 140.0\n", "145"),
        ("CumulativeRemoteUserCpu = undefined\n", "75"),
        (
            "CumulativeRemoteUserCpu = 0.0\nCumulativeRemoteSysCpu = 0.0\n",
            "75",
        ),
    ] {
        let text = format!(
            "GlobalJobId = \"s#1.0#9\"\nJobStatus = 4\nJobStartDate = 100\nNumJobStarts = 2\n\
             CompletionDate = 170\nRemoteWallClockTime = 60.0\n{last}{more}"
        );
        let mut cpu = None;
        let mut sink = |record: Record| {
            if let Found::Jobs(jobs) = record.found {
                cpu = jobs[0].cpu.map(|cpu| cpu.to_string());
            }
            Ok(())
        };
        let mut input = text.as_bytes();
        History.file("history", &mut input, &mut sink).unwrap();
        assert_eq!(cpu.as_deref(), Some(expected), "{more}");
    }
}

/// A job without a run time has no column for it: the factor is where the processors should be.
#[test]
fn shifted_lines_of_apel_are_rejected() {
    let whole = "g#1|amy|3600|100.5|5|1714525200|1714528800|1000000|2000000|4|1.0";
    let no_wall = "g#2|amy|100.5|5|1714525200|1714528800|1000000|2000000|4|1.0";
    let no_size = "g#3|amy|3600|100.5|5|1714525200|1714528800|2000000|4|1.0";
    for (text, expected) in [
        (whole.to_owned(), &["4"][..]),
        (format!("{whole}|\n{whole}"), &["4", "4"]),
        // Without a factor.
        (whole.replace("|1.0", ""), &["4"]),
        (no_wall.to_owned(), &["!end: before the start"]),
        (
            format!("{whole}\n{no_size}\n{no_wall}|\n{whole}"),
            &[
                "4",
                "!10 columns where the lines before have 11",
                "!10 columns where the lines before have 11",
                "4",
            ],
        ),
        (
            whole.replace("|4|1.0", ""),
            &["!processors: \"\" is not a number"],
        ),
        (whole.replace("1714525200", "0"), &["never_started"]),
    ] {
        let mut results = Vec::new();
        let mut sink = |record: Record| {
            results.push(record.found.shown(|job| job.procs.unwrap().to_string()));
            Ok(())
        };
        Apel.file("f", &mut text.as_bytes(), &mut sink).unwrap();
        assert_eq!(results, expected, "{text}");
    }
}

#[test]
fn a_job_that_a_signal_ended_failed() {
    let ends = |more: &str| {
        let ad = format!(
            "GlobalJobId = \"s#1.0#9\"\nJobStatus = 4\nJobStartDate = 100\nCompletionDate = 160\n{more}"
        );
        let mut found = Vec::new();
        let mut sink = |record: Record| {
            found.push(
                record
                    .found
                    .shown(|job| format!("{:?} {:?}", job.state, job.exit)),
            );
            Ok(())
        };
        History
            .file("history", &mut ad.as_bytes(), &mut sink)
            .unwrap();
        found.concat()
    };
    let signal = "ExitBySignal = true\nExitSignal = 9\nExitCode = undefined";
    assert_eq!(ends(signal), "Failed Some(\"0:9\")");
    let code = "ExitBySignal = false\nExitCode = 0";
    assert_eq!(ends(code), "Completed Some(\"0\")");
}
