//! The naive reference: a list of entries and nothing else. Every balance is added up from the
//! first entry each time it is wanted, and who may pay is a table written down by hand.
//!
//! It shares no rule with the product: only the world of [`super::script`] and the words of the
//! answers.

use super::fixture::{T0, accounts, window};
use super::reply::refused;
use super::script::{ACCOUNTS, NAMES, Step, WHO, WINDOWS};
use bank_core::time::{Seconds, Timestamp, Window};

pub(super) const UNBILLED: usize = 6;
pub(super) const GRACE: Seconds = Seconds(600);
pub(super) const IDLE: Seconds = Seconds(7 * 86_400);

/// What changes one allocation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    pub(super) allocation: usize,
    pub(super) amount: i64,
    pub(super) held: i64,
    pub(super) shadow: i64,
    pub(super) shadow_held: i64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Allocation {
    pub(super) account: usize,
    pub(super) window: Window,
    pub(super) limit: i64,
}

/// Allocation and what is left on it, in the order in which it pays.
pub(super) type Lien = Vec<(usize, i64)>;

#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub(super) machine: &'static str,
    pub(super) id: String,
    pub(super) opened: Timestamp,
    pub(super) closed: Option<Timestamp>,
    pub(super) account: Option<usize>,
    pub(super) lien: Option<Lien>,
    /// The price so far in half credits.
    pub(super) halves: i64,
    pub(super) billed: i64,
    pub(super) due: Timestamp,
    /// It waits for no more than the grace.
    pub(super) lien_expired: bool,
}

/// A whole bank.
#[derive(Clone, Debug, Default)]
pub(crate) struct Naive {
    pub(crate) now: Timestamp,
    pub(super) allocations: Vec<Allocation>,
    pub(super) entries: Vec<Entry>,
    pub(super) instances: Vec<Instance>,
    pub(super) x_is_blocked: bool,
    /// Deposits less withdrawals less charges.
    pub(crate) money: i64,
}

/// How closely an account's lists fit: project, user, machine; lower is closer.
pub(super) type Fit = (usize, [u8; 3]);

/// Who may ask for money, or what is said.
pub(super) fn usable(who: usize) -> Result<Vec<Fit>, &'static str> {
    match who {
        0 => Ok(vec![(0, [1, 2, 3]), (1, [1, 1, 1])]),
        1 => Ok(vec![(0, [1, 2, 3])]),
        2 => Ok(vec![(0, [1, 2, 3]), (2, [1, 2, 3])]),
        3 => Err("not_a_member"),
        4 => Ok(vec![(3, [1, 2, 3])]),
        5 => Ok(vec![(4, [1, 2, 3])]),
        6 => Ok(vec![(5, [1, 2, 3])]),
        _ => Err("project_unknown"),
    }
}

/// Who pays for what was used: those who may, else every account of the project.
pub(super) fn billable(who: usize) -> Vec<Fit> {
    match usable(who) {
        Ok(fits) => fits,
        Err("not_a_member") => vec![(0, [1, 3, 3]), (1, [1, 3, 3]), (2, [1, 3, 3])],
        Err(_) => Vec::new(),
    }
}

pub(super) fn is_shadow(who: usize) -> bool {
    matches!(WHO[who].1, "N" | "T")
}

pub(super) fn is_fast(who: usize) -> bool {
    WHO[who].1 == "X"
}

/// Half credits rounded half to even.
pub(super) fn rounded(halves: i64) -> i64 {
    let whole = halves / 2;
    whole + if halves % 2 == 1 { whole % 2 } else { 0 }
}

impl Naive {
    /// The world of the scripts at T0.
    pub(crate) fn new() -> Naive {
        let mut naive = Naive {
            now: T0,
            ..Naive::default()
        };
        naive.allocations.push(Allocation {
            account: UNBILLED,
            window: Window::ALWAYS,
            limit: 0,
        });
        for given in accounts(ACCOUNTS) {
            let account = NAMES.iter().position(|n| *n == given.name).unwrap();
            for a in given.allocations {
                naive.put_in(account, a.window, a.limit.0, a.amount.0);
            }
        }
        naive
    }

    /// Amount, held, shadow, shadow held of every allocation; that of `#unbilled` comes first.
    pub(crate) fn figures(&self) -> Vec<[i64; 4]> {
        (0..self.allocations.len())
            .map(|id| self.sums(id))
            .collect()
    }

    /// The active money of every account, in the order of the script's names, then `#unbilled`.
    pub(crate) fn active(&self) -> Vec<i64> {
        (0..=UNBILLED)
            .map(|account| self.active_of(account))
            .collect()
    }

    /// What a step is answered.
    pub(crate) fn step(&mut self, step: Step) -> String {
        self.settle();
        match step {
            Step::Deposit {
                account,
                amount,
                window: at,
                limit,
            } => self.deposit(account, amount, window(WINDOWS[at]), limit),
            Step::Withdraw {
                account,
                amount,
                no_credit,
            } => self.withdraw(account, amount, no_credit),
            Step::Quote {
                who,
                processors,
                seconds,
            } => self.quote(who, processors * seconds),
            Step::Reserve {
                who,
                job,
                processors,
                seconds,
            } => self.reserve(who, job, processors * seconds, seconds),
            Step::Charge {
                who,
                job,
                processors,
                seconds,
                then,
                ago,
            } => self.charge(
                who,
                job,
                processors * seconds,
                then,
                self.now.minus(Seconds(ago)),
            ),
            Step::Delete { who, job } => self.delete(who, job),
            Step::Tick { .. } | Step::Repeat { .. } | Step::Reopen => panic!("is no command"),
        }
    }

    pub(super) fn sums(&self, allocation: usize) -> [i64; 4] {
        let mut sums = [0; 4];
        for e in self.entries.iter().filter(|e| e.allocation == allocation) {
            for (sum, delta) in sums
                .iter_mut()
                .zip([e.amount, e.held, e.shadow, e.shadow_held])
            {
                *sum += delta;
            }
        }
        sums
    }

    pub(super) fn free(&self, allocation: usize, shadow: bool) -> i64 {
        let [amount, held, shadow_amount, shadow_held] = self.sums(allocation);
        let real = amount + self.allocations[allocation].limit - held;
        if shadow {
            real + shadow_amount - shadow_held
        } else {
            real
        }
    }

    fn of(&self, account: usize, at: Timestamp) -> Vec<usize> {
        let all = self.allocations.iter().enumerate();
        let own = all.filter(|(_, a)| a.account == account && a.window.contains(at));
        own.map(|(id, _)| id).collect()
    }

    pub(super) fn active_of(&self, account: usize) -> i64 {
        self.of(account, self.now)
            .iter()
            .map(|id| self.sums(*id)[0])
            .sum()
    }

    pub(super) fn balance_of(&self, account: usize) -> i64 {
        let free = |id: &usize| self.sums(*id)[0] - self.sums(*id)[1];
        self.of(account, self.now).iter().map(free).sum()
    }

    /// Earliest end first, then the closest lists, then start, then number.
    pub(super) fn order(&self, fits: &[Fit], at: Timestamp) -> Vec<usize> {
        let mut order: Vec<(i64, [u8; 3], i64, usize)> = Vec::new();
        for (account, fit) in fits {
            for id in self.of(*account, at) {
                let Window { start, end } = self.allocations[id].window;
                let end = end.map_or(i64::MAX, |t| t.0);
                order.push((end, *fit, start.map_or(i64::MIN, |t| t.0), id));
            }
        }
        order.sort_unstable();
        order.into_iter().map(|(.., id)| id).collect()
    }

    pub(super) fn enter(&mut self, allocation: usize, change: impl FnOnce(&mut Entry)) {
        let mut entry = Entry {
            allocation,
            ..Entry::default()
        };
        change(&mut entry);
        self.entries.push(entry);
    }

    /// Liens and instances whose time has come, the earliest first.
    fn settle(&mut self) {
        loop {
            let open = self
                .instances
                .iter()
                .enumerate()
                .filter(|(_, i)| i.closed.is_none());
            let due = open
                .map(|(n, i)| (i.due, n))
                .min()
                .filter(|(at, _)| *at <= self.now);
            let Some((at, n)) = due else { return };
            if self.instances[n].lien.is_some() {
                self.release(n, is_shadow_id(&self.instances[n].id));
                self.instances[n].due = at.plus(GRACE);
                self.instances[n].lien_expired = true;
            } else {
                self.instances[n].closed = Some(at);
            }
        }
    }

    /// Gives back what a lien holds; says how much.
    pub(super) fn release(&mut self, n: usize, shadow: bool) -> i64 {
        let Some(lien) = self.instances[n].lien.take() else {
            return 0;
        };
        for (id, left) in &lien {
            let part = if shadow { [0, -left] } else { [-left, 0] };
            self.enter(*id, |e| [e.held, e.shadow_held] = part);
        }
        lien.iter().map(|(_, left)| left).sum()
    }

    fn put_in(&mut self, account: usize, window: Window, limit: i64, amount: i64) -> bool {
        let equal = |a: &Allocation| (a.account, a.window, a.limit) == (account, window, limit);
        let known = self.allocations.iter().position(equal);
        let id = known.unwrap_or(self.allocations.len());
        if known.is_none() {
            self.allocations.push(Allocation {
                account,
                window,
                limit,
            });
        }
        self.enter(id, |e| e.amount = amount);
        self.money += amount;
        if account == 5 && self.active_of(5) >= 0 {
            self.x_is_blocked = false;
        }
        known.is_none()
    }

    fn deposit(&mut self, account: usize, amount: i64, window: Window, limit: i64) -> String {
        if window.is_over(self.now) {
            return refused("window_in_past");
        }
        let new = if self.put_in(account, window, limit, amount) {
            "new: "
        } else {
            ""
        };
        let id = self.entries.last().unwrap().allocation;
        // Only a deposit raises an amount.
        let deposits = self
            .entries
            .iter()
            .filter(|e| e.allocation == id && e.amount > 0);
        let deposited: i64 = deposits.map(|e| e.amount).sum();
        format!("{new}amount {}, deposited {deposited}", self.sums(id)[0])
    }

    fn withdraw(&mut self, account: usize, amount: i64, no_credit: bool) -> String {
        if amount == 0 {
            return refused("bad_amount");
        }
        let mut left = amount;
        let mut parts = Vec::new();
        let mut available = 0;
        let mut sources = self.of(account, self.now);
        sources.sort_by_key(|id| self.allocations[*id].window.end.map_or(i64::MAX, |t| t.0));
        for id in sources {
            let limit = if no_credit {
                self.allocations[id].limit
            } else {
                0
            };
            let free = (self.free(id, false) - limit).max(0);
            available += free;
            parts.push((id, free.min(left)));
            left -= free.min(left);
        }
        if left > 0 {
            return short(amount, available);
        }
        for (id, part) in parts {
            self.enter(id, |e| e.amount = -part);
        }
        self.money -= amount;
        format!("withdrawn {amount}")
    }

    fn quote(&self, who: usize, halves: i64) -> String {
        let cost = rounded(halves);
        let said = if WHO[who].1 == "T" { 0 } else { cost };
        let fits = match usable(who) {
            Err(code) => return refused(code),
            Ok(_) if is_fast(who) && self.x_is_blocked => return refused("account_blocked"),
            Ok(fits) => fits,
        };
        let available = self.available(&fits, is_shadow(who));
        if cost > available && !is_shadow(who) && !is_fast(who) {
            return short(cost, available);
        }
        format!("cost {said}")
    }

    pub(super) fn available(&self, fits: &[Fit], shadow: bool) -> i64 {
        let order = self.order(fits, self.now);
        order.iter().map(|id| self.free(*id, shadow).max(0)).sum()
    }
}

fn is_shadow_id(id: &str) -> bool {
    id.starts_with(['N', 'T'])
}

pub(super) fn short(needed: i64, available: i64) -> String {
    let text = refused("insufficient_funds");
    format!("{text}: needed {needed}, available {available}")
}
