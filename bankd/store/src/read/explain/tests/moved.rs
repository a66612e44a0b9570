//! The same of liens that hold elsewhere, because an account or an allocation of theirs went.

use bank_core::command::{After, RemoveAllocation};

use super::*;

fn step(random: &mut Random, now: i64, newest: i64) -> Command {
    match random.below(16) {
        0..=3 => deposit(random, now),
        4 => Command::SetAccount(account(random, random_name(now))),
        5 => Command::After(After::RemoveAccount(random_name(now).into())),
        6 => Command::After(After::RestoreAccount(random_name(now).into())),
        7 => Command::After(After::RemoveAllocation(RemoveAllocation {
            id: AllocationId(1 + random.up_to(newest)),
            force: true,
        })),
        8 => Command::Close(Close {
            key: request(random).key(),
            by: Closing::Delete,
            event_time: None,
        }),
        _ => Command::Reserve(Reserve {
            request: request(random),
            ..Reserve::default()
        }),
    }
}

fn random_name(now: i64) -> &'static str {
    let names = ["big", "small", "night"];
    names[usize::try_from(now.rem_euclid(3)).unwrap()]
}

#[test]
fn moved_liens_leave_nothing_unexplained() {
    for seed in [5, 20_261_123] {
        println!("seed {seed}");
        let mut random = Random(seed);
        let mut bank = set_up();
        for name in ["big", "small", "night"] {
            let new = account(&mut random, name);
            bank.run(2, &Command::AddAccount(new));
        }
        let mut now = 100;
        for n in 0..900 {
            now += random.up_to(4);
            let command = step(&mut random, now, 1 + n / 6);
            // Some are rejected, such as the removal of a removed object.
            let _ = bank.decide(now, &command);
        }
        let (_, verdicts) = check_all(&bank, seed);
        for verdict in ["Removed", "Suspense", "Turn", "Lien", "NoMoney"] {
            assert!(verdicts.contains_key(verdict), "{verdict}: {verdicts:?}");
        }
        let reader = bank.reader();
        let last = numbers::last_transaction(&reader).unwrap();
        let mut moved = 0;
        for id in 1..=last {
            let explained = transaction(&reader, id, Policy::default());
            let explained = explained.unwrap().unwrap();
            if !["account_rm", "allocation_rm"].contains(&explained.tx.op.as_str()) {
                continue;
            }
            let is_lien = |e: &&Entry| e.kind == EntryKind::Lien.word();
            for entry in explained.entries.iter().filter(is_lien) {
                moved += 1;
                let own = explained.choice.iter().filter(|s| s.lien == entry.lien);
                let held = own.filter(|s| s.allocation.map(|a| a.0) == entry.allocation);
                let held: i128 = held.map(|s| s.taken).sum();
                let context = format!("seed {seed}, transaction {id}: {:?}", explained.choice);
                assert_eq!(held, i128::from(entry.delta_held), "{context}");
                // The job's explanation includes it as well.
                let job = &explained.jobs[&entry.lien.unwrap()];
                assert!(of_job(&reader, job).unwrap().0.contains(&id), "{context}");
            }
        }
        assert!(moved > 20, "seed {seed}: {moved} portions were moved");
    }
}
