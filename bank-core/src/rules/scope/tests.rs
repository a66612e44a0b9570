//! Commands by the fields that name an object, each with an object of the caller, one of others and a
//! missing one.

use crate::amount::Amount;
use crate::command::{
    After, Close, Command, Create, Deposit, ExtendLien, Promise, QuoteRequest, Refund, Repeat,
    SetAccount, SetMember, Settle, Transfer, Whose, Withdraw,
};
use crate::ids::{AllocationId, LienId};
use crate::kind::Value;
use crate::model::{Closing, Constraint, Dimension, InstanceKey, ObjectType};
use crate::refusal::Refusal;
use crate::rules::tests::{Ground, charge, request, reserve};
use crate::time::{Seconds, Timestamp};
use crate::usage::Usage;

/// One field of a command, and the command for a name in this field.
struct Field {
    label: &'static str,
    names: [&'static str; 3],
    make: fn(&str) -> Command,
    /// A missing object is created or ignored, so the command is not refused.
    is_served: bool,
}

const PROJECTS: [&str; 3] = ["chem", "bio", "nosuch"];
const ACCOUNTS: [&str; 3] = ["chem-more", "bio-more", "nosuch"];
const USERS: [&str; 3] = ["bert", "carl", "nosuch"];
const MACHINES: [&str; 3] = ["colony", "blue", "nosuch"];
const JOBS: [&str; 3] = ["chem.1", "bio.1", "nosuch"];
const LIENS: [&str; 3] = ["1", "2", "99"];

fn field(label: &'static str, names: [&'static str; 3], make: fn(&str) -> Command) -> Field {
    Field {
        label,
        names,
        make,
        is_served: false,
    }
}

fn served(label: &'static str, names: [&'static str; 3], make: fn(&str) -> Command) -> Field {
    Field {
        is_served: true,
        ..field(label, names, make)
    }
}

/// The bank of the tests: `chem` with bert, `bio` with carl, a job with a lien of each.
fn ground() -> Ground {
    let mut ground = Ground::new();
    for (name, project) in [("bert", "chem"), ("carl", "bio")] {
        let user = Command::add_record("user", name, &[]);
        ground.done(0, user);
        ground.done(0, member(project, name));
    }
    ground.done(0, Command::add_record("machine", "blue", &[]));
    for project in ["chem", "bio"] {
        let below = Command::add_record(
            "project",
            &format!("{project}-below"),
            &[("parent", project.into()), ("no_account", true.into())],
        );
        ground.done(0, below);
        ground.done(
            0,
            Command::AddAccount(account(&format!("{project}-more"), project)),
        );
    }
    ground.done(0, reserve("chem", "chem.1", 10));
    ground.done(0, reserve("bio", "bio.1", 10));
    ground.done(0, charge("chem", "chem.1", 1, 5));
    ground.done(0, charge("bio", "bio.1", 1, 5));
    ground
}

fn row(dimension: Dimension, value: &str, allow: bool) -> Constraint {
    Constraint {
        dimension,
        value: value.into(),
        allow,
        subtree: false,
    }
}

fn account(name: &str, project: &str) -> SetAccount {
    let project = row(Dimension::Project, project, true);
    let members = row(Dimension::User, "MEMBERS", true);
    SetAccount {
        name: name.into(),
        lists: vec![
            (Dimension::Project, vec![project]),
            (Dimension::User, vec![members]),
        ],
        ..SetAccount::default()
    }
}

fn listed(dimension: Dimension, value: &str) -> Command {
    let rows = vec![row(dimension.clone(), value, true)];
    Command::SetAccount(SetAccount {
        name: "chem-more".into(),
        lists: vec![(dimension, rows)],
        ..SetAccount::default()
    })
}

/// An account of `chem` with whole lists, one row of which is asked about.
fn whole(constraint: Constraint) -> Command {
    Command::AddAccount(SetAccount {
        name: "new".into(),
        constraints: Some(vec![row(Dimension::Project, "chem", true), constraint]),
        ..SetAccount::default()
    })
}

fn linked(fallback: Option<&str>, parent: Option<&str>) -> SetAccount {
    SetAccount {
        fallback: fallback.map(|name| Some(name.to_owned())),
        parent: parent.map(|name| Some(name.to_owned())),
        ..account("new", "chem")
    }
}

fn member(project: &str, user: &str) -> Command {
    Command::SetMember(SetMember {
        project: project.into(),
        user: user.into(),
        active: None,
        role: None,
    })
}

fn transfer(from: &str, to: &str) -> Command {
    Command::After(After::Transfer(Transfer {
        from: from.into(),
        to: to.into(),
        amount: Amount(1),
        ..Transfer::default()
    }))
}

fn set_project(name: &str, set: &[(&str, Value)]) -> Command {
    Command::set_record("project", name, set)
}

fn refund(refund: Refund) -> Command {
    Command::After(After::Refund(refund))
}

fn settle(object_id: &str, project: &str) -> Command {
    Command::After(After::Settle(Settle {
        object_id: object_id.into(),
        project: project.into(),
        ..Settle::default()
    }))
}

fn key(machine: &str, job: &str) -> InstanceKey {
    InstanceKey {
        machine: machine.into(),
        object_type: ObjectType::Job,
        object_id: job.into(),
    }
}

fn close(machine: &str, job: &str) -> Command {
    Command::Close(Close {
        key: key(machine, job),
        by: Closing::Delete,
        event_time: None,
    })
}

fn repeat(machine: &str, job: &str) -> Command {
    Command::Repeat(Repeat {
        key: key(machine, job),
        of: "k".into(),
    })
}

fn quote(whose: Whose) -> Command {
    Command::Quote(QuoteRequest {
        whose,
        usage: Usage::default(),
        duration: Some(Seconds(10)),
        promise: Promise::None,
        tid: String::new(),
        uses: 1,
        group: String::new(),
        cost_only: true,
        any_member: true,
    })
}

fn on(machine: &str) -> crate::command::Request {
    let mut request = request("chem", "k", 1);
    request.whose.machine = machine.into();
    request
}

fn lien(number: &str) -> LienId {
    LienId(number.parse().unwrap())
}

fn allocation(number: &str) -> AllocationId {
    AllocationId(number.parse().unwrap())
}

/// The fields of a caller limited to projects.
fn of_projects() -> Vec<Field> {
    let mut all = vec![
        field("project", PROJECTS, |name| set_project(name, &[])),
        field("project.parent", ["chem", "bio", "nosuch"], |name| {
            set_project("chem-below", &[("parent", name.into())])
        }),
        field("SetMember.project", PROJECTS, |name| member(name, "bert")),
        field("SetMember.user", USERS, |name| member("chem", name)),
        field("RemoveMember.project", PROJECTS, |name| {
            Command::RemoveMember(name.into(), "amy".into())
        }),
        field("RemoveMember.user", USERS, |name| {
            Command::RemoveMember("chem".into(), name.into())
        }),
    ];
    all.extend(of_accounts());
    all.extend(of_money());
    all.extend(of_work());
    all
}

fn of_accounts() -> Vec<Field> {
    vec![
        field("AddAccount.constraints project", PROJECTS, |name| {
            whole(row(Dimension::Project, name, true))
        }),
        field("AddAccount.constraints denied project", PROJECTS, |name| {
            whole(row(Dimension::Project, name, false))
        }),
        field("AddAccount.constraints user", USERS, |name| {
            whole(row(Dimension::User, name, true))
        }),
        field("AddAccount.fallback", ACCOUNTS, |name| {
            Command::AddAccount(linked(Some(name), None))
        }),
        field("AddAccount.parent", ACCOUNTS, |name| {
            Command::AddAccount(linked(None, Some(name)))
        }),
        field("SetAccount.name", ACCOUNTS, |name| {
            Command::SetAccount(SetAccount {
                name: name.into(),
                ..SetAccount::default()
            })
        }),
        field("SetAccount.lists project", PROJECTS, |name| {
            listed(Dimension::Project, name)
        }),
        field("SetAccount.lists user", USERS, |name| {
            listed(Dimension::User, name)
        }),
        field("SetAccount.fallback", ["chem", "bio", "nosuch"], |name| {
            Command::SetAccount(SetAccount {
                name: "chem-more".into(),
                ..linked(Some(name), None)
            })
        }),
        field("SetAccount.parent", ["chem", "bio", "nosuch"], |name| {
            Command::SetAccount(SetAccount {
                name: "chem-more".into(),
                ..linked(None, Some(name))
            })
        }),
        field("RemoveAccount", ACCOUNTS, |name| {
            Command::RemoveAccount(name.into())
        }),
    ]
}

fn of_money() -> Vec<Field> {
    vec![
        field("Deposit.name", ACCOUNTS, |name| {
            Command::Deposit(Deposit {
                name: name.into(),
                amount: Amount(1),
                ..Deposit::default()
            })
        }),
        field("Deposit.allocation", ["2", "3", "99"], |number| {
            Command::Deposit(Deposit {
                name: "chem".into(),
                amount: Amount(1),
                allocation: Some(allocation(number)),
                ..Deposit::default()
            })
        }),
        field("Withdraw.name", ["chem", "bio", "nosuch"], |name| {
            Command::Withdraw(Withdraw {
                name: name.into(),
                amount: Amount(1),
                ..Withdraw::default()
            })
        }),
        field("Withdraw.allocation", ["2", "3", "99"], |number| {
            Command::Withdraw(Withdraw {
                name: "chem".into(),
                amount: Amount(1),
                allocation: Some(allocation(number)),
                ..Withdraw::default()
            })
        }),
        field("Transfer.from", ["chem", "bio", "nosuch"], |name| {
            transfer(name, "chem-more")
        }),
        field("Transfer.to", ACCOUNTS, |name| transfer("chem", name)),
        field("Refund.object_id", JOBS, |job| {
            refund(Refund {
                object_id: job.into(),
                ..Refund::default()
            })
        }),
        field("Refund.account", ["chem", "bio", "nosuch"], |name| {
            refund(Refund {
                object_id: "chem.1".into(),
                account: Some(name.into()),
                ..Refund::default()
            })
        }),
        field("Settle.object_id", JOBS, |job| settle(job, "chem")),
        field("Settle.project", PROJECTS, |name| settle("chem.1", name)),
    ]
}

fn of_work() -> Vec<Field> {
    vec![
        field("Quote.project", PROJECTS, |name| {
            quote(request(name, "k", 1).whose)
        }),
        field("Quote.user", USERS, |name| {
            quote(Whose {
                user: Some(name.into()),
                ..request("chem", "k", 1).whose
            })
        }),
        field("Create.project", PROJECTS, |name| {
            Command::Create(Create {
                request: request(name, "k", 1),
                ..Create::default()
            })
        }),
        field("Modify.project", PROJECTS, |name| {
            Command::Modify(request(name, "chem.1", 1))
        }),
        field("Reserve.project", PROJECTS, |name| reserve(name, "k", 10)),
        field("Charge.project", PROJECTS, |name| charge(name, "k", 1, 1)),
        served("Close.job", JOBS, |job| close("colony", job)),
        field("Repeat.job", JOBS, |job| repeat("colony", job)),
        field("ExtendLien", LIENS, |number| {
            Command::ExtendLien(ExtendLien {
                lien: lien(number),
                end: Timestamp::from_seconds(9000),
            })
        }),
        field("ReleaseLien", LIENS, |number| {
            Command::ReleaseLien(lien(number))
        }),
    ]
}

/// The fields of a caller limited to machines.
fn of_machines() -> Vec<Field> {
    vec![
        field("project.machines", MACHINES, |name| {
            set_project("chem", &[("machines", vec![name.to_owned()].into())])
        }),
        field("AddAccount.constraints machine", MACHINES, |name| {
            whole(row(Dimension::Machine, name, true))
        }),
        field("SetAccount.lists machine", MACHINES, |name| {
            listed(Dimension::Machine, name)
        }),
        field("Refund.machine", MACHINES, |name| {
            refund(Refund {
                object_id: "chem.1".into(),
                machine: Some(name.into()),
                ..Refund::default()
            })
        }),
        field("Settle.machine", MACHINES, |name| {
            Command::After(After::Settle(Settle {
                object_id: "chem.1".into(),
                machine: Some(name.into()),
                project: "chem".into(),
                ..Settle::default()
            }))
        }),
        field("Quote.machine", MACHINES, |name| quote(on(name).whose)),
        field("Create.machine", MACHINES, |name| {
            Command::Create(Create {
                request: on(name),
                ..Create::default()
            })
        }),
        field("Modify.machine", MACHINES, |name| Command::Modify(on(name))),
        field("Close.machine", MACHINES, |name| close(name, "chem.1")),
        field("Repeat.machine", MACHINES, |name| repeat(name, "chem.1")),
    ]
}

/// The answer to a name in a field.
fn answer(scope: (&[&str], &[&str]), field: &Field, name: &str) -> Result<String, Refusal> {
    let mut ground = ground();
    let all = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    ground.scope.projects = all(scope.0);
    ground.scope.machines = all(scope.1);
    ground
        .run(10, &(field.make)(name))
        .map(|outcome| format!("{outcome:?}"))
}

fn findings(scope: (&[&str], &[&str]), fields: &[Field]) -> Vec<String> {
    let mut findings = Vec::new();
    for field in fields {
        let [own, foreign, missing] = field.names.map(|name| answer(scope, field, name));
        if own.as_ref().is_err_and(Refusal::is_of_access) {
            findings.push(format!("{}: own: {own:?}", field.label));
        }
        if foreign.is_ok() && !field.is_served {
            findings.push(format!("{}: foreign: {foreign:?}", field.label));
        }
        let shown = |result: Result<String, Refusal>, name: &str| {
            format!("{result:?}")
                .replace(&format!("{name:?}"), "NAME")
                .replace(&format!("\"{name} "), "\"NAME ")
                .replace(&format!(" {name}"), " NAME")
        };
        let [_, one, other] = field.names;
        let (one, other) = (shown(foreign, one), shown(missing, other));
        if one != other {
            findings.push(format!("{}: foreign {one}, missing {other}", field.label));
        }
    }
    findings
}

#[test]
fn objects_of_other_projects_are_answered_like_missing_ones() {
    let found = findings((&["chem"], &[]), &of_projects());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn objects_of_other_machines_are_answered_like_missing_ones() {
    let found = findings((&[], &["colony"]), &of_machines());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Each of two limits holds.
#[test]
fn a_key_for_projects_and_machines_is_held_to_both() {
    let scope: (&[&str], &[&str]) = (&["chem"], &["colony"]);
    let mut found = findings(scope, &of_projects());
    found.extend(findings(scope, &of_machines()));
    assert!(found.is_empty(), "{}", found.join("\n"));
}
