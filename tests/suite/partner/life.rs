//! The life of a job of a partner's project, as long as both banks answer.

use super::world::{World, job, name};
use crate::harness::{T0, amount, text};

/// The partner's project as a job names it.
fn project(bank: usize) -> String {
    format!("chemistry@{}", name(bank))
}

#[test]
fn a_job_is_quoted_reserved_and_charged_at_both_banks() {
    let mut world = World::new(2, &[]);
    let document = job("Moab.1", &project(1), 100);
    world.banks[0].script("quote", &document).expect(0, "200\n");
    // The credits of the project are at the other bank, and the limit of the partner's account is no part of them.
    let of = project(1);
    let asked = [
        "quote", "-A", &of, "-u", "amy", "--procs", "2", "--wall", "100",
    ];
    let quote = world.banks[0].json(&asked);
    assert_eq!(
        (text(&quote, "needed"), quote.get("available")),
        ("200", Some(&serde_json::Value::Null))
    );
    let shown = world.banks[0].bank_ok(&asked);
    assert!(
        shown.contains("the partner bank has its credits"),
        "{shown}"
    );
    world.banks[0].script("reserve", &document).expect(0, "");
    assert_eq!(world.banks[0].held(), [("owed-by-1".to_owned(), 200)]);
    assert_eq!(world.banks[1].held(), [("chemistry".to_owned(), 200)]);
    for bank in &world.banks {
        bank.set_clock(T0 + 100);
    }
    world.banks[0].script("charge", &document).expect(0, "");
    world.banks[0].script("delete", &document).expect(0, "");
    world.deliver();
    assert_eq!(world.banks[0].figures("owed-by-1"), (-200, 0, 49_800));
    assert_eq!(world.banks[1].figures("chemistry"), (99_800, 0, 99_800));
    assert!(world.banks[1].held().is_empty());
    // Each side names the transaction of the other.
    let here = world.banks[0].json(&["explain", "Moab.1"]);
    let sent = &here["items"].as_array().unwrap();
    let own = sent.iter().find(|one| text(one, "op") == "charge").unwrap();
    let entry = &own["counterparts"][0];
    assert_eq!(
        (amount(entry, "amount"), text(entry, "project")),
        (200, "chemistry")
    );
    let there = entry["counterpart"].as_i64().unwrap().to_string();
    let there = world.banks[1].json(&["explain", "-t", &there]);
    let other = &there["items"][0]["counterparts"][0];
    assert_eq!(other["counterpart"], own["transaction"]);
    assert_eq!(text(other, "partner"), name(0));
    // The explanation follows it.
    let followed = world.banks[0].bank_ok(&["explain", "Moab.1", "--partner"]);
    let charge = "charge  chemistry  amount −200  held −200\n";
    assert!(followed.contains(charge), "{followed}");
    let back = world.banks[1].bank_ok(&["explain", "Moab.1", "--partner"]);
    assert!(back.contains("owed-by-1  amount −200"), "{back}");
    world.settle();
}

#[test]
fn a_use_without_a_lien_ends_at_both_banks() {
    let mut world = World::new(2, &[]);
    let document = |id: &str| job(id, &project(1), 100);
    for bank in &world.banks {
        bank.set_clock(T0 + 100);
    }
    // One final charge, and an interim one before the end.
    let whose = ["-A", &project(1), "-u", "amy", "-m", "colony"];
    let work = ["charge", "Hand.1", "--procs", "2", "--duration", "100"];
    world.banks[0].bank_ok(&[&work[..], &whose].concat());
    world.banks[0]
        .script("charge", &document("Moab.3"))
        .expect(0, "");
    world.banks[0]
        .script("delete", &document("Moab.3"))
        .expect(0, "");
    world.deliver();
    for bank in &world.banks {
        for id in ["Hand.1", "Moab.3"] {
            let own = bank.json(&["jobs", id]);
            assert!(own["closed"].is_string(), "{own:#}");
        }
        crate::export::sums::agree(bank);
        let records = bank.bank_ok(&["export", "csv"]);
        assert_eq!(records.lines().count(), 3, "{records}");
    }
    world.settle();
}

#[test]
fn money_that_goes_back_here_goes_back_there() {
    let mut world = World::new(2, &[]);
    let document = job("Moab.2", &project(1), 100);
    world.banks[0].script("reserve", &document).expect(0, "");
    world.banks[0].set_clock(T0 + 100);
    world.banks[0].script("charge", &document).expect(0, "");
    world.banks[0].script("delete", &document).expect(0, "");
    world.banks[0].bank_ok(&["refund", "Moab.2", "50", "--note", "node failure"]);
    world.deliver();
    assert_eq!(world.banks[1].figures("chemistry").0, 99_850);
    // The refund is undone, then the charge, which is done again.
    let hours = || {
        let of = |bank: usize, project: &str| {
            let period = ["--from", "2025-12-01", "--to", "2026-03-01", "-A", project];
            let usage = world.banks[bank].json(&[&["usage"], &period[..]].concat());
            let seconds = text(&usage["total"], "core_seconds").split('.').next();
            seconds.unwrap().parse::<i64>().unwrap()
        };
        let both = [of(0, &project(1)), of(1, "chemistry")];
        assert_eq!(both[0], both[1]);
        both[1]
    };
    let undo = |op: &str| {
        let rows = world.banks[0].items(&["journal", "-j", "Moab.2"]);
        let row = rows.iter().rev().find(|row| text(row, "op") == op).unwrap();
        let number = row["transaction"].as_i64().unwrap().to_string();
        world.banks[0].bank_ok(&["undo", &number]);
        world.deliver();
        world.banks[1].figures("chemistry").0
    };
    assert_eq!(undo("refund"), 99_800);
    assert_eq!(hours(), 200);
    assert_eq!(undo("charge"), 100_000);
    assert_eq!(hours(), 0);
    assert_eq!(undo("undo"), 99_800);
    assert_eq!(hours(), 200);
    // Long after the end, and beyond what was held.
    world.banks[0].set_clock(T0 + 90_000);
    world.banks[1].set_clock(T0 + 90_000);
    let late = [
        "charge",
        "Moab.2",
        "--duration",
        "5",
        "--procs",
        "2",
        "-m",
        "colony",
    ];
    world.banks[0].bank_ok(&[&late[..], &["-A", &project(1), "-u", "amy"]].concat());
    world.deliver();
    assert_eq!(world.banks[1].figures("chemistry").0, 99_790);
    let settlement = world.settlement(0, 1);
    let owes = &settlement["partner_owes"];
    assert_eq!(amount(owes, "total"), 210);
    assert_eq!(amount(owes, "charged") - amount(owes, "returned"), 210);
    world.settle();
}

#[test]
fn totals_and_several_charges_travel_as_differences() {
    let mut world = World::new(2, &[]);
    let charge = |seconds: &str| {
        let fixed = [
            "charge",
            "job.7",
            "--total",
            "--interim",
            "--procs",
            "2",
            "-m",
            "colony",
        ];
        let rest = ["--duration", seconds, "-A", &project(1), "-u", "amy"];
        world.banks[0].bank_ok(&[&fixed[..], &rest].concat());
        world.deliver();
        world.banks[1].figures("chemistry").0
    };
    world.banks[0].set_clock(T0 + 1000);
    assert_eq!(charge("100"), 99_800);
    assert_eq!(charge("250"), 99_500);
    // The total falls: the difference goes back to the account that paid.
    assert_eq!(charge("150"), 99_700);
    world.settle();
}

/// Documents of a running job name a project of this bank: it pays from then on, and the lien at the partner ends.
#[test]
fn a_job_moves_from_the_partner_to_a_project_here() {
    let mut world = World::new(2, &[]);
    let here = &world.banks[0];
    here.bank_ok(&["project", "add", "free", "--members", "amy"]);
    here.bank_ok(&["deposit", "free", "100000"]);
    for (id, charged) in [("Moab.11", true), ("Moab.12", false)] {
        let here = &world.banks[0];
        let before = job(id, &project(1), 100);
        here.script("reserve", &before).expect(0, "");
        here.set_clock(T0 + 100);
        if charged {
            here.script("charge", &before).expect(0, "");
        } else {
            here.script("reserve", &job(id, "free", 100)).expect(0, "");
        }
        here.set_clock(T0 + 200);
        here.script("end", &job(id, "free", 100)).expect(0, "");
        world.deliver();
        assert!(
            world.banks.iter().all(|bank| bank.held().is_empty()),
            "{id}"
        );
    }
    assert_eq!(world.banks[0].figures("free").0, 100_000 - 400);
    assert_eq!(world.banks[0].figures("owed-by-1").0, -200);
    assert_eq!(world.banks[1].figures("chemistry").0, 99_800);
    world.settle();
}

/// The messages of a job arrive before its next lien: its charge takes the lien that it was made with.
#[test]
fn a_reserve_follows_the_charge_before_it() {
    let mut world = World::new(2, &[]);
    let part = |seconds: i64| job("Moab.13", &project(1), seconds);
    world.banks[0].script("reserve", &part(100)).expect(0, "");
    for flush in 1..4 {
        world.banks[0].set_clock(T0 + 200 * flush);
        let next = part(100 + flush);
        world.banks[0].script("charge", &next).expect(0, "");
        world.banks[0].script("reserve", &next).expect(0, "");
        let held = [("chemistry".to_owned(), 2 * (100 + flush))];
        assert_eq!(world.banks[1].held(), held);
    }
    assert_eq!(world.banks[1].figures("chemistry").0, 100_000 - 612);
    world.banks[0].script("delete", &part(100)).expect(0, "");
    world.settle();
}

#[test]
fn the_partner_refuses_and_the_job_does_not_start() {
    let mut world = World::new(2, &[]);
    let bank = &world.banks[0];
    // More than the project has there, less than the partner may owe here.
    let much = job("Moab.3", &project(1), 20_000);
    world.banks[1].bank_ok(&["withdraw", "chemistry", "90000"]);
    let refused = bank.script("quote", &much);
    assert_eq!(refused.exit, 78, "{}", refused.stderr);
    let refused = bank.script("reserve", &much);
    assert_eq!(refused.exit, 78, "{}", refused.stderr);
    // More than the partner may owe: nobody is asked.
    let more = job("Moab.4", &project(1), 30_000);
    assert_eq!(bank.script("reserve", &more).exit, 78);
    // A user who is no member there, and a project that is not there.
    let bob = String::from_utf8(job("Moab.5", &project(1), 10)).unwrap();
    let bob = bob.replace("amy", "bob");
    let refused = bank.script("reserve", bob.as_bytes());
    refused
        .expect(74, "")
        .expect_stderr(&["bank1.example refuses", "not_a_member"]);
    let unknown = job("Moab.6", "nothing@bank1.example", 10);
    bank.script("reserve", &unknown).expect(74, "");
    // Nothing is held anywhere, and no question is left.
    assert!(world.banks.iter().all(|bank| bank.held().is_empty()));
    let open = world.banks[0].query("SELECT count(*) FROM partner_question");
    assert_eq!(open[0][0], "0");
    world.settle();
}

#[test]
fn usage_is_never_lost_where_the_project_is_missing() {
    let mut world = World::new(2, &[]);
    world.banks[0].set_clock(T0 + 100);
    let unknown = job("Moab.8", "nothing@bank1.example", 10);
    world.banks[0].script("charge", &unknown).expect(0, "");
    world.deliver();
    assert_eq!(world.banks[1].figures("#unbilled").0, -20);
    // Somebody there gives it to a project; the settlement is the same.
    world.banks[1].bank_ok(&["settle", "Moab.8", "--project", "chemistry"]);
    assert_eq!(world.banks[1].figures("chemistry").0, 99_980);
    // A project that is not open to the partner cannot be charged either.
    world.banks[1].bank_ok(&["partner", "set", &name(0), "-A", "physics"]);
    let closed = job("Moab.9", &project(1), 10);
    let refused = world.banks[0].script("reserve", &closed);
    refused.expect(74, "").expect_stderr(&["project_unknown"]);
    world.banks[0].script("charge", &closed).expect(0, "");
    world.deliver();
    assert_eq!(world.banks[1].figures("#unbilled").0, -20);
    assert_eq!(world.banks[1].figures("chemistry").0, 99_980);
    world.settle();
}

#[test]
fn a_refund_there_is_not_returned_a_second_time() {
    let mut world = World::new(2, &[]);
    world.banks[0].set_clock(T0 + 100);
    let document = job("Moab.10", &project(1), 50);
    world.banks[0].script("charge", &document).expect(0, "");
    world.deliver();
    // The partner gives its project the money back at its own expense.
    world.banks[1].bank_ok(&["refund", "Moab.10", "--note", "goodwill"]);
    assert_eq!(world.banks[1].figures("chemistry").0, 100_000);
    world.banks[0].bank_ok(&["refund", "Moab.10"]);
    world.deliver();
    assert_eq!(world.banks[1].figures("chemistry").0, 100_000);
    world.settle();
}

#[test]
fn a_key_of_a_partner_can_do_nothing_else() {
    let world = World::new(2, &[]);
    let bank = &world.banks[1];
    let file = bank.folder().join("partner.secret");
    let url = format!("http://{}", bank.tcp());
    let file = file.to_str().unwrap();
    let as_partner = [
        ("BANK_SERVER", url.as_str()),
        ("BANK_KEY_ID", "of-bank0.example"),
        ("BANK_KEY_FILE", file),
    ];
    for arguments in [
        &["balance"][..],
        &["deposit", "chemistry", "5"],
        &["partner", "ls"],
        &["settlement", "bank0.example", "--month", "2026-01"],
        &["journal"],
    ] {
        let ran = bank.bank_as(&as_partner, arguments);
        assert_eq!(ran.exit, 6, "{arguments:?}: {}", ran.stderr);
    }
}
