//! Rates. Prices are public: every caller may read them, but for those that name objects out of view.

use axum::response::IntoResponse;
use bank_api::text::suggest;
use bank_api::v1::{self, NewRate, RateQuery};
use bank_core::attribute::PROPERTIES;
use bank_core::calendar::Calendar;
use bank_core::command::{Command, SetRate};
use bank_core::directory::Directory;
use bank_core::effects::Outcome;
use bank_core::ids::RateId;
use bank_core::rate::{Per, Rate, RateKind, RateValue};
use bank_core::refusal::Refusal;
use bankd_config::zones;
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;

use super::call::{Call, Handled, new_state, removed, rendered};
use super::historical;
use super::json::{self, read_bound};
use super::pages::Turn;
use super::path::Path;

/// `GET /api/v1/rates`: those in force and those to come, by number; with `history` those that are
/// over too, with `in_force` without those to come.
pub(super) async fn list(call: Call) -> Handled {
    let RateQuery {
        history,
        in_force,
        at,
        recorded,
        limit,
        after,
    } = call.query()?;
    let turn = Turn::of(&call, limit, after)?;
    let then = historical::then(&call, at.as_deref(), recorded).await?;
    let view = historical::view(then.as_ref(), &call);
    let directory = view.directory();
    let now = then.as_ref().map_or_else(|| call.now(), |then| then.at);
    let mut rates: Vec<&Rate> = directory.rates.iter().collect();
    // The first rate of a bank is valid before it was recorded, and prices usage from then.
    if then.is_some() && !recorded {
        let is_there = |rate: &&Rate| directory.rates.iter().any(|own| own.id == rate.id);
        let today = call.directory().rates.iter();
        let mut earlier: Vec<&Rate> = today.filter(|rate| rate.window.contains(now)).collect();
        earlier.retain(|rate| !is_there(rate));
        rates.extend(earlier);
    }
    rates.retain(|rate| view.sees_rate(rate));
    rates.retain(|rate| history || !rate.window.is_over(now));
    rates.retain(|rate| !in_force || rate.window.contains(now));
    rates.sort_by_key(|rate| rate.id);
    turn.list(
        &call,
        rates,
        |rate| rate.id.0,
        |rate| shaped(directory, rate),
    )
}

/// `POST /api/v1/rates`
pub(super) async fn set(call: Call) -> Handled {
    let new: NewRate = call.json()?;
    let command = read(call.directory(), new).map_err(|r| call.refused(&r))?;
    Ok(call
        .write(Command::SetRate(command), render)
        .await?
        .into_response())
}

/// `DELETE /api/v1/rates/{id}`
pub(super) async fn remove(Path(id): Path<String>, call: Call) -> Handled {
    let unknown = |_| call.refused(&Refusal::not_found("rate", &id));
    let number = id.parse().map(RateId).map_err(unknown)?;
    let command = Command::RemoveRate(number);
    Ok(call.write(command, removed).await?.into_response())
}

/// A rate in a request. Gold writes the resource of an `MVBR` as its type: `Disk User amy` is `MVBR Disk
/// User=amy` (ledger.md 3.1).
pub(super) fn read(directory: &Directory, mut new: NewRate) -> Result<SetRate, Refusal> {
    let resource = ["Processors", "Nodes", "Memory", "Disk"]
        .iter()
        .any(|own| own.eq_ignore_ascii_case(&new.kind))
        || directory.attribute(&new.kind).is_some();
    if resource && !new.instance.is_empty() {
        new.instance = format!("{}={}", new.name, new.instance);
        new.name = std::mem::replace(&mut new.kind, RateKind::Mvbr.code().to_owned());
    }
    let kind = RateKind::parse(&new.kind).ok_or(Refusal::BadValue {
        field: "kind",
        expected: "VBR, NBR, MVBR, VBU, NBU, VBM, NBM, VBF, NBF, MIN or MAX",
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
    let from = from.map(|text| json::read_time(text, "from"));
    let until = new.until.as_deref();
    let until = until.map(|text| read_bound(text, "until", "infinity"));
    let when = new.when.as_deref().filter(|text| !text.is_empty());
    let when = when.map(|text| Calendar::read(text, zones::zone));
    Ok(SetRate {
        kind,
        name: new.name,
        instance: new.instance,
        value: RateValue::parse(&new.rate)?,
        per,
        machine: new.machine.filter(|name| !name.is_empty()),
        from: from.transpose()?,
        until: until.transpose()?.flatten(),
        when: when.transpose()?,
        description: new.description.unwrap_or_default(),
    })
}

/// A rate in the answer.
pub(super) fn shaped(directory: &Directory, rate: &Rate) -> v1::Rate {
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
        from: rate.window.start.map(json::time),
        until: rate.window.end.map(json::time),
        when: json::some(rate.hours()),
        description: json::some(&rate.description),
    }
}

fn render(decided: &Decided<'_>) -> Answer {
    rendered(decided, 201, |outcome| match outcome {
        Outcome::Rate(rate) => {
            let mut answer = new_state(shaped(decided.directory, rate), decided);
            answer.warnings.extend(misspelt(decided.directory, rate));
            Some(answer)
        }
        _ => None,
    })
}

/// A property that nothing is called, but something nearly: a rate that would never count.
fn misspelt(directory: &Directory, rate: &Rate) -> Option<String> {
    let declared = directory.attributes.iter().filter(|a| !a.deleted);
    let mut known: Vec<&str> = PROPERTIES.to_vec();
    known.extend(declared.map(|a| a.name.as_str()));
    let name = rate.property();
    let is_known = known.iter().any(|own| own.eq_ignore_ascii_case(name));
    if is_known || rate.kind.is_limit() {
        return None;
    }
    let meant = suggest(name, &known)?;
    Some(format!(
        "property: {name} is unknown; did you mean {meant}?"
    ))
}
