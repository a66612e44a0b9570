//! Records the input of a lien or a charge that its entries do not contain: a single named account, a user's
//! default project, traits for lists, the account that paid before (decision note 0082).

use crate::effects::Choice;
use crate::ids::AccountId;
use crate::model::{Instance, ObjectType};
use crate::postings::Postings;
use crate::select::{Names, Payer};
use crate::view::Context;

/// Writes down beside the current transaction what is asked; `own` is the account that goes before all
/// others, where it was asked.
pub(super) fn tell(
    postings: &mut Postings,
    payer: &Payer,
    own: Option<AccountId>,
    instance: &Instance,
    ctx: &Context<'_>,
) {
    let is_plain = || own.is_none() && payer.traits.is_none();
    if is_plain() && is_named(payer, instance, ctx) {
        return;
    }
    postings.choose(Choice::of(payer, own));
}

/// Whether a look-up by the names in the entries finds this payer.
fn is_named(payer: &Payer, instance: &Instance, ctx: &Context<'_>) -> bool {
    let for_reservation = instance.key.object_type == ObjectType::Reservation;
    let names = Names::on(&instance.key.machine, for_reservation).or_of(&instance.facts);
    let found = names.numbers(ctx.directory);
    let what = |p: &Payer| (p.project, p.user, p.machine, p.only, p.any_member);
    what(&found) == what(payer)
}
