//! Users, accounts (projects here) with their users, machines, and funds (accounts here) with their constraints.

use std::collections::BTreeMap;

use super::{Lists, SPECIAL};
use crate::{
    fault::Fault,
    old::{Account, Column, Entry, Listed, Machine, Member, Of, Old, Project, User},
    table::{Once, Row, Table},
};

pub(super) fn read(lists: &Lists, old: &mut Old) -> Result<(), Fault> {
    let table = |name: &str| lists.get(name);
    if let Some(table) = table("users") {
        users(table, old)?;
    }
    if let Some(table) = table("machines") {
        machines(table, old)?;
    }
    if let Some(table) = table("accounts") {
        accounts(table, old)?;
    }
    if let Some(table) = table("funds") {
        funds(table, old)?;
    }
    named_machines(lists, old);
    Ok(())
}

fn is_own(row: &Row<'_>) -> Result<bool, Fault> {
    let is_special = row.flag("Special", false)? || SPECIAL.contains(&row.text("Name"));
    Ok(!is_special)
}

/// The rows of a list that are the site's own, each with its name, which is unique.
fn each_own(
    table: &Table,
    mut add: impl FnMut(&Row<'_>, &str) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut once = Once::default();
    for row in table.rows() {
        if is_own(&row)? {
            let name = row.need("Name")?;
            once.add(&row, "Name", name)?;
            add(&row, name)?;
        }
    }
    Ok(())
}

fn users(table: &Table, old: &mut Old) -> Result<(), Fault> {
    each_own(table, |row, name| {
        old.at(format!("user {name}"), row);
        old.users.push(User {
            name: name.to_owned(),
            active: row.flag("Active", true)?,
            common_name: row.text("CommonName").to_owned(),
            email: row.text("EmailAddress").to_owned(),
            phone: row.text("PhoneNumber").to_owned(),
            default_project: row.text("DefaultAccount").to_owned(),
            organization: row.text("Organization").to_owned(),
            description: row.text("Description").to_owned(),
        });
        Ok(())
    })
}

fn machines(table: &Table, old: &mut Old) -> Result<(), Fault> {
    each_own(table, |row, name| {
        old.at(format!("machine {name}"), row);
        old.machines.push(Machine {
            name: name.to_owned(),
            active: row.flag("Active", true)?,
            architecture: row.text("Architecture").to_owned(),
            operating_system: row.text("OperatingSystem").to_owned(),
            description: row.text("Description").to_owned(),
        });
        Ok(())
    })
}

fn accounts(table: &Table, old: &mut Old) -> Result<(), Fault> {
    each_own(table, |row, name| {
        old.at(format!("project {name}"), row);
        old.projects.push(Project {
            name: name.to_owned(),
            active: row.flag("Active", true)?,
            organization: row.text("Organization").to_owned(),
            description: row.text("Description").to_owned(),
            ..Project::default()
        });
        for text in crate::plain::names(row.text("Users")) {
            // `^amy` is an administrator, `-amy` an inactive member.
            let user = text.trim_start_matches(['^', '+', '-']);
            if SPECIAL.contains(&user) {
                let reason = "users of accounts that are a word of the old bank";
                old.skipped.add(reason, format!("{user} of {name}"));
                continue;
            }
            old.members.push(Member {
                project: name.to_owned(),
                user: user.to_owned(),
                active: !text.starts_with('-'),
                role: text.starts_with('^').then(|| "manager".to_owned()),
            });
        }
        Ok(())
    })
}

fn funds(table: &Table, old: &mut Old) -> Result<(), Fault> {
    let mut once = Once::default();
    for row in table.rows() {
        let key = row.need("Id")?;
        once.add(&row, "Id", key)?;
        old.at(format!("account {key}"), &row);
        old.accounts.push(Account {
            key: key.to_owned(),
            name: row.text("Name").to_owned(),
            description: row.text("Description").to_owned(),
            lists: constraints(&row)?,
            above: None,
            priority: row.whole("Priority")?,
        });
        if row
            .figure("DefaultDeposit")?
            .is_some_and(|own| !own.is_zero())
        {
            let what = format!("{} of fund {key}", row.text("DefaultDeposit"));
            old.skipped.add(
                "default deposits: `bank cycle add` makes recurring deposits",
                what,
            );
        }
        figures(&row, table, old)?;
    }
    Ok(())
}

/// The figures of a fund: Balance is the amount, Effective the amount less liens. Older versions have Amount.
fn figures(row: &Row<'_>, table: &Table, old: &mut Old) -> Result<(), Fault> {
    let balance = if table.has("Amount") {
        Column::Balance
    } else {
        Column::Amount
    };
    let columns = [
        ("Amount", Column::Amount),
        ("Balance", balance),
        ("Reserved", Column::Reserved),
        ("Effective", Column::Balance),
        ("CreditLimit", Column::CreditLimit),
        ("Available", Column::Available),
    ];
    for (column, kind) in columns {
        if row.figure(column)?.is_none() {
            continue;
        }
        old.listed.push(Listed {
            key: row.text("Id").to_owned(),
            name: row.text("Name").to_owned(),
            of: Of::Account,
            column: column.to_owned(),
            kind,
            text: row.text(column).to_owned(),
            is_exact: false,
            place: row.place(),
        });
    }
    Ok(())
}

/// `Account=chem,User=!dave`: a list of each name; `!` excludes.
fn constraints(row: &Row<'_>) -> Result<BTreeMap<String, Vec<Entry>>, Fault> {
    let mut lists: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
    for text in crate::plain::names(row.text("Constraints")) {
        let bad = || row.fault("Constraints", &format!("{text:?} is not NAME=VALUE"));
        let (name, value) = text.split_once('=').ok_or_else(bad)?;
        let (value, allow) = match value.trim().strip_prefix('!') {
            Some(rest) => (rest, false),
            None => (value.trim(), true),
        };
        let dimension = match name.trim().to_ascii_lowercase().as_str() {
            "account" | "project" => "project".to_owned(),
            "qualityofservice" | "qos" => "qos".to_owned(),
            own @ ("user" | "machine" | "class" | "group" | "organization") => own.to_owned(),
            _ => name.trim().to_owned(),
        };
        lists.entry(dimension).or_default().push(Entry {
            value: value.to_owned(),
            allow,
            subtree: false,
        });
    }
    // Only exclusions: all others are allowed.
    for list in lists.values_mut() {
        if !list.iter().any(|entry| entry.allow) {
            list.push(Entry {
                value: "ANY".to_owned(),
                allow: true,
                subtree: false,
            });
        }
    }
    Ok(lists)
}

/// Without a list of machines, those that liens, usage records and constraints name.
fn named_machines(lists: &Lists, old: &mut Old) {
    if lists.contains_key("machines") {
        return;
    }
    let mut names: Vec<String> = Vec::new();
    let rows = ["liens", "usagerecords"]
        .into_iter()
        .filter_map(|name| lists.get(name));
    for row in rows.flat_map(Table::rows) {
        names.push(row.text("Machine").to_owned());
    }
    for account in &old.accounts {
        let own = account.lists.get("machine").into_iter().flatten();
        names.extend(own.map(|entry| entry.value.clone()));
    }
    names.sort_unstable();
    names.dedup();
    names.retain(|name| !name.is_empty() && !SPECIAL.contains(&name.as_str()));
    for name in names {
        old.machines.push(Machine {
            name,
            active: true,
            ..Machine::default()
        });
    }
}
