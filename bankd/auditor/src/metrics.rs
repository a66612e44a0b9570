//! `GET /metrics`: how many records there are, by site, group and user, and how the routes do
//! (`auditor-api.md` 7), in the text format 0.0.4 of Prometheus.
//!
//! Each record is read once, when it is counted. A restricted reader has figures of the visible part only.

mod meter;

use std::collections::{BTreeMap, BTreeSet};

use bankd_config::AuditorMetrics;
use bankd_ledger::exposition::Text;

pub use meter::{Answered, Meter, Route};

use super::access::{Access, Reach};

/// Maximum number of values of a key with a separate figure. The others share one.
const VALUES_MAX: usize = 10_000;
/// The label of that one.
const OTHERS: &str = "(others)";
/// The help text of the original for its four gauges.
const HELP: &str = "Number of records in the Auditor database";

/// The content type of the answer.
pub const MEDIA: &str = bankd_ledger::exposition::MEDIA;

/// Number of records: all, and the visible part of each restricted reader.
#[derive(Debug)]
pub struct Figures {
    keys: AuditorMetrics,
    whole: Count,
    parts: BTreeMap<Reach, Count>,
    /// The last record that was counted, by its number in the table.
    last: i64,
}

/// The records of one reach.
#[derive(Clone, Debug, Default)]
struct Count {
    records: u64,
    sites: Values,
    groups: Values,
    users: Values,
}

/// The records by the values of one key.
#[derive(Clone, Debug, Default)]
struct Values {
    of: BTreeMap<String, u64>,
    others: u64,
}

impl Figures {
    /// Nothing counted yet.
    pub fn new(keys: AuditorMetrics, access: &Access) -> Self {
        let reaches = access.data.values();
        Self {
            keys,
            whole: Count::default(),
            parts: reaches
                .map(|reach| (reach.clone(), Count::default()))
                .collect(),
            last: 0,
        }
    }

    /// Restarts the count if the visible parts of readers have changed.
    pub fn divide(&mut self, access: &Access) {
        let parts: BTreeSet<&Reach> = access.data.values().collect();
        if !self.parts.keys().eq(parts) {
            *self = Self::new(self.keys.clone(), access);
        }
    }

    /// The number of the last record that was counted; those behind it are still to come.
    pub fn last(&self) -> i64 {
        self.last
    }

    /// Counts a record, by its number in the table and its meta values. One that was counted
    /// already changes nothing.
    pub fn add(&mut self, number: i64, meta: &BTreeMap<String, Vec<String>>) {
        if number <= self.last {
            return;
        }
        self.last = number;
        self.whole.add(&self.keys, meta);
        for (reach, count) in &mut self.parts {
            if reach.holds(meta) {
                count.add(&self.keys, meta);
            }
        }
    }

    /// The answer for a reader who sees everything, or a part.
    pub fn text(&self, reach: Option<&Reach>, meter: &Meter) -> String {
        let nothing = Count::default();
        let count = match reach {
            None => &self.whole,
            Some(reach) => self.parts.get(reach).unwrap_or(&nothing),
        };
        let mut text = Text::default();
        text.head("num_records_database", "gauge", HELP);
        text.sample("num_records_database", &[], count.records);
        for (name, label, values) in [
            ("num_records_database_per_site", "site", &count.sites),
            ("num_records_database_per_group", "group_id", &count.groups),
            ("num_records_database_per_user", "user_id", &count.users),
        ] {
            text.head(name, "gauge", HELP);
            for (value, records) in &values.of {
                text.sample(name, &[(label, value)], *records);
            }
            if values.others > 0 {
                text.sample(name, &[(label, OTHERS)], values.others);
            }
        }
        meter.write(&mut text);
        text.head("target_info", "gauge", "Target metadata");
        let version = env!("CARGO_PKG_VERSION");
        let labels = [("service_name", "bankd"), ("service_version", version)];
        text.sample("target_info", &labels, 1);
        text.done()
    }
}

impl Count {
    fn add(&mut self, keys: &AuditorMetrics, meta: &BTreeMap<String, Vec<String>>) {
        self.records += 1;
        for (key, values) in [
            (&keys.site, &mut self.sites),
            (&keys.group, &mut self.groups),
            (&keys.user, &mut self.users),
        ] {
            let of_record = meta.get(key).map(Vec::as_slice).unwrap_or_default();
            for (at, value) in of_record.iter().enumerate() {
                // A repeated value counts as one record.
                let before = of_record.iter().take(at);
                if !before.into_iter().any(|earlier| earlier == value) {
                    values.add(value);
                }
            }
        }
    }
}

impl Values {
    fn add(&mut self, value: &str) {
        let is_full = self.of.len() >= VALUES_MAX;
        match self.of.get_mut(value) {
            Some(records) => *records += 1,
            None if is_full => self.others += 1,
            None => {
                self.of.insert(value.to_owned(), 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(pairs: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
        let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect();
        let pairs = pairs.iter();
        pairs.map(|(k, v)| ((*k).to_owned(), words(v))).collect()
    }

    fn lines(text: &str, start: &str) -> Vec<String> {
        let lines = text.lines().filter(|line| line.starts_with(start));
        lines.map(str::to_owned).collect()
    }

    #[test]
    fn records_are_counted_by_site_group_and_user() {
        let mut figures = Figures::new(AuditorMetrics::default(), &Access::default());
        figures.add(
            1,
            &meta(&[("site_id", &["hpc"]), ("user_id", &["a\"\\\nb"])]),
        );
        figures.add(2, &meta(&[("site_id", &["hpc", "htc", "hpc"])]));
        figures.add(5, &meta(&[]));
        // Again: nothing.
        figures.add(2, &meta(&[("site_id", &["hpc"])]));
        assert_eq!(figures.last(), 5);
        let text = figures.text(None, &Meter::default());
        assert_eq!(
            lines(&text, "num_records_database"),
            [
                "num_records_database 3",
                "num_records_database_per_site{site=\"hpc\"} 2",
                "num_records_database_per_site{site=\"htc\"} 1",
                "num_records_database_per_user{user_id=\"a\\\"\\\\\\nb\"} 1",
            ]
        );
        let head = "# HELP num_records_database Number of records in the Auditor database\n\
                    # TYPE num_records_database gauge\n";
        assert!(text.starts_with(head), "{text}");
        assert_eq!(lines(&text, "target_info").len(), 1);
        assert!(text.ends_with("} 1\n"));
    }

    #[test]
    fn a_reader_has_the_figures_of_what_it_sees() {
        let reach = |site: &str| Reach(meta(&[("site_id", &[site])]));
        let access = Access {
            data: BTreeMap::from([("r".to_owned(), reach("hpc"))]),
            ..Access::default()
        };
        let mut figures = Figures::new(AuditorMetrics::default(), &access);
        for (number, site) in [(1, "hpc"), (2, "other"), (3, "hpc")] {
            figures.add(
                number,
                &meta(&[("site_id", &[site]), ("group_id", &[site])]),
            );
        }
        let text = figures.text(Some(&reach("hpc")), &Meter::default());
        assert_eq!(
            lines(&text, "num_records_database"),
            [
                "num_records_database 2",
                "num_records_database_per_site{site=\"hpc\"} 2",
                "num_records_database_per_group{group_id=\"hpc\"} 2",
            ]
        );
        assert!(!text.contains("other\""));
        // A restriction without a count shows nothing.
        let text = figures.text(Some(&reach("other")), &Meter::default());
        assert_eq!(
            lines(&text, "num_records_database"),
            ["num_records_database 0"]
        );
    }

    #[test]
    fn values_without_end_share_a_figure() {
        let mut figures = Figures::new(AuditorMetrics::default(), &Access::default());
        for number in 1..=VALUES_MAX + 7 {
            let user = format!("u{number}");
            figures.add(
                i64::try_from(number).unwrap(),
                &meta(&[("user_id", &[&user])]),
            );
        }
        let text = figures.text(None, &Meter::default());
        let users = lines(&text, "num_records_database_per_user{");
        assert_eq!(users.len(), VALUES_MAX + 1);
        let others = "num_records_database_per_user{user_id=\"(others)\"} 7";
        assert_eq!(users.last().map(String::as_str), Some(others));
    }
}
