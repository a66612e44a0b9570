//! The program that the scheduler calls: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    nami_scripts::main()
}
