//! Compares explanations with the choices made: over random histories of accounts with lists,
//! priorities, windows and limits.

mod amended;
mod changes;
mod moved;

use std::collections::BTreeMap;

use bank_core::amount::Amount;
use bank_core::command::{
    Charge, Close, Command, Deposit, Request, Reserve, SetAccount, SetRate, Whose,
};
use bank_core::decimal::Decimal;
use bank_core::directory::Policy;
use bank_core::effects::EntryKind;
use bank_core::model::{Closing, Constraint, Facts, ObjectType};
use bank_core::rate::{Per, RateKind, RateValue};
use bank_core::time::{Seconds, Window};
use bank_core::usage::Usage;

use super::super::tests::{Bank, at};
use super::inputs::chooses;
use super::*;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }

    fn up_to(&mut self, limit: i64) -> i64 {
        i64::try_from(self.below(u64::try_from(limit).unwrap())).unwrap()
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }
}

const USERS: [&str; 3] = ["amy", "bob", "eve"];
const PROJECTS: [&str; 2] = ["chem", "bio"];
const ACCOUNTS: [&str; 5] = ["chem", "bio", "big", "small", "night"];

fn set_up() -> Bank {
    let mut bank = Bank::new();
    for name in USERS {
        let user = Command::add_record("user", name, &[]);
        bank.run(1, &user);
    }
    bank.run(1, &Command::add_record("machine", "ia64", &[]));
    for (name, members) in [("chem", ["amy", "bob"]), ("bio", ["bob", "eve"])] {
        let project = Command::add_record(
            "project",
            name,
            &[("members", members.map(str::to_owned).to_vec().into())],
        );
        bank.run(1, &project);
    }
    let rate = SetRate {
        kind: RateKind::Vbr,
        name: "Processors".into(),
        instance: String::new(),
        value: RateValue(1_000_000_000),
        per: Per::Second,
        machine: None,
        from: None,
        until: None,
        when: None,
        description: String::new(),
    };
    bank.run(1, &Command::SetRate(rate));
    bank
}

fn row(dimension: Dimension, value: &str, allow: bool) -> Constraint {
    Constraint {
        dimension,
        value: value.into(),
        allow,
        subtree: false,
    }
}

fn account(random: &mut Random, name: &str) -> SetAccount {
    let mut rows = vec![row(Dimension::Project, random.one(&PROJECTS), true)];
    if random.below(2) == 0 {
        rows.push(row(Dimension::Project, "ANY", true));
    }
    if random.below(2) == 0 {
        let allow = random.below(2) == 0;
        rows.push(row(Dimension::User, random.one(&USERS), allow));
    }
    if random.below(4) == 0 {
        rows.push(row(Dimension::Class, "batch", true));
    }
    SetAccount {
        name: name.into(),
        constraints: Some(rows),
        priority: Some(random.up_to(3)),
        discrete: Some(random.below(4) == 0),
        ..SetAccount::default()
    }
}

fn request(random: &mut Random) -> Request {
    let (project, user) = (random.one(&PROJECTS), random.one(&USERS));
    // The inputs of a lien have their latest values: a job keeps its class.
    let job = random.below(40);
    let class = if job.is_multiple_of(2) {
        "batch"
    } else {
        "debug"
    };
    let usage = Usage {
        processors: Some(Decimal::whole(1 + random.up_to(4))),
        class: Some(class.into()),
        ..Usage::default()
    };
    Request {
        object_id: job.to_string(),
        whose: Whose {
            project: Some(project.into()),
            user: Some(user.into()),
            machine: "ia64".into(),
            ..Whose::default()
        },
        facts: Facts {
            project: project.into(),
            user: user.into(),
            usage,
            wall: Some(Seconds(1 + random.up_to(60))),
            ..Facts::default()
        },
        ..Request::default()
    }
}

fn deposit(random: &mut Random, now: i64) -> Command {
    let bounded = random.below(2) == 0;
    let window = Window {
        start: bounded.then(|| at(now + random.up_to(60) - 30)),
        end: bounded.then(|| at(now + 40 + random.up_to(200))),
    };
    let limit = (random.below(3) == 0).then(|| Amount(random.up_to(50_000)));
    Command::Deposit(Deposit {
        name: random.one(&ACCOUNTS).into(),
        amount: Amount(random.up_to(120_000)),
        window,
        credit_limit: limit,
        ..Deposit::default()
    })
}

fn command(random: &mut Random, now: i64) -> Command {
    match random.below(20) {
        0..=3 => deposit(random, now),
        4 => {
            let name = random.one(&["big", "small", "night"]);
            Command::SetAccount(account(random, name))
        }
        5..=11 => Command::Reserve(Reserve {
            request: request(random),
            ..Reserve::default()
        }),
        12..=17 => Command::Charge(Charge {
            request: request(random),
            duration: Some(Seconds(1 + random.up_to(70))),
            closes: random.below(2) == 0,
            ..Charge::default()
        }),
        _ => Command::Close(Close {
            key: request(random).key(),
            by: Closing::Delete,
            event_time: None,
        }),
    }
}

/// Amounts that entries took from each allocation, without the explanation.
fn moved(explained: &Explained) -> BTreeMap<i64, i128> {
    let mut sums = BTreeMap::new();
    // Amounts of an earlier record are another use.
    let usage = billing(&explained.entries);
    for entry in explained.entries.iter().filter(|e| e.usage == usage) {
        let kind = EntryKind::parse(&entry.kind).and_then(chooses);
        let (Some(billed), Some(allocation)) = (kind, entry.allocation) else {
            continue;
        };
        let sum: &mut i128 = sums.entry(allocation).or_default();
        *sum += if billed {
            -(i128::from(entry.delta_amount) + i128::from(entry.delta_shadow))
        } else {
            i128::from(entry.delta_held) + i128::from(entry.delta_shadow_held)
        };
    }
    sums.retain(|_, sum| *sum != 0);
    sums
}

/// Allocations pay fully in order until nothing remains: after one that kept money, no later one
/// pays.
fn check_turns(explained: &Explained, seed: u64) {
    let tx = explained.tx.id;
    let is_shadow = |e: &Entry| e.delta_shadow != 0 || e.delta_shadow_held != 0;
    if explained.entries.iter().any(is_shadow) {
        // A shadow amount is on one allocation, regardless of its money.
        return;
    }
    let in_turn = |s: &&Step| {
        let out_of_turn = matches!(
            s.why,
            Why::Debt | Why::Fallback | Why::Lien | Why::Suspense | Why::Removed
        );
        let untried = matches!(s.why, Why::Blocked | Why::EndsBefore);
        s.allocation.is_some() && !out_of_turn && !untried
    };
    let (mut is_covered, mut lien) = (false, None);
    for step in explained.choice.iter().filter(in_turn) {
        if step.lien != lien {
            // Each lien that was moved looked for itself.
            (is_covered, lien) = (false, step.lien);
        }
        let discrete = explained
            .then
            .account(step.account)
            .is_some_and(|a| a.discrete);
        let context = format!(
            "seed {seed}, transaction {tx}: {step:?} of {:?}",
            explained.choice
        );
        assert!(step.taken <= step.free, "{context}");
        assert!(!is_covered || step.taken == 0, "{context}");
        is_covered = is_covered || (step.taken < step.free && !discrete);
    }
}

/// Checks every choice of a bank: the explanation matches the amounts taken, in order, with no
/// unknown reasons. Returns the number of choices and the count of each verdict.
fn check_all(bank: &Bank, seed: u64) -> (usize, BTreeMap<String, usize>) {
    let reader = bank.reader();
    let last = numbers::last_transaction(&reader).unwrap();
    let mut verdicts: BTreeMap<String, usize> = BTreeMap::new();
    let mut choices = 0;
    for id in 1..=last {
        let explained = transaction(&reader, id, Policy::default())
            .unwrap()
            .unwrap();
        let mut sums: BTreeMap<i64, i128> = BTreeMap::new();
        for step in &explained.choice {
            let verdict = format!("{:?}", step.why);
            *verdicts.entry(verdict).or_default() += 1;
            if let Some(allocation) = step.allocation {
                *sums.entry(allocation.0).or_default() += step.taken;
            }
            if let Why::List(list) = &step.why {
                let account = explained.then.account(step.account).unwrap();
                assert!(account.constraints.iter().any(|c| c.dimension == *list));
            }
        }
        sums.retain(|_, sum| *sum != 0);
        if explained.choice.is_empty() {
            continue;
        }
        let context = format!("seed {seed}, transaction {id}: {:?}", explained.choice);
        assert_eq!(sums, moved(&explained), "{context}");
        choices += 1;
        let unrecorded = explained.choice.iter().any(|s| s.why == Why::Unrecorded);
        assert!(!unrecorded, "{context}");
        check_turns(&explained, seed);
    }
    println!("seed {seed}: {choices} choices, {verdicts:?}");
    let beyond = transaction(&reader, last + 1, Policy::default()).unwrap();
    assert!(beyond.is_none());
    (choices, verdicts)
}

#[test]
fn an_explained_choice_is_the_recorded_choice() {
    let seed = 20_261_122;
    println!("seed {seed}");
    let mut random = Random(seed);
    let mut bank = set_up();
    for name in ["big", "small", "night"] {
        let new = account(&mut random, name);
        bank.run(2, &Command::AddAccount(new));
    }
    let (mut now, mut accepted) = (10, 0);
    for _ in 0..1_500 {
        now += random.up_to(8);
        let command = command(&mut random, now);
        accepted += usize::from(bank.decide(now, &command).is_ok());
    }
    assert!(accepted > 500, "{accepted} of 1500 were accepted");
    let (_, verdicts) = check_all(&bank, seed);
    for verdict in ["Turn", "Lien", "NotNeeded", "NoMoney", "Debt", "List(User)"] {
        assert!(
            verdicts.contains_key(verdict),
            "seed {seed}: {verdict} is not among {verdicts:?}"
        );
    }
}

#[test]
fn a_job_has_all_its_transactions() {
    let mut random = Random(7);
    let mut bank = set_up();
    let money = Deposit {
        name: "chem".into(),
        amount: Amount(10_000_000),
        ..Deposit::default()
    };
    bank.run(2, &Command::Deposit(money));
    let mut request = request(&mut random);
    (request.whose.project, request.whose.user) = (Some("chem".into()), Some("amy".into()));
    let charge = |closes| {
        Command::Charge(Charge {
            request: request.clone(),
            duration: Some(Seconds(5)),
            closes,
            ..Charge::default()
        })
    };
    let reserve = Reserve {
        request: request.clone(),
        ..Reserve::default()
    };
    bank.run(10, &Command::Reserve(reserve));
    bank.run(20, &charge(false));
    bank.run(30, &charge(true));
    let reader = bank.reader();
    let job = jobs::newest(&reader, &request.object_id, |_| true)
        .unwrap()
        .remove(0);
    let (numbers, whole) = of_job(&reader, &job).unwrap();
    assert!(whole);
    let explained = numbers
        .iter()
        .map(|id| transaction(&reader, *id, Policy::default()));
    let explained: Vec<Explained> = explained.map(|t| t.unwrap().unwrap()).collect();
    let ops: Vec<&str> = explained.iter().map(|t| t.tx.op.as_str()).collect();
    assert_eq!(ops, ["reserve", "charge", "charge"]);
    let why = |t: &Explained| t.choice.first().map(|s| s.why.clone());
    let whys: Vec<Option<Why>> = explained.iter().map(why).collect();
    assert_eq!(whys, [Some(Why::Turn), Some(Why::Lien), Some(Why::Lien)]);
    assert!(explained[1].charge.is_some() && explained[0].charge.is_none());
}
