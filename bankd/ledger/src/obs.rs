//! Output for operators: the log on standard error, the report of a panic, and counters.

mod sink;

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use bank_api::sign::Failure;
use bankd_config::{self as config, Level, LogFormat};
use tracing::subscriber::Interest;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format;
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::access::Roles;

pub use sink::lost_lines;

/// The least important line that is written, as [`depth`] counts.
static LEVEL: AtomicU8 = AtomicU8::new(0);

/// Another least important line from now on.
pub fn set_level(level: Level) {
    let depth = depth(filter(level));
    if LEVEL.swap(depth, Ordering::Relaxed) != depth {
        // Places in the code remember whether they are written.
        tracing::callsite::rebuild_interest_cache();
    }
}

/// 0 for errors, and more for what is less important.
fn depth(filter: LevelFilter) -> u8 {
    let place = LEVELS.iter().position(|level| *level == filter);
    place
        .and_then(|place| u8::try_from(place).ok())
        .unwrap_or(0)
}

const LEVELS: [LevelFilter; 5] = [
    LevelFilter::ERROR,
    LevelFilter::WARN,
    LevelFilter::INFO,
    LevelFilter::DEBUG,
    LevelFilter::TRACE,
];

/// Lets pass what is important enough now. Each place in the code asks once, until the level changes.
#[derive(Debug)]
struct Threshold;

impl Threshold {
    fn now() -> LevelFilter {
        let place = usize::from(LEVEL.load(Ordering::Relaxed));
        LEVELS.get(place).copied().unwrap_or(LevelFilter::INFO)
    }
}

impl<S: Subscriber> Layer<S> for Threshold {
    fn register_callsite(&self, of: &'static Metadata<'static>) -> Interest {
        if *of.level() <= Self::now() {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, of: &Metadata<'_>, _: Context<'_, S>) -> bool {
        *of.level() <= Self::now()
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(Self::now())
    }
}

fn filter(level: Level) -> LevelFilter {
    match level {
        Level::Error => LevelFilter::ERROR,
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
        Level::Trace => LevelFilter::TRACE,
    }
}

/// Starts the log; a second call changes nothing.
pub fn start_log(log: &config::Log) {
    set_level(log.level);
    let builder = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_writer(|| sink::Sink)
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal());
    // Plain `name=value`: a line for each command is on the hot path, and the formatter that comes
    // with the library spends most of its time on colours, even where there are none.
    let fields = format::debug_fn(|to, field, value| match field.name() {
        "message" => one_line(to, &format!("{value:?}")),
        name => {
            // Most values fit: growing a text costs more than writing it.
            let mut text = String::with_capacity(64);
            write!(text, "{value:?}")?;
            write!(to, "{name}=")?;
            one_value(to, &text)
        }
    });
    let started = match log.format {
        LogFormat::Text => {
            let written = builder.fmt_fields(fields.delimited(" ")).finish();
            written.with(Threshold).try_init()
        }
        LogFormat::Json => {
            let written = builder.json().flatten_event(true).finish();
            written.with(Threshold).try_init()
        }
    };
    if started.is_err() {
        tracing::debug!("the log is initialised already");
    }
}

/// A message without line ends: names in it come from requests.
fn one_line(to: &mut dyn Write, text: &str) -> fmt::Result {
    text.chars().try_for_each(|character| {
        if character.is_control() {
            return write!(to, "{}", character.escape_default());
        }
        to.write_char(character)
    })
}

/// The value of a field: quoted if it is not one word, so that a name from a request looks like no other field or line.
fn one_value(to: &mut dyn Write, text: &str) -> fmt::Result {
    let quoted = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let is_word = |text: &str| !text.contains(|c: char| c.is_control() || c.is_whitespace());
    let is_text = |inner: &str| {
        let mut escaped = false;
        inner.chars().all(|character| {
            let ends = character.is_control() || (character == '"' && !escaped);
            escaped = character == '\\' && !escaped;
            !ends
        }) && !escaped
    };
    if quoted.map_or_else(|| is_word(text), is_text) {
        return to.write_str(text);
    }
    write!(to, "{text:?}")
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
const CAUSES: [Failure; 12] = [
    Failure::UnknownKey,
    Failure::BadSignature,
    Failure::Stale,
    Failure::Replay,
    Failure::Digest,
    Failure::Component,
    Failure::Malformed,
    Failure::DisabledKey,
    Failure::UnknownToken,
    Failure::DisabledToken,
    Failure::ExpiredToken,
    Failure::TokenInTheOpen,
];

/// Counters since the start.
#[derive(Debug, Default)]
pub struct Counters {
    auth: [AtomicU64; CAUSES.len()],
    limited: [AtomicU64; 3],
    records: AtomicU64,
    /// Options of the Gold protocol that were left out.
    options: AtomicU64,
    /// By roles and code; no more than there are sets of roles.
    refused: Mutex<BTreeMap<(Roles, &'static str), u64>>,
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

    /// Somebody known was refused what they may not do so many times, by a code of the one table.
    pub fn access_refused(&self, roles: Roles, code: &'static str, times: u64) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let count = refused.entry((roles, code)).or_default();
        *count = count.saturating_add(times);
    }

    /// Refusals of access by roles and code.
    pub fn access_refusals(&self) -> Vec<(Roles, &'static str, u64)> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let all = refused.iter();
        all.map(|((roles, code), count)| (*roles, *code, *count))
            .collect()
    }

    /// A request that was beyond a limit of its client, by the limit's place.
    pub fn limited(&self, place: usize) {
        if let Some(counter) = self.limited.get(place) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The number of requests beyond a limit, by the limit's place.
    pub fn limits_met(&self) -> [u64; 3] {
        self.limited
            .each_ref()
            .map(|counter| counter.load(Ordering::Relaxed))
    }

    /// So many options of a request of the Gold protocol were left out.
    pub fn options_left_out(&self, count: usize) {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        self.options.fetch_add(count, Ordering::Relaxed);
    }

    /// The number of ignored options.
    pub fn options_ignored(&self) -> u64 {
        self.options.load(Ordering::Relaxed)
    }

    /// A record file could not be written.
    pub fn record_failed(&self) {
        self.records.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of failed writes of record files.
    pub fn record_failures(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_looks_like_no_other_field_or_line() {
        for (text, written) in [
            ("job.7", "job.7"),
            ("", ""),
            ("\"two words\"", "\"two words\""),
            ("two words", "\"two words\""),
            ("a\nb", "\"a\\nb\""),
            ("\"x\" code=\"\"", "\"\\\"x\\\" code=\\\"\\\"\""),
            ("\"x\\\"", "\"\\\"x\\\\\\\"\""),
            ("\"a\nb\"", "\"\\\"a\\nb\\\"\""),
        ] {
            let mut line = String::new();
            one_value(&mut line, text).unwrap();
            assert_eq!(line, written);
        }
        let mut line = String::new();
        one_line(&mut line, "a \"b\"\n\u{1b}[1m").unwrap();
        assert_eq!(line, "a \"b\"\\n\\u{1b}[1m");
    }

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

    #[test]
    fn refusals_are_counted_by_roles_and_code() {
        let counters = Counters::default();
        let user = Roles::of(&[crate::access::Role::User]);
        for (roles, code) in [
            (user, "not_allowed"),
            (user, "not_allowed"),
            (user, "over_limit"),
            (Roles::default(), "not_allowed"),
        ] {
            counters.access_refused(roles, code, 1);
        }
        let mut counted = counters.access_refusals();
        counted.sort_by_key(|(.., count)| *count);
        assert_eq!(counted.len(), 3);
        assert_eq!(counted[2], (user, "not_allowed", 2));
    }
}
