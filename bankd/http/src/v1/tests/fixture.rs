//! Reference data that needs no store.

use std::sync::Arc;

use bank_core::amount::Precision;
use bank_core::directory::{Bank, Directory, Policy};
use bank_core::ids::{AccountId, ProjectId, RateId, UserId};
use bank_core::model::{Account, Constraint, Dimension, Member, Project, User};
use bank_core::rate::{Per, Rate, RateKind, RateValue};
use bank_core::time::Window;

/// Projects bio, chem and chem/gpu; amy is a member of the latter two, bob of bio, eve of none;
/// every project has its account, and standby is for all.
pub(in super::super) fn directory() -> Arc<Directory> {
    let bank = Bank {
        uuid: "u".into(),
        precision: Precision::DEFAULT,
        unit: "SU".into(),
    };
    let mut directory = Directory::new(bank, Policy::default());
    for (id, name) in [(1, "amy"), (2, "bob"), (3, "eve")] {
        directory.put_user(User {
            id: UserId(id),
            name: name.into(),
            active: true,
            deleted: false,
            common_name: String::new(),
            phone: String::new(),
            description: String::new(),
            aliases: Vec::new(),
            email: String::new(),
            default_project: None,
            organization: String::new(),
        });
    }
    for (id, name, parent, user) in [
        (1, "chem", None, 1),
        (2, "chem/gpu", Some(1), 1),
        (3, "bio", None, 2),
    ] {
        directory.put_project(Project {
            id: ProjectId(id),
            name: name.into(),
            parent: parent.map(ProjectId),
            active: true,
            deleted: false,
            mode: None,
            description: String::new(),
            organization: String::new(),
            machines: Vec::new(),
        });
        directory.put_member(Member {
            project: ProjectId(id),
            user: UserId(user),
            active: true,
            role: bank_core::model::MemberRole::Member,
        });
        directory.put_account(account(id, name, Some(name)));
    }
    directory.put_account(account(4, "standby", None));
    Arc::new(directory)
}

fn account(id: i64, name: &str, project: Option<&str>) -> Account {
    let row = |dimension, value: &str| Constraint {
        dimension,
        value: value.into(),
        allow: true,
        subtree: false,
    };
    let own = |name: &str| {
        vec![
            row(Dimension::Project, name),
            row(Dimension::User, "MEMBERS"),
        ]
    };
    Account {
        id: AccountId(id),
        name: name.into(),
        priority: 0,
        fallback: None,
        blocked: false,
        deleted: false,
        description: String::new(),
        constraints: project.map(own).unwrap_or_default(),
        link: None,
        discrete: false,
    }
}

pub(in super::super) fn rate(
    id: i64,
    kind: RateKind,
    name: &str,
    instance: &str,
    value: &str,
    per: Per,
) -> Rate {
    Rate {
        id: RateId(id),
        kind,
        name: name.into(),
        instance: instance.into(),
        value: RateValue::parse(value).unwrap(),
        per,
        machine: None,
        window: Window::ALWAYS,
        when: None,
        description: String::new(),
    }
}
