//! Answers of Prometheus: one sampled use for each namespace and pod (`collectors.md` h.2, h.4).

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use serde_json::value::RawValue;

use super::job::{Extra, Figure, Found, Job, Record, State};
use super::json::Object;
use super::lines::document;
use super::number::Number;
use super::samples::{Series, stated_step};
use super::{Reader, Sink, not_of_the_format};

/// Seconds that a sample stands for, where a series has only one.
const STEP_S: i64 = 60;

/// Reads the envelope of a `query_range`, or the bare list in it.
#[derive(Debug, Default)]
pub(super) struct Prometheus {
    series: u64,
    pods: BTreeMap<(String, String), Pod>,
}

/// What was seen of a pod.
#[derive(Debug)]
struct Pod {
    start: Number,
    end: Number,
    value: Number,
    wall: Number,
    samples: u64,
    user: Option<String>,
    group: Option<String>,
}

impl Reader for Prometheus {
    fn file(&mut self, _: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()> {
        let bytes = document(input)?;
        let text = String::from_utf8_lossy(&bytes);
        let (series, step) = result(&text)?;
        for (raw, number) in series.into_iter().zip(1..) {
            self.series = self.series.saturating_add(1);
            if let Err(why) = self.series(raw, step) {
                let found = Found::Malformed(why);
                sink(Record::new(number, raw.get().as_bytes(), found))?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, sink: &mut Sink<'_>) -> io::Result<Vec<Extra>> {
        let mut by_pod = BTreeMap::new();
        for (((namespace, pod), seen), number) in
            std::mem::take(&mut self.pods).into_iter().zip(1..)
        {
            let name = format!("{namespace}/{pod}");
            by_pod.insert(name.clone(), Figure::Number(seen.value));
            let counts = seen.samples;
            let found = match job(name, &namespace, &seen) {
                Some(job) => Found::Jobs(vec![job]),
                None => Found::Malformed("a time beyond what can be counted".to_owned()),
            };
            let record = Record::new(number, b"", found);
            sink(Record { counts, ..record })?;
        }
        let extra = |key, value| Extra { key, value };
        Ok(vec![
            extra("series", Figure::Number(Number::whole(self.series))),
            extra("by_pod", Figure::Map(by_pod)),
        ])
    }
}

impl Prometheus {
    /// Adds a series to its pod. Series of nodes have no pod, and are known by their node.
    fn series(&mut self, raw: &RawValue, stated: Option<Number>) -> Result<(), String> {
        let beyond = || "a figure beyond what can be counted".to_owned();
        let series = Series::read(raw)?;
        let (Some(first), Some(last)) = (series.samples.first(), series.samples.last()) else {
            return Ok(());
        };
        let step =
            step(&series.samples).ok_or("samples that are not in the order of their times")?;
        let step = stated.unwrap_or(step);
        let end = last.0.plus(step).ok_or_else(beyond)?;
        let mut value = Number::ZERO;
        for (_, sample) in &series.samples {
            value = value.plus(*sample).ok_or_else(beyond)?;
        }
        let count = u64::try_from(series.samples.len()).unwrap_or(u64::MAX);
        let pod = series.label("pod").or_else(|| series.label("node"));
        let key = (
            series.label("namespace").unwrap_or_default(),
            pod.unwrap_or_default(),
        );
        let seen = self.pods.entry(key).or_insert(Pod {
            start: first.0,
            end,
            value: Number::ZERO,
            wall: Number::ZERO,
            samples: 0,
            user: None,
            group: None,
        });
        seen.user = series.user().or(seen.user.take());
        seen.group = series.group().or(seen.group.take());
        let value = value.times(step).and_then(|value| seen.value.plus(value));
        let wall = step
            .times(Number::whole(count))
            .and_then(|wall| seen.wall.plus(wall));
        seen.value = value.ok_or_else(beyond)?;
        seen.wall = wall.ok_or_else(beyond)?;
        seen.start = earlier(seen.start, first.0);
        seen.end = later(seen.end, end);
        let all = count.saturating_add(series.without_value);
        seen.samples = seen.samples.saturating_add(all);
        Ok(())
    }
}

/// The list of series, in the envelope or bare, and what the envelope says of its step.
fn result(text: &str) -> io::Result<(Vec<&RawValue>, Option<Number>)> {
    if text.trim_start().starts_with('[') {
        let bare = serde_json::from_str(text).map_err(|e| not_of_the_format(e.to_string()))?;
        return Ok((bare, None));
    }
    let whole = Object::parse(text).ok_or_else(|| not_of_the_format("no JSON"))?;
    if whole.text("status").as_deref() == Some("error") {
        let why = whole.text("error").unwrap_or_default();
        return Err(not_of_the_format(format!("an error of Prometheus: {why}")));
    }
    let list = whole.object("data").and_then(|data| data.list("result"));
    let list = list.ok_or_else(|| not_of_the_format("no list of series at data.result"))?;
    Ok((list, stated_step(&whole)))
}

/// The least distance of two samples; `None` where one is not behind the one before.
fn step(samples: &[(Number, Number)]) -> Option<Number> {
    let mut least = None;
    for pair in samples.windows(2) {
        let [(before, _), (after, _)] = pair else {
            continue;
        };
        let distance = after.minus(*before).filter(|d| d.is_above_zero())?;
        least = Some(least.map_or(distance, |least| earlier(least, distance)));
    }
    Some(least.unwrap_or(Number::whole(STEP_S)))
}

/// The smaller of two.
fn earlier(one: Number, other: Number) -> Number {
    match one.minus(other) {
        Some(difference) if difference.is_above_zero() => other,
        _ => one,
    }
}

/// The greater of two.
fn later(one: Number, other: Number) -> Number {
    if earlier(one, other) == one {
        other
    } else {
        one
    }
}

fn job(name: String, namespace: &str, seen: &Pod) -> Option<Job> {
    let mut job = Job {
        id: name,
        start_us: seen.start.as_microseconds()?,
        end_us: seen.end.as_microseconds()?,
        wall: seen.wall,
        user: seen.user.clone(),
        account: Some(namespace.to_owned()).filter(|name| !name.is_empty()),
        group: seen.group.clone(),
        state_word: Some("sampled".to_owned()),
        state: State::Running,
        flags: vec!["sampled"],
        ..Job::default()
    };
    job.add("value_s", seen.value);
    job.add("wall_s", seen.wall);
    Some(job)
}
