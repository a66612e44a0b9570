//! The same while all inputs of a choice change: settings, lists, members, machines, windows,
//! limits, modes, properties of a job, and its payer.

use bank_core::command::{ExtendLien, SetAllocation, SetMember};
use bank_core::directory::{FallbackMode, SelectionOrder};
use bank_core::ids::LienId;
use bank_core::model::{Mode, Overflow};
use bank_core::terms::Shortfall;

use super::*;

const MODES: [Mode; 3] = [Mode::Strict, Mode::Fast, Mode::Notional];

fn policy(random: &mut Random) -> Policy {
    let fallback = random.below(2) == 0;
    let shortfalls = [Shortfall::Debt, Shortfall::Reject, Shortfall::Fallback];
    Policy {
        order: if random.below(2) == 0 {
            SelectionOrder::HierarchyFirst
        } else {
            SelectionOrder::ExpiryFirst
        },
        require_cover: random.below(3) == 0,
        fallback: if fallback {
            FallbackMode::Bank
        } else {
            FallbackMode::Scheduler
        },
        shortfall: shortfalls[usize::try_from(random.below(3)).unwrap()],
        ..Policy::default()
    }
}

/// A request with another class each time, and with a project, an account, or neither.
fn varied_request(random: &mut Random) -> Request {
    let mut request = request(random);
    request.facts.usage.class = Some(random.one(&["batch", "debug", "night"]).to_owned());
    request.facts.usage.qos = Some(random.one(&["high", "low"]).to_owned());
    request.facts.group = random.one(&["staff", "guests"]).to_owned();
    match random.below(6) {
        0 => request.whose.project = Some(random.one(&ACCOUNTS).to_owned()),
        1 => request.whose.project = None,
        2 => request.whose.user = None,
        _ => {}
    }
    if random.below(8) == 0 {
        request.object_type = ObjectType::Reservation;
        request.whose.for_reservation = true;
    }
    request
}

/// An account with other lists, another fallback, another parent.
fn listed(random: &mut Random, name: &str) -> SetAccount {
    let mut set = account(random, name);
    let rows = set.constraints.get_or_insert_default();
    match random.below(5) {
        0 => rows.push(row(Dimension::Qos, "high", random.below(2) == 0)),
        1 => rows.push(row(Dimension::Group, "staff", true)),
        2 => rows.push(row(Dimension::User, "MEMBERS", true)),
        3 => rows.push(row(Dimension::Machine, "ia64", random.below(4) != 0)),
        _ => rows.truncate(1),
    }
    set.fallback = match random.below(3) {
        0 => Some(Some("rescue".to_owned())),
        1 => Some(None),
        _ => None,
    };
    if random.below(3) == 0 {
        set.parent = Some(Some("top".to_owned()));
        set.overflow = Some(if random.below(2) == 0 {
            Overflow::Any
        } else {
            Overflow::Listed
        });
    }
    set
}

/// A change of something that a choice hangs on.
fn change(random: &mut Random, now: i64) -> Command {
    let (project, user) = (
        random.one(&PROJECTS).to_owned(),
        random.one(&USERS).to_owned(),
    );
    let on = random.below(4) != 0;
    match random.below(10) {
        0 => Command::SetMember(SetMember {
            project,
            user,
            active: Some(on),
            role: None,
        }),
        1 => Command::set_record(
            "user",
            &user,
            &[
                ("active", on.into()),
                ("default_project", project.as_str().into()),
            ],
        ),
        2 => Command::set_record(
            "project",
            &project,
            &[
                (
                    "mode",
                    MODES[usize::try_from(random.below(3)).unwrap()]
                        .word()
                        .into(),
                ),
                ("active", on.into()),
            ],
        ),
        3 => Command::set_record(
            "project",
            &project,
            &[("mode", "default".into()), ("active", true.into())],
        ),
        4 => Command::set_record(
            "machine",
            "ia64",
            &[
                ("fallback_qos", on.then_some("low").into()),
                ("reservation_account", project.as_str().into()),
            ],
        ),
        5 => Command::SetAllocation(SetAllocation {
            id: AllocationId(1 + random.up_to(40)),
            start: None,
            end: Some(Some(at(now + random.up_to(300)))),
            credit_limit: Some(Amount(random.up_to(20_000))),
        }),
        6 => Command::ExtendLien(ExtendLien {
            lien: LienId(1 + random.up_to(200)),
            end: at(now + 700 + random.up_to(900)),
        }),
        7 => Command::RemoveMember(project, user),
        _ => Command::SetAccount(listed(random, random_account(now))),
    }
}

fn random_account(now: i64) -> &'static str {
    let names = ["big", "small", "night"];
    names[usize::try_from(now.rem_euclid(3)).unwrap()]
}

fn step(random: &mut Random, now: i64) -> Command {
    match random.below(20) {
        0..=2 => deposit(random, now),
        3..=5 => change(random, now),
        6..=11 => Command::Reserve(Reserve {
            request: varied_request(random),
            ..Reserve::default()
        }),
        12..=18 => {
            let mut charge = Charge {
                request: varied_request(random),
                duration: Some(Seconds(1 + random.up_to(120))),
                closes: random.below(3) == 0,
                ..Charge::default()
            };
            charge.terms.named_only = random.below(8) == 0;
            Command::Charge(charge)
        }
        _ => Command::Close(Close {
            key: varied_request(random).key(),
            by: Closing::Delete,
            event_time: None,
        }),
    }
}

fn history(seed: u64, steps: usize) -> Bank {
    println!("seed {seed}");
    let mut random = Random(seed);
    let mut bank = set_up();
    let other = Command::add_record("project", "other", &[("no_account", true.into())]);
    bank.run(1, &other);
    for name in ["rescue", "top"] {
        let new = SetAccount {
            name: name.into(),
            constraints: Some(vec![row(Dimension::Project, "other", true)]),
            ..SetAccount::default()
        };
        bank.run(2, &Command::AddAccount(new));
        let money = Deposit {
            name: name.into(),
            amount: Amount(2_000_000),
            ..Deposit::default()
        };
        bank.run(2, &Command::Deposit(money));
    }
    for name in ["big", "small", "night"] {
        let new = listed(&mut random, name);
        bank.run(2, &Command::AddAccount(new));
    }
    let (mut now, mut accepted) = (10, 0);
    for n in 0..steps {
        now += random.up_to(8);
        if n % 97 == 96 {
            let policy = policy(&mut random);
            bank = bank.under(now, policy);
        }
        let command = step(&mut random, now);
        accepted += usize::from(bank.decide(now, &command).is_ok());
    }
    assert!(accepted * 4 > steps, "{accepted} of {steps} were accepted");
    bank
}

#[test]
fn later_changes_leave_nothing_unexplained() {
    let mut all: BTreeMap<String, usize> = BTreeMap::new();
    for seed in [1, 2, 3, 20_261_122, 77_003] {
        let bank = history(seed, 900);
        let (choices, verdicts) = check_all(&bank, seed);
        assert!(choices > 150, "seed {seed}: {choices} choices");
        for (verdict, count) in verdicts {
            *all.entry(verdict).or_default() += count;
        }
        let report = crate::verify::run(bank.path()).unwrap();
        assert!(report.findings.is_empty(), "{:?}", report.findings);
    }
    println!("{all:?}");
    for verdict in [
        "Turn",
        "Lien",
        "NotNeeded",
        "NoMoney",
        "Debt",
        "Fallback",
        "TooLittle",
        "Blocked",
        "EndsBefore",
        "NotNamed",
        "NoWindow",
        "Indivisible",
        "List(User)",
        "List(Class)",
        "List(Qos)",
    ] {
        assert!(all.contains_key(verdict), "{verdict} is not among {all:?}");
    }
}
