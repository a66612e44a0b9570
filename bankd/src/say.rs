//! Standard output of the commands. A closed pipe, as in `| head`, is not an error; other write
//! errors are reported at the end.

use std::fmt::Arguments;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether output was lost that a reader was waiting for.
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

/// A line on standard error. The macros of the standard library panic if nobody reads it or its disk is full.
macro_rules! complain {
    ($($words:tt)*) => {
        $crate::say::complain(format_args!("{}\n", format_args!($($words)*)))
    };
}

/// Writes text to standard error. If it cannot be written, the exit code reports the error.
pub(crate) fn complain(text: Arguments<'_>) {
    let _ = io::stderr().lock().write_fmt(text);
}

/// Writes text to standard output.
pub(crate) fn write(text: Arguments<'_>) {
    let mut out = io::stdout().lock();
    let written = out.write_fmt(text).and_then(|()| out.flush());
    is_written(written);
}

/// Whether output reached its reader, or nobody reads any more. Reports the first other error.
pub(crate) fn is_written(result: io::Result<()>) -> bool {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            if !LOST.swap(true, Ordering::Relaxed) {
                complain!("bankd: standard output: {error}");
            }
            false
        }
        _ => true,
    }
}

/// Whether output was lost that a reader was waiting for.
pub(crate) fn lost() -> bool {
    LOST.load(Ordering::Relaxed)
}
