//! Series of samples, as Prometheus answers a `query_range` (`collectors.md` h.2).

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;

use bank_core::ids::NAME_BYTES_MAX;
use serde_json::value::RawValue;

use super::bounds::{NAME_MAX, too_long};
use super::json::Object;
use super::number::Number;
use super::text::known;

/// Labels and annotations by their names.
pub(super) type Notes = BTreeMap<String, String>;

/// How the names of labels begin that are labels or annotations of an object.
const PREFIXES: [&str; 3] = ["label_", "annotation_", "cf_"];

/// Samples of one series; an answer of Prometheus has 11,000.
const SAMPLES_MAX: usize = 1_000_000;

/// Labels and annotations of an object that are kept.
const NOTES_MAX: usize = 64;

/// Label of samples that only contain labels, or are no requests.
pub(super) const LABELS: &str = "labels";

/// Label of samples with an invalid value.
pub(super) const NO_VALUE: &str = "no_value";

/// One series: its labels, and its samples in the order of the answer.
pub(super) struct Series<'a> {
    labels: Object<'a>,
    /// Time in seconds, and the value.
    pub(super) samples: Vec<(Number, Number)>,
    /// Samples with an invalid value: `NaN`, `+Inf`, or below zero.
    pub(super) without_value: u64,
    /// The least distance of two samples, also of those without a value.
    pub(super) distance: Option<Number>,
    /// Whether each sample is behind the one before.
    pub(super) is_in_order: bool,
}

impl<'a> Series<'a> {
    /// Reads one.
    pub(super) fn read(raw: &'a RawValue) -> Result<Self, String> {
        let series = Object::parse(raw.get()).ok_or("a series that is not an object")?;
        let labels = series
            .object("metric")
            .ok_or("a series without \"metric\"")?;
        // Each sample has the labels.
        for name in labels.names() {
            let is_note = PREFIXES.iter().any(|prefix| name.starts_with(prefix));
            let value = labels.text(name).filter(|_| !is_note);
            if let Some(why) = value.and_then(|value| too_long(name, &value)) {
                return Err(why);
            }
        }
        let (mut samples, mut without_value) = (Vec::new(), 0_u64);
        let (mut before, mut distance, mut is_in_order) = (None, None::<Number>, true);
        let read = series.each("values", |value| {
            let (at, number) = sample(value).map_err(io::Error::other)?;
            if let Some(before) = before.replace(at) {
                let since = at.minus(before).filter(|since| since.is_above_zero());
                is_in_order &= since.is_some();
                distance = distance.into_iter().chain(since).reduce(earlier);
            }
            match number.filter(|number| !number.is_negative()) {
                Some(_) if samples.len() >= SAMPLES_MAX => {
                    let why = format!("a series of more than {SAMPLES_MAX} samples");
                    return Err(io::Error::other(why));
                }
                Some(number) => samples.push((at, number)),
                None => without_value = without_value.saturating_add(1),
            }
            Ok(())
        });
        let read = read.ok_or("a series without \"values\"")?;
        read.map_err(|error| error.to_string())?;
        Ok(Self {
            labels,
            samples,
            without_value,
            distance,
            is_in_order,
        })
    }

    /// Labels that Kubernetes' state metrics make of labels and annotations, with their names
    /// unchanged: `label_app`, `annotation_cf_pi`.
    pub(super) fn notes(&self) -> Notes {
        let names = self.labels.names();
        let names = names.filter(|name| PREFIXES.iter().any(|prefix| name.starts_with(prefix)));
        names
            .filter_map(|name| Some((name.to_owned(), known(&self.label(name)?)?)))
            .take(NOTES_MAX)
            .collect()
    }

    /// A number for the labels that make it another series than others of its object: without the notes, which
    /// a collector may add.
    pub(super) fn identity(&self) -> u64 {
        let is_note = |name: &&str| PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        let names: BTreeSet<&str> = self.labels.names().filter(|name| !is_note(name)).collect();
        let mut hasher = DefaultHasher::new();
        for name in names {
            (name, self.labels.text(name)).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// The owner of a namespace, from the annotation or label `cf_pi` that a collector added.
    pub(super) fn user(&self) -> Option<String> {
        self.noted("cf_pi")
    }

    /// The project that a namespace belongs to, by `cf_project_id`.
    pub(super) fn group(&self) -> Option<String> {
        self.noted("cf_project_id")
    }

    /// A value that is no usable name counts as missing, so mappings, reports and exports have the same name.
    fn noted(&self, name: &str) -> Option<String> {
        let ways = ["annotation_", "label_", ""];
        let usable = |way: &&str| {
            let clean = known(&self.label(&format!("{way}{name}"))?)?;
            let clean = clean.trim();
            let fits = !clean.is_empty() && clean.len() <= NAME_BYTES_MAX;
            fits.then(|| clean.to_owned())
        };
        ways.iter().find_map(usable)
    }

    /// The value of a label.
    pub(super) fn label(&self, name: &str) -> Option<String> {
        let value = self.labels.text(name)?;
        (!value.is_empty() && value.len() <= NAME_MAX).then_some(value)
    }
}

/// Time and value of a sample.
fn sample(text: &RawValue) -> Result<(Number, Option<Number>), String> {
    let pair: (&RawValue, &str) = serde_json::from_str(text.get())
        .map_err(|_| format!("a sample that is no [time, \"value\"]: {}", text.get()))?;
    let at = Number::parse(pair.0.get()).ok_or("a sample without a time")?;
    Ok((at, Number::parse(pair.1)))
}

/// The smaller of two.
pub(super) fn earlier(one: Number, other: Number) -> Number {
    match one.minus(other) {
        Some(difference) if difference.is_above_zero() => other,
        _ => one,
    }
}

/// The second in which a sample was taken.
pub(super) fn second(at: Number) -> Result<i64, String> {
    let at = at.cut(0).as_whole().and_then(|at| i64::try_from(at).ok());
    at.ok_or_else(|| "a time beyond the supported range".to_owned())
}

/// Duration of each sample of a document in seconds, if stated (`step_s`, as `bank collect` writes
/// it). The distance of samples is not enough, because some may be missing.
pub(super) fn stated_step(document: &Object<'_>) -> Option<Number> {
    let step = document.number("step_s")?;
    step.is_above_zero().then_some(step)
}

#[cfg(test)]
mod tests {
    use super::super::openshift::OpenShift;
    use super::super::prometheus::Prometheus;
    use super::super::{Found, Job, Reader};

    fn read(mut reader: impl Reader, text: &str) -> Vec<Job> {
        let mut jobs = Vec::new();
        let mut sink = |record: super::super::Record| {
            if let Found::Jobs(found) = record.found {
                jobs.extend(found);
            }
            Ok(())
        };
        reader.file("x", &mut text.as_bytes(), &mut sink).unwrap();
        reader.finish(&mut sink).unwrap();
        jobs
    }

    fn figures(job: &Job) -> (i64, i64, String) {
        (
            job.start_us / 1_000_000,
            job.end_us / 1_000_000,
            job.wall.to_string(),
        )
    }

    const LABELS: &str =
        r#""namespace":"a","pod":"p","annotation_cf_pi":"amy","label_cf_project_id":"7""#;

    /// The second of three samples is missing, and one pod has one sample only: a step of 300 seconds
    /// must not become one of 600 or of 60.
    #[test]
    fn a_stated_step_is_kept() {
        let text = |step: &str| {
            format!(
                r#"{{"status":"success",{step}"data":{{"resultType":"matrix","result":[
                {{"metric":{{{LABELS}}},"values":[[3600,"2"],[4200,"2"]]}},
                {{"metric":{{"namespace":"a","pod":"q"}},"values":[[3600,"2"]]}}]}}}}"#
            )
        };
        let jobs = read(Prometheus::default(), &text("\"step_s\":300,"));
        assert_eq!(figures(&jobs[0]), (3600, 4500, "600".to_owned()));
        assert_eq!(figures(&jobs[1]), (3600, 3900, "300".to_owned()));
        assert_eq!(jobs[0].user.as_deref(), Some("amy"));
        assert_eq!(jobs[0].group.as_deref(), Some("7"));
        assert_eq!(jobs[0].account.as_deref(), Some("a"));
        assert_eq!((&jobs[1].user, &jobs[1].group), (&None, &None));
        for none in ["", "\"step_s\":0,", "\"step_s\":-300,", "\"step_s\":\"x\","] {
            let jobs = read(Prometheus::default(), &text(none));
            assert_eq!(figures(&jobs[0]), (3600, 4800, "1200".to_owned()), "{none}");
            assert_eq!(figures(&jobs[1]), (3600, 3660, "60".to_owned()), "{none}");
        }
    }

    /// The labels are those of each sample: a short file must not become gigabytes.
    #[test]
    fn a_series_with_a_long_label_is_none() {
        let text = |label: &str, bytes: usize| {
            let value = "n".repeat(bytes);
            format!(
                r#"{{"step_s":900,"cpu_metrics":[{{"metric":{{{LABELS},"{label}":"{value}"}},
                "values":[[900,"2"],[1800,"2"]]}}]}}"#
            )
        };
        for (label, bytes, jobs) in [
            ("node", 1_024, 1),
            ("node", 1_025, 0),
            ("pod", 400_000, 0),
            ("annotation_more", 400_000, 1),
        ] {
            let read = read(OpenShift::default(), &text(label, bytes));
            assert_eq!(read.len(), jobs, "{label} {bytes}");
        }
    }

    #[test]
    fn runs_of_requests_follow_the_stated_step() {
        let text = |step: &str| {
            format!(
                r#"{{{step}"cpu_metrics":[{{"metric":{{{LABELS}}},"values":[[3000,"2"],[3300,"2"],[3900,"2"]]}}],
                "memory_metrics":[]}}"#
            )
        };
        let jobs = read(OpenShift::default(), &text("\"step_s\":300,"));
        let all: Vec<_> = jobs.iter().map(figures).collect();
        assert_eq!(
            all,
            [
                (3000, 3600, "600".to_owned()),
                (3900, 4200, "300".to_owned())
            ]
        );
        assert_eq!(jobs[0].user.as_deref(), Some("amy"));
        assert_eq!(jobs[0].group.as_deref(), Some("7"));
        let jobs = read(OpenShift::default(), &text(""));
        let all: Vec<_> = jobs.iter().map(figures).collect();
        // Samples that are closer than they last follow each other.
        assert_eq!(all, [(3000, 4800, "1800".to_owned())]);
    }
}
