//! Refunds, and settlements of what is unbilled (ledger.md 2.4, 2.8, decision note 0014).

use super::history::{Place, shares};
use super::journal::Entry;
use super::{Answer, Naive, UNBILLED};
use crate::ledger::reply::refused;
use bank_core::command::{Refund, Settle};
use bank_core::model::Phase;
use bank_core::time::Window;

impl Naive {
    /// The one use of an object's id that is meant: of each machine the newest, or the newest that
    /// used something.
    fn one_instance(
        &self,
        id: &str,
        machine: Option<&str>,
        unbilled_first: bool,
    ) -> Result<usize, String> {
        let rank = |n: usize| {
            let own = &self.instances[n];
            let is_unbilled = own.account.is_none() && own.billed != 0;
            (unbilled_first && is_unbilled, self.has_used(n))
        };
        let mut picked: Vec<usize> = Vec::new();
        for (n, i) in self.instances.iter().enumerate().rev() {
            if i.id != id || machine.is_some_and(|m| m != i.machine) {
                continue;
            }
            let same = |known: &&mut usize| self.instances[**known].machine == i.machine;
            match picked.iter_mut().find(same) {
                Some(known) if rank(*known) < rank(n) => *known = n,
                Some(_) => {}
                None => picked.push(n),
            }
        }
        match picked.as_slice() {
            [] => Err(refused("not_found")),
            [only] => Ok(*only),
            several => {
                let shown = |n: &usize| format!("job {id} on {}", self.instances[*n].machine);
                let all: Vec<String> = several.iter().map(shown).collect();
                Err(format!("{}: {}", refused("ambiguous"), all.join(", ")))
            }
        }
    }

    pub(super) fn has_used(&self, n: usize) -> bool {
        let mut all = self.journal.iter();
        all.any(|tx| tx.instance == Some(n) && tx.usage.is_some())
    }

    pub(super) fn refund(&mut self, refund: &Refund) -> Answer {
        let n = self.one_instance(&refund.object_id, refund.machine.as_deref(), false)?;
        if refund.amount.is_some_and(|amount| amount.0 <= 0) {
            return Err(refused("bad_amount"));
        }
        if refund.reissue_until.is_some_and(|until| until <= self.now) {
            return Err(refused("window_in_past"));
        }
        let named = refund.account.as_deref();
        let only = named.map(|name| self.account(name).ok_or_else(|| refused("not_found")));
        let only = only.transpose()?;
        let mut rests = self.rests(n);
        let payer =
            |(tx, at): Place| self.allocations[self.journal[tx].entries[at].allocation].account;
        rests.retain(|(place, left)| {
            *left > 0 && only.is_none_or(|account| payer(*place) == account)
        });
        let weights: Vec<i64> = rests.iter().map(|(_, left)| *left).collect();
        let all: i64 = weights.iter().sum();
        if all == 0 {
            return Err(refused("nothing_to_refund"));
        }
        let amount = refund.amount.map_or(all, |amount| amount.0);
        if amount > all {
            return Err(refused("refund_exceeds_charge"));
        }
        self.begin("refund", self.now);
        self.tx().instance = Some(n);
        self.tx().usage = Some((-amount, 0, false));
        let (mut expired, mut forgiven) = (0, 0);
        let (mut reissued, mut got) = (Vec::new(), Vec::new());
        for ((place, _), share) in rests.into_iter().zip(shares(&weights, amount)) {
            if share == 0 {
                continue;
            }
            let paid = self.journal[place.0].entries[place.1].allocation;
            let account = self.allocations[paid].account;
            if self.accounts[account].is_gone {
                return Err(refused("not_found"));
            }
            let is_over = self.allocations[paid].phase == Phase::Expired;
            let debt = self.ended_debt(paid).min(share);
            forgiven += debt;
            if let Some(until) = refund.reissue_until.filter(|_| is_over) {
                self.refund_part(paid, debt, place);
                if share > debt {
                    let target = self.reissue(account, until, &mut reissued)?;
                    self.refund_part(target, share - debt, place);
                }
            } else {
                expired += if is_over { share - debt } else { 0 };
                self.refund_part(paid, share, place);
            }
            got.push(account);
        }
        for account in got {
            self.unblock(account);
        }
        let mut answer = format!("refunded {amount}, left {}", all - amount);
        if expired > 0 {
            answer = format!("{answer}, expired {expired}");
        }
        if forgiven > 0 {
            answer = format!("{answer}, ended debt {forgiven}");
        }
        Ok(answer)
    }

    /// A debt that ended with its window was never paid for: refunds reduce it first.
    fn ended_debt(&self, allocation: usize) -> i64 {
        match self.allocations[allocation].phase {
            Phase::Expired => (-self.sums(allocation)[0]).max(0),
            _ => 0,
        }
    }

    /// A part of what goes back of one charge.
    fn refund_part(&mut self, to: usize, part: i64, of: Place) {
        if part == 0 {
            return;
        }
        self.move_amount("refund", to, part);
        let charge = &self.journal[of.0].entries[of.1];
        let (project, user) = (charge.project.clone(), charge.user.clone());
        let last = self.tx().entries.last_mut().unwrap();
        (last.project, last.user, last.takes_back) = (project, user, Some(of));
        self.expire_beside(to, part);
    }

    /// The new allocation of an account, one for all that it gets back.
    fn reissue(
        &mut self,
        account: usize,
        until: bank_core::time::Timestamp,
        reissued: &mut Vec<usize>,
    ) -> Result<usize, String> {
        let own = |id: &&usize| self.allocations[**id].account == account;
        if let Some(known) = reissued.iter().find(own) {
            return Ok(*known);
        }
        let window = Window {
            start: Some(self.now),
            end: Some(until),
        };
        self.check_alone(account, &window, None)?;
        let id = self.open_allocation(account, window, 0);
        reissued.push(id);
        Ok(id)
    }

    /// What `#unbilled` carries of a job is billed to a project that is there now.
    pub(super) fn settle_job(&mut self, settle: &Settle) -> Answer {
        if self.project(&settle.project).is_none() {
            return Err(refused("project_unknown"));
        }
        let n = self.one_instance(&settle.object_id, settle.machine.as_deref(), true)?;
        let mut unbilled = self.rests(n);
        unbilled.retain(|((tx, at), left)| {
            let entry = &self.journal[*tx].entries[*at];
            let account = self.allocations[entry.allocation].account;
            account == UNBILLED && (*left > 0 || entry.amount == 0)
        });
        if unbilled.is_empty() {
            return Err(refused("nothing_unbilled"));
        }
        let amount: i64 = unbilled.iter().map(|(_, left)| left).sum();
        self.begin("settle", self.now);
        self.tx().instance = Some(n);
        self.tx().usage = Some((0, 0, false));
        let before = self.instances[n].facts.project.clone();
        let user = self.instances[n].facts.user.clone();
        for (place, left) in unbilled {
            let allocation = self.journal[place.0].entries[place.1].allocation;
            self.enter(Entry {
                kind: "reverse",
                allocation,
                amount: left,
                active: left,
                takes_back: Some(place),
                project: before.clone(),
                user: user.clone(),
                ..Entry::default()
            });
        }
        let of_job = self.uses.iter_mut().filter(|own| own.instance == Some(n));
        of_job.for_each(|own| own.is_given = true);
        self.instances[n].facts.project.clone_from(&settle.project);
        let payer = self.find(&self.whose_is(n));
        let fits = self.billable(&payer, &self.instances[n].facts);
        let order = self.order(&fits, self.now);
        let first = *order.first().ok_or_else(|| refused("no_usable_account"))?;
        let mut left = amount;
        let mut parts = Vec::new();
        for id in order {
            let part = self.free(id, false).max(0).min(left);
            left -= part;
            parts.extend((part > 0).then_some(("charge", id, part)));
        }
        if left > 0 {
            parts.push(("charge_debt", first, left));
        } else if parts.is_empty() {
            parts.push(("charge", first, 0));
        }
        self.instances[n].account = Some(self.allocations[parts[0].1].account);
        for (kind, allocation, part) in parts {
            self.enter(Entry {
                kind,
                allocation,
                amount: -part,
                active: -part,
                project: settle.project.clone(),
                user: user.clone(),
                ..Entry::default()
            });
        }
        Ok(format!("settled {amount}, debt {left}"))
    }
}
