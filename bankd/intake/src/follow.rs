//! Live accounting files, read as they are written (`collectors.md` 0.3).
//!
//! Each `[[follow]]` of the settings is a thread with a tracker: it finds its file, takes what was
//! written since, and keeps how far it is in the transaction of the records, so that neither a restart
//! nor a crash loses or doubles one. A file is followed through rotation, compression, copies and
//! truncation by what was read of it, not by its name: every file that rotation leaves after the first start
//! is read, and what is left out is listed. One that cannot be read holds up no other.

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
