//! Accounts, and what has only a number: allocations, reservations, quotations; and charge rates.

use bank_core::amount::Amount;
use bank_core::calendar::Calendar;
use bank_core::command::{
    After, Command, ExtendLien, RemoveAllocation, SetAccount, SetAllocation, SetRate,
};
use bank_core::ids::{AccountId, AllocationId, LienId, QuoteId, RateId};
use bank_core::model::{Constraint, Dimension};
use bank_core::rate::{Per, Rate, RateKind, RateValue};
use bank_core::refusal::Refusal;
use bank_core::time::Timestamp;

use super::{Asked, Change, Fault, Identity, equal, missing, plain, time, unsupported};

/// A new account: its lists are options, with commas between their names.
pub(super) fn create(asked: &Asked<'_>) -> Result<Change, Fault> {
    asked.check_fields(&["Name", "Description"])?;
    let mut lists = Vec::new();
    let mut members = 0;
    for (option, dimension) in [
        ("Project", Dimension::Project),
        ("User", Dimension::User),
        ("Machine", Dimension::Machine),
    ] {
        let rows = rows(&dimension, &asked.call.options, option)?;
        members += rows.len().max(1);
        lists.push((dimension, rows));
    }
    let command = Command::AddAccount(SetAccount {
        name: name(asked)?,
        description: asked.call.field("Description").map(str::to_owned),
        lists,
        ..SetAccount::default()
    });
    Ok(Change {
        command,
        key: Vec::new(),
        also: format!(" and {members} account members"),
    })
}

/// The rows of a list: `amy,-bob`, in one option or in several. `ANY` alone is no list here.
fn rows(
    dimension: &Dimension,
    options: &[(String, String)],
    option: &str,
) -> Result<Vec<Constraint>, Fault> {
    let own = options.iter().filter(|(name, _)| name == option);
    let names: Vec<&str> = own
        .flat_map(|(_, list)| list.split(','))
        .map(str::trim)
        .collect();
    if names
        .iter()
        .any(|name| name.trim_start_matches(['+', '-']).is_empty())
    {
        let message = format!("option {option} has an empty name");
        return Err(Fault::new("bad_value", message));
    }
    let row = |name: &&str| Constraint {
        dimension: dimension.clone(),
        value: name.trim_start_matches(['+', '-']).to_owned(),
        allow: !name.starts_with('-'),
        subtree: false,
    };
    let rows: Vec<Constraint> = names.iter().map(row).collect();
    Ok(match rows.as_slice() {
        [only] if only.value == "ANY" && only.allow => Vec::new(),
        _ => rows,
    })
}

/// The name of a new account. Gold's accounts need none: without one it is that of the first project, with
/// a number if that is taken.
fn name(asked: &Asked<'_>) -> Result<String, Fault> {
    if let Some(name) = asked.call.field("Name").filter(|name| !name.is_empty()) {
        return Ok(name.to_owned());
    }
    let project = asked.call.option("Project").unwrap_or_default();
    let project = project.split(',').next().unwrap_or_default();
    if project.is_empty() {
        return Err(missing("Name"));
    }
    let is_free = |name: &String| asked.directory.any_account_named(name).is_none();
    let numbered = (2..10_000).map(|n| format!("{project}-{n}"));
    let mut names = std::iter::once(project.to_owned()).chain(numbered);
    names.find(is_free).ok_or_else(|| missing("Name"))
}

/// A change of an account, an allocation, a reservation or a rate.
pub(super) fn modify(asked: &Asked<'_>, key: &Identity) -> Result<Command, Fault> {
    match asked.call.object.as_str() {
        "Account" => {
            asked.check_fields(&["Description"])?;
            Ok(Command::SetAccount(SetAccount {
                name: account(asked, key)?,
                description: asked.call.field("Description").map(str::to_owned),
                ..SetAccount::default()
            }))
        }
        "Allocation" => allocation(asked, key),
        "Reservation" => {
            asked.check_fields(&["EndTime"])?;
            let end = bound("EndTime", asked.field("EndTime")?)?;
            Ok(Command::ExtendLien(ExtendLien {
                lien: LienId(key.number("Id")),
                end: end.ok_or_else(|| missing("EndTime"))?,
            }))
        }
        _ => {
            asked.check_fields(&["Rate", "Description"])?;
            changed_rate(asked, RateId(key.number("Id")))
        }
    }
}

/// The removal of an object.
pub(super) fn delete(asked: &Asked<'_>, key: &Identity) -> Result<Command, Fault> {
    let id = key.number("Id");
    Ok(match asked.call.object.as_str() {
        "Account" => Command::RemoveAccount(account(asked, key)?),
        "Allocation" => Command::After(After::RemoveAllocation(RemoveAllocation {
            id: AllocationId(id),
            force: false,
        })),
        "Reservation" => Command::ReleaseLien(LienId(id)),
        "Quotation" => Command::RemoveQuote(QuoteId(id)),
        _ => Command::RemoveRate(RateId(key.number("Id"))),
    })
}

fn account(asked: &Asked<'_>, key: &Identity) -> Result<String, Fault> {
    let account = asked.directory.account(AccountId(key.number("Id")));
    let account = account.ok_or_else(|| missing("Account"))?;
    Ok(account.name.clone())
}

fn allocation(asked: &Asked<'_>, key: &Identity) -> Result<Command, Fault> {
    let id = AllocationId(key.number("Id"));
    let fields = &asked.call.fields;
    let fixed = ["Amount", "Active", "Deposited", "Account"];
    if let Some(name) = fixed
        .iter()
        .find(|name| fields.iter().any(|(own, _)| own == *name))
    {
        return Ok(Command::After(After::SetFixed(id, name)));
    }
    asked.check_fields(&["StartTime", "EndTime", "CreditLimit"])?;
    let bound = |name| {
        let text = asked.call.field(name);
        text.map(|text| bound(name, text)).transpose()
    };
    let bank = &asked.directory.bank;
    let limit = asked.call.field("CreditLimit").map(|text| {
        let amount = Amount::parse(text, bank.precision);
        amount.map_err(|error| Fault::of(&Refusal::from(error), bank))
    });
    Ok(Command::SetAllocation(SetAllocation {
        id,
        start: bound("StartTime")?,
        end: bound("EndTime")?,
        credit_limit: limit.transpose()?,
    }))
}

/// A bound of a window.
fn bound(name: &str, text: &str) -> Result<Option<Timestamp>, Fault> {
    time(text, || {
        Fault::new(
            "bad_number",
            format!("Set {name} is not seconds since 1970: {}", plain(text)),
        )
    })
}

/// A new rate.
pub(super) fn create_rate(asked: &Asked<'_>) -> Result<Change, Fault> {
    asked.check_fields(&["Type", "Name", "Instance", "Rate", "Description"])?;
    let (word, name) = (asked.field("Type")?, asked.field("Name")?);
    let instance = asked.call.field("Instance").unwrap_or_default();
    let (kind, now) = (kind(word)?, asked.services.writer.now());
    let mut rates = asked.directory.rates_at(now).iter();
    let is_same = |own: &&Rate| own.kind == kind && own.name == name && own.instance == instance;
    if rates.any(|own| is_same(&own) && own.applies(now, None)) {
        return Err(Fault::new("already_exists", "ChargeRate already exists"));
    }
    let command = Command::SetRate(SetRate {
        kind,
        name: name.to_owned(),
        instance: instance.to_owned(),
        value: value(asked, asked.field("Rate")?)?,
        per: Per::Second,
        machine: None,
        from: None,
        until: None,
        when: None,
        description: asked
            .call
            .field("Description")
            .unwrap_or_default()
            .to_owned(),
    });
    let key = [
        ("Type", word),
        ("Name", name),
        ("Instance", instance),
        ("Per", "1"),
    ];
    Ok(Change {
        command,
        key: key.map(|(name, value)| equal(name, value)).to_vec(),
        also: String::new(),
    })
}

/// A rate with another number or description, from now on: its unit, its machine and its hours stay.
fn changed_rate(asked: &Asked<'_>, id: RateId) -> Result<Command, Fault> {
    let directory = asked.directory;
    let mut rates = directory.rates_at(asked.services.writer.now()).iter();
    let own = rates
        .find(|own| own.id == id)
        .ok_or_else(|| missing("Rate"))?;
    let machine = own.machine.and_then(|id| directory.machine(id));
    let number = asked.call.field("Rate").map(|text| value(asked, text));
    let description = asked.call.field("Description").unwrap_or(&own.description);
    Ok(Command::SetRate(SetRate {
        kind: own.kind,
        name: own.name.clone(),
        instance: own.instance.clone(),
        value: number.transpose()?.unwrap_or(own.value),
        per: own.per,
        machine: machine.map(|machine| machine.name.clone()),
        from: None,
        until: own.window.end,
        when: own.when.as_ref().map(|when| Calendar::clone(when)),
        description: description.to_owned(),
    }))
}

fn value(asked: &Asked<'_>, text: &str) -> Result<RateValue, Fault> {
    RateValue::parse(text).map_err(|refusal| Fault::of(&refusal, &asked.directory.bank))
}

fn kind(word: &str) -> Result<RateKind, Fault> {
    RateKind::parse(word).ok_or_else(|| unsupported(&format!("Type {}", plain(word))))
}
