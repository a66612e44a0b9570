//! Links that are cut, answers that are lost, and a partner that is away.

use super::link::State;
use super::world::{World, job, name};
use crate::harness::{T0, amount, text, until};
use std::time::Duration;

fn project(bank: usize) -> String {
    format!("chemistry@{}", name(bank))
}

#[test]
fn charges_wait_while_the_partner_is_away_and_arrive_once() {
    let mut world = World::new(2, &[]);
    world.banks[0].set_clock(T0 + 1000);
    world.cut_all();
    for number in 0..5 {
        let document = job(&format!("Moab.{number}"), &project(1), 10);
        world.banks[0].script("charge", &document).expect(0, "");
    }
    assert_eq!(world.in_flight(0), 5);
    assert_eq!(world.banks[0].figures("owed-by-1").0, -100);
    // The settlement of one bank alone names them.
    let alone = world.settlement(0, 1);
    assert_eq!(alone["compared"], false);
    assert_eq!(alone["partner_owes"]["in_flight"], 5);
    assert_eq!(amount(&alone["partner_owes"], "in_flight_amount"), 100);
    assert_eq!(text(&alone["differences"][0], "what"), "in_flight");
    let explained = world.banks[0].bank_ok(&["explain", "Moab.3"]);
    assert!(explained.contains("in flight"), "{explained}");
    // They survive a restart of the sender.
    world.banks[0].stop();
    world.banks[0].start();
    world.open_all();
    world.deliver();
    assert_eq!(world.banks[1].figures("chemistry").0, 99_900);
    world.settle();
}

#[test]
fn a_lost_answer_charges_nothing_twice() {
    let mut world = World::new(2, &[]);
    world.banks[0].set_clock(T0 + 1000);
    // Before the first message, the sender asks the partner how far it is.
    let first = job("Moab.0", &project(1), 10);
    world.banks[0].script("charge", &first).expect(0, "");
    world.deliver();
    world.link(0, 1, State::Mute(world.banks[1].tcp()));
    let document = job("Moab.1", &project(1), 10);
    world.banks[0].script("charge", &document).expect(0, "");
    until("the charge is there", || {
        (world.banks[1].figures("chemistry").0 == 99_960).then_some(())
    });
    assert_eq!(world.in_flight(0), 1);
    // The partner has it, and the sender does not know: both agree all the same once they can compare.
    let there = world.settlement(1, 0);
    assert_eq!(
        (&there["agrees"], amount(&there["partner_gets"], "total")),
        (&true.into(), 40)
    );
    world.open_all();
    world.deliver();
    assert_eq!(world.banks[1].figures("chemistry").0, 99_960);
    assert_eq!(world.banks[1].entries("charge").len(), 2);
    world.settle();
}

#[test]
fn a_reserve_without_the_partner_is_refused_in_time() {
    let mut world = World::new(2, &[]);
    let document = job("Moab.1", &project(1), 10);
    for state in [State::Cut, State::Silent] {
        world.link(0, 1, state);
        for event in ["quote", "reserve"] {
            let ran = world.banks[0].script(event, &document);
            ran.expect(70, "")
                .expect_stderr(&["bank1.example", "cannot be reached"]);
            assert!(ran.took < Duration::from_secs(6), "{:?}", ran.took);
        }
    }
    // The refusal is not kept: the same document is accepted later.
    world.open_all();
    world.banks[0].script("reserve", &document).expect(0, "");
    assert_eq!(world.banks[1].held(), [("chemistry".to_owned(), 20)]);
    world.banks[0].script("delete", &document).expect(0, "");
    world.deliver();
    assert!(world.banks[1].held().is_empty());
    world.settle();
}

#[test]
fn a_partner_that_is_away_may_be_trusted() {
    let mut world = World::new(2, &["--away", "accept"]);
    world.cut_all();
    let document = job("Moab.1", &project(1), 10);
    world.banks[0].script("quote", &document).expect(0, "20\n");
    world.banks[0].script("reserve", &document).expect(0, "");
    assert_eq!(world.banks[0].held(), [("owed-by-1".to_owned(), 20)]);
    let reserved = world.banks[0].items(&["journal", "--kind", "lien"]);
    assert!(text(&reserved[0], "reason").contains("partner_away=bank1.example"));
    world.banks[0].set_clock(T0 + 10);
    world.banks[0].script("end", &document).expect(0, "");
    world.open_all();
    world.deliver();
    assert_eq!(world.banks[1].figures("chemistry").0, 99_980);
    world.settle();
}

#[test]
fn a_lien_at_the_partner_without_a_reserve_here_is_released() {
    let mut world = World::new(2, &[]);
    // The partner holds, and its answer is lost: the job does not start.
    world.link(0, 1, State::Mute(world.banks[1].tcp()));
    let document = job("Moab.1", &project(1), 10);
    world.banks[0].script("reserve", &document).expect(70, "");
    assert_eq!(world.banks[1].held(), [("chemistry".to_owned(), 20)]);
    assert!(world.banks[0].held().is_empty());
    world.open_all();
    world.banks[0].set_clock(T0 + 120);
    until("the lien is released", || {
        world.banks[1].held().is_empty().then_some(())
    });
    until("the question is settled", || {
        let open = world.banks[0].query("SELECT count(*) FROM partner_question");
        (open[0][0] == "0").then_some(())
    });
    world.settle();
}

#[test]
fn a_partner_that_was_restored_gets_what_it_lost() {
    let mut world = World::new(2, &[]);
    world.banks[0].set_clock(T0 + 1000);
    world.banks[1].set_clock(T0 + 1000);
    world.banks[0]
        .script("charge", &job("Moab.1", &project(1), 10))
        .expect(0, "");
    world.deliver();
    world.banks[1].stop();
    let (data, kept) = (
        world.banks[1].data(),
        world.banks[1].folder().join("kept.db"),
    );
    std::fs::copy(data.join("bank.db"), &kept).unwrap();
    world.banks[1].start();
    world.open_all();
    world.banks[0]
        .script("charge", &job("Moab.2", &project(1), 20))
        .expect(0, "");
    world.deliver();
    assert_eq!(world.banks[1].figures("chemistry").0, 99_940);
    // Back to the copy, as after a lost disk.
    world.banks[1].stop();
    for file in ["bank.db", "bank.db-wal", "bank.db-shm"] {
        let _ = std::fs::remove_file(data.join(file));
    }
    std::fs::copy(&kept, data.join("bank.db")).unwrap();
    world.banks[1].start();
    assert_eq!(world.banks[1].figures("chemistry").0, 99_980);
    world.open_all();
    // The sender asks from time to time where the partner is.
    until("everything is there", || {
        (world.banks[1].figures("chemistry").0 == 99_940).then_some(())
    });
    world.settle();
}
