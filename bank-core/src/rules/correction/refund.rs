//! Money back to the allocations that paid (ledger.md 2.4).

use super::transfer::open;
use super::{announce, move_money, one_instance};
use crate::amount::Amount;
use crate::command::Refund;
use crate::decimal::Decimal;
use crate::effects::{Billing, Effects, EntryKind, InstanceChange, Outcome, Refunded, UsageRow};
use crate::history::{Rest, rests};
use crate::ids::{AccountId, AllocationId, Next, TxId, UsageId};
use crate::model::{Account, Instance, Phase};
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::money::{figures, one_at_a_time, unblock_of};
use crate::rules::split::in_proportion;
use crate::time::{Seconds, Timestamp, Window};
use crate::view::{Context, View};

/// Gives back to each charge its share of what is left of it; every entry points at its charge, and is in the names of
/// that charge (decision 0141). There is a usage row for each owner.
pub(super) fn refund(refund: &Refund, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let instance = one_instance(view, (&refund.object_id, refund.number), ctx)?;
    check(refund, ctx)?;
    let only = refund.account.as_deref().map(|name| account(name, ctx));
    let only = only.transpose()?;
    let mut rests = rests(&view.history);
    rests.retain(|r| r.left > 0 && (only.is_none() || r.entry.account == only));
    let total: i128 = rests.iter().map(|r| i128::from(r.left)).sum();
    if total == 0 {
        return Err(Refusal::NothingToRefund {
            account: refund.account.clone(),
        });
    }
    let left = Amount::clamped(total);
    let amount = refund.amount.unwrap_or(left);
    if i128::from(amount.0) > total {
        return Err(Refusal::RefundExceedsCharge { left });
    }
    let mut postings = Postings::new(view);
    let tx = postings.begin_for("refund", ctx.now, instance.id);
    postings.remark(&refund.note);
    let mut giving = Giving::new(postings, (instance, tx), refund.reissue_until, ctx.now);
    let weights: Vec<i128> = rests.iter().map(|r| r.left.into()).collect();
    for (rest, share) in rests.iter().zip(in_proportion(&weights, amount.0.into())) {
        giving.give(rest, Amount::from_sum(share)?, ctx)?;
    }
    let Giving {
        mut postings,
        rows,
        parts,
        expired,
        forgiven,
        reissued,
        ..
    } = giving;
    for (_, row) in &rows {
        announce(&mut postings, instance, row, ctx);
    }
    let paid: Vec<AllocationId> = parts.iter().map(|(id, _)| *id).collect();
    let accounts = unblock_of(&mut postings, &paid, ctx);
    append_usage(&mut postings, instance.clone(), rows);
    let refunded = Refunded {
        tx,
        instance: instance.id,
        amount,
        parts,
        expired: Amount::from_sum(expired)?,
        forgiven: Amount::from_sum(forgiven)?,
        reissued,
        left: left.minus(amount)?,
        figures: accounts
            .into_iter()
            .map(|id| (id, figures(&postings, id)))
            .collect(),
    };
    Ok(postings.finish(Outcome::Refunded(refunded)))
}

fn check(refund: &Refund, ctx: &Context<'_>) -> Result<(), Refusal> {
    if refund.amount.is_some_and(|a| a <= Amount::ZERO) {
        return Err(Refusal::NOT_ABOVE_ZERO);
    }
    if refund.reissue_until.is_some_and(|until| until <= ctx.now) {
        return Err(Refusal::WindowInPast);
    }
    Ok(())
}

/// Adds usage rows to an instance.
fn append_usage(postings: &mut Postings, mut instance: Instance, rows: Vec<(Owner, UsageRow)>) {
    let last = rows.last().map(|(_, row)| row.id);
    instance.last_usage = last.or(instance.last_usage);
    postings.usages.extend(rows.into_iter().map(|(_, row)| row));
    postings.instances.push(InstanceChange {
        instance,
        facts_changed: false,
        standing_changed: false,
    });
}

fn account(name: &str, ctx: &Context<'_>) -> Result<AccountId, Refusal> {
    let found = ctx.directory.account_named(name);
    found
        .map(|a| a.id)
        .ok_or_else(|| Refusal::not_found("account", name))
}

/// The project and the user in the entry of a charge.
type Owner = (String, String);

/// A refund on its way.
struct Giving<'a> {
    postings: Postings,
    instance: &'a Instance,
    tx: TxId,
    /// What each owner gets back.
    rows: Vec<(Owner, UsageRow)>,
    reissue_until: Option<Timestamp>,
    now: Timestamp,
    parts: Vec<(AllocationId, Amount)>,
    expired: i128,
    forgiven: i128,
    reissued: Vec<AllocationId>,
}

impl<'a> Giving<'a> {
    fn new(
        postings: Postings,
        (instance, tx): (&'a Instance, TxId),
        reissue_until: Option<Timestamp>,
        now: Timestamp,
    ) -> Giving<'a> {
        Giving {
            postings,
            instance,
            tx,
            rows: Vec::new(),
            reissue_until,
            now,
            parts: Vec::new(),
            expired: 0,
            forgiven: 0,
            reissued: Vec::new(),
        }
    }

    /// Gives back a share of one charge. If the window of the paying allocation ended with a debt, the share
    /// reduces that debt first: nobody paid it, so it never becomes money
    /// (decision 0116).
    fn give(&mut self, rest: &Rest<'_>, share: Amount, ctx: &Context<'_>) -> Result<(), Refusal> {
        if share <= Amount::ZERO {
            return Ok(());
        }
        let usage = self.count(rest, share)?;
        let Some(paid) = rest.entry.allocation else {
            return Ok(());
        };
        let Amount(share) = share;
        let gone = || Refusal::not_found("allocation", &paid.0.to_string());
        let allocation = *self.postings.allocation(paid).ok_or_else(gone)?;
        let account = ctx.directory.account(allocation.account);
        let name = account.map_or_else(String::new, |a| a.name.clone());
        let account = account.filter(|a| !a.deleted);
        let account = account.ok_or_else(|| Refusal::not_found("account", &name))?;
        if allocation.phase != Phase::Expired {
            return self.post((rest, usage), paid, share);
        }
        let debt = share.min(allocation.amount.0.saturating_neg().max(0));
        let money = share.saturating_sub(debt);
        self.forgiven = self.forgiven.saturating_add(i128::from(debt));
        let Some(until) = self.reissue_until else {
            self.expired = self.expired.saturating_add(i128::from(money));
            return self.post((rest, usage), paid, share);
        };
        self.post((rest, usage), paid, debt)?;
        if money == 0 {
            return Ok(());
        }
        let target = self.reissue(account, until, ctx)?;
        self.post((rest, usage), target, money)
    }

    /// Adds a share to the usage row of the owner of its charge.
    fn count(&mut self, rest: &Rest<'_>, share: Amount) -> Result<UsageId, Refusal> {
        let owner = (rest.entry.project.clone(), rest.entry.user.clone());
        if let Some((_, row)) = self.rows.iter_mut().find(|(own, _)| *own == owner) {
            row.amount = row.amount.minus(share)?;
            return Ok(row.id);
        }
        let last = self.rows.last().map(|(_, row)| row.id);
        let id = UsageId(Next::take(&mut self.postings.next.usage));
        let row = UsageRow {
            id,
            prev: last.or(self.instance.last_usage),
            instance: self.instance.id,
            tx: self.tx,
            at: self.now,
            charged: Seconds(0),
            processors: Decimal::ZERO,
            amount: share.negate()?,
            billing: Billing::Refund,
            late: false,
            facts: String::new(),
            rates_at: None,
        };
        self.rows.push((owner, row));
        Ok(id)
    }

    /// Posts a part of a refund. A part of zero posts nothing.
    fn post(
        &mut self,
        (rest, usage): (&Rest<'_>, UsageId),
        to: AllocationId,
        part: i64,
    ) -> Result<(), Refusal> {
        if part == 0 {
            return Ok(());
        }
        let about = About {
            project: rest.entry.project.clone(),
            user: rest.entry.user.clone(),
            usage: Some(usage),
            takes_back: Some(rest.entry.id),
            reissued: rest.entry.allocation != Some(to),
            ..About::instance(self.instance)
        };
        let kind = EntryKind::Refund;
        move_money(&mut self.postings, kind, to, (part, 0), &about)?;
        match self.parts.iter_mut().find(|(known, _)| *known == to) {
            Some((_, sum)) => *sum = sum.plus(Amount(part))?,
            None => self.parts.push((to, Amount(part))),
        }
        Ok(())
    }

    /// The new allocation of an account, one for all that it gets back.
    fn reissue(
        &mut self,
        account: &Account,
        until: Timestamp,
        ctx: &Context<'_>,
    ) -> Result<AllocationId, Refusal> {
        let own = |id: &&AllocationId| {
            let allocation = self.postings.allocation(**id);
            allocation.is_some_and(|a| a.account == account.id)
        };
        if let Some(known) = self.reissued.iter().find(own) {
            return Ok(*known);
        }
        let window = Window {
            start: Some(self.now),
            end: Some(until),
        };
        one_at_a_time(&self.postings, account, &window, None, ctx)?;
        let id = open(&mut self.postings, account.id, window, self.now);
        self.reissued.push(id);
        Ok(id)
    }
}
