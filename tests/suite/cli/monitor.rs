//! Watching without enforcing: `bank monitor`, and `bank what-if --enforce-from`.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Bank, Documents, Setup, T0, programs};

/// A machine in mode `track`, on which chemistry has 100,000.
fn tracked() -> Bank {
    let bank = Setup::new().chemistry(100_000).start();
    bank.bank_ok(&["machine", "set", "colony", "--mode", "track"]);
    bank.set_clock(T0 + 86_400);
    bank
}

/// Takes finished uses of chemistry in, each by its id, hour of its start, and processor seconds.
fn used(bank: &Bank, uses: &[(&str, u32, u32)]) {
    let line = |(id, hour, seconds): &(&str, u32, u32)| {
        let (minutes, rest) = (seconds / 600, seconds % 600 / 10);
        let (hours, minutes) = (hour + minutes / 60, minutes % 60);
        format!(
            r#"{{"source":"slurm:colony","id":"{id}","machine":"colony","project":"chemistry","user":"amy","#,
        ) + &format!(
            r#""start":"2026-01-01T{hour:02}:00:00Z","end":"2026-01-01T{hours:02}:{minutes:02}:{rest:02}Z","processors":10}}"#
        ) + "\n"
    };
    let text: String = uses.iter().map(line).collect();
    let file = bank.folder().join("uses.jsonl");
    std::fs::write(&file, text).unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()]);
}

#[test]
fn monitor_lists_each_refusal_and_sums_them_by_project() {
    let mut bank = Setup::new().chemistry(0).start();
    let documents = Documents::own();
    bank.bank_ok(&["project", "set", "chemistry", "--mode", "notional"]);
    bank.script("reserve", &documents.get(3)).expect(0, "");
    bank.script("reserve", &documents.get(3)).expect(0, "");
    let answer = bank.json(&[
        "monitor",
        "--since",
        "2026-01-01",
        "-A",
        "chemistry",
        "-m",
        "colony",
        "-u",
        "amy",
    ]);
    let item = &answer["items"][0];
    assert_eq!(
        (&item["code"], &item["needed"], &item["available"]),
        (&"insufficient_funds".into(), &"57600".into(), &"0".into()),
        "{answer}"
    );
    let sums = &answer["projects"][0];
    assert_eq!(
        (
            &sums["project"],
            &sums["refused"],
            &sums["needed"],
            &sums["users"]
        ),
        (&"chemistry".into(), &2.into(), &"115200".into(), &1.into()),
        "{answer}"
    );
    let csv = bank.bank_ok(&[
        "monitor",
        "--since",
        "2026-01-01",
        "--csv",
        "--columns",
        "project,user,code,needed",
    ]);
    assert_eq!(
        csv,
        "project,user,code,needed\n\
         chemistry,amy,insufficient_funds,57600\n\
         chemistry,amy,insufficient_funds,57600\n"
    );
    let totals = bank.bank_ok(&[
        "monitor",
        "--since",
        "2026-01-01",
        "--totals",
        "--csv",
        "--columns",
        "project,refused,short",
    ]);
    assert_eq!(totals, "project,refused,short\nchemistry,2,2\n");
    let screen = bank.bank_ok(&["monitor", "--since", "2026-01-01", "--limit", "1"]);
    assert!(
        screen.contains("The newest 1 of 2") && screen.contains("115,200"),
        "{screen}"
    );
    for (arguments, exit) in [
        (&["monitor", "--code", "not_a_member"][..], 0),
        (&["monitor", "-A", "nobody"], 4),
        (&["monitor", "--since", "sometimes"], 2),
        (&["monitor", "--limit", "0"], 2),
        (&["monitor", "--follow", "--until", "now"], 2),
    ] {
        let ran = bank.bank(arguments);
        assert_eq!(ran.exit, exit, "{arguments:?}");
        if exit == 0 {
            assert!(ran.stdout.contains("refused nothing"), "{}", ran.stdout);
        }
    }
    bank.verify();
}

/// 100,000 are there: the second use finds 40,000 of them, and takes more, so that the third finds
/// nothing.
#[test]
fn amounts_available_to_imported_uses_are_shown() {
    let mut bank = tracked();
    used(&bank, &[("1", 1, 60_000), ("2", 2, 50_000)]);
    used(&bank, &[("3", 4, 30_000)]);
    let text_of = |bank: &Bank| {
        let answer = bank.json(&["monitor", "--since", "2026-01-01"]);
        let items = answer["items"].as_array().unwrap().iter();
        let figures = |item: &Value| {
            let of = |key: &str| item[key].as_str().unwrap_or("null").to_owned();
            [of("job"), of("needed"), of("available")]
        };
        items.map(figures).collect::<Vec<_>>()
    };
    let second = ["2", "50000", "40000"].map(str::to_owned);
    let third = ["3", "30000", "0"].map(str::to_owned);
    assert_eq!(text_of(&bank), [second, third]);
    bank.verify();
}

#[test]
fn a_followed_monitor_lists_new_events_and_outlives_the_daemon() {
    let mut bank = Setup::new().chemistry(0).start();
    let documents = Documents::own();
    bank.bank_ok(&["project", "set", "chemistry", "--mode", "notional"]);
    bank.script("reserve", &documents.get(3)).expect(0, "");
    let mut command = Command::new(programs().bank());
    command
        .args([
            "monitor",
            "--since",
            "2026-01-01",
            "--follow",
            "--csv",
            "-n",
            "--columns",
            "project,needed",
        ])
        .env_clear()
        .env("HOME", bank.folder())
        .env("BANK_SERVER", format!("unix:{}", bank.socket().display()));
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut follower = command.spawn().unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "chemistry,57600");
    bank.script("reserve", &documents.get(3)).expect(0, "");
    assert_eq!(lines.next().unwrap().unwrap(), "chemistry,57600");
    bank.kill();
    bank.start();
    bank.script("reserve", &documents.get(3)).expect(0, "");
    assert_eq!(lines.next().unwrap().unwrap(), "chemistry,57600");
    // What is recorded now is new, although the job is older than `--since`.
    let record = r#"{"source":"slurm:colony","id":"1","machine":"colony","project":"chemistry","user":"amy","start":"2025-11-30T01:00:00Z","end":"2025-11-30T01:10:00Z","processors":10}"#;
    let file = bank.folder().join("old.jsonl");
    std::fs::write(&file, record).unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()]);
    assert_eq!(lines.next().unwrap().unwrap(), "chemistry,6000");
    follower.kill().unwrap();
    follower.wait().unwrap();
    bank.verify();
}

/// 100,000 are there. Without enforcement all four run, and take 150,000; with it the second does
/// not, so that the third still has its 40,000.
#[test]
fn enforcement_from_a_day_on_leaves_the_money_of_the_refused_to_the_next() {
    let mut bank = tracked();
    used(
        &bank,
        &[
            ("1", 1, 60_000),
            ("2", 2, 50_000),
            ("3", 4, 40_000),
            ("4", 5, 10),
        ],
    );
    let answer = bank.json(&["what-if", "--enforce-from", "2026-01-01"]);
    let sums = &answer["projects"][0];
    assert_eq!(
        (
            &sums["jobs"],
            &sums["cost"],
            &sums["refused"],
            &sums["refused_cost"]
        ),
        (&2.into(), &"100000".into(), &2.into(), &"50010".into()),
        "{answer}"
    );
    assert_eq!(sums["first_refused"], "2026-01-01T02:00:00Z");
    let output: Vec<_> = answer["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (item["job"].clone(), item["available"].clone()))
        .collect();
    assert_eq!(
        output,
        [("2".into(), "40000".into()), ("4".into(), "0".into())],
        "{answer}"
    );
    // From the third on there is money for both.
    let later = bank.json(&["what-if", "--enforce-from", "2026-01-01 03:00"]);
    assert_eq!(later["projects"][0]["refused"], 0, "{later}");
    let csv = bank.bank_ok(&[
        "what-if",
        "--enforce-from",
        "2026-01-01",
        "--until",
        "2026-01-01 05:00",
        "--csv",
        "--columns",
        "job,cost,code",
    ]);
    assert_eq!(csv, "job,cost,code\n2,50000,insufficient_funds\n");
    let screen = bank.bank_ok(&["what-if", "--enforce-from", "2026-01-01"]);
    assert!(
        screen.contains("Would run") && screen.contains("50,010"),
        "{screen}"
    );
    for (arguments, exit) in [
        (&["what-if", "--enforce-from", "soon"][..], 2),
        (&["what-if", "--enforce-from", "+1d"], 1),
        (&["what-if", "--enforce-from", "-1d", "--days", "3"], 2),
        (&["what-if", "--until", "now"], 2),
        (
            &["what-if", "--enforce-from", "2026-01-01", "-A", "nobody"],
            4,
        ),
        (
            &["what-if", "--enforce-from", "2026-01-01", "-m", "nowhere"],
            4,
        ),
    ] {
        assert_eq!(bank.bank(arguments).exit, exit, "{arguments:?}");
    }
    bank.verify();
}

/// 100,000 are there. The use of 90,000 was undone, so the one after it has the money.
#[test]
fn enforcement_leaves_out_a_use_that_was_undone() {
    let mut bank = tracked();
    let charge = |job: &str, seconds: &str| {
        let words =
            format!("charge {job} -A chemistry -u amy -m colony --procs 10 --duration {seconds}");
        bank.bank_ok(&words.split(' ').collect::<Vec<_>>());
    };
    charge("1", "9000");
    let journal = bank.json(&["journal", "-j", "1"]);
    let transaction = journal["items"][0]["transaction"].to_string();
    bank.bank_ok(&["undo", &transaction]);
    charge("2", "8000");
    let answer = bank.json(&["what-if", "--enforce-from", "2026-01-01"]);
    let sums = &answer["projects"][0];
    assert_eq!(
        (&sums["jobs"], &sums["cost"], &sums["refused"]),
        (&1.into(), &"80000".into(), &0.into()),
        "{answer}"
    );
    bank.verify();
}

/// The refusals of a job in the journal, by the bank's codes.
fn refusals(bank: &Bank, job: &str) -> Vec<String> {
    let rows = bank.items(&["journal", "-j", job, "--kind", "would_refuse"]);
    let code = |row: &Value| {
        let reason = row["reason"].as_str().unwrap_or_default();
        let mut words = reason.split(' ');
        let code = words.find_map(|word| word.strip_prefix("would_refuse="));
        code.unwrap_or_default().to_owned()
    };
    rows.iter().map(code).collect()
}

/// A blocked account is refused in `strict`, so `track` journals that.
#[test]
fn track_journals_the_refusal_of_a_blocked_account() {
    let mut bank = Setup::new().chemistry(100).start();
    let run = |line: &str| bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
    run("machine set colony --mode fast");
    run("charge j1 --duration 200 --procs 1 -A chemistry -u amy -m colony");
    run("machine set colony --mode track");
    run("reserve j2 --wall 10 --procs 1 -A chemistry -u amy -m colony");
    assert_eq!(refusals(&bank, "j2"), ["account_blocked"]);
    bank.verify();
}

/// What the bank's own fallback pays is refused in no mode.
#[test]
fn track_journals_no_refusal_that_the_fallback_account_prevents() {
    let setup = Setup::new()
        .chemistry(100)
        .env("BANKD_FALLBACK_MODE", "bank");
    let mut bank = setup.start();
    let run = |line: &str| bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
    run("project add free");
    run("deposit free 1000");
    run("account set chemistry --fallback free");
    run("machine set colony --mode track");
    run("reserve j1 --wall 600 --procs 1 -A chemistry -u amy -m colony");
    assert_eq!(refusals(&bank, "j1"), [""; 0]);
    // More than that account has.
    run("reserve j2 --wall 600 --procs 2 -A chemistry -u amy -m colony");
    assert_eq!(refusals(&bank, "j2"), ["insufficient_funds"]);
    // The same of a finished use.
    bank.set_clock(T0 + 7200);
    for (id, processors) in [("r1", 1), ("r2", 9)] {
        let line = json!({
            "source": "farm", "id": id, "machine": "colony", "project": "chemistry", "user": "amy",
            "processors": processors, "start": "2026-01-01T00:00:00Z", "end": "2026-01-01T00:05:00Z",
        });
        let file = bank.folder().join("use.jsonl");
        std::fs::write(&file, line.to_string()).unwrap();
        bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()]);
    }
    assert_eq!(refusals(&bank, "r1"), [""; 0]);
    assert_eq!(refusals(&bank, "r2"), ["insufficient_funds"]);
    bank.verify();
}
