//! Heterogeneous, suspended and priced jobs of a real Slurm, and the same jobs in the output of `sacct`.

use super::cluster::{self, Cluster};
use super::{charged, seconds};
use crate::export::sums::agree;
use crate::harness::until;

impl Cluster {
    /// Imports a record of `sacct` about a job that has ended, as Slurm shows it, with the seconds that it ran. This
    /// cluster has no slurmdbd, so that there is no `sacct`: `gpus.rs` has one.
    fn import(&self, job: &str, id: &str) {
        let value = |key: &str| self.value(job, key);
        let at = |key: &str| {
            let ran = self.slurm(&["date", "-u", "-d", &format!("@{}", value(key)), "+%FT%T"]);
            ran.stdout.trim().to_owned()
        };
        let (start, end) = (at("StartTime"), at("EndTime"));
        let text = format!(
            "JobID|Cluster|User|Account|State|ExitCode|Submit|Start|End|Elapsed|NNodes|NCPUS|AllocTRES\n\
             {id}|test|root|{}|COMPLETED|0:0|{start}|{start}|{end}|{}|{}|{}|{}\n",
            value("Account"),
            value("RunTime"),
            value("NumNodes"),
            value("NumCPUs"),
            value("TRES"),
        );
        self.import_records(&text);
    }
}

/// Each part of a heterogeneous job holds, pays and ends once.
#[test]
fn each_part_of_a_heterogeneous_job_is_paid_once() {
    if !cluster::is_here() {
        return;
    }
    let mut cluster = Cluster::new(&[("chem", 10_000)]);
    let parts = [
        "-A", "chem", "-t", "5", "-n", "1", ":", "-A", "chem", "-t", "2", "-n", "2",
    ];
    let job = cluster.submit(&parts, "2");
    let [first, second] = [0, 1].map(|part| format!("{job}+{part}"));
    cluster.wait(&first, "RUNNING");
    until("both parts have a lien", || {
        let mut held = cluster.bank.held();
        held.sort();
        (held == [("chem".to_owned(), 240), ("chem".to_owned(), 300)]).then_some(())
    });
    let mut sum = 0;
    for (id, processors) in [(&first, 1), (&second, 2)] {
        cluster.wait(id, "COMPLETED");
        cluster.wait_closed(id, 1);
        let ran = seconds(&cluster.value(id, "RunTime"));
        assert!(ran >= 2, "{id}: {ran}");
        assert_eq!(charged(&cluster.uses(id)[0]), processors * ran, "{id}");
        sum += processors * ran;
    }
    for _ in 0..2 {
        cluster.import(&first, &first);
        cluster.import(&second, &second);
    }
    assert_eq!(
        cluster.bank.figures("chem"),
        (10_000 - sum, 0, 10_000 - sum)
    );
    assert_eq!(cluster.bank.jobs().len(), 2);
    assert_eq!((cluster.waiting(), cluster.open_runs()), (0, 0));
    agree(&cluster.bank);
    cluster.bank.verify();
}

/// A job pays by its billing, without the time in which it was suspended, and counts once beside its record.
#[test]
fn a_suspended_job_pays_by_its_billing_for_the_time_that_it_ran() {
    if !cluster::is_here() {
        return;
    }
    let mut cluster = Cluster::new(&[("chem", 100_000)]);
    cluster
        .bank
        .bank_ok(&["rate", "set", "VBR", "billing", "5"]);
    let job = cluster.submit(&["-A", "chem", "-t", "5", "-n", "2"], "600");
    cluster.wait(&job, "RUNNING");
    // Two processors, and a billing of three for each.
    let price = 2 + 2 * 3 * 5;
    assert_eq!(cluster.bank.held(), [("chem".to_owned(), price * 300)]);
    assert_eq!(cluster.slurm(&["scontrol", "suspend", &job]).exit, 0);
    cluster.wait(&job, "SUSPENDED");
    let begun: i64 = cluster.value(&job, "SuspendTime").parse().unwrap();
    until("three seconds have passed", || {
        let now = cluster.slurm(&["date", "+%s"]).stdout;
        (now.trim().parse::<i64>().unwrap() >= begun + 3).then_some(())
    });
    assert_eq!(cluster.slurm(&["scontrol", "resume", &job]).exit, 0);
    cluster.wait(&job, "RUNNING");
    cluster.slurm(&["scancel", &job]);
    cluster.wait_closed(&job, 1);
    let ran = seconds(&cluster.value(&job, "RunTime"));
    let time = |key: &str| cluster.value(&job, key).parse::<i64>().unwrap();
    let suspended = time("EndTime") - time("StartTime") - ran;
    assert!(suspended >= 3, "{suspended}");
    let left = 100_000 - price * ran;
    assert_eq!(cluster.bank.figures("chem"), (left, 0, left));
    for _ in 0..2 {
        cluster.import(&job, &job);
        assert_eq!(cluster.bank.figures("chem"), (left, 0, left));
    }
    agree(&cluster.bank);
    cluster.bank.verify();
}
