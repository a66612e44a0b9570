//! `sacctmgr dump`: a line for each cluster, account and user; `Parent - 'x'` names the account of the lines
//! below it.

use std::collections::{BTreeMap, BTreeSet};

use crate::{fault::Fault, figure::Figure, table::decoded};

/// Longest line, in bytes.
const LINE_MAX: usize = 64 * 1024;
/// Most accounts and users.
const LINES_MAX: usize = 200_000;
/// The remedy for a file in another form.
const AGAIN: &str = "correct the line, or make the file again: sacctmgr dump CLUSTER file=FILE";
/// Fields that are no limits.
const FACTS: [&str; 10] = [
    "Description",
    "Organization",
    "DefaultAccount",
    "AdminLevel",
    "Coordinator",
    "Fairshare",
    "WCKeys",
    "DefaultWCKey",
    "Classification",
    "Flags",
];

/// The associations of a cluster.
#[derive(Debug, Default)]
pub(super) struct Dump {
    pub(super) cluster: String,
    pub(super) accounts: Vec<Held>,
    pub(super) users: Vec<Held>,
    /// Limits that are not moved, with the places that have them.
    pub(super) unmoved: BTreeMap<String, Vec<String>>,
}

impl Dump {
    /// By the name of each account with a limit: the next accounts below it with limits of their own.
    pub(super) fn limited_below(&self, tres: &str) -> Result<BTreeMap<&str, Vec<&str>>, Fault> {
        // The next limit at or above each account: an account comes after the one above it.
        let mut limited: BTreeMap<&str, &str> = BTreeMap::new();
        let mut below: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for own in &self.accounts {
            let above = limited.get(own.parent.as_str()).copied();
            let has_limit = own.limit(tres)?.is_some();
            if let Some(above) = above.filter(|_| has_limit) {
                below.entry(above).or_default().push(&own.name);
            }
            let next = if has_limit {
                Some(own.name.as_str())
            } else {
                above
            };
            if let Some(next) = next {
                limited.insert(&own.name, next);
            }
        }
        Ok(below)
    }
}

/// An account or a user of an account.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) name: String,
    /// The account above; empty below the root.
    pub(super) parent: String,
    fields: Vec<(String, String)>,
    pub(super) place: String,
}

impl Held {
    pub(super) fn value(&self, name: &str) -> &str {
        let mut own = self
            .fields
            .iter()
            .filter(|(own, _)| own.eq_ignore_ascii_case(name));
        own.next_back().map_or("", |(_, value)| value)
    }

    /// The limit of a resource in minutes; none if there is none, and for `-1`, which removes one.
    pub(super) fn limit(&self, tres: &str) -> Result<Option<Figure>, Fault> {
        let list = self.value("GrpTRESMins").split(',');
        let pairs = list.filter_map(|pair| pair.split_once('='));
        let own = pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case(tres));
        // GrpCPUMins is the older name.
        let old = Some(self.value("GrpCPUMins")).filter(|own| tres == "cpu" && !own.is_empty());
        let Some(text) = own.map(|(_, value)| value).next_back().or(old) else {
            return Ok(None);
        };
        let text = text.trim();
        if text == "-1" || text.is_empty() {
            return Ok(None);
        }
        let figure = Figure::parse(text).filter(|own| !own.is_negative());
        let bad = || {
            Fault::new(
                format!(
                    "{}: GrpTRESMins {tres}={text:?} of {} is not a number of minutes",
                    self.place, self.name
                ),
                "correct the limit in that line, or remove it",
            )
        };
        figure.ok_or_else(bad).map(Some)
    }

    pub(super) fn has_limits(&self) -> bool {
        !self.limits().is_empty()
    }

    /// The fields that limit something.
    pub(super) fn limits(&self) -> String {
        let own = self
            .fields
            .iter()
            .filter(|(name, value)| is_limit(name) && value != "-1");
        let shown: Vec<String> = own.map(|(name, value)| format!("{name}={value}")).collect();
        shown.join(" ")
    }
}

fn is_limit(name: &str) -> bool {
    !FACTS.iter().any(|own| own.eq_ignore_ascii_case(name))
}

pub(super) fn read(name: &str, bytes: &[u8], tres: &str) -> Result<Dump, Fault> {
    let text = decoded(bytes).0;
    let mut dump = Dump::default();
    let mut parent: Option<String> = None;
    let mut seen = BTreeSet::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        let place = format!("{name}:{number}");
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.len() > LINE_MAX || dump.accounts.len() + dump.users.len() > LINES_MAX {
            return Err(Fault::new(
                format!("{place}: too long; a line has {LINE_MAX} bytes, a file {LINES_MAX} lines"),
                "move a cluster in parts: a file for each part of its accounts",
            ));
        }
        let (word, held) = entry(line, &place)?;
        if word == "Cluster" {
            if !dump.cluster.is_empty() {
                let why = format!("{place}: a second cluster, {:?}", held.name);
                let hint = "move one cluster at a time: sacctmgr dump CLUSTER";
                return Err(Fault::new(why, hint));
            }
            dump.cluster.clone_from(&held.name);
            parent = Some("root".to_owned());
            continue;
        }
        let above = parent
            .clone()
            .ok_or_else(|| Fault::new(format!("{place}: {word} before the line Cluster"), AGAIN))?;
        let above = Some(above).filter(|own| own != "root").unwrap_or_default();
        match word {
            "Parent" if held.name == "root" || seen.contains(&held.name) => {
                parent = Some(held.name);
            }
            "Parent" => {
                let why = format!(
                    "{place}: the parent {:?} is not an account above",
                    held.name
                );
                let hint = "put the lines of that account before this one, or correct its name";
                return Err(Fault::new(why, hint));
            }
            "Account" if held.name == "root" => {}
            "Account" if !seen.insert(held.name.clone()) => {
                let why = format!("{place}: the account {:?} is there twice", held.name);
                return Err(Fault::new(why, "remove one of the two lines"));
            }
            "Account" | "User" => add(
                &mut dump,
                (word, tres),
                Held {
                    parent: above,
                    ..held
                },
            ),
            other => {
                let why =
                    format!("{place}: {other:?} is none of Cluster, Parent, Account and User");
                return Err(Fault::new(why, AGAIN));
            }
        }
    }
    if dump.cluster.is_empty() {
        let why = format!("{name}: no line Cluster - 'NAME'");
        return Err(Fault::new(why, AGAIN));
    }
    Ok(dump)
}

fn add(dump: &mut Dump, (word, tres): (&str, &str), held: Held) {
    if word == "Account" {
        unmoved(&held, tres, &mut dump.unmoved);
        dump.accounts.push(held);
    } else if held.parent.is_empty() {
        let what = "users of the account root".to_owned();
        dump.unmoved.entry(what).or_default().push(held.name);
    } else {
        dump.users.push(held);
    }
}

/// What of an account's limits does not become money: all but the minutes of the one resource.
fn unmoved(held: &Held, tres: &str, all: &mut BTreeMap<String, Vec<String>>) {
    for (name, value) in &held.fields {
        let left = match name.as_str() {
            "GrpTRESMins" => others(value, tres),
            "GrpCPUMins" if tres == "cpu" => String::new(),
            _ if is_limit(name) && value != "-1" => value.clone(),
            _ => String::new(),
        };
        if !left.is_empty() {
            let own = all.entry(name.clone()).or_default();
            own.push(format!("{left} of account {}", held.name));
        }
    }
}

/// The limits of a list but those of one resource, and but `-1`, which removes one.
fn others(list: &str, tres: &str) -> String {
    let is_left = |pair: &&str| {
        let (name, minutes) = pair.split_once('=').unwrap_or((pair, ""));
        let is_own = name.trim().eq_ignore_ascii_case(tres);
        !is_own && minutes.trim() != "-1" && !pair.trim().is_empty()
    };
    let left: Vec<&str> = list.split(',').filter(is_left).collect();
    left.join(",")
}

/// `Account - 'chem':Description='quantum chemistry':GrpTRESMins=cpu=1000`.
fn entry<'a>(line: &'a str, place: &str) -> Result<(&'a str, Held), Fault> {
    let bad = |why: &str| Fault::new(format!("{place}: {why}"), AGAIN);
    let (word, rest) = line
        .split_once('-')
        .ok_or_else(|| bad("no hyphen after the first word"))?;
    let parts = parts(rest.trim()).ok_or_else(|| bad("a quotation mark without its end"))?;
    let mut parts = parts.into_iter();
    let name = parts.next().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| bad("no name"))?;
    let mut fields: Vec<(String, String)> = Vec::new();
    for part in parts.filter(|part| !part.is_empty()) {
        // A type of a resource has a colon too: gres/gpu:a100=5.
        let is_typed = |(_, value): &&mut (String, String)| {
            let last = value.rsplit(',').next().unwrap_or_default();
            last.starts_with("gres/") && !last.contains('=')
        };
        if let Some((_, value)) = fields.last_mut().filter(is_typed) {
            value.push(':');
            value.push_str(&part);
            continue;
        }
        let pair = part.split_once('=');
        let pair = pair.ok_or_else(|| bad(&format!("{part:?} has no =")))?;
        fields.push((pair.0.trim().to_owned(), pair.1.to_owned()));
    }
    let held = Held {
        name,
        parent: String::new(),
        fields,
        place: place.to_owned(),
    };
    Ok((word.trim(), held))
}

/// The parts of a line between `:`, without quotation marks; `:` inside of these is text.
fn parts(text: &str) -> Option<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut quote: Option<char> = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', _)
                if letters
                    .peek()
                    .is_some_and(|next| ['\'', '"', '\\'].contains(next)) =>
            {
                let next = letters.next();
                parts.last_mut()?.extend(next);
            }
            (own, Some(open)) if own == open => quote = None,
            ('\'' | '"', None) => quote = Some(letter),
            (':', None) => parts.push(String::new()),
            (other, _) => parts.last_mut()?.push(other),
        }
    }
    quote.is_none().then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_names_and_fields() {
        let line = "Account - 'chem':Description='a: \\'b\\'':Organization='x':GrpTRESMins=cpu=1000,gres/gpu=5";
        let (word, held) = entry(line, "f:1").unwrap();
        assert_eq!((word, held.name.as_str()), ("Account", "chem"));
        assert_eq!(held.value("Description"), "a: 'b'");
        assert_eq!(held.limit("cpu").unwrap().unwrap().to_string(), "1000");
        assert_eq!(held.limit("gres/gpu").unwrap().unwrap().to_string(), "5");
        assert_eq!(held.limit("billing").unwrap(), None);
        let typed = "Account - 'x':GrpTRESMins=gres/gpu:a100=5,cpu=7:GrpJobs=3";
        let (_, held) = entry(typed, "f:1").unwrap();
        assert_eq!(
            held.limit("gres/gpu:a100").unwrap().unwrap().to_string(),
            "5"
        );
        assert_eq!(
            (
                held.value("GrpJobs"),
                held.limit("cpu").unwrap().unwrap().to_string()
            ),
            ("3", "7".to_owned())
        );
        for bad in [
            "Account chem",
            "Account - 'chem",
            "Account - ''",
            "Account - 'x':y",
        ] {
            assert!(entry(bad, "f:1").is_err(), "{bad}");
        }
    }
}
