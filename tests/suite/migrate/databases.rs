//! Gold's database, through the client programs: `SQLite` and `PostgreSQL` themselves, and for addresses a program
//! in the place of `MySQL`'s client.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::server::{Home, ran};
use super::{balances, gold_folder, moved, new_bank, tables::TABLES};
use crate::harness::{Bank, Ran, postgresql, skip, tool};

pub(super) const CHEM: &str = "chem 97550.000 120.500 100.000";

fn name(file: &str) -> &str {
    file.strip_suffix(".csv").unwrap()
}

#[test]
fn a_database_of_sqlite_moves_in() {
    if !tool("sqlite3") {
        skip("a_database_of_sqlite_moves_in", "no sqlite3");
        return;
    }
    let mut bank = new_bank();
    let folder = gold_folder(&bank);
    let file = bank.folder().join("gold.db");
    let mut script = ".mode csv\n".to_owned();
    for (table, _) in TABLES {
        let _ = writeln!(script, ".import {folder}/{table} {}", name(table));
    }
    // A value with line ends and quotation marks, and a number as the database stores it.
    script += "UPDATE g_account SET g_description = 'two' || char(10) || '\"lines\"' WHERE g_id = '1';\n\
        UPDATE g_allocation SET g_amount = 97550.0 WHERE g_id = '1';\n";
    ran(Command::new("sqlite3").arg("-batch").arg(&file), &script);
    let before = fs::read(&file).unwrap();
    let file = file.to_str().unwrap();
    moved(&bank.bank(&["migrate", "gold", "--sqlite", file, "--yes"]));
    assert!(
        balances(&bank).contains(&CHEM.to_owned()),
        "{:?}",
        balances(&bank)
    );
    assert_eq!(fs::read(file).unwrap(), before);
    let account = bank.json(&["account", "show", "chem"]);
    assert_eq!(account["description"], "two \"lines\"", "{account}");
    let none = bank.bank(&["migrate", "gold", "--sqlite", "/no/such/file", "--dry-run"]);
    assert_eq!(none.exit, 2);
    assert!(none.stderr.contains("sqlite3 failed"), "{}", none.stderr);
    bank.verify();
}

/// A server of `PostgreSQL`.
struct Postgres {
    home: Home,
    programs: PathBuf,
}

impl Postgres {
    fn start(bank: &Bank, programs: PathBuf) -> Self {
        let home = Home::new(bank, "pg");
        let server = Self { home, programs };
        let data = server.home.path("data");
        let words = ["-D", &data, "-U", "gold", "-A", "trust", "-E", "UTF8"];
        let words = [&words[..], &["--locale=C", "-N"]].concat();
        ran(&mut server.program("initdb", &words), "");
        let socket = server.home.folder.display();
        let options =
            format!("-c listen_addresses= -c unix_socket_directories={socket} -c fsync=off");
        let log = format!("{socket}/log");
        let words = ["-D", &data, "-o", &options, "-l", &log, "-w", "start"];
        ran(&mut server.program("pg_ctl", &words), "");
        server
    }

    fn program(&self, name: &str, words: &[&str]) -> Command {
        self.home.program(&self.programs.join(name), words)
    }

    fn url(&self) -> String {
        let folder = self.home.folder.display();
        format!("postgresql:///postgres?host={folder}&user=gold")
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let words = ["-D", &self.home.path("data"), "-m", "immediate", "stop"];
        let _ = Ran::of(&mut self.program("pg_ctl", &words), b"");
    }
}

#[test]
fn a_database_of_postgresql_moves_in() {
    let Some(programs) = postgresql() else {
        skip("a_database_of_postgresql_moves_in", "no PostgreSQL server");
        return;
    };
    let mut bank = new_bank();
    let folder = gold_folder(&bank);
    let server = Postgres::start(&bank, programs);
    let mut script = String::new();
    for (table, text) in TABLES {
        let columns: Vec<String> = text
            .lines()
            .next()
            .unwrap()
            .split(',')
            .map(column)
            .collect();
        let _ = writeln!(
            script,
            "CREATE TABLE {} ({});",
            name(table),
            columns.join(", ")
        );
        let _ = writeln!(
            script,
            "\\copy {} from '{folder}/{table}' with (format csv, header true)",
            name(table)
        );
    }
    let url = server.url();
    let mut psql = Command::new("psql");
    psql.args([
        "--no-psqlrc",
        "-v",
        "ON_ERROR_STOP=1",
        "-q",
        "-f",
        "-",
        &url,
    ]);
    ran(&mut psql, &script);
    moved(&bank.bank(&["migrate", "gold", "--postgres", &url, "--yes"]));
    assert!(
        balances(&bank).contains(&CHEM.to_owned()),
        "{:?}",
        balances(&bank)
    );
    ran(
        Command::new("psql").args(["-q", "-c", "drop table g_job", &url]),
        "",
    );
    let ran = bank.bank(&["migrate", "gold", "--postgres", &url, "--dry-run"]);
    assert_eq!(ran.exit, 2);
    assert!(
        ran.stderr.contains("psql failed") && ran.stderr.contains("g_job"),
        "{}",
        ran.stderr
    );
    bank.verify();
}

/// The columns that are numbers in Gold's own database.
pub(super) fn column(name: &str) -> String {
    let of = match name {
        "g_amount" | "g_credit_limit" | "g_deposited" | "g_rate" | "g_charge" => "double precision",
        "g_start_time" | "g_end_time" | "g_creation_time" | "g_modification_time" => "bigint",
        _ => "text",
    };
    format!("{name} {of}")
}

/// A program in the place of `mysql`: it keeps its words and its input, and prints the tables.
fn fake_mysql(folder: &Path) {
    let mut output = String::new();
    // Without history, nobody asks for the journal.
    for (table, text) in TABLES
        .iter()
        .filter(|(table, _)| *table != "g_transaction.csv")
    {
        let _ = write!(output, "== bank migrate: table {} ==\n1\n", name(table));
        for line in text.lines() {
            let line = line.replace('"', "");
            let cells = line
                .split(',')
                .map(|cell| if cell.is_empty() { "NULL" } else { cell });
            let _ = writeln!(output, "{}", cells.collect::<Vec<&str>>().join("\t"));
        }
    }
    let output = output.replace("first", "two\\nlines\\t\\\\");
    fs::write(folder.join("output"), output).unwrap();
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > {0}/words\ncat > {0}/input\ncat {0}/output\n",
        folder.display()
    );
    let program = folder.join("mysql");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_database_of_mysql_is_read_in_one_snapshot() {
    let mut bank = new_bank();
    let folder = bank.folder().join("bin");
    fs::create_dir(&folder).unwrap();
    fake_mysql(&folder);
    let path = format!(
        "{}:{}",
        folder.display(),
        std::env::var_os("PATH").unwrap().display()
    );
    let env = [("PATH", path.as_str())];
    let words = [
        "migrate",
        "gold",
        "--mysql",
        "mysql://gold@db.example:3307/gold",
        "--no-history",
        "--yes",
    ];
    moved(&bank.bank_as(&env, &words));
    assert!(
        balances(&bank).contains(&CHEM.to_owned()),
        "{:?}",
        balances(&bank)
    );
    assert_eq!(
        fs::read_to_string(folder.join("words")).unwrap(),
        "--batch\n--default-character-set=utf8mb4\n--database=gold\n--user=gold\n--host=db.example\n--port=3307\n"
    );
    let input = fs::read_to_string(folder.join("input")).unwrap();
    assert!(
        input.contains("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY;\n"),
        "{input}"
    );
    assert!(input.contains("SELECT * FROM g_allocation;\n"), "{input}");
    let account = bank.json(&["account", "show", "chem"]);
    assert_eq!(account["description"], "two lines \\", "{account}");
    let secret = [
        "migrate",
        "gold",
        "--mysql",
        "mysql://gold:secret@db/gold",
        "--dry-run",
    ];
    let ran = bank.bank_as(&env, &secret);
    assert_eq!(ran.exit, 2);
    assert!(ran.stderr.contains("has a password"), "{}", ran.stderr);
    let none = bank.bank_as(&[("PATH", "/nowhere")], &words);
    assert!(
        none.stderr
            .contains("the program mysql or mariadb is not installed here"),
        "{}",
        none.stderr
    );
    bank.verify();
}
