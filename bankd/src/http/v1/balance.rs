//! Balances: one row for each account, in the order of the projects' tree.

use bank_api::v1::{Balance, BalanceQuery, List};
use bank_core::directory::Directory;
use bank_core::ids::{AccountId, ProjectId, UNBILLED};
use bank_core::model::{Account, Project};
use bank_core::refusal::Refusal;
use bank_core::time::Timestamp;
use std::collections::BTreeMap;

use super::call::{Call, Handled, ok};
use super::view::{View, only_project};
use super::{account, explain, shape};
use crate::http::error::Failure;
use crate::store::read::burn::{self, Burn};
use crate::store::read::money::Figures;
use crate::store::read::past;

/// `GET /api/v1/balances`
pub(super) async fn list(call: Call) -> Handled {
    let query: BalanceQuery = call.query()?;
    let now = call.now();
    let then = query.at.as_deref().map(|text| past(text, now)).transpose();
    let then = then.map_err(|r| call.refused(&r))?;
    let were = match then {
        None => None,
        Some(at) => Some(call.ask(move |c| past::accounts(c, at)).await?),
    };
    let places = chosen(&call.view, &query, were.as_ref())?;
    let ids = places.iter().map(|place| place.account.id).collect();
    let figures = match then {
        None => account::figures(&call, ids).await?,
        Some(at) => {
            call.ask(move |connection| past::figures(connection, &ids, at))
                .await?
        }
    };
    let at = then.unwrap_or(now);
    // How fast it is spent is said of today only.
    let burn = if query.burn && then.is_none() {
        let question = move |connection: &_| burn::burn(connection, now);
        call.ask(question).await?
    } else {
        Burn::default()
    };
    let means = means(call.directory(), now);
    let rows = places.iter().zip(&figures);
    let items = rows.map(|(place, figures)| {
        let mut row = row(place, figures, call.directory(), at);
        let (id, bank) = (place.account.id, &call.directory().bank);
        row.burn_per_day = burn.per_day(id).map(|rate| shape::sum(rate, bank));
        let empty = burn.empty_at(id, figures.available(), now);
        row.empty_at = empty.map(shape::time);
        row.unit_means.clone_from(&means);
        row
    });
    ok(&List::whole(items.collect()))
}

/// An instant that has passed: what the journal says of it is all there is to say.
fn past(text: &str, now: Timestamp) -> Result<Timestamp, Refusal> {
    let at = shape::read_time(text, "at")?;
    if at <= now {
        return Ok(at);
    }
    Err(Refusal::BadValue {
        field: "at",
        expected: "a time that has passed",
    })
}

/// What one unit is where one processor costs one for each unit of time on every machine.
fn means(directory: &Directory, now: Timestamp) -> Option<String> {
    let mut rates = directory.rates.iter();
    let word = rates.find_map(|rate| explain::time_unit(rate).filter(|_| rate.applies(now, None)));
    word.map(str::to_owned)
        .filter(|word| *word != directory.bank.unit)
}

/// An account with its place in the list.
struct Place<'a> {
    account: &'a Account,
    project: Option<&'a Project>,
    depth: u32,
}

/// The accounts that a query asks for and the caller sees: those of today, or those that there were.
fn chosen<'a>(
    view: &'a View,
    query: &BalanceQuery,
    were: Option<&BTreeMap<AccountId, bool>>,
) -> Result<Vec<Place<'a>>, Failure> {
    let project = query
        .project
        .as_deref()
        .map(|n| view.project(n))
        .transpose()?;
    let user = query.user.as_deref().map(|n| view.user(n)).transpose()?;
    let machine = query
        .machine
        .as_deref()
        .map(|n| view.machine(n))
        .transpose()?;
    let only = query
        .account
        .as_deref()
        .map(|n| match were {
            None => view.account(n),
            Some(_) => view.account_ever(n),
        })
        .transpose()?;
    let directory = view.directory();
    let tree: Option<Vec<&Project>> = project.map(|top| {
        let below = |p: &&Project| directory.lineage(p.id).iter().any(|a| a.id == top.id);
        directory.projects().filter(below).collect()
    });
    let usable = |account: &Account| match &tree {
        None => view.usable(account, None, user, machine),
        Some(tree) => tree
            .iter()
            .any(|project| view.usable(account, Some(project), user, machine)),
    };
    // One that is named and came later had nothing then.
    let named = project.is_some() || only.is_some();
    let there = |account: &&Account| match were {
        Some(were) if account.deleted || !named => were.get(&account.id).copied().unwrap_or(true),
        _ => !account.deleted,
    };
    let accounts = directory.all_accounts().filter(there);
    let accounts = accounts.filter(|account| match only {
        Some(only) => account.id == only.id && usable(account),
        None => account.name != UNBILLED && view.saw_account(account) && usable(account),
    });
    Ok(in_order(view, accounts.collect()))
}

/// A sub-project below its parent, accounts without a project last.
fn in_order<'a>(view: &'a View, accounts: Vec<&'a Account>) -> Vec<Place<'a>> {
    let directory = view.directory();
    let place = |account: &'a Account| {
        let project = only_project(account).and_then(|name| directory.project_named(name));
        Place {
            account,
            project: project.filter(|p| view.sees_project(p)),
            depth: 0,
        }
    };
    let mut places: Vec<Place<'a>> = accounts.into_iter().map(place).collect();
    places.sort_by_cached_key(|place| {
        let path = place.project.map(|project| path(directory, project));
        (path.is_none(), path, place.account.name.clone())
    });
    let listed: Vec<ProjectId> = places.iter().filter_map(|p| Some(p.project?.id)).collect();
    for place in &mut places {
        let above = place
            .project
            .map(|p| directory.lineage(p.id))
            .unwrap_or_default();
        let shown = above.iter().skip(1).filter(|p| listed.contains(&p.id));
        place.depth = u32::try_from(shown.count()).unwrap_or(u32::MAX);
    }
    places
}

/// The names from the top down to a project.
fn path(directory: &Directory, project: &Project) -> Vec<String> {
    let line = directory.lineage(project.id);
    line.iter().rev().map(|p| p.name.clone()).collect()
}

fn row(place: &Place<'_>, figures: &Figures, directory: &Directory, now: Timestamp) -> Balance {
    let bank = &directory.bank;
    let (allocated, capacity) = (figures.allocated(), figures.capacity());
    let used = shape::percent(figures.used, allocated);
    let parent = place.project.and_then(|p| p.parent);
    // The parent's name is told where its own row is above.
    let parent = parent.filter(|_| place.depth > 0);
    Balance {
        account_id: place.account.id.0,
        account: place.account.name.clone(),
        project: place.project.map(|p| p.name.clone()),
        parent: parent
            .and_then(|id| directory.project(id))
            .map(|p| p.name.clone()),
        depth: place.depth,
        deposited: shape::sum(figures.deposited, bank),
        used: shape::sum(figures.used, bank),
        amount: shape::sum(figures.amount, bank),
        held: shape::sum(figures.held, bank),
        balance: shape::sum(figures.balance(), bank),
        credit_limit: shape::sum(figures.credit_limit, bank),
        available: shape::sum(figures.available(), bank),
        held_future: shape::sum(figures.held_future, bank),
        held_expired: shape::sum(figures.held_expired, bank),
        future: shape::sum(figures.future, bank),
        shadow_used: shape::sum(figures.shadow_used, bank),
        shadow_held: shape::sum(figures.shadow_held, bank),
        until: figures.until.map(shape::time),
        blocked: place.account.blocked,
        allocated: shape::sum(allocated, bank),
        capacity: shape::sum(capacity, bank),
        used_percent: used.map(shape::hundredths),
        remaining_percent: used.map(|used| shape::hundredths(10_000 - used)),
        burn_per_day: None,
        empty_at: None,
        unit_means: None,
        unit: bank.unit.clone(),
        at: shape::time(now),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::directory;
    use super::*;

    #[test]
    fn percents_have_two_decimals() {
        for (part, whole, want) in [
            (647_500, 1_000_000, Some("64.75")),
            (-5, 1000, Some("-0.50")),
            (1, 3, Some("33.33")),
            (5, 0, None),
        ] {
            assert_eq!(
                shape::percent(part, whole)
                    .map(shape::hundredths)
                    .as_deref(),
                want
            );
        }
    }

    fn listed(user: Option<&str>, query: &BalanceQuery) -> Result<Vec<String>, String> {
        let view = View::of_user(directory(), user);
        let places = chosen(&view, query, None).map_err(|f| f.problem().code.clone())?;
        let line = |p: &Place<'_>| format!("{}{}", "-".repeat(p.depth as usize), p.account.name);
        Ok(places.iter().map(line).collect())
    }

    #[test]
    fn a_list_shows_what_the_caller_may_see_in_the_order_of_the_tree() {
        let all = BalanceQuery::default();
        let project = |name: &str| BalanceQuery {
            project: Some(name.into()),
            ..BalanceQuery::default()
        };
        for (user, query, expected) in [
            (
                None,
                all.clone(),
                vec!["bio", "chem", "-chem/gpu", "standby"],
            ),
            (None, project("chem"), vec!["chem", "-chem/gpu", "standby"]),
            (None, project("chem/gpu"), vec!["chem/gpu", "standby"]),
            (
                Some("amy"),
                all.clone(),
                vec!["chem", "-chem/gpu", "standby"],
            ),
            (Some("bob"), all.clone(), vec!["bio", "standby"]),
            (Some("eve"), all.clone(), vec![]),
        ] {
            assert_eq!(
                listed(user, &query).unwrap(),
                expected,
                "{user:?} {query:?}"
            );
        }
        assert_eq!(
            listed(Some("bob"), &project("chem")).unwrap_err(),
            "not_found"
        );
        assert_eq!(
            listed(Some("bob"), &project("nochem")).unwrap_err(),
            "not_found"
        );
    }
}
