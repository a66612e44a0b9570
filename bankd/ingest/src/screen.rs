//! The closing summary of an import, for people and for programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use bank_api::v1::{ImportFigure, ImportSummary, Quantity};

use super::{Number, Summary};

/// Reasons that are shown of the records that could not be read.
const REASONS_MAX: usize = 5;

/// The summary in the layout of the shared samples: exact numbers only.
pub fn json(summary: &Summary) -> String {
    let shown = serde_json::to_string_pretty(&summary.shown()).unwrap_or_default();
    format!("{shown}\n")
}

/// The summary in words. `is_tried`: nothing was written.
pub fn people(summary: &Summary, files: u64, is_tried: bool) -> String {
    let shown = summary.shown();
    let mut out = String::new();
    let rejected = summary.malformed();
    let skipped: u64 = shown.skipped.values().sum();
    let skipped = skipped.saturating_sub(rejected);
    let counted = |number: u64, noun: &str| {
        let plural = if number == 1 { "" } else { "s" };
        format!("{} {noun}{plural}", count(number))
    };
    let records = counted(shown.records, "record");
    let jobs = counted(shown.jobs, "job");
    let files = match files {
        1 => String::new(),
        files => format!(" in {} files", count(files)),
    };
    if shown.records == 0 && rejected == 0 && skipped == 0 {
        return format!("no records{files}: the input is empty, or has only a header\n");
    }
    let (rejected_text, skipped_text) = (count(rejected), count(skipped));
    let _ = writeln!(
        out,
        "read {records}{files}: {jobs}, {skipped_text} skipped, {rejected_text} rejected"
    );
    let labels = shown
        .skipped
        .iter()
        .filter(|(label, _)| *label != "malformed");
    let labels: Vec<String> = labels
        .map(|(label, skips)| format!("{} × {label}", count(*skips)))
        .collect();
    if !labels.is_empty() {
        let _ = writeln!(out, "skipped: {}", labels.join(", "));
    }
    if rejected > 0 {
        let _ = writeln!(out, "rejected: {}", reasons(summary, rejected));
    }
    if shown.replaced > 0 {
        let _ = writeln!(
            out,
            "came again: {} ({} with the same numbers); {} identities",
            count(shown.replaced),
            count(summary.duplicates()),
            count(shown.identities)
        );
    }
    if summary.without_limit() > 0 {
        let _ = writeln!(
            out,
            "warning: {} with containers without a CPU limit or request, which count no processors",
            counted(summary.without_limit(), "pod")
        );
    }
    let verb = if is_tried { "would add" } else { "holds" };
    adds(&mut out, summary, &shown, verb);
    days(&mut out, &shown);
    if summary.left_out() > 0 {
        let _ = writeln!(
            out,
            "no day has {} jobs of more than a century",
            count(summary.left_out())
        );
    }
    out
}

/// Outcomes of the jobs in the bank. `is_tried`: a dry run without writes; `unknown`: their machines that the bank does
/// not have.
pub fn taken(
    source: &str,
    (outcomes, quarantined): (&BTreeMap<String, u64>, u64),
    unknown: &BTreeSet<String>,
    is_tried: bool,
) -> String {
    let became = outcomes.iter();
    let became: Vec<String> = became
        .map(|(word, many)| format!("{} {word}", count(*many)))
        .collect();
    let would = if is_tried { "would be " } else { "" };
    if became.is_empty() && quarantined == 0 {
        return format!("no usage from {source} in this import\n");
    }
    let mut text = format!("{would}in the bank, from {source}: ");
    if became.is_empty() {
        text.push_str("no jobs");
    }
    text.push_str(&became.join(", "));
    text.push('\n');
    if quarantined > 0 {
        let _ = writeln!(text, "{would}in the quarantine: {}", count(quarantined));
    }
    for name in unknown {
        let _ = writeln!(
            text,
            "the bank has no machine {name:?}: its jobs have the general rates and the default mode"
        );
    }
    text
}

/// Charges of the import: each identity once.
fn adds(out: &mut String, summary: &Summary, shown: &ImportSummary, verb: &str) {
    let Some((from, to)) = summary.period() else {
        return;
    };
    let hours: Vec<String> = [
        ("core_s", "core-hours"),
        ("gpu_s", "GPU-hours"),
        ("node_s", "node-hours"),
        ("wall_s", "hours of run time"),
        ("value_s", "hours × value"),
    ]
    .iter()
    .filter_map(|(name, unit)| {
        let sum = shown.totals_after_identity.get(*name)?;
        let hours = number(sum)?.shared_out(3_600, 3)?;
        Some(format!("{hours} {unit}"))
    })
    .collect();
    let known =
        |values: &BTreeMap<String, _>| values.keys().filter(|name| !name.is_empty()).count();
    let (users, accounts) = (known(&shown.by_user), known(&shown.by_account));
    let mut who = String::new();
    for (many, one, more) in [(users, "user", "users"), (accounts, "account", "accounts")] {
        match many {
            0 => {}
            1 => {
                let _ = write!(who, ", 1 {one}");
            }
            many => {
                let many = count(u64::try_from(many).unwrap_or(u64::MAX));
                let _ = write!(who, ", {many} {more}");
            }
        }
    }
    let _ = writeln!(
        out,
        "{verb} {}, from {from} to {to} (exclusive){who}",
        hours.join(", ")
    );
}

/// The reasons, the most frequent first, each with its first position.
fn reasons(summary: &Summary, rejected: u64) -> String {
    let mut groups: Vec<(&str, u64, String)> = Vec::new();
    for complaint in summary.complaints() {
        let why = complaint.why.as_str();
        if let Some((_, many, _)) = groups.iter_mut().find(|(known, ..)| *known == why) {
            *many = many.saturating_add(1);
            continue;
        }
        let at = match complaint.line {
            0 => complaint.file.clone(),
            line => format!("{} line {}", complaint.file, count(line)),
        };
        groups.push((why, 1, at));
    }
    groups.sort_by_key(|(_, many, _)| std::cmp::Reverse(*many));
    groups.truncate(REASONS_MAX);
    let shown: u64 = groups.iter().map(|(_, many, _)| many).sum();
    let one =
        |(why, many, at): &(&str, u64, String)| format!("{} × {why} (first at {at})", count(*many));
    let mut text: Vec<String> = groups.iter().map(one).collect();
    if rejected > shown {
        text.push(format!("{} more", count(rejected.saturating_sub(shown))));
    }
    text.join(", ")
}

/// A line for each day, where days were asked for.
fn days(out: &mut String, shown: &ImportSummary) {
    let Some(ImportFigure::Map(days)) = shown.extra.get("by_day") else {
        return;
    };
    let _ = writeln!(
        out,
        "{:<10}  {:>10}  {:>18}  {:>18}",
        "UTC day", "jobs", "core-hours", "GPU-hours"
    );
    for (day, figures) in days {
        let ImportFigure::Map(figures) = figures else {
            continue;
        };
        let hours = |name: &str| match figures.get(name) {
            Some(ImportFigure::Quantity(sum)) => {
                number(sum).and_then(|sum| sum.shared_out(3_600, 3))
            }
            _ => None,
        };
        let jobs = match figures.get("jobs") {
            Some(ImportFigure::Quantity(jobs)) => {
                number(jobs).and_then(|jobs| jobs.shared_out(1, 0))
            }
            _ => None,
        };
        let [jobs, core, gpu] =
            [jobs, hours("core_s"), hours("gpu_s")].map(Option::unwrap_or_default);
        let _ = writeln!(out, "{day:<10}  {jobs:>10}  {core:>18}  {gpu:>18}");
    }
}

fn number(quantity: &Quantity) -> Option<Number> {
    match quantity {
        Quantity::Whole(whole) => Some(Number::whole(*whole)),
        Quantity::Decimal(text) => Number::parse(text),
    }
}

/// With commas between thousands.
fn count(number: u64) -> String {
    let shown = Number::whole(number).shared_out(1, 0);
    shown.unwrap_or_else(|| number.to_string())
}
