//! Rates, attributes and quotes that were given, as an administrator types them.

use crate::harness::{Bank, Documents, Setup, T0, text};

/// Runs `bank`, and wants an exit code and parts of what it says about the failure.
#[track_caller]
fn fails(bank: &Bank, arguments: &[&str], exit: i32, parts: &[&str]) {
    let ran = bank.bank(arguments);
    assert_eq!(
        ran.exit, exit,
        "{arguments:?}: {}{}",
        ran.stdout, ran.stderr
    );
    assert_eq!(ran.stdout, "", "{arguments:?}");
    ran.expect_stderr(parts);
}

#[test]
fn rates_of_every_form_are_set_and_listed() {
    let mut bank = Bank::new();
    for (words, expected) in [
        (
            &["NBM", "QualityOfService", "high,premium", "1.5"][..],
            "NBM QualityOfService high,premium 1.5",
        ),
        (&["NBM", "Class=short", "0.5"], "NBM Class short 0.5"),
        (
            &["MVBR", "Disk", "by", "User=amy", "0.5"],
            "MVBR Disk User=amy 0.5 per second",
        ),
        (&["Disk", "User", "bob", "0.5"], "MVBR Disk User=bob 0.5"),
        (
            &[
                "VBR",
                "Memory",
                "--instance",
                "1-64,128-256",
                "2",
                "--per",
                "hour",
            ],
            "VBR Memory 1-64,128-256 2 per hour",
        ),
        (
            &[
                "VBR",
                "Processors",
                "0.5",
                "--when",
                "20:00-08:00 Europe/Berlin",
            ],
            "VBR Processors 0.5 per second (20:00-08:00 Europe/Berlin)",
        ),
        (&["MIN", "5"], "MIN Charge 5"),
        (
            &["MAX", "1000000", "-m", "colony"],
            "MAX Charge 1000000 on colony",
        ),
    ] {
        let all = [&["rate", "set"][..], words].concat();
        let answer = bank.bank_ok(&all);
        assert!(answer.contains(expected), "{answer}");
    }
    let misspelt = bank.bank(&["rate", "set", "VBR", "Procesors", "1"]);
    assert_eq!(misspelt.exit, 0, "{}", misspelt.stderr);
    assert!(
        misspelt.stderr.contains("Processors"),
        "{}",
        misspelt.stderr
    );
    let listed = bank.bank_ok(&[
        "rate",
        "ls",
        "-P",
        "-n",
        "--columns",
        "kind,name,instance,when",
    ]);
    for row in [
        "NBM|QualityOfService|high,premium|",
        "MVBR|Disk|User=bob|",
        "VBR|Processors||20:00-08:00 Europe/Berlin",
        "MIN|Charge||",
    ] {
        assert!(
            listed.lines().any(|line| line == row),
            "no {row} in\n{listed}"
        );
    }
    bank.bank_ok(&["rate", "set", "MIN", "6"]);
    let minimum = |verb: &str| {
        let rows = bank.bank_ok(&["rate", verb, "-P", "-n", "--columns", "kind,rate"]);
        rows.lines().filter(|line| line.starts_with("MIN")).count()
    };
    assert_eq!((minimum("ls"), minimum("history")), (1, 2));
    bank.verify();
}

#[test]
fn invalid_rates_are_reported_in_one_line_and_nothing_is_written() {
    let mut bank = Bank::new();
    let before = bank.transactions();
    for (words, exit, parts) in [
        (&["VBR", "Processors", "5-1", "1"][..], 1, &["ranges"][..]),
        (&["VBR", "Processors"], 2, &["rate"]),
        (
            &[
                "VBR",
                "Processors",
                "1",
                "--when",
                "08:00-20:00 Mars/Olympus",
            ],
            1,
            &["Europe/Berlin"],
        ),
        (
            &["VBR", "Processors", "1", "--from", "2001-01-01"],
            1,
            &["now or later"],
        ),
    ] {
        fails(&bank, &[&["rate", "set"][..], words].concat(), exit, parts);
    }
    assert_eq!(bank.transactions(), before);
    bank.verify();
}

#[test]
fn proposed_rates_are_tested_on_usage_and_on_the_past() {
    let mut bank = Bank::new();
    bank.bank_ok(&[
        "rate",
        "set",
        "VBR",
        "Processors",
        "0.5",
        "--when",
        "20:00-08:00",
    ]);
    let test = ["rate", "test", "Processors=10", "--wall", "4:00:00"];
    let evening = ["--start", "2030-06-03T18:00:00Z"];
    let now = bank.bank_ok(&[&test[..], &evening].concat());
    assert!(now.contains("now: 108,000"), "{now}");
    let proposal = ["--rate", "VBR Processors 2"];
    let both = bank.bank_ok(&[&test[..], &evening, &proposal].concat());
    assert!(both.contains("proposed: 180,000"), "{both}");
    assert!(both.contains("* 7200 [WallDuration]"), "{both}");
    let ran = bank.bank(&["rate", "test", "Colour=red", "--wall", "60"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("unpriced"), "{}", ran.stderr);
    let night = bank.bank_ok(&["rate", "ls", "-P", "-n", "--columns", "id,when"]);
    let night = night.lines().find(|line| line.ends_with("08:00")).unwrap();
    let (id, _) = night.split_once('|').unwrap();
    bank.bank_ok(&["rate", "rm", id, "--yes"]);

    let documents = Documents::own();
    for (event, number) in [("reserve", 3), ("charge", 4), ("charge", 5), ("delete", 6)] {
        bank.script(event, &documents.get(number)).expect(0, "");
    }
    let before = bank.transactions();
    let replay = ["rate", "test", "--replay", "last-30-days", "--only"];
    let output = bank.bank_ok(&[&replay[..], &proposal].concat());
    let rows: Vec<Vec<&str>> = output
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let row = |first: &str| rows.iter().find(|row| row.first() == Some(&first)).unwrap();
    assert_eq!(
        row("chemistry")[1..],
        ["amy", "2", "35,744", "71,488", "35,744"],
        "{output}"
    );
    assert!(
        row("total").ends_with(&["2", "35,744", "71,488", "35,744"]),
        "{output}"
    );
    fails(&bank, &["rate", "test", "--replay", "ever"], 2, &["ever"]);
    fails(&bank, &["rate", "test", "Processors=1"], 2, &["--wall"]);
    fails(
        &bank,
        &["rate", "test", "--rate", "nonsense", "--wall", "1"],
        2,
        &["nonsense"],
    );
    let explained = bank.bank_ok(&["rate", "explain", "Moab.1024"]);
    let arithmetic = "  ( ( 16 [Processors] * 1 [ChargeRate{VBR}{Processors}] ) * 1800 \
                      [WallDuration]\n    ) = 28800";
    assert!(explained.contains(arithmetic), "{explained}");
    assert!(explained.contains("total 35,744"), "{explained}");
    let job = bank.bank_ok(&["jobs", "Moab.1024"]);
    assert!(
        !job.contains("ChargeRate"),
        "only `rate explain` goes so far: {job}"
    );
    fails(&bank, &["rate", "explain", "nosuch"], 4, &["nosuch"]);
    assert_eq!(bank.transactions(), before, "questions write nothing");
    // A refund changes no price.
    let job = bank.query("SELECT object_id FROM instance");
    bank.bank_ok(&["refund", &job[0][0], "100"]);
    assert_eq!(bank.bank_ok(&[&replay[..], &proposal].concat()), output);
    bank.verify();
}

/// No rate was changed, so the replay differs in nothing: not for given amounts, nor for an undone charge with a fee.
#[test]
fn a_replay_of_unchanged_rates_differs_in_nothing() {
    let mut bank = Setup::new().chemistry(100_000).start();
    bank.bank_ok(&["rate", "set", "VBU", "Processors", "3"]);
    bank.set_clock(T0 + 86_400);
    let charge = |job: &str, more: &[&str]| {
        let whose = ["-A", "chemistry", "-u", "amy", "-m", "colony"];
        bank.bank_ok(&[&["charge", job][..], &whose, more].concat());
        bank.transactions()
    };
    let work = ["--procs", "1", "--duration", "600"];
    charge("a", &["--amount", "5000"]);
    charge("b", &[&work[..], &["--interim"]].concat());
    charge("b", &["--amount", "40"]);
    for (job, undos) in [("c", 1), ("d", 2)] {
        let mut tx = charge(job, &work);
        for _ in 0..undos {
            bank.bank_ok(&["undo", &tx.to_string()]);
            tx = bank.transactions();
        }
    }
    let given = charge("e", &["--amount", "70"]);
    bank.bank_ok(&["undo", &given.to_string()]);
    // A job of two projects.
    bank.bank_ok(&["deposit", "physics", "1000"]);
    for owner in ["-A chemistry -u amy", "-A physics -u bob"] {
        let line = format!("charge f {owner} -m colony --procs 1 --duration 100 --interim");
        bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
    }
    moved_uses(&bank);
    bank.set_clock(T0 + 2 * 86_400);
    let answer = bank.json(&["rate", "test", "--replay", "last-30-days"]);
    let total = &answer["replay"]["total"];
    // 5,000, 40, two jobs of 600 with the fee of 3 each, 200 with one fee, and two uses of 10 with it.
    assert_eq!(total["billed"], "6475", "{answer:#}");
    assert_eq!(total["difference"], "0", "{answer:#}");
    let rows = answer["replay"]["rows"].as_array().unwrap().iter();
    let rows = rows.map(|row| ["project", "billed", "difference"].map(|name| text(row, name)));
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            ["chemistry", "6349", "0"],
            // Of the person whose use moved.
            ["chemistry", "0", "0"],
            ["nowhere", "0", "0"],
            ["physics", "126", "0"]
        ],
        "{answer:#}"
    );
    let doubled = ["--rate", "VBR Processors 2", "--rate", "VBU Processors 6"];
    let answer = bank.json(&[&["rate", "test", "--replay", "last-30-days"], &doubled[..]].concat());
    let rows = answer["replay"]["rows"].as_array().unwrap().iter();
    let rows = rows.map(|row| ["project", "proposed"].map(|name| text(row, name)));
    assert_eq!(
        rows.collect::<Vec<_>>(),
        // The given amounts stay.
        [
            ["chemistry", "7658"],
            ["chemistry", "0"],
            ["nowhere", "0"],
            ["physics", "252"]
        ],
        "{answer:#}"
    );
    bank.verify();
}

/// One use moves from chemistry to physics with its record, and one of an unknown project is settled.
fn moved_uses(bank: &Bank) {
    bank.bank_ok(&["machine", "add", "cluster", "--source", "site:cluster"]);
    let record = |id: &str, project: &str| {
        let line = serde_json::json!({
            "source": "site:cluster", "id": id, "machine": "cluster", "project": project, "user": "bob",
            "start": "2026-01-01T00:00:00Z", "end": "2026-01-01T00:00:10Z", "processors": 1, "state": "completed",
        });
        let file = bank.folder().join("record.jsonl");
        std::fs::write(&file, line.to_string()).unwrap();
        bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()]);
    };
    record("g", "chemistry");
    record("g", "physics");
    record("h", "nowhere");
    bank.bank_ok(&["settle", "h", "-A", "physics"]);
    // The uses are of the project that pays, also where they are counted.
    let period = [
        "--from",
        "2025-12-01",
        "--to",
        "2026-03-01",
        "-m",
        "cluster",
    ];
    let statement = bank.json(&[&["statement", "--summary"], &period[..]].concat());
    let parts = statement["parts"].as_array().unwrap().iter();
    let jobs = parts.map(|part| (text(part, "name"), part["jobs"].as_i64().unwrap()));
    let mut jobs: Vec<_> = jobs.filter(|(_, jobs)| *jobs > 0).collect();
    jobs.sort_unstable();
    assert_eq!(jobs, [("physics", 2)], "{statement:#}");
    let columns = [
        "usage",
        "--by",
        "project",
        "--columns",
        "jobs,charged",
        "-P",
        "-n",
    ];
    let usage = bank.bank_ok(&[&columns[..], &period[..]].concat());
    assert!(usage.starts_with("2|"), "{usage}");
}

#[test]
fn attributes_are_declared_and_priced() {
    let mut bank = Bank::new();
    bank.bank_ok(&["attr", "add", "colour", "--description", "of the queue"]);
    bank.bank_ok(&["attr", "add", "Heat", "--type", "number"]);
    let listed = bank.bank_ok(&["attr", "ls", "-P", "-n"]);
    assert_eq!(listed, "Heat|number|\ncolour|text|of the queue\n");
    bank.bank_ok(&["rate", "set", "NBF", "colour", "red", "5"]);
    let quote = |attribute: &str| {
        let job = ["quote", "--procs", "1", "--wall", "10", "-X", attribute];
        let whose = ["-A", "chemistry", "-u", "amy", "-m", "colony"];
        bank.bank(&[&job[..], &whose].concat())
    };
    let red = quote("colour=red");
    assert!(red.stdout.contains("15 "), "{}{}", red.stdout, red.stderr);
    let warm = quote("heat=warm");
    assert_eq!(warm.exit, 1, "{}", warm.stderr);
    fails(&bank, &["attr", "add", "COLOUR"], 7, &["colour"]);
    fails(&bank, &["attr", "add", "Processors"], 7, &["property"]);
    fails(&bank, &["attr", "add", "5"], 1, &["refused"]);
    fails(
        &bank,
        &["attr", "add", "x", "--type", "date"],
        2,
        &["text, number"],
    );
    fails(&bank, &["attr", "rm", "colour", "--yes"], 1, &["rate"]);
    bank.bank_ok(&["attr", "rm", "Heat", "--yes"]);
    fails(&bank, &["attr", "rm", "Heat", "--yes"], 4, &["Heat"]);
    bank.verify();
}

#[test]
fn guaranteed_quotes_are_listed_shown_and_ended() {
    let mut bank = Bank::new();
    let whose = ["-A", "chemistry", "-u", "amy", "-m", "colony"];
    let job = ["quote", "--procs", "16", "--wall", "1:00:00", "--guarantee"];
    let output = bank.bank_ok(&[&job[..], &whose].concat());
    assert!(output.contains("guaranteed as quote 1 (TID "), "{output}");
    bank.bank_ok(&[&job[..], &whose, &["--uses", "3"]].concat());
    fails(
        &bank,
        &[&job[..], &whose, &["--uses", "0"]].concat(),
        1,
        &["1 to 1000"],
    );
    let columns = ["-P", "-n", "--columns", "id,state,amount,uses"];
    let listed = bank.bank_ok(&[&["quote", "ls"][..], &columns].concat());
    assert_eq!(listed, "2|valid|57600|3\n1|valid|57600|1\n");
    let tid = bank.bank_ok(&["quote", "show", "1", "-P", "-n", "--columns", "tid"]);
    assert!(output.contains(tid.trim()), "{output} {tid}");
    bank.bank_ok(&["quote", "rm", "1", "--yes"]);
    let listed = bank.bank_ok(&[&["quote", "ls", "--valid"][..], &columns].concat());
    assert_eq!(listed, "2|valid|57600|3\n");
    let shown = bank.bank_ok(&[&["quote", "show", "1"][..], &columns].concat());
    assert_eq!(shown, "1|ended|57600|0\n");
    fails(&bank, &["quote", "rm", "1", "--yes"], 4, &["quote"]);
    fails(&bank, &["quote", "show", "9"], 4, &["9"]);
    fails(&bank, &["quote", "--procs", "1"], 2, &["--wall"]);
    bank.verify();
}
