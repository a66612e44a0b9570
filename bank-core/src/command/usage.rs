//! Finished usage that comes without a scheduler's decision.

use super::Request;
use crate::amount::Amount;
use crate::decimal::{Decimal, push_number};
use crate::policy::{Figures, Finished, Share};
use crate::time::Timestamp;
use crate::usage::kept;
use std::borrow::Cow;
use std::fmt::{Display, Write as _};

/// Between two facts of the canonical text; no record holds it.
const BETWEEN: char = '\u{1e}';

/// One finished use (collectors.md 0.1). Its identity is source, id and start: the same record
/// twice changes nothing, other figures replace the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageReport {
    /// The collector's name, such as `slurm:colony`: 1 to 256 bytes.
    pub source: String,
    /// The requested use. Its facts have times, processors, nodes, state and exit code; their wall duration
    /// is the requested one.
    pub request: Request,
    /// Further figures of the use.
    pub figures: Figures,
    /// The account and the user as the source names them, where a mapping rule made others of them;
    /// none where the request has them as they came.
    pub named: AsNamed,
    /// The principal investigator, from a mapping; empty for none. Not part of the comparison of records.
    pub pi: String,
    /// The first host of the use, if its source reports one. Not part of the comparison of records.
    pub host: Option<String>,
    /// Further statements of its source about a job, with the attributes that reports and exports need, as
    /// [`crate::usage::kept::kept`] writes them. Of these, only the reservation is compared.
    pub more: Option<String>,
    /// Flags of its reader, such as `repaired sampled`.
    pub flags: String,
    /// Usage of an unknown project or user: it is priced, and no money moves, in every mode (decisions.md
    /// 30). Not a fact of the use itself.
    pub track: bool,
    /// Whether it is the present record of a source whose records change in place, so that the last one counts, also if
    /// it equals one that was replaced (AUDITOR's `PUT`). A line of a file may only come again.
    pub is_present: bool,
    /// The amount that another bank charged for it, for a use from before this bank opened (decision 0170): it
    /// counts with this amount, no money moves in any mode, and it is no other source's use.
    pub charged_before: Option<Amount>,
}

/// The flag of a use that samples show.
pub const SAMPLED: &str = "sampled";
/// The flag of a use whose source has no number of its cores.
const CORES_UNKNOWN: &str = "cores-unknown";
/// The flag of a use of which its source states that it had no cores.
pub const NO_CORES: &str = "no-cores";

/// The word for [`UsageReport::charged_before`] in place of a charge policy.
pub const HISTORY: &str = "history";

/// Names as a source has them (collectors.md 0.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AsNamed {
    /// The name that selects the project.
    pub account: Option<String>,
    /// The user.
    pub user: Option<String>,
}

/// The identity of a finished use: it distinguishes one from another (collectors.md 0.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The source that reports it.
    pub source: String,
    /// The id as the source prints it.
    pub id: String,
    /// When it started; 0 where it never did.
    pub start: Timestamp,
    /// Its whole content now, as [`UsageReport::canonical`] writes it.
    pub record: String,
    /// The reservation that it names; empty for none.
    pub reservation: String,
    /// As of the report: it repeats no record that was replaced.
    pub is_present: bool,
}

impl Identity {
    /// Whether a stored record, of which `more` was kept, names the same reservation. A record that names none
    /// leaves a job in its reservation, so it differs from no other.
    pub fn is_in_reservation_of(&self, more: Option<&str>) -> bool {
        self.reservation.is_empty() || self.reservation == reservation(more)
    }
}

/// The reservation in kept statements about a job; empty for none.
fn reservation(more: Option<&str>) -> &str {
    let named = more.and_then(|more| kept::value(more, kept::RESERVATION));
    named.unwrap_or_default()
}

impl UsageReport {
    /// Which incarnation of its id it is: its start, 0 where it never started.
    pub fn incarnation(&self) -> Timestamp {
        self.request.facts.start.unwrap_or(Timestamp(0))
    }

    /// The input of a charge policy.
    pub fn finished(&self) -> Finished<'_> {
        let facts = &self.request.facts;
        Finished {
            start: facts.start,
            end: facts.end,
            requested: facts.wall,
            processors: facts.usage.processors,
            may_lack_processors: self.is_of_samples() || self.has(NO_CORES),
            nodes: facts.usage.nodes,
            exit_code: facts.exit_code,
            figures: Cow::Borrowed(&self.figures),
        }
    }

    /// Whether samples are all that is known of it, so that it has no resource that they do not state.
    pub fn is_of_samples(&self) -> bool {
        self.has(SAMPLED) || self.has(CORES_UNKNOWN)
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.split(' ').any(|own| own == flag)
    }

    /// The account as the source names it; empty where it names none.
    pub fn account(&self) -> &str {
        let own = self.request.whose.project.as_deref();
        self.named.account.as_deref().or(own).unwrap_or_default()
    }

    /// The user as the source names them; empty where it names none.
    pub fn login(&self) -> &str {
        let own = self.request.whose.user.as_deref();
        self.named.user.as_deref().or(own).unwrap_or_default()
    }

    /// Both names as the source has them.
    pub fn as_named(&self) -> AsNamed {
        AsNamed {
            account: Some(self.account().to_owned()),
            user: Some(self.login().to_owned()),
        }
    }

    /// Further statements of its source, beyond the input of the rules, as its instance keeps them. Records
    /// and exports of a charged use contain them (usage-records.md 6.3).
    pub fn stated(&self) -> Vec<(String, String)> {
        let facts = &self.request.facts;
        let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let mut stated = vec![pair((kept::SOURCE, &self.source))];
        let mut add = |name: &str, value: String| stated.push((name.to_owned(), value));
        if !self.pi.is_empty() {
            add(kept::PI, self.pi.clone());
        }
        if let Some(bytes) = facts.usage.memory_mb.and_then(bytes) {
            add(kept::MEMORY_TOTAL, bytes.to_string());
        }
        if let Some(cpu) = self.figures.cpu_s {
            add(kept::CPU_TOTAL, cpu.to_string());
        }
        if let Some(wall) = self.figures.wall_us {
            add(
                kept::WALL,
                Decimal::from_billionths(i128::from(wall).saturating_mul(1000)).to_string(),
            );
        }
        let of_job = self.more.as_deref().map(kept::of_job);
        stated.extend(of_job.into_iter().flatten().map(pair));
        stated
    }

    /// Its identity.
    pub fn identity(&self) -> Identity {
        Identity {
            source: self.source.clone(),
            id: self.request.object_id.clone(),
            start: self.incarnation(),
            record: self.canonical(),
            reservation: self.reservation().to_owned(),
            is_present: self.is_present,
        }
    }

    /// The reservation that it names; empty for none.
    pub fn reservation(&self) -> &str {
        reservation(self.more.as_deref())
    }

    /// Whether it repeats an earlier report of its use: equal texts, and the same reservation if it names one.
    pub fn repeats(&self, earlier: &UsageReport) -> bool {
        let own = self.reservation();
        let is_there = own.is_empty() || own == earlier.reservation();
        is_there && self.canonical() == earlier.canonical()
    }

    /// All statements of its source, as one text: two records are equal if their texts are, and if the later
    /// one names no other reservation ([`UsageReport::repeats`]). The name is not in the text, whose digests
    /// are stored. Names from mapping rules are not included: a change of a rule does not make another record.
    pub fn canonical(&self) -> String {
        let (request, figures) = (&self.request, &self.figures);
        let facts = &request.facts;
        let mut text = String::with_capacity(512);
        say(&mut text, "machine", &request.whose.machine);
        say(&mut text, "type", request.object_type.word());
        say(&mut text, "project", self.account());
        say(&mut text, "user", self.login());
        say(&mut text, "group", &facts.group);
        count(&mut text, "submit", facts.submit.map(|at| at.0));
        count(&mut text, "start", facts.start.map(|at| at.0));
        count(&mut text, "end", facts.end.map(|at| at.0));
        count(&mut text, "requested", facts.wall.map(|s| s.0));
        measure(&mut text, "processors", facts.usage.processors);
        say(&mut text, "usage", &crate::usage::text::write(&facts.usage));
        count(&mut text, "exit", facts.exit_code);
        say(&mut text, "state", figures.ended.word());
        count(&mut text, "wall", figures.wall_us);
        measure(&mut text, "cpu", figures.cpu_s);
        measure(&mut text, "blocked", figures.blocked_processors);
        count(
            &mut text,
            "charged_before",
            self.charged_before.map(|amount| amount.0),
        );
        add(&mut text, "dedicated", figures.dedicated.then_some("yes"));
        add(&mut text, "backwards", figures.backwards.then_some("yes"));
        if let Some(equivalents) = &figures.equivalents {
            add(&mut text, "partition", Some(share(&equivalents.partition)));
            for (tasks, each) in &equivalents.tasks {
                add(&mut text, "tasks", Some(format!("{tasks}:{}", share(each))));
            }
        }
        text
    }
}

/// Bytes in a number of megabytes. Its nine places were cut, so the nearest whole number is the stated one.
fn bytes(megabytes: Decimal) -> Option<i64> {
    let nearest = (megabytes.billionths().checked_mul(1 << 20)?).checked_add(500_000_000)?;
    i64::try_from(nearest.checked_div(1_000_000_000)?).ok()
}

/// A fact of the canonical text, where there is one.
fn add(text: &mut String, name: &str, value: Option<impl Display>) {
    if let Some(value) = value {
        // Writing to a string cannot fail.
        let _ = write!(text, "{name}={value}{BETWEEN}");
    }
}

/// A whole number of the canonical text, where there is one.
fn count(text: &mut String, name: &str, value: Option<i64>) {
    if let Some(value) = value {
        text.push_str(name);
        text.push('=');
        push_number(text, value);
        text.push(BETWEEN);
    }
}

/// A decimal of the canonical text, where there is one.
fn measure(text: &mut String, name: &str, value: Option<Decimal>) {
    if let Some(value) = value {
        text.push_str(name);
        text.push('=');
        value.push_to(text);
        text.push(BETWEEN);
    }
}

/// A text of the canonical text, unless it is empty.
fn say(text: &mut String, name: &str, value: &str) {
    if !value.is_empty() {
        text.push_str(name);
        text.push('=');
        text.push_str(value);
        text.push(BETWEEN);
    }
}

fn share(share: &Share) -> String {
    let Share {
        processors,
        memory_mb,
        disk_mb,
        swap_mb,
    } = share;
    format!("{processors},{memory_mb},{disk_mb},{swap_mb}")
}
