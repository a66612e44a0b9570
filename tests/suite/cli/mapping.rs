//! Mappings, usage that waits for a project, and directories of people, through the real daemon.

use std::fs;

use crate::harness::{Bank, T0, text};

/// A line of a job of a source's user for a source's account, on 16 processors for ten minutes.
fn line(id: &str, account: &str, user: &str) -> String {
    format!(
        r#"{{"source":"slurm:colony","id":"{id}","machine":"colony","project":"{account}","user":"{user}","processors":16,"start":"2026-01-01T00:00:00Z","end":"2026-01-01T00:10:00Z","state":"COMPLETED","attributes":{{"namespace":"ns-{account}"}}}}"#
    )
}

fn import(bank: &Bank, lines: &[String]) -> String {
    bank.set_clock(T0 + 3600);
    let file = bank.folder().join("usage.jsonl");
    fs::write(&file, lines.join("\n")).unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()])
}

fn waiting(bank: &Bank) -> Vec<String> {
    let list = bank.json(&["unmapped", "--by", "account,user"]);
    let rows = list["items"].as_array().unwrap().iter();
    let shown = rows.map(|row| {
        format!(
            "{} {} {} {} {}",
            text(row, "account"),
            text(row, "user"),
            row["records"],
            text(row, "core_hours"),
            text(row, "unbilled")
        )
    });
    shown.collect()
}

#[test]
fn usage_that_waits_is_given_to_a_project_once() {
    let mut bank = Bank::new();
    let lines = [
        line("1", "grp_chem", "x1@egi.eu"),
        line("2", "grp_chem", "x1@egi.eu"),
        line("3", "grp_bio", "x2@egi.eu"),
        line("4", "chemistry", "amy"),
    ];
    let output = import(&bank, &lines);
    assert_eq!(output, "4 records: 1 charged, 3 unbilled\n");
    assert_eq!(
        waiting(&bank),
        [
            "grp_chem x1@egi.eu 2 5.333 19200",
            "grp_bio x2@egi.eu 1 2.667 9600"
        ]
    );
    assert_eq!(bank.figures("chemistry").0, 100_000 - 9600);
    let assign = ["unmapped", "assign", "account=grp_chem", "chemistry"];
    // A script says that it means it.
    let unconfirmed = bank.bank(&assign);
    assert_eq!(unconfirmed.exit, 2, "{}", unconfirmed.stderr);
    assert!(
        unconfirmed.stderr.contains("2 of 2 records"),
        "{}",
        unconfirmed.stderr
    );
    let before = bank.transactions();
    let dry = bank.bank_ok(&[&assign[..], &["--dry-run"]].concat());
    assert!(
        dry.contains("2 of 2 records go to project \"chemistry\""),
        "{dry}"
    );
    assert_eq!(bank.transactions(), before);
    let output = bank.bank_ok(&[&assign[..], &["--yes"]].concat());
    assert!(
        output
            .contains("charges and shadow charges were 19,200 credits, and are 19,200 credits now"),
        "{output}"
    );
    assert!(
        output.contains("mapping 1 assigns later usage too"),
        "{output}"
    );
    assert_eq!(waiting(&bank), ["grp_bio x2@egi.eu 1 2.667 9600"]);
    assert_eq!(bank.figures("chemistry").0, 100_000 - 9600 - 19_200);
    let done = bank.transactions();
    let again = bank.bank_ok(&[&assign[..], &["--yes"]].concat());
    assert!(again.contains("0 of 0 records"), "{again}");
    assert_eq!(bank.transactions(), done);
    // Later usage goes by the mapping, and what was known stays known.
    assert_eq!(import(&bank, &lines), "4 records: 4 duplicate\n");
    assert_eq!(
        import(&bank, &[line("5", "grp_chem", "x1@egi.eu")]),
        "1 record: 1 charged\n"
    );
    assert_eq!(text(&bank.job("5"), "project"), "chemistry");
    bank.verify();
}

/// Slurm adds the user who cancelled a job to its state.
#[test]
fn a_cancelled_job_is_imported() {
    let mut bank = Bank::new();
    let cancelled = line("1", "chemistry", "amy").replace("COMPLETED", "CANCELLED by 7");
    assert_eq!(import(&bank, &[cancelled]), "1 record: 1 charged\n");
    let by_state = bank.json(&[
        "usage",
        "--by",
        "state",
        "--from",
        "2026-01-01",
        "--to",
        "2026-02-01",
    ]);
    assert_eq!(
        by_state["rows"][0]["keys"]["state"], "CANCELLED",
        "{by_state}"
    );
    bank.verify();
}

/// What waits is the rest after refunds and undone charges: the amount of `#unbilled`.
#[test]
fn usage_that_waits_has_its_amount_without_refunds() {
    let mut bank = Bank::new();
    import(
        &bank,
        &["1", "2", "3"].map(|id| line(id, "grp_chem", "x1@egi.eu")),
    );
    bank.bank_ok(&["refund", "1"]);
    bank.bank_ok(&["refund", "2", "1600"]);
    assert_eq!(waiting(&bank), ["grp_chem x1@egi.eu 3 8.000 17600"]);
    assert_eq!(bank.figures("#unbilled").0, -17_600);
    bank.verify();
}

#[test]
fn usage_that_stays_has_a_reason() {
    let mut bank = Bank::new();
    bank.bank_ok(&["project", "add", "poor"]);
    import(
        &bank,
        &[
            line("1", "grp_chem", "x1@egi.eu"),
            line("2", "grp_chem", "x1@egi.eu"),
        ],
    );
    let assign = ["unmapped", "assign", "account=grp_chem", "poor"];
    let why = "0 of 2 records go to project \"poor\": their charges and shadow charges were 0 \
               credits, and are 0 credits now; 2 stay (no_usable_account: no account lets project \"poor\" spend for this user and \
               machine)";
    // Who reported it by the API is a collector that was heard.
    let source = bank.json(&["source", "show", "slurm:colony"]);
    assert_eq!(
        (&source["records"], &source["silent"]),
        (&2.into(), &false.into()),
        "{source}"
    );
    // Asked before it is meant, tried, and done: the same reason.
    let unconfirmed = bank.bank(&assign);
    assert_eq!(unconfirmed.exit, 2, "{}", unconfirmed.stderr);
    assert!(unconfirmed.stderr.contains(why), "{}", unconfirmed.stderr);
    for how in ["--dry-run", "--yes"] {
        let ran = bank.bank(&[&assign[..], &[how]].concat());
        assert_eq!(ran.exit, 1, "{how} {}", ran.stderr);
        assert!(ran.stdout.contains(why), "{how} {}", ran.stdout);
    }
    let done = bank.bank(&[&assign[..], &["--yes", "--json"]].concat());
    let done: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(done["reasons"][0]["code"], "no_usable_account", "{done}");
    assert_eq!(done["reasons"][0]["records"], 2, "{done}");
    bank.verify();
}

#[test]
fn mappings_are_queried_in_order_and_give_reasons() {
    let mut bank = Bank::new();
    for (arguments, exit) in [
        (&["colour=red", "-A", "chemistry"][..], 1),
        (&["account=x", "-A", "nowhere"], 4),
        (&["account=x"], 1),
        (&["account=x", "-A", "{user.1}"], 1),
        (&["account=x", "-A", "chemistry", "--priority=-1"], 1),
    ] {
        let ran = bank.bank(&[&["mapping", "add"][..], arguments].concat());
        assert_eq!(ran.exit, exit, "{arguments:?} {}", ran.stderr);
    }
    bank.bank_ok(&["mapping", "add", "account=grp_*", "-A", "{account.1}"]);
    bank.bank_ok(&[
        "mapping",
        "add",
        "account=grp_x*",
        "-A",
        "physics",
        "--priority",
        "5",
    ]);
    bank.bank_ok(&["mapping", "add", "user=*@egi.eu", "-u", "{user.1}"]);
    let twice = bank.bank(&["mapping", "add", "account=grp_*", "-A", "{account.1}"]);
    assert_eq!(twice.exit, 7, "{}", twice.stderr);
    let test = |words: &[&str]| {
        let tested = bank.json(&[&["mapping", "test"][..], words].concat());
        format!(
            "{} {} {} {}",
            tested["project"], tested["project_by"], tested["user"], tested["user_by"]
        )
    };
    assert_eq!(
        test(&["account=grp_chemistry", "user=amy@egi.eu"]),
        r#""chemistry" 1 "amy" 3"#
    );
    assert_eq!(
        test(&["account=grp_xy", "user=bob"]),
        r#""physics" 2 "bob" null"#
    );
    assert_eq!(
        test(&["account=astro", "user=bob"]),
        r#""astro" null "bob" null"#
    );
    bank.bank_ok(&["mapping", "set", "2", "--priority", "500"]);
    assert_eq!(
        test(&["account=grp_xy", "user=bob"]),
        r#""xy" 1 "bob" null"#
    );
    bank.bank_ok(&["mapping", "rm", "1", "--yes"]);
    assert_eq!(
        test(&["account=grp_xy", "user=bob"]),
        r#""physics" 2 "bob" null"#
    );
    assert_eq!(
        bank.json(&["mapping", "ls"])["items"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    // It is there after a restart.
    bank.stop();
    bank.start();
    assert_eq!(
        import(&bank, &[line("1", "grp_xa", "amy@egi.eu")]),
        "1 record: 1 charged\n"
    );
    let job = bank.job("1");
    assert_eq!(
        (text(&job, "project"), text(&job, "user")),
        ("physics", "amy")
    );
    bank.verify();
}

#[test]
fn a_directory_of_people_is_merged_and_takes_nothing_away() {
    let mut bank = Bank::new();
    bank.bank_ok(&[
        "user",
        "set",
        "amy",
        "--email",
        "amy@site.org",
        "--phone",
        "1",
    ]);
    let file = bank.folder().join("people.csv");
    let write = |content: &str| fs::write(&file, content).unwrap();
    let path = file.to_str().unwrap().to_owned();
    write(
        "user;name;email;aliases\n\
         amy;Amy A.;;x1@egi.eu\n\
         zoe;Zoe;zoe@site.org;\n\
         bob;;;x1@egi.eu\n\
         kim;Kim;kim@site.org\n",
    );
    let ran = bank.bank(&["user", "import", &path, "--strict"]);
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    assert_eq!(ran.stdout, "4 entries: 1 added, 1 changed, 2 refused\n");
    let message = ran.stderr.replace(&path, "FILE");
    assert!(message.contains("FILE:4: in_use"), "{message}");
    assert!(message.contains("FILE:5: bad_line"), "{message}");
    let amy = bank.json(&["user", "show", "amy"]);
    assert_eq!(text(&amy, "common_name"), "Amy A.");
    assert_eq!(text(&amy, "email"), "amy@site.org");
    assert_eq!(text(&amy, "phone"), "1");
    assert_eq!(amy["aliases"][0], "x1@egi.eu");
    let done = bank.transactions();
    let again = bank.bank(&["user", "import", &path]);
    assert_eq!(again.stdout, "4 entries: 2 refused, 2 unchanged\n");
    assert_eq!(bank.transactions(), done);
    // A new user with an other name of amy is not amy.
    write("user;name;aliases\nray;Ray;x1@egi.eu\n");
    let ran = bank.bank(&["user", "import", &path, "--strict"]);
    assert_eq!(ran.stdout, "1 entry: 1 refused\n");
    assert!(ran.stderr.contains("in_use"), "{}", ran.stderr);
    assert!(ran.stderr.contains("aliases"), "{}", ran.stderr);
    assert_eq!(bank.transactions(), done);
    // The database of ai4-accounting, by the address of who is known.
    write(
        r#"{"z9@egi.eu": {"name": "Somebody", "email": "ZOE@site.org"}, "n1@egi.eu": {"name": "New"}}"#,
    );
    let output = bank.bank_ok(&["user", "import", &path, "--by-email", "--keep"]);
    assert_eq!(output, "2 entries: 1 added, 1 changed\n");
    let zoe = bank.json(&["user", "show", "zoe"]);
    assert_eq!(
        (text(&zoe, "common_name"), &zoe["aliases"][0]),
        ("Zoe", &"z9@egi.eu".into())
    );
    // Usage of somebody by another name is theirs.
    import(&bank, &[line("1", "chemistry", "x1@egi.eu")]);
    assert_eq!(text(&bank.job("1"), "user"), "amy");
    bank.verify();
}

/// In a mode that moves no money the shadow figures of the project move, and the proof of chunks holds.
#[test]
fn where_no_money_moves_shadow_figures_go_to_the_project() {
    let mut bank = Bank::new();
    bank.bank_ok(&["machine", "set", "colony", "--mode", "track"]);
    import(
        &bank,
        &[
            line("1", "grp_chem", "x1@egi.eu"),
            line("2", "grp_bio", "x2@egi.eu"),
        ],
    );
    let waits = bank.json(&["unmapped"]);
    assert_eq!(text(&waits["total"], "shadow"), "19200");
    assert_eq!(text(&waits["total"], "unbilled"), "0");
    let assign = [
        "unmapped",
        "assign",
        "account=grp_*",
        "chemistry",
        "--no-rule",
        "--yes",
    ];
    let output = bank.bank_ok(&assign);
    assert!(output.contains("2 of 2 records"), "{output}");
    assert_eq!(bank.figures("chemistry").0, 100_000);
    assert_eq!(waiting(&bank), [""; 0]);
    assert_eq!(
        bank.json(&["mapping", "ls"])["items"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
    bank.verify();
}
