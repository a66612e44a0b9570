//! Manual charges, and charges by programs that report windows or totals.

use axum::response::IntoResponse;
use bank_api::v1::{Charged, NewCharge, PaidPart};
use bank_core::command::{Charge, Command};
use bank_core::effects::{self, Billing, Outcome};
use bank_core::ids::AccountId;
use bank_core::refusal::Refusal;
use bank_core::terms::{Shortfall, Span, Terms};
use bank_core::time::{Seconds, Timestamp};
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;

use super::call::{Call, Handled, rendered};
use super::json::{self, read_amount, read_time_of};
use super::object::{find_quote, has_payer, machine_of, object_of};
use super::quote::UNPRICED;

/// `POST /api/v1/charges`
pub(super) async fn charge(call: Call) -> Handled {
    let mut new: NewCharge = call.json()?;
    if new.machine.is_none() && new.project.is_none() && new.user.is_none() {
        new.machine = machine_of(&call, &new.job).await?;
    }
    let mut charge = read(new, &call).map_err(|r| call.refused(&r))?;
    has_payer(&call, &charge.request).await?;
    find_quote(&call, &mut charge.request).await?;
    let done = call.write(Command::Charge(charge), render);
    Ok(done.await?.into_response())
}

fn read(mut new: NewCharge, call: &Call) -> Result<Charge, Refusal> {
    let start = read_time_of(new.start.as_ref(), "start")?;
    let end = read_time_of(new.end.as_ref(), "end")?;
    let precision = call.directory().bank.precision;
    let amount = new.amount.as_deref().map(|a| read_amount(a, precision));
    let shortfall = new.shortfall.as_deref().map(shortfall).transpose()?;
    let duration = new.duration_s.map(Seconds);
    let terms = Terms {
        window: start.zip(end).map(|(start, end)| Span { start, end }),
        total: new.total,
        amount: amount.transpose()?,
        itemisation: new.itemisation.take().unwrap_or_default(),
        shortfall,
        ..Terms::default()
    };
    let closes = !new.interim;
    let mut request = object_of!(new).request(call)?;
    request.event_time = ended(start, end, duration);
    (request.facts.start, request.facts.end) = (start, request.event_time);
    Ok(Charge {
        request,
        duration,
        closes,
        releases: false,
        is_checked: false,
        terms,
    })
}

/// End of the use, if the caller gives it.
fn ended(
    start: Option<Timestamp>,
    end: Option<Timestamp>,
    duration: Option<Seconds>,
) -> Option<Timestamp> {
    end.or_else(|| start.zip(duration).map(|(start, d)| start.plus(d)))
}

fn shortfall(word: &str) -> Result<Shortfall, Refusal> {
    Shortfall::parse(word).ok_or(Refusal::bad_value("shortfall", "debt, reject or fallback"))
}

fn render(decided: &Decided<'_>) -> Answer {
    rendered(decided, 201, |outcome| {
        let (Outcome::Charged(charged), Command::Charge(charge)) = (outcome, decided.command)
        else {
            return None;
        };
        Some(shaped(decided, charge, charged))
    })
}

fn shaped(decided: &Decided<'_>, charge: &Charge, charged: &effects::Charged) -> Charged {
    let bank = &decided.directory.bank;
    let account = charged
        .account
        .and_then(|id| decided.directory.account(id))
        .map(|a| a.name.clone());
    let key = charge.request.key();
    let outcome = match charged.billing {
        Billing::Billed => "charged",
        Billing::Unbilled => "unbilled",
        Billing::Refund => "refunded",
        Billing::Shadow => "notional",
    };
    let part = |(id, amount): &(AccountId, i128)| {
        let account = decided.directory.account(*id)?.name.clone();
        let amount = json::sum(*amount, bank);
        Some(PaidPart { account, amount })
    };
    Charged {
        job: key.object_id,
        machine: key.machine,
        kind: key.object_type.word().to_owned(),
        amount: json::amount(charged.amount, bank),
        seconds: charged.counted.0,
        debt: json::amount(charged.debt, bank),
        debt_against_liens: json::amount(charged.against_liens, bank),
        by_fallback: json::amount(charged.by_fallback, bank),
        outcome: outcome.to_owned(),
        account,
        paid_by: charged.shares.iter().filter_map(part).collect(),
        balance: json::amount(charged.balance, bank),
        unit: bank.unit.clone(),
        late: charged.late,
        transaction: decided.transaction,
        dry_run: decided.dry_run,
        warnings: warnings(decided, charged),
    }
}

fn warnings(decided: &Decided<'_>, charged: &effects::Charged) -> Vec<String> {
    let bank = &decided.directory.bank;
    let mut warnings = Vec::new();
    if charged.billing == Billing::Unbilled {
        let project = &charged.project;
        warnings.push(format!(
            "unbilled: project {project:?} could not be billed; charged to #unbilled"
        ));
    } else if !charged.debt.is_zero() {
        let debt = json::amount(charged.debt, bank);
        let held = if charged.against_liens == charged.debt {
            " against liens".to_owned()
        } else if charged.against_liens.is_zero() {
            String::new()
        } else {
            let held = json::amount(charged.against_liens, bank);
            format!(", {held} of it against liens")
        };
        warnings.push(format!("charge_debt: debt {debt}{held}"));
    }
    if !charged.by_fallback.is_zero() {
        let covered = json::amount(charged.by_fallback, bank);
        warnings.push(format!(
            "charge_fallback: the fallback account paid {covered}"
        ));
    }
    if let Command::Charge(charge) = decided.command
        && decided
            .directory
            .machine_named(&charge.request.whose.machine)
            .is_none()
    {
        let machine = &charge.request.whose.machine;
        warnings.push(format!(
            "machine_unknown: no machine {machine:?}; the charge is billed"
        ));
    }
    if charged.unpriced && charged.amount.is_zero() {
        warnings.push(UNPRICED.to_owned());
    }
    if charged.quote_invalid {
        warnings.push("quote_invalid: the quote does not apply, the present price counts".into());
    }
    if charged.late {
        warnings.push("late_charge: the job was closed already".into());
    }
    warnings
}
