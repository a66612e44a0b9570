//! Which rows a command must see. The shell loads exactly these (style 2.9).

use crate::command::{Command, Request};
use crate::directory::Directory;
use crate::ids::{AccountId, AllocationId, QuoteId};
use crate::model::InstanceKey;
use crate::select;
use crate::time::Timestamp;

/// How many uses of an object's id are looked at, newest first. A charge from a spool may be about
/// an older use than the newest one.
pub const INSTANCES_MAX: usize = 4;

/// The rows to load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// The uses of this object's id, with liens, and the allocations those lie on.
    pub instance: Option<InstanceKey>,
    /// The allocations of these accounts.
    pub accounts: Vec<AccountId>,
    /// Only those that end after this instant; none for all of them.
    pub ending_after: Option<Timestamp>,
    /// This allocation too.
    pub allocation: Option<AllocationId>,
    /// The quote of this TID.
    pub tid: Option<String>,
    /// Open liens that lie on the loaded allocations.
    pub liens: bool,
    /// When the newest quote was made.
    pub newest_quote: bool,
    /// This quote.
    pub quote: Option<QuoteId>,
}

/// What a command must see. Allocations that ended before anything the command is about are left
/// out, so that an old account is as quick as a new one.
pub fn need(command: &Command, directory: &Directory, now: Timestamp) -> Need {
    match command {
        Command::Deposit(deposit) => Need {
            accounts: named_account(directory, &deposit.name),
            allocation: deposit.allocation,
            ..Need::default()
        },
        Command::Withdraw(withdraw) => Need {
            accounts: named_account(directory, &withdraw.name),
            allocation: withdraw.allocation,
            ..Need::default()
        },
        Command::SetAccount(set) => {
            let account = directory.account_named(&set.name).map(|a| a.id);
            Need {
                accounts: account.into_iter().collect(),
                ..Need::default()
            }
        }
        Command::RemoveAccount(name) => {
            let account = directory.account_named(name).map(|a| a.id);
            Need {
                accounts: account.into_iter().collect(),
                liens: true,
                ..Need::default()
            }
        }
        Command::SetAllocation(set) => Need {
            allocation: Some(set.id),
            liens: true,
            ..Need::default()
        },
        Command::Quote(quote) => {
            let accounts = select::possible_payers(directory, &quote.whose);
            Need {
                accounts,
                ending_after: Some(now),
                ..Need::default()
            }
        }
        Command::Create(request) => instance_need(request, Vec::new(), now),
        Command::Reserve(reserve) => {
            let accounts = select::possible_payers(directory, &reserve.request.whose);
            instance_need(&reserve.request, accounts, now)
        }
        Command::Charge(charge) => {
            let mut accounts = select::possible_payers(directory, &charge.request.whose);
            accounts.extend(directory.suspense().map(|a| a.id));
            instance_need(&charge.request, accounts, now)
        }
        Command::Close(close) => Need {
            instance: Some(close.key.clone()),
            ending_after: Some(now),
            ..Need::default()
        },
        Command::SetRate(_) | Command::RemoveRate(_) => Need {
            newest_quote: true,
            ..Need::default()
        },
        Command::RemoveQuote(id) => Need {
            quote: Some(*id),
            ..Need::default()
        },
        _ => Need::default(),
    }
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

fn named_account(directory: &Directory, name: &str) -> Vec<AccountId> {
    match select::account_by_name(directory, name) {
        Ok(account) => vec![account.id],
        Err(_) => Vec::new(),
    }
}
