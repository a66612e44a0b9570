//! Requests by route since the start: statuses and durations.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use bankd_ledger::exposition::Text;
use bankd_ledger::meter::Histogram;
use foldhash::HashMap;

/// Classes of statuses.
const ANSWERS: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
/// Methods with separate labels; all others share one.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/// The label of what is none of these, and of a path that no route has.
const OTHER: &str = "other";
/// The name of the histogram.
const DURATION: &str = "bankd_http_request_duration_seconds";

/// The counters. There is a row for each requested route of the table, and one for the rest: no label
/// contains names from paths.
#[derive(Debug, Default)]
pub struct Requests(RwLock<HashMap<String, Box<OfRoute>>>);

/// The counters of a route, by method; the last are those of all other methods.
type OfRoute = [Timed; METHODS.len() + 1];

#[derive(Debug, Default)]
struct Timed {
    answers: [AtomicU64; ANSWERS.len()],
    took: Histogram,
}

impl Timed {
    fn answered(&self, status: u16, us: u64) {
        let place = usize::from(status / 100).saturating_sub(1);
        if let Some(counter) = self.answers.get(place.min(ANSWERS.len() - 1)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        self.took.observe(us);
    }

    fn is_used(&self) -> bool {
        self.answers.iter().any(|n| n.load(Ordering::Relaxed) > 0)
    }
}

impl Requests {
    /// A request was answered. `route` is the pattern that matched, empty where none did.
    pub fn answered(&self, method: &str, route: &str, status: u16, us: u64) {
        let known = METHODS.iter().position(|known| *known == method);
        let place = known.unwrap_or(METHODS.len());
        let route = if route.is_empty() { OTHER } else { route };
        let count = |of: &OfRoute| of.get(place).map(|timed| timed.answered(status, us));
        // Each route is added once: nearly every request finds its own without an allocation.
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if all.get(route).and_then(|of| count(of)).is_some() {
            return;
        }
        drop(all);
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        count(all.entry(route.to_owned()).or_default());
    }

    /// Its samples, by route.
    pub fn write(&self, text: &mut Text) {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let labels = METHODS.iter().chain(&[OTHER]);
        let mut all: Vec<((&str, &str), &Timed)> = all
            .iter()
            .flat_map(|(route, of)| {
                let named = labels.clone().zip(of.iter());
                named.map(move |(method, timed)| ((*method, route.as_str()), timed))
            })
            .filter(|(_, timed)| timed.is_used())
            .collect();
        all.sort_by_key(|((method, route), _)| (*route, *method));
        let name = "bankd_http_requests_total";
        text.head(name, "counter", "Requests by route and status class");
        for ((method, route), timed) in &all {
            for (count, status) in timed.answers.iter().zip(ANSWERS) {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    let labels = [("method", *method), ("route", *route), ("status", status)];
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
            let labels = [("method", *method), ("route", *route)];
            timed.took.write(DURATION, &labels, text);
        }
    }
}
