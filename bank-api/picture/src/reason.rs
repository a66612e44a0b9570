//! Reasons of journal entries in words. The journal has the facts of the bank as `name=value`; people read phrases.

use bank_api::text::format_rfc3339;

use crate::figure::grouped;

/// Facts of the bank in a reason, `name=value`, with the words around the value.
const FACTS: &[(&str, &str, &str)] = &[
    ("account", "account ", ""),
    ("allocation", "allocation ", ""),
    ("asserted", "amount stated by the scheduler: ", ""),
    ("available", "", " available"),
    ("client", "of ", ""),
    ("clock", "clock at ", ""),
    ("closed_by", "closed by transaction ", ""),
    ("contribution", "contribution ", ""),
    ("contributor", "contributor ", ""),
    ("counterpart", "transaction at the partner: ", ""),
    ("cycle", "recurring deposit ", ""),
    ("default_project", "default project ", ""),
    ("description", "", ""),
    ("effective", "counted from ", ""),
    ("fallback", "fallback account ", ""),
    ("fallback_from", "the fallback account pays for ", ""),
    ("fields", "entries: ", ""),
    ("from", "from ", ""),
    ("hardware", "hardware ", ""),
    ("itemisation", "", ""),
    ("key", "key ", ""),
    ("ledger", "ledger at ", ""),
    ("lien", "hold ", ""),
    ("lists", "lists: ", ""),
    ("machine", "machine ", ""),
    ("mode", "mode ", ""),
    ("name", "name ", ""),
    ("needed", "", " needed"),
    ("nodes", "", " nodes"),
    ("parent", "part of ", ""),
    ("partner_away", "no answer of the partner ", ""),
    ("passed_on", "becomes proposal ", ""),
    ("per_day", "per day: ", ""),
    ("per_operation", "per operation: ", ""),
    ("processors", "", " processors"),
    ("project", "project ", ""),
    ("project_was", "project before: ", ""),
    ("proposal", "proposal ", ""),
    ("quote", "quote ", ""),
    ("repeat_of", "repeats ", ""),
    ("role", "role ", ""),
    ("roles", "roles: ", ""),
    ("source", "source ", ""),
    ("tid", "quote at the scheduler: ", ""),
    ("until", "until ", ""),
    ("user", "user ", ""),
    ("windows", "", ""),
    ("would_refuse", "strict mode refuses it: ", ""),
];

/// Facts whose values can be texts of several words.
const LONG: &[&str] = &["description", "itemisation"];

/// Facts whose values are names, which can have blanks. Another fact, also one without words here, ends the name.
const NAMES: &[&str] = &[
    "account",
    "client",
    "contributor",
    "cycle",
    "default_project",
    "fallback",
    "fallback_from",
    "key",
    "machine",
    "name",
    "parent",
    "project",
    "project_was",
    "source",
    "user",
];

/// Facts without a value.
const FLAGS: &[(&str, &str)] = &[
    ("assigned", "assigned to a project"),
    ("disabled", "disabled"),
    ("lien_missing", "without a hold"),
    ("not_billed", "not billed"),
    ("price_overflow", "the price is too large"),
    ("quote_invalid", "the quote is not valid"),
    ("token", "a token"),
    ("unbilled", "its project is unknown"),
];

/// Quantities of charge policies, by the end of their names and the word of what was counted: the words for both.
const COUNTED: &[(&str, &str, &str)] = &[
    ("wc", "wall time", "processor-hours"),
    ("cpu", "used processor time", "processor-hours"),
    ("pe", "processor equivalents", "processor-equivalent-hours"),
    (
        "blocked",
        "processors of the blocked nodes",
        "processor-hours",
    ),
    ("node", "nodes", "node-hours"),
    ("requested_wc", "requested wall time", "processor-hours"),
];

/// The facts of the bank in a reason as phrases, with times of RFC 3339; none for the words of a person.
pub fn in_words(text: &str) -> Option<String> {
    // The request of a proposal is not in facts.
    let method = text.split_once(" /").map_or("", |(method, _)| method);
    if ["POST", "PATCH", "DELETE"].contains(&method) {
        return None;
    }
    let mut facts = facts(text);
    let has_facts = facts.iter().any(|fact| fact.name.is_some());
    let is_flag = |text: &str| FLAGS.iter().any(|(flag, _)| *flag == text);
    if !has_facts && !facts.iter().any(|fact| is_flag(&fact.value)) {
        return None;
    }
    let policy = policy(&facts);
    if policy.is_some() {
        facts.retain(|fact| !matches!(fact.name, Some("policy" | "counted")));
    }
    // An amount without an itemisation has an empty one.
    let rest = facts.iter().map(phrase).filter(|phrase| !phrase.is_empty());
    let all: Vec<String> = policy.into_iter().chain(rest).collect();
    Some(all.join(", "))
}

/// A part of a reason.
struct Fact<'t> {
    name: Option<&'t str>,
    value: String,
}

fn is_fact(name: &str) -> bool {
    ["policy", "counted"].contains(&name) || FACTS.iter().any(|(known, ..)| *known == name)
}

/// Whether a word looks like a fact, `name=value`.
fn is_other_fact(word: &str) -> bool {
    let is_name = |name: &str| {
        let mut bytes = name.bytes();
        !name.is_empty() && bytes.all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

fn facts(text: &str) -> Vec<Fact<'_>> {
    let mut found: Vec<Fact<'_>> = Vec::new();
    for word in text.split(' ') {
        let fact = word.split_once('=').filter(|(name, _)| is_fact(name));
        if let Some((name, value)) = fact {
            found.push(Fact {
                name: Some(name),
                value: value.to_owned(),
            });
            continue;
        }
        let is_flag = FLAGS.iter().any(|(flag, _)| *flag == word);
        let is_open = |last: &Fact<'_>| match last.name {
            Some(name) if NAMES.contains(&name) => !is_other_fact(word),
            Some(name) => LONG.contains(&name),
            None => !FLAGS.iter().any(|(flag, _)| *flag == last.value),
        };
        match found.last_mut().filter(|last| !is_flag && is_open(last)) {
            Some(last) => last.value = format!("{} {word}", last.value),
            None => found.push(Fact {
                name: None,
                value: word.to_owned(),
            }),
        }
    }
    found
}

fn phrase(fact: &Fact<'_>) -> String {
    let value = &fact.value;
    let Some(name) = fact.name else {
        let flag = FLAGS.iter().find(|(flag, _)| flag == value);
        return flag.map_or_else(|| value.clone(), |(_, text)| (*text).to_owned());
    };
    if name == "windows" {
        return windows(value).unwrap_or_else(|| value.clone());
    }
    let value = match value.split_once("->") {
        Some(("", new)) => new.to_owned(),
        Some((old, "")) => format!("{old} removed"),
        Some((old, new)) => format!("{new} (before: {old})"),
        None if name == "fields" || name == "roles" => value.replace(',', ", ").replace('_', " "),
        None => value.clone(),
    };
    let known = FACTS.iter().find(|(known, ..)| *known == name);
    known.map_or_else(
        || format!("{name} {value}"),
        |(_, before, behind)| format!("{before}{value}{behind}"),
    )
}

/// The charge policy, and what it counted.
fn policy(facts: &[Fact<'_>]) -> Option<String> {
    let of = |name| facts.iter().find(|fact| fact.name == Some(name));
    let policy = of("policy")?.value.as_str();
    let counted = of("counted").map_or("", |fact| fact.value.as_str());
    let whose = if policy.starts_with("DEBITSUCCESSFUL") {
        "of jobs that succeed"
    } else {
        "of all jobs"
    };
    let measure = policy
        .strip_prefix("DEBITALL")
        .or_else(|| policy.strip_prefix("DEBITSUCCESSFUL"))
        .map_or_else(|| "requested_wc".to_owned(), str::to_lowercase);
    let known = |word: &str| COUNTED.iter().find(|(known, ..)| *known == word);
    let (_, charged, _) = known(&measure)?;
    let Some((word, amount)) = counted.split_once(':') else {
        let why = counted.replace(['_', ':'], " ");
        return Some(format!("policy: {charged} {whose}; {why}"));
    };
    let amount = match (known(word), billionths(amount)) {
        (Some((_, _, unit)), Some(seconds)) => format!("{} {unit}", in_hours(seconds)),
        _ => format!("{} {amount}", word.replace('_', " ")),
    };
    Some(format!("policy: {charged} {whose}; counted: {amount}"))
}

/// Billionths of a decimal number that is not below zero.
fn billionths(text: &str) -> Option<i128> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{part:0<9}");
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && part.len() <= 9).then(|| digits.parse().ok())?
}

/// Billionths of seconds in hours with two decimals.
fn in_hours(billionths: i128) -> String {
    let hundredths = billionths.saturating_add(18_000_000_000) / 36_000_000_000;
    grouped(&format!("{}.{:02}", hundredths / 100, hundredths % 100))
}

/// Charged windows, `START/END` in microseconds with commas between.
fn windows(value: &str) -> Option<String> {
    let one = |window: &str| {
        let (start, end) = window.split_once('/')?;
        let (start, end) = (start.parse().ok()?, end.parse().ok()?);
        let (start, end) = (format_rfc3339(start), format_rfc3339(end));
        Some(format!("from {start} to {end}"))
    };
    let all: Option<Vec<String>> = value.split(',').map(one).collect();
    Some(format!("charged {}", all?.join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_phrases_and_words_of_people_are_not() {
        for (text, expected) in [
            ("lien_missing itemisation=", Some("without a hold")),
            (
                "windows=1790985600000000/1791072000000000 effective=2026-10-04T00:00:00Z lien_missing",
                Some(
                    "charged from 2026-10-03T00:00:00Z to 2026-10-04T00:00:00Z, counted from \
                     2026-10-04T00:00:00Z, without a hold",
                ),
            ),
            (
                "policy=DEBITALLCPU counted=cpu:4800.5",
                Some("policy: used processor time of all jobs; counted: 1.33 processor-hours"),
            ),
            ("award of quarter 1, x=5", None),
            ("user=Ann Lee", Some("user Ann Lee")),
            (
                "project=sub parent=High Energy disabled",
                Some("project sub, part of High Energy, disabled"),
            ),
            (
                "cycle=my cycle account=High Energy every=month amount=5.000",
                Some("recurring deposit my cycle, account High Energy, every=month amount=5.000"),
            ),
            (
                "by mistake account=High Energy",
                Some("by mistake, account High Energy"),
            ),
        ] {
            assert_eq!(in_words(text).as_deref(), expected);
        }
    }
}
