//! Live accounting files, read as they are written (`collectors.md` 0.3).
//!
//! Each `[[follow]]` section is a thread with a tracker. It finds its file, reads new data, and
//! stores its position in the transaction of the records, so that neither a restart nor a crash
//! loses or doubles a record. A file is recognised by its contents, not its name, through rotation,
//! compression, copies and truncation. Every rotated file after the first start is read, and
//! skipped files are listed. An unreadable file does not block others.

mod board;
mod input;
mod locate;
mod open;
mod shelf;
#[cfg(test)]
mod tests;
mod thread;
mod trace;
mod tracker;
mod window;

pub use board::{Board, LeftOut, Standing};
pub use shelf::Why;
pub use thread::{Followers, start};
