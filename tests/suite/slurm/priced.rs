//! Slurm's trackable resources as amounts of money: exact amounts by the hooks and by `sacct`, each use once, and one
//! sum in every figure.

use std::fs::OpenOptions;
use std::io::Write as _;

use super::charged;
use super::hooks::{HEAD, Hooks, Job};
use crate::auth::request_sums::one_amount;
use crate::export::sums::{agree, last};
use crate::harness::{Bank, Setup, T0, until};

fn rates(bank: &Bank, rates: &[(&str, &str)]) {
    for (name, rate) in rates {
        bank.bank_ok(&["rate", "set", "VBR", name, rate, "--per", "hour"]);
    }
}

const GPUS: &str = "cpu=4,mem=8G,node=1,billing=6,gres/gpu=3,gres/gpu:a100=2,gres/gpu:h100=1";

/// The price of such a job of 6 minutes at 100 for its billing and 35 for a GPU of type a100, per hour.
const PRICE: i128 = 1440 + 60 + 7;

/// For 6 minutes: 1440 for the processors, and what the rates name.
#[test]
fn trackable_resources_cost_what_their_rates_state() {
    for (named, expected) in [
        (&[][..], 1440),
        (&[("billing", "100")][..], 1440 + 60),
        (&[("gres/gpu:a100", "35")][..], 1440 + 7),
        (&[("gpu", "50")][..], 1440 + 15),
        (
            &[
                ("billing", "100"),
                ("gres/gpu:a100", "35"),
                ("gres/gpu:h100", "20"),
            ][..],
            1440 + 60 + 7 + 2,
        ),
        // Rates add up: two of the three GPUs cost twice.
        (&[("gpu", "50"), ("gres/gpu:a100", "35")][..], 1440 + 15 + 7),
    ] {
        let mut job = Job::new("17", "17");
        job.tres = GPUS;
        for is_imported in [false, true] {
            let mut hooks = Hooks::new(Bank::new());
            rates(&hooks.bank, named);
            if is_imported {
                hooks.import(&[&job]);
            } else {
                hooks.prolog(&job).expect(0, "");
                let held = hooks.bank.held();
                assert_eq!(held, [("chemistry".to_owned(), expected * 10)]);
                hooks.epilog(&job).expect(0, "");
            }
            let left = 100_000 - expected;
            assert_eq!(
                hooks.bank.figures("chemistry"),
                (left, 0, left),
                "{named:?}"
            );
            hooks.bank.verify();
        }
    }
}

/// A rate of something that another rate contains, or that no job has, is set with a warning.
#[test]
fn rates_that_charge_the_same_resource_twice_are_warned_of() {
    let bank = Bank::new();
    bank.bank_ok(&["machine", "add", "blue"]);
    let set = |name: &str, more: &[&str]| {
        let words = ["rate", "set", "VBR", name, "1", "--per", "hour"];
        let ran = bank.bank(&[&words[..], more].concat());
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        ran.stderr
    };
    let warning = "bank: warning: rates add up: a job with ";
    for (name, more, expected) in [
        ("gpu", &["-m", "colony"][..], ""),
        ("gres/gpu:a100", &["-m", "blue"], ""),
        ("gres/gpu:a100", &[], "gres/gpu:a100 and gpu pays for both"),
        ("gpu", &[], "gpu and gres/gpu:a100 pays for both"),
        ("billing", &[], "billing and "),
        ("license/x", &[], ""),
    ] {
        let printed = set(name, more);
        let words: Vec<&str> = printed.split_whitespace().collect();
        let printed = words.join(" ");
        if expected.is_empty() {
            assert_eq!(printed, "", "{name} {more:?}");
        } else {
            assert!(
                printed.starts_with(&format!("{warning}{expected}")),
                "{printed}"
            );
        }
    }
    let printed = set("gres/gpu", &[]);
    let no_job = "bank: warning: no job has the resource gres/gpu: the GPUs of all types are gpu;";
    assert!(printed.starts_with(no_job), "{printed}");
}

/// A job that the epilog charged and that `sacct` reports counts once, whichever comes first and whatever clocks say.
#[test]
fn one_job_of_two_reporters_is_charged_once() {
    for (raw, id) in [("17", "17"), ("19", "16_3"), ("20", "16+1")] {
        for shift in [-2, 0, 2] {
            let job = Job::new(raw, id);
            let mut seen = job.clone();
            seen.end += shift;
            for is_first in [false, true] {
                let what = format!("{id} {shift} {is_first}");
                let mut hooks = Hooks::new(Bank::new());
                hooks.prolog(&job).expect(0, "");
                if is_first {
                    hooks.import(&[&seen]);
                }
                hooks.epilog(&job).expect(0, "");
                for _ in 0..2 {
                    hooks.import(&[&seen]);
                }
                let seconds = if is_first {
                    360 + shift
                } else {
                    // The use was billed to its end: seconds of another source change nothing.
                    360
                };
                let left = 100_000 - 4 * seconds;
                assert_eq!(hooks.bank.figures("chemistry"), (left, 0, left), "{what}");
                let jobs = hooks.bank.jobs();
                assert_eq!(jobs.len(), 1, "{what}: {jobs:#?}");
                hooks.bank.verify();
            }
        }
    }
}

/// The names of a part and of a task are those of `sacct` even if `scontrol` fails from start to end.
#[test]
fn a_job_without_facts_of_scontrol_has_the_id_of_sacct() {
    for (raw, id) in [("17", "17"), ("19", "16_3"), ("20", "16+1")] {
        let mut hooks = Hooks::new(Bank::new());
        let job = Job::new(raw, id);
        hooks.without_scontrol(&job);
        hooks.import(&[&job]);
        assert_eq!(hooks.bank.figures("chemistry").0, 100_000 - 4 * 360, "{id}");
        assert_eq!(hooks.bank.jobs().len(), 1, "{id}");
        hooks.bank.verify();
    }
}

/// The epilog charges the run time of Slurm. A record is charged from its start to its end (collectors.md a.1), where it is
/// what charges the job.
#[test]
fn suspended_time_is_charged_by_records_only() {
    let mut job = Job::new("17", "17");
    job.suspended = 100;
    for (steps, seconds) in [
        (&["hooks"][..], 260),
        (&["import"][..], 360),
        (&["hooks", "import"][..], 260),
    ] {
        let mut hooks = Hooks::new(Bank::new());
        for step in steps {
            if *step == "hooks" {
                hooks.whole(&job);
            } else {
                hooks.import(&[&job]);
            }
        }
        let left = 100_000 - 4 * seconds;
        assert_eq!(
            hooks.bank.figures("chemistry"),
            (left, 0, left),
            "{steps:?}"
        );
        agree(&hooks.bank);
        hooks.bank.verify();
    }
}

/// A file of `sacct` that the daemon follows brings a job that the epilog charged, which counts once, and one that the bank missed.
#[test]
fn a_followed_file_repeats_no_job() {
    let mut bank = Setup::new().start();
    bank.stop();
    let path = bank.folder().join("live.sacct");
    let (job, missed) = (Job::new("17", "17"), Job::new("18", "18"));
    bank.settings(&format!(
        "\n[[follow]]\nsource = \"slurm:colony\"\npath = \"{}\"\nformat = \"sacct\"\nsettle_s = 30\n",
        path.display()
    ));
    std::fs::write(&path, HEAD).unwrap();
    bank.start();
    let hooks = Hooks::new(bank);
    hooks.whole(&job);
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    let lines = format!("{}{}", job.record(), missed.record());
    file.write_all(lines.as_bytes()).unwrap();
    let mut bank = hooks.bank;
    // The last lines of a file are read when it has been quiet for a while.
    bank.set_clock(T0 + 3600);
    until("both are read", || {
        let records = bank.query("SELECT count(*) FROM usage_identity");
        (records == [["2"]]).then_some(())
    });
    // The hooks charge the machine: the record of the other is kept, and reconciliation lists it.
    assert_eq!(bank.figures("chemistry").0, 100_000 - 4 * 360);
    assert_eq!(bank.jobs().len(), 1);
    let words = ["reconcile", "-m", "colony", "--from", "2025-12-31"];
    let until = ["--to", "2026-01-02", "--csv"];
    let ran = bank.bank(&[&words[..], &until].concat());
    let listed = format!("{}{}", ran.stdout, ran.stderr);
    assert!(listed.contains("not_charged"), "{listed}");
    agree(&bank);
    bank.verify();
}

/// Compares all figures, and the amount of the payers.
#[track_caller]
fn same(bank: &Bank, (core_s, amount): (i128, i128)) {
    assert_eq!(agree(bank), (core_s * 1000, amount * 1000));
    let used: i128 = bank.query("SELECT sum(amount) FROM usage")[0][0]
        .parse()
        .unwrap();
    assert_eq!(used, amount);
    let paid: i128 = ["chemistry", "freecycle"]
        .map(|account| one_amount(bank, account))
        .iter()
        .sum();
    assert_eq!(paid, (1_100_000 - amount) * 1000);
}

#[test]
fn every_figure_of_jobs_of_slurm_is_the_same() {
    let mut hooks = Hooks::new(Bank::new());
    rates(&hooks.bank, &[("billing", "100"), ("gres/gpu:a100", "35")]);
    let job = |raw, id, start| Job {
        start,
        end: start + 360,
        tres: GPUS,
        ..Job::new(raw, id)
    };
    // Finished.
    let first = job("17", "17", 0);
    hooks.whole(&first);
    same(&hooks.bank, (1440, PRICE));
    // Two runs of a requeued job.
    let run = job("18", "18", 1000);
    hooks.prolog(&run).expect(0, "");
    hooks.requeue(&run).expect(0, "");
    let again = Job {
        restarts: 1,
        ..job("18", "18", 2000)
    };
    hooks.whole(&again);
    same(&hooks.bank, (3 * 1440, 3 * PRICE));
    // Refused at its start: its limit costs more than there is.
    let refused = Job {
        limit: 90_000,
        ..job("19", "19", 3000)
    };
    assert_eq!(hooks.prolog(&refused).exit, 1);
    hooks.requeue(&refused).expect(0, "");
    same(&hooks.bank, (3 * 1440, 3 * PRICE));
    // By the fallback account that `job_submit.lua` chose.
    let fallback = Job {
        account: "freecycle",
        ..job("20", "20", 4000)
    };
    hooks.whole(&fallback);
    same(&hooks.bank, (4 * 1440, 4 * PRICE));
    // Refunded.
    hooks.bank.bank_ok(&["refund", "17", "500"]);
    same(&hooks.bank, (4 * 1440, 4 * PRICE - 500));
    // Imported late, with all that the epilog charged: the hooks charge the machine, so the record is kept.
    let missed = job("21", "21", 5000);
    let all = [&first, &run, &again, &fallback, &missed];
    hooks.import(&all);
    same(&hooks.bank, (4 * 1440, 4 * PRICE - 500));
    // Again, as the source of the machine.
    hooks
        .bank
        .bank_ok(&["machine", "set", "colony", "--source", "slurm:colony"]);
    for _ in 0..2 {
        hooks.import(&all);
        same(&hooks.bank, (5 * 1440, 5 * PRICE - 500));
    }
    hooks.bank.bank_ok(&["undo", &last(&hooks.bank, "refund")]);
    same(&hooks.bank, (5 * 1440, 5 * PRICE));
    let closed = hooks.bank.jobs();
    assert_eq!(closed.len(), 5, "{closed:#?}");
    let sum: i64 = closed.iter().map(charged).sum();
    assert_eq!(i128::from(sum), 5 * PRICE);
    hooks.bank.verify();
}

/// After an import that charged a missed job, its source charges the machine: the epilog's document waits for the
/// record, and an administrator can give the machine back to the hooks.
#[test]
fn an_imported_job_decides_who_charges_the_machine() {
    let mut hooks = Hooks::new(Bank::new());
    hooks.import(&[&Job::new("17", "17")]);
    let next = Job {
        start: 90_000,
        end: 90_360,
        ..Job::new("18", "18")
    };
    hooks.whole(&next);
    assert_eq!(hooks.bank.figures("chemistry").0, 100_000 - 1440);
    hooks
        .bank
        .bank_ok(&["machine", "set", "colony", "--source", "nami"]);
    let last = Job {
        start: 91_000,
        end: 91_360,
        ..Job::new("19", "19")
    };
    hooks.whole(&last);
    assert_eq!(hooks.bank.figures("chemistry").0, 100_000 - 2 * 1440);
    hooks.bank.set_clock(T0 + 92_000);
    hooks.bank.verify();
}
