//! Who pays for what was used (ledger.md 2.8): the own lien, free money, then whoever covers what
//! is short. Usage is never lost.

use super::billing::Billed;
use super::history::shares;
use super::journal::Entry;
use super::money::short;
use super::who::{Fit, Payer};
use super::{Answer, Naive, UNBILLED};
use crate::ledger::reply::refused;
use bank_core::command::Charge;
use bank_core::model::{Mode, Phase};
use bank_core::terms::Shortfall;
use bank_core::time::Timestamp;

/// A charge on its way.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is something that the answer says"
)]
struct Bill {
    n: usize,
    at: Timestamp,
    payer: Payer,
    amount: i64,
    is_late: bool,
    is_unbilled: bool,
    is_shadow: bool,
    /// The lien paid at least a part.
    by_lien: bool,
    debt: i64,
    by_fallback: i64,
    shortfall: Shortfall,
    /// The allocation that carries what nothing covers.
    first: Option<usize>,
    /// It gives back credits of an earlier record.
    gives_back: bool,
    /// It adds nothing.
    repeats: bool,
}

impl Naive {
    /// Whether another source charges the machine (decisions.md 19).
    pub(super) fn is_foreign(&self, charge: &Charge) -> bool {
        let machine = self.machine(&charge.request.whose.machine);
        let owner = machine.and_then(|m| m.source.as_ref());
        let own = charge.terms.source.as_ref();
        own.is_some() && owner.is_some() && own != owner
    }

    pub(super) fn charge(&mut self, charge: &Charge) -> Answer {
        Naive::check_charge(charge)?;
        let request = &charge.request;
        let window = charge.terms.window;
        let at = self.happened(window.map(|w| w.end).or(request.event_time));
        let began = self.opens(charge, at);
        let mut known = self.charged(charge, at);
        if let Some(over) = known.filter(|n| self.counts_anew(charge, *n, at)) {
            self.end_run(over);
            known = None;
        }
        if known.is_some_and(|n| self.is_of_other(charge, n)) {
            return Err(refused("bad_value"));
        }
        let is_kept = self.is_kept(charge, known);
        let n = known.unwrap_or_else(|| self.new_instance(request, began));
        if is_kept {
            return Ok(self.keep_only(charge, n, at));
        }
        self.charge_on(charge, n, at, "charge", None)
    }

    pub(super) fn charge_on(
        &mut self,
        charge: &Charge,
        n: usize,
        at: Timestamp,
        op: &'static str,
        processors: Option<(i128, i128)>,
    ) -> Answer {
        let request = &charge.request;
        let known_project = self.instances[n].facts.project.clone();
        let known_user = self.instances[n].facts.user.clone();
        let began = self.instances[n].began;
        self.note_start(n, request.facts.start);
        self.presume(charge, n, at, began);
        let plausible = self.plausible(charge, n, at)?;
        let measured = self.measure(charge, n, at, &plausible)?;
        let is_overtaken = self.instances[n].used_until.is_some_and(|until| at < until);
        self.keep_all(
            charge,
            n,
            charge.is_checked && (plausible.repeats || is_overtaken),
        );
        self.instances[n].facts.counted = processors;
        let whose = request_facts(&self.instances[n].facts);
        let payer = self.find(&request.whose.or_of(&whose));
        let mode = self.instances[n].mode.unwrap_or(self.mode(&payer));
        self.begin(op, at);
        self.tx().instance = Some(n);
        self.tx().seconds.clone_from(&measured.used);
        let quote_invalid = self.bind(n, request, at);
        // After a switch of modes the lien holds the other kind of money.
        let holds = self.instances[n].lien.map(|l| self.liens[l].is_shadow);
        if holds.is_some_and(|shadow| shadow != mode.is_shadow()) {
            self.end_lien(n, "released");
        }
        let is_other = request.whose.project.is_some() && known_project != payer.named;
        let is_finished = charge.terms.finished.is_some();
        let is_its = known_project == payer.named && known_user == self.instances[n].facts.user;
        let is_moved = is_finished && charge.terms.total && !is_its;
        if is_other && (charge.terms.named_only || is_finished) {
            self.end_lien(n, "released");
            (self.instances[n].account, self.instances[n].fallback_from) = (None, None);
        } else if is_other
            && Naive::is_by_hand(charge)
            && !self.billable(&payer, &self.instances[n].facts).is_empty()
        {
            (self.instances[n].account, self.instances[n].fallback_from) = (None, None);
        }
        let Billed { amount, bounded } = self.bill(charge, n, &measured);
        self.tx().exact = bounded;
        self.tx().is_whole = charge.terms.total || is_finished;
        self.tx().disputed = if charge.terms.total {
            0
        } else {
            plausible.disputed
        };
        let is_first = is_finished && self.instances[n].used_until.is_none();
        self.dispute(charge, n, &plausible);
        let instance = &mut self.instances[n];
        instance.used_until = instance.used_until.max(Some(at));
        if charge.terms.source.is_some() && plausible.counts.is_some() {
            // The kept seconds are billed with it.
            instance.kept = 0;
        }
        instance.is_charged = true;
        self.instances[n].used.extend(&measured.used);
        let mut bill = Bill {
            n,
            at,
            payer,
            amount,
            is_late: self.instances[n].closed.is_some() && !is_first,
            is_unbilled: false,
            is_shadow: mode.is_shadow(),
            by_lien: false,
            debt: 0,
            by_fallback: 0,
            shortfall: charge.terms.shortfall.unwrap_or(self.policy.shortfall),
            first: None,
            gives_back: amount < 0,
            repeats: plausible.repeats,
        };
        if is_moved {
            let back = self.take_back(n, (known_project, known_user));
            bill.amount = (amount + back).max(0);
            bill.gives_back = bill.gives_back || back > 0;
        }
        if bill.amount < 0 {
            self.give_back(&mut bill);
        } else if mode.is_shadow() {
            self.take_shadow(&mut bill);
        } else {
            self.take(&mut bill)?;
        }
        Ok(self.finish(&bill, mode, charge, measured.seconds, quote_invalid))
    }

    fn pay(&mut self, bill: &Bill, kind: &'static str, id: usize, amount: i64, from_lien: i64) {
        let is_future = self.allocations[id].phase == Phase::Future;
        self.enter(Entry {
            kind,
            allocation: id,
            amount: -amount,
            held: -from_lien,
            active: if is_future { 0 } else { -amount },
            project: self.instances[bill.n].facts.project.clone(),
            user: self.instances[bill.n].facts.user.clone(),
            ..Entry::default()
        });
    }

    fn take(&mut self, bill: &mut Bill) -> Result<(), String> {
        let kind = if bill.is_late {
            "late_charge"
        } else {
            "charge"
        };
        let mut left = bill.amount;
        // Allocation, from the lien, from free money.
        let mut takes: Vec<(usize, i64, i64)> = Vec::new();
        if let Some(lien) = self.instances[bill.n].lien {
            bill.first = self.liens[lien].portions.first().map(|(id, _)| *id);
            for (id, part) in &mut self.liens[lien].portions {
                let take = left.min(*part);
                *part -= take;
                left -= take;
                if take > 0 {
                    bill.by_lien = true;
                    takes.push((*id, take, 0));
                }
            }
        }
        let order = self.paying(bill, left);
        let there = self.in_time(&order, bill.at);
        bill.first = bill
            .first
            .or_else(|| there.first().or(order.first()).copied());
        for id in there {
            let take = self.free_then(id, bill.at).min(left);
            if take == 0 || self.splits(id, take, left, &takes) {
                continue;
            }
            left -= take;
            match takes.iter_mut().find(|(known, ..)| *known == id) {
                Some(known) => known.2 = take,
                None => takes.push((id, 0, take)),
            }
        }
        let Some(first) = takes.first().map(|(id, ..)| *id).or(bill.first) else {
            bill.first = Some(0);
            bill.is_unbilled = true;
            self.pay(bill, "charge_debt", 0, bill.amount, 0);
            return Ok(());
        };
        bill.first = Some(first);
        if left > 0 && bill.shortfall == Shortfall::Reject {
            return Err(short(bill.amount, bill.amount - left));
        }
        let by_fallback = self.fallback_parts(bill, first, &mut left);
        if takes.is_empty() && by_fallback.is_empty() && left == 0 {
            takes.push((first, 0, 0));
        }
        let paying = self.allocations[first].account;
        bill.is_unbilled = paying == UNBILLED;
        for (id, from_lien, free) in takes {
            self.pay(bill, kind, id, from_lien + free, from_lien);
        }
        for (id, part) in by_fallback {
            bill.by_fallback += part;
            self.pay(bill, "charge_fallback", id, part, 0);
        }
        if left > 0 {
            bill.debt = left;
            self.pay(bill, "charge_debt", first, left, 0);
        }
        Ok(())
    }

    /// The instance's account first, then the others in order, where they are needed.
    fn paying(&self, bill: &Bill, left: i64) -> Vec<usize> {
        let mut order = self.own_order(bill);
        let has_own = !self.in_time(&order, bill.at).is_empty();
        if left > 0 || (bill.first.is_none() && !has_own) {
            let facts = &self.instances[bill.n].facts;
            for id in self.billing_order(&bill.payer, facts, bill.at) {
                if !order.contains(&id) {
                    order.push(id);
                }
            }
        }
        order
    }

    /// What is free of what was there at an instant.
    fn free_then(&self, id: usize, at: Timestamp) -> i64 {
        (self.free(id, false) - self.came_after(id, at)).max(0)
    }

    /// Without what was created after an instant and has no start; or, where the site lets it pay, with it
    /// at the end.
    fn in_time(&self, order: &[usize], at: Timestamp) -> Vec<usize> {
        let is_later = |id: &usize| {
            let a = &self.allocations[*id];
            a.window.start.is_none() && a.opened > at
        };
        let mut there: Vec<usize> = order.iter().copied().filter(|id| !is_later(id)).collect();
        if self.policy.later_credits_pay {
            there.extend(order.iter().copied().filter(is_later));
        }
        there
    }

    fn own_order(&self, bill: &Bill) -> Vec<usize> {
        let own = self.instances[bill.n].account;
        let own = own.filter(|a| *a != UNBILLED && !self.accounts[*a].is_gone);
        own.map_or_else(Vec::new, |account| {
            self.order(&[Fit::only(account)], bill.at)
        })
    }

    /// A discrete account pays from one allocation, or not (decision note 0013).
    fn splits(&self, id: usize, take: i64, left: i64, takes: &[(usize, i64, i64)]) -> bool {
        let account = self.allocations[id].account;
        let beside = |(other, ..): &(usize, i64, i64)| {
            *other != id && self.allocations[*other].account == account
        };
        self.accounts[account].is_discrete && (take < left || takes.iter().any(beside))
    }

    fn fallback_parts(&self, bill: &Bill, first: usize, left: &mut i64) -> Vec<(usize, i64)> {
        let paying = self.allocations[first].account;
        let fallback = self.fallback_of(paying, bill.payer.machine.as_deref());
        let wanted = *left > 0 && bill.shortfall == Shortfall::Fallback;
        let Some(fallback) = fallback.filter(|_| wanted) else {
            return Vec::new();
        };
        let mut parts = Vec::new();
        for id in self.in_time(&self.order(&[Fit::only(fallback)], bill.at), bill.at) {
            let take = self.free_then(id, bill.at).min(*left);
            if take > 0 {
                *left -= take;
                parts.push((id, take));
            }
        }
        parts
    }

    /// The shadow totals only: the own shadow lien, the rest on the first allocation.
    fn take_shadow(&mut self, bill: &mut Bill) {
        let mut left = bill.amount;
        let mut parts: Vec<(usize, i64, i64)> = Vec::new();
        if let Some(lien) = self.instances[bill.n].lien {
            for (id, part) in &mut self.liens[lien].portions {
                let take = left.min(*part);
                *part -= take;
                left -= take;
                bill.by_lien |= take > 0;
                parts.push((*id, take, take));
            }
        }
        if parts.is_empty() {
            let mut order = self.own_order(bill);
            if order.is_empty() {
                let facts = &self.instances[bill.n].facts;
                order = self.billing_order(&bill.payer, facts, bill.at);
            }
            parts.extend(order.first().map(|id| (*id, 0, 0)));
        }
        if let Some(first) = parts.first_mut() {
            first.1 += left;
            bill.first = Some(first.0);
        }
        for (allocation, shadow, held) in parts {
            self.enter(Entry {
                kind: "charge_notional",
                allocation,
                shadow: -shadow,
                shadow_held: -held,
                project: self.instances[bill.n].facts.project.clone(),
                user: self.instances[bill.n].facts.user.clone(),
                ..Entry::default()
            });
        }
    }

    /// A total fell: the difference goes back to who paid, as far as nobody gave it back before.
    fn give_back(&mut self, bill: &mut Bill) {
        let back = -bill.amount;
        let in_shadow = self.instances[bill.n].billed < back;
        let all = self.paid(bill.n, in_shadow);
        let parts: Vec<(usize, i64)> = all.iter().copied().filter(|(_, part)| *part > 0).collect();
        let sum: i64 = parts.iter().map(|(_, part)| part).sum();
        let given = shares(
            &parts.iter().map(|(_, part)| *part).collect::<Vec<_>>(),
            back.min(sum),
        );
        let back_to: Vec<(usize, i64)> = parts
            .iter()
            .zip(given)
            .map(|((id, _), share)| (*id, share))
            .filter(|(_, share)| *share > 0)
            .collect();
        // Shadow money of a project without any allocation lies nowhere.
        let nowhere = if in_shadow {
            (self.instances[bill.n].shadow_billed - sum).max(0)
        } else {
            0
        };
        let gone = (sum + nowhere).min(back);
        bill.amount = -gone;
        self.instances[bill.n].metered += Naive::exact(back - gone);
        if back > gone && !in_shadow {
            self.tx().fell_into = self
                .refunds(bill.n)
                .iter()
                .map(|(place, ..)| *place)
                .collect();
        }
        let payer = all.iter().map(|(id, _)| *id).min();
        bill.first = back_to.first().map(|(id, _)| *id).or(payer);
        for (owner, shares) in self.by_owner(bill.n, &back_to, in_shadow) {
            for (id, share) in shares {
                self.give_to(&owner, id, share, in_shadow);
            }
        }
        bill.is_shadow = in_shadow;
        bill.is_unbilled = !in_shadow
            && bill
                .first
                .is_some_and(|id| self.allocations[id].account == UNBILLED);
    }

    fn finish(
        &mut self,
        bill: &Bill,
        mode: Mode,
        charge: &Charge,
        seconds: i64,
        quote_invalid: bool,
    ) -> String {
        let n = bill.n;
        let tx = self.journal.len() - 1;
        let moves = self.journal[tx].entries.iter().any(|e| e.amount != 0);
        self.journal[tx].at = if bill.gives_back && moves {
            self.now
        } else {
            self.booking(tx, bill.at)
        };
        let paying = bill.first.map(|id| self.allocations[id].account);
        self.journal[tx].usage = Some((bill.amount, seconds, bill.is_shadow));
        self.journal[tx].priced = Some(self.priced_facts(n));
        let instance = &mut self.instances[n];
        let billed = if bill.is_shadow {
            &mut instance.shadow_billed
        } else {
            &mut instance.billed
        };
        *billed += bill.amount;
        instance.seconds += seconds;
        instance.mode = instance.mode.or(Some(mode));
        if !bill.is_shadow && !bill.is_unbilled && bill.amount > 0 {
            instance.account = instance.account.or(paying);
        }
        if let (Mode::Fast, Some(account)) = (mode, paying) {
            self.block(account);
        }
        let gives_back = charge.closes || charge.releases;
        let lien = self.instances[n].lien.filter(|_| gives_back);
        if let Some(lien) = lien {
            let is_settled = self.left_of(lien) == 0 && bill.by_lien;
            self.end_lien(n, if is_settled { "settled" } else { "released" });
        }
        if charge.closes && self.instances[n].closed.is_some() {
            // What ended it all the same.
            let instance = &mut self.instances[n];
            if instance.expired.is_some() {
                let end = bill.at.max(instance.opened);
                instance.closed = instance.closed.map(|closed| closed.min(end));
            }
            instance.is_absorbed &= bill.repeats;
            (instance.is_ended, instance.is_deleted) = (true, false);
            (instance.expired, instance.due) = (None, None);
        } else if charge.closes {
            let instance = &mut self.instances[n];
            let has_window = charge.terms.window.is_some();
            let last = instance.used_until.filter(|_| has_window);
            instance.closed = Some(bill.at.max(instance.opened).max(last.unwrap_or(bill.at)));
            (instance.is_ended, instance.due) = (true, None);
        } else {
            self.wait(n, bill.at, charge.terms.idle.unwrap_or(self.policy.idle));
        }
        self.correct_expiries(tx, bill.gives_back, bill.at);
        let amount = if mode == Mode::Track { 0 } else { bill.amount };
        let debt = (bill.debt > 0).then(|| format!("debt {}", bill.debt));
        let fallback = (bill.by_fallback > 0).then(|| format!("by fallback {}", bill.by_fallback));
        let answer = [
            Some(format!("charged {amount}")),
            debt,
            fallback,
            bill.is_unbilled.then(|| "unbilled".to_owned()),
            bill.is_shadow.then(|| "shadow".to_owned()),
            bill.is_late.then(|| "late".to_owned()),
            quote_invalid.then(|| "quote_invalid".to_owned()),
        ];
        let answer: Vec<String> = answer.into_iter().flatten().collect();
        let balance = paying.map_or(0, |account| self.balance(account));
        format!("{}, balance {balance}", answer.join(", "))
    }
}

/// Facts as the product's type, for whom they name.
fn request_facts(facts: &super::Facts) -> bank_core::model::Facts {
    bank_core::model::Facts {
        project: facts.project.clone(),
        user: facts.user.clone(),
        ..bank_core::model::Facts::default()
    }
}
