//! The same for finished uses that are amended with other figures and other projects, for uses that
//! nobody could be billed for, and for their settlements.

use bank_core::command::{After, Settle, UsageReport};
use bank_core::model::Mode;
use bank_core::policy::{Ended, Figures};

use super::*;

/// One of thirty uses, with a random owner and duration at each arrival.
fn finished(random: &mut Random) -> Command {
    let mut request = request(random);
    let project = random.one(&["chem", "chem", "bio", "bio", "nobody"]);
    let began = at(5);
    request.object_id = random.below(30).to_string();
    request.whose.machine = "tower".into();
    request.whose.project = Some(project.into());
    request.facts.project = project.into();
    request.facts.start = Some(began);
    request.facts.end = Some(began.plus(Seconds(1 + random.up_to(60))));
    request.facts.usage.class = Some(random.one(&["batch", "debug"]).into());
    Command::Usage(Box::new(UsageReport {
        source: "slurm:t".into(),
        figures: Figures {
            ended: Ended::Completed,
            ..Figures::default()
        },
        request,
        ..UsageReport::default()
    }))
}

fn step(random: &mut Random, now: i64) -> Command {
    match random.below(16) {
        0..=2 => deposit(random, now),
        3 => Command::SetAccount(account(random, random_name(now))),
        4 => {
            let modes = [Mode::Strict, Mode::Strict, Mode::Notional];
            let mode = modes[usize::try_from(random.below(3)).unwrap()];
            Command::set_record(
                "project",
                random.one(&PROJECTS),
                &[("mode", mode.word().into())],
            )
        }
        5 | 6 => Command::After(After::Settle(Settle {
            object_id: random.below(30).to_string(),
            machine: Some("tower".into()),
            object_type: None,
            number: None,
            project: random.one(&PROJECTS).into(),
            note: String::new(),
        })),
        _ => finished(random),
    }
}

fn random_name(now: i64) -> &'static str {
    let names = ["big", "small", "night"];
    names[usize::try_from(now.rem_euclid(3)).unwrap()]
}

#[test]
fn amended_records_and_settlements_leave_nothing_unexplained() {
    for seed in [3, 20_261_122] {
        println!("seed {seed}");
        let mut random = Random(seed);
        let mut bank = set_up();
        bank.run(1, &Command::add_record("machine", "tower", &[]));
        for name in ["big", "small", "night"] {
            let new = account(&mut random, name);
            bank.run(2, &Command::AddAccount(new));
        }
        let (mut now, mut accepted) = (100, 0);
        for _ in 0..700 {
            now += random.up_to(4);
            let command = step(&mut random, now);
            accepted += usize::from(bank.decide(now, &command).is_ok());
        }
        assert!(accepted > 350, "{accepted} of 700 were accepted");
        check_all(&bank, seed);
        let reader = bank.reader();
        let last = numbers::last_transaction(&reader).unwrap();
        let mut explained: BTreeMap<String, usize> = BTreeMap::new();
        for id in 1..=last {
            let found = transaction(&reader, id, Policy::default());
            let found = found.unwrap().unwrap();
            if !found.choice.is_empty() {
                *explained.entry(found.tx.op).or_default() += 1;
            }
        }
        println!("seed {seed}: {explained:?}");
        for op in ["charge", "adjust", "settle"] {
            let many = explained.get(op).copied().unwrap_or_default();
            assert!(many >= 5, "seed {seed}: {op} in {explained:?}");
        }
    }
}
