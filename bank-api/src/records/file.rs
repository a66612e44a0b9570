//! One line of a FILE, in the form of Moab or of Maui (`usage-records.md` 4.1 to 4.4): by key, never by
//! position.

use std::borrow::Cow;

use super::{Findings, lexical, shown};

/// Longest line, in bytes.
pub const LINE_MAX: usize = 64 << 10;

/// Kind of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A record.
    Record(Box<Record>),
    /// A line of the scheduler's own: `AMSTART`, `BANKEND`, `INITIALJOBLIST`.
    Control(String),
    /// Nothing.
    Blank,
    /// An unreadable line.
    Unreadable,
}

/// The event of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// It was used.
    Withdrawal,
    /// It was held.
    Reserve,
    /// A hold was given back.
    Remove,
}

/// The decoded values of a record. The placeholders of Maui and Moab for "none" are `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// The event; `None` in a record that is only parsed.
    pub verb: Option<Verb>,
    /// `TYPE=res`.
    pub is_reservation: bool,
    /// `MACHINE`
    pub machine: Option<String>,
    /// `ACCOUNT`
    pub account: Option<String>,
    /// `USER` or `SUBACCOUNT`
    pub user: Option<String>,
    /// `PROCS` or `RESOURCE`
    pub processors: Option<i64>,
    /// `PROCCRATE` in billionths.
    pub rate: Option<i128>,
    /// `RESOURCETYPE`
    pub host_type: Option<String>,
    /// `DURATION` in seconds.
    pub duration: Option<i64>,
    /// `REQUESTID`
    pub request_id: Option<String>,
    /// `QOS`
    pub qos: Option<String>,
    /// `NODES`
    pub nodes: Option<i64>,
    /// `AMOUNT` in trillionths.
    pub amount: Option<i128>,
    /// `REASON`
    pub reason: Option<String>,
    /// Keys that are not in this list.
    pub other: Vec<(String, String)>,
}

impl Record {
    /// Processor-seconds in billionths: processors × rate × duration.
    pub fn processor_seconds(&self) -> Option<i128> {
        let product = i128::from(self.processors?).checked_mul(self.rate?)?;
        product.checked_mul(i128::from(self.duration?))
    }
}

/// Reads a line without its line feed.
pub(super) fn read(line: &str, findings: &mut Findings) -> Line {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let (line, reason) = reason(line);
    let mut words = line.split([' ', '\t']).filter(|word| !word.is_empty());
    let Some(first) = words.next() else {
        return Line::Blank;
    };
    let verb = match first {
        "WITHDRAWAL" => Verb::Withdrawal,
        "RESERVE" => Verb::Reserve,
        "REMOVE" => Verb::Remove,
        "AMSTART" | "BANKEND" | "INITIALJOBLIST" => return Line::Control(first.to_owned()),
        _ => {
            findings.error(format!("{} is not a record of this format", shown(first)));
            return Line::Unreadable;
        }
    };
    let mut record = Record {
        verb: Some(verb),
        reason,
        ..Record::default()
    };
    let mut seen: Vec<&str> = Vec::new();
    let mut kind = None;
    for word in words {
        let Some((key, value)) = word.split_once('=') else {
            findings.error(format!(
                "{} is not of the form KEY=value: a blank in a value?",
                shown(word)
            ));
            continue;
        };
        let name = match key {
            "SUBACCOUNT" => "USER",
            "RESOURCE" => "PROCS",
            key => key,
        };
        if seen.contains(&name) {
            findings.error(format!("{key}: given twice"));
            continue;
        }
        seen.push(name);
        if name == "TYPE" {
            kind = Some(value);
        } else {
            put(&mut record, key, name, value, findings);
        }
    }
    settle(&mut record, verb, kind, findings);
    Line::Record(Box::new(record))
}

/// `REASON="free text with blanks"`, which ends a line of Maui's.
fn reason(line: &str) -> (&str, Option<String>) {
    let Some((before, after)) = line.split_once(" REASON=\"") else {
        return (line, None);
    };
    let text = after.strip_suffix('"').unwrap_or(after);
    (before, Some(text.to_owned()))
}

fn put(record: &mut Record, key: &str, name: &str, value: &str, findings: &mut Findings) {
    let mut bad = |expected: &str| {
        findings.error(format!("{key}: {} is not {expected}", shown(value)));
    };
    let count = || lexical::decimal(value, 0).and_then(|n| i64::try_from(n).ok());
    let whole = |text: &str| !text.contains('.');
    match name {
        "PROCS" => match count().filter(|n| *n > 0 && whole(value)) {
            Some(count) => record.processors = Some(count),
            None => bad("a whole number above zero"),
        },
        "DURATION" => match count().filter(|_| whole(value)) {
            Some(seconds) => record.duration = Some(seconds),
            None => bad("a whole number of seconds"),
        },
        "NODES" => match count().filter(|_| whole(value)) {
            Some(count) => record.nodes = Some(count),
            None => bad("a whole number"),
        },
        "PROCCRATE" => match lexical::decimal(value, 9) {
            Some(rate) => record.rate = Some(rate),
            None => bad("a rate such as 0.93"),
        },
        "AMOUNT" => match lexical::signed(value, 12) {
            Some(amount) => record.amount = Some(amount),
            None => bad("an amount"),
        },
        _ => say(record, key, name, value, findings),
    }
}

fn say(record: &mut Record, key: &str, name: &str, value: &str, findings: &mut Findings) {
    let value = decoded(value);
    let place = match name {
        "MACHINE" => &mut record.machine,
        "ACCOUNT" => &mut record.account,
        "USER" => &mut record.user,
        "RESOURCETYPE" => &mut record.host_type,
        "REQUESTID" => &mut record.request_id,
        "QOS" => &mut record.qos,
        _ => {
            record.other.push((key.to_owned(), value.into_owned()));
            return;
        }
    };
    if name == "MACHINE" && value.ends_with(';') {
        findings.warn(format!("MACHINE: {} ends with ;", shown(&value)));
    }
    // The scheduler's own marks for nothing.
    if !["", "[NONE]", "NONE", "[DEFAULT]"].contains(&value.as_ref()) {
        *place = Some(value.into_owned());
    }
}

/// Checks the fields that the verb requires.
fn settle(record: &mut Record, verb: Verb, kind: Option<&str>, findings: &mut Findings) {
    match kind {
        Some("job") => {}
        Some("res") => record.is_reservation = true,
        Some(other) => findings.error(format!("TYPE: {} is neither job nor res", shown(other))),
        None if verb == Verb::Remove => {}
        None => findings.error("TYPE: missing"),
    }
    if record.request_id.is_none() {
        findings.error("REQUESTID: missing");
    }
    if verb == Verb::Remove {
        return;
    }
    let needed = [
        ("PROCS", record.processors.is_none()),
        ("DURATION", record.duration.is_none()),
        (
            "PROCCRATE",
            record.rate.is_none() && verb == Verb::Withdrawal,
        ),
    ];
    for (key, is_missing) in needed {
        let is_reported = |f: &super::Finding| {
            let key_of = f.text.split(':').next().unwrap_or_default();
            key_of == key || (key == "PROCS" && key_of == "RESOURCE")
        };
        if is_missing && !findings.all.iter().any(is_reported) {
            findings.error(format!("{key}: missing"));
        }
    }
    for (key, is_missing) in [
        ("ACCOUNT", record.account.is_none()),
        ("USER", record.user.is_none()),
    ] {
        if is_missing {
            findings.warn(format!("{key}: none"));
        }
    }
}

/// Decodes `%XX` with upper-case digits to its byte (`usage-records.md` 4.3). Other text is unchanged.
fn decoded(value: &str) -> Cow<'_, str> {
    if !value.contains('%') {
        return Cow::Borrowed(value);
    }
    let digit = |b: u8| match b {
        b'0'..=b'9' => Some(b - b'0'),
        b'A'..=b'F' => Some(b - b'A' + 10),
        _ => None,
    };
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = match (first, after) {
            (b'%', [high, low, ..]) => digit(*high).zip(digit(*low)),
            _ => None,
        };
        if let Some((high, low)) = code {
            bytes.push(high * 16 + low);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> (Line, Vec<String>) {
        let mut findings = Findings::at(1);
        let read = read(line, &mut findings);
        let text = |f: super::super::Finding| {
            format!(
                "{}: {}",
                if f.is_error { "error" } else { "warning" },
                f.text
            )
        };
        (read, findings.all.into_iter().map(text).collect())
    }

    fn record(line: &str) -> (Record, Vec<String>) {
        match one(line) {
            (Line::Record(record), findings) => (*record, findings),
            (other, _) => panic!("{other:?}"),
        }
    }

    const MOAB: &str = "WITHDRAWAL TYPE=job MACHINE=ia ACCOUNT=s USER=jb PROCS=64 PROCCRATE=0.93 \
                        RESOURCETYPE=ia64 DURATION=60 REQUESTID=1632";

    #[test]
    fn both_forms_say_the_same() {
        let maui = "WITHDRAWAL      TYPE=job MACHINE=ia ACCOUNT=s SUBACCOUNT=jb RESOURCE=64 \
                    RESOURCETYPE=ia64 PROCCRATE=0.93 DURATION=60 REQUESTID=1632\r";
        let (a, findings) = record(MOAB);
        assert_eq!((&a, findings), (&record(maui).0, vec![]));
        assert_eq!(a.processor_seconds(), Some(3_571_200_000_000));
        assert_eq!(
            (a.account.as_deref(), a.user.as_deref()),
            (Some("s"), Some("jb"))
        );
    }

    #[test]
    fn what_schedulers_write_for_nothing() {
        let line = "RESERVE  TYPE=job ACCOUNT= SUBACCOUNT=amy RESOURCE=2 RESOURCETYPE= DURATION=300 \
                    QOS=[DEFAULT] REQUESTID=job1 NODES=1 ODD=x";
        let (found, findings) = record(line);
        assert_eq!(findings, ["warning: ACCOUNT: none"]);
        assert_eq!(
            (found.account, found.host_type, found.qos),
            (None, None, None)
        );
        assert_eq!(found.other, [("ODD".to_owned(), "x".to_owned())]);
        let (found, findings) = record("REMOVE ACCOUNT=c REQUESTID=j REASON=\"job went away\"");
        assert_eq!(found.reason.as_deref(), Some("job went away"));
        assert_eq!(findings, [""; 0]);
        for line in ["AMSTART", "BANKEND", "INITIALJOBLIST  a:b"] {
            assert!(matches!(one(line).0, Line::Control(_)), "{line}");
        }
        assert_eq!(one("  ").0, Line::Blank);
    }

    #[test]
    fn mistakes_are_reported() {
        for (from, to, expected) in [
            (
                "USER=jb",
                "USER=jb SUBACCOUNT=jb",
                "error: SUBACCOUNT: given twice",
            ),
            ("PROCS=64 ", "", "error: PROCS: missing"),
            (
                "PROCS=64",
                "PROCS=0",
                "error: PROCS: \"0\" is not a whole number above zero",
            ),
            (
                "PROCCRATE=0.93",
                "PROCCRATE=x",
                "error: PROCCRATE: \"x\" is not a rate such as 0.93",
            ),
            (
                "DURATION=60",
                "DURATION=1.5",
                "error: DURATION: \"1.5\" is not a whole number of seconds",
            ),
            (
                "TYPE=job",
                "TYPE=vm",
                "error: TYPE: \"vm\" is neither job nor res",
            ),
            ("REQUESTID=1632", "REQUESTID=", "error: REQUESTID: missing"),
            (
                "USER=jb",
                "USER=j b",
                "error: \"b\" is not of the form KEY=value: a blank in a value?",
            ),
            (
                "MACHINE=ia",
                "MACHINE=ia;",
                "warning: MACHINE: \"ia;\" ends with ;",
            ),
            (
                "WITHDRAWAL",
                "WITHDRAW",
                "error: \"WITHDRAW\" is not a record of this format",
            ),
        ] {
            let (_, findings) = one(&MOAB.replacen(from, to, 1));
            assert_eq!(findings, [expected], "{to}");
        }
    }

    #[test]
    fn values_are_decoded() {
        for (value, expected) in [
            ("a%20b%3D%22%25", "a b=\"%"),
            ("%", "%"),
            ("%2", "%2"),
            ("%2f", "%2f"),
            ("%%41", "%A"),
            ("%C3%BC", "ü"),
        ] {
            assert_eq!(decoded(value), expected, "{value}");
        }
    }
}
