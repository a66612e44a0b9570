//! Transactions in plain words: their operations, the kinds of their entries, and the reasons that the bank itself
//! writes. The journal keeps its own words, which the page of a transaction and the data of a table show.

use bank_picture::reason;
use maud::{Markup, html};

use super::amount::grouped;
use super::sentence::{capital, sentence};
use crate::zone::Zone;

/// Operations and kinds of entries that are no change of an object. The others are an object with `_add`, `_rm` or
/// `_set`.
const WORDS: &[(&str, &str)] = &[
    ("activate", "start of an allocation"),
    ("adjust", "adjustment"),
    ("attention", "alert"),
    ("attention_ack", "alert acknowledged"),
    ("attention_set", "alert changed"),
    ("boundary", "start or end of an allocation"),
    ("charge_debt", "charge into debt"),
    ("charge_fallback", "charge of a fallback account"),
    ("charge_notional", "charge for the record only"),
    ("clock_back", "clock was set back"),
    ("create", "creation"),
    ("cycle", "recurring deposit"),
    ("cycle_reset", "reset by a recurring deposit"),
    ("cycle_run", "recurring deposit"),
    ("delete", "removal"),
    ("disputed", "disputed time"),
    ("expire", "end of an allocation"),
    ("import", "usage imported"),
    ("key_rotate", "key renewed"),
    ("late_charge", "charge after the end of the job"),
    ("lien", "hold placed"),
    ("lien_expire", "hold expired"),
    ("lien_extend", "hold extended"),
    ("lien_release", "hold released"),
    ("lien_replace", "hold replaced"),
    ("modify", "change"),
    ("opening", "opening balance"),
    ("period_close", "period closed"),
    ("period_reopen", "period opened again"),
    ("propose", "proposal or request"),
    ("quote_use", "quote used"),
    ("reject", "rejection"),
    ("repeat", "repeated message"),
    ("request_pass", "request passed on"),
    ("reserve", "hold placed"),
    ("reverse", "undo"),
    ("role_grant", "role granted"),
    ("role_revoke", "role revoked"),
    ("settings", "settings changed"),
    ("settle", "usage assigned to a project"),
    ("transfer_in", "transfer received"),
    ("transfer_out", "transfer sent"),
    ("user_merge", "users merged"),
    ("withdraw", "withdrawal"),
    ("would_refuse", "hold that strict mode refuses"),
];

/// Objects with words of their own.
const OBJECTS: &[(&str, &str)] = &[
    ("attr", "attribute"),
    ("cycle", "recurring deposit"),
    ("kind", "kind of records"),
    ("lien", "hold"),
];

/// What follows the name of an object.
const CHANGES: &[(&str, &str)] = &[("_add", "added"), ("_rm", "removed"), ("_set", "changed")];

/// An operation or a kind of entries in words, such as "Key removed".
pub(crate) fn words(word: &str) -> String {
    let own = WORDS.iter().find(|(known, _)| *known == word);
    if let Some((_, text)) = own {
        return capital(text);
    }
    let changed = CHANGES.iter().find_map(|(end, done)| {
        let object = word.strip_suffix(end)?;
        let own = OBJECTS.iter().find(|(known, _)| *known == object);
        let object = own.map_or_else(|| object.replace('_', " "), |(_, text)| (*text).to_owned());
        Some(format!("{object} {done}"))
    });
    capital(&changed.unwrap_or_else(|| word.replace('_', " ")))
}

/// The same in a cell. The title has the word of the journal, which its filter takes.
pub(crate) fn cell(word: &str) -> Markup {
    html! { span title=(word) { (words(word)) } }
}

/// What a transaction did, with its job or account: "Charge of job 412", "Deposit into chemistry".
pub(crate) fn title(op: &str, job: Option<&str>, accounts: &[&str]) -> String {
    let what = words(op);
    let account = match accounts {
        [one, rest @ ..] if rest.iter().all(|other| other == one) => Some(*one),
        _ => None,
    };
    match (op, job, account) {
        ("charge" | "refund" | "quote" | "settle", Some(job), _) => format!("{what} of job {job}"),
        ("reserve" | "lien_extend" | "lien_rm", Some(job), _) => format!("{what} for job {job}"),
        ("deposit" | "opening", _, Some(account)) => format!("{what} into {account}"),
        ("withdraw", _, Some(account)) => format!("{what} from {account}"),
        ("adjust", _, Some(account)) => format!("{what} of {account}"),
        ("transfer", _, _) => match accounts {
            [from, to] => format!("{what} from {from} to {to}"),
            _ => what,
        },
        ("attention", _, Some(account)) => format!("{what} about {account}"),
        _ => what,
    }
}

/// A reason in words: that of a person as it is, the facts of the bank as phrases.
pub(crate) fn reason(zone: Zone, text: &str) -> String {
    if let Some(text) = requested(text) {
        return text;
    }
    match reason::in_words(text) {
        Some(words) => capital(&sentence(zone, &words)),
        None => sentence(zone, text),
    }
}

/// The request of a proposal: method, path, entries as `name=value`, and the reason of a person behind a colon.
fn requested(text: &str) -> Option<String> {
    let (method, rest) = text.split_once(' ')?;
    let path = rest.strip_prefix("/api/v1/")?;
    if !["POST", "PATCH", "DELETE"].contains(&method) {
        return None;
    }
    let (path, entries) = path.split_once(' ').unwrap_or((path, ""));
    let (path, entries, mut why) = match path.strip_suffix(':') {
        Some(path) => (path, "", Some(entries.to_owned())),
        None => (path, entries, None),
    };
    let (entries, asked) = entries_of(entries)?;
    why = why.or(asked);
    let entry = |name: &str| entries.iter().find(|(known, _)| *known == name);
    let entry = |name: &str| entry(name).map(|(_, value)| value.as_str());
    let path: Vec<&str> = path.split('/').collect();
    let what = match path.as_slice() {
        ["allocations", number] => format!("later end of allocation {number}"),
        ["projects", project, "members", user] => {
            format!("end of the membership of {user} in {project}")
        }
        ["projects", project, "members"] => {
            format!(
                "membership of {} in {project}",
                entry("user").unwrap_or("a user")
            )
        }
        ["projects"] => format!("new project {}", entry("name").unwrap_or_default()),
        [route, ..] => {
            let name = ["name", "account", "from", "job"]
                .into_iter()
                .find_map(entry);
            let amount = entry("amount").map(|amount| format!(" of {}", grouped(amount)));
            let name = name.map(|name| format!(" for {name}"));
            let what = route.trim_end_matches('s').replace('-', " ");
            let (amount, name) = (amount.unwrap_or_default(), name.unwrap_or_default());
            format!("{what}{amount}{name}")
        }
        [] => return None,
    };
    let why = why.as_deref().or_else(|| entry("note"));
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    Some(capital(&format!("{what}{why}")))
}

/// The entries of a request, and the text behind them.
type Entries<'t> = (Vec<(&'t str, String)>, Option<String>);

fn entries_of(mut rest: &str) -> Option<Entries<'_>> {
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (name, value) = rest.split_once('=')?;
        let (value, behind) = if value.starts_with('"') {
            let mut texts = serde_json::Deserializer::from_str(value).into_iter::<String>();
            let text = texts.next()?.ok()?;
            (text, value.get(texts.byte_offset()..)?)
        } else {
            let end = value.find(' ').unwrap_or(value.len());
            let end = if value.get(..end)?.ends_with(':') {
                end - 1
            } else {
                end
            };
            (value.get(..end)?.to_owned(), value.get(end..)?)
        };
        found.push((name, value));
        if let Some(asked) = behind.strip_prefix(": ") {
            return Some((found, Some(asked.to_owned())));
        }
        rest = behind.trim_start();
    }
    Some((found, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_and_kind_is_in_words() {
        let kinds = bank_core::effects::ENTRY_KINDS.iter();
        let kinds = kinds.map(|(_, word)| *word);
        for word in bank_core::command::OPS.iter().copied().chain(kinds) {
            let text = words(word);
            assert!(!text.contains('_'), "{word}: {text}");
            let is_word = |short: &str| text.to_lowercase().split(' ').any(|own| own == short);
            assert!(!is_word("rm") && !is_word("lien"), "{word}: {text}");
        }
        assert_eq!(words("key_rm"), "Key removed");
        assert_eq!(words("attention"), "Alert");
        assert_eq!(title("charge", Some("412"), &["a"]), "Charge of job 412");
        assert_eq!(
            title("deposit", None, &["chemistry"]),
            "Deposit into chemistry"
        );
        assert_eq!(title("transfer", None, &["a", "b"]), "Transfer from a to b");
    }

    #[test]
    fn reasons_of_the_bank_are_phrases() {
        for (text, expected) in [
            (
                "policy=DEBITALLWC counted=wc:1146240 lien_missing",
                "Policy: wall time of all jobs; counted: 318.40 processor-hours, without a hold",
            ),
            (
                "fallback_from=teaching needed=128.00 available=92.00",
                "The fallback account pays for teaching, 128.00 needed, 92.00 available",
            ),
            (
                "fallback_from=money of 2026 lien_missing",
                "The fallback account pays for money of 2026, without a hold",
            ),
            (
                "key=mona client=mona roles=operator,auditor token disabled",
                "Key mona, of mona, roles: operator, auditor, a token, disabled",
            ),
            (
                "until=2026-02-27T00:00:00Z first quarter",
                "Until 2026-02-27 00:00, first quarter",
            ),
            (
                "machine=aurora description=Parallel cluster of 2020",
                "Machine aurora, Parallel cluster of 2020",
            ),
            (
                "machine=cirrus source=->openstack:cirrus",
                "Machine cirrus, source openstack:cirrus",
            ),
            (
                "POST /api/v1/deposits amount=200000 end=2027-06-16T00:00:00Z name=climate-ocean note=\"until the end\"",
                "Deposit of 200,000 for climate-ocean: until the end",
            ),
            (
                "POST /api/v1/projects/climate/members active=true user=chloe: works on ice = water",
                "Membership of chloe in climate: works on ice = water",
            ),
            ("award of quarter 1, x=5", "award of quarter 1, x=5"),
            ("", ""),
        ] {
            assert_eq!(reason(Zone::default(), text), expected);
        }
    }
}
