//! Users, machines, projects, members, accounts and rates of the plain set.

use super::names;
use crate::{
    fault::Fault,
    old::{Above, Account, Entry, Machine, Member, Old, Project, Rate, User},
    table::{Once, Row, Table},
};

pub(super) fn users(table: &Table, old: &mut Old) -> Result<(), Fault> {
    let mut once = Once::default();
    for row in table.rows() {
        let name = row.need("name")?;
        once.add(&row, "name", name)?;
        old.at(format!("user {name}"), &row);
        old.users.push(User {
            name: name.to_owned(),
            active: row.flag("active", true)?,
            common_name: row.text("common_name").to_owned(),
            email: row.text("email").to_owned(),
            phone: row.text("phone").to_owned(),
            default_project: row.text("default_project").to_owned(),
            organization: row.text("organization").to_owned(),
            description: row.text("description").to_owned(),
        });
    }
    Ok(())
}

pub(super) fn machines(table: &Table, old: &mut Old) -> Result<(), Fault> {
    let mut once = Once::default();
    for row in table.rows() {
        let name = row.need("name")?;
        once.add(&row, "name", name)?;
        old.at(format!("machine {name}"), &row);
        old.machines.push(Machine {
            name: name.to_owned(),
            active: row.flag("active", true)?,
            architecture: row.text("architecture").to_owned(),
            operating_system: row.text("operating_system").to_owned(),
            description: row.text("description").to_owned(),
        });
    }
    Ok(())
}

pub(super) fn projects(table: &Table, old: &mut Old) -> Result<(), Fault> {
    let mut once = Once::default();
    for row in table.rows() {
        let name = row.need("name")?;
        once.add(&row, "name", name)?;
        old.at(format!("project {name}"), &row);
        old.projects.push(Project {
            name: name.to_owned(),
            active: row.flag("active", true)?,
            parent: row.text("parent").to_owned(),
            organization: row.text("organization").to_owned(),
            description: row.text("description").to_owned(),
            machines: names(row.text("machines"))
                .into_iter()
                .map(str::to_owned)
                .collect(),
        });
    }
    let known: Vec<&str> = old.projects.iter().map(|own| own.name.as_str()).collect();
    let mut rows = table.rows().filter(|row| !row.text("parent").is_empty());
    match rows.find(|row| !known.contains(&row.text("parent"))) {
        Some(row) => Err(row.fault(
            "parent",
            &format!("{:?} is not in projects.csv", row.text("parent")),
        )),
        None => Ok(()),
    }
}

pub(super) fn members(table: &Table, old: &mut Old) -> Result<(), Fault> {
    let mut once = Once::default();
    for row in table.rows() {
        let (project, user) = (row.need("project")?, row.need("user")?);
        once.add(&row, "user", &format!("{user} of {project}"))?;
        old.at(format!("member {project} {user}"), &row);
        if !old.projects.iter().any(|own| own.name == project) {
            let fault = row.fault("project", &format!("{project:?} is not in projects.csv"));
            return Err(fault.hint("add the project to projects.csv, or remove the member"));
        }
        if !old.users.iter().any(|own| own.name == user) {
            let fault = row.fault("user", &format!("{user:?} is not in users.csv"));
            return Err(fault.hint("add the user to users.csv, or remove the member"));
        }
        let role = match row.text("role") {
            "" | "member" => None,
            word @ ("manager" | "pi") => Some(word.to_owned()),
            other => {
                let why = format!("{other:?} is none of member, manager and pi");
                return Err(row.fault("role", &why));
            }
        };
        old.members.push(Member {
            project: project.to_owned(),
            user: user.to_owned(),
            active: row.flag("active", true)?,
            role,
        });
    }
    Ok(())
}

pub(super) fn accounts(table: &Table, old: &mut Old) -> Result<(), Fault> {
    let mut once = Once::default();
    for row in table.rows() {
        let name = row.need("name")?;
        once.add(&row, "name", name)?;
        old.at(format!("account {name}"), &row);
        let parent = row.text("parent");
        let overflow = match row.text("overflow") {
            "" | "no" | "False" | "false" => "no",
            "yes" | "True" | "true" => "yes",
            "any" => "any",
            other => {
                let why = format!("{other:?} is none of no, yes and any");
                return Err(row.fault("overflow", &why));
            }
        };
        let above = || -> Result<Above, Fault> {
            Ok(Above {
                parent: parent.to_owned(),
                share: row.whole("share")?.unwrap_or(0),
                overflow,
            })
        };
        let mut account = Account {
            key: name.to_owned(),
            name: name.to_owned(),
            description: row.text("description").to_owned(),
            above: if parent.is_empty() {
                None
            } else {
                Some(above()?)
            },
            priority: row.whole("priority")?,
            ..Account::default()
        };
        for (column, dimension) in [
            ("projects", "project"),
            ("users", "user"),
            ("machines", "machine"),
        ] {
            let own = list(&row, column, dimension, old)?;
            if !own.is_empty() {
                account.lists.insert(dimension.to_owned(), own);
            }
        }
        old.accounts.push(account);
    }
    let known: Vec<&str> = old.accounts.iter().map(|own| own.name.as_str()).collect();
    let mut rows = table.rows().filter(|row| !row.text("parent").is_empty());
    match rows.find(|row| !known.contains(&row.text("parent"))) {
        Some(row) => Err(row.fault(
            "parent",
            &format!("{:?} is not in accounts.csv", row.text("parent")),
        )),
        None => Ok(()),
    }
}

/// A list: `chem, -bio, phys/*`. A name must exist.
fn list(row: &Row<'_>, column: &str, dimension: &str, old: &Old) -> Result<Vec<Entry>, Fault> {
    let mut entries = Vec::new();
    for text in names(row.text(column)) {
        let (text, allow) = match text.strip_prefix('-') {
            Some(rest) => (rest, false),
            None => (text.strip_prefix('+').unwrap_or(text), true),
        };
        let (value, subtree) = match text.strip_suffix("/*") {
            Some(rest) if dimension == "project" => (rest, true),
            _ => (text, false),
        };
        let is_known = match dimension {
            "project" => old.projects.iter().any(|own| own.name == value),
            "user" => old.users.iter().any(|own| own.name == value),
            _ => old.machines.iter().any(|own| own.name == value),
        };
        if !(is_known || ["ANY", "MEMBERS"].contains(&value)) {
            let file = format!("{dimension}s.csv");
            let fault = row.fault(column, &format!("{value:?} is not a {dimension}"));
            return Err(fault.hint(format!("add it to {file}, or remove it from this list")));
        }
        entries.push(Entry {
            value: value.to_owned(),
            allow,
            subtree,
        });
    }
    // Only exclusions: all others are allowed.
    if !entries.is_empty() && !entries.iter().any(|entry| entry.allow) {
        entries.push(Entry {
            value: "ANY".to_owned(),
            allow: true,
            subtree: false,
        });
    }
    Ok(entries)
}

pub(super) fn rates(table: &Table, old: &mut Old) -> Result<(), Fault> {
    let mut once = Once::default();
    for row in table.rows() {
        let (kind, name) = (row.need("kind")?, row.need("name")?);
        let (instance, machine) = (row.text("instance"), row.text("machine"));
        let key = format!("rate {kind} {name} {instance} {machine}");
        let key = key.trim_end().to_owned();
        once.add(&row, "kind", &key)?;
        old.at(key.clone(), &row);
        let rate = row.figure("rate")?;
        let rate = rate.filter(|rate| !rate.is_negative());
        old.rates.push(Rate {
            key,
            kind: kind.to_owned(),
            name: name.to_owned(),
            instance: instance.to_owned(),
            figure: rate.ok_or_else(|| row.fault("rate", "is empty or below zero"))?,
            per: Some(row.text("per").to_owned()).filter(|per| !per.is_empty()),
            machine: Some(machine.to_owned()).filter(|name| !name.is_empty()),
            description: row.text("description").to_owned(),
        });
    }
    Ok(())
}
