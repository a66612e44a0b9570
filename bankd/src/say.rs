//! What the program's commands say on standard output. A reader that has gone, as behind `| head`, ends
//! nothing; what could not be written for another cause is told at the end.

use std::fmt::Arguments;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

/// Something could not be written that somebody waits for.
static LOST: AtomicBool = AtomicBool::new(false);

/// A line on standard output.
macro_rules! say {
    ($($words:tt)*) => {
        $crate::say::write(format_args!("{}\n", format_args!($($words)*)))
    };
}

/// Text on standard output as it is.
macro_rules! say_all {
    ($($words:tt)*) => {
        $crate::say::write(format_args!($($words)*))
    };
}

/// Writes text to standard output.
pub(crate) fn write(text: Arguments<'_>) {
    let mut out = io::stdout().lock();
    let written = out.write_fmt(text).and_then(|()| out.flush());
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
        && !LOST.swap(true, Ordering::Relaxed)
    {
        // Where that cannot be told either, the exit code tells it.
        let _ = writeln!(io::stderr(), "bankd: standard output: {error}");
    }
}

/// Whether something was lost that somebody waits for.
pub(crate) fn lost() -> bool {
    LOST.load(Ordering::Relaxed)
}
