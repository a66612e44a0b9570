//! What in a scheduler's configuration defeats the bank (`nami.md` 2.1, 4; `gold-wire.md` 9).
//!
//! Start at [`check`]: the files become blocks in `read`, a configuration in `config`; the rules
//! stand in `native` (programs for each event), `gold` (the Gold protocol, from Moab or Maui) and
//! `common` (both). A rule looks at text and facts and answers with findings; it opens no file but
//! to see whether a program is there, and changes none.

mod common;
mod config;
mod failure;
mod gold;
mod names;
mod native;
mod read;
#[cfg(test)]
mod tests;

use bank_api::v1::{Finding, Findings};

pub(crate) use self::read::File;
use self::{config::Config, read::At};

/// Which program reads a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheduler {
    Moab,
    Maui,
}

impl Scheduler {
    fn name(self) -> &'static str {
        match self {
            Self::Moab => "Moab",
            Self::Maui => "Maui",
        }
    }
}

/// What the scripts' settings say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scripts {
    /// Seconds for a whole call.
    pub(crate) timeout_s: u64,
    /// Whether quotes print a TID.
    pub(crate) print_tid: bool,
    /// Whether a job may start while the bank is out.
    pub(crate) fail_open: bool,
}

/// What the bank says of the scheduler's machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Machine {
    pub(crate) name: String,
    pub(crate) mode: String,
    /// Seconds between two charges.
    pub(crate) flush_interval_s: i64,
}

/// The names that the bank knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Names {
    pub(crate) projects: Vec<String>,
    /// Each with its own fallback.
    pub(crate) accounts: Vec<(String, Option<String>)>,
}

/// What a configuration is compared with; none where it is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) scripts: Option<Scripts>,
    pub(crate) machine: Option<Machine>,
    pub(crate) names: Option<Names>,
    /// `nami.tid_variable` of the daemon.
    pub(crate) tid_variable: String,
    /// What `$HOME` in a URL means.
    pub(crate) home: Option<String>,
}

/// What the rules have found so far.
#[derive(Debug, Default)]
struct Report {
    found: Findings,
}

impl Report {
    fn add(&mut self, code: &str, at: At<'_>, what: impl Into<String>, change: impl Into<String>) {
        self.found.findings.push(Finding {
            code: code.to_owned(),
            file: at.file.name.clone(),
            line: u64::try_from(at.line).unwrap_or(u64::MAX),
            what: what.into(),
            change: change.into(),
        });
    }

    fn note(&mut self, text: impl Into<String>) {
        self.found.notes.push(text.into());
    }
}

/// Seconds of a value of FLUSHINTERVAL: `[[[DD:]HH:]MM:]SS`, or `minute`, `hour`, `day` in any case.
pub(crate) fn flush_interval(text: &str) -> Option<i64> {
    common::seconds(text)
}

/// Checks the files of a Moab and those of a Maui, each set as one configuration.
pub(crate) fn check(moab: &[File], maui: &[File], facts: &Facts) -> Findings {
    let mut report = Report::default();
    for (scheduler, files) in [(Scheduler::Moab, moab), (Scheduler::Maui, maui)] {
        if !files.is_empty() {
            one(&Config::read(scheduler, files), facts, &mut report);
        }
    }
    let order = |name: &String| {
        let all = moab.iter().chain(maui);
        all.map(|file| &file.name).position(|known| known == name)
    };
    report
        .found
        .findings
        .sort_by_key(|finding| (order(&finding.file), finding.line));
    report.found
}

fn one(config: &Config<'_>, facts: &Facts, report: &mut Report) {
    common::check(config, facts, report);
    if config.managers.is_empty() {
        return;
    }
    names::check(config, report);
    let (native, gold) = (config.is_native(), config.is_gold());
    if native {
        native::check(config, facts, report);
    }
    if gold {
        gold::check(config, facts, report);
    }
    if native || gold {
        failure::check(config, report);
    }
}
