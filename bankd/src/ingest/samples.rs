//! Series of samples, as Prometheus answers a `query_range` (`collectors.md` h.2).

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::json::Object;
use super::number::Number;
use super::text::known;

/// Labels and annotations by their names.
pub(super) type Notes = BTreeMap<String, String>;

/// How the names of labels begin that are labels or annotations of an object.
const PREFIXES: [&str; 2] = ["label_", "annotation_"];

/// Labels and annotations of an object that are kept.
const NOTES_MAX: usize = 64;

/// One series: its labels, and its samples in the order of the answer.
pub(super) struct Series<'a> {
    labels: Object<'a>,
    /// Time in seconds, and the value.
    pub(super) samples: Vec<(Number, Number)>,
    /// Samples whose value is no amount of anything: `NaN`, `+Inf`, what is below zero.
    pub(super) without_value: u64,
}

impl<'a> Series<'a> {
    /// Reads one.
    pub(super) fn read(raw: &'a RawValue) -> Result<Self, String> {
        let series = Object::parse(raw.get()).ok_or("a series that is no object")?;
        let labels = series
            .object("metric")
            .ok_or("a series without \"metric\"")?;
        let values = series.list("values").ok_or("a series without \"values\"")?;
        let (mut samples, mut without_value) = (Vec::with_capacity(values.len()), 0_u64);
        for value in values {
            let pair: (&RawValue, &str) = serde_json::from_str(value.get())
                .map_err(|_| format!("a sample that is no [time, \"value\"]: {}", value.get()))?;
            let at = Number::parse(pair.0.get()).ok_or("a sample without a time")?;
            match Number::parse(pair.1) {
                Some(number) if !number.is_negative() => samples.push((at, number)),
                _ => without_value = without_value.saturating_add(1),
            }
        }
        Ok(Self {
            labels,
            samples,
            without_value,
        })
    }

    /// The labels that Kubernetes' own state metrics make of labels and annotations, each with its
    /// name as it stands: `label_app`, `annotation_cf_pi`.
    pub(super) fn notes(&self) -> Notes {
        let names = self.labels.names();
        let names = names.filter(|name| PREFIXES.iter().any(|prefix| name.starts_with(prefix)));
        names
            .filter_map(|name| Some((name.to_owned(), known(&self.label(name)?)?)))
            .take(NOTES_MAX)
            .collect()
    }

    /// The value of a label.
    pub(super) fn label(&self, name: &str) -> Option<String> {
        self.labels.text(name).filter(|value| !value.is_empty())
    }
}
