//! Which field of a form a refusal is about.

use super::{Field, Kind};
use crate::failed::Failed;

/// Refusals of a figure.
const OF_FIGURE: &[&str] = &[
    "amount_overflow",
    "amount_too_large",
    "bad_amount",
    "bad_amount_syntax",
    "bad_rate",
    "insufficient_funds",
    "over_limit",
    "refund_exceeds_charge",
    "too_many_decimals",
    "uncovered",
];

/// Refusals of one entry that name no field: the fields that they can be about, of which a form has one. A transfer has
/// two accounts, and both may be the ambiguous one.
const OF_FIELDS: &[(&str, &[&str])] = &[
    ("ambiguous", &["machine", "name", "account"]),
    ("bad_window", &["end"]),
    ("nothing_to_refund", &["job"]),
    ("period_closed", &["until"]),
    ("period_gap", &["until"]),
    ("period_not_over", &["until"]),
    ("same_account", &["to"]),
    ("window_in_past", &["end", "until", "reissue_until"]),
];

/// A refusal with its field. One that names none is about the field in its words, about the entry that
/// it quotes, or about the one that its code is about.
pub(super) fn placed<'v>(
    fields: &[Field<'_>],
    entered: impl Fn(&str) -> &'v str,
    failed: &Failed,
) -> Failed {
    let problem = failed.problem();
    if problem.field.is_some() {
        return failed.clone();
    }
    let detail = problem.detail.as_deref().unwrap_or_default();
    let quotes = |field: &Field<'_>| {
        let text = entered(field.name).trim();
        let is_word = || detail.split([' ', ':', ';', ',']).any(|word| word == text);
        !text.is_empty()
            && (detail.contains(&format!("{text:?}")) || (field.kind == Kind::Whole && is_word()))
    };
    let code = problem.code.as_str();
    let found = fields
        .iter()
        .find(|field| is_about(failed, field.name))
        .or_else(|| fields.iter().find(|field| quotes(field)))
        .or_else(|| figure(fields, &entered, code))
        .or_else(|| {
            let (_, names) = OF_FIELDS.iter().find(|(own, _)| *own == code)?;
            let mut own = names.iter();
            own.find_map(|name| fields.iter().find(|field| field.name == *name))
        });
    match found {
        Some(field) => failed.clone().field(field.name),
        None => failed.clone(),
    }
}

/// The figure that is wrong: one that is no decimal, or else the first.
fn figure<'f, 'v>(
    fields: &'f [Field<'f>],
    entered: &impl Fn(&str) -> &'v str,
    code: &str,
) -> Option<&'f Field<'f>> {
    if !OF_FIGURE.contains(&code) {
        return None;
    }
    let figures = || {
        fields
            .iter()
            .filter(|field| field.kind == Kind::Figure || field.is_amount())
    };
    let odd = figures().find(|field| !is_decimal(entered(field.name)));
    let odd = odd.filter(|_| code == "bad_amount_syntax");
    odd.or_else(|| figures().find(|field| !entered(field.name).is_empty()))
}

/// Whether a refusal names a field: by itself, before the colon of its words, or as the one that is missing.
pub(crate) fn is_about(failed: &Failed, name: &str) -> bool {
    let problem = failed.problem();
    let detail = problem.detail.as_deref().unwrap_or_default();
    let start = detail.split_once(": ").map(|(start, _)| start);
    let start = start.or_else(|| detail.strip_suffix(" is missing"));
    problem.field.as_deref().or(start) == Some(name)
}

/// Whether a text is a decimal, or empty.
fn is_decimal(text: &str) -> bool {
    let digits = text.trim().trim_start_matches('-');
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
}
