//! `bankd import --data` killed inside a chunk and right after the commit: the same command again ends
//! with what an undisturbed import ends with.

use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;

use crate::harness::programs;

/// Jobs of the file, and in one transaction.
const JOBS: usize = 900;
const CHUNK: &str = "200";

fn jobs(folder: &Path) -> PathBuf {
    let mut text = "JobID|Cluster|User|Account|State|ExitCode|Start|End|NNodes|NCPUS\n".to_owned();
    for id in 0..JOBS {
        let (user, account, cpus) = (id % 7, id % 5, id % 9 + 1);
        let minute = id % 60;
        let line = format!(
            "{id}|colony|u{user}|p{account}|COMPLETED|0:0|2025-11-01T01:00:00|2025-11-01T02:{minute:02}:00|1|{cpus}\n"
        );
        text.push_str(&line);
    }
    let file = folder.join("jobs.sacct");
    std::fs::write(&file, text).unwrap();
    file
}

fn bank(folder: &Path, name: &str) -> PathBuf {
    let data = folder.join(name);
    let made = Command::new(programs().bankd())
        .args(["init", "--test", "--data"])
        .arg(&data)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    std::fs::write(data.join("bankd.toml"), "[ledger]\nmode = \"track\"\n").unwrap();
    data
}

/// Whether the import came to its end.
fn import(data: &Path, jobs: &Path, trap: Option<&str>) -> bool {
    let mut command = Command::new(programs().bankd());
    command.args(["import", "sacct"]).arg(jobs);
    command.arg("--data").arg(data);
    command.args(["--source", "slurm:colony", "--chunk", CHUNK]);
    if let Some(trap) = trap {
        command.env("BANKD_KILL_AT", trap);
    }
    let ran = command.output().unwrap();
    let output = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() || trap.is_some(), "{output}");
    ran.status.success()
}

/// Who only reads can, whatever the import left behind.
fn verify(data: &Path) {
    let verified = Command::new(programs().bankd())
        .args(["verify", "--data"])
        .arg(data)
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert!(verified.status.success(), "{output}");
}

/// Everything that must be equal, whatever happened on the way.
fn state(data: &Path) -> Vec<String> {
    verify(data);
    let bank = Connection::open(data.join("bank.db")).unwrap();
    let sql =
        "SELECT object_id || ' ' || start_at || ' ' || became || ' ' || amount || ' ' || millis
                   || ' ' || coalesce(refusal, '') || ' ' || project FROM usage_identity
               UNION ALL SELECT 'shadow ' || sum(shadow) FROM allocation
               UNION ALL SELECT 'moved ' || sum(delta_shadow) FROM entry
               UNION ALL SELECT 'lines ' || sum(lines) FROM raw_block
               ORDER BY 1";
    let mut statement = bank.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn an_import_that_was_killed_ends_as_one_that_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(folder.path());
    let whole = bank(folder.path(), "whole");
    assert!(import(&whole, &jobs, None));
    let expected = state(&whole);
    assert!(expected.len() > JOBS, "{expected:?}");
    // So few jobs have one commit.
    for (point, most) in [("portion", 5), ("committed", 1)] {
        for count in 1..=most {
            let data = bank(folder.path(), &format!("{point}-{count}"));
            let trap = format!("{point}:{count}");
            assert!(!import(&data, &jobs, Some(&trap)), "{trap} was not reached");
            verify(&data);
            assert!(import(&data, &jobs, None));
            assert_eq!(state(&data), expected, "{trap}");
        }
    }
}
