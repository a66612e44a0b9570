//! Counting on the hot path: atomic counters without locks. Values read together are not of exactly the same
//! moment.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::exposition::{Text, seconds};

/// Upper ends of the buckets, in microseconds.
const ENDS_US: [u64; 14] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000,
    2_500_000, 10_000_000,
];

/// Durations, by buckets.
#[derive(Debug, Default)]
pub struct Histogram {
    /// Counts of the buckets; the last has everything that took longer.
    buckets: [AtomicU64; ENDS_US.len() + 1],
    sum_us: AtomicU64,
}

impl Histogram {
    /// Something took so many microseconds.
    pub fn observe(&self, us: u64) {
        let place = ENDS_US.partition_point(|end| *end < us);
        if let Some(bucket) = self.buckets.get(place) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// Its samples: the count up to the end of each bucket, the sum and the count of all.
    pub fn write(&self, name: &str, labels: &[(&str, &str)], text: &mut Text) {
        let ends = ENDS_US.iter().map(|end| shown(*end));
        let ends = ends.chain(std::iter::once("+Inf".to_owned()));
        let bucket = format!("{name}_bucket");
        let mut so_far = 0_u64;
        for (own, end) in self.buckets.iter().zip(ends) {
            so_far = so_far.saturating_add(own.load(Ordering::Relaxed));
            let all = [labels, &[("le", &end)]].concat();
            text.sample(&bucket, &all, so_far);
        }
        let sum = seconds(self.sum_us.load(Ordering::Relaxed));
        text.sample(&format!("{name}_sum"), labels, sum);
        text.sample(&format!("{name}_count"), labels, so_far);
    }
}

/// The end of a bucket in seconds, without zeros behind it.
fn shown(us: u64) -> String {
    let text = seconds(us);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bucket_holds_those_before_it() {
        let histogram = Histogram::default();
        for us in [0, 100, 101, 2_000_000, u64::MAX / 2] {
            histogram.observe(us);
        }
        let mut text = Text::default();
        histogram.write("x_seconds", &[("a", "b")], &mut text);
        let text = text.done();
        for line in [
            "x_seconds_bucket{a=\"b\",le=\"0.0001\"} 2",
            "x_seconds_bucket{a=\"b\",le=\"0.00025\"} 3",
            "x_seconds_bucket{a=\"b\",le=\"1\"} 3",
            "x_seconds_bucket{a=\"b\",le=\"2.5\"} 4",
            "x_seconds_bucket{a=\"b\",le=\"10\"} 4",
            "x_seconds_bucket{a=\"b\",le=\"+Inf\"} 5",
            "x_seconds_count{a=\"b\"} 5",
        ] {
            assert!(text.lines().any(|own| own == line), "{line} in {text}");
        }
    }
}
