//! The content of one spooled file: a short head of `name: value` lines, an empty line, the body
//! byte for byte.
//!
//! It holds everything needed to send the document later exactly as it would have been sent: key,
//! event, event time and query, because the bank recognises a repeated document by them.

use bank_api::text::{format_rfc3339, parse_event_time};

use crate::client::{Client, Document};
use crate::clock::Deadline;
use crate::event::Event;
use crate::input::MAX_DOCUMENT;
use crate::outcome::Outcome;

/// First line of every spooled file.
const MAGIC: &str = "bank-nami-spool 1";
/// Longest head, in bytes.
const MAX_HEAD: usize = 4096;
/// Largest file that can be one of ours.
pub(crate) const MAX_FILE: usize = MAX_HEAD + MAX_DOCUMENT;

/// A document that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) event: Event,
    /// µs since 1970 UTC.
    pub(crate) time_us: i64,
    /// The query of the target, without `?`.
    pub(crate) query: String,
    /// The settings file of its call; empty in documents of earlier versions.
    pub(crate) file: String,
    pub(crate) body: Vec<u8>,
}

impl Entry {
    /// The event's time as it is sent.
    pub(crate) fn time(&self) -> String {
        format_rfc3339(self.time_us)
    }

    /// Sends it once, with its own key, query and event time.
    pub(crate) fn send(&self, client: &Client<'_>, deadline: Deadline) -> Outcome {
        let document = Document {
            event: self.event,
            key: &self.key,
            event_time: Some(&self.time()),
            query: &self.query,
            body: &self.body,
        };
        client.send(&document, deadline)
    }

    /// The file's content.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let head = format!(
            "{MAGIC}\nkey: {}\nevent: {}\ntime: {}\nquery: {}\nlength: {}\n{}\n",
            self.key,
            self.event.name(),
            self.time(),
            self.query,
            self.body.len(),
            match self.file.as_str() {
                "" => String::new(),
                file => format!("settings: {file}\n"),
            }
        );
        let mut content = Vec::with_capacity(head.len() + self.body.len());
        content.extend_from_slice(head.as_bytes());
        content.extend_from_slice(&self.body);
        content
    }

    /// Parses a file's content; `None` if it is incomplete or has another format. Values for a
    /// request line or a header are checked, because the file may have been edited.
    pub(crate) fn decode(content: &[u8]) -> Option<Self> {
        let head_end = content
            .windows(2)
            .take(MAX_HEAD)
            .position(|pair| pair == b"\n\n")?;
        let head = std::str::from_utf8(content.get(..head_end)?).ok()?;
        let body = content.get(head_end + 2..)?.to_vec();
        let mut lines = head.lines();
        if lines.next()? != MAGIC {
            return None;
        }
        let mut value = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(": ");
        let visible = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        let key = value("key").filter(|key| visible(key) && (1..=255).contains(&key.len()))?;
        let event = value("event").and_then(Event::parse)?;
        let time_us = value("time").and_then(parse_event_time)?;
        let query = value("query").filter(|query| visible(query))?;
        let length: usize = value("length")?.parse().ok()?;
        let file = value("settings").unwrap_or_default();
        let sendable = !matches!(event, Event::Drain | Event::Query);
        (sendable && length == body.len()).then(|| Self {
            key: key.to_owned(),
            event,
            time_us,
            query: query.to_owned(),
            file: file.to_owned(),
            body,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry {
            key: "018f6b0e-7c1a-7c3e-9f00-000000000001".into(),
            event: Event::Charge,
            time_us: 1_767_225_600_000_001,
            query: "machine=colony".into(),
            file: "/etc/bank/nami.conf".into(),
            body: b"<Job>\n\n\xff</Job>\n".to_vec(),
        }
    }

    #[test]
    fn read_back_as_written() {
        let content = entry().encode();
        assert!(content.starts_with(
            b"bank-nami-spool 1\nkey: 018f6b0e-7c1a-7c3e-9f00-000000000001\nevent: charge\n\
              time: 2026-01-01T00:00:00.000001Z\nquery: machine=colony\nlength: 15\n\
              settings: /etc/bank/nami.conf\n\n<Job>"
        ));
        assert_eq!(Entry::decode(&content), Some(entry()));
        let plain = Entry {
            query: String::new(),
            file: String::new(),
            body: Vec::new(),
            ..entry()
        };
        assert_eq!(Entry::decode(&plain.encode()), Some(plain));
    }

    #[test]
    fn every_truncation_is_noticed() {
        let content = entry().encode();
        for length in 0..content.len() {
            assert_eq!(Entry::decode(&content[..length]), None, "{length}");
        }
    }

    #[test]
    fn what_could_spoil_a_request_is_refused() {
        let text = String::from_utf8(
            Entry {
                body: Vec::new(),
                ..entry()
            }
            .encode(),
        )
        .unwrap();
        for (from, to) in [
            ("event: charge", "event: drain"),
            ("event: charge", "event: query"),
            ("event: charge", "event: nothing"),
            ("key: 018", "key: 0 18"),
            ("query: machine", "query: ma chine"),
            ("query: machine", "query: ma\rchine"),
            ("time: 2026", "time: year"),
            ("spool 1", "spool 2"),
            ("length: 0", "length: 1"),
        ] {
            assert!(text.contains(from));
            assert_eq!(
                Entry::decode(text.replace(from, to).as_bytes()),
                None,
                "{to}"
            );
        }
    }
}
