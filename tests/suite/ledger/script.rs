//! Random command sequences as scripts that a person can read.
//!
//! The world is fixed: projects P (strict), N (notional), T (track), X (fast); amy is a member of
//! all, bob of P, dave of none; a rate of half a credit per processor-second, so that rounding
//! matters.

use super::ask::{Ask, c, ci, deposit, job, quote, r, withdraw};
use super::bench::{BEFORE, Bench};
use super::fixture::show_time;
use bank_core::command::{Close, Command, SetProject};
use bank_core::model::{Closing, Mode};
use bank_core::time::{Seconds, Timestamp};
use proptest::prelude::*;
use std::fmt;

/// The accounts of the world, with their first allocations.
pub(crate) const ACCOUNTS: &str = "A{a=60, b=40 [2026,T0+900)}, \
     B{c=30 L=20; -p P -u amy -m colony}, \
     C{d=50 [T0+300,T0+3000); -p P -u MEMBERS,-amy}, \
     N{e=20; -p N}, T{f=0; -p T}, X{g=25; -p X}";

/// Their names.
pub(crate) const NAMES: [&str; 6] = ["A", "B", "C", "N", "T", "X"];

/// Windows of deposits.
pub(crate) const WINDOWS: [&str; 6] = [
    "[,)",
    "[2026,T0+900)",
    "[T0+300,T0+3000)",
    "[2026,2027)",
    "[2026,)",
    "[,T0-100)",
];

/// Who asks: user, project, machine.
pub(crate) const WHO: [(&str, &str, &str); 8] = [
    ("amy", "P", "colony"),
    ("amy", "P", "blue"),
    ("bob", "P", "colony"),
    ("dave", "P", "colony"),
    ("amy", "N", "colony"),
    ("amy", "T", "blue"),
    ("amy", "X", "colony"),
    ("amy", "nosuch", "blue"),
];

/// What a charge makes of its instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Nothing: it is an interim one.
    Stays,
    /// Its lien gives back what is left, and it stays open.
    Pauses,
    /// It closes.
    Closes,
}

/// One step of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Deposit {
        account: usize,
        amount: i64,
        window: usize,
        limit: i64,
    },
    Withdraw {
        account: usize,
        amount: i64,
        no_credit: bool,
    },
    Quote {
        who: usize,
        processors: i64,
        seconds: i64,
    },
    Reserve {
        who: usize,
        job: u8,
        processors: i64,
        seconds: i64,
    },
    Charge {
        who: usize,
        job: u8,
        processors: i64,
        seconds: i64,
        then: Then,
        ago: i64,
    },
    Delete {
        who: usize,
        job: u8,
    },
    Tick {
        seconds: i64,
    },
    /// An earlier step again with its key; with another body where it is altered.
    Repeat {
        back: usize,
        altered: bool,
    },
    /// The store is closed and opened again.
    Reopen,
}

/// A sequence of steps.
#[derive(Clone, Debug)]
pub(crate) struct Script(pub(crate) Vec<Step>);

/// A job's id: those of one project never mean another project's.
pub(crate) fn job_id(who: usize, job: u8) -> String {
    format!("{}{job}", WHO[who].1)
}

impl Step {
    /// Whether it goes to the bank with a key of its own.
    pub(crate) fn is_keyed(self) -> bool {
        !matches!(
            self,
            Step::Quote { .. } | Step::Tick { .. } | Step::Repeat { .. } | Step::Reopen
        )
    }

    /// The same with another body.
    pub(crate) fn altered(self) -> Step {
        match self {
            Step::Deposit {
                account,
                amount,
                window,
                limit,
            } => Step::Deposit {
                account,
                amount: amount + 1,
                window,
                limit,
            },
            Step::Withdraw {
                account,
                amount,
                no_credit,
            } => Step::Withdraw {
                account,
                amount: amount + 1,
                no_credit,
            },
            Step::Reserve {
                who,
                job,
                processors,
                seconds,
            } => Step::Reserve {
                who,
                job,
                processors,
                seconds: seconds + 1,
            },
            Step::Charge {
                who,
                job,
                processors,
                seconds,
                then,
                ago,
            } => Step::Charge {
                who,
                job,
                processors,
                seconds: seconds + 1,
                then,
                ago,
            },
            Step::Delete { who, job } => Step::Delete { who, job: job + 10 },
            same => same,
        }
    }

    /// The command, for steps that are one; `now` is what the clock shows.
    pub(crate) fn command(self, now: Timestamp) -> Command {
        let ask = match self {
            Step::Deposit {
                account,
                amount,
                window: at,
                limit,
            } => {
                let ask = deposit(NAMES[account], &amount.to_string());
                ask.window(WINDOWS[at]).limit(limit)
            }
            Step::Withdraw {
                account,
                amount,
                no_credit,
            } => {
                let ask = withdraw(NAMES[account], amount);
                if no_credit { ask.no_credit() } else { ask }
            }
            Step::Quote {
                who,
                processors,
                seconds,
            } => whose(quote(seconds), who).processors(processors),
            Step::Reserve {
                who,
                job,
                processors,
                seconds,
            } => whose(r(&job_id(who, job), seconds), who).processors(processors),
            Step::Charge {
                who,
                job,
                processors,
                seconds,
                then,
                ago,
            } => {
                let ask = if then == Then::Closes { c } else { ci };
                let ask = whose(ask(&job_id(who, job), seconds), who).processors(processors);
                let ask = ask.charge(|charge| charge.releases = then == Then::Pauses);
                if ago == 0 {
                    ask
                } else {
                    ask.at(&show_time(now.minus(Seconds(ago))))
                }
            }
            Step::Delete { who, job: n } => Command::Close(Close {
                key: job(WHO[who].2, &job_id(who, n)),
                by: Closing::Delete,
                event_time: None,
            })
            .into(),
            Step::Tick { .. } | Step::Repeat { .. } | Step::Reopen => panic!("is no command"),
        };
        ask.command.unwrap()
    }
}

fn whose(ask: Ask, who: usize) -> Ask {
    let (user, project, machine) = WHO[who];
    ask.user(user).project(project).machine(machine)
}

/// Fills a ground with the world.
pub(crate) fn furnish(bench: &mut Bench<'_>) {
    bench.clock = BEFORE;
    bench.rate("VBR Processors 0.5");
    for (name, mode) in [("N", Mode::Notional), ("T", Mode::Track), ("X", Mode::Fast)] {
        bench.project(name, None);
        bench.admin(Command::SetProject(SetProject {
            name: name.to_owned(),
            mode: Some(Some(mode)),
            ..SetProject::default()
        }));
        bench.member(name, "amy", true);
    }
    bench.member("P", "bob", true);
    bench.given(ACCOUNTS);
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "given {ACCOUNTS}")?;
        self.0.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = |who: usize| {
            let (user, project, machine) = WHO[who];
            format!("{user} of {project} on {machine}")
        };
        match *self {
            Step::Deposit {
                account,
                amount,
                window: at,
                limit,
            } => {
                write!(
                    f,
                    "deposit {} {amount} {} L={limit}",
                    NAMES[account], WINDOWS[at]
                )
            }
            Step::Withdraw {
                account,
                amount,
                no_credit,
            } => {
                let how = if no_credit { " --no-credit" } else { "" };
                write!(f, "withdraw {} {amount}{how}", NAMES[account])
            }
            Step::Quote {
                who,
                processors,
                seconds,
            } => {
                write!(f, "quote {processors}x{seconds}s for {}", by(who))
            }
            Step::Reserve {
                who,
                job,
                processors,
                seconds,
            } => {
                let id = job_id(who, job);
                write!(f, "reserve {id} {processors}x{seconds}s for {}", by(who))
            }
            Step::Charge {
                who,
                job,
                processors,
                seconds,
                then,
                ago,
            } => {
                let id = job_id(who, job);
                let last = match then {
                    Then::Stays => "",
                    Then::Pauses => ", pausing",
                    Then::Closes => ", closing",
                };
                let at = if ago == 0 {
                    String::new()
                } else {
                    format!(", {ago} s ago")
                };
                write!(
                    f,
                    "charge {id} {processors}x{seconds}s for {}{last}{at}",
                    by(who)
                )
            }
            Step::Delete { who, job } => {
                write!(f, "delete {} on {}", job_id(who, job), WHO[who].2)
            }
            Step::Tick { seconds } => write!(f, "tick {seconds}"),
            Step::Repeat {
                back,
                altered: false,
            } => write!(f, "repeat the step {back} back"),
            Step::Repeat {
                back,
                altered: true,
            } => write!(f, "reuse the key {back} back"),
            Step::Reopen => write!(f, "reopen"),
        }
    }
}

/// Random steps: mostly about one job, so that steps meet each other.
pub(crate) fn step() -> impl Strategy<Value = Step> {
    let who = || prop_oneof![8 => Just(0_usize), 3 => 1..3_usize, 5 => 4..7_usize, 1 => Just(3), 1 => Just(7)];
    let job = || prop_oneof![5 => Just(1_u8), 1 => Just(2)];
    let (processors, seconds) = (|| 1..4_i64, || prop_oneof![1 => 0..3_i64, 6 => 3..60_i64]);
    let ago = prop_oneof![6 => Just(0_i64), 1 => Just(30), 1 => Just(700)];
    let then = prop_oneof![
        5 => Just(Then::Stays),
        2 => Just(Then::Pauses),
        3 => Just(Then::Closes),
    ];
    let limit = prop_oneof![3 => Just(0_i64), 1 => Just(20)];
    prop_oneof![
        3 => (0..6_usize, 0..40_i64, 0..6_usize, limit).prop_map(
            |(account, amount, window, limit)| Step::Deposit { account, amount, window, limit }
        ),
        2 => (0..6_usize, 0..40_i64, any::<bool>()).prop_map(
            |(account, amount, no_credit)| Step::Withdraw { account, amount, no_credit }
        ),
        1 => (who(), processors(), seconds()).prop_map(
            |(who, processors, seconds)| Step::Quote { who, processors, seconds }
        ),
        6 => (who(), job(), processors(), seconds()).prop_map(
            |(who, job, processors, seconds)| Step::Reserve { who, job, processors, seconds }
        ),
        7 => (who(), job(), processors(), seconds(), then, ago).prop_map(
            |(who, job, processors, seconds, then, ago)| {
                Step::Charge { who, job, processors, seconds, then, ago }
            }
        ),
        1 => (who(), job()).prop_map(|(who, job)| Step::Delete { who, job }),
        4 => tick().prop_map(|seconds| Step::Tick { seconds }),
        2 => (1..6_usize, any::<bool>()).prop_map(
            |(back, altered)| Step::Repeat { back, altered }
        ),
        1 => Just(Step::Reopen),
    ]
}

/// How far the clock goes: about as far as the grace, or past everything.
fn tick() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => prop::sample::select(vec![1, 60, 299, 300]),
        4 => prop::sample::select(vec![601, 650, 900]),
        1 => prop::sample::select(vec![4000, 7 * 86_400]),
    ]
}

/// Random scripts.
pub(crate) fn script(longest: usize) -> impl Strategy<Value = Script> {
    prop::collection::vec(step(), 1..longest).prop_map(Script)
}
