//! Charts, pages and screens out of numbers.
//!
//! The texts in `tests/golden` are what is drawn today, byte by byte; `BANK_WRITE_GOLDEN=1` writes them
//! anew, and then somebody looks at them. A browser opens them in the suite of the whole.

mod bounds;
mod gallery;
mod parts;
mod shapes;

use super::*;
use crate::zone::Zone;

/// One hour east of Greenwich.
fn zone() -> Zone {
    Zone::Named(chrono_tz::Etc::GMTMinus1)
}

fn at(text: &str) -> i64 {
    bank_api::text::parse_rfc3339(text).unwrap()
}

fn number(text: &str) -> Number {
    Number::read(text).unwrap()
}

fn bars(unit: &str, rows: &[(&str, &str)]) -> Bars {
    Bars {
        what: "project".to_owned(),
        unit: unit.to_owned(),
        rows: rows
            .iter()
            .map(|(name, amount)| ((*name).to_owned(), number(amount)))
            .collect(),
    }
}

/// Days from 2026-10-01 on, local time.
fn days(count: i64) -> Vec<Span> {
    let first = at("2026-09-30T23:00:00Z");
    let day = 86_400_000_000;
    let span = |n| Span {
        from: first + n * day,
        to: first + (n + 1) * day,
    };
    (0..count).map(span).collect()
}

/// Names that must not be obeyed, and long ones.
const NASTY: [&str; 6] = [
    "<b onload=\"x()\">&'\"",
    "Jürgen Ångström-Bücher",
    "פרויקט כימיה",
    "line\nbreak\r\u{1b}[31m",
    "a/very/long/path/of/projects/below/projects/that/nobody/can/read/in/one/line",
    "計算化学",
];
