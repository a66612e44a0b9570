//! Balances as the dashboard of Open `OnDemand` reads them: a number for each member of each project.

use std::collections::HashMap;

use bank_api::v1::{
    ForecastQuery, OnDemandBalance, OnDemandBalances, OnDemandConfig, OnDemandQuery,
};
use bank_core::model::Project;
use bank_core::refusal::Refusal;
use bank_core::time::MICROS;

use super::call::{Call, Handled, ok};
use super::forecast::{Outlook, days_down, outlooks};

/// Kind of a number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    Amount,
    Percent,
    Days,
}

/// `GET /api/v1/ondemand/balances.json`
pub(super) async fn balances(call: Call) -> Handled {
    let query: OnDemandQuery = call.query()?;
    let value = match query.value.as_deref() {
        None | Some("amount") => Value::Amount,
        Some("percent") => Value::Percent,
        Some("days") => Value::Days,
        Some(_) => {
            return Err(call.refused(&Refusal::bad_value("value", "amount, percent or days")));
        }
    };
    let (all, _) = outlooks(&call, &ForecastQuery::default()).await?;
    let directory = call.directory();
    let mut of_project: HashMap<&str, Vec<&Outlook>> = HashMap::new();
    for outlook in &all {
        let account = directory.account(outlook.id);
        if let Some(project) = account.and_then(|account| account.only_project()) {
            of_project.entry(project).or_default().push(outlook);
        }
    }
    let mut balances = Vec::new();
    for (name, outlooks) in of_project {
        let Some(project) = directory.project_named(name) else {
            continue;
        };
        if !call.view.sees_project(project) {
            continue;
        }
        balances.extend(each_member(&call, project, &outlooks, value));
    }
    balances.sort_by(|a, b| (&a.user, &a.project).cmp(&(&b.user, &b.project)));
    let unit = match value {
        Value::Amount => directory.bank.unit.as_str(),
        Value::Percent => "%",
        Value::Days => "days",
    };
    ok(&OnDemandBalances {
        version: 1,
        timestamp: call.now().0.div_euclid(MICROS),
        config: OnDemandConfig {
            unit: unit.to_owned(),
            project_type: "project".to_owned(),
        },
        balances,
    })
}

/// The number of accounts, cut to a whole one; `None` without a value, such as the days of an account
/// without charges.
fn number(call: &Call, outlooks: &[&Outlook], value: Value) -> Option<i64> {
    let available: i128 = outlooks.iter().map(|o| o.figures.available()).sum();
    let number = match value {
        Value::Amount => {
            let places = u32::from(call.directory().bank.precision.places());
            available.div_euclid(10_i128.checked_pow(places)?)
        }
        Value::Percent => {
            let capacity: i128 = outlooks.iter().map(|o| o.figures.capacity()).sum();
            if capacity <= 0 {
                return None;
            }
            available.checked_mul(100)?.div_euclid(capacity)
        }
        // The account that lasts longest is the one that is left.
        Value::Days => {
            let ends = outlooks.iter().map(|o| o.future.empty_at);
            let last = ends.collect::<Option<Vec<_>>>()?.into_iter().max()?;
            i128::from(days_down(last, call.now()))
        }
    };
    i64::try_from(number).ok()
}

/// A row for each active and visible member, over the accounts that the member may use. A plain member sees only
/// themselves.
fn each_member(
    call: &Call,
    project: &Project,
    outlooks: &[&Outlook],
    value: Value,
) -> Vec<OnDemandBalance> {
    let directory = call.directory();
    let leads = call.view.is_unlimited() || call.view.leads(project);
    let own = call.view.own_user().map(|user| user.id);
    let members = directory.members_of(project.id).into_iter();
    let seen = members.filter(|member| member.active && (leads || own == Some(member.user)));
    let users = seen.filter_map(|member| directory.user(member.user));
    let rows = users.filter(|user| user.active).filter_map(|user| {
        let usable = |outlook: &&&Outlook| {
            let account = directory.account(outlook.id);
            account.is_some_and(|a| call.view.usable(a, Some(project), Some(user), None))
        };
        let own: Vec<&Outlook> = outlooks.iter().filter(usable).copied().collect();
        if own.is_empty() {
            return None;
        }
        Some(OnDemandBalance {
            user: user.name.clone(),
            project: project.name.clone(),
            value: number(call, &own, value)?,
        })
    });
    rows.collect()
}
