//! Files with a day in their names: how much was read of each, and which have more.

use std::io;
use std::path::{Path, PathBuf};

use bankd_config::follow::names::{Names, packing};
use chrono::NaiveDate;

use super::{Known, Shelf, Why};
use crate::follow::input::{Input, look_at};
use crate::follow::open::Open;
use crate::follow::trace::Trace;

/// Maximum number of days that are looked at for later lines.
const DAYS_MAX: usize = 64;

impl Shelf {
    /// Adds the row of a file with a day in its name, in place of an earlier one. The last days are kept.
    pub(in crate::follow) fn put_day(&mut self, names: &Names, known: Known) {
        let file = known.file.clone();
        self.rows
            .retain(|row| row.why.is_note() || row.file != file);
        self.rows.push(known);
        let days = self.rows.iter().filter(|row| !row.why.is_note());
        if days.clone().count() > DAYS_MAX
            && let Some(first) = days.filter_map(|row| names.day(&row.file)).min()
        {
            let is_kept = |row: &Known| row.why.is_note() || names.day(&row.file) != Some(first);
            self.rows.retain(is_kept);
        }
        self.version = self.version.saturating_add(1);
    }

    /// The oldest file before a day that has more than was read of it, or that was not there when its day was
    /// passed. Files from before the first day in the list are not looked for.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub(in crate::follow) fn grown(
        &self,
        names: &Names,
        before: NaiveDate,
    ) -> io::Result<Option<PathBuf>> {
        let rows = || self.rows.iter().filter(|row| !row.why.is_note());
        let first = rows().filter_map(|row| names.day(&row.file)).min();
        let Some(first) = first.and_then(|day| day.pred_opt()) else {
            return Ok(None);
        };
        for path in names.after(Some(first))? {
            let day = names.day(&path);
            if day.is_none_or(|day| day >= before) {
                break;
            }
            let Some(row) = rows().find(|row| names.day(&row.file) == day) else {
                return Ok(Some(path));
            };
            let look = look_at(&path)?.map(|(_, look)| look);
            let is_longer = look.is_some_and(|look| look != row.look && look.size > row.length);
            // A compressed one was read before.
            let is_unread = is_longer && packing(path.as_os_str()).is_none();
            if is_unread || row.why == Why::Broken {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Lists a file with a day in its name that cannot be read. False if it is listed already.
    ///
    /// # Errors
    /// If it cannot be looked at.
    pub(in crate::follow) fn break_day(&mut self, names: &Names, path: &Path) -> io::Result<bool> {
        let day = names.day(path);
        let is_it = |row: &&mut Known| !row.why.is_note() && names.day(&row.file) == day;
        if let Some(row) = self.rows.iter_mut().find(is_it) {
            let is_new = row.why != Why::Broken;
            row.why = Why::Broken;
            self.version = self.version.saturating_add(u64::from(is_new));
            return Ok(is_new);
        }
        let (node, look) = look_at(path)?.unwrap_or_default();
        self.put_day(names, Known::bare(path, Why::Broken, node, look));
        Ok(true)
    }

    /// A file with a day in its name, at the position up to which it was read.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(in crate::follow) fn resumed_day(&self, input: Input, now_us: i64) -> io::Result<Open> {
        if self.rows.iter().any(|row| row.file == input.path) {
            return self.resumed(input, now_us);
        }
        Ok(Open::new(input, Trace::default(), 0, now_us))
    }
}
