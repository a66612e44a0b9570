//! Waiting for something with a deadline; the only place of the tests that lets time pass.

use std::time::{Duration, Instant};

/// How long anything may take that should take a moment; generous, for slow machines.
const PATIENCE: Duration = Duration::from_mins(2);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(2);

/// Looks until there is something; fails the test when it does not come.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(since.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::park_timeout(LOOK);
    }
}

/// Lets so much time pass: for load that is to run a while before it is cut off.
pub(crate) fn pause(time: Duration) {
    let since = Instant::now();
    while let Some(left) = time
        .checked_sub(since.elapsed())
        .filter(|left| !left.is_zero())
    {
        std::thread::park_timeout(left);
    }
}
