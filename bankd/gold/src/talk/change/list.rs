//! Members and machines of projects, and the lists of accounts.

use bank_core::command::{Command, SetAccount, SetMember};
use bank_core::ids::AccountId;
use bank_core::kind::Value;
use bank_core::model::{Account, Constraint, Dimension, MemberRole};

use super::{Asked, Change, Fault, Identity, equal, plain};

/// A new entry of a list.
pub(super) fn create(asked: &Asked<'_>) -> Result<Change, Fault> {
    let object = asked.call.object.as_str();
    let name = asked.field("Name")?;
    let (owner, command) = match object {
        "ProjectUser" => ("Project", add_member(asked, name)?),
        "ProjectMachine" => ("Project", add_machine(asked, name)?),
        _ => ("Account", add_row(asked, name)?),
    };
    Ok(Change {
        command,
        key: vec![equal(owner, asked.field(owner)?), equal("Name", name)],
        also: String::new(),
    })
}

/// A change of a member.
pub(super) fn modify(asked: &Asked<'_>, key: &Identity) -> Result<Command, Fault> {
    asked.check_fields(&["Active", "Admin"])?;
    member(asked, key.get("Project"), key.get("Name"))
}

/// The removal of an entry.
pub(super) fn delete(asked: &Asked<'_>, key: &Identity) -> Result<Command, Fault> {
    let (project, name) = (key.get("Project"), key.get("Name"));
    match asked.call.object.as_str() {
        "ProjectUser" => Ok(Command::RemoveMember(project.to_owned(), name.to_owned())),
        "ProjectMachine" => {
            let mut machines = machines(asked, project)?;
            machines.retain(|own| own != name);
            Ok(with_machines(project, machines))
        }
        _ => remove_row(asked, key.number("Account"), name),
    }
}

fn add_member(asked: &Asked<'_>, user: &str) -> Result<Command, Fault> {
    asked.check_fields(&["Project", "Name", "Active", "Admin"])?;
    let name = asked.field("Project")?;
    let (project, known) = (
        asked.directory.project_named(name),
        asked.directory.user_named(user),
    );
    let is_member = project
        .zip(known)
        .is_some_and(|(project, user)| asked.directory.membership(project.id, user.id).is_some());
    if is_member {
        return Err(exists(asked));
    }
    member(asked, name, user)
}

fn member(asked: &Asked<'_>, project: &str, user: &str) -> Result<Command, Fault> {
    let role = asked.flag("Admin")?.map(|admin| {
        if admin {
            MemberRole::Manager
        } else {
            MemberRole::Member
        }
    });
    Ok(Command::SetMember(SetMember {
        project: project.to_owned(),
        user: user.to_owned(),
        active: asked.flag("Active")?,
        role,
    }))
}

fn add_machine(asked: &Asked<'_>, machine: &str) -> Result<Command, Fault> {
    asked.check_fields(&["Project", "Name", "Active"])?;
    let project = asked.field("Project")?;
    let mut machines = machines(asked, project)?;
    if machines.iter().any(|own| own == machine) {
        return Err(exists(asked));
    }
    machines.push(machine.to_owned());
    Ok(with_machines(project, machines))
}

/// The machines of a project. Whoever changes them must see all of them.
fn machines(asked: &Asked<'_>, project: &str) -> Result<Vec<String>, Fault> {
    let record = asked.directory.records.named("project", project);
    let record = record.filter(|own| !own.deleted);
    let record = record.ok_or_else(|| no_project(project))?;
    let machines = record.list("machines").to_vec();
    if machines.iter().all(|name| asked.view.sees_machine(name)) {
        return Ok(machines);
    }
    Err(Fault::new(
        "not_allowed",
        "the project has machines outside of this key's scope",
    ))
}

fn no_project(name: &str) -> Fault {
    Fault::refused("project_unknown", &format!("Project {name} does not exist"))
}

fn with_machines(project: &str, machines: Vec<String>) -> Command {
    Command::set_record("project", project, &[("machines", Value::List(machines))])
}

fn add_row(asked: &Asked<'_>, name: &str) -> Result<Command, Fault> {
    asked.check_fields(&["Account", "Name", "Access"])?;
    let account = account(asked, asked.field("Account")?)?;
    let dimension = dimension(asked);
    let mut rows = rows(account, &dimension);
    if rows.iter().any(|row| row.value == name) {
        return Err(exists(asked));
    }
    let allow = asked.flag("Access")?.unwrap_or(true);
    let has_any = rows.iter().any(|row| row.allow);
    // Without a name that may spend, every name may: one more must not shut out the others.
    if allow && !has_any && name != "ANY" {
        rows.push(row(&dimension, "ANY", true));
    }
    rows.push(row(&dimension, name, allow));
    Ok(with_rows(account, dimension, rows))
}

fn remove_row(asked: &Asked<'_>, id: i64, name: &str) -> Result<Command, Fault> {
    let account = account(asked, &id.to_string())?;
    let dimension = dimension(asked);
    let mut rows = rows(account, &dimension);
    let was_allowed = rows.iter().any(|row| row.value == name && row.allow);
    rows.retain(|row| row.value != name);
    if was_allowed && !rows.iter().any(|row| row.allow) {
        let message = "the last entry of a list cannot be deleted: without it every name may spend";
        return Err(Fault::new("not_settable", message));
    }
    if let [only] = rows.as_slice()
        && only.value == "ANY"
        && only.allow
    {
        rows.clear();
    }
    Ok(with_rows(account, dimension, rows))
}

fn row(dimension: &Dimension, name: &str, allow: bool) -> Constraint {
    Constraint {
        dimension: dimension.clone(),
        value: name.to_owned(),
        allow,
        subtree: false,
    }
}

fn dimension(asked: &Asked<'_>) -> Dimension {
    match asked.call.object.as_str() {
        "AccountProject" => Dimension::Project,
        "AccountUser" => Dimension::User,
        _ => Dimension::Machine,
    }
}

fn rows(account: &Account, dimension: &Dimension) -> Vec<Constraint> {
    let own = account.constraints.iter();
    own.filter(|row| row.dimension == *dimension)
        .cloned()
        .collect()
}

fn account<'a>(asked: &'a Asked<'_>, id: &str) -> Result<&'a Account, Fault> {
    let number = id.parse().map(AccountId).ok();
    let known = number.and_then(|id| asked.directory.account(id));
    let known = known.filter(|own| !own.deleted && asked.view.sees_account(own));
    known.ok_or_else(|| Fault::refused("not_found", &format!("Account {id} does not exist")))
}

fn with_rows(account: &Account, dimension: Dimension, rows: Vec<Constraint>) -> Command {
    Command::SetAccount(SetAccount {
        name: account.name.clone(),
        lists: vec![(dimension, rows)],
        ..SetAccount::default()
    })
}

fn exists(asked: &Asked<'_>) -> Fault {
    let object = plain(&asked.call.object);
    Fault::new("already_exists", format!("{object} already exists"))
}
