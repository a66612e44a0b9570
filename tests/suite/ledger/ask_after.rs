//! Requests after the fact, in the same manner.

use super::ask::Ask;
use super::fixture::time;
use bank_core::amount::Amount;
use bank_core::command::{
    Adjust, After, Command, Refund, RemoveAllocation, Reverse, Settle, Transfer,
};
use bank_core::ids::{AllocationId, TxId};

fn ask(after: After) -> Ask {
    Command::After(after).into()
}

/// A transfer between accounts.
pub(crate) fn transfer(from: &str, to: &str, amount: i64) -> Ask {
    ask(After::Transfer(Transfer {
        from: from.to_owned(),
        to: to.to_owned(),
        amount: Amount(amount),
        ..Transfer::default()
    }))
}

/// A refund of a job on whatever machine knows it; of everything for 0.
pub(crate) fn refund(job: &str, amount: i64) -> Ask {
    ask(After::Refund(Refund {
        object_id: job.to_owned(),
        amount: (amount != 0).then_some(Amount(amount)),
        ..Refund::default()
    }))
}

/// An adjustment.
pub(crate) fn adjust(name: &str, amount: i64, note: &str) -> Ask {
    ask(After::Adjust(Adjust {
        name: Some(name.to_owned()),
        amount: Amount(amount),
        note: note.to_owned(),
        ..Adjust::default()
    }))
}

/// An undo.
pub(crate) fn undo(transaction: i64) -> Ask {
    ask(After::Reverse(Reverse {
        transaction: TxId(transaction),
        allow_debt: false,
        note: String::new(),
    }))
}

/// A settlement of a job.
pub(crate) fn settle(job: &str, project: &str) -> Ask {
    ask(After::Settle(Settle {
        object_id: job.to_owned(),
        project: project.to_owned(),
        ..Settle::default()
    }))
}

/// The removal of an account, or with its money.
pub(crate) fn account_rm(name: &str, force: bool) -> Ask {
    if force {
        return ask(After::RemoveAccount(name.to_owned()));
    }
    Command::RemoveAccount(name.to_owned()).into()
}

/// A removed account comes back.
pub(crate) fn undelete(name: &str) -> Ask {
    ask(After::RestoreAccount(name.to_owned()))
}

/// The removal of an allocation.
pub(crate) fn allocation_rm(id: i64, force: bool) -> Ask {
    let id = AllocationId(id);
    ask(After::RemoveAllocation(RemoveAllocation { id, force }))
}

/// Asks to set what cannot be set.
pub(crate) fn set_fixed(id: i64, field: &'static str) -> Ask {
    ask(After::SetFixed(AllocationId(id), field))
}

impl Ask {
    pub(crate) fn allow_debt(self) -> Ask {
        self.change(|command| match command {
            Command::After(After::Reverse(reverse)) => reverse.allow_debt = true,
            _ => panic!("is no undo"),
        })
    }

    pub(crate) fn on_machine(self, machine: &str) -> Ask {
        self.refund(|refund| refund.machine = Some(machine.to_owned()))
    }

    pub(crate) fn of_account(self, account: &str) -> Ask {
        self.refund(|refund| refund.account = Some(account.to_owned()))
    }

    pub(crate) fn reissue_until(self, text: &str) -> Ask {
        let until = time(text);
        self.refund(|refund| refund.reissue_until = Some(until))
    }

    pub(crate) fn on_allocation(self, id: i64) -> Ask {
        self.change(|command| match command {
            Command::After(After::Transfer(transfer)) => {
                transfer.allocation = Some(AllocationId(id));
            }
            Command::After(After::Adjust(adjust)) => adjust.allocation = Some(AllocationId(id)),
            _ => panic!("names no allocation"),
        })
    }

    fn refund(self, change: impl FnOnce(&mut Refund)) -> Ask {
        self.change(|command| match command {
            Command::After(After::Refund(refund)) => change(refund),
            _ => panic!("is no refund"),
        })
    }
}
