//! Rates. What a job costs is no secret: everybody may read them.

use axum::extract::Path;
use axum::response::IntoResponse;
use bank_api::v1::{self, List, NewRate};
use bank_core::command::{Command, SetRate};
use bank_core::directory::Directory;
use bank_core::effects::Outcome;
use bank_core::ids::RateId;
use bank_core::rate::{Per, Rate, RateKind, RateValue};
use bank_core::refusal::Refusal;

use super::call::{Call, Handled, new_state, ok, removed, rendered};
use super::project::Empty;
use super::shape::{self, read_bound};
use crate::answer::Answer;
use crate::writer::Decided;

/// `GET /api/v1/rates`: those in force and those to come, by number.
pub(super) async fn list(call: Call) -> Handled {
    call.query::<Empty>()?;
    let directory = call.directory();
    let now = call.now();
    let mut rates: Vec<&Rate> = directory.rates.iter().collect();
    rates.retain(|rate| !rate.window.is_over(now));
    rates.sort_by_key(|rate| rate.id);
    let items = rates.iter().map(|rate| shaped(directory, rate));
    ok(&List::whole(items.collect()))
}

/// `POST /api/v1/rates`
pub(super) async fn set(call: Call) -> Handled {
    call.admin()?;
    let new: NewRate = call.json()?;
    let command = read(new).map_err(|r| call.refused(&r))?;
    Ok(call
        .write(Command::SetRate(command), render)
        .await?
        .into_response())
}

/// `DELETE /api/v1/rates/{id}`
pub(super) async fn remove(Path(id): Path<String>, call: Call) -> Handled {
    call.admin()?;
    let unknown = |_| call.refused(&Refusal::not_found("rate", &id));
    let number = id.parse().map(RateId).map_err(unknown)?;
    let command = Command::RemoveRate(number);
    Ok(call.write(command, removed).await?.into_response())
}

fn read(new: NewRate) -> Result<SetRate, Refusal> {
    let kind = RateKind::parse(&new.kind).ok_or(Refusal::BadValue {
        field: "kind",
        expected: "VBR, NBR, MVBR, VBU, NBU, VBM, NBM, VBF or NBF",
    })?;
    let per = match new.per.as_deref() {
        None => Per::Second,
        Some("none") if !kind.is_metered() => Per::Second,
        Some(word) => Per::parse(word).ok_or(Refusal::BadValue {
            field: "per",
            expected: "second, minute, hour or day; none where time plays no part",
        })?,
    };
    let from = new.from.as_deref();
    let from = from.map(|text| shape::read_time(text, "from"));
    let until = new.until.as_deref();
    let until = until.map(|text| read_bound(text, "until", "infinity"));
    Ok(SetRate {
        kind,
        name: new.name,
        instance: new.instance,
        value: RateValue::parse(&new.rate)?,
        per,
        machine: new.machine.filter(|name| !name.is_empty()),
        from: from.transpose()?,
        until: until.transpose()?.flatten(),
        description: new.description.unwrap_or_default(),
    })
}

fn shaped(directory: &Directory, rate: &Rate) -> v1::Rate {
    let per = if rate.kind.is_metered() {
        rate.per.word()
    } else {
        "none"
    };
    let machine = rate.machine.and_then(|id| directory.machine(id));
    v1::Rate {
        id: rate.id.0,
        kind: rate.kind.code().to_owned(),
        name: rate.name.clone(),
        instance: rate.instance.clone(),
        rate: rate.value.to_string(),
        per: per.to_owned(),
        machine: machine.map(|m| m.name.clone()),
        from: rate.window.start.map(shape::time),
        until: rate.window.end.map(shape::time),
        description: shape::some(&rate.description),
    }
}

fn render(decided: &Decided<'_>) -> Answer {
    rendered(decided, 201, |outcome| match outcome {
        Outcome::Rate(rate) => Some(new_state(shaped(decided.directory, rate), decided)),
        _ => None,
    })
}
