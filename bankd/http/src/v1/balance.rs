//! Balances: one row for each account, in the order of the projects' tree.

use bank_api::v1::{Balance, BalanceQuery, List};
use bank_core::directory::Directory;
use bank_core::ids::{AccountId, ProjectId, UNBILLED};
use bank_core::model::{Account, Project};
use bank_core::time::Timestamp;
use bank_core_figures::forecast::{self as future, Forecast};
use bankd_store as store;
use bankd_store::read::burn::{self, Burn};
use bankd_store::read::money::{self, Figures};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};

use super::call::{Call, Handled, ok};
use super::natural::Natural;
use super::pages::Turn;
use super::view::Lookup as _;
use super::view::View;
use super::{account, explain, forecast, historical, json};
use crate::error::Failure;

/// `GET /api/v1/balances`
pub(super) async fn list(call: Call) -> Handled {
    let query: BalanceQuery = call.query()?;
    let turn = Turn::of(&call, query.limit, query.after.clone())?;
    let now = call.now();
    let then = historical::then(&call, query.at.as_deref(), query.recorded).await?;
    let view = historical::view(then.as_ref(), &call);
    let places = match chosen(view, &query) {
        // A named object that was created later had no funds at that time.
        Err(_) if then.is_some() => chosen(&call.view, &query)?,
        places => places?,
    };
    let page = turn.behind(places, |place| place.account.id.0);
    let (places, next) = page.map_err(|refusal| call.refused(&refusal))?;
    let ids = places.iter().map(|place| place.account.id).collect();
    let figures = account::figures_then(&call, ids, then.as_ref()).await?;
    let at = then.as_ref().map_or(now, |then| then.at);
    // The rate of charges is computed for the present only.
    let (burn, futures) = if query.burn && then.is_none() {
        let ids: BTreeSet<AccountId> = places.iter().map(|place| place.account.id).collect();
        call.ask(move |connection| lasting(connection, &ids, now))
            .await?
    } else {
        Default::default()
    };
    let means = means(view.directory(), at);
    let rows = places.iter().zip(&figures);
    let items = rows.map(|(place, figures)| {
        let mut row = row(place, figures, view.directory(), at);
        let (id, bank) = (place.account.id, &call.directory().bank);
        row.burn_per_day = burn.per_day(id).map(|rate| json::sum(rate, bank));
        let future = futures.get(&id);
        row.days_to_spend =
            future.and_then(|future| forecast::days_to_spend(future, figures.available(), at));
        let future = future.filter(|_| burn.per_day(id).is_some());
        // An amount that expires before it is spent is reported as unused.
        let spent = future.filter(|future| future.is_spent);
        row.empty_at = spent.and_then(|f| f.empty_at).map(json::time);
        if let Some(end) = future.and_then(Forecast::first_unused) {
            row.unused_at = Some(json::time(end.end));
            row.unused = Some(json::sum(end.unused, bank));
        }
        row.unit_means.clone_from(&means);
        row
    });
    ok(&List {
        items: items.collect(),
        next,
    })
}

/// Rates of charges of accounts and their forecasts, as in the report.
fn lasting(
    connection: &Connection,
    accounts: &BTreeSet<AccountId>,
    now: Timestamp,
) -> Result<(Burn, BTreeMap<AccountId, Forecast>), store::Error> {
    let burn = burn::burn(connection, Some(accounts), now)?;
    let mut futures = BTreeMap::new();
    for id in accounts {
        futures.insert(*id, future_of(connection, *id, &burn, now)?);
    }
    Ok((burn, futures))
}

/// The forecast of an account at its rate of charges.
pub(super) fn future_of(
    connection: &Connection,
    id: AccountId,
    burn: &Burn,
    now: Timestamp,
) -> Result<Forecast, store::Error> {
    let allocations = money::allocations_of(connection, id)?;
    let credit = Figures::of(&allocations, now).credit_limit;
    Ok(future::forecast(&allocations, burn.speed(id), credit, now))
}

/// The unit's meaning at an instant, if one processor costs one unit per second, minute, hour or day on
/// every machine then.
fn means(directory: &Directory, at: Timestamp) -> Option<String> {
    let mut rates = directory.rates.iter();
    let word = rates.find_map(|rate| explain::time_unit(rate).filter(|_| rate.applies(at, None)));
    word.map(str::to_owned)
        .filter(|word| *word != directory.bank.unit)
}

/// An account with its place in the list.
struct Place<'a> {
    account: &'a Account,
    project: Option<&'a Project>,
    depth: u32,
}

/// The accounts that a query asks for and the caller sees.
fn chosen<'a>(view: &'a View, query: &BalanceQuery) -> Result<Vec<Place<'a>>, Failure> {
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
        .map(|n| view.account(n))
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
    // Of all accounts, only those around a project can be its own.
    let around: Option<BTreeSet<AccountId>> = tree.as_ref().map(|tree| {
        let all = tree
            .iter()
            .map(|project| directory.accounts_around(project.id));
        all.flatten().collect()
    });
    let accounts = directory.accounts();
    let accounts = accounts.filter(|account| {
        let is_near = around
            .as_ref()
            .is_none_or(|around| around.contains(&account.id));
        is_near
            && match only {
                Some(only) => account.id == only.id && usable(account),
                None => account.name != UNBILLED && view.sees_account(account) && usable(account),
            }
    });
    let mut places = in_order(view, accounts.collect());
    if let Some(text) = &query.search {
        let text = text.to_lowercase();
        places.retain(|place| {
            let project = place.project.map(|project| project.name.as_str());
            let mut names = project.into_iter().chain([place.account.name.as_str()]);
            names.any(|name| name.to_lowercase().contains(&text))
        });
    }
    Ok(places)
}

/// A sub-project below its parent, accounts without a project last.
fn in_order<'a>(view: &'a View, accounts: Vec<&'a Account>) -> Vec<Place<'a>> {
    let directory = view.directory();
    let place = |account: &'a Account| {
        let project = account
            .only_project()
            .and_then(|name| directory.project_named(name));
        Place {
            account,
            project: project.filter(|p| view.sees_project(p)),
            depth: 0,
        }
    };
    let mut places: Vec<Place<'a>> = accounts.into_iter().map(place).collect();
    places.sort_by_cached_key(|place| {
        let path = place.project.map(|project| path(directory, project));
        (path.is_none(), path, Natural(place.account.name.clone()))
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
fn path(directory: &Directory, project: &Project) -> Vec<Natural> {
    let line = directory.lineage(project.id);
    line.iter().rev().map(|p| Natural(p.name.clone())).collect()
}

fn row(place: &Place<'_>, figures: &Figures, directory: &Directory, now: Timestamp) -> Balance {
    let bank = &directory.bank;
    let (allocated, capacity) = (figures.allocated(), figures.capacity());
    let used = figures.used_hundredths();
    let parent = place.project.and_then(|p| p.parent);
    // The name of the parent appears only if the parent has a row above.
    let parent = parent.filter(|_| place.depth > 0);
    Balance {
        account_id: place.account.id.0,
        account: place.account.name.clone(),
        project: place.project.map(|p| p.name.clone()),
        parent: parent
            .and_then(|id| directory.project(id))
            .map(|p| p.name.clone()),
        depth: place.depth,
        deposited: json::sum(figures.deposited, bank),
        used: json::sum(figures.used, bank),
        amount: json::sum(figures.amount, bank),
        held: json::sum(figures.held, bank),
        balance: json::sum(figures.balance(), bank),
        credit_limit: json::sum(figures.credit_limit, bank),
        available: json::sum(figures.available(), bank),
        held_future: json::sum(figures.held_future, bank),
        held_expired: json::sum(figures.held_expired, bank),
        future: json::sum(figures.future, bank),
        shadow_used: json::sum(figures.shadow_used, bank),
        shadow_held: json::sum(figures.shadow_held, bank),
        until: figures.until.map(json::time),
        blocked: place.account.blocked,
        allocated: json::sum(allocated, bank),
        capacity: json::sum(capacity, bank),
        used_percent: used.map(money::hundredths),
        remaining_percent: used.map(|used| money::hundredths(10_000 - used)),
        burn_per_day: None,
        empty_at: None,
        days_to_spend: None,
        unused_at: None,
        unused: None,
        unit_means: None,
        unit: bank.unit.clone(),
        at: json::time(now),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::directory;
    use super::*;

    fn listed(user: Option<&str>, query: &BalanceQuery) -> Result<Vec<String>, String> {
        let view = View::of_user(directory(), user);
        let places = chosen(&view, query).map_err(|f| f.problem().code.clone())?;
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

    /// A former member sees none of the earlier state.
    #[test]
    fn the_past_shows_what_the_caller_may_see_today() {
        let today = directory();
        let mut then = directory();
        let (chem, bob) = (
            today.project_named("chem").unwrap().id,
            today.user_named("bob").unwrap().id,
        );
        std::sync::Arc::make_mut(&mut then).put_member(bank_core::model::Member {
            project: chem,
            user: bob,
            active: true,
            role: bank_core::model::MemberRole::Member,
        });
        let view = View::of_user(today, Some("bob")).then(then);
        let all = BalanceQuery::default();
        let places = chosen(&view, &all).ok().unwrap();
        let names: Vec<&str> = places.iter().map(|p| p.account.name.as_str()).collect();
        assert_eq!(names, ["bio", "standby"]);
        let of_chem = BalanceQuery {
            project: Some("chem".into()),
            ..all
        };
        assert!(chosen(&view, &of_chem).is_err());
    }
}
