//! `bank account`.

use bank_api::v1::{Account, Constraint, Correction, List, NewAccount, PatchAccount, Written};
use serde_json::Value;
use ureq::http::Method;

use super::{Context, nothing_to_set};
use crate::{
    cli::{AccountCommand, AddAccount},
    fail::Failure,
    out::{Kind, Row, Sheet, column, row},
};

pub(super) fn run(context: &Context, command: AccountCommand) -> Result<String, Failure> {
    match command {
        AccountCommand::Add(args) => add(context, args),
        AccountCommand::Ls => {
            let list: List<Account> = context.get(&["accounts"], &())?;
            context.form.list(&list, &sheet(&list.items))
        }
        AccountCommand::Show { name } => {
            let account: Account = context.get(&["accounts", &name], &())?;
            context
                .form
                .one(&account, &sheet(std::slice::from_ref(&account)))
        }
        AccountCommand::Set(args) => set(context, args),
        AccountCommand::Undelete { name, write } => {
            let segments = ["accounts", &name, "undelete"];
            let done: Correction = context.send(Method::POST, &segments, &(), &write)?;
            let sentence = format!("account {name:?} is back");
            super::after::said(context, &done, &sentence)
        }
        AccountCommand::Rm {
            name,
            force,
            remove,
        } => {
            let what = format!("remove account {name:?}");
            let answer = context.remove_forced(&["accounts", &name], &what, &remove, force)?;
            context.removed(&answer, &format!("account {name:?} removed"))
        }
    }
}

fn add(context: &Context, args: AddAccount) -> Result<String, Failure> {
    let lists = args.constraints;
    let body = NewAccount {
        name: args.name,
        description: args.description,
        projects: constraints(lists.projects).unwrap_or_default(),
        users: constraints(lists.users).unwrap_or_default(),
        machines: constraints(lists.machines).unwrap_or_default(),
        priority: args.priority,
        fallback: args.fallback,
    };
    let answer: Written<Account> = context.send(Method::POST, &["accounts"], &body, &args.write)?;
    context.written(
        &answer,
        &format!("account {:?} added (id {})", body.name, answer.object.id),
    )
}

fn set(context: &Context, account: AddAccount) -> Result<String, Failure> {
    let body = PatchAccount {
        description: account.description,
        projects: constraints(account.constraints.projects),
        users: constraints(account.constraints.users),
        machines: constraints(account.constraints.machines),
        priority: account.priority,
        fallback: account.fallback,
    };
    if body == PatchAccount::default() {
        return Err(nothing_to_set());
    }
    let answer: Written<Account> = context.send(
        Method::PATCH,
        &["accounts", &account.name],
        &body,
        &account.write,
    )?;
    context.written(&answer, &format!("account {:?} changed", account.name))
}

/// `chem`, `-dave` or `!dave` (denied), `chem/*` (with all below it).
fn constraints(list: Option<Vec<String>>) -> Option<Vec<Constraint>> {
    let read = |text: String| {
        let text = text.trim();
        let name = text.strip_prefix(['-', '!']);
        let allow = name.is_none();
        let name = name.unwrap_or(text);
        let top = name.strip_suffix("/*");
        Constraint {
            value: top.unwrap_or(name).to_owned(),
            allow,
            subtree: top.is_some(),
        }
    };
    list.map(|items| {
        items
            .into_iter()
            .filter(|text| !text.trim().is_empty())
            .map(read)
            .collect()
    })
}

/// The inverse of [`constraints`].
fn written(list: &[Constraint]) -> Value {
    let write = |entry: &Constraint| {
        let deny = if entry.allow { "" } else { "-" };
        let below = if entry.subtree { "/*" } else { "" };
        format!("{deny}{}{below}", entry.value)
    };
    list.iter().map(write).collect::<Vec<_>>().into()
}

fn sheet(accounts: &[Account]) -> Sheet {
    let some = |test: fn(&Account) -> bool| accounts.iter().any(test);
    let columns = vec![
        column("id", "Id", Kind::Number),
        column("name", "Name", Kind::Text),
        column("amount", "Amount", Kind::Amount),
        column("held", "Held", Kind::Amount),
        column("balance", "Balance", Kind::Amount).if_asked(),
        column("credit_limit", "Credit limit", Kind::Amount).if_asked(),
        column("available", "Available", Kind::Amount),
        column("projects", "Projects", Kind::Text),
        column("users", "Users", Kind::Text),
        column("machines", "Machines", Kind::Text),
        column("priority", "Priority", Kind::Number).on_screen_if(some(|a| a.priority != 0)),
        column("fallback", "Fallback", Kind::Text).on_screen_if(some(|a| a.fallback.is_some())),
        column("blocked", "Blocked", Kind::Text).on_screen_if(some(|a| a.blocked)),
        column("description", "Description", Kind::Text),
    ];
    let unit = accounts.first().map_or("", |account| &account.unit);
    let rows = accounts.iter().map(flat).collect();
    Sheet {
        columns,
        rows,
        empty: "no accounts",
        ..Sheet::default()
    }
    .unit(unit)
}

/// A row in which constraints are short texts.
fn flat(account: &Account) -> Row {
    let mut row = row(account);
    row.insert("projects".to_owned(), written(&account.projects));
    row.insert("users".to_owned(), written(&account.users));
    row.insert("machines".to_owned(), written(&account.machines));
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_are_read_as_they_are_written() {
        let texts = ["chem", "-dave", "bio/*", "-bio/x/*", "MEMBERS"];
        let list = texts.iter().map(|text| (*text).to_owned()).collect();
        let read = constraints(Some(list)).unwrap();
        assert_eq!(
            read[3],
            Constraint {
                value: "bio/x".into(),
                allow: false,
                subtree: true
            }
        );
        assert_eq!(written(&read), serde_json::json!(texts));
        assert_eq!(constraints(None), None);
        assert_eq!(constraints(Some(vec![String::new()])), Some(vec![]));
    }
}
