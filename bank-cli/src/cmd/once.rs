//! Options with `NAME=VALUE` that state each name once.

use std::collections::{BTreeMap, BTreeSet};

use crate::fail::Failure;

/// The values of such an option by name.
///
/// # Errors
/// If a name, in any spelling, has two values.
pub(super) fn once(
    option: &str,
    given: Vec<(String, String)>,
) -> Result<BTreeMap<String, String>, Failure> {
    let mut seen = BTreeSet::new();
    let twice = given
        .iter()
        .find(|(name, _)| !seen.insert(name.to_lowercase()));
    match twice {
        Some((name, _)) => Err(Failure::usage(format!("{option} {name} is given twice"))
            .hint("give each name one value; upper and lower case are the same name")),
        None => Ok(given.into_iter().collect()),
    }
}
