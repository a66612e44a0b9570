//! What happens in a life: steps as data, so that a life can be played again, cut short, and read.

use super::beside::{Past, Reserved};

/// Projects that documents name; the last one is unknown to the bank.
pub(super) const PROJECTS: [&str; 4] = ["chem", "phys", "bio", "ghost"];
/// Users that documents name; the last one is unknown to the bank.
pub(super) const USERS: [&str; 3] = ["amy", "bob", "eve"];
/// Machines.
pub(super) const MACHINES: [&str; 3] = ["m1", "m2", "m3"];
/// Accounts.
pub(super) const ACCOUNTS: [&str; 4] = ["chem", "phys", "bio", "pool"];
/// Ids of the jobs of a life.
const JOBS: u64 = 9;
const HOUR: i64 = 3600;
const DAY: i64 = 86_400;

/// The window of a deposit.
#[derive(Clone, Copy, Debug)]
pub(super) enum Span {
    /// No bounds.
    Open,
    /// Ends so many days from now.
    Until(i64),
    /// Begins and ends so many days from now; before now if negative.
    Between(i64, i64),
}

/// A finished use as a collector reports it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported {
    /// The job, and with it machine and processors.
    pub(super) job: u64,
    /// Which of the collectors of the machine.
    pub(super) collector: usize,
    /// When it began if the scheduler did not report it: seconds before now.
    pub(super) age: i64,
    pub(super) length: i64,
    pub(super) project: usize,
    pub(super) user: usize,
}

/// Transactions that a step undoes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Undone {
    /// Of money and usage.
    Money,
    /// Reversals themselves.
    Reversal,
    /// Changes of machines and mappings.
    Reference,
}

/// One step.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Time passes.
    Pass(i64),
    Deposit {
        account: usize,
        amount: i64,
        span: Span,
        limit: i64,
        /// Days before now from which it counts, in an allocation of its own.
        back: i64,
    },
    /// Time of a reservation.
    Reserved(Reserved),
    /// A job that another bank charged.
    History(Past),
    Withdraw {
        account: usize,
        amount: i64,
    },
    Transfer {
        from: usize,
        to: usize,
        amount: i64,
    },
    Adjust {
        account: usize,
        amount: i64,
    },
    /// Another end for an allocation, so many days from now.
    Extend {
        back: usize,
        days: i64,
    },
    Rate {
        which: usize,
        machine: Option<usize>,
    },
    MachineMode {
        machine: usize,
        mode: usize,
    },
    ProjectMode {
        project: usize,
        mode: usize,
    },
    /// Who charges a machine: `nami`, or a collector.
    Source {
        machine: usize,
        source: usize,
    },
    /// A project for usage of the account that the bank has no project for.
    Mapping {
        project: usize,
    },
    Reserve {
        job: u64,
        wall: i64,
    },
    /// The time since the last charge.
    Interim {
        job: u64,
    },
    /// The end; `late` seconds ago, with its times stated or not.
    End {
        job: u64,
        late: i64,
        stated: bool,
    },
    /// The last document of the job again, with another key.
    Again,
    Delete {
        job: u64,
    },
    /// A total by hand.
    Total {
        job: u64,
        closes: bool,
    },
    Refund {
        job: u64,
        percent: Option<i64>,
        reissue: Option<i64>,
    },
    /// Takes back the newest transaction of a kind but so many.
    Undo {
        back: usize,
        of: Undone,
    },
    Import(Reported),
    Chunk(Vec<Reported>),
    /// A record again: percent of its length, somebody else.
    Amend {
        back: usize,
        percent: i64,
        project: Option<usize>,
        user: Option<usize>,
    },
    Assign {
        project: usize,
    },
    Settle {
        job: u64,
        project: usize,
    },
    /// Closes all months that are over.
    Close,
    /// Opens the newest closed period again.
    Reopen,
    /// An export goes on from where the one before it ended.
    Export,
}

/// What kind of step it is.
pub(super) fn name(step: &Step) -> String {
    let text = format!("{step:?}");
    let end = text.find([' ', '(', '{']).unwrap_or(text.len());
    text[..end].to_owned()
}

/// Numbers by chance that can be repeated.
#[derive(Clone, Debug)]
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Dice {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            dice.next();
        }
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    /// Below a bound.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn place(&mut self, of: usize) -> usize {
        usize::try_from(self.below(of as u64)).unwrap()
    }

    fn from(&mut self, least: i64, most: i64) -> i64 {
        least + i64::try_from(self.below(u64::try_from(most - least + 1).unwrap())).unwrap()
    }

    fn is(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }
}

/// The steps of a life.
pub(super) fn life(seed: u64) -> Vec<Step> {
    let mut dice = Dice::new(seed);
    let commands = 40 + dice.place(31);
    let mut steps = vec![
        Step::Deposit {
            account: 0,
            amount: 200_000,
            span: Span::Open,
            limit: 0,
            back: 0,
        },
        Step::Deposit {
            account: 1,
            amount: 60_000,
            span: Span::Until(25),
            limit: 0,
            back: 0,
        },
        Step::Deposit {
            account: 3,
            amount: 30_000,
            span: Span::Until(9),
            limit: 0,
            back: 0,
        },
    ];
    while steps.iter().filter(|s| !matches!(s, Step::Pass(_))).count() < commands {
        if dice.is(2) {
            steps.push(Step::Pass(pause(&mut dice)));
        }
        steps.push(step(&mut dice));
    }
    steps
}

fn pause(dice: &mut Dice) -> i64 {
    match dice.below(10) {
        0..=3 => dice.from(1, 50) * 60,
        4..=7 => dice.from(1, 20) * HOUR + dice.from(0, 3599),
        8 => dice.from(1, 4) * DAY,
        _ => dice.from(5, 14) * DAY,
    }
}

fn step(dice: &mut Dice) -> Step {
    match dice.below(115) {
        100..=111 => Step::Reserved(reserved(dice)),
        112..=114 => Step::History(past(dice)),
        0..=7 => money(dice),
        8..=10 => Step::Rate {
            which: dice.place(5),
            machine: dice.is(3).then(|| dice.place(3)),
        },
        11..=12 => Step::MachineMode {
            machine: dice.place(3),
            mode: dice.place(4),
        },
        13 => Step::ProjectMode {
            project: dice.place(3),
            mode: dice.place(5),
        },
        16 => Step::Mapping {
            project: dice.place(3),
        },
        14..=15 => Step::Source {
            machine: dice.place(3),
            source: dice.place(3),
        },
        17..=49 => scheduled(dice),
        50..=56 => Step::Refund {
            job: dice.below(JOBS),
            percent: dice.is(2).then(|| dice.from(1, 99)),
            reissue: dice.is(3).then(|| dice.from(5, 60)),
        },
        57..=64 => Step::Undo {
            back: dice.place(5),
            of: Undone::Money,
        },
        65 | 66 => Step::Undo {
            back: dice.place(3),
            of: Undone::Reversal,
        },
        67 => Step::Undo {
            back: dice.place(2),
            of: Undone::Reference,
        },
        68..=79 => Step::Import(reported(dice)),
        80..=82 => Step::Chunk((0..=dice.below(3)).map(|_| reported(dice)).collect()),
        83..=90 => Step::Amend {
            back: dice.place(6),
            percent: dice.from(1, 200),
            project: dice.is(3).then(|| dice.place(4)),
            user: dice.is(3).then(|| dice.place(3)),
        },
        91..=93 => Step::Assign {
            project: dice.place(3),
        },
        94..=96 => Step::Settle {
            job: dice.below(JOBS),
            project: dice.place(3),
        },
        97 => Step::Close,
        98 => Step::Export,
        _ => [Step::Reopen, Step::Close, Step::Export][dice.place(3)].clone(),
    }
}

fn money(dice: &mut Dice) -> Step {
    let account = dice.place(4);
    match dice.below(9) {
        0..=2 => {
            let first = dice.from(-5, 20);
            let spans = [
                Span::Open,
                Span::Until(dice.from(1, 40)),
                Span::Between(first, first + dice.from(6, 30)),
            ];
            Step::Deposit {
                account,
                amount: dice.from(0, 9) * 10_000,
                span: spans[dice.place(3)],
                limit: if dice.is(4) { 20_000 } else { 0 },
                back: if dice.is(4) { dice.from(1, 12) } else { 0 },
            }
        }
        3 => Step::Withdraw {
            account,
            amount: dice.from(1, 9) * 700,
        },
        4 => Step::Transfer {
            from: account,
            to: dice.place(4),
            amount: dice.from(1, 9) * 900,
        },
        5 | 6 => Step::Adjust {
            account,
            amount: dice.from(-9, 9) * 333,
        },
        _ => Step::Extend {
            back: dice.place(6),
            days: dice.from(-2, 40),
        },
    }
}

/// A step of a scheduler.
fn scheduled(dice: &mut Dice) -> Step {
    let job = dice.below(JOBS);
    match dice.below(20) {
        0..=5 => Step::Reserve {
            job,
            wall: dice.from(1, 48) * 1800,
        },
        6..=9 => Step::Interim { job },
        10..=13 => Step::End {
            job,
            late: 0,
            stated: dice.is(2),
        },
        14 => Step::End {
            job,
            late: dice.from(1, 30) * HOUR,
            stated: true,
        },
        15 => Step::Delete { job },
        16 | 17 => Step::Again,
        _ => Step::Total {
            job,
            closes: dice.is(3),
        },
    }
}

fn reserved(dice: &mut Dice) -> Reserved {
    Reserved {
        processors: dice.from(1, 12),
        length: dice.from(1, 40) * HOUR / 4,
        late: if dice.is(3) {
            dice.from(1, 40) * HOUR
        } else {
            0
        },
        project: dice.place(3),
        closes: dice.is(2),
    }
}

fn past(dice: &mut Dice) -> Past {
    Past {
        job: dice.below(3),
        age: dice.from(0, 40) * DAY,
        length: dice.from(1, 60) * HOUR,
        charge: dice.from(0, 500),
        project: dice.place(3),
    }
}

fn reported(dice: &mut Dice) -> Reported {
    let length = match dice.below(6) {
        0 => dice.from(1, 59),
        1 => dice.from(1, 5) * DAY + 1,
        _ => dice.from(1, 900) * 60,
    };
    let late = if dice.is(4) {
        dice.from(1, 30) * DAY
    } else {
        dice.from(0, 3) * HOUR
    };
    Reported {
        job: dice.below(JOBS),
        collector: usize::from(dice.is(4)),
        age: length + late,
        length,
        project: dice.place(4),
        user: dice.place(3),
    }
}
