//! What the rounds found: every ingredient with its spread, the ratios, and the JSON line.

use crate::figure::{Figure, median};
use std::collections::BTreeMap;

/// The keys of the JSON line, in its order.
const KEYS: [&str; 39] = [
    "plain",
    "h",
    "l",
    "c",
    "e",
    "bound",
    "e_over_bound",
    "l_over_c",
    "e_over_c",
    "pg",
    "e_over_pg",
    "batch",
    "batch_over_e",
    "e_single",
    "group_gain",
    "commits_per_command",
    "hot_over_many",
    "fdatasync_p50_us",
    "p50_ms",
    "p99_ms",
    "half_p99_ms",
    "mib_per_million_jobs",
    "script_ms",
    "true_ms",
    "script_over_true",
    "nami_p99_ms",
    "gold_p99_ms",
    "gold_over_nami",
    "pages_over_alone",
    "e_short",
    "e_long",
    "long_over_short",
    "e_log",
    "log_over_e",
    "lag_p99_ms",
    "reads_one",
    "reads_three",
    "three_over_one",
    "processors",
];

/// What is measured, how it is called for a person, and how many places are shown.
const MEASURED: [(&str, &str, usize); 32] = [
    ("plain", "axum's empty POST, 1/s", 0),
    ("h", "H  signature and document, no ledger, 1/s", 0),
    ("l", "L  the ledger in-process, 64 per commit, 1/s", 0),
    ("c", "C  a plain cached ledger, 64 per commit, 1/s", 0),
    ("e", "E  end to end, 64 connections, 1/s", 0),
    ("pg", "functions in PostgreSQL, 16 clients, 1/s", 0),
    ("batch", "batches of 500 commands, commands/s", 0),
    ("e_hot", "E  all on one account, 1/s", 0),
    ("e_single", "E  one command per commit, 1/s", 0),
    ("e_alone", "E  with web pages served, none open, 1/s", 0),
    ("e_pages", "E  beside 50 open pages, 1/s", 0),
    ("e_short", "E  on a bank as it is made, 1/s", 0),
    ("e_long", "E  on one with a long journal, 1/s", 0),
    ("e_log", "E  with its log in PostgreSQL, 1/s", 0),
    (
        "lag_p99_ms",
        "a follower behind at 1,000/s, 99th percentile, ms",
        1,
    ),
    ("reads_one", "balances read at one node of three, 1/s", 0),
    ("reads_three", "the same at all three together, 1/s", 0),
    ("processors", "processors of this machine", 0),
    ("reserve_few", "reserves beside 10 open liens, 1/s", 0),
    ("reserve_many", "reserves beside 10,000 open liens, 1/s", 0),
    ("commits_per_command", "commits per command in E", 4),
    ("p50_ms", "one connection, median, ms", 3),
    ("p99_ms", "one connection, 99th percentile, ms", 3),
    (
        "half_p99_ms",
        "at half of the rate of E, 99th percentile, ms",
        3,
    ),
    (
        "mib_per_million_jobs",
        "database for a million jobs, MiB",
        1,
    ),
    ("fdatasync_p50_us", "fdatasync of 4 KiB, median, µs", 1),
    ("script_ms", "one script call (plain quote), ms", 3),
    ("true_ms", "/bin/true from the same parent, ms", 3),
    (
        "nami_p50_ms",
        "a reserve over HTTP, new connection, median, ms",
        3,
    ),
    ("nami_p99_ms", "the same, 99th percentile, ms", 3),
    (
        "gold_p50_ms",
        "a reserve over Gold, new connection, median, ms",
        3,
    ),
    ("gold_p99_ms", "the same, 99th percentile, ms", 3),
];

/// What is asked for: key, at least or at most, and the gate in ten-thousandths.
const GATES: [(&str, bool, u64); 17] = [
    ("e_over_bound", true, 9500),
    ("l_over_c", true, 7000),
    ("e_over_c", true, 4000),
    ("e_over_pg", true, 15_000),
    ("hot_over_many", true, 12_000),
    ("group_gain", true, 70_000),
    ("commits_per_command", false, 625),
    ("half_p99_ms", false, 20_000),
    ("batch_over_e", true, 50_000),
    ("mib_per_million_jobs", false, 2_500_000),
    ("script_over_true", false, 11_500),
    ("many_liens_over_few", false, 11_000),
    ("gold_over_nami", false, 15_000),
    ("pages_over_alone", true, 9500),
    ("long_over_short", true, 9000),
    ("log_over_e", true, 6000),
    ("lag_p99_ms", false, 1_000_000),
];

/// Every figure of every round.
#[derive(Debug, Default)]
pub(crate) struct Figures(BTreeMap<&'static str, Vec<Figure>>);

impl Figures {
    /// One more.
    pub(crate) fn add(&mut self, key: &'static str, figure: Figure) {
        let label = MEASURED.iter().find(|(k, ..)| *k == key).map(|(_, l, _)| l);
        eprintln!("  {:<48}{figure:.4}", label.unwrap_or(&key));
        self.0.entry(key).or_default().push(figure);
    }

    /// The tables, and at the very end the JSON line.
    pub(crate) fn print(&self) {
        println!("medians of the rounds (least..greatest); server on core 0, load on core 1");
        for (key, label, places) in MEASURED {
            let Some(all) = self.0.get(key) else { continue };
            let least = all.iter().min().copied().unwrap_or_default();
            let greatest = all.iter().max().copied().unwrap_or_default();
            let middle = median(all.clone());
            println!("{label:<48}{middle:>10.places$}  ({least:.places$}..{greatest:.places$})");
        }
        let found = self.medians();
        let of = |key: &str| found.get(key).copied().unwrap_or_default();
        println!(
            "µs per command: E {:.1}, H {:.1}, L {:.1}, C {:.1}",
            of("e").cost_us(),
            of("h").cost_us(),
            of("l").cost_us(),
            of("c").cost_us()
        );
        if of("reads_one") != Figure::default() {
            println!(
                "three nodes together answer {:.2} times as many questions as one, on {} processors",
                of("three_over_one"),
                of("processors")
            );
        }
        for (key, at_least, gate) in GATES {
            // Left out by `only`.
            if of(key) == Figure::default() {
                continue;
            }
            let (is, gate) = (of(key), Figure::whole(gate).over(Figure::whole(10_000)));
            let holds = if at_least { is >= gate } else { is <= gate };
            let word = if at_least { "at least" } else { "at most" };
            let verdict = if holds { "holds" } else { "MISSED" };
            println!("{key:<48}{is:>10.4}  {word} {gate}: {verdict}");
        }
        let pairs = KEYS.map(|key| format!("\"{key}\": {}", of(key)));
        println!("{{{}}}", pairs.join(", "));
    }

    /// The medians and what follows from them.
    fn medians(&self) -> BTreeMap<&'static str, Figure> {
        let mut found: BTreeMap<&'static str, Figure> = self
            .0
            .iter()
            .map(|(key, all)| (*key, median(all.clone())))
            .collect();
        let of = |key: &str| found.get(key).copied().unwrap_or_default();
        let bound = of("h").in_series(of("l"));
        let derived = [
            ("bound", bound),
            ("e_over_bound", of("e").over(bound)),
            ("l_over_c", of("l").over(of("c"))),
            ("e_over_c", of("e").over(of("c"))),
            ("e_over_pg", of("e").over(of("pg"))),
            ("batch_over_e", of("batch").over(of("e"))),
            ("group_gain", of("e").over(of("e_single"))),
            ("hot_over_many", of("e_hot").over(of("e"))),
            (
                "many_liens_over_few",
                of("reserve_few").over(of("reserve_many")),
            ),
            ("script_over_true", of("script_ms").over(of("true_ms"))),
            ("gold_over_nami", of("gold_p99_ms").over(of("nami_p99_ms"))),
            ("pages_over_alone", of("e_pages").over(of("e_alone"))),
            ("long_over_short", of("e_long").over(of("e_short"))),
            ("log_over_e", of("e_log").over(of("e"))),
            ("three_over_one", of("reads_three").over(of("reads_one"))),
        ];
        found.extend(derived);
        found
    }
}
