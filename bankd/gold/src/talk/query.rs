//! Queries (`gold-wire.md` 3.1, 3.7): the query language of the store over Gold's objects, in the view of the
//! peer's key.
//!
//! `question` turns the message into a query, `account` and `user` find the objects that options of Gold
//! limit it to, and `row` writes the rows.

mod account;
mod question;
mod row;
mod user;

use std::sync::Arc;

use bankd_ledger::access::right::Right;
use bankd_ledger::view::{self, View};
use bankd_query::{Found, LIMIT_MAX, Plan, Sight};
use bankd_services::Services;
use bankd_store as store;
use rusqlite::Connection;

use super::request::{Call, Condition, Wanted, plain, unsupported};
use super::{Content, Fault, demand};
use crate::{Value, Verified};

pub(super) use question::Asked;

/// Answers a query.
pub(super) async fn answer(
    services: &Arc<Services>,
    request: &Verified,
    call: &Call,
) -> Result<Content, Fault> {
    demand(request, Right::SeeLedger)?;
    if !call.fields.is_empty() {
        return Err(unsupported("a Query with Data or Set"));
    }
    let rows = rows(services, request, call).await?;
    Ok(Content {
        value: Value::Success,
        code: "000",
        message: None,
        count: Some(rows.len().to_string()),
        // Data is present even without rows: otherwise Maui repeats the query for every job.
        data: Some(rows.concat()),
    })
}

/// The rows of a query, each as an element.
pub(super) async fn rows(
    services: &Arc<Services>,
    request: &Verified,
    call: &Call,
) -> Result<Vec<String>, Fault> {
    let (asked, found) = find(services, request, call).await?;
    let bank = &services.writer.directory().bank;
    Ok(row::written(&asked, &found, bank))
}

/// What a query finds: the columns that it asks for, and the rows.
pub(super) async fn find(
    services: &Arc<Services>,
    request: &Verified,
    call: &Call,
) -> Result<(Asked, Found), Fault> {
    let directory = services.writer.directory();
    let now = services.writer.now();
    let peer = &request.peer;
    let view = View::of(&directory, &peer.scope, peer.user.clone(), now);
    let sources = Right::SeeSources.is_held(peer.roles);
    let mut sight = view.sight(sources, view::readers(peer.roles));
    let mut call = call.clone();
    narrow(services, request, &view, &mut call, &mut sight).await?;
    let asked = Asked::of(&call, &directory.records)?;
    let plan = Plan::of_gold(
        asked.question.clone(),
        directory.bank.precision,
        now,
        sight,
        &directory.records,
    );
    let plan = plan.map_err(|mistake| Fault::refused("unsupported", &mistake.what))?;
    let found = ask(services, move |connection| plan.run(connection)).await?;
    let found = found.map_err(|mistake| Fault::refused("unsupported", &mistake.what))?;
    if found.next.is_some() && call.option("Limit").is_none() {
        tracing::warn!(
            object = plain(&call.object),
            rows = LIMIT_MAX,
            "a query of the gateway finds too much"
        );
    }
    Ok((asked, found))
}

/// Limits a query to the objects that its options and conditions about related objects select.
async fn narrow(
    services: &Arc<Services>,
    request: &Verified,
    view: &View,
    call: &mut Call,
    sight: &mut Sight,
) -> Result<(), Fault> {
    let directory = view.directory();
    if call.object == "Account" {
        if let Some(usable) = account::related(view, call)? {
            let seen = sight.accounts.take();
            let keep = |id: &_| seen.as_ref().is_none_or(|seen| seen.contains(id));
            sight.accounts = Some(usable.into_iter().filter(keep).collect());
        }
    } else if call.object == "Project" {
        let users = take_related(call, &["User"])?;
        if !users.is_empty() {
            let is_of = |project: &&bank_core::model::Project| {
                users.iter().all(|(_, must, name)| {
                    let user = directory.user_named(name).filter(|u| view.sees_user(u));
                    let member = user.is_some_and(|u| directory.is_member(project.id, u.id));
                    member == *must
                })
            };
            let all = directory.projects().filter(|p| view.sees_project(p));
            sight.projects = Some(all.filter(is_of).map(|p| p.name.clone()).collect());
        }
    } else if call.object == "User"
        && let Some(names) = user::listed(services, request, view, call).await?
    {
        sight.users = Some(names);
    }
    Ok(())
}

/// Takes out the conditions about related objects: name, whether it must or must not be so, value.
fn take_related(
    call: &mut Call,
    names: &[&'static str],
) -> Result<Vec<(&'static str, bool, String)>, Fault> {
    let mut related = Vec::new();
    let mut kept = Vec::new();
    let (object, all) = (call.object.clone(), &call.conditions);
    let joins = all
        .iter()
        .any(|own| own.opens > 0 || own.closes > 0 || own.or);
    for condition in std::mem::take(&mut call.conditions) {
        let is_own = condition.object.as_ref().is_none_or(|own| *own == object);
        let is_own = is_own && condition.subject.is_none();
        let name = names.iter().find(|name| **name == condition.name);
        let Some(name) = name.filter(|_| is_own) else {
            kept.push(condition);
            continue;
        };
        let must = match condition.op.as_str() {
            "" | "EQ" => !condition.negates,
            "NE" => condition.negates,
            _ => return Err(unsupported(&format!("Where {name} with this op"))),
        };
        if joins {
            return Err(unsupported(&format!("Where {name} with Or or groups")));
        }
        related.push((*name, must, condition.value));
    }
    call.conditions = kept;
    Ok(related)
}

/// The options of a query that have no meaning here.
pub(super) fn left_out(call: &Call) -> Vec<String> {
    let known = |name: &str| question::OPTIONS.contains(&name) || account::OPTIONS.contains(&name);
    let names = call.options.iter().map(|(name, _)| name);
    names.filter(|name| !known(name)).cloned().collect()
}

/// Asks the ledger; boundaries that have passed are journalled first.
async fn ask<T, F>(services: &Arc<Services>, question: F) -> Result<T, Fault>
where
    T: Send + 'static,
    F: FnOnce(&Connection) -> Result<T, store::Error> + Send + 'static,
{
    services.writer.settle().await?;
    Ok(services.readers.run(question).await?)
}

/// A query of all usual attributes of the rows that these conditions select.
pub(super) fn of_object(object: &str, conditions: Vec<Condition>) -> Call {
    Call {
        action: "Query".to_owned(),
        object: object.to_owned(),
        conditions,
        ..Call::default()
    }
}

/// A condition of equality.
pub(super) fn equal(name: &str, value: impl Into<String>) -> Condition {
    Condition {
        name: name.to_owned(),
        value: value.into(),
        ..Condition::default()
    }
}
