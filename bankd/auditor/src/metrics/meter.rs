//! Figures of the routes: requests by outcome, durations, and losses. Counters of the process, from its
//! start.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bankd_ledger::exposition::{Text, seconds};

/// A route with its method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// `POST /record`
    Add,
    /// `PUT /record`
    Update,
    /// `GET /record/ID`
    One,
    /// `POST /records`
    Bulk,
    /// `GET /records`
    Query,
    /// `GET /health_check`
    Health,
    /// `GET /metrics`
    Metrics,
    /// Whatever else was asked for.
    Other,
}

/// Outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// With this status.
    Status(u16),
    /// The connection was closed without an answer, so that the client keeps its data.
    Dropped,
}

/// Every route, in the order of [`Route`], as labels.
const ROUTES: [(&str, &str); 8] = [
    ("POST", "/record"),
    ("PUT", "/record"),
    ("GET", "/record/{id}"),
    ("POST", "/records"),
    ("GET", "/records"),
    ("GET", "/health_check"),
    ("GET", "/metrics"),
    ("any", "other"),
];
/// Outcomes of a request, by the first digit of its status. The last one has no status.
const ANSWERS: [&str; 6] = ["1xx", "2xx", "3xx", "4xx", "5xx", "dropped"];
/// Upper ends of the buckets of durations, in microseconds.
const BUCKETS_US: [u64; 11] = [
    500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000, 2_500_000, 10_000_000,
];

/// The counters.
#[derive(Debug, Default)]
pub struct Meter {
    routes: [Timed; ROUTES.len()],
    rejected: AtomicU64,
    conflicts: AtomicU64,
    denied: AtomicU64,
    handshakes: AtomicU64,
}

/// The requests of a route.
#[derive(Debug, Default)]
struct Timed {
    answers: [AtomicU64; ANSWERS.len()],
    /// By bucket; longer ones are in the last.
    buckets: [AtomicU64; BUCKETS_US.len() + 1],
    sum_us: AtomicU64,
}

impl Meter {
    /// A request ended. For a stream, `took` is the time to its first byte.
    pub fn answered(&self, route: Route, how: Answered, took: Duration) {
        let Some(timed) = self.routes.get(route as usize) else {
            return;
        };
        let answer = match how {
            Answered::Status(status) => usize::from(status / 100).saturating_sub(1).min(4),
            Answered::Dropped => ANSWERS.len() - 1,
        };
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BUCKETS_US.partition_point(|end| *end < us);
        let counters = [timed.answers.get(answer), timed.buckets.get(bucket)];
        for counter in counters.into_iter().flatten() {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        timed.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// A body was refused, which its sender will not notice.
    pub fn rejected(&self) {
        self.rejected.fetch_add(1, Ordering::Relaxed);
    }

    /// A record arrived again with different content.
    pub fn conflict(&self) {
        self.conflicts.fetch_add(1, Ordering::Relaxed);
    }

    /// A request was refused because a right was missing.
    pub fn denied(&self) {
        self.denied.fetch_add(1, Ordering::Relaxed);
    }

    /// A handshake of TLS failed.
    pub fn handshake_failed(&self) {
        self.handshakes.fetch_add(1, Ordering::Relaxed);
    }

    /// Bodies refused, records in conflict, requests without an answer, requests without a right.
    #[cfg(test)]
    pub(crate) fn all(&self) -> [u64; 4] {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let dropped = self.routes.iter().filter_map(|timed| timed.answers.last());
        let dropped = dropped.map(load).sum();
        let [rejected, conflicts, denied] =
            [&self.rejected, &self.conflicts, &self.denied].map(load);
        [rejected, conflicts, dropped, denied]
    }

    pub(super) fn write(&self, text: &mut Text) {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let name = "auditor_http_requests_total";
        text.head(name, "counter", "Requests by route and outcome");
        for (timed, (method, route)) in self.routes.iter().zip(ROUTES) {
            for (count, answer) in timed.answers.iter().map(load).zip(ANSWERS) {
                if count > 0 {
                    let labels = [("method", method), ("route", route), ("answer", answer)];
                    text.sample(name, &labels, count);
                }
            }
        }
        let name = "auditor_http_request_duration_seconds";
        let help = "Time to the answer, of a stream to its first byte";
        text.head(name, "histogram", help);
        for (timed, labels) in self.routes.iter().zip(ROUTES) {
            timed.write(name, labels, text);
        }
        for (name, help, counter) in [
            (
                "rejected_records_total",
                "Bodies refused and kept in the quarantine",
                &self.rejected,
            ),
            (
                "record_conflicts_total",
                "Records that arrived again with different content",
                &self.conflicts,
            ),
            (
                "access_denied_total",
                "Requests refused because a right was missing",
                &self.denied,
            ),
            (
                "tls_handshakes_failed_total",
                "Connections without a handshake",
                &self.handshakes,
            ),
        ] {
            text.head(name, "counter", help);
            text.sample(name, &[], load(counter));
        }
    }
}

impl Timed {
    /// The histogram of a route that was asked for.
    fn write(&self, name: &str, (method, route): (&str, &str), text: &mut Text) {
        let counts = self.buckets.iter().map(|n| n.load(Ordering::Relaxed));
        let counts: Vec<u64> = counts.collect();
        let all: u64 = counts.iter().sum();
        if all == 0 {
            return;
        }
        let of = [("method", method), ("route", route)];
        let bucket = format!("{name}_bucket");
        let mut below = 0;
        for (end, count) in BUCKETS_US.iter().zip(&counts) {
            below += count;
            let [method, route] = of;
            text.sample(&bucket, &[method, route, ("le", &seconds(*end))], below);
        }
        let [method, route] = of;
        text.sample(&bucket, &[method, route, ("le", "+Inf")], all);
        let sum = seconds(self.sum_us.load(Ordering::Relaxed));
        text.sample(&format!("{name}_sum"), &of, sum);
        text.sample(&format!("{name}_count"), &of, all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(meter: &Meter) -> String {
        let mut text = Text::default();
        meter.write(&mut text);
        text.done()
    }

    #[test]
    fn every_route_has_its_counters() {
        let meter = Meter::default();
        for (at, route) in [
            Route::Add,
            Route::Update,
            Route::One,
            Route::Bulk,
            Route::Query,
            Route::Health,
            Route::Metrics,
            Route::Other,
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(route as usize, at);
            meter.answered(route, Answered::Status(200), Duration::ZERO);
        }
        let text = written(&meter);
        for (method, route) in ROUTES {
            let line = format!(
                "auditor_http_requests_total{{method=\"{method}\",route=\"{route}\",answer=\"2xx\"}} 1\n"
            );
            assert!(text.contains(&line), "{line}{text}");
        }
    }

    #[test]
    fn durations_fall_into_buckets() {
        let meter = Meter::default();
        for us in [500, 501, 3_000, 10_000_001] {
            meter.answered(Route::Add, Answered::Dropped, Duration::from_micros(us));
        }
        let text = written(&meter);
        let of = "auditor_http_request_duration_seconds";
        let labels = "method=\"POST\",route=\"/record\"";
        for line in [
            format!("{of}_bucket{{{labels},le=\"0.000500\"}} 1\n"),
            format!("{of}_bucket{{{labels},le=\"0.001000\"}} 2\n"),
            format!("{of}_bucket{{{labels},le=\"0.005000\"}} 3\n"),
            format!("{of}_bucket{{{labels},le=\"10.000000\"}} 3\n"),
            format!("{of}_bucket{{{labels},le=\"+Inf\"}} 4\n"),
            format!("{of}_sum{{{labels}}} 10.004002\n"),
            format!("{of}_count{{{labels}}} 4\n"),
            format!("auditor_http_requests_total{{{labels},answer=\"dropped\"}} 4\n"),
        ] {
            assert!(text.contains(&line), "{line}{text}");
        }
    }

    #[test]
    fn what_nobody_notices_is_counted_from_zero() {
        let meter = Meter::default();
        let counters = |meter: &Meter| {
            let text = written(meter);
            let names = ["rejected_records_total", "record_conflicts_total"];
            names.map(|name| text.contains(&format!("\n{name} 1\n")))
        };
        assert_eq!(counters(&meter), [false, false]);
        meter.rejected();
        meter.conflict();
        assert_eq!(counters(&meter), [true, true]);
    }
}
