//! Which rows a command must see. The shell loads exactly these (style 2.9).

mod charge;
mod correction;
mod times;
mod usage;

use charge::{fallbacks_kept, further_of_charge};
pub use correction::ObjectQuery;
pub(crate) use times::{of_change, of_correction};
use usage::{of_assignment, of_chunk, of_report};

use crate::attention::Topic;
use crate::command::{
    Access, After, Attention, Charge, Close, Command, Deposit, Identity, Open, Period,
    RecordAction, RecordChange, Repeat, Request, Scope, SetAccount, Whose,
};
use crate::directory::Directory;
use crate::ids::{AccountId, AllocationId, InstanceId, LienId, ProposalId, QuoteId, TxId};
use crate::kind::Key;
use crate::model::{Instance, InstanceKey};
use crate::reservation::TimeQuery;
use crate::rules;
use crate::select;
use crate::time::Timestamp;
use crate::view::View;

/// The most uses of an object's id that are loaded, newest first. A charge from a spool may belong to an
/// older use than the newest one.
pub const INSTANCES_MAX: usize = 4;

/// The rows to load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is needed by few commands only"
)]
pub struct Need {
    /// The uses of this object's id, with liens, and the allocations of these liens.
    pub instance: Option<InstanceKey>,
    /// The allocations of these accounts.
    pub accounts: Vec<AccountId>,
    /// Only those that end after this instant; none for all of them.
    pub ending_after: Option<Timestamp>,
    /// Amounts that came into the allocations without a start after this instant.
    pub came_after: Option<Timestamp>,
    /// This allocation too.
    pub allocation: Option<AllocationId>,
    /// The quote of this TID.
    pub tid: Option<String>,
    /// Open liens on the loaded allocations.
    pub liens: bool,
    /// This lien, ended or not, with its instance.
    pub lien: Option<LienId>,
    /// The billed windows of the instances.
    pub windows: bool,
    /// Rows of time of this reservation.
    pub times: Option<TimeQuery>,
    /// Rows of time of the instances.
    pub own_times: bool,
    /// This instance.
    pub use_of: Option<InstanceId>,
    /// When a start of the object was refused last, if this decides something about its uses.
    pub refused: Option<RefusedFor>,
    /// The amounts that allocations have paid for the instances, and those allocations.
    pub paid: bool,
    /// The newest use of this object's id on each machine; where there is one only, what it was
    /// charged and what became of that.
    pub object: Option<ObjectQuery>,
    /// This transaction, those that it reverses, and their objects.
    pub transaction: Option<TxId>,
    /// The transaction that removed this account, likewise.
    pub removal_of: Option<AccountId>,
    /// All allocations of the account of the requested allocation.
    pub whole_account: bool,
    /// Open liens on the requested allocation, with their instances.
    pub holders: bool,
    /// Open liens on this account's allocations, with their instances.
    pub holders_on: Option<AccountId>,
    /// When the newest quote was made.
    pub newest_quote: bool,
    /// This quote.
    pub quote: Option<QuoteId>,
    /// The finished use of this source, id and start, with its instance.
    pub identity: Option<Identity>,
    /// The finished uses of this object, from any source, with or without the name of a server after the id;
    /// and their instances.
    pub others: Option<InstanceKey>,
    /// The uses of this object under its other ids too: schedulers and their accounting may differ in the
    /// name of a server behind the id.
    pub alias: Option<InstanceKey>,
    /// Whether anything was charged on this machine, other than by records of this source.
    pub charges_on: Option<(String, String)>,
    /// What an instance was charged and what became of that: of `history_of`, else of the finished use, else where there is
    /// one instance only.
    pub history: bool,
    /// The instance of the history, if there are several.
    pub history_of: Option<InstanceId>,
    /// The period that was closed last.
    pub closed: bool,
    /// The totals of every account just before this instant, which has passed.
    pub totals_at: Option<Timestamp>,
    /// The raised alerts of these topics.
    pub topics: Vec<Topic>,
    /// The alert that this transaction raised, if it is still raised.
    pub raised_by: Option<TxId>,
    /// This proposal.
    pub proposal: Option<ProposalId>,
    /// The number of open requests of a person at an instant.
    pub asked_by: Option<(String, Timestamp)>,
    /// The number of the last message of this partner, and whether there is any.
    pub partner: Option<String>,
    /// The amounts that a caller moved on a day.
    pub moved: Option<MovedBy>,
    /// The amounts that the proposer of the command moved on that day.
    pub moved_by_proposer: Option<MovedBy>,
}

/// The command that needs the latest refused start of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedFor {
    /// A charge: it may be the first document of its use.
    Charge,
    /// A reserve: it may be late.
    Reserve,
}

impl RefusedFor {
    /// Whether it decides something, given the uses of the object's id, newest first.
    pub fn is_wanted(self, instances: &[Instance]) -> bool {
        let is_known = |i: &Instance| i.is_open() && (i.began.is_some() || i.record.is_some());
        let lacks_start = |i: &Instance| !i.is_open() && i.earliest.is_some();
        match self {
            RefusedFor::Charge => !instances.iter().any(is_known),
            RefusedFor::Reserve => instances.first().is_some_and(lacks_start),
        }
    }
}

/// A caller and a day, for the moved amounts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MovedBy {
    /// The UTC day, counted from 1970.
    pub day: i64,
    /// The person or program, with any key, token or socket.
    pub human: String,
    /// The key, the token or the person.
    pub actor: String,
}

/// The moved amounts that limits of a day need, if there are any such limits.
pub fn moved_by(scope: &Scope, directory: &Directory, now: Timestamp) -> Option<MovedBy> {
    let who = scope.who.as_ref()?;
    let mut limits = directory.limits();
    limits
        .any(|limit| limit.per_day.is_some())
        .then(|| MovedBy {
            day: rules::day_of(now),
            human: who.human().to_owned(),
            actor: who.actor.clone(),
        })
}

/// The rows that a command must see. Allocations that ended before any time of the command are left out, so
/// that an old account is as quick as a new one.
pub fn need(command: &Command, directory: &Directory, now: Timestamp) -> Need {
    match command {
        Command::Deposit(_) | Command::Open(_) | Command::Withdraw(_) => {
            of_money(command, directory)
        }
        Command::SetAccount(set) => of_account(directory.account_named(&set.name).map(|a| a.id)),
        // One of that name that was removed may have allocations still.
        Command::AddAccount(SetAccount { name, .. }) => {
            of_account(directory.any_account_named(name).map(|a| a.id))
        }
        Command::Record(change) => of_record(change, directory),
        Command::RemoveAccount(name) => Need {
            liens: true,
            ..of_account(directory.account_named(name).map(|a| a.id))
        },
        Command::AddCycle(add) => of_account(named_account(directory, &add.account).pop()),
        Command::RunCycle(name, _) => of_account(directory.cycle_named(name).map(|c| c.account)),
        Command::SetAllocation(set) => Need {
            allocation: Some(set.id),
            whole_account: directory.policy.discrete,
            holders: true,
            ..Need::default()
        },
        Command::Quote(quote) => Need {
            accounts: select::possible_payers(directory, &quote.whose),
            ending_after: Some(now),
            ..Need::default()
        },
        Command::Create(create) => instance_need(&create.request, Vec::new(), now),
        Command::Modify(request) => instance_need(request, Vec::new(), now),
        Command::Reserve(reserve) => {
            let accounts = select::possible_payers(directory, &reserve.request.whose);
            Need {
                refused: Some(RefusedFor::Reserve),
                ..instance_need(&reserve.request, accounts, now)
            }
        }
        Command::Charge(charge) => of_charge(charge, directory, now),
        Command::Usage(report) => of_report(report, directory, now),
        Command::Import(chunk) => of_chunk(chunk, directory, now),
        Command::Close(Close { key, .. }) | Command::Repeat(Repeat { key, .. }) => Need {
            instance: Some(key.clone()),
            ending_after: Some(now),
            ..Need::default()
        },
        Command::ExtendLien(extend) => of_lien(extend.lien, now),
        Command::ReleaseLien(id) => of_lien(*id, now),
        Command::After(after) => correction::need(after, directory),
        Command::Attention(attention) => of_attention(attention),
        Command::SetRate(_) | Command::RemoveRate(_) => Need {
            newest_quote: true,
            ..Need::default()
        },
        Command::Assign(assign) => of_assignment(assign, directory),
        Command::Period(period) => of_period(period, now),
        Command::Access(access) => of_access(access, directory, now),
        Command::RemoveQuote(id) => Need {
            quote: Some(*id),
            ..Need::default()
        },
        _ => Need::default(),
    }
}

/// The account that gets or gives money; the end of the last close, if the time of the transaction may be earlier
/// than now.
fn of_money(command: &Command, directory: &Directory) -> Need {
    match command {
        Command::Deposit(deposit) => Need {
            accounts: deposited(directory, deposit),
            allocation: deposit.allocation,
            closed: deposit.effective.is_some(),
            ..Need::default()
        },
        Command::Open(open) => Need {
            accounts: match open {
                Open::Bank { .. } => Vec::new(),
                Open::Allocation(own) => named_account(directory, &own.account),
            },
            closed: true,
            ..Need::default()
        },
        Command::Withdraw(withdraw) => Need {
            accounts: named_account(directory, &withdraw.name),
            allocation: withdraw.allocation,
            ..Need::default()
        },
        _ => Need::default(),
    }
}

/// A new project gets an account of its name; a partner bank with messages is not removed.
fn of_record(change: &RecordChange, directory: &Directory) -> Need {
    let (account, partner) = match &change.action {
        RecordAction::Add(Some(Key::Name(name)), _) if change.kind == "project" => {
            (directory.any_account_named(name), None)
        }
        RecordAction::Remove(Key::Name(name)) if change.kind == "partner" => (None, Some(name)),
        _ => (None, None),
    };
    Need {
        partner: partner.cloned(),
        ..of_account(account.map(|account| account.id))
    }
}

/// The rows of the inner command, and the proposal to decide.
fn of_access(access: &Access, directory: &Directory, now: Timestamp) -> Need {
    let inner = access.inner().map(|inner| need(inner, directory, now));
    Need {
        proposal: match access {
            Access::Approve(approve) => Some(approve.id),
            Access::Reject(reject) => Some(reject.id),
            _ => None,
        },
        ..inner.unwrap_or_default()
    }
}

fn of_charge(charge: &Charge, directory: &Directory, now: Timestamp) -> Need {
    let mut accounts = select::possible_payers(directory, &charge.request.whose);
    accounts.extend(directory.suspense().map(|a| a.id));
    let at = charge.happened(now);
    Need {
        ending_after: Some(at),
        came_after: late(at, directory, now),
        others: charge
            .terms
            .delivered
            .is_none()
            .then(|| charge.request.key()),
        windows: charge.terms.window.is_some(),
        partner: charge.terms.delivered.as_ref().map(|d| d.partner.clone()),
        refused: charge.is_checked.then_some(RefusedFor::Charge),
        times: times::of_charge(charge, at, directory),
        own_times: charge.terms.total && times::are_reported(&charge.request, directory),
        ..instance_need(&charge.request, accounts, now)
    }
}

/// Since when credits came too late for usage of an instant, unless later ones pay for it too.
fn late(at: Timestamp, directory: &Directory, now: Timestamp) -> Option<Timestamp> {
    (at < now && !directory.policy.later_credits_pay).then_some(at)
}

/// The period that was closed last, and for a close what all accounts had at its end.
fn of_period(period: &Period, now: Timestamp) -> Need {
    let end = match period {
        Period::Close(close) => Some(close.end),
        Period::Reopen(_) => None,
    };
    Need {
        closed: true,
        totals_at: end.filter(|end| *end <= now),
        ..Need::default()
    }
}

fn of_account(account: Option<AccountId>) -> Need {
    Need {
        accounts: account.into_iter().collect(),
        ..Need::default()
    }
}

/// The raised alerts among the topics to raise, clear or acknowledge.
fn of_attention(attention: &Attention) -> Need {
    match attention {
        Attention::Turn(events) => Need {
            topics: events.iter().map(|event| event.topic.clone()).collect(),
            ..Need::default()
        },
        Attention::Ack(ack) => Need {
            raised_by: Some(ack.tx),
            ..Need::default()
        },
        Attention::Switch(_) => Need::default(),
    }
}

fn of_lien(lien: LienId, now: Timestamp) -> Need {
    Need {
        lien: Some(lien),
        ending_after: Some(now),
        ..Need::default()
    }
}

/// The rows needed beyond the first ones, if only the first ones identify them. These are the accounts that
/// may hold an expired lien again or hold for a removed one, and the payers if a reported total falls. None
/// for all other commands.
pub fn further(
    command: &Command,
    view: &View,
    directory: &Directory,
    now: Timestamp,
) -> Option<Need> {
    let first = || need(command, directory, now);
    if let Command::Access(access) = command {
        let mut more = further(access.inner()?, view, directory, now)?;
        more.proposal = first().proposal;
        return Some(more);
    }
    match command {
        Command::ExtendLien(_) => {
            let instance = view.instances.first()?;
            let machine = instance.key.machine.clone();
            let nobody = Whose {
                machine,
                ..Whose::default()
            };
            let whose = nobody.or_of(&instance.facts);
            Some(Need {
                accounts: select::possible_payers(directory, &whose),
                ..first()
            })
        }
        Command::Charge(charge) => further_of_charge(charge, first, view, directory, now),
        Command::After(After::Refund(_) | After::Reverse(_)) => {
            let accounts = whole_accounts(view);
            (!accounts.is_empty()).then(|| Need {
                accounts,
                ..first()
            })
        }
        Command::Usage(report) => {
            let policy = directory.policy.shortfall;
            let kept = fallbacks_kept(&report.request, policy, view, directory);
            usage::further(report, view, first(), kept)
        }
        Command::After(After::RemoveAccount(_) | After::RemoveAllocation(_)) => {
            let mut more = first();
            more.accounts
                .extend(correction::holding_instead(view, directory));
            (!view.holders.is_empty()).then_some(more)
        }
        _ => None,
    }
}

/// The accounts that must be seen whole where money comes back: their figures are in the outcome, it may clear the flag
/// of blocked ones, and no two allocations may be usable at the same time where a site rules so.
fn whole_accounts(view: &View) -> Vec<AccountId> {
    let mut wanted: Vec<AccountId> = view.allocations.iter().map(|a| a.account).collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

fn instance_need(request: &Request, accounts: Vec<AccountId>, now: Timestamp) -> Need {
    Need {
        instance: Some(request.key()),
        accounts,
        ending_after: Some(request.event_time.map_or(now, |at| at.min(now))),
        tid: request.tid.clone(),
        ..Need::default()
    }
}

/// The account named, and those below it that get a part.
fn deposited(directory: &Directory, deposit: &Deposit) -> Vec<AccountId> {
    let mut accounts = named_account(directory, &deposit.name);
    if let (Some(named), true) = (accounts.first(), deposit.is_spread()) {
        let parts = select::spread(directory, *named, deposit.amount.0);
        accounts.extend(parts.iter().map(|(id, _)| *id));
    }
    accounts
}

fn named_account(directory: &Directory, name: &str) -> Vec<AccountId> {
    match select::account_by_name(directory, name) {
        Ok(account) => vec![account.id],
        Err(_) => Vec::new(),
    }
}
