//! Reports that the daemon makes by itself: `[[scheduled_report]]`, any number of them up to a limit. Whether the program understands the options is asked of it at the start (`schedule`).

use std::collections::HashSet;

use bank_core_figures::rollup::grid::Every;
use serde::{Deserialize, Serialize};

use super::{Config, DeliverWord, is_address};

mod kinds;

pub use kinds::{KINDS, Kind};

/// Definitions at most.
pub const SCHEDULES_MAX: usize = 64;
/// Words of options, and bytes of one of them.
const OPTIONS_MAX: usize = 64;
const OPTION_MAX: usize = 1024;

/// `[[scheduled_report]]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScheduledReport {
    /// Its name, `[a-z0-9_-]{1,32}`: used for its marks and files.
    pub name: String,
    /// The kind of report, a word of [`KINDS`].
    pub report: String,
    /// Options of that command of `bank`.
    pub options: Vec<String>,
    /// The people who get a page each, for reports of one person.
    pub each: Option<EachWord>,
    /// The most of these people, 1 to 100,000.
    pub people_max: usize,
    /// Once for each of these periods.
    pub every: PeriodWord,
    /// The zone of the periods, and of times shown.
    pub tz: String,
    /// The text format.
    pub form: FormWord,
    /// Recipients: names of `[[deliver]]`.
    pub deliver: Vec<String>,
    /// Mail addresses, where it goes to a `sendmail` target; empty: the target's staff.
    pub to: Vec<String>,
    /// Seconds after the end of a period that it is made, 0 to 2,592,000.
    pub delay_s: i64,
    /// Periods that are made up for after a downtime, 1 to 1,000; older ones are passed over.
    pub catch_up: usize,
    /// Seconds that the program may take, 1 to 3,600.
    pub timeout_s: u64,
    /// The longest text, in MiB, 1 to 64.
    pub most_mib: usize,
}

impl Default for ScheduledReport {
    fn default() -> Self {
        Self {
            name: String::new(),
            report: String::new(),
            options: Vec::new(),
            each: None,
            people_max: 5000,
            every: PeriodWord::default(),
            tz: "UTC".to_owned(),
            form: FormWord::default(),
            deliver: Vec::new(),
            to: Vec::new(),
            delay_s: 0,
            catch_up: 12,
            timeout_s: 120,
            most_mib: 16,
        }
    }
}

/// The people who get a page each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EachWord {
    /// Principal investigators of projects, and users of contributors.
    Pi,
    /// Managers of projects.
    Manager,
    /// Members of projects.
    User,
}

impl EachWord {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            EachWord::Pi => "pi",
            EachWord::Manager => "manager",
            EachWord::User => "user",
        }
    }
}

/// How long a period is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PeriodWord {
    /// A day.
    Daily,
    /// From Monday on.
    Weekly,
    /// A month of the calendar.
    #[default]
    Monthly,
    /// Three of them, from January, April, July or October on.
    Quarterly,
    /// Six of them.
    SemiAnnually,
    /// A year.
    Annually,
}

/// Text format of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FormWord {
    /// One page with pictures.
    #[default]
    Html,
    /// Comma-separated values.
    Csv,
    /// JSON.
    Json,
    /// A table for people.
    Text,
}

impl PeriodWord {
    /// The periods of the calendar.
    pub fn every(self) -> Every {
        match self {
            PeriodWord::Daily => Every::Day,
            PeriodWord::Weekly => Every::Week,
            PeriodWord::Monthly => Every::Month,
            PeriodWord::Quarterly => Every::Quarter,
            PeriodWord::SemiAnnually => Every::HalfYear,
            PeriodWord::Annually => Every::Year,
        }
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            PeriodWord::Daily => "daily",
            PeriodWord::Weekly => "weekly",
            PeriodWord::Monthly => "monthly",
            PeriodWord::Quarterly => "quarterly",
            PeriodWord::SemiAnnually => "semi-annually",
            PeriodWord::Annually => "annually",
        }
    }
}

impl FormWord {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            FormWord::Html => "html",
            FormWord::Csv => "csv",
            FormWord::Json => "json",
            FormWord::Text => "text",
        }
    }

    /// The word of `bank -O`.
    pub fn option(self) -> &'static str {
        match self {
            FormWord::Text => "table",
            other => other.word(),
        }
    }

    /// The extension of its files.
    pub fn ending(self) -> &'static str {
        match self {
            FormWord::Text => "txt",
            other => other.word(),
        }
    }
}

impl ScheduledReport {
    /// Its kind; none if the settings name an unknown one.
    pub fn kind(&self) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.word == self.report)
    }

    fn check(&self, config: &Config) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
        if !(1..=32).contains(&self.name.len()) || !self.name.chars().all(plain) {
            return Err(format!(
                "name: 1 to 32 of a-z, 0-9, _ and -, not {:?}",
                self.name
            ));
        }
        let Some(kind) = self.kind() else {
            let words: Vec<&str> = KINDS.iter().map(|kind| kind.word).collect();
            let words = words.join(", ");
            return Err(format!("report: {:?} is none of {words}", self.report));
        };
        if !crate::zones::is_known(&self.tz) {
            let tz = &self.tz;
            return Err(format!(
                "tz: there is no zone {tz:?}; zones are such as Europe/Berlin, or UTC"
            ));
        }
        if self.form == FormWord::Html && !kind.page && !self.deliver.is_empty() {
            let word = kind.word;
            return Err(format!("form: {word} makes no page: csv, json or text"));
        }
        let whole = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        let seconds = i64::try_from(self.timeout_s).unwrap_or(i64::MAX);
        for (key, value, least, most) in [
            ("delay_s", self.delay_s, 0, 2_592_000),
            ("catch_up", whole(self.catch_up), 1, 1000),
            ("timeout_s", seconds, 1, 3600),
            ("most_mib", whole(self.most_mib), 1, 64),
            ("people_max", whole(self.people_max), 1, 100_000),
        ] {
            super::in_range(key, value, least, most)?;
        }
        self.check_options()?;
        self.check_each(config, kind)?;
        self.check_apel()?;
        self.check_targets(config, kind)
    }

    /// A report of one person needs the people; other reports have none.
    fn check_each(&self, config: &Config, kind: &Kind) -> Result<(), String> {
        let word = kind.word;
        match (kind.personal, self.each) {
            (true, None) => {
                return Err(format!(
                    "each: missing: {word} is a page for each pi, manager or user"
                ));
            }
            (false, Some(_)) => {
                let words = KINDS.iter().filter(|kind| kind.personal);
                let words: Vec<&str> = words.map(|kind| kind.word).collect();
                let words = words.join(" and ");
                return Err(format!(
                    "each: {word} covers the whole bank; only {words} have pages for single people"
                ));
            }
            (false, None) => return Ok(()),
            (true, Some(_)) => {}
        }
        let mut targets = config.deliver.iter();
        let by_mail = targets.any(|target| {
            target.by == DeliverWord::Sendmail && self.deliver.contains(&target.name)
        });
        if by_mail && self.form != FormWord::Html {
            return Err("form: a page by mail has a text and an HTML part: html".to_owned());
        }
        Ok(())
    }

    /// Options that the daemon sets itself are rejected.
    fn check_options(&self) -> Result<(), String> {
        const OURS: [&str; 16] = [
            "--from",
            "--to",
            "--tz",
            "--month",
            "--quarter",
            "--year",
            "--format",
            "--json",
            "--csv",
            "--parsable",
            "--parsable2",
            "--server",
            "--config",
            "--chart",
            "--key-file",
            "--output",
        ];
        if self.options.len() > OPTIONS_MAX {
            return Err(format!("options: more than {OPTIONS_MAX} words"));
        }
        for word in &self.options {
            if word.len() > OPTION_MAX || word.contains(char::is_control) {
                return Err(format!(
                    "options: words of at most {OPTION_MAX} bytes without control characters"
                ));
            }
            let name = word.split('=').next().unwrap_or_default();
            if OURS.contains(&name)
                || self.each.is_some() && ["--user", "-u", "--scheduled"].contains(&name)
                || ["-O", "-o", "-p", "-P"]
                    .iter()
                    .any(|own| word.starts_with(own))
            {
                return Err(format!(
                    "options: {word}: periods, zone, form and place are settings of their own"
                ));
            }
        }
        Ok(())
    }

    /// Messages go into a folder; single jobs once each, and sums of whole months.
    fn check_apel(&self) -> Result<(), String> {
        let needed: &[&str] = match self.report.as_str() {
            "export-apel" => &["--spool", "--state"],
            "export-apel-summary" => &["--spool"],
            _ => return Ok(()),
        };
        for option in needed {
            let given = |word: &String| word.split('=').next() == Some(option);
            if !self.options.iter().any(given) {
                let needed = needed.join(" and ");
                return Err(format!("options: {} needs {needed}", self.report));
            }
        }
        let whole = self.every == PeriodWord::Monthly && self.tz == "UTC";
        if self.report == "export-apel-summary" && !whole {
            return Err("every: sums for APEL are of whole months of UTC: monthly".to_owned());
        }
        Ok(())
    }

    fn check_targets(&self, config: &Config, kind: &Kind) -> Result<(), String> {
        if self.deliver.is_empty() && !kind.acts {
            return Err("deliver: empty: the report has no recipient".to_owned());
        }
        if let Some(bad) = self.to.iter().find(|address| !is_address(address)) {
            return Err(format!("to: {bad:?} is not a mail address"));
        }
        if self.to.len() > 64 {
            return Err("to: at most 64 addresses".to_owned());
        }
        let mut names = HashSet::new();
        for name in &self.deliver {
            let Some(target) = config.deliver.iter().find(|one| one.name == *name) else {
                return Err(format!("deliver: there is no [[deliver]] of name {name:?}"));
            };
            let by_mail = target.by == DeliverWord::Sendmail;
            if by_mail && self.to.is_empty() && target.staff.is_empty() {
                return Err(format!(
                    "to: empty, and {name} has no staff: the report has no recipient"
                ));
            }
            if !names.insert(name) {
                return Err(format!("deliver: {name:?} is listed twice"));
            }
        }
        Ok(())
    }
}

impl Config {
    /// The definitions: no two of one name.
    pub(super) fn check_schedules(&self) -> Result<(), String> {
        self.report.check()?;
        if self.scheduled_report.len() > SCHEDULES_MAX {
            return Err(format!(
                "scheduled_report: {} of them, {SCHEDULES_MAX} at most",
                self.scheduled_report.len()
            ));
        }
        let mut names = HashSet::new();
        for (number, report) in (1..).zip(&self.scheduled_report) {
            let checked = report.check(self).and_then(|()| {
                let is_new = names.insert(&report.name);
                let twice = || Err("name: two of this name".to_owned());
                if is_new { Ok(()) } else { twice() }
            });
            checked.map_err(|why| of_number(number, &report.name, &why))?;
        }
        if !self.scheduled_report.is_empty() && !self.http.socket {
            return Err(of_number(
                1,
                "",
                "needs http.socket = true: reports are requested over the socket",
            ));
        }
        Ok(())
    }
}

/// An error of a definition, in the form that [`crate::located`] finds.
pub fn of_number(number: usize, name: &str, why: &str) -> String {
    let name = if name.is_empty() {
        ""
    } else {
        &format!(" ({name})")
    };
    format!("scheduled_report {number}{name}: {why}")
}

#[cfg(test)]
mod tests;
