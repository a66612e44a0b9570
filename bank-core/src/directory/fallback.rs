//! Which account pays where one is short (nami.md 5), and what makes such settings unusable.

use super::Directory;
use crate::ids::MachineId;
use crate::model::{Account, Machine};

impl Directory {
    /// The fallback account of an account, on a machine: its own setting, else the machine's; a
    /// value with `+` in front is a suffix to the account's name (nami.md 5).
    pub fn fallback_of(&self, account: &Account, machine: Option<MachineId>) -> Option<&Account> {
        let general = machine
            .and_then(|id| self.machine(id))
            .and_then(|m| m.fallback.as_ref());
        let setting = account.fallback.as_ref().or(general)?;
        let found = self.account_named(&meant(account, setting));
        found.filter(|f| f.id != account.id)
    }

    /// The quality of service that prices count on a machine for a job on its fallback account.
    pub fn fallback_qos(&self, machine: &str) -> Option<&str> {
        self.any_machine_named(machine)?.fallback_qos.as_deref()
    }

    /// The account at which fallbacks make a chain longer than one, or a loop. A fallback account must not
    /// have a fallback of its own (nami.md 5).
    pub fn fallback_fault(&self) -> Option<String> {
        let own = self.accounts().find_map(|account| {
            let setting = account.fallback.as_ref()?;
            self.chain(account, setting)
        });
        own.or_else(|| self.machines().find_map(|machine| self.chain_on(machine)))
    }

    /// What an account pays for: an account or a machine that names it as fallback, or the reservations of a
    /// machine. A suffix as the fallback of a machine does not count: it names no account, and an account without
    /// one of that suffix has no fallback.
    pub fn paid_by(&self, payer: &Account) -> Option<String> {
        let is_payer = |name: &Option<String>| name.as_ref() == Some(&payer.name);
        let falls_back = |account: &&Account| {
            let setting = account.fallback.as_ref();
            setting.is_some_and(|setting| meant(account, setting) == payer.name)
        };
        if let Some(account) = self.accounts().find(falls_back) {
            return Some(format!("account {} as its fallback", account.name));
        }
        self.machines().find_map(|machine| {
            let of = match machine {
                own if is_payer(&own.fallback) => "as its fallback",
                own if is_payer(&own.reservation_account) => "for its reservations",
                _ => return None,
            };
            Some(format!("machine {} {of}", machine.name))
        })
    }

    fn chain_on(&self, machine: &Machine) -> Option<String> {
        let setting = machine.fallback.as_ref()?;
        if !setting.starts_with('+') {
            let target = self.account_named(setting)?;
            return target.fallback.is_some().then(|| target.name.clone());
        }
        let without = self.accounts().filter(|a| a.fallback.is_none());
        without.into_iter().find_map(|account| {
            let target = self.account_named(&meant(account, setting))?;
            let further = self.account_named(&meant(target, setting));
            let goes_on = target.fallback.is_some() || further.is_some();
            goes_on.then(|| target.name.clone())
        })
    }

    /// The account at which the setting of another goes on, or comes back to it.
    fn chain(&self, account: &Account, setting: &str) -> Option<String> {
        let target = self.account_named(&meant(account, setting))?;
        let faulty = target.id == account.id || target.fallback.is_some();
        faulty.then(|| target.name.clone())
    }
}

/// The name that a setting means for an account.
fn meant(account: &Account, setting: &str) -> String {
    match setting.strip_prefix('+') {
        Some(suffix) => format!("{}{suffix}", account.name),
        None => setting.to_owned(),
    }
}
