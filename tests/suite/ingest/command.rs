//! `bankd import … --dry-run` as it is typed: what it prints, and its exit code.

use std::process::Command;

use crate::harness::programs;

const HEADER: &str = "JobID|User|Account|Start|End|Elapsed|State|NNodes|NCPUS|AllocTRES\n";

/// Runs in a folder with `jobs.sacct`. Gives the exit code, standard output and standard error.
fn import(arguments: &[&str], jobs: &str) -> (i32, String, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("jobs.sacct"), jobs).unwrap();
    std::fs::write(folder.path().join("bad.toml"), "delimeter = \",\"\n").unwrap();
    let ran = Command::new(programs().bankd())
        .arg("import")
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        ran.status.code().unwrap(),
        text(ran.stdout),
        text(ran.stderr),
    )
}

fn jobs(lines: &[&str]) -> String {
    let mut text = HEADER.to_owned();
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    text
}

const GOOD: &str =
    "1|amy|chem|2026-01-01T23:00:00|2026-01-02T01:00:00|02:00:00|COMPLETED|1|4|cpu=4,gres/gpu=1";

/// A date without a zone is in the zone of the file: midnight of Berlin is an hour before that of UTC.
#[test]
fn since_is_in_the_zone_of_the_file() {
    let text = jobs(&[
        "1|amy|chem|2026-01-01T23:00:00|2026-01-02T00:30:00|01:30:00|COMPLETED|1|4|cpu=4",
        "2|amy|chem|2026-01-01T22:00:00|2026-01-01T23:30:00|01:30:00|COMPLETED|1|4|cpu=4",
    ]);
    for zone in ["UTC", "Europe/Berlin", "America/New_York"] {
        let options = ["--dry-run", "--since", "2026-01-02", "--tz", zone];
        let (code, out, _) = import(&[&["sacct", "jobs.sacct"], &options[..]].concat(), &text);
        let expected = "read 2 records: 1 job, 1 skipped, 0 rejected\nskipped: 1 × before_since\n";
        assert_eq!(code, 0, "{zone}");
        assert!(out.starts_with(expected), "{zone}: {out}");
    }
}

#[test]
fn people_see_the_outcome() {
    let text = jobs(&[
        GOOD,
        GOOD,
        "2|bob|bio|2026-01-02T00:00:00|2026-01-02T00:30:00|00:30:00|FAILED|1|2|cpu=2",
        "2.0||||||COMPLETED|1|2|cpu=2",
        "3|bob|bio|2026-01-02T00:00:00|Unknown|00:30:00|RUNNING|1|2|cpu=2",
        "x|bob|bio|2026-01-02T00:00:00|2026-01-02T00:30:00|00:30:00|FAILED|1|2|cpu=2",
    ]);
    let (code, out, err) = import(&["sacct", "jobs.sacct", "--dry-run", "--days"], &text);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(
        out,
        "read 6 records: 3 jobs, 2 skipped, 1 rejected\n\
         skipped: 1 × not_ended, 1 × step\n\
         rejected: 1 × jobid: \"x\" does not fit this column (first at jobs.sacct line 7)\n\
         came again: 1 (1 with the same numbers); 2 identities\n\
         would add 9.000 core-hours, 2.000 GPU-hours, 2.500 node-hours, 2.500 hours of run time, \
         from 2026-01-01 to 2026-01-03 (exclusive), 2 users, 2 accounts\n\
         UTC day           jobs          core-hours           GPU-hours\n\
         2026-01-01           0               8.000               2.000\n\
         2026-01-02           3               9.000               2.000\n"
    );
}

#[test]
fn exit_codes_and_one_line_of_error() {
    let bad = jobs(&[GOOD, "x||||||||"]);
    for (arguments, code, expected) in [
        (&["sacct", "jobs.sacct", "--dry-run"][..], 0, ""),
        (&["sacct", "jobs.sacct", "--dry-run", "--strict"], 1, ""),
        (
            &["sacct", "none.sacct", "--dry-run"],
            2,
            "bankd: none.sacct: No such file or directory (os error 2)\n",
        ),
        (
            &["csv", "jobs.sacct", "--dry-run"],
            2,
            "bankd: csv: no mapping; name the mapping file with --mapping FILE\n",
        ),
        (
            &["csv", "jobs.sacct", "--dry-run", "--mapping", "bad.toml"],
            2,
            "bankd: mapping: delimeter: no such key; did you mean \"delimiter\"?\n",
        ),
        (
            &["sge", "jobs.sacct", "--dry-run", "--mapping", "bad.toml"],
            2,
            "bankd: --mapping: sge has none, only csv\n",
        ),
        (
            &["sacct", "jobs.sacct", "--dry-run", "--layout", "xdmod27"],
            2,
            "bankd: layout \"xdmod27\": one of xdmod26, xdmod25-2021, xdmod25-2019, xdmod26-2020\n",
        ),
        (
            &["sacct", "jobs.sacct", "--dry-run", "--since", "soon"],
            2,
            "bankd: --since: \"soon\" is not a time such as 2026-10-01 or -30d\n",
        ),
        (
            &["slurm-json", "jobs.sacct", "--dry-run"],
            1,
            "bankd: jobs.sacct: no JSON object with a list \"jobs\"\n",
        ),
    ] {
        let (found, out, err) = import(arguments, &bad);
        assert_eq!((found, err.as_str()), (code, expected), "{arguments:?}");
        assert_eq!(
            out.is_empty(),
            code != 0 && !arguments.contains(&"--strict")
        );
    }
    for arguments in [
        &["sacct", "jobs.sacct"][..],
        &["sact", "jobs.sacct", "--dry-run"],
        &["sacct", "--dry-run"],
        &["sacct", "jobs.sacct", "--dry-run", "--tz", "Mars"],
    ] {
        let (code, out, _) = import(arguments, &bad);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}");
    }
}

#[test]
fn what_ended_before_is_left_out() {
    let text = jobs(&[GOOD]);
    for (since, expected) in [
        (
            "2026-01-02",
            "read 1 record: 1 job, 0 skipped, 0 rejected\n",
        ),
        (
            "2026-01-03",
            "read 1 record: 0 jobs, 1 skipped, 0 rejected\n",
        ),
    ] {
        let (code, out, _) = import(
            &["sacct", "jobs.sacct", "--dry-run", "--since", since],
            &text,
        );
        assert!(code == 0 && out.starts_with(expected), "{since}: {out}");
    }
}

#[test]
fn programs_get_exact_numbers() {
    let text = jobs(&[GOOD]);
    let (code, out, _) = import(&["sacct", "jobs.sacct", "--dry-run", "--json"], &text);
    let shown: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 0);
    assert_eq!(shown["totals"]["core_s"], 28_800);
    assert_eq!(shown["by_user"]["amy"]["jobs"], 1);
    assert_eq!(
        (&shown["records"], &shown["replaced"]),
        (&1.into(), &0.into())
    );
}

/// A FIFO would be waited for, and a link to a folder above it leads back to the same files.
#[test]
fn special_files_of_a_folder_are_named_and_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("usage");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("jobs.sacct"), jobs(&[GOOD])).unwrap();
    let made = Command::new("mkfifo").arg(root.join("pipe")).status();
    assert!(made.unwrap().success());
    std::os::unix::fs::symlink(".", root.join("again")).unwrap();
    for format in [&[][..], &["--json"]] {
        let ran = Command::new(programs().bankd())
            .args(["import", "sacct", "usage", "--dry-run"])
            .args(format)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let (out, err) = (String::from_utf8(ran.stdout), String::from_utf8(ran.stderr));
        assert_eq!(
            err.unwrap(),
            "bankd: skipped 2 entries: usage/again (loop of links), usage/pipe (FIFO)\n"
        );
        let out = out.unwrap();
        let is_read = out.contains("1 record: 1 job") || out.contains("\"records\": 1");
        assert!(ran.status.success() && is_read, "{out}");
    }
}
