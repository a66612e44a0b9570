//! Other accounts than the one named: the fallback account, the suspense account, and the mode in
//! which no account pays.

use std::process::Command;

use crate::harness::{Bank, Documents, Ran, Setup, T0, amount, programs, text};

fn freecycle(held: i64) -> [(String, i64); 1] {
    [("freecycle".to_owned(), held)]
}

pub(super) fn nami_case_33_the_scheduler_falls_back(documents: &Documents) {
    let mut bank = Setup::new().chemistry(57_599).start();
    bank.script("reserve", &documents.get(3)).expect(78, "");
    bank.script("reserve", &documents.get(32)).expect(0, "");
    assert_eq!(bank.held(), freecycle(57_600));
    assert_eq!(bank.figures("chemistry"), (57_599, 0, 57_599));
    bank.verify();
}

pub(super) fn nami_case_34_another_account_replaces_the_lien(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("reserve", &documents.get(3)).expect(0, "");
    bank.script("reserve", &documents.get(32)).expect(0, "");
    assert_eq!(bank.held(), freecycle(57_600));
    let replaced = bank.journal("lien_replace");
    assert_eq!(replaced.len(), 1);
    let row = &replaced[0];
    assert_eq!(
        (text(row, "account"), amount(row, "held")),
        ("chemistry", -57_600)
    );
    assert_eq!(bank.figures("chemistry"), (100_000, 0, 100_000));
    bank.verify();
}

pub(super) fn nami_case_35_the_bank_falls_back(documents: &Documents) {
    let setup = Setup::new().chemistry(0).env("BANKD_FALLBACK_MODE", "bank");
    let mut bank = setup.start();
    bank.bank_ok(&["account", "set", "chemistry", "--fallback", "freecycle"]);
    let ran = bank.script("reserve", &documents.get(3));
    ran.expect(0, "")
        .expect_stderr(&["fallback", "chemistry is short", "on freecycle"]);
    assert_eq!(bank.held(), freecycle(57_600));
    bank.script("charge", &documents.get(4)).expect(0, "");
    assert_eq!(bank.debits(), freecycle(28_800));
    assert_eq!(bank.held(), freecycle(28_800));
    assert_eq!(bank.figures("chemistry"), (0, 0, 0));
    for kind in ["lien", "charge"] {
        let rows = bank.journal(kind);
        assert!(
            text(&rows[0], "reason").contains("fallback_from=chemistry"),
            "{rows:?}"
        );
    }
    assert_eq!(text(&bank.job("Moab.1024"), "fallback_from"), "chemistry");
    bank.verify();
}

/// The scheduler's own sequence: a test lien on arrival, the reserve again at the start; refused,
/// and asked again under the fallback account with the same id (nami.md 5).
#[test]
fn a_test_on_arrival_and_the_fallback_at_the_start() {
    let documents = Documents::own();
    let mut bank = Setup::new().chemistry(57_600).start();
    bank.script("reserve", &documents.get(3)).expect(0, "");
    assert_eq!(bank.held(), [("chemistry".to_owned(), 57_600)]);
    // The test lien is over before the job starts, and the money is gone by then.
    bank.set_clock(T0 + 11_401);
    bank.bank_ok(&["withdraw", "chemistry", "600"]);
    bank.script("reserve", &documents.get(3)).expect(78, "");
    bank.script("reserve", &documents.get(32)).expect(0, "");
    assert_eq!(bank.held(), freecycle(57_600));
    // The resource manager goes on naming chemistry.
    bank.script("charge", &documents.get(4)).expect(0, "");
    assert_eq!(bank.debits(), freecycle(28_800));
    assert_eq!(bank.figures("chemistry"), (57_000, 0, 57_000));
    let report = bank.json(&["report", "fallback", "--from", "2026-01-01"]);
    let row = &report["items"][0];
    let shown = ["job", "project", "from", "to", "by", "user"].map(|key| text(row, key));
    assert_eq!(
        shown,
        [
            "Moab.1024",
            "chemistry",
            "chemistry",
            "freecycle",
            "scheduler",
            "amy"
        ]
    );
    let figures = ["needed", "available", "held", "charged"].map(|key| amount(row, key));
    assert_eq!(figures, [57_600, 57_000, 57_600, 28_800]);
    let csv = bank.bank_ok(&[
        "report",
        "fallback",
        "--csv",
        "--columns",
        "job,from,to,charged",
    ]);
    assert_eq!(
        csv,
        "job,from,to,charged\nMoab.1024,chemistry,freecycle,28800\n"
    );
    for nobody in [["-A", "physics"], ["-u", "ops"], ["--to", "2026-01-01"]] {
        let shown = bank.bank_ok(&[&["report", "fallback"][..], &nobody].concat());
        assert!(
            shown.contains("no jobs ran on fallback accounts"),
            "{shown}"
        );
    }
    bank.verify();
}

#[test]
fn the_report_shows_when_the_bank_stepped_in() {
    let documents = Documents::own();
    let setup = Setup::new()
        .chemistry(100)
        .env("BANKD_FALLBACK_MODE", "bank");
    let mut bank = setup.start();
    bank.bank_ok(&["machine", "set", "colony", "--fallback", "freecycle"]);
    bank.script("reserve", &documents.get(3)).expect(0, "");
    bank.script("charge", &documents.get(4)).expect(0, "");
    let rows = bank.journal("lien");
    let reason = text(&rows[0], "reason");
    assert!(
        reason.contains("fallback_from=chemistry needed=57600 available=100"),
        "{reason}"
    );
    let report = bank.json(&["report", "fallback"]);
    let row = &report["items"][0];
    let values = ["from", "to", "by"].map(|key| text(row, key));
    assert_eq!(values, ["chemistry", "freecycle", "bank"]);
    let figures = ["needed", "available", "held", "charged"].map(|key| amount(row, key));
    assert_eq!(figures, [57_600, 100, 57_600, 28_800]);
    // The fallback account is short too.
    bank.bank_ok(&["withdraw", "freecycle", "942400"]);
    let another = documents.with(3, &[("Moab.1024", "Moab.1025")]);
    bank.script("reserve", &another).expect(78, "");
    bank.verify();
}

/// The project gets money while the job runs, so that its next lien is on its own account. The journal then has the name of
/// that account only, which may have blanks.
#[test]
fn the_report_keeps_a_job_that_returned_to_its_own_account() {
    for own in ["chemistry", "money of 2026"] {
        let setup = Setup::new()
            .chemistry(1000)
            .env("BANKD_FALLBACK_MODE", "bank");
        let mut bank = setup.start();
        if own != "chemistry" {
            bank.bank_ok(&["account", "set", "chemistry", "--projects", "physics"]);
            bank.bank_ok(&["account", "add", own, "--projects", "chemistry"]);
            bank.bank_ok(&["deposit", own, "1000"]);
        }
        bank.bank_ok(&["machine", "set", "colony", "--fallback", "freecycle"]);
        let job = |command: &str, more: &[&str]| {
            let whose = ["j", "-A", "chemistry", "-u", "amy", "-m", "colony"];
            bank.bank_ok(&[&[command], &whose[..], &["--procs", "1"], more].concat())
        };
        job("reserve", &["--wall", "2:00:00"]);
        job("charge", &["--interim", "--duration", "600"]);
        bank.set_clock(T0 + 900);
        bank.bank_ok(&["deposit", own, "50000"]);
        job("reserve", &["--wall", "1:00:00"]);
        job("charge", &["--duration", "300"]);
        assert_eq!(bank.figures(own).0, 51_000 - 300);
        let report = bank.json(&["report", "fallback"]);
        let row = &report["items"][0];
        let values = ["from", "to", "by"].map(|key| text(row, key));
        assert_eq!(values, [own, "freecycle", "bank"]);
        assert_eq!(amount(row, "charged"), 600);
        bank.verify();
    }
}

/// Money was short at a charge, not at a reserve: the report has who covered it too, as long as it stays covered.
#[test]
fn the_report_shows_charges_that_were_covered() {
    let mut bank = Setup::new().chemistry(100).start();
    bank.bank_ok(&["machine", "set", "colony", "--fallback", "freecycle"]);
    let charge = |job: &str, project: &str, seconds: u32| {
        let whose = format!("-A {project} -u amy -m colony --shortfall fallback");
        let line = format!("charge {job} --procs 1 --duration {seconds} --interim {whose}");
        bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
    };
    charge("own", "chemistry", 40);
    charge("half", "chemistry", 500);
    charge("half", "chemistry", 7);
    let report = |bank: &Bank| bank.json(&["report", "fallback", "-A", "chemistry"]);
    let rows = report(&bank);
    let [row] = rows["items"].as_array().unwrap().as_slice() else {
        panic!("{rows}");
    };
    let values = ["job", "from", "to", "by"].map(|key| text(row, key));
    assert_eq!(values, ["half", "chemistry", "freecycle", "bank"]);
    // 500 and 7 were needed, 60 were there.
    let figures = ["needed", "available", "held", "charged"].map(|key| amount(row, key));
    assert_eq!(figures, [507, 60, 0, 447]);
    // Whoever the job is for later, that account was short.
    bank.bank_ok(&["deposit", "physics", "1000"]);
    charge("half", "physics", 9);
    assert_eq!(report(&bank), rows);
    let before = bank.json(&["report", "fallback", "--to", "2025-12-31"]);
    assert_eq!(before["items"].as_array().unwrap().len(), 0, "{before}");
    bank.bank_ok(&["refund", "half"]);
    let none = report(&bank);
    assert_eq!(none["items"].as_array().unwrap().len(), 0, "{none}");
    bank.verify();
}

/// What a job's total is said to be made of makes the total: at the price that counted there, and
/// not at all where its charges differ in size.
#[test]
fn a_jobs_total_is_explained_at_the_price_that_counted() {
    let documents = Documents::own();
    let setup = Setup::new()
        .chemistry(100)
        .env("BANKD_FALLBACK_MODE", "bank");
    let mut bank = setup.start();
    let colony = ["machine", "set", "colony", "--fallback", "freecycle"];
    bank.bank_ok(&[&colony[..], &["--fallback-qos", "low"]].concat());
    bank.bank_ok(&["rate", "set", "NBM", "QualityOfService", "low", "0.5"]);
    bank.bank_ok(&["rate", "set", "NBM", "QualityOfService", "high", "3"]);
    let high = (">normal<", ">high<");
    bank.script("reserve", &documents.with(3, &[high]))
        .expect(0, "");
    bank.script("charge", &documents.with(4, &[high]))
        .expect(0, "");
    let job = bank.bank_ok(&["jobs", "Moab.1024"]);
    assert!(
        job.contains("14,400 = 16 × 1,800 s × 0.5 (qos low)"),
        "{job}"
    );
    let fewer = ("<Processors>16</Processors>", "<Processors>5</Processors>");
    bank.script("charge", &documents.with(4, &[high, fewer]))
        .expect(0, "");
    let job = bank.bank_ok(&["jobs", "Moab.1024"]);
    let differ = "18,900 = sum of the charges, which differ in size or rates";
    assert!(job.contains(differ), "{job}");
    bank.verify();
}

/// A chain that no command lets in, but an older bank may have, stops the start.
#[test]
fn a_chain_of_fallbacks_stops_the_start() {
    let mut bank = Bank::new();
    bank.bank_ok(&["account", "set", "chemistry", "--fallback", "physics"]);
    let ran = bank.bank(&["account", "set", "physics", "--fallback", "freecycle"]);
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    ran.expect_stderr(&["fallback"]);
    bank.stop();
    bank.query("UPDATE account SET fallback = 'freecycle' WHERE name = 'physics'");
    let serve = |mode: &str| {
        let mut command = Command::new(programs().bankd());
        command.args(["serve", "--data"]).arg(bank.data());
        command.env("BANKD_FALLBACK_MODE", mode);
        command.env("BANKD_TEST_CLOCK", bank.clock());
        command
    };
    let ran = Ran::of(&mut serve("bank"), b"");
    assert_ne!(ran.exit, 0);
    ran.expect_stderr(&["account physics is a fallback account and has a fallback itself"]);
    // With the scheduler's own fallback it starts, and can be put right.
    bank.start();
    bank.bank_ok(&["account", "set", "physics", "--fallback", ""]);
    bank.verify();
}

pub(super) fn nami_case_37_an_unknown_account_is_unbilled(documents: &Documents) {
    let mut bank = Bank::new();
    let ran = bank.script("charge", &documents.get(35));
    ran.expect(0, "")
        .expect_stderr(&["warning", "unbilled", "nosuch"]);
    assert_eq!(bank.debits(), [("chemistry".to_owned(), 60)]);
    assert_eq!(bank.entries("charge_debt"), [("#unbilled".to_owned(), -60)]);
    assert_eq!(text(&bank.job("Moab.11"), "outcome"), "unbilled");
    let unbilled = &bank.json(&["status"])["unbilled"];
    assert_eq!(
        (unbilled["count"].as_i64(), amount(unbilled, "amount").abs()),
        (Some(1), 60)
    );
    bank.verify();
}

pub(super) fn nami_case_51_track_refuses_nothing(documents: &Documents) {
    let mut bank = Setup::new().chemistry(0).start();
    bank.bank_ok(&["machine", "set", "colony", "--mode", "track"]);
    bank.script("reserve", &documents.get(3)).expect(0, "");
    assert_eq!(bank.figures("chemistry"), (0, 0, 0));
    assert_eq!(amount(&bank.account("chemistry"), "shadow_held"), 57_600);
    let liens = bank.liens();
    assert_eq!(liens.len(), 1, "{liens:?}");
    assert_eq!(
        (liens[0]["shadow"].as_bool(), amount(&liens[0], "amount")),
        (Some(true), 57_600)
    );
    let refused = bank.journal("would_refuse");
    assert_eq!(refused.len(), 1, "{refused:?}");
    let reason = text(&refused[0], "reason");
    assert!(
        reason.contains("57600") && reason.contains("insufficient_funds"),
        "{reason}"
    );
    bank.verify();
}
