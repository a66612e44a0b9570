//! Accounts and their lists.

use super::{Change, check_fallback, link};
use crate::amount::Amount;
use crate::command::SetAccount;
use crate::effects::{DirectoryRow, Outcome};
use crate::ids::{AccountId, UNBILLED, check_listed_name, check_name};
use crate::model::{Account, Constraint, Dimension, Figures, Phase};
use crate::refusal::Refusal;
use crate::view::{Context, View};

pub(super) fn add(set: &SetAccount, view: &View, ctx: &Context<'_>) -> Result<Change, Refusal> {
    check_name(&set.name)?;
    let id = number(&set.name, view, ctx)?;
    let account = Account {
        id,
        name: set.name.clone(),
        priority: 0,
        fallback: None,
        blocked: false,
        deleted: false,
        description: String::new(),
        constraints: Vec::new(),
        link: None,
        discrete: false,
    };
    change(account, set, &View::default(), ctx)
}

/// The number of a new account: that of a removed one of its name which never had an allocation,
/// else the next. One that had some comes back by `undelete` only (ledger.md 2.11).
pub(in crate::rules) fn number(
    name: &str,
    view: &View,
    ctx: &Context<'_>,
) -> Result<AccountId, Refusal> {
    let id = ctx.directory.number_for("account", name);
    let id = AccountId(id.ok_or_else(|| Refusal::already_exists("account", name))?);
    if view.of_account(id).next().is_some() {
        let name = name.to_owned();
        return Err(Refusal::WasRemoved { name });
    }
    Ok(id)
}

pub(super) fn set(set: &SetAccount, view: &View, ctx: &Context<'_>) -> Result<Change, Refusal> {
    change(own(&set.name, ctx)?.clone(), set, view, ctx)
}

pub(super) fn remove(name: &str, view: &View, ctx: &Context<'_>) -> Result<Change, Refusal> {
    let account = own(name, ctx)?;
    let count = i64::try_from(view.liens.len()).unwrap_or(i64::MAX);
    if count > 0 {
        return Err(Refusal::LiveLiens {
            account: name.to_owned(),
            count,
        });
    }
    let holding = |phase: Phase| phase != Phase::Expired;
    let all = view.of_account(account.id);
    let left: Vec<i128> = all
        .filter(|a| holding(a.phase) && !a.amount.is_zero())
        .map(|a| i128::from(a.amount.0))
        .collect();
    if !left.is_empty() {
        return Err(Refusal::BalanceNotZero {
            holder: format!("account {name:?}"),
            amount: Amount::clamped(left.iter().sum()),
        });
    }
    unused(account, ctx)?;
    if let Some(child) = ctx.directory.children_of(account.id).next() {
        return Err(Refusal::in_use(
            name,
            format!("account {} below it", child.name),
        ));
    }
    let rows = vec![DirectoryRow::Account(Account {
        deleted: true,
        link: None,
        ..account.clone()
    })];
    Ok(Change {
        rows,
        outcome: Outcome::Removed(name.to_owned()),
        detail: format!("account={name}"),
    })
}

/// Refuses to remove an account that others name as payer, that has the debts of a partner bank, or to which a cycle
/// deposits: its deposits would go to an account that nobody sees.
pub(in crate::rules) fn unused(account: &Account, ctx: &Context<'_>) -> Result<(), Refusal> {
    let cycle = || {
        let found = ctx.directory.cycles().find(|c| c.account == account.id)?;
        Some(format!("cycle {}", found.name))
    };
    let partner = || {
        let mut all = ctx.directory.records.all("partner");
        let found = all.find(|own| own.text("account") == account.name)?;
        Some(format!("partner bank {}", found.name()))
    };
    let used = ctx.directory.paid_by(account).or_else(cycle);
    match used.or_else(partner) {
        Some(by) => Err(Refusal::in_use(&account.name, by)),
        None => Ok(()),
    }
}

fn change(
    mut account: Account,
    set: &SetAccount,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Change, Refusal> {
    let mut detail = format!("account={}", set.name);
    if let Some(constraints) = &set.constraints {
        for row in constraints {
            check_constraint(row, ctx)?;
        }
        account.constraints.clone_from(constraints);
    }
    for (dimension, rows) in &set.lists {
        for row in rows {
            check_constraint(row, ctx)?;
        }
        replace_list(&mut account.constraints, dimension, rows);
    }
    if set.constraints.is_some() || !set.lists.is_empty() {
        detail = format!("{detail} lists={}", describe(&account.constraints));
    }
    if let Some(priority) = set.priority {
        account.priority = priority;
        detail = format!("{detail} priority={priority}");
    }
    if let Some(fallback) = &set.fallback {
        if let Some(value) = fallback {
            check_fallback(Some(&account), value, ctx)?;
        }
        account.fallback.clone_from(fallback);
        detail = format!(
            "{detail} fallback={}",
            fallback.as_deref().unwrap_or("none")
        );
    }
    if let Some(description) = &set.description {
        account.description.clone_from(description);
    }
    if let Some(change) = link::change(&mut account, set, ctx)? {
        detail = format!("{detail} {change}");
    }
    if let Some(discrete) = set.discrete {
        account.discrete = discrete;
        detail = format!("{detail} discrete={discrete}");
    }
    let figures = Figures::of(view.of_account(account.id));
    let rows = vec![DirectoryRow::Account(account.clone())];
    Ok(Change {
        rows,
        outcome: Outcome::Account(account, figures),
        detail,
    })
}

/// Replaces one list, in its place among the others.
fn replace_list(all: &mut Vec<Constraint>, dimension: &Dimension, rows: &[Constraint]) {
    let own = rows.iter().filter(|row| row.dimension == *dimension);
    all.retain(|row| row.dimension != *dimension);
    all.extend(own.cloned());
    all.sort_by(|a, b| a.dimension.cmp(&b.dimension));
}

/// A list names existing objects, for dimensions with stored objects. `MEMBERS` has a meaning for projects,
/// users and machines only, `subtree` for projects.
fn check_constraint(row: &Constraint, ctx: &Context<'_>) -> Result<(), Refusal> {
    let directory = ctx.directory;
    let value = row.value.as_str();
    if row.subtree
        && (row.dimension != Dimension::Project || crate::ids::LIST_WORDS.contains(&value))
    {
        return Err(Refusal::bad_value("list", "a project before /*"));
    }
    if value == "ANY" || (value == "MEMBERS" && row.dimension.is_ordinary()) {
        return Ok(());
    }
    let (kind, known) = match &row.dimension {
        Dimension::Project => ("project", directory.project_named(value).is_some()),
        Dimension::User => ("user", directory.user_named(value).is_some()),
        Dimension::Machine => ("machine", directory.machine_named(value).is_some()),
        Dimension::Attribute(name) => {
            check_name(name)?;
            return Ok(check_listed_name(value)?);
        }
        _ => return Ok(check_listed_name(value)?),
    };
    if known {
        Ok(())
    } else {
        Err(Refusal::not_found(kind, value))
    }
}

fn describe(constraints: &[Constraint]) -> String {
    let rows = constraints.iter().map(|c| {
        let name = match &c.dimension {
            Dimension::Project => "p",
            Dimension::User => "u",
            Dimension::Machine => "m",
            other => other.word(),
        };
        let sign = if c.allow { "" } else { "-" };
        let tree = if c.subtree { "/" } else { "" };
        format!("{name}:{sign}{}{tree}", c.value)
    });
    rows.collect::<Vec<_>>().join(",")
}

/// An account that people may change: the bank's own are not among them.
fn own<'a>(name: &str, ctx: &Context<'a>) -> Result<&'a Account, Refusal> {
    if name == UNBILLED {
        let by = "the bank itself".to_owned();
        return Err(Refusal::in_use(name, by));
    }
    ctx.directory
        .account_named(name)
        .ok_or_else(|| Refusal::not_found("account", name))
}
