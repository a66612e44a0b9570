//! Money and time: late usage is paid by what was there when it ran, and what an amended record gives back
//! is booked when that became known. Statements and balance sheets add up over all of it.

use crate::harness::{Bank, Setup, T0};
use serde_json::Value;
use std::fs;

const DAY: i64 = 86_400;

/// A date of 2026 as a number of days after T0, its first.
fn day(text: &str) -> i64 {
    let (month, day) = text.split_once('-').unwrap();
    let before = [0, 31, 59, 90, 120, 151, 181];
    before[month.parse::<usize>().unwrap() - 1] + day.parse::<i64>().unwrap() - 1
}

fn time(text: &str) -> String {
    format!("2026-{text}T00:00:00Z")
}

fn go_to(bank: &Bank, text: &str) {
    bank.set_clock(T0 + day(text) * DAY);
}

/// Imports a job from the beginning of a day on.
fn import(bank: &Bank, id: &str, (start, seconds): (&str, i64), processors: i64) -> String {
    let began = T0 + day(start) * DAY;
    let end = began + seconds;
    let at = |seconds: i64| {
        let of_day = (seconds - T0).rem_euclid(DAY);
        let date = (seconds - T0).div_euclid(DAY);
        let months = [0, 31, 59, 90, 120, 151, 181];
        let month = months.iter().rposition(|before| *before <= date).unwrap();
        format!(
            "2026-{:02}-{:02}T{:02}:{:02}:{:02}Z",
            month + 1,
            date - months[month] + 1,
            of_day / 3600,
            of_day / 60 % 60,
            of_day % 60
        )
    };
    let line = serde_json::json!({
        "source": "slurm:x", "id": id, "machine": "colony", "project": "chemistry", "user": "amy",
        "start": at(began), "end": at(end), "processors": processors, "state": "completed",
    });
    let file = bank.folder().join("jobs.jsonl");
    fs::write(&file, format!("{line}\n")).unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap(), "--strict"])
}

/// Ends the newest allocation of chemistry at another time.
fn set_end(bank: &Bank, end: &str) {
    let listed = bank.json(&["allocation", "ls", "-a", "chemistry"]);
    let newest = listed["items"].as_array().unwrap().iter();
    let newest = newest.filter_map(|a| a["id"].as_i64()).max().unwrap();
    bank.bank_ok(&[
        "allocation",
        "set",
        &newest.to_string(),
        "--end",
        &time(end),
    ]);
}

fn amounts(bank: &Bank, at: Option<&str>) -> Vec<(String, String)> {
    let mut words = vec!["allocation", "ls", "-a", "chemistry"];
    let at = at.map(time);
    if let Some(at) = &at {
        words.extend(["--at", at]);
    }
    let listed = bank.json(&words);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let items = listed["items"].as_array().unwrap().iter();
    items
        .map(|a| (text(&a["deposited"]), text(&a["amount"])))
        .collect()
}

fn is(amounts: &[(String, String)], wanted: &[(&str, &str)]) {
    let got: Vec<(&str, &str)> = amounts
        .iter()
        .map(|(d, a)| (d.as_str(), a.as_str()))
        .collect();
    assert_eq!(got, wanted);
}

/// Sheets of these months come out, and each row adds up; no account closes above what came in.
fn sheets_add_up(bank: &Bank, months: &[&str], most: i64) {
    for month in months {
        let sheet = bank.json(&["report", "balance-sheet", "--month", month]);
        for row in sheet["items"].as_array().unwrap() {
            let number = |key: &str| row[key].as_str().unwrap().parse::<i64>().unwrap();
            let cells = row.as_object().unwrap().keys();
            let moved =
                cells.filter(|key| !["account", "opening", "closing"].contains(&key.as_str()));
            let moved: i64 = moved.map(|key| number(key)).sum();
            assert_eq!(
                number("opening") + moved,
                number("closing"),
                "{month}: {row}"
            );
            if row["account"] == "chemistry" {
                assert!(number("closing") <= most, "{month}: {row}");
            }
        }
        let (year, number) = month.split_once('-').unwrap();
        let next = number.parse::<u32>().unwrap() + 1;
        let (from, to) = (format!("{month}-01"), format!("{year}-{next:02}-01"));
        bank.bank_ok(&["statement", "chemistry", "--from", &from, "--to", &to]);
    }
}

#[test]
fn late_usage_is_paid_by_what_was_there_when_it_ran() {
    let mut bank = Setup::new().chemistry(0).start();
    go_to(&bank, "02-02");
    bank.bank_ok(&["deposit", "chemistry", "1000", "--new"]);
    go_to(&bank, "02-10");
    bank.bank_ok(&["deposit", "chemistry", "500", "--end", "2027-01-01"]);
    import(&bank, "1", ("02-03", 300), 1);
    is(
        &amounts(&bank, None)[1..],
        &[("1000", "700"), ("500", "500")],
    );
    is(&amounts(&bank, Some("02-04"))[1..], &[("1000", "700")]);
    // What it lacks is debt on the old one; the new one stays as it is.
    import(&bank, "2", ("02-03", 900), 1);
    is(
        &amounts(&bank, None)[1..],
        &[("1000", "-200"), ("500", "500")],
    );
    bank.verify();
}

#[test]
fn late_charges_add_debt_or_pay_as_the_site_configures() {
    for (setting, kind, is_short) in [("false", "charge_debt", true), ("true", "charge", false)] {
        let mut bank = Setup::new()
            .chemistry(0)
            .env("BANKD_CHARGE_LATER_CREDITS_PAY", setting)
            .start();
        set_end(&bank, "01-02");
        go_to(&bank, "02-10");
        bank.bank_ok(&["deposit", "chemistry", "500", "--end", "2027-01-01"]);
        import(&bank, "1", ("02-03", 300), 1);
        let journal = bank.bank_ok(&["journal", "--job", "1", "-O", "json"]);
        assert_eq!(
            journal.contains("\"charge_debt\""),
            is_short,
            "{kind}: {journal}"
        );
        // It was not there on the day after the job: nothing of it is shown.
        let then = amounts(&bank, Some("02-04"));
        assert!(
            then.iter().all(|(deposited, _)| deposited != "500"),
            "{then:?}"
        );
        is(&amounts(&bank, None)[1..], &[("500", "200")]);
        sheets_add_up(&bank, &["2026-02"], 500);
        bank.verify();
    }
}

/// A deposit tops up an allocation without a start; usage from before it is not paid by it.
#[test]
fn a_top_up_pays_nothing_from_before_it() {
    for setting in ["false", "true"] {
        let mut bank = Setup::new()
            .chemistry(400)
            .env("BANKD_CHARGE_SHORTFALL", "reject")
            .env("BANKD_CHARGE_LATER_CREDITS_PAY", setting)
            .start();
        go_to(&bank, "02-10");
        bank.bank_ok(&["deposit", "chemistry", "1000"]);
        let before = amounts(&bank, None);
        is(&before, &[("1400", "1400")]);
        import_some(&bank, setting == "true");
        bank.verify();
    }
}

/// A job of 300, which is paid, and one of 200, of which 100 are left from then.
fn import_some(bank: &Bank, later_pays: bool) {
    import(bank, "1", ("02-03", 300), 1);
    is(&amounts(bank, None), &[("1400", "1100")]);
    let file = bank.folder().join("more.jsonl");
    let line = serde_json::json!({
        "source": "slurm:x", "id": "2", "machine": "colony", "project": "chemistry", "user": "amy",
        "start": "2026-02-03T00:00:00Z", "end": "2026-02-03T00:03:20Z", "processors": 1,
        "state": "completed",
    });
    fs::write(&file, format!("{line}\n")).unwrap();
    let ran = bank.bank(&["import", "jsonl", file.to_str().unwrap(), "--strict"]);
    assert_eq!(ran.exit == 0, later_pays, "{}", ran.stdout);
    let left = if later_pays { "900" } else { "1100" };
    is(&amounts(bank, None), &[("1400", left)]);
}

/// The amended record says that the job ended a month earlier, with less.
#[test]
fn money_given_back_is_booked_when_it_became_known() {
    let mut bank = Setup::new().chemistry(50_000).start();
    go_to(&bank, "04-10");
    import(&bank, "1", ("03-01", 36 * DAY), 1);
    go_to(&bank, "04-12");
    import(&bank, "1", ("03-01", 19 * DAY), 1);
    sheets_add_up(&bank, &["2026-01", "2026-02", "2026-03", "2026-04"], 50_000);
    for at in ["03-25", "04-01", "04-11"] {
        let amount: i64 = amounts(&bank, Some(at))[0].1.parse().unwrap();
        assert!(amount <= 50_000, "{at}: {amount}");
    }
    go_to(&bank, "05-02");
    for month in ["2026-03", "2026-04"] {
        bank.bank_ok(&["close", month]);
    }
    sheets_add_up(&bank, &["2026-03", "2026-04"], 50_000);
    bank.verify();
}

#[test]
fn sheets_come_out_after_a_refund_to_what_had_ended() {
    let mut bank = Setup::new().chemistry(0).start();
    set_end(&bank, "01-02");
    go_to(&bank, "03-01");
    bank.bank_ok(&["deposit", "chemistry", "5000", "--end", &time("03-10")]);
    import(&bank, "1", ("02-26", 2000), 1);
    go_to(&bank, "03-11");
    import(&bank, "1", ("02-26", 1000), 1);
    sheets_add_up(&bank, &["2026-02", "2026-03"], 5000);
    bank.verify();
    go_to(&bank, "04-02");
    bank.start();
    bank.bank_ok(&["close", "--until", &time("03-01")]);
    bank.bank_ok(&["close", "2026-03"]);
    sheets_add_up(&bank, &["2026-02", "2026-03", "2026-04"], 5000);
    bank.verify();
}

/// An allocation ended, was extended, and a job of its first window becomes known, and another one is
/// amended.
#[test]
fn sheets_come_out_after_a_window_was_extended_again() {
    let mut bank = Setup::new().chemistry(0).start();
    set_end(&bank, "01-02");
    go_to(&bank, "02-01");
    bank.bank_ok(&["deposit", "chemistry", "5000", "--end", &time("02-10")]);
    go_to(&bank, "02-05");
    import(&bank, "1", ("02-03", 2000), 1);
    go_to(&bank, "02-20");
    set_end(&bank, "06-01");
    go_to(&bank, "02-22");
    import(&bank, "2", ("02-04", 700), 1);
    import(&bank, "1", ("02-03", 1000), 1);
    import(&bank, "1", ("02-03", 1500), 1);
    sheets_add_up(&bank, &["2026-02"], 5000);
    let middle = bank.json(&[
        "report",
        "balance-sheet",
        "--from",
        &time("02-11"),
        "--to",
        &time("02-19"),
    ]);
    assert!(middle["items"].is_array());
    bank.verify();
    go_to(&bank, "06-02");
    bank.start();
    import(&bank, "2", ("02-04", 100), 1);
    import(&bank, "3", ("02-04", 50), 1);
    sheets_add_up(&bank, &["2026-02", "2026-03", "2026-06"], 5000);
    bank.bank_ok(&["close", "2026-05"]);
    sheets_add_up(&bank, &["2026-02", "2026-05", "2026-06"], 5000);
    bank.verify();
}

fn balance(bank: &Bank, project: &str) -> i64 {
    let response = bank.json(&["balance", project]);
    let items = response["items"].as_array().unwrap();
    let own = |item: &Value| item["balance"].as_str().unwrap().parse::<i64>().unwrap();
    items.iter().map(own).sum()
}

/// A job of chemistry was given back in part, and is found to be of physics: physics pays all of it, and
/// what was given back stays with chemistry.
#[test]
fn a_refund_stays_with_who_paid() {
    for (refund, reissue) in [("200", false), ("1000", false), ("1000", true)] {
        let mut bank = Setup::new().chemistry(5_000).start();
        bank.bank_ok(&["deposit", "physics", "5000"]);
        go_to(&bank, "01-05");
        import(&bank, "1", ("01-03", 1000), 1);
        let mut words = vec!["refund", "1", refund];
        if reissue {
            set_end(&bank, "01-05");
            go_to(&bank, "01-06");
            words.extend(["--reissue-until", "2027-01-01"]);
        }
        bank.bank_ok(&words);
        let spendable = balance(&bank, "chemistry");
        let before = balance(&bank, "physics");
        for (seconds, left) in [(900, 4_100), (950, 4_050), (400, 4_600)] {
            let line = serde_json::json!({
                "source": "slurm:x", "id": "1", "machine": "colony", "project": "physics",
                "user": "bob", "start": "2026-01-03T00:00:00Z",
                "end": format!("2026-01-03T00:{:02}:{:02}Z", seconds / 60, seconds % 60),
                "processors": 1, "state": "completed",
            });
            let file = bank.folder().join("moved.jsonl");
            fs::write(&file, format!("{line}\n")).unwrap();
            bank.bank_ok(&["import", "jsonl", file.to_str().unwrap(), "--strict"]);
            assert_eq!(balance(&bank, "physics") - before, left - 5_000, "{refund}");
        }
        let chemistry = balance(&bank, "chemistry");
        if reissue {
            assert_eq!(chemistry, spendable);
        } else {
            assert_eq!(chemistry, 5_000, "{refund}");
        }
        let usage = bank.json(&[
            "usage",
            "--by",
            "project",
            "--from",
            "2026-01-01",
            "--to",
            "2026-02-01",
        ]);
        for row in usage["rows"].as_array().unwrap() {
            let expected = if row["keys"]["project"] == "physics" {
                "400"
            } else {
                "0"
            };
            assert_eq!(row["charged"], expected, "{row}");
        }
        // Nothing is left to give back of what chemistry paid.
        bank.verify();
    }
}

#[test]
fn an_undone_settlement_names_whom_its_entries_named() {
    let mut bank = Setup::new().start();
    go_to(&bank, "01-05");
    let line = serde_json::json!({
        "source": "slurm:x", "id": "7", "machine": "colony", "project": "nowhere", "user": "amy",
        "start": "2026-01-03T00:00:00Z", "end": "2026-01-03T00:10:00Z", "processors": 1,
        "state": "completed",
    });
    let file = bank.folder().join("jobs.jsonl");
    fs::write(&file, format!("{line}\n")).unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap(), "--strict"]);
    bank.bank_ok(&["settle", "7", "-A", "chemistry"]);
    let settled = newest(&bank, "settle");
    bank.bank_ok(&["undo", &settled.to_string()]);
    let journal = bank.json(&["journal", "--job", "7"]);
    let mut sums = std::collections::BTreeMap::<String, i64>::new();
    for entry in journal["items"].as_array().unwrap() {
        let amount = entry["amount"].as_str().unwrap().parse::<i64>().unwrap();
        let project = entry["project"].as_str().unwrap_or_default().to_owned();
        *sums.entry(project).or_default() -= amount;
    }
    sums.retain(|_, sum| *sum != 0);
    assert_eq!(
        sums.into_iter().collect::<Vec<_>>(),
        [("nowhere".to_owned(), 600)]
    );
    bank.verify();
}

/// The number of the newest transaction of a kind.
fn newest(bank: &Bank, op: &str) -> i64 {
    let journal = bank.json(&["journal"]);
    let items = journal["items"].as_array().unwrap().iter();
    let own = items
        .filter(|tx| tx["op"] == op)
        .filter_map(|tx| tx["transaction"].as_i64());
    own.max().unwrap()
}

/// A balance sheet has the accounts of its period, also those that were removed since.
#[test]
fn a_balance_sheet_keeps_removed_accounts() {
    let bank = Setup::new().chemistry(1000).start();
    let run = |line: &str| bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
    bank.set_clock(T0 + 3600);
    run("project add bio --members amy");
    run("deposit bio 500");
    run("charge j1 --duration 100 --procs 1 -A bio -u amy -m colony");
    let january = || run("report balance-sheet --from 2026-01-01 --to 2026-01-02 --csv");
    bank.set_clock(T0 + 40 * 86_400);
    let before = january();
    let bio = "\nbio,0,500,0,0,-100,0,0,0,400\n";
    assert!(before.contains(bio), "{before}");
    run("account rm bio --yes --force");
    assert_eq!(january(), before);
    // Nothing of it is in a later period.
    bank.set_clock(T0 + 80 * 86_400);
    let later = run("report balance-sheet --from 2026-03-01 --to 2026-03-02 --csv");
    assert!(!later.contains("bio"), "{later}");
}

/// An account that was recorded later and removed since has its balance of a day before both, as its statement does.
#[test]
fn a_removed_account_has_its_balance_of_before_its_creation() {
    let bank = Bank::new();
    bank.set_clock(T0 + 30 * DAY);
    bank.bank_ok(&["project", "add", "late"]);
    bank.bank_ok(&["deposit", "late", "500", "--effective", &time("01-10")]);
    let then = || bank.bank_ok(&["balance", "--at", &time("01-20"), "--csv"]);
    let before = then();
    assert!(before.contains("late"), "{before}");
    bank.bank_ok(&["account", "rm", "late", "--yes", "--force"]);
    assert_eq!(then(), before);
    bank.bank_ok(&["project", "rm", "late", "--yes"]);
    assert_eq!(then(), before);
}
