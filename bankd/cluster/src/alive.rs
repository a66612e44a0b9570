//! Whether a node runs: the names of nodes are unique, and a process that has one reports each second.

use std::time::{Duration, Instant};

use crate::log::{Log, LogError};

/// Age of the last report of a node that may run, in milliseconds.
const RECENT_MS: i64 = 5_000;
/// Time in which a node that runs reports.
const REPORTED: Duration = Duration::from_millis(2_500);
/// Pause between two looks.
const LOOK: Duration = Duration::from_millis(250);

/// Whether another process reports as this node, such as the original of a copy. Waits for its next report, at most
/// 2.5 s, if the last one is recent. The caller does not report meanwhile.
///
/// # Errors
/// As [`Log::nodes`].
pub fn is_running(log: &mut impl Log, node: &str) -> Result<bool, LogError> {
    let Some(mut before) = age(log, node)?.filter(|age| *age < RECENT_MS) else {
        return Ok(false);
    };
    let since = Instant::now();
    while since.elapsed() < REPORTED {
        std::thread::park_timeout(LOOK);
        match age(log, node)? {
            Some(now) if now < before => return Ok(true),
            Some(now) => before = now,
            None => return Ok(false),
        }
    }
    Ok(false)
}

/// Milliseconds since the last report of a node.
fn age(log: &mut impl Log, node: &str) -> Result<Option<i64>, LogError> {
    let rows = log.nodes()?;
    let own = rows.into_iter().find(|row| row.node == node);
    Ok(own.map(|row| row.age_ms))
}
