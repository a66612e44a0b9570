//! Cuts a life down to the steps that a difference needs.

use super::lived;
use super::steps::Step;

/// Lives that are played for one script at most.
const TRIES: usize = 250;

/// A short script that shows a difference of the same kind.
pub(super) fn shortest(seed: u64, mut steps: Vec<Step>, what: &str) -> Vec<Step> {
    let mut tries = TRIES;
    let mut shows = |steps: &[Step]| {
        tries = tries.saturating_sub(1);
        tries > 0 && lived(seed, steps).iter().any(|one| one.what == what)
    };
    let mut size = steps.len().div_ceil(2);
    loop {
        let mut from = 0;
        while from < steps.len() {
            let until = (from + size).min(steps.len());
            let without: Vec<Step> = steps[..from]
                .iter()
                .chain(&steps[until..])
                .cloned()
                .collect();
            if shows(&without) {
                steps = without;
            } else {
                from = until;
            }
        }
        if size == 1 {
            return steps;
        }
        size = size.div_ceil(2);
    }
}
