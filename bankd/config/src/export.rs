//! `[export]`: data of the site for export formats.

use std::collections::BTreeMap;

use bank_core::decimal::Decimal;
use bankd_emit::export::{Benchmark, Vo};
use bankd_emit::pods::Rates;
use serde::{Deserialize, Serialize};

/// `[export]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Export {
    /// The name of the site, in GOCDB where there is one; empty for none.
    pub site: String,
    /// `local` or `grid`.
    pub infrastructure: String,
    /// Client, computing element and batch system.
    pub description: String,
    /// The benchmark by which processors are worth something: `HEPscore23`, `hepspec` or `si2k`; empty
    /// for none.
    pub benchmark: String,
    /// The benchmark score of one processor, a decimal above 0.
    pub benchmark_value: String,
    /// Whether unknown processor time is wall time × processors if a format requires it.
    pub assume_full_cpu: bool,
    /// The virtual organisation of a project; `*` is replaced by its name.
    pub vo: String,
    /// Those of single projects: `project=vo`.
    pub vos: Vec<String>,
    /// The national currency of costs, ISO 4217, such as `EUR`; empty for none.
    pub billing_currency: String,
    /// The price of a credit in this currency, a decimal not below 0; empty for none.
    pub credit_price: String,
    /// Whether costs contain users and names of jobs.
    pub focus_names: bool,
    /// The price of an hour of a pod service unit: `kind=rate`, or `month kind=rate` from a month
    /// on.
    pub su_rates: Vec<String>,
    /// The GPU type of a node, if its labels do not contain it: `node=type`.
    pub gpu_nodes: Vec<String>,
}

impl Default for Export {
    fn default() -> Self {
        Self {
            site: String::new(),
            infrastructure: "local".to_owned(),
            description: "BANK-MOAB".to_owned(),
            benchmark: String::new(),
            benchmark_value: String::new(),
            assume_full_cpu: false,
            vo: "local-*".to_owned(),
            vos: Vec::new(),
            billing_currency: String::new(),
            credit_price: String::new(),
            focus_names: false,
            su_rates: Vec::new(),
            gpu_nodes: Vec::new(),
        }
    }
}

/// The words that APEL's loader takes, in any case (`usage-records.md` 3.2).
const BENCHMARKS: [&str; 3] = ["hepscore23", "hepspec", "si2k"];
/// Bytes of a value at most.
const VALUE_MAX: usize = 100;

impl Export {
    pub(super) fn check(&self) -> Result<(), String> {
        for (key, value) in [
            ("site", &self.site),
            ("description", &self.description),
            ("vo", &self.vo),
        ] {
            if value.len() > VALUE_MAX || value.contains(char::is_control) {
                return Err(format!(
                    "export.{key}: at most {VALUE_MAX} bytes without control characters"
                ));
            }
        }
        if self.vo.is_empty() {
            return Err("export.vo: it is empty".to_owned());
        }
        if !matches!(self.infrastructure.as_str(), "local" | "grid") {
            return Err(format!(
                "export.infrastructure: {:?} is neither local nor grid",
                self.infrastructure
            ));
        }
        let word = self.benchmark.to_ascii_lowercase();
        if !self.benchmark.is_empty() && !BENCHMARKS.contains(&word.as_str()) {
            return Err(format!(
                "export.benchmark: {:?} is none of HEPscore23, hepspec, si2k",
                self.benchmark
            ));
        }
        if self.benchmark.is_empty() != self.benchmark_value.is_empty() {
            return Err(
                "export.benchmark: it goes with export.benchmark_value, both or neither".to_owned(),
            );
        }
        if !self.benchmark.is_empty() && self.benchmark().is_none() {
            return Err(format!(
                "export.benchmark_value: {:?} is not a decimal above 0 with at most 9 places",
                self.benchmark_value
            ));
        }
        let is_pair = |pair: &&String| {
            let parts = pair.split_once('=');
            parts.is_none_or(|(project, vo)| project.trim().is_empty() || vo.trim().is_empty())
        };
        if let Some(pair) = self.vos.iter().find(is_pair) {
            return Err(format!("export.vos: {pair:?} is not PROJECT=VO"));
        }
        if let Some(pair) = self.gpu_nodes.iter().find(is_pair) {
            return Err(format!("export.gpu_nodes: {pair:?} is not NODE=TYPE"));
        }
        Rates::read(&self.su_rates).map_err(|why| format!("export.su_rates: {why}"))?;
        self.check_money()
    }

    fn check_money(&self) -> Result<(), String> {
        let currency = &self.billing_currency;
        let is_code = currency.len() == 3 && currency.bytes().all(|b| b.is_ascii_uppercase());
        if !currency.is_empty() && !is_code {
            return Err(format!(
                "export.billing_currency: {currency:?} is not a code of three letters, such as EUR"
            ));
        }
        if currency.is_empty() != self.credit_price.is_empty() {
            return Err(
                "export.billing_currency: it goes with export.credit_price, both or neither"
                    .to_owned(),
            );
        }
        if !self.credit_price.is_empty() && self.price().is_none() {
            return Err(format!(
                "export.credit_price: {:?} is not a decimal from 0 up with at most 9 places",
                self.credit_price
            ));
        }
        Ok(())
    }

    /// The price of a credit; none if not set.
    pub fn price(&self) -> Option<Decimal> {
        Decimal::parse(&self.credit_price).filter(|price| !price.is_negative())
    }

    /// The prices of pod service units.
    pub fn su_rates(&self) -> Rates {
        // They were read when the settings were.
        Rates::read(&self.su_rates).unwrap_or_default()
    }

    /// The GPUs of nodes.
    pub fn gpu_nodes(&self) -> BTreeMap<String, String> {
        let pairs = self
            .gpu_nodes
            .iter()
            .filter_map(|pair| pair.split_once('='));
        let named = |(node, gpu): (&str, &str)| (node.trim().to_owned(), gpu.trim().to_owned());
        pairs.map(named).collect()
    }

    /// The benchmark score of one processor; none if not set.
    pub fn benchmark(&self) -> Option<Benchmark> {
        let value = Decimal::parse(&self.benchmark_value)?.billionths();
        (value > 0).then(|| Benchmark {
            name: self.benchmark.clone(),
            value,
        })
    }

    /// The virtual organisations of projects.
    pub fn vo(&self) -> Vo {
        let pairs = self.vos.iter().filter_map(|pair| pair.split_once('='));
        let named = |(project, vo): (&str, &str)| (project.trim().to_owned(), vo.trim().to_owned());
        Vo {
            map: pairs.map(named).collect(),
            other: self.vo.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_reported() {
        let plain = Export::default;
        assert_eq!(plain().check(), Ok(()));
        let text = |word: &str| word.to_owned();
        for (export, expected) in [
            (
                Export {
                    benchmark: text("HepSpec06"),
                    benchmark_value: text("1"),
                    ..plain()
                },
                "none of HEPscore23",
            ),
            (
                Export {
                    benchmark: text("HEPscore23"),
                    ..plain()
                },
                "both or neither",
            ),
            (
                Export {
                    benchmark: text("HEPscore23"),
                    benchmark_value: text("0"),
                    ..plain()
                },
                "not a decimal above 0",
            ),
            (
                Export {
                    infrastructure: text("cloud"),
                    ..plain()
                },
                "neither local nor grid",
            ),
            (
                Export {
                    vos: vec![text("s")],
                    ..plain()
                },
                "not PROJECT=VO",
            ),
            (
                Export {
                    site: text("a\nb"),
                    ..plain()
                },
                "control characters",
            ),
            (
                Export {
                    vo: String::new(),
                    ..plain()
                },
                "it is empty",
            ),
        ] {
            let mistake = export.check().unwrap_err();
            assert!(mistake.contains(expected), "{mistake}");
        }
    }
}
