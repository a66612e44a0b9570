//! Owners of usage and of counted jobs: their visibility, and the filter of a query.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bank_api::v1::UsageQuery;
use bank_core::ids::AccountId;
use bank_core::mapping::Naming;
use bank_core::model::MemberRole;
use bankd_intake::namespace;
use bankd_store::read::report::{Owner, Whose};

use super::view::View;

/// In place of a name that the caller does not see: no name holds it.
pub(super) const HIDDEN: &str = "\u{0}";

/// Whether a figure is visible, and whether its owner is.
pub(super) fn sees(view: &View, owner: &Owner<'_>) -> Option<bool> {
    if view.sees_work(owner.project, owner.user, owner.machine) {
        return Some(true);
    }
    let project = view.meant(owner.project)?;
    let is_seen = view.sees_project(project) && view.sees_machine(owner.machine);
    is_seen.then_some(false)
}

/// Whether a figure matches the query.
pub(super) fn holds(view: &View, query: &UsageQuery, owner: &Owner<'_>, is_named: bool) -> bool {
    let same = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|name| name == is);
    let directory = view.directory();
    let of_account = |name: &String| {
        let account = directory.account(AccountId(owner.account));
        account.is_some_and(|a| a.name == *name || a.id.0.to_string() == *name)
    };
    let of_project = |name: &String| {
        if owner.project == name {
            return true;
        }
        let Some(meant) = view.meant(owner.project) else {
            return false;
        };
        if query.tree {
            let line = directory.lineage(meant.id);
            return line.iter().any(|project| project.name == *name);
        }
        meant.name == *name
    };
    query.project.as_ref().is_none_or(of_project)
        && query.account.as_ref().is_none_or(of_account)
        && same(&query.user, owner.user)
        && (is_named || query.user.is_none())
        && same(&query.machine, owner.machine)
        && same(&query.queue, owner.queue)
        && same(&query.qos, owner.qos)
}

/// The leader of a project today: its principal investigator, else that of its parent project; empty for
/// none. Of several the first by name.
pub(super) fn leader(view: &View, project: &str) -> String {
    let directory = view.directory();
    let Some(project) = view.meant(project) else {
        return String::new();
    };
    let mut line = directory.lineage(project.id);
    if !line.iter().any(|p| p.id == project.id) {
        line.insert(0, project);
    }
    let of = |project: &&bank_core::model::Project| {
        let members = directory.members_of(project.id).into_iter();
        let leading = members.filter(|m| m.active && m.role == MemberRole::Pi);
        let names = leading.filter_map(|member| directory.user(member.user));
        names.map(|user| user.name.clone()).min()
    };
    line.iter().find_map(of).unwrap_or_default()
}

/// The present owner of a count: as mapped when it was recorded. If that was unmapped, by the mappings of
/// today.
pub(super) struct CurrentNames<'w> {
    project: Cow<'w, str>,
    user: Cow<'w, str>,
}

impl<'w> CurrentNames<'w> {
    pub(super) fn of(view: &View, whose: &Whose<'w>) -> CurrentNames<'w> {
        let stored = CurrentNames {
            project: Cow::Borrowed(whose.project),
            user: Cow::Borrowed(whose.user),
        };
        if view.meant(whose.project).is_some() {
            return stored;
        }
        let nothing = BTreeMap::new();
        let mapped = view.directory().mapped(&Naming {
            source: whose.source,
            machine: whose.machine,
            user: whose.login,
            account: whose.account,
            queue: whose.queue,
            namespace: namespace(whose.format, whose.account, &nothing),
            ..Naming::default()
        });
        if view.meant(&mapped.project).is_none() {
            return stored;
        }
        CurrentNames {
            project: Cow::Owned(mapped.project),
            user: Cow::Owned(mapped.user),
        }
    }

    /// The owner in the form of usage.
    pub(super) fn owner<'o>(&'o self, whose: &Whose<'o>) -> Owner<'o> {
        Owner {
            project: &self.project,
            account: 0,
            user: &self.user,
            machine: whose.machine,
            queue: whose.queue,
            qos: "",
            pi: "",
        }
    }
}
