//! Prices for each type of GPU, with a real slurmctld, slurmdbd and `sacct`: quotes, liens, charges, and imports of the
//! same jobs.

use std::fs;

use super::cluster::Cluster;
use super::cluster::accounting::is_here;
use super::{charged, seconds};
use crate::export::sums::agree;
use crate::harness::until;

/// Credits for each second of a unit of billing, of any GPU, and of one of a type. A processor second costs 1, and a
/// processor is a billing of 3.
const RATES: [(&str, i64); 4] = [
    ("billing", 5),
    ("gpu", 11),
    ("gres/gpu:a100", 70),
    ("gres/gpu:h100", 200),
];
const PROCESSOR: i64 = 1 + 3 * 5;
const A100: i64 = 11 + 70;
const H100: i64 = 11 + 200;
const MONEY: i64 = 10_000_000;

fn connected() -> Cluster {
    let cluster = Cluster::with_gpus(&[("chem", MONEY), ("poor", 100)]);
    for (name, rate) in RATES {
        let rate = rate.to_string();
        cluster.bank.bank_ok(&["rate", "set", "VBR", name, &rate]);
    }
    let lua = fs::read_to_string(cluster.path("job_submit.lua")).unwrap();
    let weights = "BILLING = { batch = { cpu = 3.0, mem = 0.25 } }";
    cluster.write("job_submit.lua", &lua.replace("BILLING = {}", weights));
    until("the weights are in force", || {
        let ran = cluster.try_submit(&["-A", "poor", "-t", "5"], "1");
        let needed = format!("need {}, have 100", PROCESSOR * 300);
        ran.stderr.contains(&needed).then_some(())
    });
    cluster
}

impl Cluster {
    /// Runs a job of two seconds with a limit of five minutes, which must hold and pay this for each second.
    #[track_caller]
    fn pays(&self, words: &[&str], price: i64) -> i64 {
        let what = words.join(" ");
        let job = self.submit(&[&["-A", "chem", "-t", "5"], words].concat(), "2");
        until(&format!("{what} has its lien"), || {
            (self.bank.held() == [("chem".to_owned(), price * 300)]).then_some(())
        });
        self.wait(&job, "COMPLETED");
        self.wait_closed(&job, 1);
        let paid = price * seconds(&self.value(&job, "RunTime"));
        assert_eq!(charged(&self.uses(&job)[0]), paid, "{what}");
        paid
    }

    /// The real `sacct`, when it shows so many runs and all have ended.
    fn records(&self, runs: usize) -> String {
        let mut text = String::new();
        until("sacct shows every run", || {
            text = self.sacct();
            let lines = text.lines().skip(1);
            let has_ended = |line: &&str| {
                let states = ["|COMPLETED|", "|CANCELLED", "|REQUEUED|"];
                !line.contains("|None|") && states.iter().any(|state| line.contains(state))
            };
            let ended = lines.clone().filter(has_ended).count();
            (ended == runs).then_some(())
        });
        text
    }
}

/// A job pays for its GPUs by their type, at submission, at its start and at its end. The record of each job in
/// `sacct` changes nothing.
#[test]
fn jobs_pay_by_the_type_of_their_gpus() {
    if !is_here() {
        return;
    }
    let mut cluster = connected();
    for (words, price) in [
        (&["--gres=gpu:a100:1"][..], PROCESSOR + A100),
        // One GPU, and not a hundred.
        (&["--gres=gpu:a100"][..], PROCESSOR + A100),
        (&["--gres=gpu:h100:1"][..], PROCESSOR + H100),
        (&["--gpus=a100:2,h100:1"][..], PROCESSOR + 2 * A100 + H100),
        (
            &["-N", "2", "--gres=gpu:a100:1"][..],
            2 * (PROCESSOR + A100),
        ),
        (
            &["-n", "2", "--gpus-per-task=a100:1"][..],
            2 * (PROCESSOR + A100),
        ),
        // Slurm decides about the type later.
        (&["--gpus=1"][..], PROCESSOR + 11),
    ] {
        let ran = cluster.try_submit(&[&["-A", "poor", "-t", "5"], words].concat(), "1");
        let needed = format!("bank: insufficient funds: need {}, have 100", price * 300);
        assert!(ran.stderr.contains(&needed), "{words:?}: {}", ran.stderr);
    }
    let mut sum = 0;
    for (words, price) in [
        (&["--gres=gpu:a100:1"][..], PROCESSOR + A100),
        (&["--gres=gpu:h100:1"][..], PROCESSOR + H100),
        (
            &["-N", "2", "--gres=gpu:a100:1"][..],
            2 * (PROCESSOR + A100),
        ),
        (
            &["-n", "2", "--gpus-per-task=a100:1"][..],
            2 * (PROCESSOR + A100),
        ),
        // It gets the type that the node lists first.
        (&["--gpus=1"][..], PROCESSOR + A100),
    ] {
        sum += cluster.pays(words, price);
    }
    let left = MONEY - sum;
    assert_eq!(cluster.bank.figures("chem"), (left, 0, left));
    let records = cluster.records(5);
    for _ in 0..2 {
        cluster.import_records(&records);
        assert_eq!(cluster.bank.figures("chem"), (left, 0, left));
    }
    assert_eq!(cluster.bank.jobs().len(), 5);

    // A job that no script saw.
    cluster.disconnect();
    let missed = cluster.submit(&["-A", "chem", "-t", "5", "--gres=gpu:h100:1"], "2");
    cluster.wait(&missed, "COMPLETED");
    let ran = seconds(&cluster.value(&missed, "RunTime"));
    let records = cluster.records(6);
    cluster.import_records(&records);
    assert_eq!(cluster.bank.figures("chem"), (left, 0, left));
    let source = |name| {
        cluster
            .bank
            .bank_ok(&["machine", "set", "test", "--source", name])
    };
    source("slurm:test");
    let left = left - ran * (PROCESSOR + H100);
    for _ in 0..2 {
        cluster.import_records(&records);
        assert_eq!(cluster.bank.figures("chem"), (left, 0, left));
    }
    source("nami");
    assert_eq!(cluster.bank.jobs().len(), 6);
    assert_eq!(charged(&cluster.uses(&missed)[0]), ran * (PROCESSOR + H100));
    assert_eq!((cluster.waiting(), cluster.open_runs()), (0, 0));
    agree(&cluster.bank);
    cluster.bank.verify();
}

/// Parts of a heterogeneous job with GPUs of two types, a suspended job and a requeued one: as above.
#[test]
fn jobs_of_every_life_pay_by_the_type_of_their_gpus() {
    if !is_here() {
        return;
    }
    let mut cluster = connected();
    let parts = [
        "-A",
        "chem",
        "-t",
        "5",
        "-n",
        "1",
        "--gres=gpu:a100:1",
        ":",
        "-A",
        "chem",
        "-t",
        "2",
        "-n",
        "2",
        "--gres=gpu:h100:1",
    ];
    let job = cluster.submit(&parts, "2");
    let [first, second] = [0, 1].map(|part| format!("{job}+{part}"));
    let prices = [(&first, PROCESSOR + A100), (&second, 2 * PROCESSOR + H100)];
    let expected = [
        ("chem".to_owned(), prices[0].1 * 300),
        ("chem".to_owned(), prices[1].1 * 120),
    ];
    until("both parts have a lien", || {
        let mut held = cluster.bank.held();
        held.sort();
        (held == expected).then_some(())
    });
    let mut left = MONEY;
    for (id, price) in prices {
        cluster.wait(id, "COMPLETED");
        cluster.wait_closed(id, 1);
        let paid = price * seconds(&cluster.value(id, "RunTime"));
        assert_eq!(charged(&cluster.uses(id)[0]), paid, "{id}");
        left -= paid;
    }

    // The whole job has no use of its own.
    let ran = cluster.bank.bank(&["jobs", &job]);
    let hint = format!("a part of a heterogeneous job of Slurm is {first}");
    assert!(ran.stderr.contains(&hint), "{}", ran.stderr);
    let suspended = cluster.submit(&["-A", "chem", "-t", "5", "--gres=gpu:a100:1"], "600");
    let requeued = cluster.submit(&["-A", "chem", "-t", "5", "--gres=gpu:h100:1"], "600");
    cluster.wait(&suspended, "RUNNING");
    cluster.wait(&requeued, "RUNNING");
    assert_eq!(cluster.slurm(&["scontrol", "suspend", &suspended]).exit, 0);
    cluster.wait(&suspended, "SUSPENDED");
    let begun: i64 = cluster.value(&suspended, "SuspendTime").parse().unwrap();
    until("three seconds have passed", || {
        let now = cluster.slurm(&["date", "+%s"]).stdout;
        (now.trim().parse::<i64>().unwrap() >= begun + 3).then_some(())
    });
    assert_eq!(cluster.slurm(&["scontrol", "resume", &suspended]).exit, 0);
    cluster.wait(&suspended, "RUNNING");
    assert_eq!(cluster.slurm(&["scontrol", "requeue", &requeued]).exit, 0);
    cluster.wait_closed(&requeued, 1);
    cluster.slurm(&["scancel", &requeued]);
    cluster.slurm(&["scancel", &suspended]);
    cluster.wait_closed(&suspended, 1);
    let ran = seconds(&cluster.value(&suspended, "RunTime"));
    assert_eq!(
        charged(&cluster.uses(&suspended)[0]),
        ran * (PROCESSOR + A100)
    );
    let run = charged(&cluster.uses(&requeued)[0]);
    assert!(run > 0 && run % (PROCESSOR + H100) == 0, "{run}");
    left -= ran * (PROCESSOR + A100) + run;
    assert_eq!(cluster.bank.figures("chem"), (left, 0, left));

    // The requeued job has a record of its run. The queued job that was cancelled may have one too.
    let records = cluster.records(4);
    assert!(records.contains("|REQUEUED|"), "{records}");
    for _ in 0..2 {
        cluster.import_records(&records);
        assert_eq!(cluster.bank.figures("chem"), (left, 0, left), "{records}");
    }
    assert_eq!(cluster.bank.jobs().len(), 4);
    assert_eq!((cluster.waiting(), cluster.open_runs()), (0, 0));
    agree(&cluster.bank);
    cluster.bank.verify();
}
