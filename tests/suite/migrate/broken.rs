//! Errors of `bank migrate`, with each source: the file and the line (for a database the table and the row), the
//! column, what is wrong, and a remedy. Nothing is written.

use std::fmt::Write as _;
use std::process::Command;

use super::server::ran;
use super::tables::TABLES;
use super::{folder, gold_folder, new_bank};
use crate::harness::{Bank, skip, tool};

/// Refuses a command: every part is in the message, and there is a hint.
#[track_caller]
fn refused(bank: &Bank, line: &[&str], parts: &[&str]) {
    let ran = bank.bank(&[&["migrate"], line, &["--yes"]].concat());
    assert_ne!(ran.exit, 0, "{line:?}: {}", ran.stdout);
    for part in parts {
        assert!(ran.stderr.contains(part), "no {part:?} in {}", ran.stderr);
    }
    let hint = ran.stderr.lines().find(|line| line.starts_with("hint: "));
    assert!(hint.is_some_and(|hint| hint.len() > 12), "{}", ran.stderr);
}

const ACCOUNTS: (&str, &str) = ("accounts.csv", "name\nchem\n");

#[test]
fn every_source_names_the_place_of_an_error() {
    let mut bank = new_bank();
    let before = bank.transactions();
    let plain =
        |name: &str, rows: &[(&str, &str)]| folder(&bank, name, &[&[ACCOUNTS], rows].concat());
    let set = plain(
        "plain",
        &[("allocations.csv", "account,amount\nchem,1 000\n")],
    );
    refused(
        &bank,
        &["csv", &set],
        &["allocations.csv:2: amount \"1 000\" is not a number", "12"],
    );
    let file = format!("{set}/accounts.csv");
    for source in ["csv", "gold", "mam"] {
        refused(
            &bank,
            &[source, &file],
            &["accounts.csv is a file; a folder is needed", &set],
        );
        refused(
            &bank,
            &[source, "/no/such/folder"],
            &["cannot read the folder /no/such/folder"],
        );
    }
    let cut = plain(
        "cut",
        &[(
            "users.csv",
            "name,description\namy,x\nbob,\"the rest\neve,y\n",
        )],
    );
    refused(
        &bank,
        &["csv", &cut],
        &["users.csv:3: a quotation mark without its end"],
    );
    let empty = plain("empty", &[("allocations.csv", "")]);
    refused(
        &bank,
        &["csv", &empty],
        &["allocations.csv: no header line"],
    );
    let lists = folder(
        &bank,
        "mam",
        &[
            ("users.csv", "Name\namy\n"),
            ("accounts.csv", "Name\nchemistry\n"),
            ("funds.csv", "Id,Name\n7,grant\n"),
            ("allocations.csv", "Id,Fund,Remaining\n1,7,10\n2,8,5\n"),
        ],
    );
    refused(
        &bank,
        &["mam", &lists],
        &[
            "allocations.csv:3: Fund \"8\" is not in the list of funds",
            "mam-list-funds",
        ],
    );
    let dump = folder(
        &bank,
        "slurm",
        &[(
            "dump.cfg",
            "Cluster - 'colony'\nParent - 'root'\nAccount - 'chem':GrpTRESMins=cpu=lots\n",
        )],
    );
    refused(
        &bank,
        &["slurm", &format!("{dump}/dump.cfg")],
        &[
            "dump.cfg:3: GrpTRESMins cpu=\"lots\" of chem",
            "correct the limit",
        ],
    );
    // What the daemon refuses names the row too.
    let rates = plain(
        "rates",
        &[(
            "rates.csv",
            "kind,name,rate\nVBR,Nodes,1\nXYZ,Processors,1\n",
        )],
    );
    refused(
        &bank,
        &["csv", &rates],
        &["rates.csv:3: correct this row", "XYZ"],
    );
    assert_eq!(bank.transactions(), before);
    bank.verify();
}

#[test]
fn a_database_names_table_and_row() {
    if !tool("sqlite3") {
        return skip("sqlite3", "no client program of SQLite");
    }
    let mut bank = new_bank();
    let tables = gold_folder(&bank);
    let database = bank.folder().join("gold.db");
    let mut script = ".mode csv\n".to_owned();
    for (file, _) in TABLES {
        let table = file.strip_suffix(".csv").unwrap();
        let _ = writeln!(script, ".import {tables}/{file} {table}");
    }
    script += "UPDATE g_allocation SET g_amount = '9x' WHERE g_id = '2';\n";
    ran(
        Command::new("sqlite3").arg("-batch").arg(&database),
        &script,
    );
    let database = database.to_str().unwrap();
    let place = "table g_allocation, row 2 (g_id 2): g_amount \"9x\" is not a number";
    refused(&bank, &["gold", "--sqlite", database], &[place]);
    refused(
        &bank,
        &["gold", database],
        &["is a file; a folder is needed", "--sqlite"],
    );
    let text = folder(
        &bank,
        "text",
        &[("gold.db", "no database at all, but a text of some length\n")],
    );
    let text = format!("{text}/gold.db");
    refused(
        &bank,
        &["gold", "--sqlite", &text],
        &["sqlite3 failed", "not a database"],
    );
    bank.verify();
}
