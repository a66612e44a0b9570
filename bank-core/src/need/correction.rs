//! The rows for commands after the fact.

use super::{Need, named_account};
use crate::command::{Adjust, After, Refund, Settle, Whose};
use crate::directory::Directory;
use crate::ids::AccountId;
use crate::model::{Instance, ObjectType};
use crate::select;
use crate::view::View;

/// An object of a scheduler as a person names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectQuery {
    /// Its id.
    pub object_id: String,
    /// Only on this machine.
    pub machine: Option<String>,
    /// Only of this kind.
    pub object_type: Option<ObjectType>,
    /// Only this use of the id, from 1.
    pub number: Option<i64>,
    /// Rather one with an amount that no account pays than a newer one.
    pub unbilled_first: bool,
}

impl ObjectQuery {
    fn of_refund(refund: &Refund) -> Self {
        ObjectQuery {
            object_id: refund.object_id.clone(),
            machine: refund.machine.clone(),
            object_type: refund.object_type,
            number: refund.number,
            unbilled_first: false,
        }
    }

    fn of_settlement(settle: &Settle) -> Self {
        ObjectQuery {
            object_id: settle.object_id.clone(),
            machine: settle.machine.clone(),
            object_type: settle.object_type,
            number: settle.number,
            unbilled_first: true,
        }
    }

    /// Of all uses of the id, newest first, one for each machine and kind: the newest that was
    /// charged, else the newest. If that is asked for, one that no account pays comes before all.
    pub fn pick(&self, uses: Vec<Instance>) -> Vec<Instance> {
        let mut picked: Vec<Instance> = Vec::new();
        let fits = |i: &Instance| {
            self.machine.as_ref().is_none_or(|m| *m == i.key.machine)
                && self.object_type.is_none_or(|t| t == i.key.object_type)
                && self.number.is_none_or(|n| n == i.number)
        };
        let rank = |i: &Instance| {
            let is_unbilled = i.account.is_none() && !i.billed.is_zero();
            (self.unbilled_first && is_unbilled, i.last_usage.is_some())
        };
        for instance in uses.into_iter().filter(fits) {
            match picked.iter_mut().find(|p| p.key == instance.key) {
                None => picked.push(instance),
                Some(known) if rank(known) < rank(&instance) => *known = instance,
                Some(_) => {}
            }
        }
        picked
    }
}

/// The rows of a command after the fact.
pub(super) fn need(command: &After, directory: &Directory) -> Need {
    match command {
        After::Transfer(transfer) => {
            let mut accounts = named_account(directory, &transfer.from);
            accounts.extend(named_account(directory, &transfer.to));
            Need {
                accounts,
                allocation: transfer.allocation,
                ..Need::default()
            }
        }
        After::Refund(refund) => Need {
            object: Some(ObjectQuery::of_refund(refund)),
            ..Need::default()
        },
        After::Adjust(adjust) => adjustment(adjust, directory),
        After::Reverse(reverse) => Need {
            transaction: Some(reverse.transaction),
            windows: true,
            ..Need::default()
        },
        After::Settle(settle) => {
            let whose = Whose {
                project: Some(settle.project.clone()),
                ..Whose::default()
            };
            let mut accounts = select::possible_payers(directory, &whose);
            accounts.extend(directory.suspense().map(|a| a.id));
            Need {
                object: Some(ObjectQuery::of_settlement(settle)),
                accounts,
                ..Need::default()
            }
        }
        After::RemoveAccount(name) => {
            let account = directory.account_named(name).map(|a| a.id);
            let suspense = directory.suspense().map(|a| a.id);
            Need {
                accounts: account.into_iter().chain(suspense).collect(),
                holders_on: account,
                ..Need::default()
            }
        }
        After::RestoreAccount(name) => Need {
            removal_of: directory.any_account_named(name).map(|a| a.id),
            ..Need::default()
        },
        After::RemoveAllocation(remove) => Need {
            allocation: Some(remove.id),
            whole_account: true,
            accounts: directory.suspense().map(|a| a.id).into_iter().collect(),
            holders: true,
            ..Need::default()
        },
        After::SetFixed(id, _) => Need {
            allocation: Some(*id),
            ..Need::default()
        },
    }
}

fn adjustment(adjust: &Adjust, directory: &Directory) -> Need {
    let name = adjust.name.as_deref();
    Need {
        accounts: name.map_or_else(Vec::new, |name| named_account(directory, name)),
        allocation: adjust.allocation,
        whole_account: adjust.name.is_none(),
        ..Need::default()
    }
}

/// The accounts that may take over liens from removed allocations: those of the jobs with the liens. The
/// lists of any account may name the projects of these jobs (ledger.md 2.11).
pub(super) fn holding_instead(view: &View, directory: &Directory) -> Vec<AccountId> {
    let whose = view.holders.iter().map(|holder| {
        let nobody = Whose {
            machine: holder.key.machine.clone(),
            ..Whose::default()
        };
        nobody.or_of(&holder.facts)
    });
    whose
        .flat_map(|whose| select::possible_payers(directory, &whose))
        .collect()
}
