//! Which rows a command must see. The shell loads exactly these (style 2.9).

use crate::command::{Command, Request, Whose};
use crate::directory::Directory;
use crate::ids::{AccountId, AllocationId};
use crate::model::InstanceKey;
use crate::select;

/// How many uses of an object's id are looked at, newest first. A charge from a spool may be about
/// an older use than the newest one.
pub const INSTANCES_MAX: usize = 4;

/// The rows to load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// The uses of this object's id, with liens, and the allocations those lie on.
    pub instance: Option<InstanceKey>,
    /// All allocations of these accounts.
    pub accounts: Vec<AccountId>,
    /// The allocations of the accounts that open instances pay from are wanted too.
    pub allocation: Option<AllocationId>,
    /// The quote of this TID.
    pub tid: Option<String>,
    /// Open liens that lie on the loaded allocations.
    pub liens: bool,
}

/// What a command must see.
pub fn need(command: &Command, directory: &Directory) -> Need {
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
        Command::Quote(quote) => Need {
            accounts: payers(directory, &quote.whose),
            ..Need::default()
        },
        Command::Create(request) => instance_need(directory, request, false),
        Command::Reserve(reserve) => instance_need(directory, &reserve.request, true),
        Command::Charge(charge) => instance_need(directory, &charge.request, true),
        Command::Close(close) => Need {
            instance: Some(close.key.clone()),
            ..Need::default()
        },
        _ => Need::default(),
    }
}

fn instance_need(directory: &Directory, request: &Request, pays: bool) -> Need {
    Need {
        instance: Some(request.key()),
        accounts: if pays {
            payers(directory, &request.whose)
        } else {
            Vec::new()
        },
        tid: request.tid.clone(),
        ..Need::default()
    }
}

/// Every account that may come to pay for a request, the suspense account included.
fn payers(directory: &Directory, whose: &Whose) -> Vec<AccountId> {
    let mut accounts = select::possible_payers(directory, whose);
    accounts.extend(directory.suspense().map(|a| a.id));
    accounts.sort_unstable();
    accounts.dedup();
    accounts
}

fn named_account(directory: &Directory, name: &str) -> Vec<AccountId> {
    match select::account_by_name(directory, name) {
        Ok(account) => vec![account.id],
        Err(_) => Vec::new(),
    }
}
