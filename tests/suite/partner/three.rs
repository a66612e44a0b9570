//! Three banks, each with jobs of the projects of both others.

use super::world::{World, job, name};
use crate::harness::{Numbers, T0, amount};

#[test]
fn three_banks_settle_in_pairs_after_cuts_and_repeats() {
    let mut world = World::new(3, &["--away", "accept"]);
    let mut numbers = Numbers::new("partners");
    let mut owed = [[0_i64; 3]; 3];
    for round in 0_i64..24 {
        let here = usize::try_from(numbers.between(0, 2)).unwrap();
        let home = (here + usize::try_from(numbers.between(1, 2)).unwrap()) % 3;
        let seconds = i64::try_from(numbers.between(1, 60)).unwrap();
        if round % 6 == 0 {
            world.cut_all();
        }
        if round % 6 == 3 {
            world.open_all();
        }
        for bank in &world.banks {
            bank.set_clock(T0 + 100 * (round + 1));
        }
        let id = format!("Moab.{round}");
        let document = job(&id, &format!("chemistry@{}", name(home)), seconds);
        let bank = &world.banks[here];
        bank.script("reserve", &document).expect(0, "");
        bank.set_clock(T0 + 100 * (round + 1) + seconds);
        bank.script("charge", &document).expect(0, "");
        bank.script("delete", &document).expect(0, "");
        owed[here][home] += 2 * seconds;
        if round % 4 == 1 {
            bank.bank_ok(&["refund", &id, "1"]);
            owed[here][home] -= 1;
        }
    }
    world.open_all();
    world.deliver();
    for (here, own) in owed.iter().enumerate() {
        for (home, owes) in own.iter().enumerate().filter(|(home, _)| *home != here) {
            let settlement = world.settlement(here, home);
            let total = amount(&settlement["partner_owes"], "total");
            assert_eq!(total, *owes, "{settlement:#}");
        }
        let paid: i64 = owed.iter().map(|others| others[here]).sum();
        assert_eq!(world.banks[here].figures("chemistry").0, 100_000 - paid);
        assert!(world.banks[here].held().is_empty());
    }
    world.settle();
}
