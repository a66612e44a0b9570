//! Reserves by hand.

use axum::response::IntoResponse;
use bank_api::v1::{Held, NewReserve};
use bank_core::command::{AfterEnd, Command, Reserve};
use bank_core::effects::{Outcome, Reserved};
use bank_core::ids::AccountId;
use bank_core::refusal::Refusal;
use bank_core::time::Seconds;
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;

use super::call::{Call, Handled, rendered};
use super::json::{self, read_time_of};
use super::object::{find_quote, object_of};
use super::overflow;

/// `POST /api/v1/reserves`
pub(super) async fn reserve(call: Call) -> Handled {
    let new: NewReserve = call.json()?;
    let mut reserve = read(new, &call).map_err(|r| call.refused(&r))?;
    find_quote(&call, &mut reserve.request).await?;
    let facts = &reserve.request.facts;
    let refused = overflow::RefusedRequest {
        whose: reserve.request.whose.clone(),
        usage: facts.usage.clone(),
        group: facts.group.clone(),
    };
    let mut done = call.write(Command::Reserve(reserve), render).await?;
    overflow::add(&call, &mut done, &refused);
    Ok(done.into_response())
}

fn read(mut new: NewReserve, call: &Call) -> Result<Reserve, Refusal> {
    let start = read_time_of(new.start.as_ref(), "start")?;
    let end = read_time_of(new.end.as_ref(), "end")?;
    // A billed job already has an owner. The owner of a new lien is the caller.
    let own = || call.view.own_user().map(|u| u.name.clone());
    new.user = new.user.or_else(own);
    let mut request = object_of!(new).request(call)?;
    request.facts.wall = Some(Seconds(new.wall_s));
    Ok(Reserve {
        request,
        charge_duration: None,
        amount: None,
        start,
        end,
        flush_grace: false,
        adds: false,
        partner: None,
        after_end: AfterEnd::Begins,
    })
}

fn render(decided: &Decided<'_>) -> Answer {
    rendered(decided, 201, |outcome| {
        let (Outcome::Reserved(reserved), Command::Reserve(reserve)) = (outcome, decided.command)
        else {
            return None;
        };
        Some(shaped(decided, reserve, reserved))
    })
}

fn shaped(decided: &Decided<'_>, reserve: &Reserve, reserved: &Reserved) -> Held {
    let bank = &decided.directory.bank;
    let name = |id: &AccountId| decided.directory.account(*id).map(|a| a.name.clone());
    let lien = reserved.lien.as_ref();
    let key = reserve.request.key();
    Held {
        job: key.object_id,
        machine: key.machine,
        kind: key.object_type.word().to_owned(),
        // A lien that was decided only never got its number.
        lien: lien.filter(|_| !decided.dry_run).map(|l| l.id.0),
        held: json::amount(reserved.held, bank),
        unit: bank.unit.clone(),
        accounts: reserved.accounts.iter().filter_map(name).collect(),
        fallback_from: reserved.fallback_from.as_ref().and_then(name),
        start: lien.map(|l| json::time(l.start)),
        end: lien.map(|l| json::time(l.end)),
        transaction: decided.transaction,
        dry_run: decided.dry_run,
        warnings: warnings(decided, reserved),
    }
}

fn warnings(decided: &Decided<'_>, reserved: &Reserved) -> Vec<String> {
    let name = |id: Option<&AccountId>| {
        let account = id.and_then(|id| decided.directory.account(*id));
        account.map_or_else(String::new, |a| a.name.clone())
    };
    let mut warnings = Vec::new();
    if let Some(short) = &reserved.fallback_from {
        let (short, holds) = (name(Some(short)), name(reserved.accounts.first()));
        warnings.push(format!(
            "fallback: {short} has insufficient funds, the lien is on {holds}"
        ));
    }
    if reserved.quote_invalid {
        warnings.push("quote_invalid: the quote does not apply, the present price counts".into());
    }
    if reserved.outlives_allocation {
        warnings.push("outlives_allocation: one of its allocations ends before the lien".into());
    }
    if let Some(refusal) = &reserved.would_refuse {
        let code = refusal.code();
        warnings.push(format!(
            "would_refuse: strict enforcement would refuse with {code}"
        ));
    }
    warnings
}
