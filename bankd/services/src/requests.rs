//! Requests by route since the start: statuses and durations.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use bankd_ledger::exposition::Text;
use bankd_ledger::meter::Histogram;

/// Classes of statuses.
const ANSWERS: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
/// Methods with a label of their own; all others share one.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/// The label of what is none of these, and of a path that no route has.
const OTHER: &str = "other";
/// The name of the histogram.
const DURATION: &str = "bankd_http_request_duration_seconds";

/// The counters. There is a row for each route of the table that was asked for, and one for the rest: names
/// in paths are in no label.
#[derive(Debug, Default)]
pub struct Requests(RwLock<HashMap<(&'static str, String), Arc<Timed>>>);

#[derive(Debug, Default)]
struct Timed {
    answers: [AtomicU64; ANSWERS.len()],
    took: Histogram,
}

impl Requests {
    /// A request was answered. `route` is the pattern that matched, empty where none did.
    pub fn answered(&self, method: &str, route: &str, status: u16, us: u64) {
        let timed = self.of(method, route);
        let place = usize::from(status / 100).saturating_sub(1);
        if let Some(counter) = timed.answers.get(place.min(ANSWERS.len() - 1)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        timed.took.observe(us);
    }

    fn of(&self, method: &str, route: &str) -> Arc<Timed> {
        let known = METHODS.iter().find(|known| **known == method);
        let route = if route.is_empty() { OTHER } else { route };
        let key = (known.copied().unwrap_or(OTHER), route.to_owned());
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(timed) = all.get(&key) {
            return Arc::clone(timed);
        }
        drop(all);
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(key).or_default())
    }

    /// Its samples, by route.
    pub fn write(&self, text: &mut Text) {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = all.iter().collect();
        all.sort_by(|((a_method, a), _), ((b_method, b), _)| (a, a_method).cmp(&(b, b_method)));
        let name = "bankd_http_requests_total";
        text.head(name, "counter", "Requests by route and status class");
        for ((method, route), timed) in &all {
            for (count, status) in timed.answers.iter().zip(ANSWERS) {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    let labels = [("method", *method), ("route", route), ("status", status)];
                    text.sample(name, &labels, count);
                }
            }
        }
        text.head(
            DURATION,
            "histogram",
            "Time from the head of a request to its answer",
        );
        for ((method, route), timed) in &all {
            let labels = [("method", *method), ("route", route.as_str())];
            timed.took.write(DURATION, &labels, text);
        }
    }
}
