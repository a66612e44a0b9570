//! Where the follower of one file is, and what it does next.
//!
//! [`Tracker::look`] does one thing at a time and is told the time: it finds the file, takes one window
//! of it, waits, or goes on to the next file. What it takes and how far it is then are given away
//! together, so that both are kept or neither. In doubt it reads again: what came before has an
//! identity and changes nothing, what is never read is lost.

use std::io;
use std::path::PathBuf;

use chrono::NaiveDate;

use super::input::{Input, Look, Node};
use super::locate;
use super::names::Names;
use super::trace::{Fingerprint, Trace};
use super::window::{BYTES_MAX, Context, Cut, Ending, How};
use crate::ingest::{Format, Found, Options, Record};

/// Bytes at the beginning of a file in which a reader's context is looked for.
const HEAD_MAX: usize = 256 << 10;

/// How far a file is taken in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// The file, by its own name.
    pub(super) file: PathBuf,
    pub(super) node: Node,
    /// Bytes that are dealt with, and lines in them.
    pub(super) offset: u64,
    pub(super) line: u64,
    /// What these bytes are known by.
    pub(super) print: Fingerprint,
    /// When the file had been written last, in nanoseconds since 1970.
    pub(super) written: i64,
}

/// Whoever takes records in.
pub(super) trait Taker {
    /// Takes records of a file and keeps how far it is now, both or neither. Lines count from the
    /// beginning of the file.
    ///
    /// # Errors
    /// If they could not be taken.
    fn take(&mut self, records: Vec<Record>, mark: &Mark) -> io::Result<()>;
}

/// What a look came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Something was done, and there may be more to do.
    More,
    /// Everything that was written is taken, or waits for its rest.
    Idle,
    /// The file is not there.
    Waiting,
}

/// Something that an operator should hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// The file was rotated; the next one is read.
    Rotated {
        /// The one that was read to its end.
        from: PathBuf,
        /// The next one.
        to: PathBuf,
    },
    /// The file was emptied or written anew in place, and no copy of it lies beside it.
    Rewritten {
        /// The file.
        file: PathBuf,
        /// Bytes of the old one that had been read.
        read: u64,
    },
    /// The file that was read last is nowhere: what was written to it since is not taken.
    Lost {
        /// The file.
        file: PathBuf,
        /// Bytes of it that had been read.
        read: u64,
    },
}

/// What is followed, and how.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) names: Names,
    pub(super) format: &'static Format,
    pub(super) options: Options,
    /// Readers need the beginning of the file each time.
    pub(super) needs_context: bool,
    /// How long nobody writes before what may go on counts as it is, in microseconds.
    pub(super) settle_us: i64,
    /// Records taken at once, about.
    pub(super) limit: usize,
    /// Of names that tell a day: earlier ones are left out.
    pub(super) since: Option<NaiveDate>,
}

/// The follower of one file, or of one name for each day.
pub(super) struct Tracker {
    plan: Plan,
    mark: Option<Mark>,
    open: Option<Open>,
    findings: Vec<Finding>,
}

/// The file that is read.
pub(super) struct Open {
    pub(super) input: Input,
    pub(super) trace: Trace,
    line: u64,
    context: Option<Context>,
    seen: Option<Look>,
    /// When it was seen to have changed.
    changed_us: i64,
    /// When it had been written when it was opened, in nanoseconds since 1970.
    written: i64,
    /// What was read in vain: nothing comes of the same bytes with the same ending.
    vain: Option<(Option<Look>, Ending)>,
}

impl Open {
    pub(super) fn new(input: Input, trace: Trace, line: u64, now_us: i64) -> Self {
        Self {
            written: input.written,
            input,
            trace,
            line,
            context: None,
            seen: None,
            changed_us: now_us,
            vain: None,
        }
    }

    fn offset(&self) -> u64 {
        self.trace.passed()
    }

    fn mark(&self) -> Mark {
        Mark {
            file: self.input.path.clone(),
            node: self.input.node,
            offset: self.offset(),
            line: self.line,
            print: self.trace.fingerprint(),
            written: self.seen.map_or(self.written, |seen| seen.written),
        }
    }

    /// Looks at the file: false if what was read of it does not stand there any more.
    fn check(&mut self, now_us: i64) -> io::Result<bool> {
        let look = self.input.look()?;
        if self.seen.is_none() || look != self.seen {
            self.seen = look;
            self.changed_us = now_us;
            return self.is_same();
        }
        Ok(true)
    }

    fn is_same(&mut self) -> io::Result<bool> {
        if self.input.is_packed() {
            return Ok(true);
        }
        let there = self.input.trace(self.trace.passed())?;
        Ok(there.is_some_and(|there| there == self.trace))
    }
}

impl Tracker {
    /// A follower that goes on where it was.
    pub(super) fn new(plan: Plan, mark: Option<Mark>) -> Self {
        Self {
            plan,
            mark,
            open: None,
            findings: Vec::new(),
        }
    }

    /// What happened that somebody should hear of.
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

    /// Does what is next.
    ///
    /// # Errors
    /// If the file cannot be read, is not of the format, or its records are not taken. The next look
    /// begins at what is known to be taken.
    pub(super) fn look(&mut self, now_us: i64, taker: &mut dyn Taker) -> io::Result<Step> {
        let step = self.step(now_us, taker);
        if step.is_err() {
            self.open = None;
        }
        step
    }

    fn step(&mut self, now_us: i64, taker: &mut dyn Taker) -> io::Result<Step> {
        let Some(mut open) = self.open.take() else {
            return self.begin(now_us, taker);
        };
        if !open.check(now_us)? {
            return self.rewritten(&open, now_us, taker);
        }
        let ending = self.ending(&open, now_us)?;
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
        self.open = Some(open);
        Ok(Step::Idle)
    }

    /// Finds the file to go on with.
    fn begin(&mut self, now_us: i64, taker: &mut dyn Taker) -> io::Result<Step> {
        let Plan { names, since, .. } = &self.plan;
        if let Some(mark) = &self.mark {
            if let Some(open) = locate::again(names, mark, now_us)? {
                self.open = Some(open);
                return Ok(Step::More);
            }
            let next = locate::instead(names, mark)?;
            let (file, read) = (mark.file.clone(), mark.offset);
            let step = self.start(next, now_us, taker)?;
            // Of a file of which nothing was read nothing is missed.
            if step == Step::More && read > 0 {
                self.findings.push(Finding::Lost { file, read });
            }
            return Ok(step);
        }
        let first = match names {
            Names::Plain(path) => Some(path.clone()),
            Names::Dated { .. } => {
                let earlier = since.and_then(|day| day.pred_opt());
                names.after(earlier)?.into_iter().next()
            }
        };
        self.start(first, now_us, taker)
    }

    /// Begins a file at its beginning.
    fn start(
        &mut self,
        path: Option<PathBuf>,
        now_us: i64,
        taker: &mut dyn Taker,
    ) -> io::Result<Step> {
        let input = path.map(|path| Input::open(&path)).transpose()?.flatten();
        let Some(input) = input else {
            return Ok(Step::Waiting);
        };
        let open = Open::new(input, Trace::default(), 0, now_us);
        let mut mark = open.mark();
        // What was read before was written to while this one was there already.
        let before = self.mark.as_ref().map_or(mark.written, |m| m.written);
        mark.written = mark.written.max(before);
        taker.take(Vec::new(), &mark)?;
        self.mark = Some(mark);
        self.open = Some(open);
        Ok(Step::More)
    }

    /// How the window that comes next ends.
    fn ending(&self, open: &Open, now_us: i64) -> io::Result<Ending> {
        let since = now_us.saturating_sub(open.changed_us);
        if !open.input.is_packed() && since < self.plan.settle_us {
            return Ok(Ending::Open);
        }
        let is_left = match &self.plan.names {
            Names::Plain(path) => locate::is_another(path, open.input.node)?,
            names @ Names::Dated { .. } => !names.after(names.day(&open.input.path))?.is_empty(),
        };
        Ok(if is_left { Ending::Over } else { Ending::Quiet })
    }

    /// The next window with what comes of it; `None` if nothing does.
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

    /// What a reader must have seen before the window. It grows with the file at first.
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
        taker.take(records, &mark)?;
        self.mark = Some(mark);
        Ok(())
    }

    /// Everything of a file that is not written any more is taken: goes on to the next one.
    fn leave(&mut self, open: Open, now_us: i64, taker: &mut dyn Taker) -> io::Result<Step> {
        let next = locate::next(&self.plan.names, &open.mark())?;
        let from = open.input.path.clone();
        let step = self.start(Some(next), now_us, taker)?;
        match &self.open {
            Some(open) => self.findings.push(Finding::Rotated {
                from,
                to: open.input.path.clone(),
            }),
            // It went away just now: what was read waits for it.
            None => self.open = Some(open),
        }
        Ok(step)
    }

    /// What was read of a file does not stand there any more: the rest of it is in a copy beside it,
    /// or nowhere, and the file begins anew.
    fn rewritten(&mut self, open: &Open, now_us: i64, taker: &mut dyn Taker) -> io::Result<Step> {
        let mark = open.mark();
        if let Some(copy) = locate::copy(&self.plan.names, &mark, now_us)? {
            self.open = Some(copy);
            return Ok(Step::More);
        }
        let (file, read) = (mark.file.clone(), mark.offset);
        self.findings.push(Finding::Rewritten { file, read });
        let again = match &self.plan.names {
            Names::Plain(path) => path.clone(),
            Names::Dated { .. } => mark.file,
        };
        self.start(Some(again), now_us, taker)
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
