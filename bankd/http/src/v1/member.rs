//! Members of projects.

use axum::response::IntoResponse;
use bank_api::v1::{self, NewMember};
use bank_core::command::{Command, SetMember};
use bank_core::directory::Directory;
use bank_core::effects::Outcome;
use bank_core::ids::ProjectId;
use bank_core::model::Member;
use bank_core::refusal::Refusal;
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;

use super::call::{Call, Handled, new_state, removed, rendered};
use super::historical;
use super::json;
use super::path::Path;
use super::view::Lookup as _;

/// `GET /api/v1/projects/{name}/members`
pub(super) async fn list(Path(name): Path<String>, call: Call) -> Handled {
    let (then, turn) = historical::listed(&call).await?;
    let view = historical::view(then.as_ref(), &call);
    let project = view.project(&name)?;
    let members = members_of(view.directory(), project.id);
    turn.list(&call, members, |row| row.user.clone(), |row| row)
}

/// `POST /api/v1/projects/{name}/members`
pub(super) async fn set(Path(name): Path<String>, call: Call) -> Handled {
    let command = read(name, call.json()?).map_err(|r| call.refused(&r))?;
    Ok(call.write(command, render).await?.into_response())
}

/// A member of a project in a request.
pub(super) fn read(project: String, new: NewMember) -> Result<Command, Refusal> {
    let role = new.role.as_deref().map(json::read_member_role);
    Ok(Command::SetMember(SetMember {
        project,
        user: new.user,
        // A change of the role alone does not change `active`.
        active: new.active.or(new.role.is_none().then_some(true)),
        role: role.transpose()?,
    }))
}

/// `DELETE /api/v1/projects/{name}/members/{user}`
pub(super) async fn remove(Path((name, user)): Path<(String, String)>, call: Call) -> Handled {
    let command = Command::RemoveMember(name, user);
    Ok(call.write(command, removed).await?.into_response())
}

fn render(decided: &Decided<'_>) -> Answer {
    rendered(decided, 201, |outcome| match outcome {
        Outcome::Member(member) => {
            let shape = shape(decided.directory, member);
            shape.map(|member| new_state(member, decided))
        }
        _ => None,
    })
}

/// The members of a project, by name.
pub(super) fn members_of(directory: &Directory, project: ProjectId) -> Vec<v1::Member> {
    let rows = directory.members_of(project);
    let mut members: Vec<v1::Member> = rows
        .iter()
        .filter_map(|row| shape(directory, row))
        .collect();
    members.sort_by(|a, b| a.user.cmp(&b.user));
    members
}

fn shape(directory: &Directory, member: &Member) -> Option<v1::Member> {
    let user = directory.user(member.user)?;
    Some(v1::Member {
        user: user.name.clone(),
        active: member.active,
        role: member.role.word().to_owned(),
    })
}
