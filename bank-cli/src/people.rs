//! Directories of people: separated values with a head line, and the user database of ai4-accounting
//! (collectors.md g). Bytes in, entries with their lines out; nothing is asked of the daemon.

use std::collections::BTreeMap;

use bank_api::v1::{BadLine, MergeEntry};
use serde_json::{Map, Value};

use crate::separated;

/// What a file says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct People {
    /// Entries with their lines; of a document with their places in it, from 1.
    pub(crate) entries: Vec<(u64, MergeEntry)>,
    /// What could not be read.
    pub(crate) bad: Vec<BadLine>,
    /// Columns that mean nothing here.
    pub(crate) unread: Vec<String>,
}

/// What a column is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    User,
    CommonName,
    Email,
    DefaultProject,
    Organization,
    Phone,
    Description,
    Active,
    Aliases,
}

/// Every column with the words for it, in lower case; `_` and `-` are blanks.
const COLUMNS: [(Column, &[&str]); 9] = [
    (
        Column::User,
        &[
            "user", "user id", "userid", "username", "login", "uid", "owner", "owner id", "id",
        ],
    ),
    (
        Column::CommonName,
        &[
            "name",
            "common name",
            "full name",
            "display name",
            "owner name",
        ],
    ),
    (Column::Email, &["email", "e mail", "mail", "owner email"]),
    (Column::DefaultProject, &["default project", "project"]),
    (
        Column::Organization,
        &["organization", "organisation", "institution"],
    ),
    (Column::Phone, &["phone", "telephone"]),
    (Column::Description, &["description", "note"]),
    (Column::Active, &["active", "enabled"]),
    (
        Column::Aliases,
        &[
            "alias",
            "aliases",
            "external id",
            "external ids",
            "other names",
        ],
    ),
];

fn column(head: &str) -> Option<Column> {
    let word = head.trim().to_lowercase().replace(['_', '-'], " ");
    let found = COLUMNS
        .iter()
        .find(|(_, words)| words.contains(&word.as_str()));
    found.map(|(column, _)| *column)
}

/// Reads separated values: the first line names the columns, and shows whether `;`, `,` or a
/// tabulator is between them.
///
/// # Errors
/// What is wrong with the file as a whole.
pub(crate) fn separated(bytes: &[u8]) -> Result<People, String> {
    let mut reader = separated::reader(bytes, b';');
    let heads = reader.byte_headers().map_err(|e| e.to_string())?.clone();
    let heads: Vec<String> = heads.iter().map(text).collect();
    let columns: Vec<Option<Column>> = heads.iter().map(|head| column(head)).collect();
    if !columns.contains(&Some(Column::User)) {
        return Err(format!(
            "no column `user` or `user id`; the columns are {}",
            heads.join(", ")
        ));
    }
    for (own, place) in columns.iter().flatten().zip(1..) {
        if columns
            .iter()
            .flatten()
            .skip(place)
            .any(|other| other == own)
        {
            return Err(format!("two columns are about the same: {heads:?}"));
        }
    }
    let unread = heads
        .iter()
        .zip(&columns)
        .filter(|(_, column)| column.is_none());
    let mut people = People {
        unread: unread.map(|(head, _)| head.clone()).collect(),
        ..People::default()
    };
    let mut lines = Lines::default();
    for record in reader.byte_records() {
        let record = record.map_err(|e| e.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() != heads.len() {
            let detail = format!("{} columns, {} have names", record.len(), heads.len());
            people.bad.push(bad(line, &detail));
            continue;
        }
        let cells = record.iter().zip(&columns);
        let cells = cells.filter_map(|(cell, column)| Some(((*column)?, text(cell))));
        let entry = entry(cells);
        people.take(line, entry, &mut lines);
    }
    Ok(people)
}

/// Reads the user database of ai4-accounting: an object with the users' ids, each with an object that
/// says `name` and `email`.
///
/// # Errors
/// What is wrong with the file as a whole.
pub(crate) fn ai4(bytes: &[u8]) -> Result<People, String> {
    let all: Map<String, Value> =
        serde_json::from_slice(bytes).map_err(|e| format!("no JSON object of users: {e}"))?;
    let mut people = People::default();
    let mut lines = Lines::default();
    for ((id, message), place) in all.into_iter().zip(1_u64..) {
        let Value::Object(message) = message else {
            people
                .bad
                .push(bad(place, &format!("user {id:?}: no object")));
            continue;
        };
        let mut cells = vec![(Column::User, id)];
        for (head, value) in message {
            let value = match value {
                Value::String(text) => text,
                Value::Null => String::new(),
                other => other.to_string(),
            };
            match column(&head) {
                Some(column) if column != Column::User => cells.push((column, value)),
                _ if people.unread.contains(&head) => {}
                _ => people.unread.push(head),
            }
        }
        people.take(place, entry(cells.into_iter()), &mut lines);
    }
    Ok(people)
}

/// What was said of each user so far, and on which line.
type Lines = BTreeMap<String, (u64, MergeEntry)>;

impl People {
    /// Takes an entry; what contradicts an earlier line of the file is bad.
    fn take(&mut self, line: u64, entry: Result<MergeEntry, String>, lines: &mut Lines) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(detail) => return self.bad.push(bad(line, &detail)),
        };
        let before = lines.get(&entry.user);
        let other = before.and_then(|(first, known)| Some((first, contradiction(known, &entry)?)));
        if let Some((first, what)) = other {
            let user = &entry.user;
            let detail = format!("user {user:?}: {what} is another one than on line {first}");
            return self.bad.push(bad(line, &detail));
        }
        lines
            .entry(entry.user.clone())
            .or_insert_with(|| (line, entry.clone()));
        self.entries.push((line, entry));
    }
}

fn contradiction(known: &MergeEntry, new: &MergeEntry) -> Option<&'static str> {
    let pairs = [
        ("the name", &known.common_name, &new.common_name),
        ("the e-mail", &known.email, &new.email),
        (
            "the default project",
            &known.default_project,
            &new.default_project,
        ),
        ("the organisation", &known.organization, &new.organization),
        ("the telephone number", &known.phone, &new.phone),
    ];
    let differs = |a: &Option<String>, b: &Option<String>| a.is_some() && b.is_some() && a != b;
    if known.active.is_some() && new.active.is_some() && known.active != new.active {
        return Some("whether they are active");
    }
    let mut pairs = pairs.iter();
    pairs
        .find(|(_, a, b)| differs(a, b))
        .map(|(what, ..)| *what)
}

fn entry(cells: impl Iterator<Item = (Column, String)>) -> Result<MergeEntry, String> {
    let mut entry = MergeEntry::default();
    for (column, value) in cells {
        let value = value.trim().to_owned();
        if value.is_empty() {
            continue;
        }
        match column {
            Column::User => entry.user = value,
            Column::CommonName => entry.common_name = Some(value),
            Column::Email => entry.email = Some(value),
            Column::DefaultProject => entry.default_project = Some(value),
            Column::Organization => entry.organization = Some(value),
            Column::Phone => entry.phone = Some(value),
            Column::Description => entry.description = Some(value),
            Column::Active => entry.active = Some(switch(&value)?),
            Column::Aliases => {
                let aliases = value
                    .split(['|', ',', ' '])
                    .filter(|alias| !alias.is_empty());
                entry.aliases = aliases.map(str::to_owned).collect();
            }
        }
    }
    if entry.user.is_empty() {
        return Err("nobody is named".to_owned());
    }
    Ok(entry)
}

fn switch(text: &str) -> Result<bool, String> {
    match text.to_lowercase().as_str() {
        "yes" | "true" | "on" | "1" | "active" => Ok(true),
        "no" | "false" | "off" | "0" | "inactive" => Ok(false),
        _ => Err(format!("active: {text:?} is neither yes nor no")),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

fn bad(line: u64, detail: &str) -> BadLine {
    BadLine {
        line,
        code: "bad_line".to_owned(),
        detail: detail.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(people: &People) -> Vec<String> {
        let entries = people.entries.iter().map(|(line, entry)| {
            format!(
                "{line}: {} {} <{}> {:?} {}",
                entry.user,
                entry.common_name.as_deref().unwrap_or("-"),
                entry.email.as_deref().unwrap_or("-"),
                entry.active,
                entry.aliases.join("+")
            )
        });
        let bad = people
            .bad
            .iter()
            .map(|bad| format!("{}! {}", bad.line, bad.detail));
        entries.chain(bad).collect()
    }

    #[test]
    fn separated_values_name_their_columns() {
        let file = "\u{feff}User ID;Name;E-Mail;Active;Aliases;Shoe size\r\n\
                    amy;\"Amy; A.\";amy@x.org;yes;a1@egi.eu|a2@egi.eu;38\r\n\
                    bob;;;;;\r\n\
                    amy;;;no;;\r\n\
                    eve;Eve;eve@x.org\r\n\
                    ;Nobody;;;;\r\n\
                    kim;;;perhaps;;\r\n\
                    amy;;;;a3@egi.eu;\r\n";
        let people = separated(file.as_bytes()).unwrap();
        assert_eq!(people.unread, ["Shoe size"]);
        assert_eq!(
            shown(&people),
            [
                "2: amy Amy; A. <amy@x.org> Some(true) a1@egi.eu+a2@egi.eu",
                "3: bob - <-> None ",
                "8: amy - <-> None a3@egi.eu",
                "4! user \"amy\": whether they are active is another one than on line 2",
                "5! 3 columns, 6 have names",
                "6! nobody is named",
                "7! active: \"perhaps\" is neither yes nor no",
            ]
        );
    }

    #[test]
    fn a_file_without_users_is_refused_as_a_whole() {
        for file in ["name,email\nAmy,a@x\n", "", "user,login\na,b\n"] {
            assert!(separated(file.as_bytes()).is_err(), "{file:?}");
        }
        assert!(ai4(b"[]").is_err());
        assert!(ai4(b"{").is_err());
    }

    #[test]
    fn the_ai4_database_names_users_by_their_ids() {
        let file = br#"{"ab12@egi.eu": {"name": "Amy", "email": "amy@x.org", "vo": "ai4eosc"},
                        "cd34@egi.eu": {"name": null, "email": ""}, "ef56@egi.eu": 7}"#;
        let people = ai4(file).unwrap();
        assert_eq!(people.unread, ["vo"]);
        assert_eq!(
            shown(&people),
            [
                "1: ab12@egi.eu Amy <amy@x.org> None ",
                "2: cd34@egi.eu - <-> None ",
                "3! user \"ef56@egi.eu\": no object",
            ]
        );
    }
}
