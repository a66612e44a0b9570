//! What a partner bank asks of this one: to hold money for a job, to release it, to charge it, and what both
//! have of a month (decision 0174). The partner is the client of the key.
//!
//! The commands run in the name of the bank: the record of the partner decides about projects, and
//! [`of_caller`] has checked it.

use axum::response::IntoResponse;
use bank_api::text::parse_rfc3339;
use bank_api::v1::{
    List, PartnerCharge, PartnerCharged, PartnerEntry, PartnerEntryQuery, PartnerHeld,
    PartnerPosition, PartnerRelease, PartnerReleased, PartnerReserve,
};
use bank_core::command::{Charge, Command, Request, Reserve, Scope, Whose};
use bank_core::decimal::Decimal;
use bank_core::directory::Bank;
use bank_core::effects::Outcome;
use bank_core::ids::LienId;
use bank_core::kind::Record;
use bank_core::model::{Facts, ObjectType};
use bank_core::partner::{Delivered, Ends, Step};
use bank_core::refusal::Refusal;
use bank_core::terms::{Shortfall, Terms};
use bank_core::time::{Seconds, Timestamp};
use bank_core::usage::Usage;
use bankd_ledger::writer::Decided;
use bankd_partners::settle;
use bankd_store::answer::Answer;
use bankd_store::partner;
use bankd_store::read::questions;
use sha2::{Digest as _, Sha256};

use super::call::{Call, Empty, Handled, ok, rendered};
use super::json::{self, read_amount, read_time};
use crate::error::Failure;

/// The record of the calling partner, which is switched on; the call goes on in the name of the bank.
fn of_caller(call: &mut Call) -> Result<Record, Failure> {
    let record = of_reader(call)?;
    if !record.flag("active") {
        let detail = format!("partner bank {:?} is switched off", record.name());
        return Err(Failure::new("not_allowed", detail));
    }
    Ok(record)
}

/// The same for a partner that only reads what both banks have: it may do so while it is switched off, so that
/// the settlement can be compared.
fn of_reader(call: &mut Call) -> Result<Record, Failure> {
    let client = &call.auth.caller.client;
    let record = call.directory().records.named("partner", client).cloned();
    let none = || {
        Failure::new(
            "not_allowed",
            format!("no partner bank has the name {client:?}"),
        )
    };
    let record = record.ok_or_else(none)?;
    call.services.partners.lives(record.name());
    call.auth.caller.scope = Scope::default();
    Ok(record)
}

/// Checks that both banks count in the same unit.
fn same_unit(unit: &str, precision: u8, bank: &Bank) -> Result<(), Refusal> {
    if unit == bank.unit && precision == bank.precision.places() {
        return Ok(());
    }
    Err(Refusal::BadValue {
        field: "unit",
        expected: "the unit and the decimals of this bank: both banks must have the same",
    })
}

/// The parts of a message that name the use.
struct Named<'a> {
    project: String,
    user: &'a str,
    machine: &'a str,
    kind: &'a str,
    job: &'a str,
    processors: &'a str,
}

impl Named<'_> {
    fn request(&self, partner: &Record) -> Result<Request, Refusal> {
        let bad = Refusal::bad_value;
        let kind = ObjectType::parse(self.kind);
        let processors = Decimal::parse(self.processors).filter(|p| *p > Decimal::ZERO);
        Ok(Request {
            object_type: kind.ok_or_else(|| bad("kind", "job or reservation"))?,
            object_id: self.job.to_owned(),
            whose: Whose {
                project: Some(self.project.clone()),
                user: Some(self.user.to_owned()).filter(|user| !user.is_empty()),
                machine: format!("{}@{}", self.machine, partner.name()),
                for_reservation: false,
            },
            facts: Facts {
                usage: Usage {
                    processors,
                    ..Usage::default()
                },
                ..Facts::default()
            },
            ..Request::default()
        })
    }
}

/// `POST /api/v1/partner/reserves`: holds the amount, or refuses as for a job here.
pub(super) async fn reserve(mut call: Call) -> Handled {
    let partner = of_caller(&mut call)?;
    let new: PartnerReserve = call.json()?;
    let reserve = read_reserve(&new, &partner, &call).map_err(|r| call.refused(&r))?;
    let done = call.write(Command::Reserve(reserve), render_held);
    Ok(done.await?.into_response())
}

fn read_reserve(new: &PartnerReserve, partner: &Record, call: &Call) -> Result<Reserve, Refusal> {
    let bank = &call.directory().bank;
    same_unit(&new.unit, new.precision, bank)?;
    if !call.directory().is_open_to(partner, &new.project) {
        return Err(Refusal::ProjectUnknown {
            project: bank_core::refusal::short(&new.project),
        });
    }
    let named = Named {
        project: new.project.clone(),
        user: &new.user,
        machine: &new.machine,
        kind: &new.kind,
        job: &new.job,
        processors: &new.processors,
    };
    let mut request = named.request(partner)?;
    request.facts.wall = Some(Seconds(new.wall_s));
    Ok(Reserve {
        request,
        amount: Some(read_amount(&new.amount, bank.precision)?),
        end: Some(read_time(&new.end, "end")?),
        partner: Some(Step::AskedBy(
            partner.name().to_owned(),
            bank_core::refusal::short(&new.question),
        )),
        ..Reserve::default()
    })
}

fn render_held(decided: &Decided<'_>) -> Answer {
    rendered(decided, 200, |outcome| match outcome {
        Outcome::Reserved(reserved) => Some(PartnerHeld {
            transaction: decided.transaction,
            held: json::amount(reserved.held, &decided.directory.bank),
            unit: decided.directory.bank.unit.clone(),
        }),
        _ => None,
    })
}

/// `POST /api/v1/partner/releases`: releases what a question placed, if it still holds.
pub(super) async fn release(mut call: Call) -> Handled {
    of_caller(&mut call)?;
    let PartnerRelease { question, .. } = call.json()?;
    let client = call.auth.caller.client.clone();
    let placed = move |connection: &_| questions::lien_of(connection, &client, &question);
    let nothing = PartnerReleased { transaction: None };
    let Some(lien) = call.ask(placed).await? else {
        return ok(&nothing);
    };
    let done = call.write(Command::ReleaseLien(LienId(lien)), render_released);
    Ok(done.await?.into_response())
}

fn render_released(decided: &Decided<'_>) -> Answer {
    let ended = matches!(decided.decision, Err(Refusal::LienEnded { .. }));
    let released = PartnerReleased {
        transaction: decided.transaction,
    };
    if ended {
        let body = serde_json::to_vec(&released).unwrap_or_default();
        let media = bankd_store::answer::Media::Json;
        return Answer {
            status: 200,
            media,
            body,
        };
    }
    rendered(decided, 200, |_| Some(released))
}

/// `POST /api/v1/partner/charges`: charges the project, once.
pub(super) async fn charge(mut call: Call) -> Handled {
    let partner = of_caller(&mut call)?;
    let new: PartnerCharge = call.json()?;
    let digest: [u8; 32] = Sha256::digest(call.body()).into();
    if let Some(known) = known(&call, &new, &digest).await? {
        return ok(&known);
    }
    let charge = read_charge(&new, digest, &partner, &call).map_err(|r| call.refused(&r))?;
    let done = call.write(Command::Charge(charge), render_charged);
    Ok(done.await?.into_response())
}

/// The answer to a message that was carried out before.
async fn known(
    call: &Call,
    new: &PartnerCharge,
    digest: &[u8; 32],
) -> Result<Option<PartnerCharged>, Failure> {
    let (client, number) = (call.auth.caller.client.clone(), new.number);
    let look_up = move |connection: &_| {
        let row = partner::entry(connection, &client, false, number)?;
        Ok((row, partner::last(connection, &client, false)?))
    };
    let (row, last) = call.ask(look_up).await?;
    let Some(row) = row else {
        return Ok(None);
    };
    if row.message != partner::digest_text(digest) {
        let refusal = Refusal::PartnerOutOfStep {
            partner: row.partner,
            number,
            expected: last.saturating_add(1),
        };
        return Err(call.refused(&refusal));
    }
    Ok(Some(PartnerCharged {
        number,
        transaction: row.tx,
    }))
}

fn read_charge(
    new: &PartnerCharge,
    digest: [u8; 32],
    partner: &Record,
    call: &Call,
) -> Result<Charge, Refusal> {
    let bank = &call.directory().bank;
    same_unit(&new.unit, new.precision, bank)?;
    let minor = bank_api::text::parse_amount(&new.amount, bank.precision.places());
    let amount = minor.map_err(|_| Refusal::BadAmountSyntax(new.amount.clone()))?;
    let ends = Ends::parse(&new.ends).ok_or(Refusal::bad_value("ends", "nothing, lien or use"))?;
    // A project that is not open to the partner is unknown, so the suspense account has the charge.
    let is_open = call.directory().is_open_to(partner, &new.project);
    let project = if is_open {
        new.project.clone()
    } else {
        format!("{} (not open to {})", new.project, partner.name())
    };
    let named = Named {
        project,
        user: &new.user,
        machine: &new.machine,
        kind: &new.kind,
        job: &new.job,
        processors: &new.processors,
    };
    let mut request = named.request(partner)?;
    request.event_time = Some(read_time(&new.at, "at")?);
    let recorded = parse_rfc3339(&new.recorded_at).map(Timestamp);
    let delivered = Delivered {
        partner: partner.name().to_owned(),
        number: new.number,
        transaction: new.transaction,
        recorded: recorded.ok_or(Refusal::bad_value(
            "recorded_at",
            "a time such as 2026-10-01T00:00:00Z",
        ))?,
        amount: bank_core::amount::Amount(amount),
        project: new.project.clone(),
        digest,
    };
    Ok(Charge {
        request,
        duration: Some(Seconds(new.seconds)),
        closes: ends == Ends::Use,
        releases: ends == Ends::Lien,
        is_checked: false,
        terms: Terms {
            amount: Some(delivered.amount),
            itemisation: format!("message {}", new.number),
            shortfall: Some(Shortfall::Debt),
            delivered: Some(delivered),
            ..Terms::default()
        },
    })
}

fn render_charged(decided: &Decided<'_>) -> Answer {
    rendered(decided, 200, |outcome| {
        let (Outcome::Charged(charged), Command::Charge(charge)) = (outcome, decided.command)
        else {
            return None;
        };
        Some(PartnerCharged {
            number: charge.terms.delivered.as_ref()?.number,
            transaction: charged.tx.0,
        })
    })
}

/// `GET /api/v1/partner/position`
pub(super) async fn position(mut call: Call) -> Handled {
    of_reader(&mut call)?;
    let Empty {} = call.query()?;
    let client = call.auth.caller.client.clone();
    let position = call.ask(move |connection| {
        Ok(PartnerPosition {
            received: partner::last(connection, &client, false)?,
            sent: partner::last(connection, &client, true)?,
        })
    });
    ok(&position.await?)
}

/// `GET /api/v1/partner/entries`: the entries of a month between the caller and this bank.
pub(super) async fn entries(mut call: Call) -> Handled {
    of_reader(&mut call)?;
    let query: PartnerEntryQuery = call.query()?;
    let client = call.auth.caller.client.clone();
    ok(&page(&call, client, &query).await?)
}

/// A page of entries with a partner.
pub(super) async fn page(
    call: &Call,
    partner: String,
    query: &PartnerEntryQuery,
) -> Result<List<PartnerEntry>, Failure> {
    let span = settle::month(&query.month).ok_or_else(|| bad_month(call))?;
    let (sent, after) = (query.sent, query.after);
    let rows = call.ask(move |connection| {
        let most = settle::PAGE.saturating_add(1);
        partner::entries(connection, (&partner, sent), span, after, most)
    });
    let mut rows = rows.await?;
    let is_more = rows.len() > settle::PAGE;
    rows.truncate(settle::PAGE);
    let bank = &call.directory().bank;
    Ok(List {
        next: rows
            .last()
            .filter(|_| is_more)
            .map(|row| row.number.to_string()),
        items: rows.iter().map(|row| settle::shaped(row, bank)).collect(),
    })
}

/// The refusal of a text that is no month.
fn bad_month(call: &Call) -> Failure {
    call.refused(&Refusal::bad_value("month", "a month such as 2026-10"))
}
