//! The program `bankd`: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    bankd::cli::run()
}
