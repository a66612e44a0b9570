//! Messages on standard error: notes, warnings and failures.

use std::io::{IsTerminal as _, Write as _};

use super::sentences;
use crate::fail::Failure;

/// Prints a fact on standard error.
pub(crate) fn note(text: &str) {
    print(&format!("bank: {text}"));
}

/// Prints a warning on standard error.
pub(crate) fn warn(text: &str) {
    print(&format!("bank: warning: {text}"));
}

/// Prints a failure on standard error.
pub(crate) fn failure(failure: &Failure) {
    print(&failure.to_string());
}

fn print(text: &str) {
    let width = std::io::stderr()
        .is_terminal()
        .then(|| crate::config::terminal().columns);
    // A closed standard error is no failure.
    let _ = anstream::stderr().write_all(shown(text, width).as_bytes());
}

/// A message as lines, folded if standard error is a terminal with a width. A log has one line for each.
fn shown(text: &str, width: Option<usize>) -> String {
    match width {
        Some(width) => sentences(text, width),
        None if text.ends_with('\n') => text.to_owned(),
        None => format!("{text}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn messages_are_folded_on_a_terminal_only() {
        let warning = "bank: warning: the answer is incomplete";
        for (width, lines) in [
            (None, "bank: warning: the answer is incomplete\n"),
            (Some(80), "bank: warning: the answer is incomplete\n"),
            (Some(30), "bank: warning: the answer is\nincomplete\n"),
        ] {
            assert_eq!(shown(warning, width), lines, "{width:?}");
        }
        let failure = "bank: no project \"x\"\nhint: bank project ls\n";
        assert_eq!(shown(failure, None), failure);
        assert_eq!(shown(failure, Some(80)), failure);
    }
}
