//! `Bank-Position` and `Bank-Age-Ms`: how new an answer of a node of a cluster is (decision 0202). A bank on a single
//! machine has neither.

use std::time::Duration;

use bank_api::cluster::{AGE_MS, POSITION};
use bankd_ledger::writer::Writer;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};

/// An answer that is older than this shows it to people. The nodes look at the log several times a second.
const OLD: Duration = Duration::from_secs(5);

/// How new a node's data are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    position: i64,
    age: Option<Duration>,
}

impl Seen {
    /// Now; none for a bank on a single machine. An answer contains at least what the node contained before it read.
    pub fn now(writer: &Writer) -> Option<Self> {
        let cluster = writer.cluster()?;
        Some(Self {
            position: cluster.position(),
            age: cluster.age(),
        })
    }

    /// Adds the fields to an answer.
    pub fn show(&self, headers: &mut HeaderMap) {
        let position = HeaderName::from_static(POSITION);
        headers.insert(position, HeaderValue::from(self.position));
        if let Some(age) = self.age {
            let age = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
            headers.insert(HeaderName::from_static(AGE_MS), HeaderValue::from(age));
        }
    }

    /// How old the data are, in words; none for data that are a few seconds old at most.
    pub fn notice(&self) -> Option<String> {
        let Some(age) = self.age else {
            return Some(
                "this node of the cluster has not read the log to its end since it started"
                    .to_owned(),
            );
        };
        let seconds = age.as_secs();
        let time = match seconds {
            0..120 => format!("{seconds} s"),
            120..7200 => format!("{} min", seconds / 60),
            _ => format!("{} h", seconds / 3600),
        };
        (age > OLD).then(|| format!("this node of the cluster was last up to date {time} ago"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_data_are_described() {
        let notice = |age: Option<u64>| {
            let age = age.map(Duration::from_millis);
            let seen = Seen { position: 7, age };
            seen.notice().unwrap_or_default()
        };
        for (age, words) in [
            (Some(0), ""),
            (Some(5000), ""),
            (Some(5001), "was last up to date 5 s ago"),
            (Some(119_999), "was last up to date 119 s ago"),
            (Some(120_000), "was last up to date 2 min ago"),
            (Some(7_200_000), "was last up to date 2 h ago"),
            (None, "has not read the log to its end since it started"),
        ] {
            let text = notice(age);
            assert_eq!(text.is_empty(), words.is_empty(), "{text}");
            assert!(text.ends_with(words), "{text}");
        }
    }
}
