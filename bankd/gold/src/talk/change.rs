//! Create, Modify and Delete of objects (ledger.md 1.2): each becomes one command.
//!
//! `record` has users, projects, machines and the kinds of the site, `list` the members of projects and the
//! lists of accounts, `account` accounts, allocations, reservations, quotations and rates, `job` jobs. A
//! change selects its object by conditions, which must select one: several changes would not be one
//! transaction.

mod account;
mod job;
mod list;
mod record;

use std::sync::Arc;

use bank_core::command::Command;
use bankd_ledger::access::right::Right;
use bankd_query::Cell;
use bankd_services::Services;

use super::query::{self, equal, find, of_object};
use super::reply::Came;
use super::request::{Call, Condition, Wanted, missing, plain, time, unsupported};
use super::{Asked, Content, Fault, demand, run};
use crate::{Value, Verified};

/// A command, and how its object is found afterwards.
struct Change {
    command: Command,
    /// The conditions that select the object; for an object that gets its number, none.
    key: Vec<Condition>,
    /// The rest of the message, after the number of objects.
    also: String,
}

/// Runs a change.
pub(super) async fn answer(
    services: &Arc<Services>,
    request: &Verified,
    call: &Call,
    request_id: &str,
) -> Result<Content, Fault> {
    let directory = services.writer.directory();
    let asked = Asked::new(services, request, call, &directory);
    match right(&call.object) {
        Some(right) => demand(request, right)?,
        None => {
            record::kind(&asked)?;
        }
    }
    check_options(call)?;
    match call.action.as_str() {
        "Create" => create(&asked, request_id).await,
        "Modify" => modify(&asked, request_id).await,
        _ => delete(&asked, request_id).await,
    }
}

/// Refuses options that a change has no place for: a mistyped list of an account would be left empty.
fn check_options(call: &Call) -> Result<(), Fault> {
    let known: &[&str] = match (call.action.as_str(), call.object.as_str()) {
        ("Create", "Account") => &["Project", "User", "Machine"],
        ("Create", "Project") => &["CreateAccount", "AccountUsers"],
        _ => &[],
    };
    let mut names = call.options.iter().map(|(name, _)| name);
    match names.find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let (name, action) = (plain(name), plain(&call.action));
            let object = plain(&call.object);
            Err(unsupported(&format!("option {name} of {action} {object}")))
        }
    }
}

/// The right to change an object of Gold; `None` for kinds of the site, which declare theirs.
fn right(object: &str) -> Option<Right> {
    Some(match object {
        "User" | "Project" | "Machine" | "ProjectMachine" => Right::ChangeReference,
        "ProjectUser" => Right::ChangeMembers,
        "Account" | "AccountProject" | "AccountUser" | "AccountMachine" => Right::ChangeAccounts,
        "Allocation" => Right::ChangeAllocations,
        "Reservation" | "Job" => Right::Hold,
        "Quotation" => Right::EndQuotes,
        "ChargeRate" => Right::ChangeRates,
        _ => return None,
    })
}

async fn create(asked: &Asked<'_>, request_id: &str) -> Result<Content, Fault> {
    let object = asked.call.object.as_str();
    if !asked.call.conditions.is_empty() {
        return Err(unsupported("a Create with Where"));
    }
    let mut change = match object {
        "ProjectUser" | "ProjectMachine" | "AccountProject" | "AccountUser" | "AccountMachine" => {
            list::create(asked)?
        }
        "Account" => account::create(asked)?,
        "ChargeRate" => account::create_rate(asked)?,
        "Job" => job::create(asked)?,
        _ => record::create(asked)?,
    };
    let came = asked.run(change.command.clone(), request_id).await?;
    if change.key.is_empty() {
        change
            .key
            .push(equal("Id", came.unwrap_or_default().to_string()));
    }
    let rows = asked.rows(object, change.key.clone()).await?;
    let object = plain(object);
    let also = record::also(asked, &change);
    let message = format!("Successfully created 1 {object}{also}");
    Ok(done(message, 1, &rows))
}

async fn modify(asked: &Asked<'_>, request_id: &str) -> Result<Content, Fault> {
    let call = asked.call;
    if call.fields.is_empty() {
        return Err(missing("Set"));
    }
    let Some(key) = asked.only().await? else {
        return Ok(none("modified", &call.object));
    };
    let command = match call.object.as_str() {
        "ProjectUser" => list::modify(asked, &key)?,
        "Account" | "Allocation" | "Reservation" | "ChargeRate" => account::modify(asked, &key)?,
        "Job" => job::modify(asked, &key)?,
        _ => record::modify(asked, &key)?,
    };
    asked.run(command, request_id).await?;
    let rows = asked.rows(&call.object, key.conditions()).await?;
    let message = format!("Successfully modified 1 {}s", plain(&call.object));
    Ok(done(message, 1, &rows))
}

async fn delete(asked: &Asked<'_>, request_id: &str) -> Result<Content, Fault> {
    let call = asked.call;
    let Some(key) = asked.only().await? else {
        return Ok(none("deleted", &call.object));
    };
    let command = match call.object.as_str() {
        "ProjectUser" | "ProjectMachine" | "AccountProject" | "AccountUser" | "AccountMachine" => {
            list::delete(asked, &key)?
        }
        "Account" | "Allocation" | "Reservation" | "Quotation" | "ChargeRate" => {
            account::delete(asked, &key)?
        }
        "Job" => {
            let message = "A job is part of the journal and cannot be deleted";
            return Err(Fault::new("not_settable", message));
        }
        _ => record::delete(asked, &key)?,
    };
    let rows = asked.rows(&call.object, key.conditions()).await?;
    let others = asked.associations(&key).await?;
    asked.run(command, request_id).await?;
    let also = match others {
        0 => String::new(),
        n => format!(" and {n} associations"),
    };
    let message = format!("Successfully deleted 1 {}s{also}", plain(&call.object));
    Ok(done(message, 1, &rows))
}

fn done(message: String, count: usize, rows: &[String]) -> Content {
    Content {
        value: Value::Success,
        code: "000",
        message: Some(message),
        count: Some(count.to_string()),
        data: Some(rows.concat()),
    }
}

fn none(what: &str, object: &str) -> Content {
    let message = format!("Successfully {what} 0 {}s", plain(object));
    Content {
        data: None,
        ..done(message, 0, &[])
    }
}

/// The attributes that identify an object, with their values.
struct Identity(Vec<(&'static str, String)>);

impl Identity {
    fn get(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(own, _)| *own == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    fn number(&self, name: &str) -> i64 {
        self.get(name).parse().unwrap_or_default()
    }

    fn conditions(&self) -> Vec<Condition> {
        let own = self.0.iter().filter(|(name, _)| *name != "Closed");
        own.map(|(name, value)| equal(name, value.as_str()))
            .collect()
    }
}

/// The attributes that identify an object of Gold.
fn identity(object: &str) -> &'static [&'static str] {
    match object {
        "Account" | "Allocation" | "Reservation" | "Quotation" | "ChargeRate" => &["Id"],
        "Job" => &["Id", "JobId", "Machine", "Type", "Closed"],
        "ProjectUser" | "ProjectMachine" => &["Project", "Name"],
        "AccountProject" | "AccountUser" | "AccountMachine" => &["Account", "Name"],
        _ => &["Name"],
    }
}

/// The lists that name an object: their object and attribute. Gold counts them all. The lists of an account keep the
/// names of removed users and machines: a list without names would allow all.
const ASSOCIATIONS: [(&str, &[(&str, &str)]); 5] = [
    ("User", &[("ProjectUser", "Name"), ("AccountUser", "Name")]),
    (
        "Project",
        &[
            ("ProjectUser", "Project"),
            ("ProjectMachine", "Project"),
            ("AccountProject", "Name"),
        ],
    ),
    (
        "Machine",
        &[("ProjectMachine", "Name"), ("AccountMachine", "Name")],
    ),
    (
        "Account",
        &[
            ("AccountProject", "Account"),
            ("AccountUser", "Account"),
            ("AccountMachine", "Account"),
        ],
    ),
    ("Quotation", &[("QuotationChargeRate", "Quotation")]),
];

impl Asked<'_> {
    /// Runs a command; the number of what it made.
    async fn run(&self, command: Command, request_id: &str) -> Result<Option<i64>, Fault> {
        match run(self.services, self.request, command, request_id).await? {
            Came::Done(_, made) => Ok(made),
            Came::Refused(code, why) => {
                let row = bank_api::error::row_or_internal(&code);
                if row.code == "already_exists" {
                    let object = plain(&self.call.object);
                    return Err(Fault::new(row.code, format!("{object} already exists")));
                }
                Err(Fault::refused(row.code, &why))
            }
        }
    }

    /// The rows that conditions select.
    async fn rows(&self, object: &str, key: Vec<Condition>) -> Result<Vec<String>, Fault> {
        query::rows(self.services, self.request, &of_object(object, key)).await
    }

    /// The one object that the conditions of the message select; `None` if there is none.
    async fn only(&self) -> Result<Option<Identity>, Fault> {
        let call = self.call;
        if call.conditions.is_empty() {
            return Err(missing("Where"));
        }
        let names = identity(&call.object);
        let own = |name: &&str| Wanted {
            name: (*name).to_owned(),
            ..Wanted::default()
        };
        let query = Call {
            wanted: names.iter().map(own).collect(),
            options: vec![("Limit".to_owned(), "2".to_owned())],
            ..of_object(&call.object, call.conditions.clone())
        };
        let (_, found) = find(self.services, self.request, &query).await?;
        let object = plain(&call.object);
        match found.rows.as_slice() {
            [] => Ok(None),
            [row] => {
                let text = |cell: &Cell| match cell {
                    Cell::Text(text) => text.clone(),
                    Cell::Number(number) => number.to_string(),
                    _ => String::new(),
                };
                let values = names.iter().copied().zip(row.iter().map(text));
                Ok(Some(Identity(values.collect())))
            }
            _ => {
                let message = format!("Where selects several {object}s; select one");
                Err(Fault::new("ambiguous", message))
            }
        }
    }

    /// The number of list entries that name an object.
    async fn associations(&self, key: &Identity) -> Result<usize, Fault> {
        let object = self.call.object.as_str();
        let own = ASSOCIATIONS.iter().find(|(name, _)| *name == object);
        let value = key.0.first().map_or("", |(_, value)| value.as_str());
        let mut count = 0;
        for (object, attribute) in own.map_or(&[][..], |(_, lists)| lists) {
            let query = of_object(object, vec![equal(attribute, value)]);
            count += find(self.services, self.request, &query)
                .await?
                .1
                .rows
                .len();
        }
        Ok(count)
    }

    /// A field that must be there.
    fn field(&self, name: &str) -> Result<&str, Fault> {
        let value = self.call.field(name).filter(|text| !text.is_empty());
        value.ok_or_else(|| missing(name))
    }

    /// A field that is true or false.
    fn flag(&self, name: &str) -> Result<Option<bool>, Fault> {
        self.call
            .field(name)
            .map(|text| flag(name, text))
            .transpose()
    }

    /// Refuses fields that a command has no place for.
    fn check_fields(&self, known: &[&str]) -> Result<(), Fault> {
        let mut names = self.call.fields.iter().map(|(name, _)| name);
        match names.find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => {
                let (name, object) = (plain(name), plain(&self.call.object));
                Err(unsupported(&format!("Set {name} of {object}")))
            }
        }
    }
}

/// A value that is true or false.
fn flag(name: &str, text: &str) -> Result<bool, Fault> {
    match text {
        "True" | "true" | "1" => Ok(true),
        "False" | "false" | "0" => Ok(false),
        _ => {
            let message = format!("Set {}: not True or False", plain(name));
            Err(Fault::new("bad_value", message))
        }
    }
}
