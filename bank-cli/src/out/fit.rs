//! Options of output that do not fit a command.

use super::Form;
use crate::cli::Format;
use crate::fail::Failure;

impl Form {
    /// Refuses a page or a picture of a change, before it is sent.
    pub(crate) fn of_change(&self) -> Result<(), Failure> {
        match self.format {
            Format::Html | Format::Svg => Err(no_page()),
            _ => Ok(()),
        }
    }

    /// Refuses options of lists where the output has a format of its own.
    pub(crate) fn of_export(&self) -> Result<(), Failure> {
        self.of_change()?;
        if self.header && self.columns.is_empty() {
            return Ok(());
        }
        let words = "an export has the columns of its format: omit --columns and --no-header";
        Err(Failure::usage(words))
    }
}

/// Pages are for what is printed on paper, pictures for what has a length.
pub(super) fn no_page() -> Failure {
    Failure::usage("this command writes no page and no picture").hint(
        "`bank statement`, `usage` and `monitor` write HTML, some of `bank report` HTML and SVG",
    )
}
