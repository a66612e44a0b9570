//! Gold's database on a real server of `MariaDB`, read by its own client.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::databases::{CHEM, column};
use super::server::{Home, ran};
use super::{balances, gold_folder, moved, new_bank, tables::TABLES};
use crate::harness::{Bank, Ran, skip, tool, until};

/// A server in the folder of a bank, which is reached by its socket only.
pub(crate) struct MariaDb {
    home: Home,
    server: Child,
}

impl MariaDb {
    /// Whether it can be started here.
    pub(crate) fn is_here() -> bool {
        tool("mariadb-install-db") && Path::new("/usr/sbin/mariadbd").exists() && tool("mysql")
    }

    pub(crate) fn start(bank: &Bank) -> Self {
        let home = Home::new(bank, "my");
        let data = format!("--datadir={}", home.path("data"));
        let words = ["--no-defaults", "--auth-root-authentication-method=normal"];
        let words = [&words[..], &["--skip-test-db", data.as_str()]].concat();
        // Servers with one folder for temporary tables delete those of each other.
        let mut install = home.program(Path::new("mariadb-install-db"), &words);
        ran(install.env("TMPDIR", &home.folder), "");
        let socket = format!("--socket={}", home.path("socket"));
        let pid = format!("--pid-file={}", home.path("pid"));
        let words = ["--no-defaults", "--skip-networking", &data, &socket, &pid];
        let mut server = home.program(Path::new("/usr/sbin/mariadbd"), &words);
        let server = server.env("TMPDIR", &home.folder);
        let server = server.stdout(Stdio::null()).stderr(Stdio::null());
        let server = server.spawn().unwrap();
        let own = Self { home, server };
        until("MariaDB answers", || own.answers().then_some(()));
        own
    }

    /// Its socket, which its own administrator `root` may use without a password.
    pub(crate) fn socket(&self) -> String {
        self.home.path("socket")
    }

    fn answers(&self) -> bool {
        let ran = Ran::of(self.client().args(["-e", "SELECT 1"]), b"");
        ran.exit == 0
    }

    /// The client, connected as the server's own administrator.
    fn client(&self) -> Command {
        let mut client = Command::new("mysql");
        client.args(["--no-defaults", "--user=root"]);
        client.arg(format!("--socket={}", self.socket()));
        client
    }
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The tables with their rows from the files of a folder; one has no rows.
fn script(folder: &str) -> String {
    let mut script = "CREATE DATABASE gold CHARACTER SET utf8mb4;\nUSE gold;\n".to_owned();
    for (file, text) in TABLES {
        let table = file.strip_suffix(".csv").unwrap();
        let columns = text.lines().next().unwrap().split(',').map(column);
        let columns: Vec<String> = columns.collect();
        let _ = writeln!(script, "CREATE TABLE {table} ({});", columns.join(", "));
        let _ = writeln!(
            script,
            "LOAD DATA LOCAL INFILE '{folder}/{file}' INTO TABLE {table}
             FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' IGNORE 1 LINES;"
        );
    }
    script
}

#[test]
fn a_database_of_mariadb_moves_in() {
    if !MariaDb::is_here() {
        skip("a_database_of_mariadb_moves_in", "no MariaDB server");
        return;
    }
    let mut bank = new_bank();
    let server = MariaDb::start(&bank);
    let script = script(&gold_folder(&bank));
    ran(server.client().arg("--local-infile=1"), &script);
    // As a person has it: `~/.my.cnf`.
    let settings = format!("[client]\nuser=root\nsocket={}\n", server.socket());
    std::fs::write(bank.folder().join(".my.cnf"), settings).unwrap();
    let home = bank.folder().to_str().unwrap().to_owned();
    let env = [("HOME", home.as_str())];
    let words = ["migrate", "gold", "--mysql", "gold", "--yes"];
    moved(&bank.bank_as(&env, &words));
    let found = balances(&bank);
    assert!(found.contains(&CHEM.to_owned()), "{found:?}");
    ran(server.client().arg("gold"), "DROP TABLE g_job;");
    let failed = bank.bank_as(&env, &["migrate", "gold", "--mysql", "gold", "--dry-run"]);
    assert_eq!(failed.exit, 2);
    assert!(
        failed.stderr.contains("mysql failed") && failed.stderr.contains("g_job"),
        "{}",
        failed.stderr
    );
    bank.verify();
}
