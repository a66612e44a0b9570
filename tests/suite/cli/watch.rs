//! Watching before enforcing (`bank what-if`), the clock (`bank clock`), and a journal that is
//! followed over a restart.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use crate::harness::{Bank, Documents, Request, Setup, T0, programs, until};

#[test]
fn what_if_shows_which_jobs_strict_would_have_refused() {
    let mut bank = Setup::new().chemistry(0).start();
    let documents = Documents::own();
    bank.bank_ok(&["project", "set", "chemistry", "--mode", "notional"]);
    bank.script("reserve", &documents.get(3)).expect(0, "");
    bank.script("charge", &documents.get(4)).expect(0, "");
    bank.set_clock(T0 + 3600);
    let answer = bank.json(&["what-if", "--days", "1", "-A", "chemistry", "-m", "colony"]);
    let job = &answer["items"][0];
    assert_eq!(job["code"], "insufficient_funds", "{answer}");
    assert_eq!(
        (&job["project"], &job["user"]),
        (&"chemistry".into(), &"amy".into())
    );
    assert_eq!(job["needed"], "57600", "{answer}");
    assert_eq!(
        (&job["available"], &job["used"]),
        (&"0".into(), &"28800".into())
    );
    let sums = &answer["projects"][0];
    assert_eq!(
        (&sums["jobs"], &sums["needed"]),
        (&1.into(), &"57600".into())
    );
    let screen = bank.bank_ok(&["what-if"]);
    assert!(
        screen.contains("57,600") && screen.contains("Used anyway"),
        "{screen}"
    );
    let none = bank.bank_ok(&["what-if", "-A", "physics"]);
    assert!(none.contains("refused nothing"), "{none}");
    assert_eq!(bank.bank(&["what-if", "-A", "nobody"]).exit, 4);
    assert_eq!(bank.bank(&["what-if", "--days", "0"]).exit, 1);
    bank.verify();
}

/// Case 97 through the daemon: nothing expires, it says so, and an operator may say that it is
/// right. A restart forgets nothing of it.
#[test]
fn a_clock_that_jumped_waits_for_an_operator() {
    let mut bank = Bank::new();
    bank.bank_ok(&["deposit", "physics", "77", "--end", "2026-03-01"]);
    let nothing = bank.bank(&["clock", "confirm"]);
    assert_eq!(nothing.exit, 1);
    nothing.expect_stderr(&["no clock jump"]);
    let year = 365 * 86_400;
    bank.set_clocks(T0 + year, T0 + 60);
    let held = |bank: &Bank| {
        until("the jump was seen", || {
            let status = bank.json(&["status"]);
            (status["clock"]["state"] == "held").then_some(status)
        })
    };
    let status = held(&bank);
    assert_eq!(
        status["clock"]["ledger"], "2026-01-01T00:01:00Z",
        "{status}"
    );
    assert!(bank.bank_ok(&["status"]).contains("bank clock confirm"));
    assert_eq!(bank.figures("physics").0, 1_000_077);
    assert!(bank.entries("expire").is_empty());
    let ready = bank.over_socket(&Request::get("/readyz"));
    assert_eq!(ready.status, 200, "{}", ready.text());
    bank.stop();
    bank.set_clocks(T0 + year + 60, T0 + 120);
    bank.start();
    held(&bank);
    assert_eq!(bank.figures("physics").0, 1_000_077);
    // A job goes on in the ledger's own time.
    bank.script("reserve", &Documents::own().get(3))
        .expect(0, "");

    let would = bank.bank_ok(&["clock", "confirm", "--dry-run"]);
    assert!(would.starts_with("dry run"), "{would}");
    held(&bank);
    let output = bank.bank_ok(&["clock", "confirm", "--note", "new year"]);
    assert!(
        output.contains("the clock is right: it is 2027-01-01"),
        "{output}"
    );
    assert_eq!(bank.json(&["status"])["clock"]["state"], "ok");
    assert_eq!(bank.figures("physics").0, 1_000_000);
    assert_eq!(bank.entries("expire").len(), 1);
    bank.verify();
}

#[test]
fn a_step_back_is_journalled_once() {
    let mut bank = Bank::new();
    bank.set_clock(T0 + 7200);
    bank.bank_ok(&["deposit", "physics", "1"]);
    bank.set_clock(T0);
    let steps = || bank.query("SELECT count(*) FROM entry WHERE kind = 'clock_back'");
    until("the step was seen", || (steps() == [["1"]]).then_some(()));
    let status = bank.json(&["status"]);
    assert_eq!(status["clock"]["state"], "behind", "{status}");
    bank.stop();
    bank.start();
    bank.bank_ok(&["deposit", "physics", "1"]);
    let steps = || bank.query("SELECT count(*) FROM entry WHERE kind = 'clock_back'");
    assert_eq!(steps(), [["1"]], "a restart tells it no second time");
    let recorded = "SELECT count(*) FROM tx a JOIN tx b ON b.id = a.id + 1 \
                    WHERE b.at_recorded < a.at_recorded";
    assert_eq!(bank.query(recorded), [["0"]]);
    bank.verify();
}

#[test]
fn a_followed_journal_outlives_the_daemon() {
    let mut bank = Bank::new();
    let mut command = Command::new(programs().bank());
    command
        .args([
            "journal", "--follow", "--kind", "deposit", "-a", "astro", "-P", "-n",
        ])
        .args(["--columns", "transaction,amount"])
        .env_clear()
        .env("HOME", bank.folder())
        .env("BANK_SERVER", format!("unix:{}", bank.socket().display()));
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut follower = command.spawn().unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    let mut next = || {
        let line = lines.next().unwrap().unwrap();
        line.split_once('|').unwrap().1.to_owned()
    };
    assert_eq!(next(), "50000");
    bank.bank_ok(&["deposit", "astro", "1"]);
    assert_eq!(next(), "1");
    for amount in ["2", "3"] {
        bank.stop();
        bank.start();
        bank.bank_ok(&["deposit", "astro", amount]);
        bank.kill();
        bank.start();
        assert_eq!(next(), amount);
    }
    bank.bank_ok(&["deposit", "astro", "4"]);
    assert_eq!(next(), "4");
    follower.kill().unwrap();
    follower.wait().unwrap();
    bank.verify();
}

/// A boundary that no rule lets be journalled is told, and later ones go on.
#[test]
fn a_stuck_boundary_is_shown_and_stops_nothing() {
    let bank = Bank::new();
    for (account, end) in [("astro", "2026-02-01"), ("physics", "2026-03-01")] {
        bank.bank_ok(&["deposit", account, "7", "--end", end]);
    }
    // What no number can take away: this ledger does not balance any more.
    let broken = "UPDATE allocation SET amount = -9223372036854775808 \
                  WHERE account = (SELECT id FROM account WHERE name = 'astro') \
                  AND end_at IS NOT NULL RETURNING id";
    let id = bank.query(broken)[0][0].clone();
    bank.set_clock(T0 + 90 * 86_400);
    until("the other window has ended", || {
        (bank.query("SELECT count(*) FROM entry WHERE kind = 'expire'") == [["1"]]).then_some(())
    });
    let status = bank.json(&["status"]);
    let stuck = &status["stuck"][0];
    assert_eq!(stuck["kind"], "allocation", "{status}");
    assert_eq!(stuck["id"].to_string(), id, "{status}");
    assert_eq!(
        (&stuck["code"], &status["stuck_total"]),
        (&"amount_overflow".into(), &1.into())
    );
    let screen = bank.bank_ok(&["status"]);
    assert!(screen.contains("stuck: allocation"), "{screen}");
    assert!(
        bank.log().contains("could not be journalled"),
        "{}",
        bank.log()
    );
    bank.bank_ok(&["deposit", "physics", "1"]);
}

/// A clock that stepped back and came right again shows a time that the daemon saw pass: no operator is needed.
#[test]
fn a_clock_that_stepped_back_may_come_right_again() {
    let mut bank = Bank::new();
    bank.bank_ok(&["deposit", "physics", "77"]);
    let seen = |bank: &Bank, state: &str, ledger: &str| {
        until("the clock was seen", || {
            let clock = &bank.json(&["status"])["clock"];
            (clock["state"] == state && clock["ledger"] == ledger).then_some(())
        });
    };
    bank.set_clocks(T0 + 60, T0 + 60);
    seen(&bank, "ok", "2026-01-01T00:01:00Z");
    bank.bank_ok(&["deposit", "physics", "1"]);
    bank.set_clocks(T0 - 7200, T0 + 61);
    seen(&bank, "behind", "2026-01-01T00:01:00Z");
    bank.set_clocks(T0 + 64, T0 + 64);
    seen(&bank, "ok", "2026-01-01T00:01:04Z");
    // A jump beyond what was seen to pass still waits.
    bank.set_clocks(T0 - 7200, T0 + 65);
    until("the step was seen", || {
        (bank.json(&["status"])["clock"]["state"] == "behind").then_some(())
    });
    bank.set_clocks(T0 + 86_400, T0 + 70);
    until("the jump was seen", || {
        (bank.json(&["status"])["clock"]["state"] == "held").then_some(())
    });
    bank.verify();
}
