//! A scheduler's day, generated: a hundred thousand jobs, with outages of the scheduler and of the
//! bank, kills in the midst of requests, charges that come twice under one key, charges of double
//! and treble length, restarts, and deletes that never come. At its end every job is charged the
//! time that it ran, no money is held, and the whole ledger verifies.
//!
//! `jobs` is the truth, `scheduler` says what is sent when, `wire` sends it and keeps, as the
//! scripts do, what has no answer. The seed of a run is printed; `BANK_TEST_SEED` repeats its
//! choices, though not the moments at which kills meet requests.

mod jobs;
mod scheduler;
mod wire;

use crate::harness::{Bank, Numbers, Setup, until};
use jobs::Jobs;
use scheduler::Scheduler;

/// Jobs of the day.
const JOBS: usize = 100_000;
/// What chemistry has: enough for everything.
const PLENTY: i64 = 1_000_000_000_000;
/// Until every lien of the day has expired and its instance closed: the longest wall duration, the
/// lien's grace of 600 s and two flush intervals, the instance's grace of 600 s.
const AFTERWARDS_S: i64 = jobs::LONGEST_S + 600 + 2 * scheduler::FLUSH_S + 600;

#[test]
fn a_hundred_thousand_jobs_come_out_right() {
    let mut numbers = Numbers::new("generator");
    let mut bank = Setup::new()
        .chemistry(PLENTY)
        .env("BANKD_LOG_LEVEL", "error")
        .start();
    let jobs = Jobs::new(JOBS, &mut numbers);
    let mut scheduler = Scheduler::new(jobs, numbers);
    let end = scheduler.run(&mut bank);
    let done = scheduler.done();
    eprintln!("{done:?}");
    // The day was as bad as it was meant to be.
    assert!(done.kills >= 5 && done.restarts >= 3, "{done:?}");
    assert!(done.repeated > 20 && done.resent > 20, "{done:?}");
    assert!(done.longer > 1000 && done.lost_deletes > 1000, "{done:?}");

    bank.set_clock(end + AFTERWARDS_S);
    let look = "SELECT count(*) FROM instance WHERE closed_at IS NULL";
    until("every instance is closed", || {
        bank.bank_ok(&["status"]);
        (bank.query(look) == [["0"]]).then_some(())
    });
    as_the_jobs_ran(&bank, scheduler.jobs());
    bank.verify();
}

/// The ledger against the truth.
fn as_the_jobs_ran(bank: &Bank, jobs: &Jobs) {
    let sql = "SELECT object_id, sum(usage.charged_s), sum(usage.amount), count(DISTINCT instance) \
               FROM usage JOIN instance ON usage.instance = instance.id \
               GROUP BY object_id ORDER BY object_id";
    let found = bank.query(sql);
    assert_eq!(found.len(), jobs.all().len(), "every job was charged");
    let mut total = 0;
    for (row, job) in found.iter().zip(jobs.all()) {
        let credits = job.ran_s * job.processors;
        let truth = [
            job.id(),
            job.ran_s.to_string(),
            credits.to_string(),
            "1".to_owned(),
        ];
        assert_eq!(*row, truth, "{job:?}");
        total += credits;
    }
    let sql = "SELECT sum(allocation.amount), sum(allocation.held) FROM allocation \
               JOIN account ON account.id = allocation.account WHERE account.name = 'chemistry'";
    let left = (PLENTY - total).to_string();
    assert_eq!(bank.query(sql), [[left, "0".to_owned()]]);
    let held = "SELECT count(*) FROM lien_allocation WHERE amount > 0";
    assert_eq!(bank.query(held), [["0"]]);
}
