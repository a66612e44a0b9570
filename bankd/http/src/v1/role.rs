//! Roles of people: granted roles, and roles from project membership.

use axum::response::IntoResponse;
use bank_api::v1::{NewRoleGrant, RevokeQuery, RoleGrant, RoleQuery};
use bank_core::command::{Access, Command, GrantRole, RevokeRole};
use bank_core::directory::Directory;
use bank_core::effects::Outcome;
use bank_core::model::{Grant, MemberRole};
use bank_core::refusal::Refusal;
use bank_core::role::Role;
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;

use super::call::{Call, Handled, new_state, removed, rendered};
use super::covered;
use super::json::{self, read_time, some};
use super::pages::Turn;
use super::path::Path;
use super::view::View;

/// `GET /api/v1/roles`: by name, as far as the caller's scope covers them.
pub(super) async fn list(call: Call) -> Handled {
    let RoleQuery {
        name,
        all,
        limit,
        after,
    } = call.query()?;
    let turn = Turn::of(&call, limit, after)?;
    let (directory, now) = (call.directory(), call.now());
    let given = directory.grants().filter(|g| all || g.counts(now));
    let given = given.filter(|g| covered::grant(&call.view, g));
    let given = given.map(|g| shaped(directory, g));
    let mut items: Vec<RoleGrant> = given.chain(in_projects(&call.view)).collect();
    items.retain(|row| name.as_ref().is_none_or(|name| *name == row.name));
    items.sort_by_cached_key(place);
    turn.list(&call, items, place, |row| row)
}

/// Position of a row in the list. No name contains a line break.
fn place(row: &RoleGrant) -> String {
    let project = row.project.as_deref().unwrap_or_default();
    format!("{}\n{}\n{project}\n{}", row.name, row.role, row.by)
}

/// Roles in projects other than member.
fn in_projects(view: &View) -> impl Iterator<Item = RoleGrant> {
    let directory = view.directory();
    let members = directory.members();
    let leading = members.filter(|member| member.active && member.role != MemberRole::Member);
    leading.filter_map(move |member| {
        let project = directory.project(member.project);
        let project = project.filter(|p| !p.deleted && view.sees_project(p))?;
        Some(RoleGrant {
            name: directory.user(member.user)?.name.clone(),
            role: member.role.word().to_owned(),
            project: Some(project.name.clone()),
            until: None,
            by: "member".to_owned(),
        })
    })
}

/// `POST /api/v1/roles`
pub(super) async fn grant(call: Call) -> Handled {
    let new: NewRoleGrant = call.json()?;
    let until = new.until.as_deref().map(|text| read_time(text, "until"));
    let command = GrantRole {
        role: read_role(&new.role).map_err(|r| call.refused(&r))?,
        project: new.project,
        until: until.transpose().map_err(|r| call.refused(&r))?,
        name: new.name,
    };
    let command = Command::Access(Access::Grant(command));
    Ok(call.write(command, render).await?.into_response())
}

/// `DELETE /api/v1/roles/{name}/{role}`: it counts no more from the answer on.
pub(super) async fn revoke(Path((name, role)): Path<(String, String)>, call: Call) -> Handled {
    let RevokeQuery { dry_run, project } = call.query()?;
    let role = match read_role(&role) {
        Ok(role) => role,
        Err(refusal) => return call.answered_or(call.refused(&refusal)).await,
    };
    let command = Command::Access(Access::Revoke(RevokeRole {
        name,
        role,
        project: project.as_deref().and_then(some),
    }));
    let done = call.write_or_try(command, removed, dry_run).await?;
    Ok(done.into_response())
}

/// A role by its word.
pub(super) fn read_role(word: &str) -> Result<Role, Refusal> {
    Role::parse(word).ok_or(Refusal::BadValue {
        field: "role",
        expected: "admin, operator, manager, pi, auditor, scheduler, collector or user",
    })
}

fn shaped(directory: &Directory, grant: &Grant) -> RoleGrant {
    let project = grant.project.and_then(|id| directory.project(id));
    RoleGrant {
        name: grant.name.clone(),
        role: grant.role.word().to_owned(),
        project: project.map(|p| p.name.clone()),
        until: grant.until.map(json::time),
        by: if grant.revoked { "revoked" } else { "grant" }.to_owned(),
    }
}

fn render(decided: &Decided<'_>) -> Answer {
    rendered(decided, 201, |outcome| match outcome {
        Outcome::Granted(grant) => Some(new_state(shaped(decided.directory, grant), decided)),
        _ => None,
    })
}
