//! `bank balance`: what projects have, hold and may still spend (first sample of ux.md 2.3).

use bank_api::v1::{Balance, BalanceQuery, List, PastQuery};
use bank_picture::figure;

use crate::{
    cli::BalanceArgs,
    context::Context,
    fail::Failure,
    out::{Column, Form, Kind, Row, Sheet, column, row},
    when,
};

/// A row is marked from so many percent used, or so many days before its end.
const ATTENTION_PERCENT: i128 = 80;
const ATTENTION_DAYS: i64 = 30;

pub(super) fn run(context: &Context, args: &BalanceArgs) -> Result<String, Failure> {
    let list = List::whole(read(context, args)?);
    let sheet = sheet(&list.items, args, &context.form, context.now_us);
    context.form.list(&list, &sheet)
}

/// The rows, without those of sub-projects unless the whole tree is wanted.
fn read(context: &Context, args: &BalanceArgs) -> Result<Vec<Balance>, Failure> {
    let PastQuery { at, recorded } = context.past(&args.then)?;
    let query = |project: Option<&String>| BalanceQuery {
        project: project.cloned(),
        user: args.user.clone(),
        machine: args.machine.clone(),
        account: args.account.clone(),
        search: args.search.clone(),
        at: at.clone(),
        recorded,
        burn: !args.available && !args.mam,
        ..BalanceQuery::default()
    };
    let ask = |query: BalanceQuery| -> Result<Vec<Balance>, Failure> {
        let list: List<Balance> = context.all(&["balances"], &query)?;
        Ok(list.items)
    };
    let projects: Vec<&String> = args.projects.iter().chain(&args.named).collect();
    if projects.is_empty() {
        return ask(query(None));
    }
    let mut rows: Vec<Balance> = Vec::new();
    for project in projects {
        let mut found = match ask(query(Some(project))) {
            // What is no project may be an account; where it is neither, the first answer stands.
            Err(failure) if args.account.is_none() && failure.exit == 4 => {
                let account = Some(project.clone());
                ask(BalanceQuery {
                    account,
                    ..query(None)
                })
                .map_err(|_| failure)?
            }
            other => other?,
        };
        if !args.tree {
            found.retain(|row| !is_below(row, project));
        }
        let new = |row: &Balance| {
            !rows
                .iter()
                .any(|old| old.account_id == row.account_id && old.project == row.project)
        };
        let new: Vec<_> = found.into_iter().filter(new).collect();
        rows.extend(new);
    }
    Ok(rows)
}

/// True for a row of another project that is listed below one.
fn is_below(row: &Balance, project: &str) -> bool {
    row.depth > 0 && row.project.as_deref().is_some_and(|name| name != project)
}

fn sheet(balances: &[Balance], args: &BalanceArgs, form: &Form, now_us: i64) -> Sheet {
    let at = balances
        .first()
        .and_then(|balance| when::read(&balance.at))
        .unwrap_or(now_us);
    let mut rows: Vec<Row> = balances
        .iter()
        .map(|balance| flat(balance, at, form))
        .collect();
    if args.total && !balances.is_empty() {
        rows.push(total(balances, args.tree));
    }
    let unit = balances.first().map_or_else(String::new, unit);
    let nested = balances.iter().any(|balance| balance.depth > 0);
    let remark = format!(
        "Held = running jobs.{} {}",
        if nested {
            " Rows without sub-projects."
        } else {
            ""
        },
        form.zone.show(at).format("%Y-%m-%d %H:%M %z"),
    );
    let attention = balances
        .iter()
        .filter_map(|balance| attention(balance, at, form))
        .collect();
    Sheet {
        columns: columns(balances, args),
        rows,
        unit,
        remark,
        attention: if args.available || args.mam {
            Vec::new()
        } else {
            attention
        },
        empty: "no balances".into(),
    }
}

fn columns(balances: &[Balance], args: &BalanceArgs) -> Vec<Column> {
    let some = |field: fn(&Balance) -> &String| {
        balances
            .iter()
            .any(|balance| !figure::is_zero(field(balance)))
    };
    let several = balances
        .iter()
        .any(|b| b.project.as_ref().is_some_and(|p| *p != b.account));
    if args.available {
        return vec![
            column("project", "Project", Kind::Tree),
            column("available", "Available", Kind::Amount),
        ];
    }
    if args.mam {
        return vec![
            column("account_id", "Id", Kind::Number),
            column("account", "Name", Kind::Text),
            column("amount", "Balance", Kind::Amount),
            column("held", "Reserved", Kind::Amount),
            column("balance", "Effective", Kind::Amount),
            column("credit_limit", "CreditLimit", Kind::Amount),
            column("available", "Available", Kind::Amount),
        ];
    }
    let mut columns = vec![
        column("project", "Project", Kind::Tree),
        column("account", "Account", Kind::Text).on_screen_if(several),
        column("deposited", "Deposited", Kind::Amount)
            .wide(12)
            .secondary(),
        column("used", "Used", Kind::Amount).wide(9),
        column("shadow_used", "Shadow used", Kind::Amount)
            .secondary()
            .on_screen_if(some(|b| &b.shadow_used)),
        column("held", "Held", Kind::Amount).wide(7),
        column("shadow_held", "Shadow held", Kind::Amount)
            .secondary()
            .on_screen_if(some(|b| &b.shadow_held)),
        column("credit_limit", "Credit", Kind::Amount).on_screen_if(some(|b| &b.credit_limit)),
        column("available", "Available", Kind::Amount),
        column("used_percent", "Used", Kind::Number).on_screen(),
        column("until", "Until", Kind::Date),
        column("mark", "", Kind::Text).on_screen(),
        column("future", "Later", Kind::Amount).on_screen_if(some(|b| &b.future)),
        column("held_future", "Held later", Kind::Amount).on_screen_if(some(|b| &b.held_future)),
        column("held_expired", "Held expired", Kind::Amount).on_request(),
        column("amount", "Amount", Kind::Amount).on_request(),
        column("balance", "Balance", Kind::Amount).on_request(),
        column("allocated", "Allocated", Kind::Amount).on_request(),
        column("capacity", "Capacity", Kind::Amount).on_request(),
        column("remaining_percent", "Remaining %", Kind::Number).on_request(),
        column("burn_per_day", "A day", Kind::Amount).on_request(),
        column("empty_at", "Empty", Kind::Time).on_request(),
        column("unused_at", "Left over at", Kind::Time).on_request(),
        column("unused", "Left over", Kind::Amount).on_request(),
        column("account_id", "Id", Kind::Number).on_request(),
        column("parent", "Parent", Kind::Text).on_request(),
        column("blocked", "Blocked", Kind::Text).on_request(),
        column("unit", "Unit", Kind::Text).on_request(),
    ];
    if several {
        // Last, so that the others stay where scripts know them.
        columns.push(column("account", "Account", Kind::Text).if_machine());
    }
    columns
}

/// A row with what the screen adds: the share used, the mark, and the account's name where no
/// project stands behind the row.
fn flat(balance: &Balance, at: i64, form: &Form) -> Row {
    let mut row = row(balance);
    if balance.project.is_none() {
        row.insert("project".to_owned(), balance.account.clone().into());
    }
    if let Some(percent) = figure::percent(&balance.used, &balance.allocated) {
        row.insert("used_percent".to_owned(), format!("{percent}%").into());
    }
    if attention(balance, at, form).is_some() {
        row.insert("mark".to_owned(), "!".into());
    }
    row
}

/// Sums of every amount; the share is that of the sums.
fn total(balances: &[Balance], tree: bool) -> Row {
    let fields = [
        "deposited",
        "used",
        "amount",
        "held",
        "balance",
        "credit_limit",
        "available",
        "held_future",
        "held_expired",
        "future",
        "allocated",
        "capacity",
        "shadow_used",
        "shadow_held",
    ];
    let rows: Vec<Row> = balances.iter().map(row).collect();
    let mut total = Row::new();
    let name = if tree { "with sub-projects" } else { "total" };
    total.insert("project".to_owned(), name.into());
    total.insert("account".to_owned(), name.into());
    for field in fields {
        let amounts = rows.iter().filter_map(|row| row.get(field)?.as_str());
        if let Some(sum) = figure::sum(amounts) {
            total.insert(field.to_owned(), sum.into());
        }
    }
    let amount = |field: &str| {
        total
            .get(field)
            .and_then(|value| value.as_str())
            .unwrap_or("")
    };
    if let Some(percent) = figure::percent(amount("used"), amount("allocated")) {
        total.insert("used_percent".to_owned(), format!("{percent}%").into());
    }
    total
}

/// `SU (core-hours)` where one unit is one of these.
fn unit(balance: &Balance) -> String {
    match &balance.unit_means {
        Some(means) => format!("{} ({means})", balance.unit),
        None => balance.unit.clone(),
    }
}

/// What somebody should look at, if anything, at the ledger's present.
fn attention(balance: &Balance, at: i64, form: &Form) -> Option<String> {
    let mut message = Vec::new();
    if balance.blocked {
        message.push("blocked until a deposit brings it to zero or above".to_owned());
    }
    if balance.available.starts_with('-') {
        message.push("nothing available, in debt".to_owned());
    } else if let Some(percent) = figure::percent(&balance.used, &balance.allocated)
        && percent >= ATTENTION_PERCENT
    {
        message.push(format!("{percent}% used"));
    }
    let until = balance.until.as_deref().and_then(when::read);
    let days = until.map(|until| when::dates_between(at, until, form.zone));
    let ends = days.filter(|days| *days <= ATTENTION_DAYS && !figure::is_zero(&balance.amount));
    let empty = empty(balance, at, form, until);
    if let Some(days) = ends.or(days.filter(|_| empty.is_some())) {
        let unit = if days == 1 { "day" } else { "days" };
        message.push(format!("ends in {days} {unit}"));
    }
    message.extend(empty);
    message.extend(unused(balance, ends.is_some(), form));
    (!message.is_empty()).then(|| format!("{}: {}", balance.account, message.join("; ")))
}

/// `at 1,310 SU/day it is empty on 2026-12-04`, where that is before its end, or soon where it has
/// none.
fn empty(balance: &Balance, at: i64, form: &Form, until: Option<i64>) -> Option<String> {
    let rate = balance.burn_per_day.as_ref()?;
    let empty = when::read(balance.empty_at.as_ref()?)?;
    let soon = match until {
        Some(until) => empty < until,
        None => when::days_between(at, empty) <= ATTENTION_DAYS,
    };
    // Whole units: what a day will cost is known no better.
    let rate = figure::scaled(rate, 1, 1, 0)?;
    let is_debt = balance.available.starts_with('-');
    (soon && !is_debt).then(|| {
        let (rate, unit) = (form.amount(&rate), &balance.unit);
        let day = form.zone.day(empty);
        format!("at {rate} {unit}/day it is empty on {day}")
    })
}

/// `12,000 SU end unused on 2027-01-01`, where that is soon.
fn unused(balance: &Balance, soon: bool, form: &Form) -> Option<String> {
    let at = when::read(balance.unused_at.as_ref()?)?;
    let amount = balance.unused.as_ref().filter(|_| soon)?;
    let until = balance.until.as_deref().and_then(when::read)?;
    // Whole units: what a day will cost is known no better.
    let amount = figure::scaled(amount, 1, 1, 0)?;
    (at == until && !figure::is_zero(&amount)).then(|| {
        let (amount, day) = (form.amount(&amount), form.zone.day(at));
        format!("{amount} {} end unused on {day}", balance.unit)
    })
}

#[cfg(test)]
mod tests;
