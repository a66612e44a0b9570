//! Users, projects, machines, and records of the kinds that the site added.

use bank_core::amount::Amount;
use bank_core::command::{Command, RecordAction, RecordChange};
use bank_core::decimal::Decimal;
use bank_core::kind::{Field, Key, Kind, Type, Value, units};
use bank_core::time::Timestamp;
use bankd_ledger::view;

use super::{Asked, Change, Fault, Identity, demand, equal, flag, missing, plain, unsupported};

/// Gold's names of fields that have other names here.
const FIELDS: [(&str, &str); 3] = [
    ("PhoneNumber", "phone"),
    ("EmailAddress", "email"),
    ("OperatingSystem", "operating_system"),
];

/// A new record.
pub(super) fn create(asked: &Asked<'_>) -> Result<Change, Fault> {
    let kind = kind(asked)?;
    let mut values = values(asked, kind)?;
    let name = asked.field("Name")?;
    let key = kind.read_key(name).ok_or_else(|| missing("Name"))?;
    let makes_account = asked.call.option("CreateAccount");
    let makes_account = makes_account.map(|text| flag("CreateAccount", text));
    if kind.word == "project" && makes_account.transpose()? == Some(false) {
        values.push(("no_account".to_owned(), Value::Flag(true)));
    }
    Ok(Change {
        command: command(kind, RecordAction::Add(Some(key), values)),
        key: vec![equal("Name", name)],
        also: String::new(),
    })
}

/// The end of the message: the account that a new project got.
pub(super) fn also(asked: &Asked<'_>, change: &Change) -> String {
    if asked.call.object != "Project" {
        return change.also.clone();
    }
    let directory = asked.services.writer.directory();
    let name = asked.call.field("Name").unwrap_or_default();
    let account = directory.account_named(name);
    let account = account.filter(|own| own.only_project() == Some(name));
    account.map_or_else(String::new, |account| {
        format!("\nAuto-generated Account {}", account.id.0)
    })
}

/// A change of a record.
pub(super) fn modify(asked: &Asked<'_>, key: &Identity) -> Result<Command, Fault> {
    let kind = kind(asked)?;
    let values = values(asked, kind)?;
    Ok(command(
        kind,
        RecordAction::Set(own_key(kind, key)?, values),
    ))
}

/// The removal of a record.
pub(super) fn delete(asked: &Asked<'_>, key: &Identity) -> Result<Command, Fault> {
    let kind = kind(asked)?;
    Ok(command(kind, RecordAction::Remove(own_key(kind, key)?)))
}

/// The kind of the message's object, if the peer may change its records.
pub(super) fn kind<'a>(asked: &Asked<'a>) -> Result<&'a Kind, Fault> {
    let object = &asked.call.object;
    let word = object.to_ascii_lowercase();
    let records = &asked.directory.records;
    let own = ["User", "Project", "Machine"].contains(&object.as_str());
    let mut site = records.site_kinds();
    let kind = if own {
        records.kind(&word)
    } else {
        site.find(|kind| kind.word.replace('_', "") == word)
    };
    let what = format!("{} of {}", plain(&asked.call.action), plain(object));
    let kind = kind.ok_or_else(|| unsupported(&what))?;
    demand(asked.request, view::change(kind))?;
    Ok(kind)
}

fn command(kind: &Kind, action: RecordAction) -> Command {
    Command::Record(Box::new(RecordChange::new(kind, action)))
}

fn own_key(kind: &Kind, key: &Identity) -> Result<Key, Fault> {
    kind.read_key(key.get("Name"))
        .ok_or_else(|| missing("Name"))
}

/// The values of the message by field, without the name.
fn values(asked: &Asked<'_>, kind: &Kind) -> Result<Vec<(String, Value)>, Fault> {
    let mut values = Vec::new();
    let own = asked.call.fields.iter();
    for (name, text) in own.filter(|(name, _)| asked.call.action != "Create" || name != "Name") {
        let known = FIELDS.iter().find(|(gold, _)| gold == name);
        let wanted = known.map_or(name.as_str(), |(_, own)| own).replace('_', "");
        let mut fields = kind.fields.iter();
        let field = fields.find(|own| own.name.replace('_', "").eq_ignore_ascii_case(&wanted));
        let field = field.ok_or_else(|| {
            let (name, object) = (plain(name), plain(&asked.call.object));
            Fault::new(
                "unknown_attribute",
                format!("{object} has no attribute {name}"),
            )
        })?;
        values.push((field.name.clone(), value(asked, field, text)?));
    }
    Ok(values)
}

/// The value of a field. An empty text clears it.
fn value(asked: &Asked<'_>, field: &Field, text: &str) -> Result<Value, Fault> {
    let bank = &asked.directory.bank;
    let bad = || Fault::of(&field.bad(), bank);
    if text.is_empty() || text == "NONE" && matches!(field.of, Type::Reference(_)) {
        return Ok(Value::None);
    }
    Ok(match &field.of {
        Type::Flag => Value::Flag(flag(&field.name, text)?),
        Type::Texts(..) | Type::References(..) => {
            Value::List(text.split(',').map(str::to_owned).collect())
        }
        Type::Decimal(places, ..) => {
            let number = Decimal::parse(text).and_then(|number| units(number, *places));
            Value::Whole(number.ok_or_else(bad)?)
        }
        Type::Amount(..) => {
            let amount = Amount::parse(text, bank.precision);
            Value::Whole(amount.map_err(|_| bad())?.0)
        }
        Type::Time => {
            let seconds = text.parse().map(Timestamp::from_seconds);
            Value::Time(seconds.map_err(|_| bad())?)
        }
        Type::Whole(..) | Type::Duration(..) => Value::Whole(text.parse().map_err(|_| bad())?),
        Type::Reference(_) if field.is_number_of_record() => {
            Value::Whole(text.parse().map_err(|_| bad())?)
        }
        _ => Value::Text(text.to_owned()),
    })
}
