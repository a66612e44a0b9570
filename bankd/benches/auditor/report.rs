//! What the rounds found: every ingredient with its spread, the gates, and the JSON line.

use std::collections::BTreeMap;

use crate::figure::{Figure, median};

/// What is measured, how it is called for a person, and how many places are shown.
const MEASURED: [(&str, &str, usize); 14] = [
    ("post", "POST /record, 64 connections, 1/s", 0),
    ("post_p99_ms", "  99th percentile, ms", 2),
    ("post_single", "the same, one record in a commit, 1/s", 0),
    ("post_16", "POST /record, 16 connections, 1/s", 0),
    ("commits_per_record", "  commits for each record", 4),
    ("day_few_ms", "a day of 500, few stored, median, ms", 3),
    ("day_many_ms", "  many stored", 3),
    (
        "group_few_ms",
        "the last 100 of a group, few stored, median, ms",
        3,
    ),
    ("group_many_ms", "  many stored", 3),
    ("one_few_ms", "one by its id, few stored, median, ms", 3),
    ("one_many_ms", "  many stored", 3),
    ("stream", "everything, many stored, records/s", 0),
    ("stream_first_ms", "  to its first byte, ms", 2),
    ("peak_mib", "most memory of the daemon, MiB", 0),
];

/// What is asked for: key, at least or at most, and the gate in ten-thousandths.
const GATES: [(&str, bool, u64); 9] = [
    ("group_gain", true, 40_000),
    ("commits_per_record", false, 2_500),
    ("day_few_ms", false, 50_000),
    ("day_many_ms", false, 50_000),
    ("group_few_ms", false, 50_000),
    ("group_many_ms", false, 50_000),
    ("one_few_ms", false, 50_000),
    ("one_many_ms", false, 50_000),
    ("stream", true, 1_500_000_000),
];

/// Every figure of every round.
#[derive(Debug, Default)]
pub(crate) struct Figures(BTreeMap<&'static str, Vec<Figure>>);

impl Figures {
    /// One more.
    pub(crate) fn add(&mut self, key: &'static str, figure: Figure) {
        let label = MEASURED.iter().find(|(k, ..)| *k == key).map(|(_, l, _)| l);
        eprintln!("  {:<50}{figure:.4}", label.unwrap_or(&key));
        self.0.entry(key).or_default().push(figure);
    }

    /// The tables, and at the very end the JSON line.
    pub(crate) fn print(&self) {
        println!("medians of the rounds (least..greatest); daemon on core 0, load on core 1");
        for (key, label, places) in MEASURED {
            let Some(all) = self.0.get(key) else { continue };
            let least = all.iter().min().copied().unwrap_or_default();
            let greatest = all.iter().max().copied().unwrap_or_default();
            let middle = median(all.clone());
            println!("{label:<50}{middle:>10.places$}  ({least:.places$}..{greatest:.places$})");
        }
        let mut found: BTreeMap<&str, Figure> = self
            .0
            .iter()
            .map(|(key, all)| (*key, median(all.clone())))
            .collect();
        if let (Some(post), Some(single)) = (found.get("post"), found.get("post_single")) {
            found.insert("group_gain", post.over(*single));
        }
        for (key, at_least, gate) in GATES {
            let Some(is) = found.get(key).copied() else {
                continue;
            };
            let gate = Figure::whole(gate).over(Figure::whole(10_000));
            let holds = if at_least { is >= gate } else { is <= gate };
            let word = if at_least { "at least" } else { "at most" };
            let verdict = if holds { "holds" } else { "MISSED" };
            println!("{key:<50}{is:>10.4}  {word} {gate}: {verdict}");
        }
        let pairs = found.iter().map(|(key, is)| format!("\"{key}\": {is}"));
        println!("{{{}}}", pairs.collect::<Vec<_>>().join(", "));
    }
}
