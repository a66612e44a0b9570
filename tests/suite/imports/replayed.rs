//! Replays of rates over imported uses: those of chunks count like those with an instance.

use serde_json::{Value, json};

use super::{HEAD, assign, file};
use crate::harness::{Bank, Setup, T0};

/// One use of ten minutes for each way: a charge of a scheduler, a use with an instance, and a use of a chunk.
fn used() -> Bank {
    let bank = Setup::new().start();
    let run = |line: &str| bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
    run("machine add farm --mode track");
    run("machine add blue --mode track");
    run("charge a -A chemistry -u amy -m colony --procs 1 --wall 600");
    bank.set_clock(T0 + 86_400);
    let line = json!({
        "source": "farm", "id": "b", "machine": "farm", "project": "chemistry", "user": "amy", "processors": 1,
        "start": "2026-01-01T10:00:00Z", "end": "2026-01-01T10:10:00Z",
    });
    let one = file(&bank, "use.jsonl", line.to_string());
    bank.bank_ok(&["import", "jsonl", &one]);
    let text = format!(
        "{HEAD}3|blue|amy|chemistry|COMPLETED|0:0|2026-01-01T10:00:00|2026-01-01T10:00:00|2026-01-01T10:10:00|1|1\n"
    );
    let chunk = file(&bank, "day.sacct", text);
    bank.bank_ok(&["import", "sacct", &chunk, "--source", "slurm:blue"]);
    bank
}

/// Charges, their sum and their sum by a proposed rate of money and of shadow totals, and the number of jobs left out.
fn replayed(bank: &Bank, more: &[&str]) -> [String; 3] {
    let words = ["rate", "test", "--replay", "last-30-days"];
    let answer = bank.json(&[&words[..], more].concat());
    let replay = &answer["replay"];
    let sums = |row: &Value| {
        let text = |name: &str| row[name].as_str().unwrap().to_owned();
        format!("{} {} {}", row["charges"], text("billed"), text("proposed"))
    };
    [
        sums(&replay["total"]),
        sums(&replay["shadow_total"]),
        replay["left_out"].to_string(),
    ]
}

#[test]
fn uses_of_chunks_are_priced_again_as_shadow_totals() {
    let mut bank = used();
    for (rates, expected) in [
        (
            &["--rate", "VBR Processors 2"][..],
            ["1 600 1200", "2 1200 2400", "0"],
        ),
        // The record of the chunk has a node.
        (
            &["--rate", "VBR Nodes 2"],
            ["1 600 600", "2 1200 2400", "0"],
        ),
        (
            &["--rate", "VBR Nodes 2", "--only"],
            ["1 600 0", "2 1200 1200", "0"],
        ),
        (
            &["--rate", "NBM User amy 3"],
            ["1 600 1800", "2 1200 3600", "0"],
        ),
        // A row of a chunk has no attributes.
        (&["--rate", "VBR Colour 2"], ["1 600 600", "1 600 600", "1"]),
    ] {
        assert_eq!(replayed(&bank, rates), expected, "{rates:?}");
    }
    let words = [
        "rate",
        "test",
        "--replay",
        "last-30-days",
        "--rate",
        "VBR Colour 2",
    ];
    let output = bank.bank_ok(&words);
    assert!(
        output.contains("left out: 1 job that cannot be priced"),
        "{output}"
    );
    bank.verify();
}

/// A use of a chunk ends in the period of the replay, and counts for the project that it was assigned to.
#[test]
fn a_replay_has_the_uses_that_ended_in_its_period() {
    let mut bank = used();
    let text = format!(
        "{HEAD}4|blue|amy|nope|COMPLETED|0:0|2026-01-01T11:00:00|2026-01-01T11:00:00|2026-01-01T12:00:00|1|1\n"
    );
    let chunk = file(&bank, "more.sacct", text);
    bank.bank_ok(&["import", "sacct", &chunk, "--source", "slurm:blue"]);
    assign(&bank);
    let shadow = |from: &str, to: &str| {
        let span = ["--from", from, "--to", to, "--rate", "VBR Processors 2"];
        let answer = bank.json(&[&["rate", "test"], &span[..]].concat());
        let rows = answer["replay"]["rows"].as_array().unwrap().iter();
        let rows = rows.filter(|row| row["shadow"] == true);
        let row = |row: &Value| {
            let text = |name: &str| row[name].as_str().unwrap().to_owned();
            format!(
                "{} {} {}",
                text("project"),
                row["charges"],
                text("proposed")
            )
        };
        rows.map(row).collect::<Vec<_>>()
    };
    let hour = |hour: u32| format!("2026-01-01T{hour:02}:00:00Z");
    assert_eq!(shadow(&hour(10), &hour(13)), ["chemistry 3 9600"]);
    assert_eq!(shadow(&hour(11), &hour(13)), ["chemistry 1 7200"]);
    // The end is exclusive.
    assert_eq!(shadow(&hour(10), &hour(12)), ["chemistry 2 2400"]);
    bank.verify();
}
