//! A bank in a file after a wild history: what adds up over whatever happened is looked at there.

use super::bench::Bench;
use super::fixture::T0;
use super::ground::Ground;
use super::sqlite::Sqlite;
use super::wild::{Dice, Known, Wild, furnish};
use bank_core::command::Command;
use bank_core::directory::Policy;
use bank_core::time::{Seconds, Timestamp};

/// How many operations a history has.
const OPERATIONS: i64 = 500;

/// The bank after the operations of a seed, up to so many seconds apart, and when the last was. What
/// happens next is asked each time; it may be nothing.
pub(super) fn history(
    seed: u64,
    apart_s: u64,
    next: impl FnMut(&mut Dice, Known, Timestamp) -> Option<Command>,
) -> (Sqlite, Timestamp) {
    history_of(Policy::default(), OPERATIONS, (seed, apart_s), next)
}

/// The same under a policy, of so many operations.
pub(super) fn history_of(
    policy: Policy,
    operations: i64,
    (seed, apart_s): (u64, u64),
    mut next: impl FnMut(&mut Dice, Known, Timestamp) -> Option<Command>,
) -> (Sqlite, Timestamp) {
    println!("seed {seed}");
    let mut store = Sqlite::new(policy, 5);
    furnish(&mut Bench::new(&mut store));
    let (mut dice, mut clock) = (Dice(seed), T0);
    for n in 0..operations {
        clock = clock.plus(Seconds(i64::try_from(dice.below(apart_s)).unwrap()));
        if let Some(command) = next(&mut dice, Known::about(n), clock) {
            store.submit(&command, Some(&format!("k{n}")), clock);
        }
    }
    assert_eq!(store.proof(), Vec::<String>::new());
    (store, clock)
}

/// One of the wild operations, unless it is one of those that let time pass: the history does.
pub(super) fn wild(dice: &mut Dice, known: Known, now: Timestamp) -> Option<Command> {
    let wild = Wild(dice.next());
    (wild.seconds() == 0).then(|| wild.command(known, now))
}
