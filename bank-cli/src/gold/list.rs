//! What Gold's commands list: balances, projects, accounts, allocations, reservations.

use bank_api::v1::{
    Account, Allocation, AllocationQuery, Balance, BalanceQuery, Constraint, Lien, LienQuery, List,
    Project,
};
use bank_cli_picture::figure;

use super::{
    options::Given,
    sheet::{self, Cell, money, one, text},
};
use crate::{context::Context, fail::Failure, when};

/// `gbalance`; with `own` the rows of that user, as `mybalance` has them.
pub(super) fn balance(
    context: &Context,
    given: &Given,
    own: Option<String>,
) -> Result<String, Failure> {
    let account = given.owned("account");
    let query = BalanceQuery {
        project: given.owned("project"),
        user: own.or_else(|| given.owned("user")),
        machine: given.owned("machine"),
        account: account.or_else(|| given.all("words").first().map(ToString::to_string)),
        ..BalanceQuery::default()
    };
    let list: List<Balance> = context.all(&["balances"], &query)?;
    let rows = list.items;
    let single = |name, amounts: Vec<&str>| {
        let sum = figure::sum(amounts).unwrap_or_else(|| "0".to_owned());
        sheet::print(given, &[money(name)], &[vec![one(sum)]])
    };
    match (given.flag("total"), given.flag("available")) {
        (true, true) => {
            let amounts = rows.iter().map(|row| row.available.as_str());
            return single("Available", amounts.collect());
        }
        (true, false) => {
            let amounts = rows.iter().map(|row| row.balance.as_str());
            return single("Balance", amounts.collect());
        }
        (false, true) => {
            let columns = [text("Id"), text("Name"), money("Available")];
            let cells = |row: &Balance| {
                let id = one(row.account_id.to_string());
                vec![id, one(&row.account), one(&row.available)]
            };
            let cells: Vec<_> = rows.iter().map(cells).collect();
            return sheet::print(given, &columns, &cells);
        }
        (false, false) => {}
    }
    let columns = [
        text("Id"),
        text("Name"),
        money("Amount"),
        money("Reserved"),
        money("Balance"),
        money("CreditLimit"),
        money("Available"),
    ];
    let cells = |row: &Balance| {
        let amounts = [&row.amount, &row.held, &row.balance];
        let mut cells = vec![one(row.account_id.to_string()), one(&row.account)];
        cells.extend(amounts.map(one));
        cells.extend([&row.credit_limit, &row.available].map(one));
        cells
    };
    let cells: Vec<_> = rows.iter().map(cells).collect();
    sheet::print(given, &columns, &cells)
}

/// `glsproject`.
pub(super) fn projects(context: &Context, given: &Given) -> Result<String, Failure> {
    let named = named(given, "project");
    let projects = match &named {
        Some(name) => vec![context.get(&["projects", name], &())?],
        None => context.all::<Project>(&["projects"], &())?.items,
    };
    let columns = [
        text("Name"),
        text("Active"),
        text("Users"),
        text("Machines"),
        text("Description"),
    ];
    let cells = |project: &Project| {
        let users = project.members.iter().filter(|member| member.active);
        vec![
            one(&project.name),
            one(truth(project.active)),
            users.map(|member| member.user.clone()).collect(),
            project.machines.clone(),
            one(project.description.clone().unwrap_or_default()),
        ]
    };
    let selected = projects.iter().filter(|p| is_selected(given, p.active));
    let cells: Vec<_> = selected.map(cells).collect();
    sheet::print(given, &columns, &cells)
}

/// `glsaccount`.
pub(super) fn accounts(context: &Context, given: &Given) -> Result<String, Failure> {
    let named = named(given, "account");
    // The bank's own account is not one of the site's.
    let is_named = named.is_some();
    let accounts = match named {
        Some(name) => vec![context.get(&["accounts", &name], &())?],
        None => context.all::<Account>(&["accounts"], &())?.items,
    };
    let query = BalanceQuery {
        project: given.owned("project"),
        user: given.owned("user"),
        machine: given.owned("machine"),
        ..BalanceQuery::default()
    };
    let usable = if query == BalanceQuery::default() {
        None
    } else {
        let rows: List<Balance> = context.all(&["balances"], &query)?;
        Some(rows.items)
    };
    let columns = [
        text("Id"),
        text("Name"),
        money("Amount"),
        text("Projects"),
        text("Users"),
        text("Machines"),
        text("Description"),
    ];
    let cells = |account: &Account| {
        vec![
            one(account.id.to_string()),
            one(&account.name),
            one(&account.amount),
            listed(&account.projects),
            listed(&account.users),
            listed(&account.machines),
            one(account.description.clone().unwrap_or_default()),
        ]
    };
    let is_usable = |account: &&Account| {
        let rows = usable.as_ref();
        rows.is_none_or(|rows| rows.iter().any(|row| row.account_id == account.id))
    };
    let mut selected: Vec<&Account> = accounts
        .iter()
        .filter(is_usable)
        .filter(|account| is_named || !account.name.starts_with('#'))
        .filter(|account| is_selected(given, !figure::is_zero(&account.amount)))
        .collect();
    selected.sort_by_key(|account| account.id);
    let cells: Vec<_> = selected.into_iter().map(cells).collect();
    sheet::print(given, &columns, &cells)
}

/// `glsalloc`.
pub(super) fn allocations(context: &Context, given: &Given) -> Result<String, Failure> {
    let accounts = context.all::<Account>(&["accounts"], &())?.items;
    let query = AllocationQuery {
        account: given.owned("account"),
        ..AllocationQuery::default()
    };
    let allocations = match named(given, "allocation") {
        Some(id) => vec![context.get(&["allocations", &id], &())?],
        None => context.all::<Allocation>(&["allocations"], &query)?.items,
    };
    let project: Option<Project> = match given.text("project") {
        Some(name) => Some(context.get(&["projects", name], &())?),
        None => None,
    };
    let columns = [
        text("Id"),
        text("Account"),
        text("Active"),
        text("StartTime"),
        text("EndTime"),
        money("Amount"),
        money("CreditLimit"),
        money("Deposited"),
    ];
    let id = |name: &String| {
        let account = accounts.iter().find(|account| account.name == *name);
        account.map_or_else(|| name.clone(), |account| account.id.to_string())
    };
    let cells = |allocation: &Allocation| {
        vec![
            one(allocation.id.to_string()),
            one(id(&allocation.account)),
            one(truth(allocation.state == "active")),
            time(context, allocation.start.as_ref(), "-infinity"),
            time(context, allocation.until.as_ref(), "infinity"),
            one(&allocation.amount),
            one(&allocation.credit_limit),
            one(&allocation.deposited),
        ]
    };
    let is_named = given.text("account").is_some() || named(given, "allocation").is_some();
    let selected = allocations.iter().filter(|allocation| {
        let of_project = project.as_ref();
        (is_named || !allocation.account.starts_with('#'))
            && is_selected(given, allocation.state == "active")
            && of_project.is_none_or(|project| project.accounts.contains(&allocation.account))
    });
    let cells: Vec<_> = selected.map(cells).collect();
    sheet::print(given, &columns, &cells)
}

/// `glsres`.
pub(super) fn reservations(context: &Context, given: &Given) -> Result<String, Failure> {
    // What has ended is no reservation any more; one whose time is over stays, inactive.
    let ended = given.flag("inactive") || named(given, "reservation").is_some();
    let state = if ended { "all" } else { "open" };
    let query = LienQuery {
        project: given.owned("project"),
        user: given.owned("user"),
        machine: given.owned("machine"),
        state: Some(state.to_owned()),
        ..LienQuery::default()
    };
    let list: List<Lien> = context.all(&["liens"], &query)?;
    let columns = [
        text("Id"),
        text("Name"),
        money("Amount"),
        text("StartTime"),
        text("EndTime"),
        text("Job"),
        text("User"),
        text("Project"),
        text("Machine"),
        text("Accounts"),
        text("Description"),
    ];
    let cells = |lien: &Lien| {
        vec![
            one(lien.id.to_string()),
            one(&lien.job),
            one(&lien.amount),
            time(context, lien.start.as_ref(), "-infinity"),
            time(context, lien.end.as_ref(), "infinity"),
            one(&lien.job),
            one(lien.user.clone().unwrap_or_default()),
            one(lien.project.clone().unwrap_or_default()),
            one(&lien.machine),
            lien.accounts.clone(),
            one(""),
        ]
    };
    let number = named(given, "reservation");
    let is_requested = |lien: &&Lien| {
        number.as_ref().is_none_or(|id| *id == lien.id.to_string())
            && given.text("jobId").is_none_or(|job| job == lien.job)
            && ["open", "expired"].contains(&lien.state.as_str())
            && is_selected(given, lien.state == "open")
    };
    let mut selected: Vec<&Lien> = list.items.iter().filter(is_requested).collect();
    if let (true, Some(id)) = (selected.is_empty(), &number) {
        return Err(Failure::of(
            bank_api::exit::bank::NOT_FOUND,
            format!("no reservation {id}"),
        ));
    }
    selected.sort_by_key(|lien| lien.id);
    let cells: Vec<_> = selected.into_iter().map(cells).collect();
    sheet::print(given, &columns, &cells)
}

/// What is listed alone: by its letter, else without one.
fn named(given: &Given, word: &str) -> Option<String> {
    let alone = || given.all("words").first().map(ToString::to_string);
    given.owned(word).or_else(alone)
}

/// Whether `-A` and `-I` leave it in.
fn is_selected(given: &Given, active: bool) -> bool {
    (active || !given.flag("active")) && (!active || !given.flag("inactive"))
}

fn truth(yes: bool) -> &'static str {
    if yes { "True" } else { "False" }
}

fn time(context: &Context, time: Option<&String>, without: &str) -> Cell {
    let shown = time.map(|time| when::date(time, context.zone));
    one(shown.unwrap_or_else(|| without.to_owned()))
}

/// An account's list as Gold writes it: `MEMBERS`, `-dave`; `ANY` where there is none.
fn listed(list: &[Constraint]) -> Cell {
    if list.is_empty() {
        return one("ANY");
    }
    let write = |entry: &Constraint| {
        let deny = if entry.allow { "" } else { "-" };
        format!("{deny}{}", entry.value)
    };
    list.iter().map(write).collect()
}
