//! Charge rates: `1/s` is for time, `*2` a multiplier, `25` an amount for each use. A column `Type` with Gold's
//! types decides if there is one.

use crate::{
    fault::Fault,
    figure::Figure,
    old::{Old, Rate},
    table::{Once, Row, Table},
};

const TYPES: [&str; 9] = [
    "VBR", "NBR", "MVBR", "VBU", "NBU", "VBM", "NBM", "VBF", "NBF",
];

pub(super) fn read(table: &Table, old: &mut Old) -> Result<(), Fault> {
    let mut once = Once::default();
    for row in table.rows() {
        let name = row.need("Name")?;
        let instance = row.first(&["Value", "Instance"]);
        let word = row.text("Type");
        let key = format!("rate {word} {name} {instance}").replace("  ", " ");
        let key = key.trim_end().to_owned();
        once.add(&row, "Name", &key)?;
        old.at(key.clone(), &row);
        let text = row.first(&["Amount", "Rate"]);
        let Some((kind, rate, per)) = kind(&row, word, text, !instance.is_empty())? else {
            let reason = "rates in a form that is not read: `bank rate set` makes them";
            old.skipped.add(reason, format!("{key} {text}"));
            continue;
        };
        old.rates.push(Rate {
            key,
            kind: kind.to_owned(),
            name: name.to_owned(),
            instance: instance.to_owned(),
            figure: rate,
            per: per.map(str::to_owned),
            machine: None,
            description: row.text("Description").to_owned(),
        });
    }
    Ok(())
}

type Read = Option<(&'static str, Figure, Option<&'static str>)>;

fn kind(row: &Row<'_>, word: &str, text: &str, is_named: bool) -> Result<Read, Fault> {
    let (number, unit) = match text.rsplit_once('/') {
        Some((number, unit)) => (number, Some(unit)),
        None => (text, None),
    };
    let (number, is_factor) = match number.strip_prefix(['*', 'x']) {
        Some(rest) => (rest, true),
        None => (number, false),
    };
    let Some(rate) = Figure::parse(number.trim().trim_start_matches('$')) else {
        return Ok(None);
    };
    if rate.is_negative() {
        return Ok(None);
    }
    let per = match unit.map(str::trim) {
        None => None,
        Some("s" | "sec" | "second") => Some("second"),
        Some("m" | "min" | "minute") => Some("minute"),
        Some("h" | "hr" | "hour") => Some("hour"),
        Some("d" | "day") => Some("day"),
        Some(_) => return Ok(None),
    };
    if !word.is_empty() {
        let known = TYPES.iter().find(|own| own.eq_ignore_ascii_case(word));
        let bad = || row.fault("Type", &format!("{word:?} is none of {}", TYPES.join(", ")));
        return Ok(Some((known.ok_or_else(bad)?, rate, per)));
    }
    let kind = match (is_factor, per, is_named) {
        (true, _, true) => "NBM",
        (true, _, false) => "VBM",
        (false, Some(_), true) => "NBR",
        (false, Some(_), false) => "VBR",
        (false, None, true) => "NBU",
        (false, None, false) => "VBU",
    };
    Ok(Some((kind, rate, per)))
}
