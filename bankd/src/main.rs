//! The program `bankd`: everything is in the library.

use std::process::ExitCode;

/// The C library's allocator takes a tenth of the hot path's time (decision 0101).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    bankd::cli::run()
}
