//! Series of samples, as Prometheus answers a `query_range` (`collectors.md` h.2).

use serde_json::value::RawValue;

use super::json::Object;
use super::number::Number;

/// One series: its labels, and its samples in the order of the answer.
pub(super) struct Series<'a> {
    labels: Object<'a>,
    /// Time in seconds, and the value.
    pub(super) samples: Vec<(Number, Number)>,
    /// Samples whose value is no number: `NaN`, `+Inf`.
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
                Some(number) => samples.push((at, number)),
                None => without_value = without_value.saturating_add(1),
            }
        }
        Ok(Self {
            labels,
            samples,
            without_value,
        })
    }

    /// The value of a label.
    pub(super) fn label(&self, name: &str) -> Option<String> {
        self.labels.text(name).filter(|value| !value.is_empty())
    }
}
