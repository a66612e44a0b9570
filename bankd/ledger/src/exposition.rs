//! The text format 0.0.4 of Prometheus: lines of whole numbers, and of microseconds as seconds.

use std::fmt::{Display, Write as _};

/// Its content type.
pub const MEDIA: &str = "text/plain; version=0.0.4; charset=utf-8";

/// An answer that grows.
#[derive(Debug, Default)]
pub struct Text(String);

impl Text {
    /// The head of a metric, before its samples.
    pub fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing into a text never fails.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// One sample.
    pub fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (at, (label, value)) in labels.iter().enumerate() {
            let before = if at == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{before}{label}=\"");
            for letter in value.chars() {
                match letter {
                    '\\' => self.0.push_str("\\\\"),
                    '"' => self.0.push_str("\\\""),
                    '\n' => self.0.push_str("\\n"),
                    other => self.0.push(other),
                }
            }
            self.0.push('"');
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        let _ = writeln!(self.0, " {value}");
    }

    /// The whole text.
    pub fn done(self) -> String {
        self.0
    }
}

/// Microseconds as seconds.
pub fn seconds(us: u64) -> String {
    format!("{}.{:06}", us / 1_000_000, us % 1_000_000)
}
