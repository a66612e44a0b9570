//! The values of conditions, read by the kind of their attribute.

use bank_api::text::{Moment, parse_amount, parse_time};
use bank_core::amount::Precision;
use bank_core::decimal::Decimal;
use bank_core::time::Timestamp;

use super::Mistake;
use super::catalogue::Kind;
use super::names::flag;

/// What values are read by.
#[derive(Clone, Copy)]
pub(super) struct Values {
    pub(super) precision: Precision,
    pub(super) now: Timestamp,
}

impl Values {
    /// A value as its kind keeps it.
    pub(super) fn number(&self, kind: Kind, name: &str, text: &str) -> Result<i64, Mistake> {
        let wrong = |wanted: &str| Mistake::new(format!("{name}: {text:?} is not {wanted}"));
        match kind {
            Kind::Text => Err(wrong("a text")),
            Kind::Whole => text.parse().map_err(|_| wrong("a whole number")),
            Kind::Amount => parse_amount(text, self.precision.places()).map_err(|error| {
                let places = self.precision.places();
                wrong(&format!(
                    "an amount with {places} decimals at most ({error})"
                ))
            }),
            Kind::Decimal => {
                let found = Decimal::parse(text).and_then(|d| i64::try_from(d.billionths()).ok());
                found.ok_or_else(|| wrong("a number with 9 decimals at most"))
            }
            Kind::Flag => flag(name, text).map(i64::from),
            // Clients of Gold write seconds since 1970.
            Kind::Time if text.parse::<i64>().is_ok() => {
                let seconds = text.parse::<i64>().unwrap_or_default();
                Ok(seconds.saturating_mul(1_000_000))
            }
            Kind::Time => {
                let moment = parse_time(text, self.now.0, &chrono::Utc);
                let moment = moment.ok_or_else(|| {
                    wrong("a time").hint("2026-10-01, 2026-10-01T12:00:00Z, now, -30d, infinity")
                });
                Ok(match moment? {
                    Moment::At(at) => at,
                    Moment::Past => i64::MIN,
                    Moment::Future => i64::MAX,
                })
            }
        }
    }
}
