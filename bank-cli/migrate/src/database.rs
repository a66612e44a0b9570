//! Gold's database, read by the client program of the database: `psql`, `mysql` or `sqlite3`. One session
//! reads all tables in one read-only transaction, so that they fit together. The program finds its password
//! by its own means.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write as _};
use std::process::{Child, Command, Stdio};

use crate::{
    fault::Fault,
    table::{Form, Table, decoded},
};

/// Most bytes of all tables.
const OUTPUT_MAX: u64 = 4 << 30;
/// Bytes of messages that are kept.
const MESSAGES_MAX: u64 = 16 * 1024;

/// A database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Database {
    /// `postgresql://user@host/database`, or what else `psql` accepts.
    Postgres(String),
    /// `mysql://user@host:port/database`, or the name of a database.
    Mysql(String),
    /// A file of `SQLite`.
    Sqlite(String),
}

impl Database {
    fn form(&self) -> Form {
        match self {
            Self::Mysql(_) => Form::Batch,
            Self::Postgres(_) | Self::Sqlite(_) => Form::Csv,
        }
    }

    /// The client programs, the first of them first.
    fn programs(&self) -> &'static [&'static str] {
        match self {
            Self::Postgres(_) => &["psql"],
            Self::Mysql(_) => &["mysql", "mariadb"],
            Self::Sqlite(_) => &["sqlite3"],
        }
    }

    fn arguments(&self) -> Result<Vec<String>, Fault> {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        match self {
            Self::Postgres(address) => {
                no_password(address, "~/.pgpass or PGPASSWORD")?;
                let mut all: Vec<String> = words(&["--no-psqlrc", "--quiet", "--no-password"]);
                all.extend(["--set=ON_ERROR_STOP=1".to_owned(), "--file=-".to_owned()]);
                all.push(format!("--dbname={address}"));
                Ok(all)
            }
            Self::Mysql(address) => {
                no_password(address, "~/.my.cnf or MYSQL_PWD")?;
                let mut all = words(&["--batch", "--default-character-set=utf8mb4"]);
                all.extend(mysql(address)?);
                Ok(all)
            }
            Self::Sqlite(file) => {
                let mut all: Vec<String> = words(&["-batch", "-bail", "-readonly"]);
                let is_option = file.starts_with('-');
                all.push(if is_option {
                    format!("./{file}")
                } else {
                    file.clone()
                });
                Ok(all)
            }
        }
    }

    /// The input of the client program: all tables, each after a line that names it.
    fn script(&self, tables: &[&str]) -> String {
        let mut script = match self {
            Self::Postgres(_) => {
                "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;\n".to_owned()
            }
            Self::Mysql(_) => "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ;\n\
                 START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY;\n"
                .to_owned(),
            Self::Sqlite(_) => ".headers on\n.mode csv\n.nullvalue ''\nBEGIN;\n".to_owned(),
        };
        for table in tables {
            let (query, mark) = (query(table), mark(table));
            let part = match self {
                Self::Postgres(_) => format!(
                    "\\echo '{mark}'\nCOPY ({query}) TO STDOUT WITH (FORMAT csv, HEADER true);\n"
                ),
                Self::Mysql(_) => format!("SELECT 1 AS `{mark}`;\n{query};\n"),
                Self::Sqlite(_) => format!(".print '{mark}'\n{query};\n"),
            };
            script.push_str(&part);
        }
        script + "COMMIT;\n"
    }
}

/// Of the journal, only what a job was charged.
fn query(table: &str) -> String {
    let query = format!("SELECT * FROM {table}");
    match table {
        "g_transaction" => query + " WHERE g_object = 'Job' AND g_action = 'Charge'",
        _ => query,
    }
}

/// The line before a table.
fn mark(table: &str) -> String {
    format!("== bank migrate: table {table} ==")
}

/// An address on a command line is visible to other users of the host.
fn no_password(address: &str, means: &str) -> Result<(), Fault> {
    let authority = address.split_once("://").map_or("", |(_, rest)| rest);
    let authority = authority.split('/').next().unwrap_or_default();
    let login = authority.rsplit_once('@').map_or("", |(login, _)| login);
    if login.contains(':') || address.to_ascii_lowercase().contains("password=") {
        return Err(Fault::new(
            "the address of the database has a password: others on this host see it",
            format!("remove it, and give it by {means}"),
        ));
    }
    Ok(())
}

/// The options of an address of `MySQL`.
fn mysql(address: &str) -> Result<Vec<String>, Fault> {
    let Some((scheme, rest)) = address.split_once("://") else {
        return Ok(vec![format!("--database={address}")]);
    };
    let bad = || {
        Fault::new(
            format!("{address:?} is not the address of a MySQL database"),
            "mysql://user@host:port/database",
        )
    };
    if !["mysql", "mariadb"].contains(&scheme) {
        return Err(bad());
    }
    let (authority, database) = rest.split_once('/').ok_or_else(bad)?;
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (host, None),
    };
    if database.is_empty() || port.is_some_and(|port| port.parse::<u16>().is_err()) {
        return Err(bad());
    }
    let mut options = vec![format!("--database={database}")];
    let values = [("user", user), ("host", Some(host)), ("port", port)];
    for (name, value) in values {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            options.push(format!("--{name}={value}"));
        }
    }
    Ok(options)
}

/// Reads tables.
pub(crate) fn read(
    database: &Database,
    tables: &[&'static str],
) -> Result<BTreeMap<&'static str, Table>, Fault> {
    let output = run(database, &database.script(tables))?;
    let mut found = BTreeMap::new();
    for (name, bytes) in split(&output, tables, database.form()) {
        found.insert(name, Table::of_database(name, bytes, database.form())?);
    }
    match tables.iter().find(|name| !found.contains_key(*name)) {
        Some(missing) => Err(Fault::new(
            format!(
                "{} printed no table {missing}",
                database.programs().join(" or ")
            ),
            "check that the database is one of Gold, or export its tables as CSV files",
        )),
        None => Ok(found),
    }
}

fn run(database: &Database, script: &str) -> Result<Vec<u8>, Fault> {
    let arguments = database.arguments()?;
    let (program, mut child) = start(database, &arguments)?;
    let failed = |why: String| {
        Fault::new(
            format!("{program} failed: {why}"),
            format!(
                "check that {program} can connect by itself, and that the database is one of Gold"
            ),
        )
    };
    if let Some(mut input) = child.stdin.take() {
        // A program that ends early does not read it: its exit shows why.
        let _ = input.write_all(script.as_bytes());
    }
    let errors = child.stderr.take();
    let errors = std::thread::spawn(move || kept(errors, MESSAGES_MAX));
    let mut output = Vec::new();
    let stdout = child.stdout.take();
    let mut stdout = stdout.ok_or_else(|| failed("no output".to_owned()))?;
    let read = stdout
        .by_ref()
        .take(OUTPUT_MAX + 1)
        .read_to_end(&mut output);
    let is_long = u64::try_from(output.len()).unwrap_or(u64::MAX) > OUTPUT_MAX;
    if read.is_err() || is_long {
        // It may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
        return Err(failed("the tables are larger than 4 GiB".to_owned()));
    }
    let status = child.wait().map_err(|error| failed(error.to_string()))?;
    let messages = errors.join().unwrap_or_default();
    if !status.success() {
        let messages = decoded(&messages).0.into_owned();
        let lines = || messages.lines().map(str::trim);
        // The client of MySQL prints the statement first.
        let line = lines().find(|line| line.starts_with("ERROR"));
        let line = line.or_else(|| lines().find(|line| !line.is_empty()));
        let line = line.unwrap_or("no message").chars().take(300);
        return Err(failed(format!("{status}: {}", line.collect::<String>())));
    }
    Ok(output)
}

/// Starts the first of the programs that is installed.
fn start(database: &Database, arguments: &[String]) -> Result<(&'static str, Child), Fault> {
    for program in database.programs() {
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        match child {
            Ok(child) => return Ok((program, child)),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                return Err(Fault::new(
                    format!("cannot start {program}: {error}"),
                    "check that this user can run it, or export the tables as CSV files",
                ));
            }
        }
    }
    let programs = database.programs().join(" or ");
    Err(Fault::new(
        format!("the program {programs} is not installed here"),
        "install it, or export the tables as CSV files and give their folder",
    ))
}

/// The first bytes of a stream, which is read to its end.
fn kept(stream: Option<impl Read>, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        // Messages that cannot be read are missing in a failure, nothing else.
        let _ = stream.by_ref().take(most).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    }
    bytes
}

/// The tables of an output. A line inside quotation marks is part of a value.
fn split<'a>(
    output: &'a [u8],
    tables: &[&'static str],
    form: Form,
) -> Vec<(&'static str, &'a [u8])> {
    let marks: Vec<(&'static str, String)> =
        tables.iter().map(|name| (*name, mark(name))).collect();
    let mut found: Vec<(&'static str, usize, usize)> = Vec::new();
    let (mut at, mut is_quoted) = (0, false);
    for line in output.split_inclusive(|byte| *byte == b'\n') {
        let text = line.trim_ascii_end();
        let own = marks.iter().find(|(_, mark)| text == mark.as_bytes());
        if let Some((name, _)) = own.filter(|_| !is_quoted) {
            if let Some(last) = found.last_mut() {
                last.2 = at;
            }
            found.push((name, at + line.len(), output.len()));
        } else if form == Form::Csv {
            is_quoted ^= line.split(|byte| *byte == b'"').count() % 2 == 0;
        }
        at += line.len();
    }
    let bytes = |(name, from, to): (&'static str, usize, usize)| {
        let bytes = output.get(from..to).unwrap_or_default();
        (
            name,
            if form == Form::Batch {
                after_line(bytes)
            } else {
                bytes
            },
        )
    };
    found.into_iter().map(bytes).collect()
}

/// Without the first line: the value below a mark of the client of `MySQL`.
fn after_line(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|byte| *byte == b'\n');
    end.and_then(|end| bytes.get(end + 1..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_split_at_marks_outside_of_values() {
        let mark_a = mark("g_user");
        let mark_b = mark("g_job");
        let csv = format!("{mark_a}\r\na,b\n1,\"x\n{mark_b}\ny\"\n{mark_b}\nc\n2\n");
        let found = split(csv.as_bytes(), &["g_user", "g_job"], Form::Csv);
        let inner = format!("a,b\n1,\"x\n{mark_b}\ny\"\n");
        assert_eq!(found, [("g_user", inner.as_bytes()), ("g_job", b"c\n2\n")]);
        let batch = format!("{mark_a}\n1\n{mark_b}\n1\na\tb\n1\t\"x\n");
        let found = split(batch.as_bytes(), &["g_user", "g_job"], Form::Batch);
        assert_eq!(found, [("g_user", &b""[..]), ("g_job", b"a\tb\n1\t\"x\n")]);
    }

    #[test]
    fn passwords_stay_off_the_command_line() {
        for address in [
            "postgresql://amy:secret@db/gold",
            "postgresql://db/gold?password=x",
            "host=db password=x",
            "mysql://amy:secret@db/gold",
        ] {
            assert!(no_password(address, "x").is_err(), "{address}");
        }
        for address in [
            "postgresql://amy@db:5432/gold",
            "gold",
            "mysql://db:3306/gold",
        ] {
            assert!(no_password(address, "x").is_ok(), "{address}");
        }
    }

    #[test]
    fn addresses_of_mysql_become_options() {
        let of = |address: &str| mysql(address).map(|all| all.join(" ")).unwrap_or_default();
        assert_eq!(of("gold"), "--database=gold");
        assert_eq!(
            of("mysql://amy@db.example:3307/gold"),
            "--database=gold --user=amy --host=db.example --port=3307"
        );
        assert_eq!(of("mysql://db/gold"), "--database=gold --host=db");
        for bad in [
            "mysql://db",
            "mysql://db:x/gold",
            "http://db/gold",
            "mysql://db/",
        ] {
            assert!(mysql(bad).is_err(), "{bad}");
        }
    }
}
