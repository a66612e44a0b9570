//! The document of NAMI about a job of Slurm.

use std::fmt::Write as _;

use super::facts::{Facts, known};
use crate::settings::Settings;

/// Longest value of a field, in bytes.
const MAX_VALUE: usize = 256;
/// Resources that have fields of their own, or that no rate should count by accident.
const OWN: [&str; 8] = [
    "cpu", "node", "mem", "gres/gpu", "energy", "pages", "vmem", "fs/disk",
];

/// The times of a document, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Times {
    /// The limit.
    pub(super) wall_s: i64,
    /// Seconds to charge.
    pub(super) charged_s: Option<i64>,
    /// Seconds since 1970.
    pub(super) start: Option<i64>,
    pub(super) end: Option<i64>,
}

/// The document. An empty id is left out, and so is the cluster if the settings name a machine.
pub(super) fn document(settings: &Settings, facts: &Facts, times: Times) -> Vec<u8> {
    let cluster = if settings.machine.is_some() {
        ""
    } else {
        &facts.cluster
    };
    let mut text = String::with_capacity(1024);
    text.push_str("<Job>");
    // Slurm prefixes both numbers of `exit:signal`; documents state the first.
    let exit = facts.exit.split(':').next().unwrap_or_default();
    for (name, value) in [
        ("ObjectID", facts.id.as_str()),
        ("User", &facts.user),
        ("Group", &facts.group),
        ("Account", &facts.account),
        ("Class", &facts.partition),
        ("QOS", &facts.qos),
        ("Machine", cluster),
        ("JobName", &facts.name),
        ("Reservation", &facts.reservation),
        ("State", &facts.state),
        ("CompletionCode", exit),
    ] {
        if let Some(value) = known(value) {
            field(&mut text, name, value);
        }
    }
    number(&mut text, "WallDuration", Some(times.wall_s));
    number(&mut text, "ChargeDuration", times.charged_s);
    number(&mut text, "SubmitTime", facts.submit);
    number(&mut text, "StartTime", times.start);
    number(&mut text, "EndTime", times.end);
    resources(&mut text, &facts.tres);
    text.push_str("</Job>");
    text.into_bytes()
}

/// Processors, nodes, memory, and each other trackable resource under Slurm's own name. GPUs of all types are
/// `gpu`, as in imported usage.
fn resources(text: &mut String, tres: &str) {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for (name, value) in tres.split(',').filter_map(|pair| pair.split_once('=')) {
        if !pairs.iter().any(|(other, _)| *other == name) {
            pairs.push((name, value));
        }
    }
    let find = |name: &str| pairs.iter().find(|(other, _)| *other == name);
    let count = |name: &str| find(name).and_then(|(_, value)| whole(value));
    number(text, "Processors", count("cpu"));
    number(text, "Nodes", count("node"));
    number(
        text,
        "Memory",
        find("mem").and_then(|(_, value)| megabytes(value)),
    );
    let typed = || {
        let of_gpus = pairs
            .iter()
            .filter(|(name, _)| name.starts_with("gres/gpu:"));
        of_gpus
            .filter_map(|(_, value)| whole(value))
            .fold(0, i64::saturating_add)
    };
    let gpus = count("gres/gpu").unwrap_or_else(typed);
    if gpus > 0 {
        resource(text, "gpu", &gpus.to_string());
    }
    for (name, value) in &pairs {
        let is_count = (1..=15).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_digit());
        if !OWN.contains(name) && is_count {
            resource(text, name, value);
        }
    }
}

fn resource(text: &mut String, name: &str, value: &str) {
    text.push_str("<GRes name=\"");
    escape(text, name);
    // Writing to a String cannot fail.
    let _ = write!(text, "\">{value}</GRes>");
}

fn number(text: &mut String, name: &str, value: Option<i64>) {
    if let Some(value) = value {
        field(text, name, &value.to_string());
    }
}

fn field(text: &mut String, name: &str, value: &str) {
    let _ = write!(text, "<{name}>");
    escape(text, value);
    let _ = write!(text, "</{name}>");
}

/// Characters of XML as entities, control characters as spaces, at most [`MAX_VALUE`] bytes of the value.
fn escape(text: &mut String, value: &str) {
    let mut taken = 0_usize;
    for letter in value.chars() {
        taken = taken.saturating_add(letter.len_utf8());
        if taken > MAX_VALUE {
            return;
        }
        match letter {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            // Not allowed in XML either.
            '\u{fffe}' | '\u{ffff}' => text.push(' '),
            letter if letter.is_control() => text.push(' '),
            letter => text.push(letter),
        }
    }
}

fn whole(text: &str) -> Option<i64> {
    text.parse()
        .ok()
        .filter(|count| (0..=999_999_999_999_999).contains(count))
}

/// Megabytes of `8G`, `62.50G`, `100M`, `512K`, rounded up; a bare number counts megabytes.
fn megabytes(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let (whole_part, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.get(..2).unwrap_or(fraction);
    let mut hundredths = whole(whole_part)?.checked_mul(100)?;
    let part = whole(if fraction.is_empty() { "0" } else { fraction })?;
    hundredths = hundredths.checked_add(if fraction.len() == 1 { part * 10 } else { part })?;
    let kilobytes: i64 = match text.strip_prefix(digits)? {
        "K" => 1,
        "" | "M" => 1 << 10,
        "G" => 1 << 20,
        "T" => 1 << 30,
        "P" => 1 << 40,
        _ => return None,
    };
    let most = 100 * 1024;
    let sum = hundredths.checked_mul(kilobytes)?.checked_add(most - 1)?;
    sum.checked_div(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_memory() {
        for (text, expected) in [
            ("100M", Some(100)),
            ("62.50G", Some(64_000)),
            ("1.5G", Some(1536)),
            ("512K", Some(1)),
            ("2T", Some(2 << 20)),
            ("7", Some(7)),
            ("x", None),
            ("", None),
            ("5Q", None),
        ] {
            assert_eq!(megabytes(text), expected, "{text}");
        }
    }

    #[test]
    fn a_document_names_each_resource_once() {
        let facts = Facts {
            id: "17_3".into(),
            user: "amy".into(),
            account: "chem".into(),
            name: "a<b>&\n\"c".into(),
            qos: "(null)".into(),
            tres: "cpu=4,mem=1G,node=2,billing=7,gres/gpu=2,gres/gpu:a100=2,gres/gpu=9,energy=5,license/x=1K".into(),
            ..Facts::default()
        };
        let times = Times {
            wall_s: 600,
            start: Some(1_767_225_600),
            ..Times::default()
        };
        let found = String::from_utf8(document(&Settings::default(), &facts, times)).unwrap();
        assert_eq!(
            found,
            "<Job><ObjectID>17_3</ObjectID><User>amy</User><Account>chem</Account>\
             <JobName>a&lt;b&gt;&amp; &quot;c</JobName><WallDuration>600</WallDuration>\
             <StartTime>1767225600</StartTime><Processors>4</Processors><Nodes>2</Nodes><Memory>1024</Memory>\
             <GRes name=\"gpu\">2</GRes><GRes name=\"billing\">7</GRes><GRes name=\"gres/gpu:a100\">2</GRes></Job>"
        );
    }
}
