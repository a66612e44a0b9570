//! Charges and returns that a partner bank delivers (decision 0174).

use super::owner::{left, sum_of};
use crate::amount::Amount;
use crate::command::Charge;
use crate::effects::{Effects, Outcome};
use crate::history::Placed;
use crate::model::Instance;
use crate::partner::Delivered;
use crate::refusal::Refusal;
use crate::view::View;
use std::borrow::Cow;

/// Refuses a message that is not the next one of its partner.
pub(super) fn check(charge: &Charge, view: &View) -> Result<(), Refusal> {
    let expected = view.last_of_partner.saturating_add(1);
    match &charge.terms.delivered {
        Some(message) if message.number != expected => Err(Refusal::PartnerOutOfStep {
            partner: message.partner.clone(),
            number: message.number,
            expected,
        }),
        _ => Ok(()),
    }
}

/// The use of a message: the newest one of its object, open or not. A return belongs to one that was billed as
/// much, if there is one.
pub(super) fn instance<'a>(view: &'a View, message: &Delivered) -> Option<&'a Instance> {
    let back = i128::from(message.amount.0).saturating_neg();
    let billed = |i: &&Instance| {
        let sum = i128::from(i.billed.0).saturating_add(i.shadow_billed.0.into());
        sum >= back
    };
    let mut all = view.instances.iter();
    all.find(billed).or(view.instances.first())
}

/// The entries of the charges that an amount below zero may reduce. A partner returns what it charged in the same names; if
/// that is not enough, and for every other charge, all of them.
pub(super) fn reduced<'a>(charge: &Charge, view: &'a View, amount: Amount) -> Cow<'a, [Placed]> {
    let all = Cow::Borrowed(view.history.as_slice());
    let Some(message) = &charge.terms.delivered else {
        return all;
    };
    let user = charge.request.whose.user.as_deref().unwrap_or_default();
    let is_own = |(_, entry): &&Placed| entry.project == message.project && entry.user == user;
    let own: Vec<Placed> = view.history.iter().filter(is_own).cloned().collect();
    let back = i128::from(amount.0).saturating_neg();
    if sum_of(&left(&own)) < back {
        return all;
    }
    Cow::Owned(own)
}

/// Keeps the message with its transaction.
pub(super) fn keep(charge: &Charge, mut effects: Effects) -> Effects {
    if let (Some(message), Outcome::Charged(charged)) = (&charge.terms.delivered, &effects.outcome)
    {
        effects.partners.received = Some((charged.tx, charged.instance, message.clone()));
    }
    effects
}

/// The transaction of the partner, for the journal.
pub(super) fn counterpart(message: &Delivered) -> String {
    format!("counterpart={}/{}", message.partner, message.transaction)
}
