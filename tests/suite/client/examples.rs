//! The examples of the crate, as the documentation shows them.

use super::run;
use crate::harness::Bank;

fn socket(bank: &Bank) -> String {
    format!("unix:{}", bank.socket().display())
}

/// Input: a deposit of 250 into an account with 50,000. Expected: the balance, and the server that answered.
#[test]
fn deposit_and_balance() {
    let bank = Bank::new();
    let servers = format!("unix:{}/none,{}", bank.folder().display(), socket(&bank));
    let ran = run("deposit", &[&servers, "astro", "250"]);
    let expected = format!(
        "deposited 250 credits\nastro: balance 50250, available 50250\nanswered by {}\n",
        socket(&bank)
    );
    assert_eq!(
        (ran.stdout.as_str(), ran.exit),
        (expected.as_str(), 0),
        "{}",
        ran.stderr
    );
    let ran = run("deposit", &[&socket(&bank), "nothing", "250"]);
    assert_eq!(ran.exit, 1);
    assert!(ran.stderr.contains("no account nothing"), "{}", ran.stderr);
}

/// Two jobs while the daemon is away, then a run without jobs: both are charged.
#[test]
fn charges_wait_for_the_daemon() {
    let mut bank = Bank::new();
    let folder = bank.folder().join("queue");
    let server = socket(&bank);
    let words = [
        &server,
        folder.to_str().unwrap(),
        "colony",
        "chemistry",
        "amy",
    ];
    bank.stop();
    let ran = run("charge", &[&words[..], &["job.1", "job.2"]].concat());
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let begin =
        "queued job.1\nqueued job.2\n0 done, 0 refused, 2 left\nlater: cannot reach the daemon";
    assert!(ran.stdout.starts_with(begin), "{}", ran.stdout);
    bank.start();
    let ran = run("charge", &words);
    assert!(
        ran.stdout.ends_with("2 done, 0 refused, 0 left\n"),
        "{}",
        ran.stdout
    );
    let jobs = bank.bank_ok(&["jobs", "--csv", "--columns", "job,state"]);
    assert!(jobs.contains("job.1") && jobs.contains("job.2"), "{jobs}");
    // A job without a name is refused, and its command is kept with the answer.
    let ran = run("charge", &[&words[..], &[""]].concat());
    assert!(
        ran.stdout.contains("0 done, 1 refused, 0 left"),
        "{}",
        ran.stdout
    );
    let kept = std::fs::read_dir(folder.join("refused")).unwrap().count();
    assert_eq!(kept, 2, "the command and its answer");
    bank.verify();
}
