//! Where in an import a piece belongs.

use hyper::body::Bytes;

use super::Trouble;

/// A piece of a file.
#[derive(Clone, Debug)]
pub struct Part {
    /// The file as it is called.
    pub file: String,
    /// Which file it is, from 1, where the sender counts.
    pub number: Option<u64>,
    /// Where in the file it begins.
    pub at: u64,
    /// It.
    pub bytes: Bytes,
}

/// The received part of an import.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) number: u64,
    pub(super) at: u64,
    pub(super) bytes: u64,
}

/// Treatment of a part.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// It was taken before: this is where its file goes on.
    Before(u64),
    /// It goes on with the file at hand, behind so many of its bytes.
    On(usize),
    /// It begins the next file.
    Begin,
}

impl Place {
    /// Where a part belongs.
    pub(super) fn fit(&self, part: &Part) -> Result<Fit, Trouble> {
        let end = part
            .at
            .saturating_add(u64::try_from(part.bytes.len()).unwrap_or(u64::MAX));
        let elsewhere = || Trouble::Elsewhere {
            file: self.file.clone(),
            at: self.at,
        };
        let is_known = match part.number {
            Some(number) if number < self.number => return Ok(Fit::Before(end)),
            Some(number) if number > self.number.saturating_add(1) => return Err(elsewhere()),
            Some(number) => number == self.number && number > 0,
            None => self.number > 0 && part.file == self.file,
        };
        if !is_known {
            return if part.at == 0 {
                Ok(Fit::Begin)
            } else {
                Err(elsewhere())
            };
        }
        if part.file != self.file || part.at > self.at {
            return Err(elsewhere());
        }
        if end <= self.at {
            return Ok(Fit::Before(self.at));
        }
        let known = self.at.saturating_sub(part.at);
        Ok(Fit::On(usize::try_from(known).unwrap_or(usize::MAX)))
    }

    pub(super) fn go_on(&mut self, fit: &Fit, file: String, number: Option<u64>, length: u64) {
        if *fit == Fit::Begin {
            self.file = file;
            self.number = number.unwrap_or(self.number.saturating_add(1));
            self.at = 0;
        }
        self.at = self.at.saturating_add(length);
        self.bytes = self.bytes.saturating_add(length);
    }
}
