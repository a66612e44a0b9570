//! What there is in the naive reference, as lines of text.

use super::Naive;
use super::journal::Tx;
use crate::ledger::seen::{SeenAccount, SeenAllocation, SeenInstance, lien_line, tx_line};
use bank_core::effects::Delta;

/// The number of a place in a list.
fn number(at: usize) -> i64 {
    i64::try_from(at).unwrap() + 1
}

impl Naive {
    /// Everything but the journal.
    pub(crate) fn shown(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (at, account) in self.accounts.iter().enumerate() {
            let [amount, held, limit] = self.figures(at);
            let entries = self.journal.iter().flat_map(|tx| &tx.entries);
            let own = entries.filter(|e| self.allocations[e.allocation].account == at);
            let seen = SeenAccount {
                name: &account.name,
                amount: amount.into(),
                held: held.into(),
                available: (amount - held + limit).into(),
                active: own.map(|e| e.active).sum(),
                is_blocked: account.is_blocked,
                is_gone: account.is_gone,
            };
            lines.push(seen.line());
        }
        for (at, a) in self.allocations.iter().enumerate() {
            let seen = SeenAllocation {
                number: number(at),
                account: &self.accounts[a.account].name,
                window: a.window,
                phase: a.phase,
                limit: a.limit,
                deposited: a.deposited,
                used: self.used(at),
                sums: self.sums(at),
            };
            lines.push(seen.line());
        }
        for i in &self.instances {
            let seen = SeenInstance {
                machine: &i.machine,
                id: &i.id,
                project: &i.facts.project,
                opened: i.opened,
                closed: i.closed,
                due: i.due,
                account: i.account.map(|at| self.accounts[at].name.as_str()),
                billed: i.billed,
                shadow_billed: i.shadow_billed,
                seconds: i.seconds,
                disputed: i.disputed,
                exact: (i.metered, i.once),
            };
            lines.push(seen.line());
        }
        for (at, l) in self.liens.iter().enumerate() {
            let left: Vec<(i64, i64)> =
                l.portions.iter().map(|(id, n)| (number(*id), *n)).collect();
            lines.push(lien_line(number(at), l.state, l.end, &left));
        }
        lines
    }

    /// What breaks the laws of ledger.md 7: the active parts of an account's entries are the amounts
    /// of its open windows, and nothing holds less than nothing.
    pub(crate) fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        for (at, account) in self.accounts.iter().enumerate() {
            let entries = self.journal.iter().flat_map(|tx| &tx.entries);
            let own = entries.filter(|e| self.allocations[e.allocation].account == at);
            let (active, amount) = (own.map(|e| e.active).sum::<i64>(), self.figures(at)[0]);
            if active != amount {
                findings.push(format!(
                    "account {}: {active} is not {amount}",
                    account.name
                ));
            }
        }
        let holds = |id: &usize| self.sums(*id)[1] < 0 || self.sums(*id)[3] < 0;
        let below = (0..self.allocations.len()).filter(holds);
        findings.extend(below.map(|id| format!("allocation {} holds less than 0", number(id))));
        findings
    }

    /// How many transactions there are.
    pub(crate) fn written(&self) -> usize {
        self.journal.len()
    }

    /// The journal from a transaction on.
    pub(crate) fn journal_from(&self, from: usize) -> Vec<String> {
        let shown = |tx: &Tx| {
            let entries = tx.entries.iter().map(|e| {
                let delta = Delta {
                    amount: e.amount,
                    held: e.held,
                    active: e.active,
                    shadow: e.shadow,
                    shadow_held: e.shadow_held,
                };
                (e.kind, number(e.allocation), delta)
            });
            tx_line(tx.op, tx.at, entries)
        };
        self.journal[from..].iter().map(shown).collect()
    }
}
