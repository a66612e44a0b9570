//! `gquote`, `greserve` and `gcharge`: the same job three times.

use std::collections::BTreeMap;

use bank_api::v1::{
    Charged, GivenQuote, Held, Lien, LienQuery, List, NewCharge, NewQuote, NewReserve, Quote,
};
use bank_cli_picture::figure;
use ureq::http::Method;

use super::{
    Tool,
    money::{credits, job, report, send, warn},
    options::Given,
};
use crate::{
    cli::WriteArgs,
    client::{self, Call},
    context::Context,
    fail::Failure,
    when,
};

/// Properties by name.
type Properties = BTreeMap<String, String>;

pub(super) fn quote(context: &Context, given: &Given) -> Result<String, Failure> {
    let body = quote_body(context, given)?;
    let quote: Quote = if body.guarantee {
        context.send(Method::POST, &["quotes"], &body, &WriteArgs::default())?
    } else {
        // A quote that writes nothing needs no key.
        let call = Call::send(Method::POST, client::path(&["quotes"]), &body, None)?;
        context.client.call(&call)?
    };
    let hours = Some(&quote.cost).filter(|_| given.flag("hours"));
    let (amount, unit) = match hours.and_then(|cost| figure::hours(cost)) {
        Some(hours) => (hours, "hours"),
        None => (quote.cost.clone(), quote.unit.as_str()),
    };
    if given.flag("quiet") {
        return Ok(format!("{amount}\n"));
    }
    let id = quote.id.map(|id| format!(" with quote id {id}"));
    let sentence = format!(
        "Successfully quoted {amount} {unit}{}",
        id.unwrap_or_default()
    );
    Ok(report(given, &sentence, quote.transaction))
}

fn quote_body(context: &Context, given: &Given) -> Result<NewQuote, Failure> {
    let wall = duration(context, given)?;
    let wall = wall.ok_or_else(|| Failure::usage("the wall duration is missing: -t SECONDS"))?;
    let (attributes, gres) = properties(given)?;
    Ok(NewQuote {
        project: given.owned("project").or_else(|| context.project.clone()),
        user: given.owned("user"),
        machine: given.owned("machine"),
        processors: given.whole("processors"),
        nodes: given.whole("nodes"),
        gres,
        qos: given.owned("qualityOfService"),
        class: given.owned("queue"),
        group: None,
        memory_mb: given.whole("memory"),
        disk_mb: given.whole("disk"),
        uses: None,
        attributes,
        wall_s: wall,
        guarantee: given.flag("guarantee"),
        cost_only: given.flag("costOnly"),
    })
}

pub(super) fn reserve(context: &Context, given: &Given) -> Result<String, Failure> {
    let mut body = reserve_body(context, given)?;
    body.quote = tid(context, given)?;
    let held: Held = send(context, "reserves", &body)?;
    let Held {
        held: amount, unit, ..
    } = &held;
    let sentence = format!("Successfully reserved {amount} {unit} for job {}", body.job);
    warn(Tool::Reserve, given, &held.warnings);
    Ok(report(given, &sentence, held.transaction))
}

fn reserve_body(context: &Context, given: &Given) -> Result<NewReserve, Failure> {
    let wall = duration(context, given)?;
    let wall = wall.ok_or_else(|| Failure::usage("the wall duration is missing: -t SECONDS"))?;
    let (attributes, gres) = properties(given)?;
    Ok(NewReserve {
        job: job(given)?,
        kind: given.text("type").map(str::to_lowercase),
        project: given.owned("project").or_else(|| context.project.clone()),
        user: given.owned("user"),
        machine: given.owned("machine"),
        processors: given.whole("processors"),
        nodes: given.whole("nodes"),
        memory_mb: given.whole("memory"),
        disk_mb: given.whole("disk"),
        gres,
        attributes,
        qos: given.owned("qualityOfService"),
        class: given.owned("queue"),
        group: None,
        wall_s: wall,
        start: context.time(given.owned("startTime").as_ref())?,
        end: context.time(given.owned("endTime").as_ref())?,
        quote: None,
    })
}

pub(super) fn charge(context: &Context, given: &Given) -> Result<String, Failure> {
    let named = match given.whole("reservation") {
        Some(id) if given.text("jobId").is_none() && given.all("words").is_empty() => {
            of_reservation(context, id)?
        }
        _ => job(given)?,
    };
    let mut body = charge_body(context, given, named)?;
    body.quote = tid(context, given)?;
    let charged: Charged = send(context, "charges", &body)?;
    let Charged {
        job, amount, unit, ..
    } = &charged;
    let sentence = format!("Successfully charged job {job} for {amount} {unit}");
    warn(Tool::Charge, given, &charged.warnings);
    Ok(report(given, &sentence, charged.transaction))
}

fn charge_body(context: &Context, given: &Given, job: String) -> Result<NewCharge, Failure> {
    let amount = given.text("amount");
    let amount = amount.map(|text| credits(given, text)).transpose()?;
    let wall = given.text("wallDuration").map(when::seconds).transpose()?;
    if amount.is_none() && duration(context, given)?.is_none() {
        return Err(Failure::usage(
            "how long it ran is missing: -t SECONDS, or -s and -e",
        ));
    }
    let (attributes, gres) = properties(given)?;
    Ok(NewCharge {
        job,
        kind: given.text("type").map(str::to_lowercase),
        project: given.owned("project").or_else(|| context.project.clone()),
        user: given.owned("user"),
        machine: given.owned("machine"),
        processors: given.whole("processors"),
        nodes: given.whole("nodes"),
        memory_mb: given.whole("memory"),
        disk_mb: given.whole("disk"),
        gres,
        attributes,
        qos: given.owned("qualityOfService"),
        class: given.owned("queue"),
        group: None,
        duration_s: wall,
        start: context.time(given.owned("startTime").as_ref())?,
        end: context.time(given.owned("endTime").as_ref())?,
        total: false,
        amount,
        itemisation: None,
        interim: given.flag("incremental"),
        shortfall: None,
        quote: None,
    })
}

/// The TID of the quote that `-q` names: Gold's quotes are numbers, and `gquote` tells the number.
fn tid(context: &Context, given: &Given) -> Result<Option<String>, Failure> {
    let Some(named) = given.text("quote") else {
        return Ok(None);
    };
    if named.parse::<i64>().is_err() {
        return Ok(Some(named.to_owned()));
    }
    let quote: GivenQuote = context.get(&["quotes", named], &())?;
    Ok(Some(quote.tid))
}

/// The job that a reservation is for.
fn of_reservation(context: &Context, id: i64) -> Result<String, Failure> {
    let query = LienQuery {
        state: Some("all".to_owned()),
        ..LienQuery::default()
    };
    let list: List<Lien> = context.all(&["liens"], &query)?;
    let found = list.items.into_iter().find(|lien| lien.id == id);
    let missing = || {
        Failure::of(
            bank_api::exit::bank::NOT_FOUND,
            format!("no reservation {id}"),
        )
    };
    Ok(found.ok_or_else(missing)?.job)
}

/// `-X NAME=VALUE`: a property, or as `gres.NAME=N` a generic resource; the state and the
/// description are properties too.
fn properties(given: &Given) -> Result<(Properties, Properties), Failure> {
    let (mut attributes, mut gres) = (Properties::new(), Properties::new());
    for (name, word) in [("State", "state"), ("Description", "description")] {
        attributes.extend(given.owned(word).map(|value| (name.to_owned(), value)));
    }
    for pair in given.all("extension") {
        let parts = pair.split_once('=');
        let named = parts.filter(|(name, value)| !name.is_empty() && !value.is_empty());
        let Some((name, value)) = named else {
            return Err(Failure::usage(format!("-X {pair:?} is not NAME=VALUE")));
        };
        match name.strip_prefix("gres.") {
            Some(name) => gres.insert(name.to_owned(), value.to_owned()),
            None => attributes.insert(name.to_owned(), value.to_owned()),
        };
    }
    Ok((attributes, gres))
}

/// `-t`, else the time from `-s` to `-e`.
fn duration(context: &Context, given: &Given) -> Result<Option<i64>, Failure> {
    if let Some(text) = given.text("wallDuration") {
        return when::seconds(text).map(Some);
    }
    let time = |word: &str| -> Result<Option<i64>, Failure> {
        let text = context.time(given.owned(word).as_ref())?;
        Ok(text.as_deref().and_then(when::read))
    };
    let (start, end) = (time("startTime")?, time("endTime")?);
    Ok(start
        .zip(end)
        .map(|(start, end)| end.saturating_sub(start).div_euclid(1_000_000)))
}

#[cfg(test)]
mod tests {
    use super::{super::options::read, *};
    use crate::context::test_context;

    fn given(tool: Tool, line: &str) -> Given {
        read(tool, line.split_whitespace().map(Into::into)).unwrap()
    }

    fn one(name: &str, value: &str) -> Properties {
        Properties::from([(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn a_reservation_is_requested() {
        let line = "-J PBS.7 -p chem -u amy -m colony -P 16 -N 2 -M 512 -D 9 -Q high -C batch \
                    -T Job -X Energy=5 -X gres.gpu=2 -t 3600 -d test";
        let body = reserve_body(&test_context(), &given(Tool::Reserve, line)).unwrap();
        let mut attributes = one("Energy", "5");
        attributes.extend(one("Description", "test"));
        let expected = NewReserve {
            job: "PBS.7".into(),
            kind: Some("job".into()),
            project: Some("chem".into()),
            user: Some("amy".into()),
            machine: Some("colony".into()),
            processors: Some(16),
            nodes: Some(2),
            memory_mb: Some(512),
            disk_mb: Some(9),
            gres: one("gpu", "2"),
            attributes,
            qos: Some("high".into()),
            class: Some("batch".into()),
            wall_s: 3600,
            ..NewReserve::default()
        };
        assert_eq!(body, expected);
        let short = given(Tool::Reserve, "PBS.7 -P 1");
        assert_eq!(reserve_body(&test_context(), &short).unwrap_err().exit, 2);
    }

    #[test]
    fn a_charge_is_requested() {
        let body = |line: &str| {
            let given = given(Tool::Charge, line);
            charge_body(&test_context(), &given, "PBS.7".to_owned())
        };
        let expected = NewCharge {
            job: "PBS.7".into(),
            project: Some("chem".into()),
            ..NewCharge::default()
        };
        assert_eq!(
            body("PBS.7 -p chem -P 16 -t 1:00:00 --incremental").unwrap(),
            NewCharge {
                processors: Some(16),
                duration_s: Some(3600),
                interim: true,
                ..expected.clone()
            }
        );
        assert_eq!(
            body("PBS.7 -p chem -z 12.5").unwrap(),
            NewCharge {
                amount: Some("12.5".into()),
                ..expected
            }
        );
        assert_eq!(body("PBS.7 -p chem").unwrap_err().exit, 2);
    }

    #[test]
    fn a_window_is_a_duration_or_goes_as_it_is() {
        let words = [
            "-J",
            "j",
            "-s",
            "2026-01-01 00:00:00",
            "-e",
            "2026-01-01 01:00:00",
        ];
        let read = |tool| read(tool, words.map(Into::into)).unwrap();
        let reserve = reserve_body(&test_context(), &read(Tool::Reserve)).unwrap();
        assert_eq!(reserve.wall_s, 3600);
        let charge = charge_body(&test_context(), &read(Tool::Charge), "j".to_owned()).unwrap();
        assert_eq!(charge.duration_s, None, "the window says it");
        assert!(charge.start.is_some() && charge.end.is_some());
        let odd = given(Tool::Quote, "-t 5 -X nothing");
        assert_eq!(quote_body(&test_context(), &odd).unwrap_err().exit, 2);
    }
}
