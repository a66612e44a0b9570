//! Reserves and charges by hand, and liens.

use crate::export::sums::agree_exactly;
use crate::harness::{Bank, Ran, Setup, T0, amount, programs, text};

/// The job of these tests: 16 processors for amy of chemistry on the only machine.
const WHO: [&str; 6] = ["-A", "chemistry", "-u", "amy", "--procs", "16"];

fn reserve(bank: &Bank, job: &str, more: &[&str]) -> String {
    let wall = ["--wall", "1:00:00"];
    bank.bank_ok(&[&["reserve", job][..], &WHO, &wall, more].concat())
}

fn charge(bank: &Bank, job: &str, more: &[&str]) -> String {
    bank.bank_ok(&[&["charge", job][..], &WHO, more].concat())
}

#[test]
fn a_lien_is_placed_extended_and_given_back_by_hand() {
    let mut bank = Bank::new();
    let output = reserve(&bank, "j1", &[]);
    assert!(
        output.starts_with(
            "lien 1 holds 57,600 credits on chemistry for job j1 until 2026-01-01 01:10:00, \
             exclusive\ntransaction "
        ),
        "{output}"
    );
    assert_eq!(bank.figures("chemistry"), (100_000, 57_600, 42_400));
    let shown = bank.bank_ok(&["lien", "show", "1", "-P", "--columns", "job,amount,end"]);
    assert_eq!(shown, "job|amount|end\nj1|57600|2026-01-01T01:10:00Z\n");
    let output = bank.bank_ok(&["lien", "extend", "1", "--until", "2026-01-02"]);
    assert!(
        output.starts_with("lien 1 of job j1 holds 57,600 credits until 2026-01-02 00:00:00"),
        "{output}"
    );
    bank.set_clock(T0 + 7200);
    assert_eq!(bank.figures("chemistry").1, 57_600, "it holds on");
    bank.set_clock(T0 + 86_400 + 60);
    assert_eq!(bank.figures("chemistry").1, 0, "it has expired");
    bank.bank_ok(&["lien", "extend", "1", "--until", "2026-01-03"]);
    assert_eq!(bank.held(), [("chemistry".to_owned(), 57_600)]);
    let ran = bank.bank(&["lien", "rm", "1"]);
    assert_eq!(ran.exit, 2, "{}", ran.stderr);
    let output = bank.bank_ok(&["lien", "rm", "1", "--dry-run"]);
    assert!(output.starts_with("dry run, nothing written"), "{output}");
    assert_eq!(bank.figures("chemistry").1, 57_600);
    let output = bank.bank_ok(&["lien", "rm", "1", "--yes"]);
    assert!(
        output.starts_with("lien 1 of job j1 released, 57,600 credits are free"),
        "{output}"
    );
    assert_eq!(bank.figures("chemistry").1, 0);
    let ran = bank.bank(&["lien", "extend", "1", "--until", "2026-01-04"]);
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    ran.expect_stderr(&["lien 1 is released", "hint:", "bank reserve"]);
    bank.verify();
}

#[test]
fn a_job_is_charged_by_hand() {
    let mut bank = Bank::new();
    reserve(&bank, "j1", &[]);
    let output = charge(&bank, "j1", &["--duration", "600", "--interim"]);
    assert!(
        output.starts_with("charged 9,600 credits for job j1 to chemistry; balance 42,400 credits"),
        "{output}"
    );
    assert_eq!(bank.figures("chemistry"), (90_400, 48_000, 42_400));
    charge(&bank, "j1", &["--duration", "0:10:00"]);
    assert_eq!(bank.figures("chemistry"), (80_800, 0, 80_800));
    assert_eq!(text(&bank.job("j1"), "state"), "closed");
    let given = ["--amount", "25", "--itemisation", "broken node"];
    charge(&bank, "j2", &given);
    assert_eq!(bank.figures("chemistry").0, 80_775);
    let row = &bank.journal("charge")[2];
    assert_eq!(text(row, "reason"), "lien_missing itemisation=broken node");
    let screen = bank.bank_ok(&["explain", "j2"]);
    assert!(screen.contains("(without a hold"), "{screen}");
    assert!(!screen.contains("lien_missing"), "{screen}");
    // Of a job that is known nothing need be said again.
    reserve(&bank, "r1", &["--type", "reservation"]);
    let known = ["charge", "r1", "--type", "reservation", "--duration", "60"];
    let output = bank.bank_ok(&known);
    assert!(
        output.starts_with("charged 960 credits for reservation r1 to chemistry"),
        "{output}"
    );
    bank.bank_ok(&["deposit", "chemistry", "960"]);
    // Nothing that was used is lost, but a slip of the fingers is told.
    let ran = bank.bank(&[
        "charge",
        "m1",
        "-A",
        "chemistry",
        "-u",
        "amy",
        "-m",
        "nowhere",
        "--amount",
        "0",
    ]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    ran.expect_stderr(&["machine_unknown: no machine \"nowhere\""]);
    // Case 71: what other liens hold is not free.
    reserve(&bank, "j3", &[]);
    let ran = bank.bank(&[&["charge", "j4"][..], &WHO, &["--duration", "1800"]].concat());
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    ran.expect_stderr(&["charge_debt: debt 5625 against liens"]);
    bank.verify();
}

/// A person who names only the job means the one that is known, however long it is over. A new job needs its project.
#[test]
fn a_charge_long_after_the_end_is_of_the_known_job() {
    let mut bank = Bank::new();
    charge(&bank, "j1", &["--duration", "600"]);
    for (after, words, left) in [
        (300, &["--duration", "60"][..], 89_440),
        (3600, &["--duration", "60"], 88_480),
        (7200, &["--amount", "20", "--itemisation", "fee"], 88_460),
    ] {
        bank.set_clock(T0 + after);
        let ran = bank.bank(&[&["charge", "j1"], words].concat());
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        ran.expect_stderr(&["late_charge: the job was closed already"]);
        assert_eq!(bank.figures("chemistry").0, left, "{after}");
    }
    assert_eq!(bank.jobs().len(), 1);
    charge(&bank, "j1", &["--duration", "10"]);
    assert_eq!(bank.jobs().len(), 2, "with its project, it is a new use");
    agree_exactly(&bank);
    bank.verify();
}

#[test]
fn a_name_with_two_values_is_refused() {
    let bank = Bank::new();
    for (words, given) in [
        (
            ["--gres", "gpu=1", "--gres", "gpu=2"],
            "--gres gpu is given twice",
        ),
        (
            ["--gres", "gpu=1", "--gres", "GPU=2"],
            "--gres GPU is given twice",
        ),
        (
            ["-X", "Zone=a", "-X", "zone=b"],
            "--attribute zone is given twice",
        ),
    ] {
        for verb in [&["quote"][..], &["reserve", "j"], &["charge", "j"]] {
            let time = if verb[0] == "charge" {
                "--duration"
            } else {
                "--wall"
            };
            let ran = bank.bank(&[verb, &WHO, &[time, "10"], &words].concat());
            assert_eq!(ran.exit, 2, "{}", ran.stderr);
            ran.expect_stderr(&[given]);
        }
    }
}

/// Credits that came after the use do not pay for it, so that no lien keeps them from it.
#[test]
fn a_debt_for_the_time_before_the_credits_is_not_against_liens() {
    let mut bank = Bank::new();
    reserve(&bank, "j1", &[]);
    let early = ["--start", "2025-12-31 23:00", "--end", "2025-12-31 23:10"];
    let ran = bank.bank(&[&["charge", "j2"][..], &WHO, &early].concat());
    ran.expect_stderr(&["charge_debt: debt 9600"]);
    assert!(!ran.stderr.contains("against"), "{}", ran.stderr);
    // A use that would be over by now cannot begin.
    bank.set_clock(T0 + 86_400);
    let past = ["--wall", "10", "--start", "2026-01-01"];
    let ran = bank.bank(&[&["reserve", "j3"][..], &WHO, &past].concat());
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    ran.expect_stderr(&["window in past"]);
    bank.verify();
}

#[test]
fn the_site_determines_what_becomes_of_shortfall_and_overlap() {
    let mut bank = Setup::new()
        .env("BANKD_CHARGE_SHORTFALL", "reject")
        .env("BANKD_CHARGE_OVERLAP", "reject")
        .start();
    bank.set_clock(T0 + 86_400);
    let charge = |more: &[&str]| bank.bank(&[&["charge", "j"][..], &WHO, more].concat());
    let ran = charge(&["--duration", "2:00:00"]);
    assert_eq!(ran.exit, 3, "{}", ran.stderr);
    let ran = charge(&["--duration", "2:00:00", "--shortfall", "debt"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let window = |end| ["--start", "2026-01-01", "--end", end, "--shortfall", "debt"];
    assert_eq!(charge(&window("2026-01-01 00:10:00")).exit, 0);
    let ran = charge(&window("2026-01-01 00:20:00"));
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    ran.expect_stderr(&["billed already", "2026-01-01T00:10:00Z"]);
    bank.verify();
}

#[test]
fn a_quote_is_kept_for_the_job_that_names_it() {
    let mut bank = Bank::new();
    let words = [&["quote"][..], &WHO, &["--wall", "1:00:00", "--guarantee"]].concat();
    let quote = bank.json(&words);
    let tid = text(&quote, "tid");
    bank.set_clock(T0 + 1);
    bank.bank_ok(&["rate", "set", "VBR", "Processors", "2"]);
    reserve(&bank, "q", &["--quote", tid]);
    assert_eq!(
        bank.figures("chemistry").1,
        57_600,
        "the price of the quote"
    );
    charge(&bank, "q", &["--duration", "100", "--quote", tid]);
    assert_eq!(bank.figures("chemistry").0, 98_400);
    // It is used: today's price counts, and the answer says so.
    let ran = bank.bank(
        &[
            &["reserve", "r"][..],
            &WHO,
            &["--wall", "60", "--quote", tid],
        ]
        .concat(),
    );
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    ran.expect_stderr(&["quote_invalid"]);
    assert_eq!(bank.figures("chemistry").1, 1920);
    let ran = bank.bank(
        &[
            &["reserve", "r"][..],
            &WHO,
            &["--wall", "60", "--quote", "x"],
        ]
        .concat(),
    );
    assert_eq!(ran.exit, 4, "{}", ran.stderr);
    bank.verify();
}

/// The ledger clock of readers is that of the journal: it never shows less than was recorded.
#[test]
fn a_clock_that_steps_back_moves_no_balance() {
    let mut bank = Bank::new();
    let end = ["--end", "2026-01-01 00:10:00"];
    bank.bank_ok(&[&["deposit", "chemistry", "7"][..], &end].concat());
    assert_eq!(bank.figures("chemistry").0, 100_007);
    bank.set_clock(T0 + 1200);
    bank.bank_ok(&["deposit", "chemistry", "1"]);
    bank.set_clock(T0);
    let row = bank.account("chemistry");
    assert_eq!(amount(&row, "amount"), 100_001);
    let row = &bank.items(&["balance", "chemistry"])[0];
    assert_eq!(text(row, "at"), "2026-01-01T00:20:00Z");
    bank.verify();
}

/// What `bad_input` has no row for.
#[test]
fn bad_input_has_one_line_its_exit_code_and_no_effect() {
    let mut bank = Bank::new();
    reserve(&bank, "j", &[]);
    let before = bank.transactions();
    let who = ["-A", "chemistry", "-u", "amy", "--procs", "1"];
    let reserve = ["reserve", "k"];
    let charge = ["charge", "k"];
    for (words, exit, parts) in [
        (
            [&reserve[..], &who, &["--wall", "9999999999"]],
            2,
            "ten years",
        ),
        (
            [&reserve, &who, &["--wall", "10", "--end", "2025"]],
            2,
            "2025",
        ),
        (
            [&reserve, &who, &["--wall", "10", "--end", "2025-01-01"]],
            1,
            "start",
        ),
        (
            [&reserve, &who, &["--wall", "10", "--type", "task"]],
            1,
            "job or reservation",
        ),
        (
            [&["reserve", ""], &who, &["--wall", "10"]],
            2,
            "id of the job",
        ),
        ([&charge, &who, &[]], 2, "the duration is missing"),
        ([&charge, &who, &["--duration", "1.5"]], 2, "1.5"),
        (
            [&["charge", "nosuch"], &[], &["--duration", "10"]],
            4,
            "no job",
        ),
        (
            [&charge, &who, &["--start", "2026", "--end", "2025"]],
            2,
            "2026",
        ),
        (
            [&["lien", "extend"], &["1"], &["--until", "2025-01-01"]],
            1,
            "in the past",
        ),
        (
            [&["lien", "extend"], &["1"], &["--until", "infinity"]],
            1,
            "--until",
        ),
    ] {
        let words = words.concat();
        let ran = bank.bank(&words);
        assert_eq!(ran.exit, exit, "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(parts), "{words:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{words:?}");
    }
    assert_eq!(bank.transactions(), before, "nothing of it is written");
    bank.verify();
}

#[test]
fn a_repeat_under_its_key_charges_once() {
    let mut bank = Bank::new();
    for _ in 0..2 {
        charge(&bank, "j1", &["--duration", "10", "--key", "once"]);
        reserve(&bank, "j2", &["--key", "hold"]);
    }
    assert_eq!(bank.figures("chemistry"), (99_840, 57_600, 42_240));
    let again = [
        &["charge", "j1"][..],
        &WHO,
        &["--duration", "11", "--key", "once"],
    ]
    .concat();
    assert_eq!(bank.bank(&again).exit, 7);
    bank.verify();
}

/// Also where the sum of the allocation was changed with it: the journal has the amount.
#[test]
fn a_lien_with_another_amount_is_found() {
    let mut bank = Bank::new();
    reserve(&bank, "j1", &[]);
    bank.stop();
    let open = rusqlite::Connection::open(bank.data().join("bank.db")).unwrap();
    let verify = || {
        let mut command = std::process::Command::new(programs().bankd());
        command.arg("verify").arg("--data").arg(bank.data());
        Ran::of(&mut command, b"")
    };
    assert_eq!(verify().exit, 0);
    let held = "UPDATE lien_allocation SET amount = amount";
    let sums = "UPDATE allocation SET held = held";
    for (change, back) in [
        (format!("{held} + 1"), format!("{held} - 1")),
        (
            format!("{held} - 1; {sums} - 1 WHERE held > 0"),
            format!("{held} + 1; {sums} + 1 WHERE held > 0"),
        ),
        ("DELETE FROM lien_allocation".to_owned(), String::new()),
    ] {
        open.execute_batch(&change).unwrap();
        let ran = verify();
        assert_eq!(ran.exit, 1, "{change}: {}", ran.stdout);
        let text = "lien 1: its hold on allocation ";
        assert!(ran.stdout.contains(text), "{change}: {}", ran.stdout);
        open.execute_batch(&back).unwrap();
    }
}
