//! FILE records: one `WITHDRAWAL` line per charge or per closed instance, in
//! the form of Moab 6 or of Maui (`usage-records.md` 4). The line is a view:
//! its rate has two decimals, the journal has the exact amount. A value must
//! never be empty and never hold a blank.

use super::{Kind, Occasion, Record, Usage, Why, text};

/// The scheduler whose form is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// `file.dialect = moab6`.
    #[default]
    Moab6,
    /// `file.dialect = maui`.
    Maui,
}

/// The treatment of a byte that would break a reader (`usage-records.md` 4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Escape {
    /// `%XX`.
    #[default]
    Percent,
    /// The record has no line.
    Reject,
}

/// A record that has no line because one of its values cannot be written as it
/// is ([`Escape::Reject`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rejected {
    /// The key of the value.
    pub key: &'static str,
}

/// The settings `file.*` and the bank's precision.
#[derive(Debug, Clone, Copy)]
pub struct FileOptions<'o> {
    /// Form of the line.
    pub dialect: Dialect,
    /// True: one line per charge; false: one line when the instance closes.
    pub interim: bool,
    /// Add ` QOS=`, ` NODES=` and ` AMOUNT=`.
    pub extended: bool,
    /// The treatment of bytes that would break a reader.
    pub escape: Escape,
    /// Written where there is no account.
    pub blank_account: &'o str,
    /// Written where there is no user.
    pub blank_user: &'o str,
    /// Decimal places of the bank's amounts, 0 to 6.
    pub precision: u32,
}

impl Default for FileOptions<'_> {
    fn default() -> Self {
        Self {
            dialect: Dialect::Moab6,
            interim: true,
            extended: false,
            escape: Escape::Percent,
            blank_account: "[NONE]",
            blank_user: "KITTY",
            precision: 3,
        }
    }
}

/// The line of a record with its line feed; `None` where the form has no line
/// for it: a charge or a close under the other setting of `interim`, an
/// instance that was never charged, and what [`is_left_out`].
///
/// # Errors
/// If a value would have to be escaped and must not be.
pub fn render(record: &Record, options: &FileOptions<'_>) -> Result<Option<String>, Rejected> {
    if !is_written(record, options) {
        return Ok(None);
    }
    let mut line = Line::default();
    match options.dialect {
        Dialect::Moab6 => moab6(&mut line, record, options),
        Dialect::Maui => maui(&mut line, record, options),
    }
    if options.extended {
        let amount = text::decimal(i128::from(record.amount), options.precision);
        line.add("AMOUNT", Some(&amount), "0");
    }
    line.text.push('\n');
    match (options.escape, line.escaped) {
        (Escape::Reject, Some(key)) => Err(Rejected { key }),
        _ => Ok(Some(line.text)),
    }
}

/// True when the line of this record shows a rate of 0.01 although the real
/// one is smaller (`usage-records.md` 4.5; to be counted).
pub fn is_rate_raised(record: &Record) -> bool {
    record.amount != 0 && cents(&record.usage) == 0
}

fn is_written(record: &Record, options: &FileOptions<'_>) -> bool {
    let is_less = record.amount < 0 || record.usage.charged() < 0;
    let of_form = match record.occasion {
        Occasion::Charge => options.interim,
        Occasion::Close { charges } => !options.interim && charges > 0,
        // Its charges have lines already, if each has one.
        Occasion::Adjustment { why: Why::Part, .. } => !options.interim,
        // A repeated charge, to other payers or after an undo, has its line already.
        Occasion::Adjustment { why, .. } => why == Why::LateCharge,
    };
    of_form && !is_less
}

/// Whether a record changes what lines before it have, and the form has no line for that: money or time that
/// goes back, or is charged again. To be counted.
pub fn is_left_out(record: &Record, options: &FileOptions<'_>) -> bool {
    let changes = record.amount != 0 || record.usage.charged() != 0;
    let is_of_form = match record.occasion {
        Occasion::Charge => options.interim,
        Occasion::Close { .. } | Occasion::Adjustment { why: Why::Part, .. } => !options.interim,
        Occasion::Adjustment { .. } => true,
    };
    is_of_form && changes && !is_written(record, options)
}

fn moab6(line: &mut Line, record: &Record, options: &FileOptions<'_>) {
    line.text.push_str("WITHDRAWAL");
    line.add("TYPE", Some(kind(record)), "");
    line.add("MACHINE", Some(&record.machine), DEFAULT);
    line.add("ACCOUNT", account(record), options.blank_account);
    line.add("USER", record.user.as_deref(), options.blank_user);
    line.add("PROCS", Some(&processors(&record.usage).to_string()), "");
    line.add("PROCCRATE", Some(&rate(record)), "");
    line.add("RESOURCETYPE", record.host_type.as_deref(), DEFAULT);
    line.add("DURATION", Some(&seconds(record).to_string()), "");
    line.add("REQUESTID", Some(&record.object_id), NONE);
    if options.extended {
        line.add_known("QOS", record.qos.as_deref());
        line.add_known("NODES", nodes(record).as_deref());
    }
}

/// In this form the rate of a reservation follows its node type, and a duration is at least a second.
fn maui(line: &mut Line, record: &Record, options: &FileOptions<'_>) {
    let rate = rate(record);
    line.text.push_str("WITHDRAWAL     ");
    line.add("TYPE", Some(kind(record)), "");
    match record.kind {
        Kind::Job => line.add("MACHINE", Some(&record.machine), DEFAULT),
        Kind::Reservation => line.add("MACHINE", None, DEFAULT),
    }
    line.add("ACCOUNT", account(record), options.blank_account);
    line.add("SUBACCOUNT", record.user.as_deref(), options.blank_user);
    line.add("RESOURCE", Some(&processors(&record.usage).to_string()), "");
    if record.kind == Kind::Job {
        line.add("PROCCRATE", Some(&rate), "");
    }
    line.add("RESOURCETYPE", record.host_type.as_deref(), DEFAULT);
    if record.kind == Kind::Reservation {
        line.add("PROCCRATE", Some(&rate), "");
    }
    line.add("DURATION", Some(&seconds(record).max(1).to_string()), "");
    match record.kind {
        Kind::Job => line.add_known("QOS", record.qos.as_deref()),
        Kind::Reservation => line.add("QOS", None, "[DEFAULT]"),
    }
    line.add("REQUESTID", Some(&record.object_id), NONE);
    line.add_known("NODES", nodes(record).as_deref());
}

/// The account that pays in place of the project's own; else the project.
fn account(record: &Record) -> Option<&str> {
    record.payer.as_deref().or(record.project.as_deref())
}

/// Written for a machine or a node type that has no name.
const DEFAULT: &str = "DEFAULT";
/// The scheduler's own mark for nothing.
const NONE: &str = "[NONE]";

/// A line in the making.
#[derive(Default)]
struct Line {
    text: String,
    /// The first key with a value that had to be escaped.
    escaped: Option<&'static str>,
}

impl Line {
    /// Adds ` KEY=value`, with `blank` in place of a missing or empty value.
    fn add(&mut self, key: &'static str, value: Option<&str>, blank: &str) {
        let value = value.filter(|value| !value.is_empty()).unwrap_or(blank);
        self.text.push(' ');
        self.text.push_str(key);
        self.text.push('=');
        if escape(&mut self.text, value) {
            self.escaped = self.escaped.or(Some(key));
        }
    }

    /// Adds ` KEY=value` if there is a value.
    fn add_known(&mut self, key: &'static str, value: Option<&str>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.add(key, Some(value), "");
        }
    }
}

/// Bytes that would break a reader become `%XX` (`usage-records.md` 4.3);
/// whether there were any.
fn escape(out: &mut String, value: &str) -> bool {
    const HEX: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F',
    ];
    let mut any = false;
    for c in value.chars() {
        if c <= ' ' || matches!(c, '=' | '"' | '%' | '\u{7f}') {
            any = true;
            let code = c as usize;
            out.push('%');
            out.extend(
                [code >> 4, code & 15]
                    .iter()
                    .filter_map(|digit| HEX.get(*digit)),
            );
        } else {
            out.push(c);
        }
    }
    any
}

fn kind(record: &Record) -> &'static str {
    match record.kind {
        Kind::Job => "job",
        Kind::Reservation => "res",
    }
}

fn nodes(record: &Record) -> Option<String> {
    record.nodes.map(|nodes| nodes.to_string())
}

/// Whole processors, at least one.
fn processors(usage: &Usage) -> i128 {
    text::ceiling(usage.processors()).max(1)
}

fn seconds(record: &Record) -> i128 {
    text::nearest(i128::from(record.usage.charged()), 1_000_000)
}

/// The rate in hundredths, scaled so that whole processors × rate is what was
/// charged. Without a rate the processors count in full.
fn cents(usage: &Usage) -> i128 {
    let whole = processors(usage).saturating_mul(1_000_000);
    match usage.rate_times(100) {
        None => 100,
        Some((numerator, denominator)) => {
            let scaled = numerator.checked_mul(usage.processors());
            match scaled.zip(denominator.checked_mul(whole)) {
                Some((numerator, denominator)) => text::nearest(numerator, denominator),
                None => text::nearest(numerator, denominator),
            }
        }
    }
}

fn rate(record: &Record) -> String {
    let cents = cents(&record.usage);
    let shown = if cents == 0 && record.amount != 0 {
        1
    } else {
        cents
    };
    format!("{}.{:02}", shown / 100, shown % 100)
}
