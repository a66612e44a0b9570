//! Names that this bank accepts. A name of the old bank stays if it can.

use std::collections::{BTreeMap, BTreeSet};

use crate::old::Old;

/// Longest name, in bytes.
const BYTES_MAX: usize = 256;
/// Bytes of a name that is cut: a number follows.
const CUT: usize = 240;

/// The names in this bank by the names or keys of the old one.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) users: BTreeMap<String, String>,
    pub(super) machines: BTreeMap<String, String>,
    pub(super) projects: BTreeMap<String, String>,
    pub(super) accounts: BTreeMap<String, String>,
    /// Kind, old name, new name.
    pub(super) renamed: Vec<(String, String, String)>,
}

/// Gives every object its name.
pub(super) fn give(old: &mut Old) -> Names {
    let mut names = Names::default();
    let users: Vec<&str> = old.users.iter().map(|own| own.name.as_str()).collect();
    names.users = plain("user", &users, &mut names.renamed);
    let machines: Vec<&str> = old.machines.iter().map(|own| own.name.as_str()).collect();
    names.machines = plain("machine", &machines, &mut names.renamed);
    let projects: Vec<&str> = old.projects.iter().map(|own| own.name.as_str()).collect();
    names.projects = plain("project", &projects, &mut names.renamed);
    let mut taken = BTreeSet::new();
    for account in &old.accounts {
        let key = &account.key;
        let wish = if account.name.trim().is_empty() {
            let projects = account.lists.get("project");
            let mut entries = projects.into_iter().flatten();
            let first = entries.find(|entry| entry.allow && !is_word(&entry.value));
            first.map_or_else(|| format!("account-{key}"), |entry| entry.value.clone())
        } else {
            account.name.clone()
        };
        let name = clean(&wish);
        let name = free(&name, key, &taken);
        taken.insert(name.clone());
        if name != account.name {
            let shown = format!("{key} {}", account.name);
            let row = ("account".to_owned(), shown.trim().to_owned(), name.clone());
            names.renamed.push(row);
        }
        names.accounts.insert(key.clone(), name);
    }
    names
}

/// Names of objects whose names are unique.
fn plain(
    kind: &str,
    old: &[&str],
    renamed: &mut Vec<(String, String, String)>,
) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    // A name that fits is not given to another object.
    let fitting = |name: &&&str| clean(name) == **name && !is_word(name);
    let mut taken: BTreeSet<String> = old
        .iter()
        .filter(fitting)
        .map(|name| (*name).to_owned())
        .collect();
    for (number, name) in (1..).zip(old) {
        if fitting(&name) {
            names.insert((*name).to_owned(), (*name).to_owned());
            continue;
        }
        let wish = match clean(name) {
            word if is_word(&word) => format!("{word}_"),
            other => other,
        };
        let new = free(&wish, &number.to_string(), &taken);
        taken.insert(new.clone());
        renamed.push((kind.to_owned(), (*name).to_owned(), new.clone()));
        names.insert((*name).to_owned(), new);
    }
    names
}

/// Words of the lists of accounts, and those of schedulers' documents for no value.
fn is_word(name: &str) -> bool {
    ["ANY", "MEMBERS", "NONE", "[NONE]", "[DEFAULT]"].contains(&name)
}

/// A name without control characters, without blanks at its ends, without `#` in front, and not too long.
fn clean(name: &str) -> String {
    let letter = |c: char| if c.is_control() { '_' } else { c };
    let text: String = name.trim().chars().map(letter).collect();
    let text = text.trim();
    let mut text = match text.strip_prefix('#') {
        Some(rest) => format!("_{rest}"),
        None => text.to_owned(),
    };
    if text.len() > BYTES_MAX {
        let end = (0..=CUT).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or(0));
        text = format!("{}~", text.trim_end());
    }
    if text.is_empty() {
        return "_".to_owned();
    }
    text
}

/// A name that is free: the name itself, else with the key of the object behind it.
fn free(name: &str, key: &str, taken: &BTreeSet<String>) -> String {
    if !taken.contains(name) {
        return name.to_owned();
    }
    let with_key = format!("{name}-{key}");
    let numbered = (2_u32..).map(|number| format!("{with_key}-{number}"));
    let mut all = std::iter::once(with_key.clone()).chain(numbered);
    all.find(|name| !taken.contains(name)).unwrap_or(with_key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::old::{Account, Entry};

    #[test]
    fn names_stay_if_they_can() {
        let long = "é".repeat(200);
        let mut renamed = Vec::new();
        let old = [
            "amy", " bob", "#x", "a\tb", "ANY", "bob", &long, "_x", "NONE",
        ];
        let names = plain("user", &old, &mut renamed);
        assert_eq!(names["amy"], "amy");
        assert_eq!(names["NONE"], "NONE_");
        assert_eq!(names[" bob"], "bob-2");
        assert_eq!(names["#x"], "_x-3");
        assert_eq!(names["a\tb"], "a_b");
        assert_eq!(names["ANY"], "ANY_");
        assert_eq!(names["bob"], "bob");
        assert_eq!(names[&long], format!("{}~", "é".repeat(120)));
        assert_eq!(renamed.len(), 6);
    }

    #[test]
    fn accounts_of_one_name_get_their_number() {
        let account = |key: &str, name: &str, project: &str| Account {
            key: key.to_owned(),
            name: name.to_owned(),
            lists: BTreeMap::from([(
                "project".to_owned(),
                vec![Entry {
                    value: project.to_owned(),
                    allow: true,
                    subtree: false,
                }],
            )]),
            ..Account::default()
        };
        let mut old = Old {
            accounts: vec![
                account("1", "chem", "chem"),
                account("2", "chem", "bio"),
                account("3", "", "bio"),
                account("4", "", "ANY"),
                account("5", "", "bio"),
            ],
            ..Old::default()
        };
        let names = give(&mut old);
        let all: Vec<&str> = names.accounts.values().map(String::as_str).collect();
        assert_eq!(all, ["chem", "chem-2", "bio", "account-4", "bio-5"]);
        assert_eq!(names.renamed.len(), 4);
    }
}
