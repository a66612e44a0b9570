//! `bank usage` beside the journal: by every key, by month, out of sums and out of records.

use std::collections::BTreeMap;

use serde_json::Value;

use super::difference::{Differences, minor, number};
use super::house::House;
use super::truth::{Charged, Truth};

const PERIOD: &str = "from=2025-10-01T00:00:00Z&until=2027-06-01T00:00:00Z";
/// Every word of `by`; the last five are known of records only.
const KEYS: [&str; 11] = [
    "project", "account", "user", "machine", "queue", "qos", "pi", "group", "state", "size", "wall",
];

/// The figures of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Figures {
    charged: Charged,
    core: i128,
}

pub(super) fn compare(house: &House, truth: &Truth, found: &mut Differences) {
    let places = house.places();
    let ask = |query: &str, found: &mut Differences| -> Option<Value> {
        let target = format!("/api/v1/report/usage?{PERIOD}{query}");
        let answer = house.get(&target);
        if !answer.is_good() {
            found.push("usage answers", query, answer.text, "an answer".to_owned());
            return None;
        }
        Some(answer.json())
    };
    let Some(all) = ask("&by=project,account,user,machine", found) else {
        return;
    };
    let rows = rows(&all, &["project", "account", "user", "machine"], places);
    by_owner(&rows, truth, found);
    let total = figures(&all["total"], places);
    totals(total, truth, found);
    for key in KEYS {
        let Some(answer) = ask(&format!("&by={key}"), found) else {
            continue;
        };
        let own = figures(&answer["total"], places);
        found.same(&format!("usage by {key}: total"), key, own, total);
        let sum = summed(&answer, places);
        found.same(&format!("usage by {key}: sum of rows"), key, sum, total);
    }
    monthly(&ask, truth, total, places, found);
}

fn by_owner(rows: &BTreeMap<Vec<String>, Figures>, truth: &Truth, found: &mut Differences) {
    let mut seen: BTreeMap<Vec<String>, Charged> = BTreeMap::new();
    let mut core: BTreeMap<Vec<String>, i128> = BTreeMap::new();
    for (key, figures) in rows {
        seen.insert(key.clone(), figures.charged);
        let whose = vec![key[0].clone(), key[2].clone(), key[3].clone()];
        *core.entry(whose).or_default() += figures.core;
    }
    let wanted = truth
        .charged
        .iter()
        .map(|(key, charged)| (key.to_vec(), *charged));
    charged("usage: charged", &seen, &wanted.collect(), found);
    let wanted: BTreeMap<Vec<String>, i128> = truth
        .core
        .iter()
        .map(|(key, core)| (key.to_vec(), *core))
        .collect();
    found.maps("usage: core time", &core, &wanted);
}

/// Compares real charges, and shadow charges apart.
fn charged<K: Ord + Clone + std::fmt::Debug>(
    what: &str,
    seen: &BTreeMap<K, Charged>,
    wanted: &BTreeMap<K, Charged>,
    found: &mut Differences,
) {
    let real = |map: &BTreeMap<K, Charged>| -> BTreeMap<K, i128> {
        map.iter()
            .map(|(key, own)| (key.clone(), own.real))
            .collect()
    };
    let shadow = |map: &BTreeMap<K, Charged>| -> BTreeMap<K, i128> {
        map.iter()
            .map(|(key, own)| (key.clone(), own.shadow))
            .collect()
    };
    found.maps(what, &real(seen), &real(wanted));
    found.maps(&format!("{what} in shadow"), &shadow(seen), &shadow(wanted));
}

fn totals(total: Figures, truth: &Truth, found: &mut Differences) {
    let core: i128 = truth.core.values().sum();
    found.same("usage: total core time", "all", total.core, core);
    let sum = truth.charged.values().fold((0, 0), |(real, shadow), own| {
        (real + own.real, shadow + own.shadow)
    });
    found.same("usage: total charged", "all", total.charged.real, sum.0);
    found.same("usage: total in shadow", "all", total.charged.shadow, sum.1);
}

fn monthly(
    ask: &dyn Fn(&str, &mut Differences) -> Option<Value>,
    truth: &Truth,
    total: Figures,
    places: u32,
    found: &mut Differences,
) {
    let by = "&by=project,account,user,machine&every=month";
    let words = ["project", "account", "user", "machine"];
    let Some(sums) = ask(by, found) else { return };
    let of_sums = rows(&sums, &words, places);
    let sum = summed(&sums, places);
    found.same("usage by month: sum of rows", "all", sum, total);
    let mut seen: BTreeMap<Vec<String>, Charged> = BTreeMap::new();
    for (key, figures) in &of_sums {
        seen.insert(key.clone(), figures.charged);
    }
    let wanted = truth.monthly.iter().map(|((key, month), charged)| {
        let key = key.iter().chain([month]).cloned().collect();
        (key, *charged)
    });
    charged("usage by month: charged", &seen, &wanted.collect(), found);
    let Some(records) = ask(&format!("{by}&records=true"), found) else {
        return;
    };
    let of_records = rows(&records, &words, places);
    found.maps("usage by month: sums and records", &of_sums, &of_records);
    let Some(days) = ask("&every=day", found) else {
        return;
    };
    found.same(
        "usage by day: sum of rows",
        "all",
        summed(&days, places),
        total,
    );
}

/// The rows by the values of words and the bucket, without those of nothing.
fn rows(answer: &Value, words: &[&str], places: u32) -> BTreeMap<Vec<String>, Figures> {
    let mut found: BTreeMap<Vec<String>, Figures> = BTreeMap::new();
    for row in answer["rows"].as_array().into_iter().flatten() {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut key: Vec<String> = words.iter().map(|word| text(&row["keys"][word])).collect();
        key.extend(row["bucket"].as_str().map(str::to_owned));
        let own = figures(row, places);
        if own != Figures::default() {
            found.insert(key, own);
        }
    }
    found
}

fn summed(answer: &Value, places: u32) -> Figures {
    let mut sum = Figures::default();
    for row in answer["rows"].as_array().into_iter().flatten() {
        let own = figures(row, places);
        sum.charged.real += own.charged.real;
        sum.charged.shadow += own.charged.shadow;
        sum.core += own.core;
    }
    sum
}

fn figures(row: &Value, places: u32) -> Figures {
    let shadow = row.as_object().into_iter().flatten();
    let mut shadow = shadow.filter(|(name, value)| name.contains("shadow") && value.is_string());
    Figures {
        charged: Charged {
            real: minor(&row["charged"], places),
            shadow: shadow.next().map_or(0, |(_, value)| minor(value, places)),
        },
        core: number(row["core_seconds"].as_str().unwrap_or("0"), 6),
    }
}
