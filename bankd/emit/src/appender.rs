//! Appends lines to a file that other programs read, rotate and write too, so
//! that a crash neither loses nor doubles a line (`usage-records.md` 4.6).
//!
//! The caller keeps the lines that are not confirmed (the outbox) and, for
//! each file, the last [`Confirmed`]. Its whole loop is:
//!
//! ```no_run
//! # use bankd_emit::appender::{Appender, Confirmed, Fsync};
//! # fn store(done: usize, confirmed: Confirmed) {}
//! # fn run(stored: Option<Confirmed>, mut lines: &[Vec<u8>]) -> std::io::Result<()> {
//! let (mut file, done) = Appender::open("alloc.txt".as_ref(), stored, lines, Fsync::Batch)?;
//! store(done, file.confirm()?);
//! lines = &lines[done..];
//! while !lines.is_empty() {
//!     let done = file.append(lines)?;
//!     store(done, file.confirm()?); // one transaction: rows done, file state
//!     lines = &lines[done..];
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A line is given with its line feed and is written with one `write` on a
//! descriptor opened `O_APPEND`. What another process wrote is never removed.

mod earlier;
mod tail;
#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A file and the length up to which its content is known to be on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Confirmed {
    /// Device of the file.
    pub device: u64,
    /// Inode of the file.
    pub inode: u64,
    /// Bytes.
    pub length: u64,
    /// SHA-256 over the last of these bytes; `None` if an older version
    /// confirmed them.
    pub print: Option<[u8; 32]>,
}

/// The durability for which [`Appender::confirm`] waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fsync {
    /// The disk, after each line: of two lines the second is begun when the
    /// first one survives a loss of power.
    Each,
    /// The disk, after many lines. Survives a loss of power.
    #[default]
    Batch,
    /// Nothing: the lines survive a crash of the program only.
    Never,
}

/// A finding about the file that an operator should see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Our own unconfirmed tail of so many bytes was cut off, to be written
    /// again.
    OwnTail {
        /// Bytes cut off.
        bytes: u64,
    },
    /// Another process wrote so many bytes (our own unconfirmed lines among
    /// them counted in); a line feed was added if they did not end with one.
    Foreign {
        /// Bytes found.
        bytes: u64,
    },
    /// Somebody made the file shorter in place: an error to be logged.
    Shrunk {
        /// Length that was expected.
        from: u64,
        /// Length that was found.
        to: u64,
    },
    /// The file is no shorter than it was, but what was confirmed of it was overwritten: an error to be logged.
    Changed {
        /// Length that was confirmed.
        from: u64,
        /// Length that was found.
        to: u64,
    },
    /// The path names another file than before: it was rotated.
    Rotated,
    /// The rotated file was found, and so many lines in it that were not
    /// confirmed: they are not written again.
    Earlier {
        /// Lines.
        lines: usize,
        /// Bytes of half a line of ours that were cut off at its end.
        torn: u64,
    },
    /// The rotated file was not found: lines that are not confirmed are written
    /// into the new file, and may be in both.
    Missing {
        /// Lines.
        lines: usize,
    },
}

/// An open file that is being appended to.
#[derive(Debug)]
pub struct Appender {
    path: PathBuf,
    file: File,
    device: u64,
    inode: u64,
    /// Length that the file has if nobody else touched it.
    length: u64,
    fsync: Fsync,
    findings: Vec<Finding>,
}

impl Appender {
    /// Opens the file (made with mode 0640 if there is none) and settles what
    /// an earlier run left behind. `confirmed` is what the last
    /// [`Appender::confirm`] returned, `None` before the first; `pending` are
    /// the lines not confirmed, oldest first.
    ///
    /// Returns the number of leading lines of `pending` that are in the file
    /// already. Confirm (and store the answer) before the first
    /// [`Appender::append`]: a later crash is judged by what was found now.
    ///
    /// # Errors
    /// Of the file system; `InvalidInput` if the path is not a regular file.
    pub fn open<L: AsRef<[u8]>>(
        path: &Path,
        confirmed: Option<Confirmed>,
        pending: &[L],
        fsync: Fsync,
    ) -> io::Result<(Self, usize)> {
        let (file, device, inode) = open_file(path)?;
        let known = confirmed.filter(|c| (c.device, c.inode) == (device, inode));
        let mut appender = Self {
            path: path.to_owned(),
            file,
            device,
            inode,
            length: 0,
            fsync,
            findings: Vec::new(),
        };
        let done = match (known, confirmed) {
            (Some(known), _) if appender.is_as_confirmed(&known)? => {
                appender.length = known.length;
                appender.settle(pending)?
            }
            // Emptied in place, and maybe written again.
            (Some(known), _) => {
                let to = appender.file.metadata()?.len();
                let from = known.length;
                appender.findings.push(if to < from {
                    Finding::Shrunk { from, to }
                } else {
                    Finding::Changed { from, to }
                });
                appender.adopt()?;
                appender.earlier(&known, pending)?
            }
            (None, Some(confirmed)) => {
                appender.findings.push(Finding::Rotated);
                appender.adopt()?;
                appender.earlier(&confirmed, pending)?
            }
            (None, None) => {
                appender.adopt()?;
                0
            }
        };
        Ok((appender, done))
    }

    /// Whether what was confirmed of the file is in it.
    fn is_as_confirmed(&self, known: &Confirmed) -> io::Result<bool> {
        if self.file.metadata()?.len() < known.length {
            return Ok(false);
        }
        let print = known.print.filter(|_| known.length > 0);
        Ok(match print {
            Some(print) => tail::print(&self.file, known.length)? == print,
            None => true,
        })
    }

    /// Looks for the file that was written before, and for pending lines in
    /// it. Returns how many are.
    fn earlier<L: AsRef<[u8]>>(
        &mut self,
        confirmed: &Confirmed,
        pending: &[L],
    ) -> io::Result<usize> {
        if pending.is_empty() {
            return Ok(0);
        }
        let Some(found) = earlier::find(&self.path, confirmed, pending)? else {
            // Bytes that were cut off a file that is still there are in no other one.
            if (self.device, self.inode) != (confirmed.device, confirmed.inode) {
                let lines = pending.len();
                self.findings.push(Finding::Missing { lines });
            }
            return Ok(0);
        };
        let earlier::Earlier { lines, torn } = found;
        self.findings.push(Finding::Earlier { lines, torn });
        Ok(lines)
    }

    /// Writes leading lines of `lines` and returns how many are in the file
    /// now. Fewer than all, or none: the file was found rotated, shortened or
    /// written to by another process, or a write failed. [`Appender::confirm`]
    /// and call again with the rest; a write that cannot succeed is the error
    /// of that call.
    ///
    /// # Errors
    /// Of the file system, when nothing at all could be done. The file then
    /// holds no part of a line of ours.
    pub fn append<L: AsRef<[u8]>>(&mut self, lines: &[L]) -> io::Result<usize> {
        for (done, line) in lines.iter().enumerate() {
            let rest = lines.get(done..).unwrap_or_default();
            let result = match self.look(rest) {
                Ok(None) => self.write_line(line.as_ref()),
                // Lines that were found are to be confirmed before anything is added.
                Ok(Some(found)) => return Ok(done + found),
                Err(e) => Err(e),
            };
            match result {
                Ok(true) => {}
                Ok(false) => return Ok(done),
                Err(_) if done > 0 => return Ok(done),
                Err(e) => return Err(e),
            }
        }
        Ok(lines.len())
    }

    /// Waits for the disk as the policy requires and returns the state to remember.
    ///
    /// # Errors
    /// Errors of the file system: the bytes since the last confirmation may not be on
    /// the disk, and the file is to be opened again.
    pub fn confirm(&mut self) -> io::Result<Confirmed> {
        if self.fsync != Fsync::Never {
            self.file.sync_data()?;
        }
        Ok(Confirmed {
            device: self.device,
            inode: self.inode,
            length: self.length,
            print: Some(tail::print(&self.file, self.length)?),
        })
    }

    /// The findings since the last call, oldest first.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.findings)
    }

    /// Checks that the path still names this file and that the file is unchanged since the last write. `Some`
    /// means that it was not, with the number of pending lines that are in it.
    fn look<L: AsRef<[u8]>>(&mut self, pending: &[L]) -> io::Result<Option<usize>> {
        let named = match fs::metadata(&self.path) {
            Ok(metadata) => Some((metadata.dev(), metadata.ino())),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        if named != Some((self.device, self.inode)) {
            return self.reopen().map(|()| Some(0));
        }
        if self.file.metadata()?.len() == self.length {
            return Ok(None);
        }
        let before = self.length;
        let done = self.settle(pending)?;
        // Our own torn tail is gone and nothing else has changed: go on.
        Ok((self.length != before || done > 0).then_some(done))
    }

    /// The file was rotated: what was written to the old one is made safe
    /// there, and the new one is begun.
    fn reopen(&mut self) -> io::Result<()> {
        if self.fsync != Fsync::Never {
            self.file.sync_data()?;
        }
        let (file, device, inode) = open_file(&self.path)?;
        self.file = file;
        (self.device, self.inode) = (device, inode);
        self.findings.push(Finding::Rotated);
        self.adopt()
    }

    /// Begins with a file that was never confirmed. Since nothing is written
    /// to a file before its first confirmation, all that is in it is another
    /// process's, even a line that looks like one of ours.
    fn adopt(&mut self) -> io::Result<()> {
        self.length = self.file.metadata()?.len();
        self.end_line()
    }

    /// The table of `usage-records.md` 4.6, for a file whose first `length` bytes are accounted for. Returns
    /// the number of pending lines in it.
    fn settle<L: AsRef<[u8]>>(&mut self, pending: &[L]) -> io::Result<usize> {
        let size = self.file.metadata()?.len();
        if size == self.length {
            return Ok(0);
        }
        if size < self.length {
            self.findings.push(Finding::Shrunk {
                from: self.length,
                to: size,
            });
            self.length = size;
            self.end_line()?;
            return Ok(0);
        }
        let bytes = size - self.length;
        if tail::is_beginning(&self.file, self.length, size, pending)? {
            self.file.set_len(self.length)?;
            self.findings.push(Finding::OwnTail { bytes });
            return Ok(0);
        }
        let done = tail::whole_lines(&self.file, self.length, size, pending)?;
        self.findings.push(Finding::Foreign { bytes });
        self.length = size;
        self.end_line()?;
        Ok(done)
    }

    /// Adds a line feed where another process left a line without one.
    fn end_line(&mut self) -> io::Result<()> {
        if self.length > 0 && !tail::ends_with_line_feed(&self.file, self.length)? {
            self.write(b"\n")?;
        }
        Ok(())
    }

    /// Writes a line once, and returns whether it is a line of its own in the file. Another process may have
    /// written since the last look, and have left half a line right before this one. Then this line is part
    /// of theirs, and is to be written again.
    fn write_line(&mut self, line: &[u8]) -> io::Result<bool> {
        let from = self.length;
        self.write(line)?;
        let size = self.file.metadata()?.len();
        if size <= self.length {
            return Ok(true);
        }
        let is_whole = tail::whole_lines(&self.file, from, size, &[line])? == 1;
        let bytes = size - from;
        self.findings.push(Finding::Foreign { bytes });
        self.length = size;
        self.end_line()?;
        Ok(is_whole)
    }

    /// One write. What a failed one left is taken back, unless another
    /// process has written behind it; the next look then sees it.
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let written = match self.file.write(line) {
            Ok(written) if written == line.len() => {
                self.length += line.len() as u64;
                return Ok(());
            }
            Ok(written) => written,
            Err(e) => return Err(e),
        };
        let torn = self.length + written as u64;
        if self.file.metadata()?.len() == torn {
            self.file.set_len(self.length)?;
        }
        let text = format!(
            "only {written} of a line's {} bytes fit, and were taken back: is the disk full?",
            line.len()
        );
        Err(io::Error::new(io::ErrorKind::WriteZero, text))
    }
}

/// Opens for appending. A new file's name is made safe at once.
fn open_file(path: &Path) -> io::Result<(File, u64, u64)> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).mode(0o640);
    let file = match options.open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let file = options.create(true).open(path)?;
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
            file
        }
        other => other?,
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        let text = format!("{} is not a regular file", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    Ok((file, metadata.dev(), metadata.ino()))
}
