//! Users, machines, projects with their members, accounts with their lists, and charge rates.

use std::collections::BTreeMap;

use super::Tables;
use crate::{
    fault::Fault,
    old::{Above, Account, Entry, Machine, Member, Old, Project, Rate, User},
    table::{Once, Row},
};

/// Gold's words that are no names.
const SPECIAL: [&str; 5] = ["ANY", "NONE", "SELF", "MEMBERS", "ADMIN"];

pub(super) fn read(tables: &Tables, old: &mut Old) -> Result<(), Fault> {
    people(tables, old)?;
    projects(tables, old)?;
    accounts(tables, old)?;
    links(tables, old)?;
    rates(tables, old)
}

fn people(tables: &Tables, old: &mut Old) -> Result<(), Fault> {
    let mut once = Once::default();
    for row in tables.own("g_user")? {
        let name = row.need("g_name")?;
        once.add(&row, "g_name", name)?;
        old.at(format!("user {name}"), &row);
        let default = row.text("g_default_project");
        old.users.push(User {
            name: name.to_owned(),
            active: row.flag("g_active", true)?,
            common_name: row.text("g_common_name").to_owned(),
            email: row.text("g_email_address").to_owned(),
            phone: row.text("g_phone_number").to_owned(),
            default_project: if SPECIAL.contains(&default) {
                ""
            } else {
                default
            }
            .to_owned(),
            organization: row.text("g_organization").to_owned(),
            description: row.text("g_description").to_owned(),
        });
    }
    let mut once = Once::default();
    for row in tables.own("g_machine")? {
        let name = row.need("g_name")?;
        once.add(&row, "g_name", name)?;
        old.at(format!("machine {name}"), &row);
        old.machines.push(Machine {
            name: name.to_owned(),
            active: row.flag("g_active", true)?,
            architecture: row.text("g_architecture").to_owned(),
            operating_system: row.text("g_operating_system").to_owned(),
            description: row.text("g_description").to_owned(),
        });
    }
    Ok(())
}

fn projects(tables: &Tables, old: &mut Old) -> Result<(), Fault> {
    let mut machines: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in tables.rows("g_project_machine")? {
        let (project, machine) = (row.need("g_project")?, row.need("g_name")?);
        if SPECIAL.contains(&machine) {
            old.skipped.add(
                "machines of a project that are a word of Gold",
                format!("{machine} of {project}"),
            );
        } else if row.flag("g_active", true)? {
            let own = machines.entry(project.to_owned()).or_default();
            own.push(machine.to_owned());
        } else {
            let what = format!("{machine} of {project}");
            old.skipped.add("inactive machines of projects", what);
        }
    }
    let mut once = Once::default();
    for row in tables.own("g_project")? {
        let name = row.need("g_name")?;
        once.add(&row, "g_name", name)?;
        old.at(format!("project {name}"), &row);
        old.projects.push(Project {
            name: name.to_owned(),
            active: row.flag("g_active", true)?,
            parent: String::new(),
            organization: row.text("g_organization").to_owned(),
            description: row.text("g_description").to_owned(),
            machines: machines.remove(name).unwrap_or_default(),
        });
    }
    let mut once = Once::default();
    for row in tables.rows("g_project_user")? {
        let (project, user) = (row.need("g_project")?, row.need("g_name")?);
        if SPECIAL.contains(&user) {
            let reason = "members of a project that are a word of Gold";
            old.skipped.add(reason, format!("{user} of {project}"));
            continue;
        }
        once.add(&row, "g_name", &format!("{user} of {project}"))?;
        old.at(format!("member {project} {user}"), &row);
        let is_admin = row.flag("g_admin", false)?;
        old.members.push(Member {
            project: project.to_owned(),
            user: user.to_owned(),
            active: row.flag("g_active", true)?,
            role: is_admin.then(|| "manager".to_owned()),
        });
    }
    Ok(())
}

fn accounts(tables: &Tables, old: &mut Old) -> Result<(), Fault> {
    let mut once = Once::default();
    let mut accounts: BTreeMap<i64, Account> = BTreeMap::new();
    for row in tables.rows("g_account")? {
        let key = number(&row, "g_id")?;
        once.add(&row, "g_id", &key.to_string())?;
        old.at(format!("account {key}"), &row);
        let lists = ["project", "user", "machine"];
        let account = Account {
            key: key.to_string(),
            name: row.text("g_name").to_owned(),
            description: row.text("g_description").to_owned(),
            // A list without a row matches nothing in Gold.
            lists: lists.map(|name| (name.to_owned(), Vec::new())).into(),
            ..Account::default()
        };
        accounts.insert(key, account);
    }
    for dimension in ["project", "user", "machine"] {
        let table = format!("g_account_{dimension}");
        for row in tables.rows(&table)? {
            let key = number(&row, "g_account")?;
            let Some(account) = accounts.get_mut(&key) else {
                return Err(no_account(&row, "g_account", &key.to_string()));
            };
            let value = row.need("g_name")?;
            let allow = row.flag("g_access", true)?;
            let is_list_word = ["ANY", "MEMBERS"].contains(&value);
            if SPECIAL.contains(&value) && !is_list_word {
                let what = format!("{value} of account {key}");
                old.skipped
                    .add("names in lists that are a word of Gold", what);
                continue;
            }
            if value == "MEMBERS" && !allow {
                old.notes.push(format!(
                    "account {key} excludes MEMBERS: Gold excluded everybody, this bank excludes \
                     members only"
                ));
            }
            let list = account.lists.entry(dimension.to_owned()).or_default();
            list.push(Entry {
                value: value.to_owned(),
                allow,
                subtree: false,
            });
        }
    }
    if tables.has("g_account_organization") {
        old.skipped
            .add("forwarding to peers", "g_account_organization");
    }
    old.accounts = accounts.into_values().collect();
    Ok(())
}

/// `g_account_account`: the account above has its number in `g_account`, the one below in `g_id`.
fn links(tables: &Tables, old: &mut Old) -> Result<(), Fault> {
    for row in tables.rows("g_account_account")? {
        let (parent, child) = (number(&row, "g_account")?, number(&row, "g_id")?);
        let (parent, child) = (parent.to_string(), child.to_string());
        let is_known = |key: &str| old.accounts.iter().any(|own| own.key == key);
        for (column, key) in [("g_account", &parent), ("g_id", &child)] {
            if !is_known(key) {
                return Err(no_account(&row, column, key));
            }
        }
        let share = row.figure("g_deposit_share")?.unwrap_or_default();
        let share = share.rounded(0).to_string().parse().unwrap_or(0);
        // Gold does not check the lists of the account above.
        let is_overflow = row.flag("g_overflow", false)?;
        let above = Above {
            parent: parent.clone(),
            share,
            overflow: if is_overflow { "any" } else { "no" },
        };
        let is_cycle = is_above(&old.accounts, &child, &parent);
        let own = old.accounts.iter_mut().find(|own| own.key == child);
        match own {
            Some(account) if account.above.is_none() && !is_cycle => account.above = Some(above),
            _ => {
                let reason = if is_cycle {
                    "links of accounts that form a circle"
                } else {
                    "further accounts above an account: here it has one"
                };
                let what = format!("account {parent} above account {child}");
                old.skipped.add(reason, what);
            }
        }
    }
    Ok(())
}

/// Whether an account is above another one, or the same.
fn is_above(accounts: &[Account], above: &str, below: &str) -> bool {
    let mut key = below.to_owned();
    for _ in 0..=accounts.len() {
        if key == above {
            return true;
        }
        let own = accounts.iter().find(|own| own.key == key);
        match own.and_then(|own| own.above.as_ref()) {
            Some(link) => key.clone_from(&link.parent),
            None => return false,
        }
    }
    true
}

/// The types of Gold, and those of Gold 2.1 with their new names.
const TYPES: [(&str, &str); 13] = [
    ("vbr", "VBR"),
    ("nbr", "NBR"),
    ("mvbr", "MVBR"),
    ("vbu", "VBU"),
    ("nbu", "NBU"),
    ("vbm", "VBM"),
    ("nbm", "NBM"),
    ("vbf", "VBF"),
    ("nbf", "NBF"),
    ("resource", "VBR"),
    ("usage", "VBU"),
    ("multiplier", "VBM"),
    ("fee", "VBF"),
];

fn rates(tables: &Tables, old: &mut Old) -> Result<(), Fault> {
    let mut once = Once::default();
    for row in tables.rows("g_charge_rate")? {
        let (word, name) = (row.need("g_type")?, row.need("g_name")?);
        let instance = row.text("g_instance").trim_matches('"');
        let key = format!("rate {word} {name} {instance}")
            .trim_end()
            .to_owned();
        once.add(&row, "g_type", &key)?;
        old.at(key.clone(), &row);
        let bad = || row.fault("g_rate", "is empty");
        let rate = row.figure("g_rate")?.ok_or_else(bad)?;
        if rate.is_negative() {
            let reason = "rates below zero: this bank has none";
            old.skipped.add(reason, format!("{key} {rate}"));
            continue;
        }
        let known = TYPES.iter().find(|(own, _)| own.eq_ignore_ascii_case(word));
        let (kind, name, instance) = match (known, instance.is_empty()) {
            (Some((_, kind)), _) => (*kind, name, instance),
            // Gold 2.1: the multiplier of a property by its value.
            (None, true) => ("NBM", word, name),
            // The resource as the type: Disk User amy.
            (None, false) => (word, name, instance),
        };
        old.rates.push(Rate {
            key,
            kind: kind.to_owned(),
            name: name.to_owned(),
            instance: instance.to_owned(),
            figure: rate,
            description: row.text("g_description").to_owned(),
            ..Rate::default()
        });
    }
    Ok(())
}

/// The failure about the number of an account that `g_account` does not have.
pub(super) fn no_account(row: &Row<'_>, column: &str, key: &str) -> Fault {
    let fault = row.fault(column, &format!("{key} is not in g_account"));
    fault.hint("export all tables again while Gold is stopped, or remove the row")
}

pub(super) fn number(row: &Row<'_>, column: &str) -> Result<i64, Fault> {
    let number = row.whole(column)?;
    number.ok_or_else(|| row.fault(column, "is empty"))
}
