//! Kills of either bank at named points between a question, its answer, a message and its confirmation.

use super::world::{World, job, name};
use crate::harness::{T0, until};

fn project(bank: usize) -> String {
    format!("chemistry@{}", name(bank))
}

/// Kills one bank at a point while the first one starts and charges jobs; then everything is repeated with the
/// same keys, as the scheduler's scripts do.
fn killed_at(bank: usize, point: &str) {
    let mut world = World::new(2, &[]);
    world.banks[bank].stop();
    let trap = format!("{point}:2");
    assert!(world.banks[bank].start_with(&[("BANKD_KILL_AT", &trap)]));
    world.open_all();
    let jobs: Vec<Vec<u8>> = (0..4)
        .map(|n| job(&format!("Moab.{n}"), &project(1), 10))
        .collect();
    for document in &jobs {
        // A start may be lost with the daemon; the scheduler starts the job again below.
        world.banks[0].script("reserve", document);
    }
    world.banks[0].set_clock(T0 + 10);
    for document in &jobs {
        // What the bank does not take waits in the spool.
        let ran = world.banks[0].script("charge", document);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
    }
    until("the daemon is killed", || {
        // Some points are passed by the next message only.
        world.banks[bank].is_gone().then_some(())
    });
    world.banks[bank].kill();
    world.banks[bank].start();
    world.open_all();
    until("the spool is empty", || {
        world.banks[0].script("drain", b"");
        (world.banks[0].spooled() == 0).then_some(())
    });
    for document in &jobs {
        world.banks[0].script("delete", document).expect(0, "");
    }
    // Questions without a reserve are released.
    world.banks[0].set_clock(T0 + 600);
    world.deliver();
    until("no question is open", || {
        let open = world.banks[0].query("SELECT count(*) FROM partner_question");
        (open[0][0] == "0").then_some(())
    });
    assert_eq!(
        world.banks[0].figures("owed-by-1"),
        (-80, 0, 49_920),
        "{point}"
    );
    assert_eq!(
        world.banks[1].figures("chemistry"),
        (99_920, 0, 99_920),
        "{point}"
    );
    world.settle();
}

#[test]
fn the_sender_dies_after_its_question() {
    killed_at(0, "partner_asked");
}

#[test]
fn the_sender_dies_after_the_answer() {
    killed_at(0, "partner_answered");
}

#[test]
fn the_sender_dies_after_a_message() {
    killed_at(0, "message_sent");
}

#[test]
fn the_sender_dies_after_a_confirmation() {
    killed_at(0, "message_kept");
}

#[test]
fn the_sender_dies_before_a_commit() {
    killed_at(0, "appended");
}

#[test]
fn the_partner_dies_before_a_commit() {
    killed_at(1, "appended");
}

#[test]
fn the_partner_dies_after_a_commit() {
    killed_at(1, "committed");
}
