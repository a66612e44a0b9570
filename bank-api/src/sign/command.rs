//! The headers that belong to a command, `Idempotency-Key` and `Bank-Event-Time`, and all headers
//! that may occur once (`http-auth.md` 1). The same rules hold for signed requests and for those
//! on the Unix socket.

use super::field::trim;
use crate::text;

/// The two headers that belong to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CommandHeaders<'a> {
    /// 1 to 255 visible ASCII characters without `#`; `None` only if the request does not write.
    pub idempotency_key: Option<&'a str>,
    /// `Bank-Event-Time` in µs since 1970 UTC.
    pub event_time_us: Option<i64>,
}

/// Faults that are reported only to a sender with a verified signature. All are 400.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// A header that may occur once occurs twice; its name.
    DuplicateHeader(&'static str),
    /// A mutating request without `Idempotency-Key`.
    IdempotencyKeyRequired,
    /// An `Idempotency-Key` that is empty, longer than 255, holds `#` or something not visible.
    BadIdempotencyKey,
    /// `Bank-Event-Time` is no RFC 3339 time in UTC, or is later than the window allows.
    BadEventTime,
}

impl Condition {
    /// The refusal code, a row of [`crate::error`].
    pub fn code(self) -> &'static str {
        match self {
            Self::DuplicateHeader(_) => "duplicate_header",
            Self::IdempotencyKeyRequired => "idempotency_key_required",
            Self::BadIdempotencyKey => "bad_request",
            Self::BadEventTime => "bad_event_time",
        }
    }

    /// One sentence for the caller.
    pub fn detail(self) -> String {
        match self {
            Self::DuplicateHeader(name) => format!("the header {name} occurs more than once"),
            Self::IdempotencyKeyRequired => {
                "a request that writes carries an Idempotency-Key".to_owned()
            }
            Self::BadIdempotencyKey => {
                "Idempotency-Key is 1 to 255 visible ASCII characters without #".to_owned()
            }
            Self::BadEventTime => {
                "Bank-Event-Time is RFC 3339 with Z, at most 6 decimals, not in the future"
                    .to_owned()
            }
        }
    }
}

/// The headers of an unsigned command on the Unix socket, where the kernel identifies the sender. The rules
/// are those of signed requests.
pub fn command_headers<'a>(
    headers: impl Iterator<Item = (&'a str, &'a [u8])>,
    mutating: bool,
    now_s: i64,
    window_s: i64,
) -> Result<CommandHeaders<'a>, Condition> {
    Fields::collect(headers).command(mutating, now_s, window_s)
}

/// A header that may occur once: how often it did, and its first value.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Once<'a> {
    pub(super) count: usize,
    pub(super) value: &'a [u8],
}

impl<'a> Once<'a> {
    fn add(&mut self, value: &'a [u8]) {
        if self.count == 0 {
            self.value = trim(value);
        }
        self.count += 1;
    }
}

/// The headers with a special meaning, found in one pass.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fields<'a> {
    pub(super) input: Once<'a>,
    pub(super) signature: Once<'a>,
    pub(super) digest: Once<'a>,
    pub(super) key: Once<'a>,
    pub(super) event_time: Once<'a>,
}

impl<'a> Fields<'a> {
    pub(super) fn collect(headers: impl Iterator<Item = (&'a str, &'a [u8])>) -> Self {
        let mut fields = Self::default();
        for (name, value) in headers {
            // The length excludes nearly all other headers before any text comparison.
            let slot = match name.len() {
                9 if name.eq_ignore_ascii_case("signature") => &mut fields.signature,
                14 if name.eq_ignore_ascii_case("content-digest") => &mut fields.digest,
                15 if name.eq_ignore_ascii_case("signature-input") => &mut fields.input,
                15 if name.eq_ignore_ascii_case("idempotency-key") => &mut fields.key,
                15 if name.eq_ignore_ascii_case("bank-event-time") => &mut fields.event_time,
                _ => continue,
            };
            slot.add(value);
        }
        fields
    }

    pub(super) fn command(
        &self,
        mutating: bool,
        now_s: i64,
        window_s: i64,
    ) -> Result<CommandHeaders<'a>, Condition> {
        for (field, name) in [
            (&self.key, "Idempotency-Key"),
            (&self.event_time, "Bank-Event-Time"),
            (&self.digest, "Content-Digest"),
        ] {
            if field.count > 1 {
                return Err(Condition::DuplicateHeader(name));
            }
        }
        let idempotency_key = match self.key.count {
            0 if mutating => return Err(Condition::IdempotencyKeyRequired),
            0 => None,
            _ => Some(idempotency_key(self.key.value).ok_or(Condition::BadIdempotencyKey)?),
        };
        let event_time_us = if self.event_time.count == 0 {
            None
        } else {
            let at = std::str::from_utf8(self.event_time.value)
                .ok()
                .and_then(text::parse_event_time)
                .ok_or(Condition::BadEventTime)?;
            let latest = now_s.saturating_add(window_s).saturating_mul(1_000_000);
            if at > latest {
                return Err(Condition::BadEventTime);
            }
            Some(at)
        };
        Ok(CommandHeaders {
            idempotency_key,
            event_time_us,
        })
    }
}

fn idempotency_key(value: &[u8]) -> Option<&str> {
    let visible = value
        .iter()
        .all(|byte| byte.is_ascii_graphic() && *byte != b'#');
    (visible && (1..=255).contains(&value.len()))
        .then(|| std::str::from_utf8(value).ok())
        .flatten()
}
