//! `gquote`, `greserve` and `gcharge`: the same job three times.

use bank_api::v1::{Lien, LienQuery, List, NewQuote, Quote};
use serde_json::{Map, Value};
use ureq::http::Method;

use super::{
    money::{amount_said, credits, job, put, said, send, transaction},
    options::Given,
};
use crate::{
    cli::WriteArgs,
    client::{self, Call},
    cmd::Context,
    fail::Failure,
    figure, when,
};

/// A JSON object.
type Object = Map<String, Value>;

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
    Ok(said(given, &sentence, quote.transaction))
}

fn quote_body(context: &Context, given: &Given) -> Result<NewQuote, Failure> {
    let wall = duration(context, given)?;
    let wall = wall.ok_or_else(|| Failure::usage("the wall duration is missing: -t SECONDS"))?;
    let (attributes, gres) = properties(given)?;
    let text = |value: Value| value.as_str().unwrap_or_default().to_owned();
    Ok(NewQuote {
        project: given.owned("project").or_else(|| context.project.clone()),
        user: given.owned("user"),
        machine: given.owned("machine"),
        processors: given.whole("processors"),
        nodes: given.whole("nodes"),
        gres: gres.into_iter().map(|(name, n)| (name, text(n))).collect(),
        qos: given.owned("qualityOfService"),
        class: given.owned("queue"),
        group: None,
        memory_mb: given.whole("memory"),
        disk_mb: given.whole("disk"),
        uses: None,
        attributes: attributes
            .into_iter()
            .map(|(name, value)| (name, text(value)))
            .collect(),
        wall_s: wall,
        guarantee: given.flag("guarantee"),
        cost_only: given.flag("costOnly"),
    })
}

pub(super) fn reserve(context: &Context, given: &Given) -> Result<String, Failure> {
    let body = Value::from(reserve_body(context, given)?);
    let answer: Value = send(context, "reserves", &body)?;
    let sentence = format!(
        "Successfully reserved {} for job {}",
        amount_said(&answer, &body),
        job(given)?
    );
    Ok(said(given, &sentence, transaction(&answer)))
}

fn reserve_body(context: &Context, given: &Given) -> Result<Map<String, Value>, Failure> {
    let mut body = object(context, given, job(given)?)?;
    let wall = duration(context, given)?;
    let wall = wall.ok_or_else(|| Failure::usage("the wall duration is missing: -t SECONDS"))?;
    body.insert("wall".to_owned(), wall.into());
    put(&mut body, "quote", given.text("quote"));
    Ok(body)
}

pub(super) fn charge(context: &Context, given: &Given) -> Result<String, Failure> {
    let named = match given.whole("reservation") {
        Some(id) if given.text("jobId").is_none() && given.all("words").is_empty() => {
            of_reservation(context, id)?
        }
        _ => job(given)?,
    };
    let body = Value::from(charge_body(context, given, &named)?);
    let answer: Value = send(context, "charges", &body)?;
    let sentence = format!(
        "Successfully charged job {named} for {}",
        amount_said(&answer, &body)
    );
    Ok(said(given, &sentence, transaction(&answer)))
}

fn charge_body(
    context: &Context,
    given: &Given,
    named: &str,
) -> Result<Map<String, Value>, Failure> {
    let mut body = object(context, given, named.to_owned())?;
    let amount = given.text("amount");
    let amount = amount.map(|text| credits(given, text)).transpose()?;
    let duration = duration(context, given)?;
    if amount.is_none() && duration.is_none() {
        return Err(Failure::usage(
            "how long it ran is missing: -t SECONDS, or -s and -e",
        ));
    }
    put(&mut body, "amount", amount);
    put(&mut body, "duration", duration);
    put(&mut body, "quote", given.text("quote"));
    if given.flag("incremental") {
        body.insert("interim".to_owned(), true.into());
    }
    Ok(body)
}

/// The job that a reservation is for.
fn of_reservation(context: &Context, id: i64) -> Result<String, Failure> {
    let query = LienQuery {
        state: Some("all".to_owned()),
        ..LienQuery::default()
    };
    let list: List<Lien> = context.get(&["liens"], &query)?;
    let found = list.items.into_iter().find(|lien| lien.id == id);
    let missing = || {
        Failure::of(
            bank_api::exit::bank::NOT_FOUND,
            format!("no reservation {id}"),
        )
    };
    Ok(found.ok_or_else(missing)?.job)
}

/// What a reserve and a charge say of the job.
fn object(context: &Context, given: &Given, job: String) -> Result<Map<String, Value>, Failure> {
    let mut body = Map::new();
    body.insert("job".to_owned(), job.into());
    put(&mut body, "type", given.text("type").map(str::to_lowercase));
    let project = given.owned("project").or_else(|| context.project.clone());
    put(&mut body, "project", project);
    put(&mut body, "user", given.text("user"));
    put(&mut body, "machine", given.text("machine"));
    put(&mut body, "processors", given.whole("processors"));
    put(&mut body, "nodes", given.whole("nodes"));
    put(&mut body, "memory_mb", given.whole("memory"));
    put(&mut body, "disk_mb", given.whole("disk"));
    put(&mut body, "qos", given.text("qualityOfService"));
    put(&mut body, "class", given.text("queue"));
    let (attributes, gres) = properties(given)?;
    let some = |map: Map<String, Value>| (!map.is_empty()).then_some(map);
    put(&mut body, "attributes", some(attributes));
    put(&mut body, "gres", some(gres));
    let start = context.time(given.owned("startTime").as_ref())?;
    put(&mut body, "start", start);
    let end = context.time(given.owned("endTime").as_ref())?;
    put(&mut body, "end", end);
    Ok(body)
}

/// `-X NAME=VALUE`: a property, or as `gres.NAME=N` a generic resource; the state and the
/// description are properties too.
fn properties(given: &Given) -> Result<(Object, Object), Failure> {
    let (mut attributes, mut gres) = (Map::new(), Map::new());
    put(&mut attributes, "State", given.text("state"));
    put(&mut attributes, "Description", given.text("description"));
    for pair in given.all("extension") {
        let parts = pair.split_once('=');
        let named = parts.filter(|(name, value)| !name.is_empty() && !value.is_empty());
        let Some((name, value)) = named else {
            return Err(Failure::usage(format!("-X {pair:?} is not NAME=VALUE")));
        };
        match name.strip_prefix("gres.") {
            Some(name) => gres.insert(name.to_owned(), value.into()),
            None => attributes.insert(name.to_owned(), value.into()),
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
    use serde_json::json;

    use super::{super::Tool, super::options::read, *};
    use crate::cmd::test_context;

    fn given(tool: Tool, line: &str) -> Given {
        read(tool, line.split_whitespace().map(Into::into)).unwrap()
    }

    #[test]
    fn a_reservation_is_asked_for_as_agreed() {
        let line = "-J PBS.7 -p chem -u amy -m colony -P 16 -N 2 -M 512 -D 9 -Q high -C batch \
                    -T Job -X Energy=5 -X gres.gpu=2 -t 3600 -q T17 -d test";
        let body = reserve_body(&test_context(), &given(Tool::Reserve, line)).unwrap();
        assert_eq!(
            Value::from(body),
            json!({
                "job": "PBS.7", "type": "job", "project": "chem", "user": "amy",
                "machine": "colony", "processors": 16, "nodes": 2, "memory_mb": 512,
                "disk_mb": 9, "qos": "high", "class": "batch", "attributes": {"Energy": "5", "Description": "test"},
                "gres": {"gpu": "2"}, "wall": 3600, "quote": "T17"
            })
        );
        let short = given(Tool::Reserve, "PBS.7 -P 1");
        assert_eq!(reserve_body(&test_context(), &short).unwrap_err().exit, 2);
    }

    #[test]
    fn a_charge_is_asked_for_as_agreed() {
        let context = test_context();
        let line = "PBS.7 -p chem -P 16 -t 1:00:00 --incremental";
        let body = charge_body(&context, &given(Tool::Charge, line), "PBS.7").unwrap();
        assert_eq!(
            Value::from(body),
            json!({"job": "PBS.7", "project": "chem", "processors": 16, "duration": 3600,
                   "interim": true})
        );
        let amount = given(Tool::Charge, "PBS.7 -p chem -z 12.5");
        let body = charge_body(&context, &amount, "PBS.7").unwrap();
        assert_eq!(
            Value::from(body),
            json!({"job": "PBS.7", "project": "chem", "amount": "12.5"})
        );
        let nothing = given(Tool::Charge, "PBS.7 -p chem");
        assert_eq!(
            charge_body(&context, &nothing, "PBS.7").unwrap_err().exit,
            2
        );
    }

    #[test]
    fn a_window_has_a_duration() {
        let given = read(
            Tool::Charge,
            [
                "-J",
                "j",
                "-s",
                "2026-01-01 00:00:00",
                "-e",
                "2026-01-01 01:00:00",
            ]
            .map(Into::into),
        );
        let body = charge_body(&test_context(), &given.unwrap(), "j").unwrap();
        assert_eq!(body["duration"], 3600);
        assert!(body["start"].is_string() && body["end"].is_string());
        let odd = self::given(Tool::Quote, "-t 5 -X nothing");
        assert_eq!(quote_body(&test_context(), &odd).unwrap_err().exit, 2);
    }
}
