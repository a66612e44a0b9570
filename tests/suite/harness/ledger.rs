//! The ledger as an account manager sees it: what `bank --json` says, and, for what no command
//! shows, the database itself.

use serde_json::Value;

use super::bank::Bank;

/// A figure of a row, whole credits.
#[track_caller]
pub(crate) fn amount(row: &Value, field: &str) -> i64 {
    let text = row[field]
        .as_str()
        .unwrap_or_else(|| panic!("no {field} in {row}"));
    text.parse().unwrap_or_else(|_| panic!("{field} is {text}"))
}

/// A text of a row; empty for `null`.
pub(crate) fn text<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().unwrap_or_default()
}

impl Bank {
    /// What `bank` says in JSON.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let output = self.bank_ok(&[arguments, &["--json"]].concat());
        serde_json::from_str(&output).unwrap_or_else(|error| panic!("{error}: {output}"))
    }

    #[track_caller]
    pub(crate) fn items(&self, arguments: &[&str]) -> Vec<Value> {
        match self.json(arguments) {
            Value::Object(mut list) => match list.remove("items") {
                Some(Value::Array(items)) => items,
                _ => panic!("no list: bank {}", arguments.join(" ")),
            },
            other => panic!("no list: {other}"),
        }
    }

    /// The balance row of an account.
    #[track_caller]
    pub(crate) fn account(&self, name: &str) -> Value {
        let rows = self.items(&["balance", "-a", name]);
        assert_eq!(rows.len(), 1, "{rows:?}");
        rows.into_iter().next().unwrap()
    }

    /// Amount, held and available of an account.
    #[track_caller]
    pub(crate) fn figures(&self, name: &str) -> (i64, i64, i64) {
        let row = self.account(name);
        (
            amount(&row, "amount"),
            amount(&row, "held"),
            amount(&row, "available"),
        )
    }

    /// The open liens.
    #[track_caller]
    pub(crate) fn liens(&self) -> Vec<Value> {
        self.items(&["lien", "ls"])
    }

    /// Account and amount of each open lien.
    #[track_caller]
    pub(crate) fn held(&self) -> Vec<(String, i64)> {
        let of = |lien: &Value| {
            let account = lien["accounts"][0].as_str().unwrap_or_default();
            (account.to_owned(), amount(lien, "amount"))
        };
        self.liens().iter().map(of).collect()
    }

    /// Every instance.
    #[track_caller]
    pub(crate) fn jobs(&self) -> Vec<Value> {
        self.items(&["jobs"])
    }

    /// One job with its charges.
    #[track_caller]
    pub(crate) fn job(&self, id: &str) -> Value {
        self.json(&["jobs", id])
    }

    /// The journal of one kind of entry.
    #[track_caller]
    pub(crate) fn journal(&self, kind: &str) -> Vec<Value> {
        self.items(&["journal", "--kind", kind])
    }

    /// Account and change of amount of each journal entry of a kind.
    #[track_caller]
    pub(crate) fn entries(&self, kind: &str) -> Vec<(String, i64)> {
        let rows = self.journal(kind);
        let of = |row: &Value| (text(row, "account").to_owned(), amount(row, "amount"));
        rows.iter().map(of).collect()
    }

    /// The account of each journal entry of a kind, with its changes of the amount, of what is held,
    /// of the active money, of the shadow charges and of the shadow liens.
    #[track_caller]
    pub(crate) fn deltas(&self, kind: &str) -> Vec<(String, [i64; 5])> {
        let columns = ["amount", "held", "active", "shadow", "shadow_held"];
        let rows = self.journal(kind);
        let of = |row: &Value| {
            let account = row["account"].as_str().unwrap_or_default();
            (
                account.to_owned(),
                columns.map(|column| amount(row, column)),
            )
        };
        rows.iter().map(of).collect()
    }

    /// What all charges so far took, in the order of the journal.
    #[track_caller]
    pub(crate) fn debits(&self) -> Vec<(String, i64)> {
        let of = |(account, change): (String, i64)| (account, -change);
        self.entries("charge").into_iter().map(of).collect()
    }

    /// How many transactions the journal has.
    #[track_caller]
    pub(crate) fn transactions(&self) -> i64 {
        self.json(&["status"])["journal_transactions"]
            .as_i64()
            .unwrap()
    }

    /// One row of the database, as text: for what no command shows.
    #[track_caller]
    pub(crate) fn query(&self, sql: &str) -> Vec<Vec<String>> {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE;
        let path = self.data().join("bank.db");
        let database = rusqlite::Connection::open_with_flags(path, flags).unwrap();
        let mut statement = database.prepare(sql).unwrap();
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            let cell = |index| {
                row.get::<_, rusqlite::types::Value>(index)
                    .map(|cell| shown(&cell))
            };
            (0..columns).map(cell).collect::<rusqlite::Result<Vec<_>>>()
        };
        statement
            .query_map([], row)
            .unwrap()
            .map(Result::unwrap)
            .collect()
    }
}

fn shown(cell: &rusqlite::types::Value) -> String {
    use rusqlite::types::Value as Cell;
    match cell {
        Cell::Null => "NULL".to_owned(),
        Cell::Integer(number) => number.to_string(),
        Cell::Real(number) => number.to_string(),
        Cell::Text(text) => text.clone(),
        Cell::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}
