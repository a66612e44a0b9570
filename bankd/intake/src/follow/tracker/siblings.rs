//! Rotated files beside the followed one: the next one to read, and unreadable ones.

use std::io;

use bankd_config::follow::names::Names;

use super::{Finding, Taker, Tracker};
use crate::follow::input::{Input, Look, Node, look_at};
use crate::follow::locate;
use crate::follow::open::{Mark, Open};
use crate::follow::shelf::{Known, Shelf, Why};
use crate::follow::window::BYTES_MAX;

/// How often the files beside the followed one are looked through after their folder has changed.
const SURVEYS: u8 = 3;
/// Time after which a file that could not be read is tried again, in microseconds.
const RETRY_US: i64 = 60_000_000;

/// When the files beside the followed one were looked through last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Surveyed {
    at_us: i64,
    /// How the folder looked then.
    folder: Option<Look>,
    /// How often it was looked through while it looked so.
    times: u8,
}

impl Tracker {
    /// Notes existing files at the first start, before anything is read. Files of later rotations
    /// are read, even after a daemon restart. Does nothing if it was done before.
    ///
    /// # Errors
    /// If the folder cannot be read, or the note is not kept.
    pub(in crate::follow) fn prepare(&mut self, taker: &mut dyn Taker) -> io::Result<()> {
        let Names::Plain(path) = &self.plan.names else {
            self.shelf.get_or_insert_default();
            return Ok(());
        };
        if self.shelf.is_some() {
            return Ok(());
        }
        let files = Shelf::first(&self.plan.names, self.mark.as_ref())?;
        let mark = self.mark.clone().unwrap_or_else(|| Mark {
            file: path.clone(),
            ..Mark::default()
        });
        taker.take(Vec::new(), &mark, &files)?;
        for known in files.left_out() {
            let (file, why) = (known.file.clone(), known.why);
            self.findings.push(Finding::LeftOut { file, why });
        }
        (self.mark, self.shelf) = (Some(mark), Some(files));
        Ok(())
    }

    /// The files beside the followed one; none before the first look.
    pub(in crate::follow) fn shelf(&self) -> Option<&Shelf> {
        self.shelf.as_ref()
    }

    /// Notes that the rest of a file is lost. A file without read bytes is not missed.
    pub(super) fn lost(&mut self, why: Why, mark: &Mark) {
        let files = self.shelf.get_or_insert_default();
        if mark.offset == 0 || !files.note(why, mark) {
            return;
        }
        let (file, read) = (mark.file.clone(), mark.offset);
        self.findings.push(match why {
            Why::Emptied => Finding::Rewritten { file, read },
            _ => Finding::Lost { file, read },
        });
    }

    /// The file that is read next where there is one name for all: the oldest beside it that is not
    /// read yet, else the one of that name.
    pub(super) fn next(&mut self, but: Option<Node>, now_us: i64) -> io::Result<Option<Open>> {
        if let Some(open) = self.unread(but, now_us)? {
            return Ok(Some(open));
        }
        let input = match &self.plan.names {
            Names::Plain(path) => Input::open(path)?,
            Names::Dated { .. } => None,
        };
        let files = self.shelf.get_or_insert_default();
        input.map(|input| files.resumed(input, now_us)).transpose()
    }

    /// The file that continues one that ends in the middle of a line: it begins with all bytes of
    /// it, so the line has not ended. Of names with a day, also one that took the name of the open file,
    /// because such a file is not looked for again.
    pub(super) fn continued(&mut self, open: &mut Open, now_us: i64) -> io::Result<Option<Open>> {
        let names = &self.plan.names;
        let (own, is_dated) = match names {
            Names::Plain(path) => (path.clone(), false),
            Names::Dated { .. } => (open.input.path.clone(), true),
        };
        if !locate::is_another(&own, open.input.node)? {
            return Ok(None);
        }
        let rest = open.input.window(open.offset(), BYTES_MAX)?;
        let is_torn = rest.last().is_some_and(|byte| *byte != b'\n');
        if rest.len() == BYTES_MAX || !(is_torn || is_dated) {
            return Ok(None);
        }
        let mark = open.mark();
        let whole = open.mark_behind(&rest);
        let Some(path) = locate::continuing(names, &own, &whole, now_us)? else {
            return Ok(None);
        };
        if is_dated {
            return locate::opened(&path, &mark, now_us);
        }
        // Not again from the file that is left, and from where a copy of it was read further.
        let files = self.shelf.get_or_insert_default();
        files.put(Known::read(&mark, open.look()), open.listed);
        let input = Input::open(&path)?;
        input.map(|input| files.resumed(input, now_us)).transpose()
    }

    /// Looks through the files beside the followed one.
    pub(super) fn unread(&mut self, but: Option<Node>, now_us: i64) -> io::Result<Option<Open>> {
        let folder = look_at(self.plan.names.folder())?.map(|(_, look)| look);
        let times = if folder == self.surveyed.folder {
            self.surveyed.times.saturating_add(1)
        } else {
            1
        };
        let files = self.shelf.get_or_insert_default();
        let row = |known: &Known| (known.node, known.why, known.length);
        let listed: Vec<_> = files.left_out().map(row).collect();
        let unread = files.unread(&self.plan.names, but, now_us)?;
        for known in files
            .left_out()
            .filter(|known| !listed.contains(&row(known)))
        {
            let (file, why) = (known.file.clone(), known.why);
            self.findings.push(Finding::LeftOut { file, why });
        }
        // The next survey finds the remaining files.
        self.surveyed = Surveyed {
            at_us: now_us,
            folder: folder.filter(|_| unread.is_none()),
            times,
        };
        Ok(unread)
    }

    /// A file beside the open one that is not read yet, if the folder has changed. A file that was
    /// rotated away is read to its end first.
    pub(super) fn beside(&mut self, open: &mut Open, now_us: i64) -> io::Result<Option<Open>> {
        let Names::Plain(path) = &self.plan.names else {
            return self.earlier_day(open, now_us);
        };
        if locate::is_another(path, open.input.node)? {
            return Ok(None);
        }
        let Surveyed {
            at_us,
            folder,
            times,
        } = self.surveyed;
        let files = self.shelf.get_or_insert_default();
        let is_old = files.has_broken() && now_us.saturating_sub(at_us) >= RETRY_US;
        let now = look_at(self.plan.names.folder())?.map(|(_, look)| look);
        // A change right behind the survey may not be visible in the folder's time.
        if now == folder && times >= SURVEYS && !is_old {
            return Ok(None);
        }
        if open.offset() > 0 {
            // Its rest, and copies of it, are read from here on.
            let look = Look {
                size: open.offset(),
                ..open.look()
            };
            let mark = open.mark();
            files.put(Known::read(&mark, look), open.listed);
            open.listed = Some((mark.offset, mark.print));
        }
        self.unread(Some(open.input.node), now_us)
    }

    /// A file of an earlier day with lines that were written, or copied there, after the follower had gone on. From
    /// there the way leads back to the open one, which is read on at its position.
    fn earlier_day(&mut self, open: &Open, now_us: i64) -> io::Result<Option<Open>> {
        let names = &self.plan.names;
        let Some(day) = names.day(&open.input.path) else {
            return Ok(None);
        };
        let files = self.shelf.get_or_insert_default();
        let Some(path) = files.grown(names, day)? else {
            return Ok(None);
        };
        let earlier = Input::open(&path).and_then(|input| {
            input
                .map(|input| files.resumed_day(input, now_us))
                .transpose()
        });
        let earlier = match earlier {
            Ok(earlier) => earlier,
            Err(error) => {
                tracing::debug!("the file of an earlier day cannot be read: {error}");
                if files.break_day(names, &path)? {
                    let why = Why::Broken;
                    self.findings.push(Finding::LeftOut { file: path, why });
                }
                return Ok(None);
            }
        };
        if earlier.is_some() {
            files.put_day(names, Known::read(&open.mark(), open.look()));
        }
        Ok(earlier)
    }
}
