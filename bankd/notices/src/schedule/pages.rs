//! Reports with a page for each person (decision note 0173).
//!
//! Each page is a run of `bank` in the view of its person, kept and sent like a report of its own. The page
//! of a person who fails is tried again, and the other pages do not wait. When every person of the period has
//! a row, the summary for the staff completes the period.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::time::Duration;

use bank_api::text::format_rfc3339;
use bank_core::time::Seconds;
use bankd_config::{EachWord, FormWord, ScheduledReport};
use bankd_ledger::hooks;
use bankd_store::{MadeReport, ReportRun, RunState, ScheduleChange, SpanRow, pages_of};

use super::child::{Child, Trouble};
use super::people::{self, Person};
use super::{Desk, short, words};

/// Pages of one definition before other reports have their turn.
const BATCH: usize = 20;
/// Attempts before a page counts as failed, if others could be made.
const ATTEMPTS: u32 = 5;
/// Between the text and the form of a page in the output of `bank`: a form feed.
const SEPARATOR: u8 = 0x0c;

/// The pages of a definition for a period that are made together.
#[derive(Clone, Copy)]
struct Set<'a> {
    report: &'a ScheduledReport,
    period: &'a SpanRow,
    turn: i64,
    /// The request; none for the timer.
    wanted: Option<&'a ReportRun>,
}

/// The result of a page.
enum Page {
    /// It is kept.
    Kept,
    /// It failed and is tried again later.
    Later,
    /// The daemon stops.
    Stopped,
}

impl Desk {
    /// Makes pages that are due, and the summary behind the last one; false if none could be made now.
    pub(super) fn make_pages(
        &mut self,
        report: &ScheduledReport,
        each: EachWord,
        period: &SpanRow,
        wanted: Option<&ReportRun>,
    ) -> anyhow::Result<bool> {
        let set = Set {
            report,
            period,
            turn: wanted.map_or(0, |run| run.turn),
            wanted,
        };
        let people = people::of(&self.writer.directory(), each, self.writer.now());
        if people.len() > report.people_max {
            let (count, most) = (people.len(), report.people_max);
            let why = format!("{count} people; people_max is {most}");
            self.failed(report, &period.name, &why, wanted.map(|run| run.id))?;
            return Ok(true);
        }
        let done = pages_of(&self.connection, &report.name, &period.name, set.turn)?;
        let has_made = done.iter().any(|run| run.state == RunState::Made);
        let done: HashSet<String> = done.into_iter().map(|run| run.person).collect();
        let (mut kept, mut tried, mut is_complete) = (0, 0, true);
        for person in people.iter().filter(|(name, _)| !done.contains(name)) {
            if tried == BATCH || self.is_over() {
                return Ok(kept > 0);
            }
            if !self.is_time(&key(&set, &person.0)) {
                is_complete = false;
                continue;
            }
            tried += 1;
            match self.make_page(&set, person, has_made || kept > 0)? {
                Page::Kept => kept += 1,
                Page::Later => is_complete = false,
                Page::Stopped => return Ok(false),
            }
        }
        if is_complete {
            self.summarize(&set, &people)?;
        }
        Ok(is_complete || kept > 0)
    }

    /// Makes the page that somebody asked for.
    pub(super) fn make_wanted_page(
        &mut self,
        report: &ScheduledReport,
        each: EachWord,
        wanted: &ReportRun,
    ) -> anyhow::Result<bool> {
        let set = Set {
            report,
            period: &wanted.period,
            turn: wanted.turn,
            wanted: Some(wanted),
        };
        let people = people::of(&self.writer.directory(), each, self.writer.now());
        let Some(person) = people.into_iter().find(|(name, _)| *name == wanted.person) else {
            let why = format!("{} is no longer a {}", wanted.person, each.word());
            self.failed(report, &wanted.period.name, &why, Some(wanted.id))?;
            return Ok(true);
        };
        let page = self.make_page(&set, &person, false)?;
        Ok(!matches!(page, Page::Stopped))
    }

    /// Makes the page of a person, unless nobody could get it.
    fn make_page(&mut self, set: &Set<'_>, person: &Person, others: bool) -> anyhow::Result<Page> {
        let (name, address) = person;
        let report = set.report;
        let is_mail = |target: &&String| self.mailers.contains(*target);
        let has_mail = report.deliver.iter().any(|target| is_mail(&target));
        let reachable = report.deliver.iter();
        let reachable = reachable.filter(|target| address.is_ok() || !is_mail(target));
        let targets: Vec<String> = reachable.cloned().collect();
        let message = match address {
            Err(why) if has_mail => *why,
            _ => "",
        };
        let page = set.page(name);
        if targets.is_empty() {
            return self.keep_failed(set, page, message);
        }
        let child = Child {
            program: &self.program,
            words: &words(report, set.period, &self.server, Some(name)),
            zone: &report.tz,
            limit: Duration::from_secs(report.timeout_s),
            most: report.most_mib.saturating_mul(1 << 20),
        };
        let text = match child.run(&self.stop) {
            Ok(text) => text,
            Err(Trouble::Stopped) => return Ok(Page::Stopped),
            Err(Trouble::Failed(why)) => return self.page_failed(set, page, &why, others),
        };
        hooks::point("report_made");
        let (plain, body) = parted(report.form, text);
        // There is nothing to report: the person gets no page, and the period is done.
        let is_empty = body.is_empty();
        let kept = MadeReport {
            recipients: address.clone().unwrap_or_default(),
            message: message.to_owned(),
            body: (!is_empty).then_some(body),
            plain: plain.filter(|_| !is_empty),
            targets: if is_empty { Vec::new() } else { targets },
            ..page
        };
        self.writer
            .keep_schedule(ScheduleChange::Made(Box::new(kept)))?;
        hooks::point("report_kept");
        self.again.remove(&key(set, name));
        Ok(Page::Kept)
    }

    /// A page fails for now. After several attempts it has failed, unless no page at all could be made: then
    /// the reason is not its person.
    fn page_failed(
        &mut self,
        set: &Set<'_>,
        page: MadeReport,
        why: &str,
        others: bool,
    ) -> anyhow::Result<Page> {
        let (name, person) = (&set.report.name, page.person.clone());
        let (failures, _) = self.put_off(&key(set, &person));
        let period = &set.period.name;
        let line = short(&format!("{period} {person}: {why}"));
        tracing::error!(report = %name, %period, %person, "the page of a person failed: {why}");
        let is_own = set.wanted.is_some_and(|run| !run.person.is_empty());
        if !is_own && others && failures >= ATTEMPTS {
            return self.keep_failed(set, page, &format!("failed: {why}"));
        }
        if is_own {
            self.again.remove(&key(set, &person));
        }
        let wanted = set.wanted.filter(|_| is_own).map(|run| run.id);
        let change = ScheduleChange::Failed(name.clone(), line, wanted);
        self.writer.keep_schedule(change)?;
        Ok(Page::Later)
    }

    /// Keeps that a person gets no page.
    fn keep_failed(&mut self, set: &Set<'_>, page: MadeReport, why: &str) -> anyhow::Result<Page> {
        self.again.remove(&key(set, &page.person));
        if let Some(id) = page.wanted {
            let why = short(&format!("{} {}: {why}", set.period.name, page.person));
            let name = set.report.name.clone();
            self.writer
                .keep_schedule(ScheduleChange::Failed(name, why, Some(id)))?;
            return Ok(Page::Kept);
        }
        let failed = MadeReport {
            failed: true,
            message: short(why),
            ..page
        };
        self.writer
            .keep_schedule(ScheduleChange::Made(Box::new(failed)))?;
        Ok(Page::Kept)
    }

    /// The summary for the staff, with the people who did not get their page.
    fn summarize(&self, set: &Set<'_>, people: &[Person]) -> anyhow::Result<()> {
        let Set { report, period, .. } = set;
        let pages = pages_of(&self.connection, &report.name, &period.name, set.turn)?;
        let text = summary(set, &pages, people).into_bytes();
        let problems = pages.iter().filter(|run| !run.message.is_empty()).count();
        let message = match problems {
            0 => format!("{} pages", pages.len()),
            some => format!("{} pages, {some} not delivered", pages.len()),
        };
        let made = MadeReport {
            file: format!("{}-{}.txt", report.name, period.name),
            wanted: set.wanted.map(|run| run.id),
            form: FormWord::Text.word().to_owned(),
            recipients: report.to.join(","),
            message: message.clone(),
            plain: Some(text.clone()),
            body: Some(text),
            targets: report.deliver.clone(),
            ..set.page("")
        };
        self.writer
            .keep_schedule(ScheduleChange::Made(Box::new(made)))?;
        let (name, period) = (&report.name, &period.name);
        tracing::info!(report = %name, %period, "pages of a scheduled report created: {message}");
        Ok(())
    }

    /// Whether a failed report or page may be tried again.
    pub(super) fn is_time(&self, key: &str) -> bool {
        let now = self.writer.now();
        self.again.get(key).is_none_or(|(_, at)| now >= *at)
    }

    /// Counts a failure, and doubles the wait; returns both.
    pub(super) fn put_off(&mut self, key: &str) -> (u32, Seconds) {
        let failures = self.again.get(key).map_or(0, |(failures, _)| *failures);
        let wait = super::RETRY_S.saturating_mul(1 << failures.min(10));
        let wait = Seconds(wait.min(super::RETRY_MAX_S));
        let failures = failures.saturating_add(1);
        let at = self.writer.now().plus(wait);
        self.again.insert(key.to_owned(), (failures, at));
        (failures, wait)
    }
}

impl Set<'_> {
    /// A page without its text.
    fn page(&self, person: &str) -> MadeReport {
        let (name, form) = (&self.report.name, self.report.form);
        let own = self.wanted.filter(|run| !run.person.is_empty());
        let requested_by = self.wanted.map(|run| run.requested_by.clone());
        MadeReport {
            schedule: name.clone(),
            period: self.period.clone(),
            turn: self.turn,
            person: person.to_owned(),
            requested_by: requested_by.unwrap_or_default(),
            wanted: own.map(|run| run.id),
            file: format!("{name}-{}.{}", self.period.name, form.ending()),
            form: form.word().to_owned(),
            ..MadeReport::default()
        }
    }
}

/// The key of a page that failed: no name of a definition has a blank.
fn key(set: &Set<'_>, person: &str) -> String {
    let (name, period) = (&set.report.name, &set.period.name);
    format!("{name} {period} {} {person}", set.turn)
}

/// The text of a mail, and the report itself: a page has both.
fn parted(form: FormWord, mut text: Vec<u8>) -> (Option<Vec<u8>>, Vec<u8>) {
    let at = text.iter().position(|byte| *byte == SEPARATOR);
    let Some(at) = at.filter(|_| form == FormWord::Html) else {
        return (None, text);
    };
    let body = text.split_off(at.saturating_add(1));
    text.truncate(at);
    (Some(text), body)
}

/// The text of a summary.
fn summary(set: &Set<'_>, pages: &[ReportRun], people: &[Person]) -> String {
    let (name, period) = (&set.report.name, set.period);
    let (from, until) = (format_rfc3339(period.from), format_rfc3339(period.until));
    let mut text = format!(
        "{name}, {} (from {from} to {until}, exclusive)\n\n",
        period.name
    );
    let (problems, well): (Vec<_>, Vec<_>) = pages.iter().partition(|run| !run.message.is_empty());
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "People: {}. Not delivered: {}.",
        pages.len(),
        problems.len()
    );
    for run in &problems {
        let _ = writeln!(text, "  {}: {}", run.person, run.message);
    }
    if !problems.is_empty() {
        let _ = writeln!(
            text,
            "\nTo send a page later, run: bank report run {name} --period {} --for USER\n\
             `bank user set USER --email ADDRESS` sets a mail address.",
            period.name
        );
    }
    let _ = writeln!(text, "\nDelivered: {}.", well.len());
    for run in &well {
        let known = people.iter().find(|(name, _)| *name == run.person);
        let address = known.and_then(|(_, address)| address.as_deref().ok());
        let state = match (run.size, address) {
            (0, _) => "nothing to report".to_owned(),
            (_, Some(address)) => address.to_owned(),
            (_, None) => "created".to_owned(),
        };
        let _ = writeln!(text, "  {}: {state}", run.person);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_a_text_and_a_form() {
        let both = || b"text\x0c<p>\x0c</p>".to_vec();
        let text = |text: &str| text.as_bytes().to_vec();
        assert_eq!(
            parted(FormWord::Html, both()),
            (Some(text("text")), text("<p>\x0c</p>"))
        );
        assert_eq!(parted(FormWord::Html, text("")), (None, text("")));
        assert_eq!(parted(FormWord::Json, both()), (None, both()));
    }

    #[test]
    fn a_summary_lists_those_who_got_nothing() {
        let report = ScheduledReport {
            name: "pis".to_owned(),
            each: Some(EachWord::Pi),
            ..ScheduledReport::default()
        };
        let period = SpanRow {
            name: "2026-10".to_owned(),
            from: 0,
            until: 1_000_000,
        };
        let set = Set {
            report: &report,
            period: &period,
            turn: 0,
            wanted: None,
        };
        let run = |person: &str, message: &str, size| ReportRun {
            person: person.to_owned(),
            message: message.to_owned(),
            size,
            ..ReportRun::default()
        };
        let pages = [
            run("amy", "", 9),
            run("bob", "no mail address", 9),
            run("carol", "", 0),
        ];
        let people = [("amy".to_owned(), Ok("amy@x".to_owned()))];
        assert_eq!(
            summary(&set, &pages, &people),
            "pis, 2026-10 (from 1970-01-01T00:00:00Z to 1970-01-01T00:00:01Z, exclusive)\n\n\
             People: 3. Not delivered: 1.\n  bob: no mail address\n\n\
             To send a page later, run: bank report run pis --period 2026-10 --for USER\n\
             `bank user set USER --email ADDRESS` sets a mail address.\n\n\
             Delivered: 2.\n  amy: amy@x\n  carol: nothing to report\n"
        );
    }
}
