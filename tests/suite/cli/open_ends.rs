//! What people read of use, of the past, and of jobs: nothing is left out in silence.

use crate::harness::{Bank, Ran, Setup, T0, programs, until};
use std::process::Command;

/// Runs a line that succeeds.
#[track_caller]
fn ok(bank: &Bank, line: &str) -> String {
    bank.bank_ok(&line.split_whitespace().collect::<Vec<_>>())
}

fn run(bank: &Bank, line: &str) -> Ran {
    bank.bank(&line.split_whitespace().collect::<Vec<_>>())
}

#[test]
fn used_is_what_charges_took() {
    let mut bank = Setup::new().chemistry(1000).start();
    ok(&bank, "withdraw chemistry 400");
    let figures = "balance chemistry -P -n --columns deposited,used,amount,allocated";
    assert_eq!(ok(&bank, figures), "1000|0|600|600\n");
    ok(&bank, "charge j -A chemistry -u amy --procs 1 --wall 100");
    ok(&bank, "refund j 30 --note late");
    assert_eq!(ok(&bank, figures), "1000|70|530|600\n");
    // The share is that of what was allocated.
    let output = ok(&bank, "balance chemistry");
    assert!(output.contains(" 12%"), "{output}");
    bank.verify();
}

#[test]
fn ledger_case_094_a_balance_as_it_was_through_bank() {
    let mut bank = Setup::new().chemistry(1000).start();
    let at = |seconds: i64| T0 + seconds;
    let ids = ok(&bank, "allocation ls -a chemistry -P -n --columns id");
    let id = ids.trim();
    bank.set_clock(at(100));
    ok(&bank, &format!("allocation set {id} --limit 70"));
    bank.set_clock(at(200));
    ok(
        &bank,
        &format!("allocation set {id} --end 2026-01-01T00:03:20Z"),
    );
    bank.set_clock(at(300));
    ok(&bank, "account rm chemistry --force --yes");
    bank.set_clock(at(400));
    for (time, expected) in [
        ("00:00:50", Some("chemistry|1000|0|1000")),
        ("00:02:00", Some("chemistry|1000|70|1070")),
        ("00:04:00", Some("chemistry|0|0|0")),
        ("00:06:00", None),
    ] {
        let line = format!(
            "balance --at 2026-01-01T{time}Z -P -n --columns account,amount,credit_limit,available"
        );
        let rows = ok(&bank, &line);
        let own = rows.lines().find(|row| row.starts_with("chemistry|"));
        assert_eq!(own, expected, "{time}");
    }
    let gone = "balance chemistry --at 2026-01-01T00:00:50Z -P -n --columns amount";
    assert_eq!(ok(&bank, gone), "1000\n");
    bank.verify();
}

#[test]
fn separated_values_tell_accounts_of_one_project_apart() {
    let mut bank = Bank::new();
    let only = ok(&bank, "balance chemistry -P");
    assert!(
        only.starts_with("project|deposited|used|held|available|until\n"),
        "{only}"
    );
    ok(&bank, "account add spare --projects chemistry");
    for form in ["-P", "--csv"] {
        let output = ok(&bank, &format!("balance chemistry {form}"));
        let sign = if form == "-P" { '|' } else { ',' };
        let lasts: Vec<&str> = output
            .lines()
            .filter_map(|l| l.rsplit(sign).next())
            .collect();
        assert_eq!(lasts, ["account", "chemistry", "spare"], "{output}");
    }
    bank.verify();
}

#[test]
fn an_id_on_two_machines_is_ambiguous() {
    let mut bank = Bank::new();
    ok(&bank, "machine add blue");
    for machine in ["colony", "blue"] {
        let line = format!("charge 42 -A chemistry -u amy -m {machine} --procs 1 --wall 10");
        ok(&bank, &line);
    }
    for line in ["jobs 42", "rate explain 42"] {
        let ran = run(&bank, line);
        assert_eq!(ran.exit, 1, "{line}: {}", ran.stdout);
        ran.expect_stderr(&["job 42 on blue", "job 42 on colony", "-m"]);
    }
    let output = ok(&bank, "jobs 42 -m blue");
    assert!(output.contains("  blue  "), "{output}");
    bank.verify();
}

#[test]
fn one_charge_for_all_is_final_and_shows_the_given_amount() {
    let mut bank = Bank::new();
    ok(&bank, "charge a -A chemistry -u amy --procs 1 --wall 100");
    let output = ok(&bank, "jobs a");
    assert!(output.contains("final,  100 s\n"), "{output}");
    bank.bank_ok(&[
        "charge",
        "b",
        "-A",
        "chemistry",
        "-u",
        "amy",
        "--amount",
        "30",
        "--itemisation",
        "3 nodes, by hand",
    ]);
    let output = ok(&bank, "jobs b");
    assert!(output.contains("as given: 3 nodes, by hand\n"), "{output}");
    assert!(output.contains("= amounts as given\n"), "{output}");
    let output = ok(&bank, "rate explain b");
    assert!(output.contains("\n  3 nodes, by hand\n"), "{output}");
    bank.verify();
}

#[test]
fn the_journal_filters_by_kind_and_shows_expiries() {
    let mut bank = Bank::new();
    let ran = run(&bank, "journal --kind depost");
    assert_eq!(ran.exit, 2, "{}", ran.stdout);
    ran.expect_stderr(&["no kind \"depost\"", "did you mean \"deposit\"?"]);
    assert_eq!(
        ok(&bank, "journal --kind account_add -n -P")
            .lines()
            .count(),
        0
    );
    ok(&bank, "deposit chemistry 500 --end 2026-01-02");
    bank.set_clock(T0 + 86_400);
    let output = ok(&bank, "journal --kind expire");
    assert!(output.contains("active"), "{output}");
    assert!(output.contains("−500"), "{output}");
    bank.verify();
}

#[test]
fn a_replay_counts_what_it_leaves_out_and_separates_shadow_money() {
    let mut bank = Bank::new();
    ok(&bank, "charge a -A chemistry -u amy --procs 2 --wall 100");
    ok(&bank, "project set chemistry --mode notional");
    ok(&bank, "charge b -A chemistry -u amy --procs 1 --wall 50");
    ok(&bank, "project set chemistry --mode strict");
    // By the rate that is proposed its price leaves the range.
    ok(
        &bank,
        "charge c -A chemistry -u amy --procs 1 --wall 1 -X Huge=9000000000000000",
    );
    bank.set_clock(T0 + 60);
    let replay = |more: &[&str]| {
        let words = [
            "rate",
            "test",
            "--replay",
            "last-30-days",
            "--rate",
            "VBR Processors 3",
            "--rate",
            "VBR Huge 999999999",
        ];
        bank.bank_ok(&[&words[..], more].concat())
    };
    let output = replay(&[]);
    for part in ["left out: 1 job ", "total in shadow"] {
        assert!(output.contains(part), "no {part} in {output}");
    }
    let output = replay(&["--json"]);
    let answer: serde_json::Value = serde_json::from_str(&output).unwrap();
    let of = |row: &serde_json::Value| {
        let field = |name: &str| row[name].as_str().unwrap().to_owned();
        (
            field("billed"),
            field("proposed"),
            row["charges"].as_i64().unwrap(),
        )
    };
    let replay = &answer["replay"];
    assert_eq!(of(&replay["total"]), ("200".into(), "600".into(), 1));
    assert_eq!(of(&replay["shadow_total"]), ("50".into(), "150".into(), 1));
    assert_eq!(replay["left_out"], 1);
    bank.verify();
}

/// What each statement breaks, `verify` finds, and where the journal itself is wrong nothing is
/// served.
#[test]
fn what_was_changed_behind_the_journal_is_found() {
    let bankd = |bank: &Bank, word: &str| {
        let mut command = Command::new(programs().bankd());
        command.args([word, "--data"]).arg(bank.data());
        Ran::of(&mut command, b"")
    };
    for (change, finding, is_served) in [
        (
            "UPDATE allocation SET used = 7 WHERE id = 2",
            "allocation 2: used is 7",
            true,
        ),
        (
            "UPDATE allocation SET deposited = 7 WHERE id = 2",
            "allocation 2: deposited is 7",
            true,
        ),
        (
            "UPDATE allocation SET end_at = 7 WHERE id = 2",
            "allocation 2: its window differs",
            true,
        ),
        (
            "UPDATE allocation SET credit_limit = 7 WHERE id = 2",
            "allocation 2: credit limit is 7; the journal has 0",
            true,
        ),
        (
            "UPDATE account SET deleted = 1 WHERE id = 2",
            "account 2: it is removed",
            true,
        ),
        (
            "UPDATE shape SET credit_limit = 7 WHERE allocation = 2",
            "its hash is wrong",
            false,
        ),
        (
            "UPDATE presence SET there = 0 WHERE account = 2",
            "its hash is wrong",
            false,
        ),
        (
            "UPDATE tx SET reason = 'x' WHERE op = 'deposit'",
            "its hash is wrong",
            false,
        ),
    ] {
        let mut bank = Bank::new();
        bank.stop();
        for table in ["shape", "presence", "tx"] {
            bank.query(&format!("DROP TRIGGER {table}_no_update"));
        }
        bank.query(&format!("{change} RETURNING 1"));
        let ran = bankd(&bank, "verify");
        assert_eq!(ran.exit, 1, "{change}: {}", ran.stdout);
        let message = format!("{}{}", ran.stdout, ran.stderr);
        assert!(message.contains(finding), "{change}: {message}");
        if is_served {
            continue;
        }
        let ran = bankd(&bank, "serve");
        assert_eq!(
            (ran.exit, ran.stdout.as_str()),
            (1, ""),
            "{change}: {}",
            ran.stderr
        );
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        ran.expect_stderr(&[
            "bankd: ",
            "bank.db: transaction ",
            "its hash is wrong",
            "bankd verify",
        ]);
    }
}

/// Where allocations stand apart, a period of a cycle that another one meets waits, and is told.
#[test]
fn a_period_that_overlaps_another_allocation_is_reported() {
    let apart = Setup::new().env("BANKD_LEDGER_DISCRETE_ALLOCATIONS", "true");
    let mut bank = apart.start();
    for line in [
        "account add spare --projects chemistry",
        "cycle add monthly -a spare --every month --amount 10",
        "deposit spare 7 --start 2026-03-15 --end 2026-03-20",
    ] {
        ok(&bank, line);
    }
    bank.set_clock(T0 + 80 * 86_400);
    let stuck = until("March is met", || {
        let status = bank.json(&["status"]);
        status["stuck"].get(0).cloned()
    });
    assert_eq!(stuck["kind"], "cycle", "{stuck}");
    assert_eq!(stuck["code"], "allocation_overlap", "{stuck}");
    assert_eq!(stuck["name"], "monthly", "{stuck}");
    let screen = ok(&bank, "status");
    assert!(screen.contains("stuck: cycle monthly, due "), "{screen}");
    let periods = "allocation ls -a spare -P -n --columns deposited,until";
    assert_eq!(ok(&bank, periods), "7|2026-03-20\n10|2026-03-01\n");
    bank.verify();
}
