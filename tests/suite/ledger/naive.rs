//! The naive reference: an independent bank, written from the specification alone, that says what
//! every command is answered, what it writes into the journal, and what there is afterwards.
//!
//! It keeps lists and nothing else: every balance is added up from the first entry each time it is
//! wanted, and a command that is refused leaves a copy from before it. It shares types with the
//! product and the words of the answers; it must never call one of its rules.

mod accounts;
mod billing;
mod ceiling;
mod charge;
mod correction;
mod found;
mod history;
mod hold;
mod journal;
mod lien;
mod money;
mod moved;
mod people;
mod price;
mod quote;
mod rates;
mod registered;
mod removal;
mod same;
mod show;
mod time;
mod undo;
mod usage;
mod who;

use super::reply::refused;
use bank_core::command::{After, Command};
use bank_core::directory::Policy;
use bank_core::model::{Constraint, Mode, Overflow, Phase};
use bank_core::policy::ChargePolicy;
use bank_core::terms::Span;
use bank_core::time::{Timestamp, Window};
use bank_core::usage::Usage;
use journal::Tx;
use rates::Rate;
use usage::Use;

/// The account and the allocation of usage that nobody could be billed for.
pub(super) const UNBILLED: usize = 0;

/// What a command is answered, or why it is refused.
type Answer = Result<String, String>;

#[derive(Clone, Debug, Default, PartialEq)]
struct Project {
    name: String,
    parent: Option<String>,
    is_active: bool,
    is_gone: bool,
    mode: Option<Mode>,
    organization: String,
    machines: Vec<String>,
    /// Members, and whether they are active.
    members: Vec<(String, bool)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct User {
    name: String,
    is_active: bool,
    is_gone: bool,
    organization: String,
    default_project: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Machine {
    name: String,
    is_active: bool,
    is_gone: bool,
    mode: Option<Mode>,
    flush_seconds: i64,
    fallback: Option<String>,
    fallback_qos: Option<String>,
    source: Option<String>,
    policy: Option<ChargePolicy>,
    is_test: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Account {
    name: String,
    lists: Vec<Constraint>,
    priority: i64,
    fallback: Option<String>,
    /// The account above.
    parent: Option<usize>,
    share: i64,
    overflow: Overflow,
    is_discrete: bool,
    is_blocked: bool,
    is_gone: bool,
    /// The transaction that removed it last.
    removal: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Allocation {
    account: usize,
    window: Window,
    limit: i64,
    deposited: i64,
    /// What the journal has said of its window so far.
    phase: Phase,
    /// When it was created, and when it last began to be active or future.
    opened: Timestamp,
    since: Timestamp,
}

/// What is known of a job or reservation.
#[derive(Clone, Debug, Default)]
struct Facts {
    project: String,
    user: String,
    group: String,
    usage: Usage,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
    /// What counts as processors over time, where a charge policy said it: a fraction.
    counted: Option<(i128, i128)>,
}

#[derive(Clone, Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about a use"
)]
struct Instance {
    machine: String,
    id: String,
    opened: Timestamp,
    closed: Option<Timestamp>,
    /// When it was closed because its lien expired, or because nothing came for days.
    expired: Option<Timestamp>,
    /// It was closed by the end of its job.
    is_ended: bool,
    /// It was closed by the deletion of its job.
    is_deleted: bool,
    account: Option<usize>,
    fallback_from: Option<usize>,
    facts: Facts,
    /// The exact sum so far, and the part that counts once, in trillionths of a credit.
    metered: i128,
    once: i128,
    billed: i64,
    shadow_billed: i64,
    seconds: i64,
    rates_at: Option<Timestamp>,
    quote: Option<usize>,
    is_absorbed: bool,
    /// Its lien expired: it waits for no more than the grace.
    lien_expired: bool,
    due: Option<Timestamp>,
    /// The earlier of its first reserve and the start that its documents tell.
    began: Option<Timestamp>,
    /// When it was created; from its first charge on the presumed start, if no reserve came before.
    earliest: Option<Timestamp>,
    /// It was charged.
    is_charged: bool,
    /// The latest event time of its charges.
    used_until: Option<Timestamp>,
    /// Seconds reported beyond what can have been used.
    disputed: i64,
    /// The mode of its first charge.
    mode: Option<Mode>,
    /// Seconds that wait for the source that charges the use.
    kept: i64,
    lien: Option<usize>,
    /// The windows that were billed, second by second.
    used: Vec<i64>,
}

#[derive(Clone, Debug)]
struct Lien {
    instance: usize,
    state: &'static str,
    start: Timestamp,
    end: Timestamp,
    is_shadow: bool,
    /// Allocations and what is left on them, in the order in which they pay.
    portions: Vec<(usize, i64)>,
    /// What it held when it expired.
    lapsed: i64,
}

#[derive(Clone, Debug)]
struct Quote {
    tid: String,
    project: String,
    user: Option<String>,
    machine: Option<String>,
    window: Window,
    uses: i64,
}

#[derive(Clone, Debug, PartialEq)]
struct Cycle {
    name: String,
    account: usize,
    months: u32,
    amount: i64,
    rollover: i64,
    start: Timestamp,
    number: u32,
    last: Option<usize>,
    is_active: bool,
    is_gone: bool,
}

/// A whole bank.
#[derive(Clone, Debug)]
pub(crate) struct Naive {
    policy: Policy,
    pub(crate) now: Timestamp,
    projects: Vec<Project>,
    users: Vec<User>,
    machines: Vec<Machine>,
    accounts: Vec<Account>,
    allocations: Vec<Allocation>,
    instances: Vec<Instance>,
    liens: Vec<Lien>,
    quotes: Vec<Quote>,
    cycles: Vec<Cycle>,
    uses: Vec<Use>,
    /// Objects whose start was refused, and when the last time.
    refused_starts: Vec<(String, String, Timestamp)>,
    rates: Vec<Rate>,
    /// Declared attributes, and whether they are numbers.
    attributes: Vec<(String, bool)>,
    journal: Vec<Tx>,
}

impl Naive {
    /// An empty bank: the suspense account with its one allocation.
    pub(crate) fn new(policy: Policy) -> Naive {
        let suspense = Account {
            name: bank_core::ids::UNBILLED.to_owned(),
            ..Account::default()
        };
        let allocation = Allocation {
            account: UNBILLED,
            window: Window::ALWAYS,
            limit: 0,
            deposited: 0,
            phase: Phase::Active,
            opened: Timestamp(0),
            since: Timestamp(0),
        };
        Naive {
            policy,
            now: Timestamp(0),
            projects: Vec::new(),
            users: Vec::new(),
            machines: Vec::new(),
            accounts: vec![suspense],
            allocations: vec![allocation],
            instances: Vec::new(),
            liens: Vec::new(),
            quotes: Vec::new(),
            cycles: Vec::new(),
            uses: Vec::new(),
            refused_starts: Vec::new(),
            rates: Vec::new(),
            attributes: Vec::new(),
            journal: Vec::new(),
        }
    }

    /// What a command is answered. What time has brought by now comes first; a refusal leaves
    /// nothing else.
    pub(crate) fn submit(&mut self, command: &Command) -> String {
        self.settle();
        let before = self.clone();
        let was_fine = !self.has_fallback_chain();
        let mut answer = self.obey(command);
        if answer.is_ok() && was_fine && self.has_fallback_chain() {
            answer = Err(refused("fallback_chain"));
        }
        answer.unwrap_or_else(|refusal| {
            *self = before;
            self.keep_refused(command, &refusal);
            refusal
        })
    }

    fn obey(&mut self, command: &Command) -> Answer {
        match command {
            Command::Deposit(deposit) => self.deposit(deposit),
            Command::Withdraw(withdraw) => self.withdraw(withdraw),
            Command::SetAllocation(set) => self.set_allocation(set),
            Command::Quote(quote) => self.quote(quote),
            Command::RemoveQuote(id) => self.remove_quote(id.0),
            Command::Create(create) => self.create(create),
            Command::Modify(request) => Ok(self.modify(request)),
            Command::Reserve(reserve) => self.reserve(reserve),
            Command::ExtendLien(extend) => self.extend(extend),
            Command::ReleaseLien(id) => self.release(id.0),
            Command::Charge(charge) => self.charge(charge),
            Command::Usage(report) => self.usage(report),
            Command::Close(close) => Ok(self.close(close)),
            Command::Repeat(repeat) => self.repeat(repeat),
            Command::SetRate(rate) => self.set_rate(rate),
            Command::RemoveRate(id) => self.remove_rate(id.0),
            Command::AddCycle(cycle) => self.add_cycle(cycle),
            Command::SetCycle(set) => self.set_cycle(set),
            Command::RemoveCycle(name) => self.remove_cycle(name),
            Command::RunCycle(name, _) => self.run_cycle(name),
            Command::ConfirmClock(shown, _) => self.confirm_clock(*shown),
            Command::SetMember(set) => self.set_member(set),
            Command::RemoveMember(project, user) => self.remove_member(project, user),
            Command::AddAccount(set) => self.add_account(set),
            Command::SetAccount(set) => self.set_account(set),
            Command::RemoveAccount(name) => self.remove_account(name),
            Command::After(after) => self.after(after),
            Command::Attention(_) => panic!("attention moves no money: the scripts have none"),
            Command::Open(_) => panic!("an opening is compared with deposits from outside"),
            Command::Import(_) => panic!("chunks are compared with single commands"),
            Command::AddKey(_) | Command::SetKey(_) | Command::RemoveKey(_) => {
                panic!("keys move no money: the scripts have none")
            }
            Command::Access(_) => panic!("the scripts are the bank's own: nobody is refused"),
            Command::Record(change) => self.change_record(change),
            Command::MergeUser(_) | Command::Assign(_) | Command::Period(_) => {
                panic!("what readers name is mapped before the rules: the scripts have none")
            }
        }
    }

    fn after(&mut self, after: &After) -> Answer {
        match after {
            After::Transfer(transfer) => self.transfer(transfer),
            After::Refund(refund) => self.refund(refund),
            After::Adjust(adjust) => self.adjust(adjust),
            After::Reverse(reverse) => self.undo(reverse),
            After::Settle(settle) => self.settle_job(settle),
            After::RemoveAccount(name) => self.remove_account_with_money(name),
            After::RestoreAccount(name) => self.restore_account(name),
            After::RemoveAllocation(remove) => self.remove_allocation(*remove),
            After::SetFixed(id, _) => {
                self.allocation(id.0)?;
                Err(refused("not_settable"))
            }
        }
    }

    /// The allocation of a number.
    fn allocation(&self, number: i64) -> Result<usize, String> {
        let at = usize::try_from(number - 1).ok();
        at.filter(|at| *at < self.allocations.len())
            .ok_or_else(|| refused("not_found"))
    }

    /// The account of a name that is there.
    fn account(&self, name: &str) -> Option<usize> {
        let mut all = self.accounts.iter();
        all.position(|a| a.name == name && !a.is_gone)
    }

    fn user(&self, name: &str) -> Option<&User> {
        self.users.iter().find(|u| u.name == name && !u.is_gone)
    }

    /// Also one that was removed: late usage has its settings.
    fn machine(&self, name: &str) -> Option<&Machine> {
        self.machines.iter().find(|m| m.name == name)
    }

    fn project(&self, name: &str) -> Option<&Project> {
        self.projects.iter().find(|p| p.name == name && !p.is_gone)
    }
}

/// The whole seconds of a window.
fn seconds_of(span: Span) -> std::ops::Range<i64> {
    span.start.seconds()..span.end.seconds()
}
