//! What operators see: the log on standard error, what a panic leaves there, and counters.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};

use bank_api::sign::Failure;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format;

use crate::config::{self, Level, LogFormat};

/// Starts the log; a second call changes nothing.
pub fn start_log(log: &config::Log) {
    let level = match log.level {
        Level::Error => LevelFilter::ERROR,
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
        Level::Trace => LevelFilter::TRACE,
    };
    let builder = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    // Plain `name=value`: a line for each command is on the hot path, and the formatter that comes
    // with the library spends most of its time on colours, even where there are none.
    let fields = format::debug_fn(|to, field, value| match field.name() {
        "message" => write!(to, "{value:?}"),
        name => write!(to, "{name}={value:?}"),
    });
    let started = match log.format {
        LogFormat::Text => builder.fmt_fields(fields.delimited(" ")).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    if started.is_err() {
        tracing::debug!("the log is there already");
    }
}

/// Logs panics. One in the writer ends the process: half a batch must not be committed, and a bank
/// without its writer is none (style 2.7).
pub fn catch_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or_default().to_owned();
        let place = panic.location().map(ToString::to_string);
        let message = panic.payload_as_str().unwrap_or_default();
        tracing::error!(thread = name, place, message, "a bug: panic");
        if name == "writer" {
            std::process::abort();
        }
    }));
}

/// The causes of a 401, in the order of the counters.
const CAUSES: [Failure; 8] = [
    Failure::UnknownKey,
    Failure::BadSignature,
    Failure::Stale,
    Failure::Replay,
    Failure::Digest,
    Failure::Component,
    Failure::Malformed,
    Failure::DisabledKey,
];

/// What is counted since the start.
#[derive(Debug, Default)]
pub struct Counters {
    auth: [AtomicU64; CAUSES.len()],
    records: AtomicU64,
}

impl Counters {
    /// A request that was answered 401.
    pub fn auth_failed(&self, failure: Failure) {
        let place = CAUSES.iter().position(|cause| *cause == failure);
        if let Some(counter) = place.and_then(|place| self.auth.get(place)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Answers 401 by cause, without the causes that did not occur.
    pub fn auth_failures(&self) -> BTreeMap<&'static str, u64> {
        let counted = CAUSES.iter().zip(&self.auth);
        counted
            .map(|(cause, counter)| (cause.reason(), counter.load(Ordering::Relaxed)))
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    /// A record file could not be written.
    pub fn record_failed(&self) {
        self.records.fetch_add(1, Ordering::Relaxed);
    }

    /// How often a record file could not be written.
    pub fn record_failures(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_its_counter() {
        let counters = Counters::default();
        for cause in CAUSES {
            counters.auth_failed(cause);
        }
        counters.auth_failed(Failure::Replay);
        let counted = counters.auth_failures();
        assert_eq!(counted.len(), CAUSES.len());
        assert_eq!(counted.get("replay"), Some(&2));
    }
}
