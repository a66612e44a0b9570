//! The naive reference: a list of entries and nothing else. Every balance is added up from the
//! first entry each time it is wanted, and who may pay is a table written down by hand.
//!
//! It shares no rule with the product: only the world of [`super::script`] and the words of the
//! answers.

use super::fixture::{T0, accounts, window};
use super::reply::refused;
use super::script::{ACCOUNTS, NAMES, Step, WHO, WINDOWS, job_id};
use bank_core::time::{Seconds, Timestamp, Window};

const UNBILLED: usize = 6;
const GRACE: Seconds = Seconds(600);
const IDLE: Seconds = Seconds(7 * 86_400);

/// What changes one allocation.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    allocation: usize,
    amount: i64,
    held: i64,
    shadow: i64,
    shadow_held: i64,
}

#[derive(Clone, Copy, Debug)]
struct Allocation {
    account: usize,
    window: Window,
    limit: i64,
}

/// Allocation and what is left on it, in the order in which it pays.
type Lien = Vec<(usize, i64)>;

#[derive(Clone, Debug)]
struct Instance {
    machine: &'static str,
    id: String,
    opened: Timestamp,
    closed: Option<Timestamp>,
    account: Option<usize>,
    lien: Option<Lien>,
    /// The price so far in half credits.
    halves: i64,
    billed: i64,
    due: Timestamp,
}

/// A whole bank.
#[derive(Clone, Debug, Default)]
pub(crate) struct Naive {
    pub(crate) now: Timestamp,
    allocations: Vec<Allocation>,
    entries: Vec<Entry>,
    instances: Vec<Instance>,
    x_is_blocked: bool,
    /// Deposits less withdrawals less charges.
    pub(crate) money: i64,
}

/// How closely an account's lists fit: project, user, machine; lower is closer.
type Fit = (usize, [u8; 3]);

/// Who may ask for money, or what is said.
fn usable(who: usize) -> Result<Vec<Fit>, &'static str> {
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
fn billable(who: usize) -> Vec<Fit> {
    match usable(who) {
        Ok(fits) => fits,
        Err("not_a_member") => vec![(0, [1, 3, 3]), (1, [1, 3, 3]), (2, [1, 3, 3])],
        Err(_) => Vec::new(),
    }
}

fn is_shadow(who: usize) -> bool {
    matches!(WHO[who].1, "N" | "T")
}

fn is_fast(who: usize) -> bool {
    WHO[who].1 == "X"
}

/// Half credits rounded half to even.
fn rounded(halves: i64) -> i64 {
    let whole = halves / 2;
    whole + if halves % 2 == 1 { whole % 2 } else { 0 }
}

impl Naive {
    /// The world of the scripts at T0.
    pub(crate) fn new() -> Naive {
        let mut naive = Naive { now: T0, ..Naive::default() };
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
        (0..self.allocations.len()).map(|id| self.sums(id)).collect()
    }

    /// The active money of every account, in the order of the script's names, then `#unbilled`.
    pub(crate) fn active(&self) -> Vec<i64> {
        (0..=UNBILLED).map(|account| self.active_of(account)).collect()
    }

    /// What a step is answered.
    pub(crate) fn step(&mut self, step: Step) -> String {
        self.settle();
        match step {
            Step::Deposit { account, amount, window: at, limit } => {
                self.deposit(account, amount, window(WINDOWS[at]), limit)
            }
            Step::Withdraw { account, amount, no_credit } => {
                self.withdraw(account, amount, no_credit)
            }
            Step::Quote { who, processors, seconds } => self.quote(who, processors * seconds),
            Step::Reserve { who, job, processors, seconds } => {
                self.reserve(who, job, processors * seconds, seconds)
            }
            Step::Charge { who, job, processors, seconds, closes, ago } => {
                self.charge(who, job, processors * seconds, closes, self.now.minus(Seconds(ago)))
            }
            Step::Delete { who, job } => self.delete(who, job),
            Step::Tick { .. } | Step::Repeat { .. } | Step::Reopen => panic!("is no command"),
        }
    }

    fn sums(&self, allocation: usize) -> [i64; 4] {
        let mut sums = [0; 4];
        for e in self.entries.iter().filter(|e| e.allocation == allocation) {
            for (sum, delta) in sums.iter_mut().zip([e.amount, e.held, e.shadow, e.shadow_held]) {
                *sum += delta;
            }
        }
        sums
    }

    fn free(&self, allocation: usize, shadow: bool) -> i64 {
        let [amount, held, shadow_amount, shadow_held] = self.sums(allocation);
        let real = amount + self.allocations[allocation].limit - held;
        if shadow { real + shadow_amount - shadow_held } else { real }
    }

    fn of(&self, account: usize, at: Timestamp) -> Vec<usize> {
        let all = self.allocations.iter().enumerate();
        let own = all.filter(|(_, a)| a.account == account && a.window.contains(at));
        own.map(|(id, _)| id).collect()
    }

    fn active_of(&self, account: usize) -> i64 {
        self.of(account, self.now).iter().map(|id| self.sums(*id)[0]).sum()
    }

    fn balance_of(&self, account: usize) -> i64 {
        let free = |id: &usize| self.sums(*id)[0] - self.sums(*id)[1];
        self.of(account, self.now).iter().map(free).sum()
    }

    /// Earliest end first, then the closest lists, then start, then number.
    fn order(&self, fits: &[Fit], at: Timestamp) -> Vec<usize> {
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

    fn enter(&mut self, allocation: usize, change: impl FnOnce(&mut Entry)) {
        let mut entry = Entry { allocation, ..Entry::default() };
        change(&mut entry);
        self.entries.push(entry);
    }

    /// Liens and instances whose time has come, the earliest first.
    fn settle(&mut self) {
        loop {
            let open = self.instances.iter().enumerate().filter(|(_, i)| i.closed.is_none());
            let due = open.map(|(n, i)| (i.due, n)).min().filter(|(at, _)| *at <= self.now);
            let Some((at, n)) = due else { return };
            if self.instances[n].lien.is_some() {
                self.release(n, is_shadow_id(&self.instances[n].id));
                self.instances[n].due = at.plus(GRACE);
            } else {
                self.instances[n].closed = Some(at);
            }
        }
    }

    /// Gives back what a lien holds; says how much.
    fn release(&mut self, n: usize, shadow: bool) -> i64 {
        let Some(lien) = self.instances[n].lien.take() else { return 0 };
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
            self.allocations.push(Allocation { account, window, limit });
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
        let new = if self.put_in(account, window, limit, amount) { "new: " } else { "" };
        let id = self.entries.last().unwrap().allocation;
        // Only a deposit raises an amount.
        let deposits = self.entries.iter().filter(|e| e.allocation == id && e.amount > 0);
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
            let limit = if no_credit { self.allocations[id].limit } else { 0 };
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

    fn available(&self, fits: &[Fit], shadow: bool) -> i64 {
        let order = self.order(fits, self.now);
        order.iter().map(|id| self.free(*id, shadow).max(0)).sum()
    }

    fn uses(&self, who: usize, job: u8) -> Vec<usize> {
        let (machine, id) = (WHO[who].2, job_id(who, job));
        let all = self.instances.iter().enumerate().rev();
        let own = all.filter(|(_, i)| i.machine == machine && i.id == id);
        own.map(|(n, _)| n).take(4).collect()
    }

    fn new_instance(&mut self, who: usize, job: u8, at: Timestamp) -> usize {
        self.instances.push(Instance {
            machine: WHO[who].2,
            id: job_id(who, job),
            opened: at,
            closed: None,
            account: None,
            lien: None,
            halves: 0,
            billed: 0,
            due: at.plus(IDLE),
        });
        self.instances.len() - 1
    }

    fn reserve(&mut self, who: usize, job: u8, halves: i64, seconds: i64) -> String {
        let before = self.clone();
        let answer = self.place(who, job, rounded(halves), seconds);
        if answer.starts_with("refused") {
            *self = before;
        }
        answer
    }

    fn place(&mut self, who: usize, job: u8, cost: i64, seconds: i64) -> String {
        let newest = self.uses(who, job).first().copied();
        let open = newest.filter(|n| self.instances[*n].closed.is_none());
        let n = open.unwrap_or_else(|| self.new_instance(who, job, self.now));
        let shadow = is_shadow(who);
        self.release(n, shadow);
        self.instances[n].due = self.now.plus(IDLE);
        let fits = match usable(who) {
            Err(code) => return refused(code),
            Ok(_) if is_fast(who) && self.x_is_blocked => return refused("account_blocked"),
            Ok(fits) => fits,
        };
        let order = self.order(&fits, self.now);
        if cost == 0 || is_fast(who) {
            if !shadow {
                let first = order.first().map(|id| self.allocations[*id].account);
                self.instances[n].account = Some(first.unwrap_or(fits[0].0));
            }
            return "lien 0".to_owned();
        }
        let mut left = cost;
        let mut parts = Vec::new();
        for id in &order {
            let take = self.free(*id, shadow).max(0).min(left);
            if take > 0 {
                parts.push((*id, take));
                left -= take;
            }
        }
        let is_short = left > 0;
        if is_short && !shadow {
            return short(cost, self.available(&fits, false));
        }
        if is_short {
            parts = order.first().map(|id| (*id, cost)).into_iter().collect();
        }
        let mut text = if shadow && !parts.is_empty() {
            format!("lien 0, shadow {cost}")
        } else {
            format!("lien {}", if shadow { 0 } else { cost })
        };
        let end = self.now.plus(Seconds(seconds)).plus(GRACE);
        let outlives = |(id, _): &(usize, i64)| self.allocations[*id].window.end.is_some_and(|e| e < end);
        if parts.iter().any(outlives) {
            text += ", outlives_allocation";
        }
        if is_short {
            text += ", would_refuse insufficient_funds";
        }
        self.hold(n, parts, end, shadow);
        text
    }

    fn hold(&mut self, n: usize, parts: Vec<(usize, i64)>, end: Timestamp, shadow: bool) {
        let Some((first, _)) = parts.first() else { return };
        self.instances[n].account = Some(self.allocations[*first].account);
        for (id, part) in &parts {
            let held = if shadow { [0, *part] } else { [*part, 0] };
            self.enter(*id, |e| [e.held, e.shadow_held] = held);
        }
        self.instances[n].lien = Some(parts);
        self.instances[n].due = end;
    }

    /// The use that was open then, else the newest closed at most the grace before, else the one
    /// that is open now: usage from before its first document is still its own.
    fn charged(&self, who: usize, job: u8, at: Timestamp) -> Option<usize> {
        let uses = self.uses(who, job);
        let i = |n: &usize| &self.instances[*n];
        let then = uses.iter().find(|n| i(n).opened <= at && i(n).closed.is_none_or(|c| at < c));
        let within = |n: &&usize| i(n).closed.is_some_and(|c| c <= at && at <= c.plus(GRACE));
        let now = || uses.iter().find(|n| i(n).closed.is_none());
        then.or_else(|| uses.iter().find(within)).or_else(now).copied()
    }

    fn charge(&mut self, who: usize, job: u8, halves: i64, closes: bool, at: Timestamp) -> String {
        let known = self.charged(who, job, at);
        let n = known.unwrap_or_else(|| self.new_instance(who, job, at));
        let late = self.instances[n].closed.is_some();
        let shadow = is_shadow(who);
        self.instances[n].halves += halves;
        let amount = rounded(self.instances[n].halves) - self.instances[n].billed;
        self.instances[n].billed += amount;
        let (first, debt) = if shadow {
            (self.debit_shadow(who, n, amount, at), 0)
        } else {
            self.debit(who, n, amount, at)
        };
        let paying = first.map(|id| self.allocations[id].account);
        if closes {
            self.release(n, shadow);
        }
        if !late {
            let instance = &mut self.instances[n];
            if closes {
                instance.closed = Some(at.max(instance.opened));
            } else if instance.lien.is_none() {
                instance.due = at.plus(IDLE);
            }
        }
        let unbilled = paying == Some(UNBILLED);
        if !shadow && !unbilled && self.instances[n].account.is_none() {
            self.instances[n].account = paying;
        }
        if is_fast(who) && self.active_of(5) < 0 {
            self.x_is_blocked = true;
        }
        let said = if WHO[who].1 == "T" { 0 } else { amount };
        let mut text = format!("charged {said}");
        if debt > 0 {
            text += &format!(", debt {debt}");
        }
        for (is_set, word) in [(unbilled, "unbilled"), (shadow, "shadow"), (late, "late")] {
            if is_set {
                text += &format!(", {word}");
            }
        }
        let balance = paying.map_or(0, |account| self.balance_of(account));
        format!("{text}, balance {balance}")
    }

    /// Own lien, then free money, then debt; the suspense account where there is nobody. Gives
    /// the first allocation and the debt.
    fn debit(&mut self, who: usize, n: usize, amount: i64, at: Timestamp) -> (Option<usize>, i64) {
        let mut left = amount;
        let mut first = self.instances[n].lien.as_ref().map(|l| l[0].0);
        let mut paid_by_lien = None;
        let mut lien = self.instances[n].lien.take();
        for (id, part) in lien.iter_mut().flatten() {
            let take = left.min(*part);
            if take > 0 {
                *part -= take;
                left -= take;
                paid_by_lien = paid_by_lien.or(Some(*id));
                self.enter(*id, |e| (e.amount, e.held) = (-take, -take));
            }
        }
        self.instances[n].lien = lien;
        first = paid_by_lien.or(first);
        let own: Vec<Fit> = self.instances[n].account.map(|a| (a, [1; 3])).into_iter().collect();
        let mut order = self.order(&own, at);
        order.extend(self.order(&billable(who), at));
        let mut paid = None;
        for id in &order {
            let take = self.free(*id, false).max(0).min(left);
            if take > 0 {
                left -= take;
                paid = paid.or(Some(*id));
                self.enter(*id, |e| e.amount = -take);
            }
        }
        self.money -= amount;
        let first = paid_by_lien.or(paid).or(first).or(order.first().copied());
        let Some(first) = first else {
            self.enter(0, |e| e.amount = -amount);
            return (Some(0), 0);
        };
        self.enter(first, |e| e.amount = -left);
        (Some(first), left)
    }

    /// Own shadow lien; the rest on its first part, else on the first allocation in order.
    fn debit_shadow(&mut self, who: usize, n: usize, amount: i64, at: Timestamp) -> Option<usize> {
        let mut left = amount;
        let mut first = None;
        let mut lien = self.instances[n].lien.take();
        for (id, part) in lien.iter_mut().flatten() {
            let take = left.min(*part);
            *part -= take;
            left -= take;
            first = first.or(Some(*id));
            self.enter(*id, |e| (e.shadow, e.shadow_held) = (-take, -take));
        }
        self.instances[n].lien = lien;
        let first = first.or_else(|| self.order(&billable(who), at).first().copied());
        if let Some(id) = first {
            self.enter(id, |e| e.shadow = -left);
        }
        first
    }

    fn delete(&mut self, who: usize, job: u8) -> String {
        let uses = self.uses(who, job);
        let Some(n) = uses.into_iter().find(|n| self.instances[*n].closed.is_none()) else {
            return "nothing open".to_owned();
        };
        let shadow = is_shadow(who);
        let released = self.release(n, shadow);
        self.instances[n].closed = Some(self.now.max(self.instances[n].opened));
        format!("closed, released {}", if shadow { 0 } else { released })
    }
}

fn is_shadow_id(id: &str) -> bool {
    id.starts_with(['N', 'T'])
}

fn short(needed: i64, available: i64) -> String {
    let text = refused("insufficient_funds");
    format!("{text}: needed {needed}, available {available}")
}
