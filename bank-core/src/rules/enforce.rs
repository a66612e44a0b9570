//! Simulates strict enforcement from an instant on: the past uses, in the order of their starts, against the
//! money at the time.
//!
//! This is more than the `would_refuse` of the journal. There, a use that would have been refused still ran
//! and took shadow money. Here it does not run, so its money is there for the next. A use needs its final
//! cost, from its start on. The further amount that a scheduler would have held for the requested time is not
//! counted.

use super::funds::{covering, funds, lay, unblocked};
use crate::amount::Amount;
use crate::command::{Scope, Whose};
use crate::directory::{Directory, FallbackMode};
use crate::ids::{AccountId, AllocationId};
use crate::model::Allocation;
use crate::refusal::Refusal;
use crate::select::{self, Candidate, Payer};
use crate::time::Timestamp;
use crate::usage::Usage;
use crate::view::Context;
use std::collections::BTreeMap;

/// Money that came or went otherwise: deposits, withdrawals, transfers, real charges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// When it counted.
    pub at: Timestamp,
    /// Where.
    pub allocation: AllocationId,
    /// Minor units, below zero where it went.
    pub amount: i64,
}

/// The possible payers for uses of the same people on the same machine, or the refusal.
#[derive(Clone, Debug)]
pub struct Party(Result<(Payer, Vec<Candidate>), Refusal>);

impl Party {
    /// Finds the possible payers; the group and the usage are for accounts with lists that check them.
    pub fn new(ctx: &Context<'_>, whose: &Whose, usage: &Usage, group: &str) -> Party {
        let directory = ctx.directory;
        let found = select::resolve(directory, &Scope::default(), whose).and_then(|payer| {
            let payer = payer.knowing(directory, usage, group);
            let user = whose.user.as_deref().unwrap_or_default();
            let candidates = select::candidates(directory, &payer, user)?;
            let open = unblocked(&candidates, ctx)?;
            Ok((payer, open))
        });
        Party(found)
    }
}

/// A use that happened without enforcement.
#[derive(Clone, Copy, Debug)]
pub struct PastUse<'a> {
    /// The possible payers.
    pub party: &'a Party,
    /// When it began.
    pub start: Timestamp,
    /// When it ended.
    pub end: Timestamp,
    /// The cost; zero or above.
    pub cost: Amount,
}

/// Money as it would have been.
#[derive(Debug)]
pub struct Enforcement<'a> {
    ctx: &'a Context<'a>,
    allocations: BTreeMap<AccountId, Vec<Allocation>>,
    of: BTreeMap<AllocationId, AccountId>,
    changes: std::vec::IntoIter<Change>,
    next: Option<Change>,
}

impl<'a> Enforcement<'a> {
    /// Begins with the allocations at that instant, and with every later change to them, in the order of
    /// their times. A later allocation begins empty.
    pub fn new(ctx: &'a Context<'a>, standing: Vec<Allocation>, changes: Vec<Change>) -> Self {
        let of = standing.iter().map(|a| (a.id, a.account)).collect();
        let mut allocations: BTreeMap<AccountId, Vec<Allocation>> = BTreeMap::new();
        for allocation in standing {
            let account = allocations.entry(allocation.account).or_default();
            account.push(allocation);
        }
        let mut changes = changes.into_iter();
        let next = changes.next();
        Self {
            ctx,
            allocations,
            of,
            changes,
            next,
        }
    }

    /// Whether a use would have run; then its cost is taken from its payers. Call it in the order of the
    /// starts.
    ///
    /// # Errors
    /// The refusal that its scheduler would have received.
    pub fn begin(&mut self, past: &PastUse<'_>) -> Result<(), Refusal> {
        self.follow(past.start);
        let (payer, open) = past.party.0.as_ref().map_err(Clone::clone)?;
        if past.cost.is_zero() {
            return Ok(());
        }
        let refusal = match self.take(past, open, &payer.project_name) {
            Ok(()) => return Ok(()),
            Err(refusal) => refusal,
        };
        match self.fallback(open, payer, past.start) {
            Some((account, name)) => self.take(past, &[account], &name),
            None => Err(refusal),
        }
    }

    /// The rest on an account's allocations that are usable at an instant, minor units.
    pub fn left(&self, account: AccountId, at: Timestamp) -> i128 {
        let own = self.allocations.get(&account).into_iter().flatten();
        let usable = own.filter(|a| a.window.contains(at));
        usable.fold(0, |sum: i128, a| sum.saturating_add(i128::from(a.amount.0)))
    }

    /// Takes in the changes up to an instant.
    pub fn follow(&mut self, until: Timestamp) {
        while let Some(change) = self.next.filter(|change| change.at <= until) {
            self.add(change.allocation, change.amount.into());
            self.next = self.changes.next();
        }
    }

    fn take(&mut self, past: &PastUse<'_>, who: &[Candidate], whose: &str) -> Result<(), Refusal> {
        let own = who.iter().filter_map(|c| self.allocations.get(&c.account));
        let allocations: Vec<Allocation> = own.flatten().copied().collect();
        let mut there = funds(&allocations, who, past.start, false);
        if self.ctx.directory.policy.require_cover {
            covering(&mut there, &allocations, past.end);
        }
        let parts = lay(&there, who, &allocations, past.cost.0.into());
        let parts =
            parts.map_err(|available| Refusal::insufficient_funds(past.cost, available, whose))?;
        for (allocation, part) in parts {
            self.add(allocation, part.saturating_neg());
        }
        Ok(())
    }

    /// The fallback account of the one that would pay first, if the bank itself selects it.
    fn fallback(
        &self,
        open: &[Candidate],
        payer: &Payer,
        at: Timestamp,
    ) -> Option<(Candidate, String)> {
        let directory: &Directory = self.ctx.directory;
        if directory.policy.fallback != FallbackMode::Bank {
            return None;
        }
        let own = open.iter().filter_map(|c| self.allocations.get(&c.account));
        let allocations: Vec<Allocation> = own.flatten().copied().collect();
        let first = select::first_payer(open, &allocations, at)?;
        let account = directory.fallback_of(directory.account(first)?, payer.machine)?;
        Some((Candidate::only(account), account.name.clone()))
    }

    fn add(&mut self, allocation: AllocationId, amount: i128) {
        let account = self.of.get(&allocation);
        let Some(own) = account.and_then(|id| self.allocations.get_mut(id)) else {
            return;
        };
        if let Some(found) = own.iter_mut().find(|a| a.id == allocation) {
            found.amount = Amount::clamped(i128::from(found.amount.0).saturating_add(amount));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amount::Precision;
    use crate::book::suspense_account;
    use crate::command::Scope;
    use crate::directory::{Bank, Policy};
    use crate::ids::ProjectId;
    use crate::model::{Account, Constraint, Dimension, Project};
    use crate::time::Window;

    /// Project chem with its own account, and a fallback account if the bank selects it.
    fn directory(fallback: FallbackMode) -> Directory {
        let bank = Bank {
            uuid: "u".into(),
            precision: Precision::new(0).unwrap(),
            unit: "credits".into(),
        };
        let policy = Policy {
            fallback,
            ..Policy::default()
        };
        let mut directory = Directory::new(bank, policy);
        directory.put_project(Project {
            id: ProjectId(1),
            name: "chem".into(),
            parent: None,
            active: true,
            deleted: false,
            mode: None,
            description: String::new(),
            organization: String::new(),
            machines: Vec::new(),
        });
        for (id, name, listed, is_default) in [
            (1, "chem", "chem", Some("spare")),
            (2, "spare", "bio", None),
        ] {
            directory.put_account(Account {
                id: AccountId(id),
                name: name.into(),
                constraints: vec![Constraint {
                    dimension: Dimension::Project,
                    value: listed.into(),
                    allow: true,
                    subtree: false,
                }],
                fallback: is_default.map(str::to_owned),
                ..suspense_account()
            });
        }
        directory
    }

    fn allocation(id: i64, account: i64, amount: i64, window: (i64, i64)) -> Allocation {
        let window = Window {
            start: Some(Timestamp(window.0)),
            end: Some(Timestamp(window.1)),
        };
        let (id, account) = (AllocationId(id), AccountId(account));
        let mut allocation = Allocation::empty(id, account, window, Amount::ZERO, Timestamp(0));
        allocation.amount = Amount(amount);
        allocation
    }

    /// Runs uses of chem, each by its start and cost; gives what became of each.
    fn run(
        fallback: FallbackMode,
        standing: Vec<Allocation>,
        changes: &[(i64, i64, i64)],
        uses: &[(i64, i64)],
    ) -> Vec<String> {
        let directory = directory(fallback);
        let scope = Scope::default();
        let ctx = Context {
            directory: &directory,
            now: Timestamp(1_000),
            scope: &scope,
        };
        let changes = changes.iter().map(|(at, allocation, amount)| Change {
            at: Timestamp(*at),
            allocation: AllocationId(*allocation),
            amount: *amount,
        });
        let whose = Whose {
            project: Some("chem".into()),
            ..Whose::default()
        };
        let party = Party::new(&ctx, &whose, &Usage::default(), "");
        let mut money = Enforcement::new(&ctx, standing, changes.collect());
        let fate = |(start, cost): &(i64, i64)| {
            let past = PastUse {
                party: &party,
                start: Timestamp(*start),
                end: Timestamp(start + 1),
                cost: Amount(*cost),
            };
            let fate = money.begin(&past);
            let left = [1, 2].map(|account| money.left(AccountId(account), past.start));
            match fate {
                Ok(()) => format!("runs, left {left:?}"),
                Err(Refusal::InsufficientFunds {
                    needed,
                    available,
                    whose,
                }) => {
                    format!("{whose} needs {} has {}", needed.0, available.0)
                }
                Err(refusal) => refusal.code().to_owned(),
            }
        };
        uses.iter().map(fate).collect()
    }

    #[test]
    fn a_use_that_is_refused_leaves_its_money_to_the_next() {
        let standing = vec![allocation(1, 1, 100, (0, 500))];
        assert_eq!(
            run(
                FallbackMode::Scheduler,
                standing,
                &[],
                &[(1, 60), (2, 50), (3, 40), (4, 0), (5, 1)]
            ),
            [
                "runs, left [40, 0]",
                "chem needs 50 has 40",
                "runs, left [0, 0]",
                "runs, left [0, 0]",
                "chem needs 1 has 0",
            ]
        );
    }

    #[test]
    fn money_comes_and_goes_and_windows_end() {
        let standing = vec![
            allocation(1, 1, 10, (0, 100)),
            allocation(2, 1, 0, (50, 500)),
        ];
        let changes = [(20, 1, 30), (30, 1, -5), (60, 2, 7)];
        assert_eq!(
            run(
                FallbackMode::Scheduler,
                standing,
                &changes,
                &[(19, 11), (20, 11), (40, 30), (99, 31), (100, 8), (101, 7)]
            ),
            [
                "chem needs 11 has 10",
                "runs, left [29, 0]",
                "chem needs 30 has 24",
                "runs, left [0, 0]",
                "chem needs 8 has 0",
                "chem needs 7 has 0",
            ]
        );
    }

    #[test]
    fn another_account_pays_where_the_bank_decides() {
        let standing = || {
            vec![
                allocation(1, 1, 5, (0, 500)),
                allocation(2, 2, 10, (0, 500)),
            ]
        };
        assert_eq!(
            run(
                FallbackMode::Bank,
                standing(),
                &[],
                &[(1, 6), (2, 6), (3, 5)]
            ),
            [
                "runs, left [5, 4]",
                "spare needs 6 has 4",
                "runs, left [0, 4]"
            ]
        );
        assert_eq!(
            run(FallbackMode::Scheduler, standing(), &[], &[(1, 6)]),
            ["chem needs 6 has 5"]
        );
    }
}
