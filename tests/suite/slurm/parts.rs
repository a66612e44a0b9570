//! Jobs of Slurm that did not simply run from their start to their end.

use std::fs;

use super::hooks::{HEAD, Hooks, Job};
use crate::export::sums::{agree, agree_exactly, paid_everywhere};
use crate::harness::{Bank, T0};

/// Slurm gives a job that is cancelled while it waits the time of the cancellation as its start and its end: every
/// rendering skips it.
#[test]
fn jobs_that_were_cancelled_while_they_waited_cost_nothing() {
    let mut bank = Bank::new();
    let at = "2025-12-31T00:31:05";
    let times = format!("StartTime={at} EndTime={at}");
    let scontrol = format!(
        "JobId=7 JobName=x\n   UserId=amy(1001) GroupId=staff(100)\n   Account=chemistry QOS=normal\n   \
         JobState=CANCELLED Reason=None\n   RunTime=00:00:00 TimeLimit=00:05:00\n   \
         SubmitTime=2025-12-31T00:31:04\n   {times}\n   Partition=batch\n   NodeList=\n   \
         NumNodes=2 NumCPUs=16\n   TRES=cpu=16,node=2\n\n"
    );
    let jobcomp = format!(
        "JobId=7 UserId=amy(1001) GroupId=staff(100) Name=x JobState=CANCELLED Partition=batch TimeLimit=5 \
         {times} NodeList=(null) NodeCnt=0 ProcCnt=0 WorkDir=/ ReservationName= Tres=cpu=16,node=1 \
         Account=chemistry QOS=normal WcKey= Cluster=colony SubmitTime=2025-12-31T00:31:04 \n"
    );
    let keyed = format!(
        "JobID=\"7\" User=\"amy\" Account=\"chemistry\" State=\"CANCELLED by 0\" Start=\"{at}\" End=\"{at}\" \
         Elapsed=\"00:00:00\" NNodes=\"2\" NCPUS=\"16\" NodeList=\"\"\n"
    );
    for (format, text) in [
        ("slurm-scontrol", scontrol),
        ("slurm-jobcomp", jobcomp),
        ("sacct-keyvalue", keyed),
    ] {
        let path = bank.folder().join(format);
        fs::write(&path, text).unwrap();
        let path = path.to_str().unwrap();
        let done = bank.json(&["import", format, path, "-m", "colony"]);
        assert_eq!(done["skipped"]["never_started"], 1, "{format}: {done}");
        assert_eq!(done["jobs"], 0, "{format}: {done}");
    }
    assert_eq!(bank.figures("chemistry"), (100_000, 0, 100_000));
    bank.verify();
}

/// At the epilog of a run that a failed node has ended, Slurm has forgotten the run, and its environment does not count
/// the requeue yet.
#[test]
fn a_run_that_a_failed_node_ended_is_charged() {
    for (raw, id) in [("17", "17"), ("19", "16_3"), ("20", "16+1")] {
        let mut hooks = Hooks::new(Bank::new());
        let run = Job::new(raw, id);
        hooks.prolog(&run).expect(0, "");
        hooks.fail_node(&run).expect(0, "");
        let left = 100_000 - 4 * 360;
        assert_eq!(hooks.bank.figures("chemistry"), (left, 0, left), "{id}");
        let again = Job {
            restarts: 1,
            start: 1000,
            end: 1060,
            ..run
        };
        hooks.whole(&again);
        let left = left - 4 * 60;
        assert_eq!(hooks.bank.figures("chemistry"), (left, 0, left), "{id}");
        assert_eq!(hooks.bank.jobs().len(), 2, "{id}");
        agree(&hooks.bank);
        hooks.bank.verify();
    }
}

/// Imports records of job 17 under [`HEAD`], a day later.
fn import(bank: &Bank, records: &[&str]) {
    bank.set_clock(T0 + 86_400);
    let lines = records
        .iter()
        .map(|record| format!("17|17|colony|amy|chemistry|{record}\n"));
    let path = bank.folder().join("day.sacct");
    fs::write(&path, format!("{HEAD}{}", lines.collect::<String>())).unwrap();
    let path = path.to_str().unwrap();
    bank.bank_ok(&["import", "sacct", path, "--source", "slurm:colony"]);
}

/// The records of a job of four processors from 0 to 360, and of one since 300, as `sacct` prints them: both have the
/// start of the job, and the submission of the second one is the time of its size.
const FIRST: &str = "RESIZING|0:0|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:05:00|00:05:00|2|4|cpu=4,node=2";
const LIVE: &str =
    "RUNNING|0:0|2026-01-01T00:05:00|2026-01-01T00:00:00|Unknown|00:05:10|1|1|cpu=1,node=1";
const LAST: &str = "COMPLETED|0:0|2026-01-01T00:05:00|2026-01-01T00:00:00|2026-01-01T00:06:00|00:06:00|1|1|cpu=1,node=1";

/// What such a job costs.
const RESIZED: i64 = 4 * 300 + 60;

/// Each size of a job is charged for its own time, whenever its records arrive and how often.
#[test]
fn records_of_a_resized_job_are_charged_by_its_sizes() {
    for imports in [
        &[&[FIRST, LAST][..]][..],
        &[&[FIRST, LIVE], &[FIRST, LAST], &[LAST]],
        &[&[LAST], &[FIRST]],
    ] {
        let mut bank = Bank::new();
        for records in imports {
            import(&bank, records);
        }
        let left = 100_000 - RESIZED;
        assert_eq!(bank.figures("chemistry"), (left, 0, left), "{imports:?}");
        let parts = "SELECT count(*) FROM usage_identity";
        assert_eq!(bank.query(parts), [["2"]], "{imports:?}");
        agree(&bank);
        bank.verify();
    }
}

/// The epilog charges the time before the last size with the size at the start, and the records of `sacct` are one use
/// beside its charge.
#[test]
fn a_resized_job_is_charged_by_the_hooks() {
    let mut hooks = Hooks::new(Bank::new());
    let job = Job::new("17", "17");
    hooks.prolog(&job).expect(0, "");
    let small = Job {
        tres: "cpu=1,node=1",
        ..job
    };
    hooks.epilog_resized(&small, 300).expect(0, "");
    let left = 100_000 - RESIZED;
    assert_eq!(hooks.bank.figures("chemistry"), (left, 0, left));
    assert_eq!(hooks.bank.jobs().len(), 1);
    import(&hooks.bank, &[FIRST, LAST]);
    assert_eq!(hooks.bank.figures("chemistry"), (left, 0, left));
    let words = ["reconcile", "-m", "colony", "--from", "2025-12-31"];
    let until = ["--to", "2026-01-02", "--all"];
    let found = hooks.bank.json(&[&words[..], &until].concat());
    let rows = found["items"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{found}");
    assert_eq!(rows[0]["kind"], "matched", "{found}");
    let totals = &found["totals"]["matched"];
    let work = RESIZED.to_string();
    assert_eq!(totals["processor_s"], work, "{found}");
    assert_eq!(totals["charged_processor_s"], work, "{found}");
    agree_exactly(&hooks.bank);
    paid_everywhere(&hooks.bank, "chemistry", RESIZED);
    hooks.bank.verify();
}
