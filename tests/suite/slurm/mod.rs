//! A real Slurm whose jobs the bank reserves and charges: `docs/how-to/connect-slurm.md`.

mod check;
mod cluster;
mod gpus;
mod hooks;
mod howto;
mod lives;
mod parts;
mod priced;

use cluster::Cluster;
use serde_json::Value;

use crate::harness::{amount, text, until};

fn charged(row: &Value) -> i64 {
    amount(row, "charged")
}

/// Seconds of `HH:MM:SS`.
fn seconds(clock: &str) -> i64 {
    clock
        .split(':')
        .fold(0, |sum, part| sum * 60 + part.parse::<i64>().unwrap())
}

/// A job holds the price of its limit and is charged for the time that it ran; each task of an array is a job; a job
/// that cannot be paid is refused with the reason, or uses the fallback account.
#[test]
fn jobs_of_slurm_are_paid_by_their_projects() {
    if !cluster::is_here() {
        return;
    }
    let mut cluster = Cluster::new(&[("chem", 10_000), ("poor", 100), ("freecycle", 1000)]);
    let job = cluster.submit(&["-A", "chem", "-t", "5", "-n", "2"], "2");
    cluster.wait(&job, "RUNNING");
    assert_eq!(cluster.bank.held(), [("chem".to_owned(), 600)]);
    cluster.wait(&job, "COMPLETED");
    cluster.wait_closed(&job, 1);
    let ran = seconds(&cluster.value(&job, "RunTime"));
    let mut paid = 2 * ran;
    assert!(ran >= 2, "{ran}");
    assert_eq!(
        cluster.bank.figures("chem"),
        (10_000 - paid, 0, 10_000 - paid)
    );

    refused_at_submission(&cluster);
    let array = cluster.submit(&["-A", "chem", "-t", "1", "--array=1-3"], "1");
    for task in 1..=3 {
        let id = format!("{array}_{task}");
        cluster.wait(&id, "COMPLETED");
        cluster.wait_closed(&id, 1);
        let ran = seconds(&cluster.value(&id, "RunTime"));
        assert_eq!(charged(&cluster.uses(&id)[0]), ran, "{id}");
        paid += ran;
    }
    assert_eq!(
        cluster.bank.figures("chem"),
        (10_000 - paid, 0, 10_000 - paid)
    );

    cluster.settings("slurm_fallback=freecycle");
    let ran = cluster.try_submit(&["-A", "poor", "-t", "5"], "1");
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("uses the account freecycle"),
        "{}",
        ran.stderr
    );
    let job = ran.stdout.trim().to_owned();
    assert_eq!(cluster.value(&job, "Account"), "freecycle");
    cluster.wait(&job, "COMPLETED");
    cluster.wait_closed(&job, 1);
    let ran = seconds(&cluster.value(&job, "RunTime"));
    assert_eq!(cluster.bank.figures("freecycle").0, 1000 - ran);
    assert_eq!(cluster.bank.figures("poor"), (100, 0, 100));
    assert_eq!((cluster.waiting(), cluster.open_runs()), (0, 0));
    cluster.bank.verify();
}

fn refused_at_submission(cluster: &Cluster) {
    for (words, reason) in [
        (vec!["-A", "poor", "-t", "5"], "bank: insufficient funds"),
        (vec!["-A", "nosuch", "-t", "5"], "bank: "),
        // A text of a user is no command of a shell.
        (
            vec!["-A", "poor", "-t", "5", "-J", "'; touch injected; '"],
            "bank: insufficient funds",
        ),
    ] {
        let ran = cluster.try_submit(&words, "1");
        assert_ne!(ran.exit, 0, "{words:?}");
        assert!(ran.stderr.contains(reason), "{words:?}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("Job violates accounting/QOS policy"),
            "{}",
            ran.stderr
        );
    }
    assert!(!cluster.path("injected").exists());
    // A longer limit is asked about too; scontrol prints no text of the script.
    let job = cluster.submit(&["-A", "poor", "-t", "1", "-H"], "1");
    let ran = cluster.slurm(&["scontrol", "update", &format!("JobId={job}"), "TimeLimit=5"]);
    assert_ne!(ran.exit, 0, "{}", ran.stdout);
    assert!(
        ran.stderr.contains("Job violates accounting/QOS policy"),
        "{}",
        ran.stderr
    );
    cluster.slurm(&["scancel", &job]);
}

/// The money that a running job holds counts as its own, and its memory is part of the price.
#[test]
fn a_running_job_of_slurm_gets_a_longer_limit() {
    if !cluster::is_here() {
        return;
    }
    let mut cluster = Cluster::new(&[("tight", 700), ("chem", 10_000)]);
    let limit = |cluster: &Cluster, job: &str, minutes: i64| {
        let (id, limit) = (format!("JobId={job}"), format!("TimeLimit={minutes}"));
        let ran = cluster.slurm(&["scontrol", "update", &id, &limit]);
        ran.stderr.trim().to_owned()
    };
    let refused = "Job violates accounting/QOS policy";
    let job = cluster.submit(&["-A", "tight", "-t", "10"], "60");
    cluster.wait(&job, "RUNNING");
    until("the job has a lien", || {
        (cluster.bank.held() == [("tight".to_owned(), 600)]).then_some(())
    });
    // 1200 and 660 of 700.
    assert!(limit(&cluster, &job, 20).contains(refused));
    assert_eq!(limit(&cluster, &job, 11), "");
    cluster.slurm(&["scancel", &job]);
    cluster.wait_closed(&job, 1);

    let rate = ["rate", "set", "VBR", "Memory", "1", "--per", "second"];
    cluster.bank.bank_ok(&rate);
    let job = cluster.submit(&["-A", "chem", "-t", "1", "--mem=100", "-H"], "1");
    // 60600 of 10000.
    assert!(limit(&cluster, &job, 10).contains(refused));
    cluster.slurm(&["scancel", &job]);
    cluster.bank.verify();
}

/// A requeued job pays for each of its runs; a job whose money is gone at its start is held with the reason.
#[test]
fn requeued_and_held_jobs_of_slurm() {
    if !cluster::is_here() {
        return;
    }
    let mut cluster = Cluster::new(&[("chem", 10_000), ("spent", 1000)]);
    let job = cluster.submit(&["-A", "chem", "-t", "5"], "60");
    let held = cluster.submit(&["-A", "spent", "-t", "1", "-H"], "1");
    cluster.wait(&job, "RUNNING");
    cluster.bank.bank_ok(&["withdraw", "spent", "1000"]);
    cluster.slurm(&["scontrol", "release", &held]);
    until("the job is held", || {
        (cluster.value(&held, "Reason") == "JobHeldUser").then_some(())
    });
    let shown = cluster
        .slurm(&["scontrol", "show", "job", &held, "-o"])
        .stdout;
    assert!(
        shown.contains("AdminComment=bank: insufficient funds"),
        "{shown}"
    );
    assert_eq!(cluster.bank.figures("spent"), (0, 0, 0));

    until("the job has run 2 s", || {
        (seconds(&cluster.value(&job, "RunTime")) >= 2).then_some(())
    });
    let ran = cluster.slurm(&["scontrol", "requeue", &job]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    cluster.wait_closed(&job, 1);
    let first = charged(&cluster.uses(&job)[0]);
    assert!((2..30).contains(&first), "{first}");
    assert_eq!(
        cluster.bank.figures("chem"),
        (10_000 - first, 0, 10_000 - first)
    );
    until("the job may start again", || {
        cluster.wait(&job, "PENDING");
        let id = format!("JobId={job}");
        let ran = cluster.slurm(&["scontrol", "update", &id, "StartTime=now+3", "TimeLimit=1"]);
        (ran.exit == 0).then_some(())
    });
    cluster.wait(&job, "RUNNING");
    until("the second run has a lien", || {
        (cluster.bank.held() == [("chem".to_owned(), 60)]).then_some(())
    });
    cluster.slurm(&["scancel", &job]);
    cluster.wait_closed(&job, 2);
    let ran = seconds(&cluster.value(&job, "RunTime"));
    let sum: i64 = cluster.uses(&job).iter().map(charged).sum();
    assert_eq!(sum, first + ran);
    assert_eq!(
        cluster.bank.figures("chem"),
        (10_000 - sum, 0, 10_000 - sum)
    );
    assert_eq!((cluster.waiting(), cluster.open_runs()), (0, 0));
    cluster.bank.verify();
}

/// While the bank is away, jobs run and are billed later, once, or they are held: a setting decides.
#[test]
fn jobs_of_slurm_while_the_bank_is_away() {
    if !cluster::is_here() {
        return;
    }
    let mut cluster = Cluster::new(&[("chem", 10_000)]);
    cluster.bank.stop();
    let job = cluster.submit(&["-A", "chem", "-t", "5"], "1");
    cluster.wait(&job, "COMPLETED");
    until("the end is stored", || {
        (cluster.waiting() == 2 && cluster.open_runs() == 0).then_some(())
    });
    let ran = seconds(&cluster.value(&job, "RunTime"));
    // A job that begins while the bank is away and ends when it is back.
    let other = cluster.submit(&["-A", "chem", "-t", "5"], "4");
    cluster.wait(&other, "RUNNING");
    cluster.bank.start();
    cluster.wait(&other, "COMPLETED");
    cluster.wait_closed(&other, 1);
    for _ in 0..2 {
        cluster.drain().expect(0, "");
    }
    cluster.wait_closed(&job, 1);
    let second = seconds(&cluster.value(&other, "RunTime"));
    let left = 10_000 - ran - second;
    assert_eq!(cluster.bank.figures("chem"), (left, 0, left));
    assert_eq!(charged(&cluster.uses(&job)[0]), ran);
    assert_eq!(cluster.waiting(), 0);

    cluster.settings("slurm_bank_down=hold");
    cluster.bank.stop();
    let job = cluster.submit(&["-A", "chem", "-t", "5"], "1");
    until("the job is held", || {
        (cluster.value(&job, "Reason") == "JobHeldUser").then_some(())
    });
    let shown = cluster
        .slurm(&["scontrol", "show", "job", &job, "-o"])
        .stdout;
    assert!(
        shown.contains("AdminComment=bank: bank unreachable"),
        "{shown}"
    );
    cluster.lua(false);
    until("a job is refused", || {
        let ran = cluster.try_submit(&["-A", "chem", "-t", "5", "-H"], "1");
        ran.stderr
            .contains("the allocation bank does not answer")
            .then_some(())
    });
    cluster.bank.start();
    assert_eq!(cluster.bank.figures("chem"), (left, 0, left));
    assert_eq!(text(&cluster.uses(&other)[0], "state"), "closed");
    assert_eq!((cluster.waiting(), cluster.open_runs()), (0, 0));
    cluster.bank.verify();
}
