//! The last steps of a charge: its usage row, its instance and lien, and the expiries that it corrects.

use super::{Bill, LienUse};
use crate::amount::Amount;
use crate::command::Charge;
use crate::decimal::Decimal;
use crate::effects::{
    Billing, Charged, Delta, Effects, EntryKind, InstanceChange, Outcome, RecordEvent, UsageRow,
};
use crate::ids::AccountId;
use crate::model::{Closing, LienState, Mode};
use crate::months;
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::fallback;
use crate::rules::instance::{close_instance, end_lien, wait_for_more};
use crate::rules::money::{block_if_below_zero, figures};
use crate::rules::record;
use crate::terms;
use crate::time::Seconds;
use crate::usage;
use crate::view::Context;

/// The state of the instance after a charge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    /// It stays as it is: an interim charge.
    Stays,
    /// Its lien gives back what is left: a pause.
    Paused,
    /// It closes, and its lien gives back what is left.
    Closed,
}

impl After {
    fn of(charge: &Charge) -> After {
        match (charge.closes, charge.releases) {
            (true, _) => After::Closed,
            (false, true) => After::Paused,
            (false, false) => After::Stays,
        }
    }
}

impl Bill {
    /// Records the result of the charge.
    pub(super) fn finish(
        mut self,
        submitted: &Charge,
        duration: Seconds,
        mode: Mode,
        ctx: &Context<'_>,
    ) -> Result<Effects, Refusal> {
        self.book(ctx);
        self.mark(ctx);
        self.count(submitted, duration, mode)?;
        let paying = self.paying_account();
        let own = paying.and_then(|id| ctx.directory.account(id));
        // A charge that took nothing does not choose the account of the later ones.
        if self.outcome == Billing::Billed && self.amount > Amount::ZERO {
            self.instance.account = self.instance.account.or(paying);
        }
        if let (Mode::Fast, Billing::Billed, Some(account)) = (mode, self.outcome, own) {
            block_if_below_zero(&mut self.postings, account);
        }
        let after = After::of(submitted);
        self.keep_lien(after)?;
        self.record(duration, mode, ctx);
        if after == After::Closed {
            self.close(submitted.terms.window.is_some(), ctx);
        } else {
            let idle = submitted.terms.idle.unwrap_or(ctx.directory.policy.idle);
            wait_for_more(&mut self.instance, self.at, idle);
        }
        self.correct_expiries()?;
        if let Some((machine, source)) = self.claimed.take() {
            record::claim(&mut self.postings, &machine, &source, ctx);
        }
        let shares = self.shares();
        let balance = paying.map_or(0, |account| figures(&self.postings, account).balance());
        let outcome = Outcome::Charged(Charged {
            instance: self.instance.id,
            tx: self.tx,
            amount: if mode == Mode::Track {
                Amount::ZERO
            } else {
                self.amount.plus(self.reduced.beside)?
            },
            debt: self.short.debt,
            billing: self.outcome,
            account: paying,
            shares,
            balance: Amount::clamped(balance),
            project: self.payer.project_name.clone(),
            lien_missing: self.lien == LienUse::Missing,
            late: self.late,
            quote_invalid: self.binding.invalid,
            unpriced: self.unpriced,
            against_liens: self.short.against_liens,
            by_fallback: self.short.by_fallback,
            counted: duration,
            disputed: self.plausible.disputed,
            repeats: self.plausible.repeats,
            would_refuse: self.would_refuse,
            kept_for: None,
        });
        let standing_changed = self.before != self.instance.standing();
        let change = InstanceChange {
            instance: self.instance,
            facts_changed: self.facts_changed,
            standing_changed,
        };
        self.postings.instances.push(change);
        Ok(self.postings.finish(outcome))
    }

    /// The use has ended. An end that comes after the close is what ended it all the same: what comes
    /// later still is absorbed (decisions.md 13). If the use closed by itself later than it ended, it ended first. A
    /// charge with start and end can be of an earlier part of the use than another one before it.
    fn close(&mut self, has_window: bool, ctx: &Context<'_>) {
        let (postings, instance) = (&mut self.postings, &mut self.instance);
        if let Some((closed, by)) = &mut instance.closed {
            if *by == Closing::Expiry {
                *closed = self.at.max(instance.opened).min(*closed);
            }
            *by = Closing::End;
            instance.due = None;
            // The run whose start was absorbed has ended.
            instance.absorbed &= self.plausible.repeats;
            if !self.late {
                // Its scheduler had ended it, and this is its first billed charge.
                let closed = *closed;
                close_instance(postings, instance, closed, Closing::End, ctx);
            }
            return;
        }
        // Not before it began, whenever the use that closes it ended.
        let mut end = self.at.max(instance.opened);
        if has_window {
            end = end.max(instance.used_until.unwrap_or(end));
        }
        close_instance(postings, instance, end, Closing::End, ctx);
    }

    /// Adds remarks on special cases to the journal.
    fn mark(&mut self, ctx: &Context<'_>) {
        if self.plausible.repeats {
            self.postings.remark(&self.plausible.remark());
        }
        if self.plausible.disputed.0 > 0 {
            self.postings.remark(&self.plausible.remark());
            let about = self.about();
            self.postings.note(EntryKind::Disputed, &about);
        }
        if self.lien == LienUse::Missing {
            self.postings.remark("lien_missing");
        }
        if self.binding.invalid {
            self.postings.remark("quote_invalid");
        }
        if self.outcome == Billing::Unbilled {
            self.postings.remark("unbilled");
        }
        let from = self
            .instance
            .fallback_from
            .and_then(|id| ctx.directory.account(id));
        if let Some(from) = from {
            self.postings
                .remark(&format!("fallback_from={}", from.name));
        }
        // The last: it comes from outside, with blanks.
        if let Some(text) = &self.given {
            self.postings.remark(&terms::written_given(text));
        }
    }

    fn count(&mut self, submitted: &Charge, duration: Seconds, mode: Mode) -> Result<(), Refusal> {
        self.dispute(submitted);
        let instance = &mut self.instance;
        let total = match self.outcome {
            Billing::Shadow => &mut instance.shadow_billed,
            Billing::Billed | Billing::Unbilled | Billing::Refund => &mut instance.billed,
        };
        *total = total.plus(self.amount)?;
        instance.charged = instance.charged.plus(duration);
        if submitted.terms.source.is_some() && self.plausible.counts.is_some() {
            // The kept seconds are billed with it.
            instance.kept = Seconds(0);
        }
        let until = instance
            .used_until
            .map_or(self.at, |known| known.max(self.at));
        instance.used_until = Some(until);
        let used = instance.facts.usage.processor_seconds(duration);
        instance.processor_seconds = instance.processor_seconds.saturating_add(used);
        if instance.record.is_none() {
            instance.mode = Some(match (self.outcome, mode.is_shadow()) {
                // Where no price could be computed, the suspense account has it.
                (Billing::Billed | Billing::Unbilled | Billing::Refund, true) => Mode::Strict,
                _ => mode,
            });
        }
        instance.record = instance.record.or(Some(self.usage));
        Ok(())
    }

    /// Adds the seconds beyond the ceiling. A total replaces all of them; one that is older than the last one
    /// changes nothing.
    fn dispute(&mut self, submitted: &Charge) {
        let (instance, plausible) = (&mut self.instance, &self.plausible);
        if !(submitted.is_checked && submitted.terms.total) {
            instance.disputed = instance.disputed.plus(plausible.disputed);
        } else if plausible.counts.is_some() {
            instance.disputed = plausible.disputed;
        }
    }

    pub(super) fn paying_account(&self) -> Option<AccountId> {
        self.first
            .and_then(|id| self.postings.allocation(id))
            .map(|a| a.account)
    }

    /// The parts of the accounts that paid, in the order of payment.
    fn shares(&self) -> Vec<(AccountId, i128)> {
        let mut shares: Vec<(AccountId, i128)> = Vec::new();
        let paid = self.postings.moved(self.tx);
        for entry in paid.filter(|entry| entry.usage.is_some()) {
            let Some(account) = entry.account else {
                continue;
            };
            let part = i128::from(entry.delta.amount).saturating_neg();
            match shares.iter_mut().find(|(own, _)| *own == account) {
                Some((_, sum)) => *sum = sum.saturating_add(part),
                None => shares.push((account, part)),
            }
        }
        shares
    }

    /// A closing charge and a pause give back what is left of the lien; one that it used up is settled.
    fn keep_lien(&mut self, after: After) -> Result<(), Refusal> {
        let Some(lien) = &self.instance.lien else {
            return Ok(());
        };
        if after == After::Stays {
            self.postings.liens.push(lien.clone());
            return Ok(());
        }
        if lien.remaining() == 0 && self.lien == LienUse::Paid {
            let mut settled = lien.clone();
            settled.state = LienState::Settled;
            settled.portions.clear();
            self.postings.liens.push(settled);
            self.instance.lien = None;
            return Ok(());
        }
        end_lien(&mut self.postings, &mut self.instance, LienState::Released)
    }

    fn record(&mut self, duration: Seconds, mode: Mode, ctx: &Context<'_>) {
        let processors = self.instance.facts.usage.processors;
        let row = UsageRow {
            id: self.usage,
            prev: self.instance.last_usage,
            instance: self.instance.id,
            tx: self.tx,
            at: self.reduced.until.unwrap_or(self.at),
            charged: Seconds(duration.0.saturating_sub(self.reduced.time.0)),
            processors: processors.unwrap_or(Decimal::ZERO),
            amount: self.amount,
            billing: self.outcome,
            late: self.late,
            facts: usage::text::write(&fallback::priced(&self.instance, ctx)),
            rates_at: self.instance.rates_at,
        };
        if ctx.directory.policy.records {
            let amount = if mode == Mode::Track {
                Amount::ZERO
            } else {
                self.amount
            };
            let mut instance = Box::new(self.instance.clone());
            if let Some(owner) = &self.reduced.owner {
                instance.facts.project.clone_from(&owner.project);
                instance.facts.user.clone_from(&owner.user);
            }
            let usage = row.clone();
            let charged = RecordEvent::Charged {
                instance,
                usage,
                amount,
                created: ctx.now,
            };
            self.postings.records.push(charged);
        }
        self.instance.last_usage = Some(self.usage);
        self.postings.usages.push(row);
    }

    /// Books the charge; its usage row keeps the instant from which it counts.
    fn book(&mut self, ctx: &Context<'_>) {
        let booked = if self.gives_back && self.postings.moves_money(self.tx) {
            ctx.now
        } else {
            self.postings.booking(self.tx, self.at)
        };
        if booked != self.at {
            self.postings.book(self.tx, booked);
            let counts = format!("effective={}", months::text(self.at));
            self.postings.remark(&counts);
        }
    }

    /// Corrects expired allocations that were charged: the charged amount is no active money any more. Each
    /// is corrected at its boundary, in a separate transaction (decisions.md 14). The charge itself corrects
    /// it if it gives something back, or if it is booked after the boundary and counts from before it.
    fn correct_expiries(&mut self) -> Result<(), Refusal> {
        let charged = self.postings.taken_from_expired(self.tx);
        let booked = self.postings.booked(self.tx).unwrap_or(self.at);
        let (at, gives_back) = (self.at, self.gives_back);
        let (at_once, before): (Vec<_>, Vec<_>) = charged
            .into_iter()
            .partition(|(_, end, _)| gives_back || (at < *end && *end <= booked));
        let about = About::instance(&self.instance);
        let expire = |postings: &mut Postings, allocation, active| {
            let delta = Delta {
                active,
                ..Delta::default()
            };
            postings.post(EntryKind::Expire, allocation, delta, &about)
        };
        for (allocation, _, amount) in at_once {
            expire(&mut self.postings, allocation, amount)?;
        }
        for (allocation, end, amount) in before {
            self.postings.begin_for("boundary", end, self.instance.id);
            self.postings.correct(self.tx);
            expire(&mut self.postings, allocation, amount)?;
        }
        Ok(())
    }
}
