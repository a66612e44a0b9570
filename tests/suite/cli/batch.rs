//! `bank batch`: commands from a file.

use std::fs;

use serde_json::{Value, json};

use crate::harness::Bank;

fn deposit(key: &str, name: &str) -> Value {
    json!({"path": "/api/v1/deposits", "key": key, "body": {"name": name, "amount": "10"}})
}

#[test]
fn the_command_line_sends_a_file() {
    let mut bank = Bank::new();
    let file = bank.folder().join("commands.jsonl");
    let name = file.display().to_string();
    let lines = [
        deposit("a", "chemistry"),
        deposit("b", "nobody"),
        deposit("c", "chemistry"),
    ];
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(&file, text.join("\n\n")).unwrap();
    let ran = bank.bank(&["batch", &name, "--all-or-nothing"]);
    assert_eq!(ran.exit, 4, "{ran:?}");
    assert!(ran.stderr.contains("line 3: "), "{ran:?}");
    assert!(ran.stderr.contains("nothing was written"), "{ran:?}");
    let ran = bank.bank(&["batch", &name]);
    assert_eq!(ran.exit, 4, "{ran:?}");
    assert!(ran.stdout.contains("not_found"), "{ran:?}");
    assert!(
        ran.stderr
            .contains("1 of 3 commands were refused, the first in line 3"),
        "{ran:?}"
    );
    fs::write(&file, format!("{}\n{{\"path\": 1}}\n", text[0])).unwrap();
    let ran = bank.bank(&["batch", &name]);
    assert_eq!(
        (ran.exit, ran.stderr.contains("line 2")),
        (2, true),
        "{ran:?}"
    );
    // What is wrong, where, and what to do, in words of ours.
    for (line, words) in [
        (
            r#"{"path": nope}"#,
            "line 2, column 11: this is not JSON: \"ope}\"",
        ),
        (
            r#"{"path": "ä", x}"#,
            "line 2, column 15: this is not JSON: \"x}\"",
        ),
        (
            r#"{"path": "/api/v1/deposits""#,
            "line 2, column 28: the command is not complete",
        ),
        (
            "[1]",
            "line 2, column 1: a command must be an object in braces",
        ),
        (
            r#"{"body": {}}"#,
            "line 2, column 1: the command has no \"path\"",
        ),
        (
            r#"{"path": 1}"#,
            "column 2: \"path\" must be text in quotation marks",
        ),
        (
            r#"{"path": "/x", "boody": {}}"#,
            "column 16: \"boody\" is not an entry of a command; the entries are method, path, key, event_time, body",
        ),
        (r#"{"path": "/x", "path": "/y"}"#, "an entry occurs twice"),
    ] {
        fs::write(&file, format!("{}\n{line}\n", text[0])).unwrap();
        let ran = bank.bank(&["batch", &name]);
        assert!(ran.stderr.contains(words), "{line}: {ran:?}");
        assert!(ran.stderr.contains("a line is one command"), "{ran:?}");
        assert!(!ran.stderr.contains("expected"), "{ran:?}");
    }
    fs::write(&file, &text[0]).unwrap();
    let done = bank.json(&["batch", &name]);
    let item = &done["items"][0];
    assert_eq!(
        (&item["line"], &item["status"], &item["replayed"]),
        (&json!(1), &json!(201), &json!(true))
    );
    assert_eq!(item["body"]["amount"], "10");
    bank.verify();
}
