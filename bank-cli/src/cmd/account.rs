//! `bank account`.

use std::collections::BTreeMap;

use bank_api::v1::{Account, Constraint, Correction, NewAccount, PatchAccount, Written};
use serde_json::Value;
use ureq::http::Method;

use super::nothing_to_set;
use crate::{
    cli::{AccountCommand, AddAccount, Constraints, Overflowing, Place},
    context::Context,
    fail::Failure,
    out::{Kind, Row, Sheet, column, row},
};

pub(super) fn run(context: &Context, command: AccountCommand) -> Result<String, Failure> {
    match command {
        AccountCommand::Add(args) => add(context, args),
        AccountCommand::Ls(then) => {
            let sheet = |rows: &[Account]| sheet(rows, false);
            context.list(&["accounts"], &context.past(&then)?, sheet)
        }
        AccountCommand::Show { name, then } => {
            let sheet = |rows: &[Account]| sheet(rows, true);
            context.show(&["accounts", &name], &context.past(&then)?, sheet)
        }
        AccountCommand::Set(args) => set(context, args),
        AccountCommand::Undelete { name, write } => {
            let segments = ["accounts", &name, "undelete"];
            let done: Correction = context.send(Method::POST, &segments, &(), &write)?;
            let sentence = format!("account {name:?} restored");
            super::correction::correction_text(context, &done, &sentence)
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
    let mut lists = args.constraints;
    let place = args.place;
    let body = NewAccount {
        name: args.name,
        description: args.description,
        constraints: further(&mut lists).unwrap_or_default(),
        projects: constraints(lists.projects).unwrap_or_default(),
        users: constraints(lists.users).unwrap_or_default(),
        machines: constraints(lists.machines).unwrap_or_default(),
        overflow: overflow(&place),
        parent: place.parent,
        share: place.share,
        discrete: args.discrete.map(bool::from),
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
    let mut lists = account.constraints;
    let place = account.place;
    let body = PatchAccount {
        description: account.description,
        constraints: further(&mut lists),
        projects: constraints(lists.projects),
        users: constraints(lists.users),
        machines: constraints(lists.machines),
        overflow: overflow(&place),
        parent: if place.no_parent {
            Some(String::new())
        } else {
            place.parent
        },
        share: place.share,
        discrete: account.discrete.map(bool::from),
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

/// The word for an overflow.
fn overflow(place: &Place) -> Option<String> {
    let word = match place.overflow {
        Some(Overflowing::Any) => "any",
        _ if place.overflow_any => "any",
        Some(Overflowing::Yes) => "yes",
        Some(Overflowing::No) => "no",
        None => return None,
    };
    Some(word.to_owned())
}

/// The lists of other properties, by name; none where none is given.
fn further(lists: &mut Constraints) -> Option<BTreeMap<String, Vec<Constraint>>> {
    let named = [
        ("class", lists.classes.take()),
        ("qos", lists.qos.take()),
        ("group", lists.groups.take()),
        ("organization", lists.organizations.take()),
    ];
    let named = named
        .into_iter()
        .map(|(name, list)| (name.to_owned(), list));
    let attributes = std::mem::take(&mut lists.attributes);
    let attributes = attributes
        .into_iter()
        .map(|(name, list)| (name, Some(list)));
    let mut all: BTreeMap<String, Vec<Constraint>> = BTreeMap::new();
    for (name, list) in named.chain(attributes) {
        if let Some(list) = constraints(list) {
            all.entry(name).or_default().extend(list);
        }
    }
    (!all.is_empty()).then_some(all)
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

/// The columns of a list, or with `one` all figures of one account.
fn sheet(accounts: &[Account], one: bool) -> Sheet {
    let some = |test: fn(&Account) -> bool| accounts.iter().any(test);
    let columns = vec![
        column("id", "Id", Kind::Number),
        column("name", "Name", Kind::Text),
        column("amount", "Amount", Kind::Amount),
        column("held", "Held", Kind::Amount),
        column("balance", "Balance", Kind::Amount).on_request(),
        column("credit_limit", "Credit limit", Kind::Amount).on_request(),
        column("available", "Available", Kind::Amount),
        column("allocated", "Allocated", Kind::Amount).on_screen_if(one),
        column("used", "Used", Kind::Amount).on_screen_if(one),
        column("used_percent", "Used %", Kind::Number).on_screen_if(one),
        column("capacity", "Capacity", Kind::Amount).on_screen_if(one),
        column("projects", "Projects", Kind::Text),
        column("users", "Users", Kind::Text),
        column("machines", "Machines", Kind::Text).secondary(),
        column("constraints", "Other lists", Kind::Text)
            .on_screen_if(some(|a| !a.constraints.is_empty())),
        column("parent", "Parent", Kind::Text).on_screen_if(some(|a| a.parent.is_some())),
        column("share", "Share", Kind::Number)
            .secondary()
            .on_screen_if(some(|a| a.share != 0)),
        column("overflow", "Overflow", Kind::Text)
            .secondary()
            .on_screen_if(some(|a| !matches!(a.overflow.as_str(), "" | "no"))),
        column("discrete", "Discrete", Kind::Text)
            .secondary()
            .on_screen_if(some(|a| a.discrete)),
        column("priority", "Priority", Kind::Number)
            .secondary()
            .on_screen_if(some(|a| a.priority != 0)),
        column("fallback", "Fallback", Kind::Text).on_screen_if(some(|a| a.fallback.is_some())),
        column("blocked", "Blocked", Kind::Text).on_screen_if(some(|a| a.blocked)),
        column("description", "Description", Kind::Text).secondary(),
    ];
    let unit = accounts.first().map_or("", |account| &account.unit);
    let rows = accounts.iter().map(flat).collect();
    Sheet {
        columns,
        rows,
        empty: "no accounts".into(),
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
    let further = account.constraints.iter();
    let further = further.map(|(name, list)| (name.clone(), written(list)));
    row.insert("constraints".to_owned(), Value::Object(further.collect()));
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
