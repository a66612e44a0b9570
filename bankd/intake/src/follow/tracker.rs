//! Position and next step of the follower of one file.
//!
//! [`Tracker::look`] performs one step at the given time: it finds the file, reads one window of
//! it, waits, or moves to the next file. Records and position are passed together, so that both are
//! stored or neither. In doubt it reads again: a repeated record has an identity and changes
//! nothing, an unread one is lost.

mod siblings;

use std::io;
use std::path::PathBuf;

use bankd_config::follow::names::Names;
use bankd_ingest::{Format, Found, Options, Record};
use chrono::NaiveDate;

use super::input::{Input, look_at};
use super::locate;
use super::open::{Mark, Open};
use super::shelf::{Known, Shelf, Why};
use super::window::{BYTES_MAX, Context, Cut, Ending, How};

/// Bytes at the beginning of a file in which a reader's context is looked for.
const HEAD_MAX: usize = 256 << 10;

/// Whoever takes records in.
pub(super) trait Taker {
    /// Stores records of a file with the new position, both or neither, and the state of the files
    /// beside it. Lines count from the beginning of the file.
    ///
    /// # Errors
    /// If they could not be taken.
    fn take(&mut self, records: Vec<Record>, mark: &Mark, files: &Shelf) -> io::Result<()>;
}

/// Result of a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Something was done, and there may be more to do.
    More,
    /// Everything that was written is taken, or waits for its rest.
    Idle,
    /// The file is not there.
    Waiting,
}

/// An event for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// The file was rotated; the next one is read.
    Rotated {
        /// The one that was read to its end.
        from: PathBuf,
        /// The next one.
        to: PathBuf,
    },
    /// A copy with the same bytes took the place of the file; it is read on from the same position.
    Copied {
        /// The one that was read.
        from: PathBuf,
        /// The copy.
        to: PathBuf,
    },
    /// The file was emptied or rewritten in place, and no copy of it is beside it.
    Rewritten {
        /// The file.
        file: PathBuf,
        /// Bytes of the old one that had been read.
        read: u64,
    },
    /// The last file is missing: its later data is not imported.
    Lost {
        /// The file.
        file: PathBuf,
        /// Bytes of it that had been read.
        read: u64,
    },
    /// A file beside it is not read.
    LeftOut {
        /// The file.
        file: PathBuf,
        /// The reason.
        why: Why,
    },
}

/// The followed file and its options.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) names: Names,
    pub(super) format: &'static Format,
    pub(super) options: Options,
    /// Readers need the beginning of the file each time.
    pub(super) needs_context: bool,
    /// Quiet time, in microseconds, after which incomplete records count as complete.
    pub(super) settle_us: i64,
    /// Records taken at once, about.
    pub(super) limit: usize,
    /// For names with a day: earlier ones are skipped.
    pub(super) since: Option<NaiveDate>,
}

/// The follower of one file, or of one name for each day.
pub(super) struct Tracker {
    plan: Plan,
    mark: Option<Mark>,
    /// The files beside it; none before the first look.
    shelf: Option<Shelf>,
    open: Option<Open>,
    findings: Vec<Finding>,
    surveyed: siblings::Surveyed,
}

impl Tracker {
    /// A follower that goes on where it was.
    pub(super) fn new(plan: Plan, mark: Option<Mark>, shelf: Option<Shelf>) -> Self {
        Self {
            plan,
            mark,
            shelf,
            open: None,
            findings: Vec::new(),
            surveyed: siblings::Surveyed::default(),
        }
    }

    /// Events for the operator.
    pub(super) fn findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.findings)
    }

    /// How far it is.
    pub(super) fn mark(&self) -> Option<&Mark> {
        self.mark.as_ref()
    }

    /// Bytes that are written and not taken yet, of the file that is read.
    pub(super) fn behind(&self) -> u64 {
        let open = self.open.as_ref();
        let behind = open.and_then(|o| Some(o.seen?.size.saturating_sub(o.offset())));
        behind.unwrap_or_default()
    }

    /// Performs the next step.
    ///
    /// # Errors
    /// If the file cannot be read, is not of the format, or its records are not stored. The next
    /// look begins at the last stored position.
    pub(super) fn look(&mut self, now_us: i64, taker: &mut dyn Taker) -> io::Result<Step> {
        let step = self.step(now_us, taker);
        if step.is_err() {
            self.open = None;
        }
        step
    }

    fn step(&mut self, now_us: i64, taker: &mut dyn Taker) -> io::Result<Step> {
        self.prepare(taker)?;
        let Some(mut open) = self.open.take() else {
            return self.begin(now_us, taker);
        };
        if !open.check(now_us)? {
            return self.rewritten(&open, now_us, taker);
        }
        let ending = self.ending(&open, now_us)?;
        if ending != Ending::Open
            && let Some(copy) = self.continued(&mut open, now_us)?
        {
            let (from, to) = (open.input.path, copy.input.path.clone());
            self.findings.push(Finding::Copied { from, to });
            return self.go_to(copy, taker);
        }
        let state = (open.seen, ending);
        if open.vain != Some(state) {
            let cut = self.cut(&mut open, ending)?;
            if !open.is_same()? {
                return self.rewritten(&open, now_us, taker);
            }
            if let Some((bytes, cut)) = cut {
                self.advance(&mut open, &bytes, cut, taker)?;
                self.open = Some(open);
                return Ok(Step::More);
            }
            open.vain = Some(state);
        }
        if ending == Ending::Over {
            return self.leave(open, now_us, taker);
        }
        let beside = self.beside(&mut open, now_us)?;
        self.open = Some(open);
        match beside {
            Some(beside) => self.go_to(beside, taker),
            None => Ok(Step::Idle),
        }
    }

    /// Finds the file to go on with.
    fn begin(&mut self, now_us: i64, taker: &mut dyn Taker) -> io::Result<Step> {
        let Plan { names, since, .. } = &self.plan;
        let Some(mark) = &self.mark else {
            // Only of names with a day: the others have a mark from the beginning.
            let earlier = since.and_then(|day| day.pred_opt());
            let first = names.after(earlier)?.into_iter().next();
            return self.start_day(first, None, now_us, taker);
        };
        if let Some(open) = locate::again(names, mark, now_us)? {
            self.open = Some(open);
            return Ok(Step::More);
        }
        let gone = mark.clone();
        if matches!(names, Names::Dated { .. }) {
            let next = locate::same_day(names, &gone.file)?;
            return self.start_day(next, Some(&gone), now_us, taker);
        }
        let Some(next) = self.next(None, now_us)? else {
            return Ok(Step::Waiting);
        };
        self.lost(Why::Gone, &gone);
        self.go_to(next, taker)
    }

    /// Goes on with another file.
    fn go_to(&mut self, open: Open, taker: &mut dyn Taker) -> io::Result<Step> {
        let mark = open.mark();
        taker.take(Vec::new(), &mark, self.shelf.get_or_insert_default())?;
        self.mark = Some(mark);
        self.open = Some(open);
        Ok(Step::More)
    }

    /// Begins a file with a day in its name. That the one before it is gone is kept with the new place.
    fn start_day(
        &mut self,
        path: Option<PathBuf>,
        gone: Option<&Mark>,
        now_us: i64,
        taker: &mut dyn Taker,
    ) -> io::Result<Step> {
        let input = path.map(|path| Input::open(&path)).transpose()?.flatten();
        let Some(input) = input else {
            return Ok(Step::Waiting);
        };
        if let Some(gone) = gone {
            self.lost(Why::Gone, gone);
        }
        let files = self.shelf.get_or_insert_default();
        let open = files.resumed_day(input, now_us)?;
        self.go_to(open, taker)
    }

    /// The end of the next window.
    fn ending(&self, open: &Open, now_us: i64) -> io::Result<Ending> {
        let settle_us = self.plan.settle_us;
        let is_fresh = now_us.saturating_sub(open.changed_us) < settle_us;
        let is_left = match &self.plan.names {
            Names::Plain(path) => {
                let now = look_at(path)?.filter(|(node, _)| *node != open.input.node);
                // The file that follows was written long after this one.
                let since = now.map(|(_, look)| look.written.saturating_sub(open.look().written));
                let is_older = since.is_some_and(|ns| ns / 1000 >= settle_us);
                if is_fresh && !is_older && !open.input.is_packed() {
                    return Ok(Ending::Open);
                }
                now.is_some()
            }
            Names::Dated { .. } if is_fresh && !open.input.is_packed() => return Ok(Ending::Open),
            names @ Names::Dated { .. } => !names.after(names.day(&open.input.path))?.is_empty(),
        };
        Ok(if is_left { Ending::Over } else { Ending::Quiet })
    }

    /// The next window with its records; `None` if there are none.
    fn cut(&self, open: &mut Open, ending: Ending) -> io::Result<Option<(Vec<u8>, Cut)>> {
        let mut bytes = open.input.window(open.offset(), BYTES_MAX)?;
        let is_end = bytes.len() < BYTES_MAX;
        let ending = if is_end { ending } else { Ending::Open };
        let name = open.input.path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let how = How {
            format: self.plan.format,
            options: &self.plan.options,
            name: &name,
            limit: self.plan.limit,
        };
        let context = self.context(open, &how)?;
        let mut cut = how.read(context, &bytes, ending)?;
        if cut.bytes == 0 && cut.is_full {
            // One record of many lines: all of them at once.
            let limit = usize::MAX;
            cut = How { limit, ..how }.read(context, &bytes, ending)?;
        }
        if cut.bytes == 0 && !is_end {
            let limit = usize::MAX;
            cut = How { limit, ..how }.read(context, &bytes, Ending::Quiet)?;
        }
        if cut.bytes == 0 && !is_end {
            cut = endless(&bytes);
        }
        bytes.truncate(cut.bytes);
        Ok((cut.bytes > 0).then_some((bytes, cut)))
    }

    /// Data that a reader needs before the window. It grows with the file at first.
    fn context<'a>(&self, open: &'a mut Open, how: &How<'_>) -> io::Result<&'a Context> {
        let length = usize::try_from(open.offset()).unwrap_or(HEAD_MAX);
        if open.context.is_none() && self.plan.needs_context && length > 0 {
            let head = open.input.head(length.min(HEAD_MAX))?;
            open.context = Some(Context::of(how, &head)?);
        }
        Ok(open.context.get_or_insert_default())
    }

    /// Gives a cut away with the place behind it.
    fn advance(
        &mut self,
        open: &mut Open,
        bytes: &[u8],
        cut: Cut,
        taker: &mut dyn Taker,
    ) -> io::Result<()> {
        let before = open.line;
        let mut records = cut.records;
        for record in &mut records {
            record.line = record.line.saturating_add(before);
        }
        let is_short = open.offset() < u64::try_from(HEAD_MAX).unwrap_or(u64::MAX);
        open.trace.pass(bytes);
        open.line = before.saturating_add(cut.lines);
        if is_short {
            open.context = None;
        }
        let mark = open.mark();
        taker.take(records, &mark, self.shelf.get_or_insert_default())?;
        self.mark = Some(mark);
        Ok(())
    }

    /// Everything of a file that is not written any more is taken: goes on to the next one.
    fn leave(&mut self, open: Open, now_us: i64, taker: &mut dyn Taker) -> io::Result<Step> {
        let from = open.input.path.clone();
        let files = self.shelf.get_or_insert_default();
        let known = Known::read(&open.mark(), open.look());
        let next = if matches!(self.plan.names, Names::Plain(_)) {
            files.put(known, open.listed);
            self.next(None, now_us)?
        } else {
            files.put_day(&self.plan.names, known);
            let next = Input::open(&locate::next_day(&self.plan.names, &from)?)?;
            next.map(|input| files.resumed_day(input, now_us))
                .transpose()?
        };
        let Some(next) = next else {
            // The file disappeared just now: keep the read position for it.
            self.open = Some(open);
            return Ok(Step::Waiting);
        };
        let to = next.input.path.clone();
        let step = self.go_to(next, taker)?;
        self.findings.push(Finding::Rotated { from, to });
        Ok(step)
    }

    /// The read part of a file is no longer in it. The rest is in a copy beside it, or lost, and
    /// the file is read from its beginning.
    fn rewritten(&mut self, open: &Open, now_us: i64, taker: &mut dyn Taker) -> io::Result<Step> {
        let mark = open.mark();
        if let Some(copy) = locate::copy(&self.plan.names, &mark, now_us)? {
            self.open = Some(copy);
            return Ok(Step::More);
        }
        self.lost(Why::Emptied, &mark);
        if matches!(self.plan.names, Names::Dated { .. }) {
            return self.start_day(Some(mark.file), None, now_us, taker);
        }
        match self.next(None, now_us)? {
            Some(next) => self.go_to(next, taker),
            None => Ok(Step::Waiting),
        }
    }
}

/// A window without a single line feed in it: one line that cannot be read.
fn endless(bytes: &[u8]) -> Cut {
    let why = format!("no line ends within {BYTES_MAX} bytes");
    Cut {
        records: vec![Record::new(1, bytes, Found::Malformed(why))],
        bytes: bytes.len(),
        lines: 0,
        is_full: false,
    }
}
