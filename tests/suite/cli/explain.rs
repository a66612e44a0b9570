//! `bank explain` over what comes after the first charge: amended records, chunks, settlements, debt;
//! and what it tells to whom an account is not.

use serde_json::Value;

use crate::harness::{Bank, Documents, Setup, T0};

/// Whose a job of these tests is, where, and how large.
const WORK: [&str; 8] = [
    "-A",
    "chemistry",
    "-u",
    "amy",
    "-m",
    "tower",
    "--procs",
    "1",
];

/// Finished uses of `tower` in one file, which began with the clock of the bank: id, project, seconds.
fn import(bank: &Bank, uses: &[(&str, &str, i64)]) -> Value {
    let line = |(id, project, seconds): &(&str, &str, i64)| {
        let time = |at: i64| bank_api::text::format_rfc3339((T0 + at) * 1_000_000);
        format!(
            r#"{{"source":"slurm:t","id":"{id}","machine":"tower","project":"{project}","user":"amy","start":"{}","end":"{}","processors":1}}"#,
            time(0),
            time(*seconds)
        )
    };
    let lines: Vec<String> = uses.iter().map(line).collect();
    let file = bank.folder().join("uses.jsonl");
    std::fs::write(&file, lines.join("\n") + "\n").unwrap();
    let output = bank.bank_ok(&["import", "jsonl", file.to_str().unwrap(), "--json"]);
    serde_json::from_str(&output).unwrap()
}

/// What is told of the newest transaction of an op.
fn newest(bank: &Bank, op: &str) -> Value {
    let rows = bank.query(&format!("SELECT max(id) FROM tx WHERE op = '{op}'"));
    let explanation = bank.json(&["explain", "-t", &rows[0][0]]);
    explanation["items"][0].clone()
}

/// Account, what was taken, and the verdict of each that was looked at.
fn looked_at(explanation: &Value) -> Vec<(String, String, String)> {
    let text = |row: &Value, field: &str| row[field].as_str().unwrap().to_owned();
    let rows = explanation["considered"].as_array().unwrap().iter();
    let row = |row| {
        (
            text(row, "account"),
            text(row, "taken"),
            text(row, "verdict"),
        )
    };
    rows.map(row).collect()
}

fn rows(of: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    let own = |(a, b, c): &(&str, &str, &str)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned());
    of.iter().map(own).collect()
}

#[track_caller]
fn expect_sentence(explanation: &Value, words: &str) {
    let sentences = explanation["effects"].as_array().unwrap().iter();
    let found = sentences
        .filter_map(Value::as_str)
        .any(|line| line.contains(words));
    assert!(found, "{words:?} in {explanation}");
}

/// A bank in which chemistry pays from `pot` first, and imports of `tower` are charged.
fn with_pot() -> Bank {
    let bank = Bank::new();
    bank.bank_ok(&["machine", "add", "tower", "--mode", "strict"]);
    bank.bank_ok(&["project", "members", "add", "physics", "amy"]);
    let pot = ["--projects", "chemistry", "--priority", "-9"];
    bank.bank_ok(&[&["account", "add", "pot"][..], &pot].concat());
    bank.bank_ok(&["deposit", "pot", "1000"]);
    bank
}

#[test]
fn amended_records_show_the_accounts_tried() {
    let mut bank = with_pot();
    bank.set_clock(T0 + 86_400);
    import(&bank, &[("7", "chemistry", 3600)]);
    let explanation = newest(&bank, "charge");
    let first = [("pot", "1000", "turn"), ("chemistry", "2600", "turn")];
    assert_eq!(looked_at(&explanation), rows(&first), "{explanation}");
    // It lasted longer: the account that paid is asked first, and has nothing left.
    import(&bank, &[("7", "chemistry", 7200)]);
    let explanation = newest(&bank, "adjust");
    let more = [("pot", "0", "no_money"), ("chemistry", "3600", "turn")];
    assert_eq!(looked_at(&explanation), rows(&more), "{explanation}");
    assert_eq!(explanation["charge"]["amount"], "3600", "{explanation}");
    // It was shorter: nothing is chosen, and that is said.
    import(&bank, &[("7", "chemistry", 1800)]);
    let explanation = newest(&bank, "adjust");
    assert_eq!(looked_at(&explanation), rows(&[]), "{explanation}");
    expect_sentence(&explanation, "the refund goes to the allocations that paid");
    // It was another project's: all goes back, and that project's accounts are asked.
    import(&bank, &[("7", "physics", 1800)]);
    let explanation = newest(&bank, "adjust");
    let other = [("physics", "1800", "turn")];
    let paid: Vec<_> = looked_at(&explanation);
    let paid: Vec<_> = paid
        .into_iter()
        .filter(|(_, taken, _)| taken != "0")
        .collect();
    assert_eq!(paid, rows(&other), "{explanation}");
    assert_eq!(explanation["charge"]["amount"], "1800", "{explanation}");
    let screen = bank.bank_ok(&["explain", "7", "-m", "tower"]);
    let orders = screen.matches("accounts in the order in which they were considered");
    assert_eq!(orders.count(), 3, "{screen}");
    assert!(!screen.contains("untold"), "{screen}");
    bank.verify();
}

#[test]
fn a_chunk_explains_that_it_chose_nobody() {
    let mut bank = with_pot();
    bank.set_clock(T0 + 86_400);
    for (kind, name) in [
        ("machine", "tower"),
        ("project", "chemistry"),
        ("project", "physics"),
    ] {
        bank.bank_ok(&[kind, "set", name, "--mode", "track"]);
    }
    let sacct = |name: &str, hour: u32, ids: &[&str]| {
        let head = "JobID|Cluster|User|Account|State|Start|End|NCPUS\n";
        let row = format!("|2026-01-01T12:00:00|2026-01-01T{hour:02}:00:00|1\n");
        let of = |id: &&str| format!("{id}|tower|amy|chemistry|COMPLETED{row}");
        let lines: String = ids.iter().map(of).collect();
        let file = bank.folder().join(name);
        std::fs::write(&file, [head, &lines].concat()).unwrap();
        let file = file.to_str().unwrap();
        bank.bank_ok(&["import", "sacct", file, "--source", "slurm:t"]);
    };
    sacct("first.sacct", 13, &["1", "2"]);
    let explanation = newest(&bank, "import");
    assert_eq!(looked_at(&explanation), rows(&[]), "{explanation}");
    expect_sentence(&explanation, "a chunk of an import moves no money");
    // What the chunk counted stays in shadow where it is amended; a job that is new is charged.
    for (kind, name) in [("machine", "tower"), ("project", "chemistry")] {
        bank.bank_ok(&[kind, "set", name, "--mode", "strict"]);
    }
    sacct("again.sacct", 14, &["1", "2", "3"]);
    let explanation = newest(&bank, "charge");
    let paid = [("pot", "1000", "turn"), ("chemistry", "6200", "turn")];
    assert_eq!(looked_at(&explanation), rows(&paid), "{explanation}");
    assert_eq!(explanation["charge"]["amount"], "7200", "{explanation}");
    assert_eq!(explanation["entries"][0]["job"], "3", "{explanation}");
    let adjusted = bank.query("SELECT count(*) FROM tx WHERE op = 'adjust'");
    assert_eq!(adjusted, [["0"]]);
    let charged = bank.query("SELECT sum(delta_amount) FROM entry WHERE usage IS NOT NULL");
    assert_eq!(charged, [["-7200"]]);
    bank.verify();
}

#[test]
fn a_settlement_shows_the_accounts_tried() {
    let mut bank = with_pot();
    // Classes count too: they are known of the job, not of the settlement's entries.
    let night = [
        "--projects",
        "chemistry",
        "--classes",
        "night",
        "--priority",
        "-20",
    ];
    bank.bank_ok(&[&["account", "add", "night"][..], &night].concat());
    bank.bank_ok(&["deposit", "night", "5000"]);
    let document = Documents::own().with(4, &[(">chemistry<", ">nobody<")]);
    bank.script("charge", &document);
    bank.bank_ok(&["settle", "Moab.1024", "-A", "chemistry"]);
    let explanation = newest(&bank, "settle");
    let found = looked_at(&explanation);
    assert_eq!(found[0].0, "pot", "{explanation}");
    assert_eq!((found[0].1.as_str(), found[0].2.as_str()), ("1000", "turn"));
    assert_eq!(
        (found[1].0.as_str(), found[1].2.as_str()),
        ("chemistry", "turn")
    );
    let unfit = ("night".to_owned(), "0".to_owned(), "list".to_owned());
    assert!(found.contains(&unfit), "{explanation}");
    assert_eq!(
        explanation["charge"]["explanation"],
        "from #unbilled to the project"
    );
    assert_eq!(
        explanation["price"],
        Value::Array(Vec::new()),
        "{explanation}"
    );
    bank.verify();
}

/// Of one transaction as of the whole job.
#[test]
fn partial_debt_is_reported() {
    let mut bank = with_pot();
    bank.bank_ok(&[&["charge", "long", "--duration", "200000"][..], &WORK].concat());
    let explanation = newest(&bank, "charge");
    let explained = explanation["charge"]["explanation"].as_str().unwrap();
    assert!(explained.contains("partly debt"), "{explanation}");
    assert_eq!(
        explanation["charge"]["kind"], "charge_debt",
        "{explanation}"
    );
    let number = explanation["transaction"].to_string();
    let screen = bank.bank_ok(&["explain", "-t", &number]);
    assert!(screen.contains("partly debt"), "{screen}");
    bank.verify();
}

/// What lay on an account that goes holds elsewhere: of each lien the accounts in the order in which
/// they were looked at.
#[test]
fn liens_of_a_removed_account_show_the_accounts_tried() {
    let mut bank = with_pot();
    for (job, seconds) in [("one", "400"), ("two", "500")] {
        bank.bank_ok(&[&["reserve", job, "--wall", seconds][..], &WORK].concat());
    }
    // Both lie on the pot; chemistry has room for all but a part of the second.
    bank.bank_ok(&["withdraw", "chemistry", "99200"]);
    bank.bank_ok(&["account", "rm", "pot", "--force", "--yes"]);
    let explanation = newest(&bank, "account_rm");
    let gone = ("pot", "0", "removed");
    let expected = [
        gone,
        ("chemistry", "400", "turn"),
        gone,
        ("chemistry", "400", "turn"),
        ("#unbilled", "100", "suspense"),
    ];
    assert_eq!(looked_at(&explanation), rows(&expected), "{explanation}");
    let all = explanation["considered"].as_array().unwrap();
    let places: Vec<i64> = all.iter().map(|c| c["place"].as_i64().unwrap()).collect();
    assert_eq!(places, [1, 2, 1, 2, 3], "{explanation}");
    assert_ne!(all[0]["lien"], all[2]["lien"], "{explanation}");
    // Each entry names the job whose lien it is.
    let entries = explanation["entries"].as_array().unwrap().iter();
    let jobs: Vec<(&str, &str)> = entries
        .filter(|e| e["kind"] == "lien")
        .map(|e| (e["job"].as_str().unwrap(), e["held"].as_str().unwrap()))
        .collect();
    assert_eq!(
        jobs,
        [("one", "400"), ("two", "400"), ("two", "100")],
        "{explanation}"
    );
    let number = explanation["transaction"].to_string();
    let screen = bank.bank_ok(&["explain", "-t", &number]);
    // A long text goes on below itself.
    let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    let rest = "no funds left; the suspense account carries the rest";
    for part in ["lien", "its account or allocation was removed", rest] {
        assert!(screen.contains(part), "{part} in {screen}");
    }
    // It is among what happened to the job, with its own lien and no other's.
    let of_job = bank.json(&["explain", "two"]);
    let mut items = of_job["items"].as_array().unwrap().iter();
    let own = items.find(|one| one["op"] == "account_rm");
    let own = own.unwrap_or_else(|| panic!("{of_job}"));
    assert_eq!(looked_at(own), rows(&expected[2..]), "{own}");
    let mut entries = own["entries"].as_array().unwrap().iter();
    assert!(entries.all(|e| e["job"] != "one"), "{own}");
    bank.verify();
}

/// A job of a project may have been paid by an account that is not its own any more: whose it is now
/// sees that, who lost it sees the charge and not what is left there.
#[test]
fn the_rest_on_an_account_is_shown_to_those_who_see_it() {
    let mut bank = with_pot();
    bank.bank_ok(&[&["charge", "j", "--duration", "300"][..], &WORK].concat());
    let token = |id: &str, project: &str| {
        let role = ["--role", "pi", "-A", project, "--until", "2090-01-01"];
        let output = bank.bank_ok(&[&["token", "add", id][..], &role].concat());
        let text = output.lines().find(|line| line.starts_with("bk_"));
        text.unwrap().to_owned()
    };
    let (chemist, physicist) = (token("chemist", "chemistry"), token("physicist", "physics"));
    let number = newest(&bank, "charge")["transaction"].to_string();
    let call = |token: &str, arguments: &[&str]| -> Value {
        let all = [arguments, &["--json"]].concat();
        let ran = bank.bank_as(&[("BANK_TOKEN", token)], &all);
        assert_eq!(ran.exit, 0, "{all:?}: {}", ran.stderr);
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let questions = [
        &["journal", "-j", "j"][..],
        &["explain", "-t", &number],
        &["explain", "j"],
    ];
    let entry = |answer: &Value| {
        let items = answer["items"].as_array().unwrap();
        let rows = items
            .iter()
            .flat_map(|one| match one["entries"].as_array() {
                Some(entries) => entries.clone(),
                None => vec![one.clone()],
            });
        let charge = |row: &Value| row["kind"] == "charge";
        rows.into_iter().find(charge).unwrap_or_default()
    };
    for question in questions {
        let row = entry(&call(&chemist, question));
        assert_eq!(row["amount_after"], "700", "{question:?}: {row}");
        assert_eq!(row["held_after"], "0", "{question:?}: {row}");
    }
    // The pot is for physics from now on.
    bank.bank_ok(&["account", "set", "pot", "--projects", "physics"]);
    for question in questions {
        let row = entry(&call(&chemist, question));
        assert_eq!(row["amount"], "-300", "{question:?}: {row}");
        assert_eq!(row["amount_after"], Value::Null, "{question:?}: {row}");
        assert_eq!(row["held_after"], Value::Null, "{question:?}: {row}");
    }
    // Nor does the query language tell it.
    let standing = "Entry Query Kind==charge Show:=Amount,AmountAfter,HeldAfter";
    for (token, expected) in [(&chemist, "-300||"), (&physicist, "")] {
        let call = ["query", standing, "-P", "-n"];
        let ran = bank.bank_as(&[("BANK_TOKEN", token)], &call);
        assert_eq!(
            (ran.exit, ran.stdout.trim()),
            (0, expected),
            "{}",
            ran.stderr
        );
    }
    let ran = bank.bank(&["query", standing, "-P", "-n"]);
    assert_eq!(ran.stdout.trim(), "-300|700|0", "{}", ran.stderr);
    // The screen has no such words either, and who owns it now sees what came to it.
    let ran = bank.bank_as(&[("BANK_TOKEN", &chemist)], &["explain", "-t", &number]);
    assert!(!ran.stdout.contains("after"), "{}", ran.stdout);
    bank.bank_ok(&["deposit", "pot", "1"]);
    let rows = call(&physicist, &["journal", "-a", "pot"]);
    let last = rows["items"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["amount_after"], "701", "{rows}");
    bank.verify();
}

/// Price line, arithmetic and what was billed of the newest transaction of an op.
fn price_of(bank: &Bank, op: &str) -> [String; 4] {
    let explanation = newest(bank, op);
    let charge = &explanation["charge"];
    let sentences = explanation["effects"].as_array().unwrap().iter();
    let of_total = sentences
        .filter_map(Value::as_str)
        .find(|s| s.contains("total usage"));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = &explanation["price"][0];
    [
        format!("{} = {}", text(&line["text"]), text(&line["amount"])),
        text(&charge["itemisation"]),
        text(&charge["amount"]),
        of_total.unwrap_or_default().to_owned(),
    ]
}

fn resent(line: &str, made_of: &str, amount: &str, reason: &str) -> [String; 4] {
    let reason = format!("total usage was resent: {reason}");
    [line.into(), made_of.into(), amount.into(), reason]
}

/// The seconds of such a charge are the difference, which no price is of.
#[test]
fn a_resent_use_is_priced_as_a_whole() {
    let mut bank = Setup::new().chemistry(5_000).start();
    bank.bank_ok(&["machine", "add", "tower"]);
    bank.bank_ok(&["project", "members", "add", "physics", "amy"]);
    bank.bank_ok(&["deposit", "physics", "5000"]);
    bank.set_clock(T0 + 86_400);
    import(&bank, &[("1", "chemistry", 100)]);
    import(&bank, &[("1", "chemistry", 150)]);
    let less = "its price is billed, less earlier charges";
    let made_of = |seconds: i64| {
        format!(
            "( ( 1 [Processors] * 1 [ChargeRate{{VBR}}{{Processors}}] ) * {seconds} [WallDuration] ) = {seconds}"
        )
    };
    let line = "1 proc × 00:02:30 = 150";
    assert_eq!(
        price_of(&bank, "adjust"),
        resent(line, &made_of(150), "50", less)
    );
    import(&bank, &[("1", "physics", 60)]);
    let afresh = "earlier charges are refunded, and its price is billed";
    let line = "1 proc × 00:01:00 = 60";
    assert_eq!(
        price_of(&bank, "adjust"),
        resent(line, &made_of(60), "60", afresh)
    );
    let job = bank.json(&["jobs", "1"]);
    let remarks: Vec<&str> = job["charges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["explanation"].as_str().unwrap())
        .collect();
    assert_eq!(remarks[2], "returned to the payers", "{remarks:?}");

    let total = |procs: &str, seconds: &str| {
        let words = [
            "charge",
            "t1",
            "--procs",
            procs,
            "--duration",
            seconds,
            "--total",
        ];
        bank.bank_ok(&[&words[..], &["-A", "chemistry", "-u", "amy", "-m", "hut"]].concat());
    };
    bank.bank_ok(&["machine", "add", "hut"]);
    total("2", "100");
    total("1", "300");
    let line = "1 proc × 00:05:00 = 300";
    assert_eq!(
        price_of(&bank, "charge"),
        resent(line, &made_of(300), "100", less)
    );
    bank.verify();
}

/// A job whose reserve was refused has no transaction: the rule and its figures are kept beside the journal.
#[test]
fn a_refused_reserve_is_explained() {
    let mut bank = Setup::new().chemistry(57_599).start();
    let document = Documents::own().get(3);
    bank.script("reserve", &document).expect(78, "");
    bank.set_clock(T0 + 60);
    bank.script("reserve", &document).expect(78, "");
    let explanation = bank.json(&["explain", "Moab.1024"]);
    let refused = &explanation["refused"];
    assert_eq!(refused["code"], "insufficient_funds");
    assert_eq!(refused["tries"], 2);
    assert_eq!(
        (&refused["needed"], &refused["available"]),
        (&"57600".into(), &"57599".into())
    );
    let screen = bank.bank_ok(&["explain", "Moab.1024"]);
    for words in [
        "insufficient_funds",
        "57,599",
        "57,600",
        "user amy, project chemistry, refused 2 times",
    ] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    let elsewhere = bank.bank(&["explain", "Moab.1024", "-m", "tower"]);
    assert_eq!(elsewhere.exit, 4, "{}", elsewhere.stderr);
    let eve = Documents::own().with(3, &[("<User>amy<", "<User>eve<"), ("Moab.1024", "Moab.1")]);
    bank.script("reserve", &eve).expect(74, "");
    let explanation = bank.json(&["explain", "Moab.1"]);
    assert!(
        explanation["refused"]["detail"]
            .as_str()
            .unwrap()
            .contains("eve"),
        "{explanation}"
    );
    // The job got its lien later: its own transactions explain it.
    bank.bank_ok(&["deposit", "chemistry", "1"]);
    bank.set_clock(T0 + 120);
    bank.script("reserve", &document).expect(0, "");
    let explanation = bank.json(&["explain", "Moab.1024"]);
    assert!(
        explanation["refused"].is_null() && !explanation["items"].as_array().unwrap().is_empty(),
        "{explanation}"
    );
    bank.verify();
}
