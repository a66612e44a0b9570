//! Readers against files of the field, and against their totals counted by another program.

mod command;
pub(crate) mod expected;
mod fuzz;
mod large;
mod mappings;
mod nasty;
mod repeated;
mod unreadable;
mod xdmod;

/// A number that makes a run longer or repeats it.
#[allow(
    clippy::disallowed_methods,
    reason = "how long a test runs is said outside"
)]
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
