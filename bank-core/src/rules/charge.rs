//! Charge: bills what was used, and never loses any of it (ledger.md 2.8, decisions.md 14).

mod amend;
mod assigned;
mod ceiling;
mod delivered;
mod falling;
mod find;
mod finish;
mod keep;
mod measure;
mod owner;
mod paying;
mod reserved;
mod shortfall;
mod source;

pub(super) use keep::{close_and_wait, hold};
pub(crate) use reserved::counts_at;
pub(super) use reserved::{owes, settle};

use crate::amount::Amount;
use crate::command::{Charge, Request};
use crate::effects::{Billing, Effects, InstanceChange};
use crate::ids::{AllocationId, InstanceId, Next, TxId, UsageId};
use crate::model::{Closing, Instance, Lien, LienState, Mode, Standing};
use crate::postings::Postings;
use crate::refusal::Refusal;
use crate::reservation::ReservationTime;
use crate::rules::instance::{
    close_instance, end_lien, end_lien_of, in_scope, keep_facts, new_instance, remark_asserted,
};
use crate::rules::promise::{Binding, bind};
use crate::select::{self, Names, Payer};
use crate::terms::{self, Shortfall};
use crate::time::{Seconds, Timestamp};
use crate::usage::kept;
use crate::view::{Context, View};
use ceiling::Plausible;
use falling::Reduced;
use find::{charged_instance, starts_again};
use measure::Billed;
use owner::Owner;

/// Bills an instance for the time since its last charge. What exact arithmetic or an account's
/// range cannot hold is unbilled with amount 0, never refused (ledger.md 1.3, 2.8).
pub(super) fn charge(charge: &Charge, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    if let Some(owner) = keep::owner(charge, view, ctx) {
        return keep::keep(charge, &owner, view, ctx);
    }
    delivered::check(charge, view)?;
    let billed = match bill(charge, view, ctx, true) {
        Err(Refusal::AmountOverflow) => bill(charge, view, ctx, false),
        decided => decided,
    };
    billed.map(|effects| delivered::keep(charge, effects))
}

fn bill(
    charge: &Charge,
    view: &View,
    ctx: &Context<'_>,
    has_price: bool,
) -> Result<Effects, Refusal> {
    let Begun {
        mut bill,
        mode,
        counted,
        mut priced,
        known,
    } = begin(charge, view, ctx, has_price)?;
    if let Some(owner) = amend::moved_from(charge, &known, &Owner::now(&bill)) {
        priced = bill.take_back(&owner, priced, view, ctx)?;
    } else {
        bill.leave_others(charge, known, view, ctx)?;
    }
    bill.left_pi = None;
    match priced {
        Some(amount) if amount < Amount::ZERO => {
            let history = delivered::reduced(charge, view, amount);
            bill.reduced.by_partner = charge.terms.delivered.is_some();
            bill.give_back(view, &history, counted, ctx)?;
        }
        _ if mode.is_shadow() => {
            bill.note_refusal(charge, ctx);
            bill.in_shadow(ctx)?;
        }
        Some(_) => bill.for_real(ctx)?,
        None if bill.assigned => return Err(Refusal::AmountOverflow),
        None => {
            bill.postings.remark("price_overflow");
            bill.debit_suspense(ctx)?;
        }
    }
    let first = bill.first;
    bill.binding
        .journal(&mut bill.postings, &bill.instance, first)?;
    bill.finish(charge, counted, mode, ctx)
}

/// The instance of a reported total that is worth less than what was billed.
pub(super) fn falls(charge: &Charge, view: &View, ctx: &Context<'_>) -> Option<InstanceId> {
    if keep::owner(charge, view, ctx).is_some() {
        return None;
    }
    let begun = begin(charge, view, ctx, true).ok()?;
    let is_less = begun.priced.is_some_and(|amount| amount < Amount::ZERO);
    is_less.then_some(begun.bill.instance.id)
}

/// A charge with a known amount and open payers.
struct Begun {
    bill: Bill,
    mode: Mode,
    /// The seconds that it counts.
    counted: Seconds,
    /// None where exact arithmetic ended.
    priced: Option<Amount>,
    /// Whose the use was before.
    known: Owner,
}

fn begin(
    charge: &Charge,
    view: &View,
    ctx: &Context<'_>,
    has_price: bool,
) -> Result<Begun, Refusal> {
    measure::check(charge)?;
    let at = charge.happened(ctx.now);
    let mut postings = Postings::new(view);
    let mut instance = subject(&mut postings, charge, view, at, ctx)?;
    let (before, known) = (instance.standing(), Owner::of(&instance));
    let pi = kept::pi(&instance.facts.other).to_owned();
    let reported = keep::waiting(charge, &instance, measure::reported(charge)?);
    ceiling::note_starts(&mut instance, charge, reported, view.refused, at);
    let plausible = ceiling::check(charge, reported, &instance, at, ctx)?;
    let measured = measure::measure(charge, plausible, &instance, view, at, ctx)?;
    let facts_changed = store_facts(&mut instance, charge, plausible.is_past, view, ctx);
    let payer = payer(&instance, &charge.request, ctx);
    let mode = mode(charge, &instance, &payer, ctx);
    let tx = postings.begin_for(source::op(charge), at, instance.id);
    // The first words of the reason: later ones come from outside.
    postings.remark(&terms::written(&measured.billed_windows()));
    remark_asserted(&mut postings, &charge.request);
    let binding = bind(&mut postings, &mut instance, &charge.request, view, at, ctx);
    let had_lien = instance.lien.is_some();
    give_back_other_money(&mut postings, &mut instance, mode)?;
    other_project(&mut postings, &mut instance, &known, &payer, charge, ctx)?;
    let times = reserved::times(charge, measured.time(), &instance, (tx, at), view, ctx);
    let price = || measure::billed_now(&mut instance, charge, (&measured, &times), view, ctx);
    let priced = has_price.then(price).flatten();
    remark_terms(&mut postings, charge, times, priced.as_ref());
    let windows = measured.windows.map(|all| (instance.id, all));
    postings.windows.extend(windows);
    let bill = Bill {
        usage: UsageId(Next::take(&mut postings.next.usage)),
        postings,
        tx,
        at,
        payer,
        amount: priced.as_ref().map_or(Amount::ZERO, |p| p.amount),
        unpriced: priced.as_ref().is_some_and(|p| p.unpriced),
        given: charge.terms.given(),
        late: is_late(charge, &instance),
        left_pi: amend::left_pi(charge, pi, &instance),
        pays_for_idle: reserved::pays_for_idle_time(charge, &instance, ctx),
        lien: LienUse::before(had_lien),
        short: Short::default(),
        reduced: Reduced::default(),
        shortfall: shortfall(charge, ctx),
        outcome: Billing::Billed,
        would_refuse: None,
        first: None,
        facts_changed,
        binding,
        before,
        plausible,
        instance,
        claimed: source::claimed(charge, ctx),
        assigned: charge.terms.assigned,
        came_after: view.came_after.clone(),
        gives_back: charge.terms.assigned,
    };
    Ok(Begun {
        bill,
        known,
        mode,
        counted: measured.counted,
        priced: priced.map(|p| p.amount),
    })
}

/// Keeps the facts of a charge with the instance. A scheduler and a collector report the whole object: their
/// latest facts hold; a document that repeats or was overtaken (`is_past`) does not change known times. A person reports
/// the time of each charge: the object has all of it.
fn store_facts(
    instance: &mut Instance,
    charge: &Charge,
    is_past: bool,
    view: &View,
    ctx: &Context<'_>,
) -> bool {
    // The wall duration in Gold's charge is the time used, not that of the reserve.
    let is_reserved = charge.terms.is_golds() && instance.lien.is_some();
    let facts = &mut instance.facts;
    let requested = facts.wall.filter(|_| is_reserved);
    amend::forget(facts, charge, view);
    let (start, end) = (facts.start, facts.end);
    let is_collected = charge.terms.finished.is_some() && !charge.request.facts.other.is_empty();
    let before = is_collected.then(|| facts.other.clone());
    let changed = keep_facts(facts, &charge.request, ctx);
    facts.wall = requested.or(facts.wall);
    // Statements of a scheduler's documents before the collector's report stay beside it.
    let documents = before.iter().flat_map(|before| kept::of_documents(before));
    // Whoever names a reservation last, names it.
    let documents = documents.filter(|(name, _)| name != kept::RESERVATION);
    facts.other.extend(documents.cloned());
    if is_past {
        facts.start = start.or(facts.start);
        facts.end = end.or(facts.end);
    } else if charge.terms.source.is_none() && charge.terms.finished.is_none() {
        facts.start = start.into_iter().chain(facts.start).min();
        facts.end = end.max(facts.end);
    }
    changed
}

/// The mode of the use's first charge, else that of project and machine; if neither is known, no money moves
/// (decisions.md 30).
fn mode(charge: &Charge, instance: &Instance, payer: &Payer, ctx: &Context<'_>) -> Mode {
    if charge.terms.track {
        return Mode::Track;
    }
    let of_now = || ctx.directory.mode(payer.project, payer.machine);
    instance.mode.unwrap_or_else(of_now)
}

/// The existing or new instance of a charge; a charge that waited for a project has been returned. A total that
/// begins again is of a new use, and ends the one before it.
fn subject(
    postings: &mut Postings,
    charge: &Charge,
    view: &View,
    at: Timestamp,
    ctx: &Context<'_>,
) -> Result<Instance, Refusal> {
    let request = &charge.request;
    request.check_object()?;
    let found = charged_instance(view, charge, at, ctx);
    let known = found.map(|known| in_scope(known, ctx)).transpose()?;
    let (over, same) = match known {
        Some(known) if starts_again(charge, known, at) => (Some(known), None),
        known => (None, known),
    };
    if let Some(over) = over {
        end_run(postings, over.clone(), ctx)?;
    }
    let mut instance = match same {
        Some(known) => known.clone(),
        None => new_instance(postings, view, request, measure::began(charge, view, at)?),
    };
    source::check_owner(charge, &instance, view)?;
    if charge.terms.assigned {
        assigned::take_back(postings, &mut instance, view, at, ctx)?;
    }
    Ok(instance)
}

/// Ends a use whose scheduler has run the job again, at the end in its documents, and gives back what it holds.
fn end_run(
    postings: &mut Postings,
    mut instance: Instance,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    let end = instance.facts.end.unwrap_or(instance.opened);
    // A reserve can have stated the start of the later run.
    let is_later = |start: &Timestamp| end < *start;
    if instance.facts.start.as_ref().is_some_and(is_later) {
        instance.facts.start = instance.began;
    }
    let end = end.max(instance.opened);
    postings.begin_for("delete", end, instance.id);
    end_lien(postings, &mut instance, LienState::Released)?;
    close_instance(postings, &mut instance, end, Closing::End, ctx);
    postings.instances.push(InstanceChange {
        instance,
        facts_changed: true,
        standing_changed: true,
    });
    Ok(())
}

/// Journals the time in a reservation, the effect of a bound on the exact sum, the report of a total, and the
/// remark on a finished use.
fn remark_terms(
    postings: &mut Postings,
    charge: &Charge,
    times: Vec<ReservationTime>,
    priced: Option<&Billed>,
) {
    let idle = priced.and_then(|billed| billed.idle.as_ref());
    reserved::note_idle(postings, times, idle);
    // Each goes to the front, so the sum is first. The journal marks an amended record of a finished use by
    // its word.
    if charge.terms.total && charge.terms.finished.is_none() {
        postings.remark_ahead(terms::TOTAL, terms::WINDOWS);
    }
    if let Some(added) = priced.and_then(|billed| billed.added) {
        postings.remark_ahead(&added.written(), terms::WINDOWS);
    }
    if let Some(whole) = &charge.terms.finished {
        postings.remark(&whole.remark);
    }
    if let Some(delivered) = &charge.terms.delivered {
        postings.remark(&delivered::counterpart(delivered));
    }
}

/// Whether a charge comes after the close; the first record of a use that its scheduler has ended is what
/// bills it.
fn is_late(charge: &Charge, instance: &Instance) -> bool {
    let is_first = charge.terms.finished.is_some() && instance.record.is_none();
    !instance.is_open() && !is_first
}

/// Who covers the uncovered part: as the charge specifies, else as the site does.
fn shortfall(charge: &Charge, ctx: &Context<'_>) -> Shortfall {
    let site = ctx.directory.policy.shortfall;
    charge.terms.shortfall.unwrap_or(site)
}

/// After a switch between a mode that moves money and one that does not, a lien holds what no charge
/// of this instance will take: it is given back (decisions.md 18).
fn give_back_other_money(
    postings: &mut Postings,
    instance: &mut Instance,
    mode: Mode,
) -> Result<(), Refusal> {
    let fits = |lien: &Lien| lien.shadow == mode.is_shadow();
    if instance.lien.as_ref().is_none_or(fits) {
        return Ok(());
    }
    end_lien(postings, instance, LienState::Released)
}

/// If the charge names another project than the one that the instance was for, the journal has a remark. If only
/// the named one may pay, a collector's record names it, or it is of another bank, what the instance holds is given
/// back (gold-wire.md 4). If a person names one that has an account, it pays what the lien does not.
fn other_project(
    postings: &mut Postings,
    instance: &mut Instance,
    known: &Owner,
    payer: &Payer,
    charge: &Charge,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    let was = &known.project;
    let is_other = charge.request.whose.project.is_some() && *was != payer.project_name;
    if !is_other || (instance.account.is_none() && instance.lien.is_none()) {
        return Ok(());
    }
    postings.remark(&format!("project_was={was}"));
    let bank = |name| ctx.directory.used_by_partner(name).map(|(_, bank)| bank);
    let leaves_bank = bank(was) != bank(&payer.project_name);
    if charge.terms.named_only || charge.terms.finished.is_some() || leaves_bank {
        end_lien_of((was, &known.user), postings, instance, LienState::Released)?;
        instance.account = None;
        instance.fallback_from = None;
    } else if charge.terms.delivered.is_some()
        || charge.terms.is_by_hand() && !select::billable(ctx.directory, payer).is_empty()
    {
        instance.account = None;
        instance.fallback_from = None;
    }
    Ok(())
}

/// The payer in the request; if it names none, the payer in the instance.
fn payer(instance: &Instance, request: &Request, ctx: &Context<'_>) -> Payer {
    let facts = &instance.facts;
    let names = Names::of(&request.whose).or_of(facts);
    let payer = names.payer(ctx.directory);
    payer.knowing(ctx.directory, &facts.usage, &facts.group)
}

/// A charge on its way.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent property of the charge"
)]
struct Bill {
    postings: Postings,
    instance: Instance,
    tx: TxId,
    usage: UsageId,
    at: Timestamp,
    payer: Payer,
    amount: Amount,
    late: bool,
    lien: LienUse,
    short: Short,
    reduced: Reduced,
    /// Who covers the uncovered part.
    shortfall: Shortfall,
    outcome: Billing,
    /// The refusal of strict enforcement for a finished use.
    would_refuse: Option<&'static str>,
    /// The allocation that carries what nothing covers, and an amount of zero.
    first: Option<AllocationId>,
    facts_changed: bool,
    binding: Binding,
    unpriced: bool,
    /// The caller's explanation of a given amount.
    given: Option<String>,
    /// The machine and its source, where this charge is the first of that source.
    claimed: Option<(String, String)>,
    /// The instance's state before.
    before: Standing,
    /// It waited for a project: where that cannot pay, it goes on waiting.
    assigned: bool,
    /// Amounts that came into allocations after the usage and do not pay for it.
    came_after: Vec<(AllocationId, Amount)>,
    /// The principal investigator of the use in records so far, if this one names another; empty for none.
    left_pi: Option<String>,
    /// It gives back the charge of an earlier record, so it is booked in the present.
    gives_back: bool,
    /// Whether the charge is of a reservation that pays for its idle time: its sum follows from rows of time.
    pays_for_idle: bool,
    plausible: Plausible,
}

/// What neither lien nor free money covers.
#[derive(Clone, Copy, Default)]
struct Short {
    debt: Amount,
    /// The part of the debt that comes from under other liens.
    against_liens: Amount,
    /// The amount paid by the fallback account.
    by_fallback: Amount,
}

/// The relation of the instance's lien to a charge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LienUse {
    /// There was none.
    Missing,
    /// It was there, and paid nothing.
    Unused,
    /// It paid, at least in part.
    Paid,
}

impl LienUse {
    /// Before anything was taken.
    fn before(had_lien: bool) -> LienUse {
        if had_lien {
            LienUse::Unused
        } else {
            LienUse::Missing
        }
    }
}
