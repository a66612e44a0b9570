//! Changes that change nothing, switches without a value, changes of an object in the journal, and the payers and
//! refunds of a charge.

use crate::harness::{Bank, Setup, T0, text};

fn run(bank: &Bank, line: &str) -> String {
    bank.bank_ok(&line.split(' ').collect::<Vec<_>>())
}

#[test]
fn a_change_that_changes_nothing_makes_no_transaction() {
    let mut bank = Setup::new().chemistry(10).start();
    run(&bank, "user set amy --email amy@x.example");
    run(&bank, "project members role chemistry amy manager");
    run(&bank, "account set chemistry --description all");
    let before = bank.transactions();
    let same = run(&bank, "user set amy --email amy@x.example");
    assert!(same.starts_with("user amy unchanged"), "{same}");
    assert!(!same.contains("transaction"), "{same}");
    run(&bank, "project members role chemistry amy manager");
    run(&bank, "account set chemistry --description all");
    run(&bank, "machine set colony --active yes");
    assert_eq!(bank.transactions(), before);
    let other = run(&bank, "user set amy --email amy@y.example");
    assert!(other.starts_with("user amy changed"), "{other}");
    assert_eq!(bank.transactions(), before + 1);
    bank.verify();
}

/// Scripts of a site repeat their settings: rates, cycles and allocations that are so already stay as they are.
#[test]
fn rates_cycles_and_allocations_that_are_so_already_stay() {
    let mut bank = Setup::new().chemistry(10).start();
    run(&bank, "rate set VBR Memory 0.5 --per hour");
    run(
        &bank,
        "cycle add yearly --account chemistry --every year --amount 100",
    );
    run(&bank, "allocation set 2 --end 2040-01-01 --limit 5");
    let before = bank.transactions();
    for (line, first) in [
        (
            "rate set VBR Memory 0.5 --per hour",
            "rate 2 unchanged: VBR Memory 0.5 per hour",
        ),
        (
            "rate set VBR Memory 0.5 --per hour --from 2035-01-01",
            "rate 2 unchanged",
        ),
        (
            "cycle set yearly --amount 100 --every year",
            "cycle \"yearly\" unchanged",
        ),
        (
            "allocation set 2 --end 2040-01-01",
            "allocation 2 unchanged",
        ),
        ("allocation set 2 --limit 5", "allocation 2 unchanged"),
    ] {
        let same = run(&bank, line);
        assert!(same.starts_with(first), "{line}: {same}");
        assert!(!same.contains("transaction"), "{line}: {same}");
    }
    assert_eq!(bank.transactions(), before);
    // Each other value, unit of time or end makes a rate.
    for (line, first) in [
        ("rate set VBR Memory 0.5 --per day", "rate 3 set"),
        (
            "rate set VBR Memory 0.5 --per day --until 2040-01-01",
            "rate 4 set",
        ),
        (
            "rate set VBR Memory 0.6 --per day --until 2040-01-01",
            "rate 5 set",
        ),
        ("cycle set yearly --amount 101", "cycle \"yearly\" changed"),
        ("allocation set 2 --limit 6", "allocation 2 changed"),
    ] {
        let other = run(&bank, line);
        assert!(other.starts_with(first), "{line}: {other}");
    }
    assert_eq!(bank.transactions(), before + 5);
    bank.verify();
}

/// A pod has parts of a processor, and is charged for them; a job with none has one.
#[test]
fn parts_of_a_processor_are_charged_as_parts() {
    let mut bank = Setup::new().chemistry(10_000).start();
    bank.set_clock(T0 + 86_400);
    let record = |id: &str, processors: &str| {
        format!(
            r#"{{"source":"pods","id":"{id}","machine":"colony","project":"chemistry","user":"amy",{processors}"start":"2026-01-01T00:00:00Z","end":"2026-01-01T00:16:40Z"}}"#
        )
    };
    let lines = [
        record("half", r#""processors":0.5,"#),
        record("more", r#""processors":1.25,"#),
        record("zero", r#""processors":0,"#),
    ];
    let file = bank.folder().join("pods.jsonl");
    std::fs::write(&file, lines.join("\n")).unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap(), "--strict"]);
    for (id, charged) in [("half", "500"), ("more", "1250"), ("zero", "1000")] {
        let jobs = bank.items(&["jobs", "-u", "amy"]);
        let own = jobs.iter().find(|job| text(job, "job") == id).unwrap();
        assert_eq!(text(own, "charged"), charged, "{id}");
    }
    assert_eq!(bank.figures("chemistry").0, 10_000 - 2750);
    bank.verify();
}

/// An empty variable of a script (`--active "$x"`) must not switch anything on.
#[test]
fn a_switch_needs_a_value() {
    let mut bank = Setup::new().chemistry(10).start();
    run(&bank, "user set amy --active no");
    let before = bank.transactions();
    for line in [
        ["user", "set", "amy", "--active", ""],
        ["machine", "set", "colony", "--active", ""],
        ["project", "set", "chemistry", "--active", ""],
    ] {
        let ran = bank.bank(&line);
        assert_eq!(ran.exit, 2, "{line:?}: {}{}", ran.stdout, ran.stderr);
        ran.expect_stderr(&["active", "true or false is expected"]);
    }
    assert_eq!(bank.transactions(), before);
    let user: serde_json::Value = bank.json(&["user", "show", "amy"]);
    assert_eq!(user["active"], false);
    bank.verify();
}

#[test]
fn the_journal_of_an_object_has_its_changes() {
    let bank = Setup::new().chemistry(10).start();
    run(&bank, "machine add blue");
    run(&bank, "machine set blue --description small");
    run(&bank, "machine add blue2");
    run(&bank, "user add zoe");
    run(&bank, "project set chemistry --description x");
    let kinds = |option: &str, name: &str| -> Vec<String> {
        let rows = bank.items(&["journal", option, name]);
        rows.iter().map(|row| text(row, "op").to_owned()).collect()
    };
    assert_eq!(kinds("-m", "blue"), ["machine_add", "machine_set"]);
    assert_eq!(kinds("-u", "zoe"), ["user_add"]);
    let of_project = kinds("-A", "chemistry");
    assert!(
        of_project.contains(&"project_set".to_owned()),
        "{of_project:?}"
    );
    assert!(of_project.contains(&"deposit".to_owned()), "{of_project:?}");
}

#[test]
fn a_charge_names_every_account_that_paid() {
    let mut bank = Setup::new().chemistry(100).start();
    run(&bank, "account add chem-more --projects chemistry");
    run(&bank, "deposit chem-more 1000 --new");
    let charged = run(
        &bank,
        "charge Moab.1 --duration 300 --procs 1 -A chemistry -u amy -m colony",
    );
    for part in ["100 to chemistry", "200 to chem-more", "charged 300 "] {
        assert!(charged.contains(part), "no {part:?} in {charged}");
    }
    let json: serde_json::Value = bank.json(&[
        "charge",
        "Moab.2",
        "--duration",
        "30",
        "--procs",
        "1",
        "-A",
        "chemistry",
        "-u",
        "amy",
        "-m",
        "colony",
    ]);
    assert_eq!(json["paid_by"][0]["account"], "chem-more", "{json:#}");
    assert_eq!(json["paid_by"][0]["amount"], "30", "{json:#}");
    // A refund appears below the arithmetic of the charges.
    run(&bank, "refund Moab.1 50");
    let explained = run(&bank, "rate explain Moab.1");
    assert!(explained.contains("total 300 "), "{explained}");
    assert!(explained.contains("refunded 50 "), "{explained}");
    assert!(explained.contains("net 250 "), "{explained}");
    bank.verify();
}
