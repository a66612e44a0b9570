//! Objects of the ledger as JSON shapes.

use bank_api::text::{self, format_rfc3339};
use bank_api::v1;
use bank_core::amount::{Amount, Precision};
use bank_core::command::SetAccount;
use bank_core::directory::{Bank, Directory};
use bank_core::model::{
    Account, Allocation, Dimension, Member, MemberRole, Mode, Phase, Project, User,
};
use bank_core::refusal::Refusal;
use bank_core::time::Timestamp;

use super::view::View;

/// An amount with all decimals of the bank.
pub(super) fn amount(amount: Amount, bank: &Bank) -> String {
    text::format_amount(amount.0, bank.precision.places())
}

/// A sum, held at the ends of the range.
pub(super) fn sum(sum: i128, bank: &Bank) -> String {
    amount(Amount::clamped(sum), bank)
}

/// A time.
pub(super) fn time(at: Timestamp) -> String {
    format_rfc3339(at.0)
}

/// A text, or `null` if it is empty.
pub(super) fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// A text that clears the value if it is empty.
pub(super) fn cleared(text: String) -> Option<String> {
    Some(text).filter(|t| !t.is_empty())
}

/// An amount in a request.
pub(super) fn read_amount(text: &str, precision: Precision) -> Result<Amount, Refusal> {
    Ok(Amount::parse(text, precision)?)
}

/// A bound of a window in a request: RFC 3339, or `unbounded` (`infinity`, `-infinity`) for none.
pub(super) fn read_bound(
    text: &str,
    field: &'static str,
    unbounded: &str,
) -> Result<Option<Timestamp>, Refusal> {
    if text == unbounded {
        return Ok(None);
    }
    read_time(text, field).map(Some)
}

/// A time in a request.
pub(super) fn read_time(text: &str, field: &'static str) -> Result<Timestamp, Refusal> {
    let expected = "a time such as 2026-10-01T00:00:00Z";
    text::parse_rfc3339(text)
        .map(Timestamp)
        .ok_or(Refusal::BadValue { field, expected })
}

/// A mode in a request; `default` is that of the machine or of the bank.
pub(super) fn read_mode(word: &str) -> Result<Option<Mode>, Refusal> {
    let expected = "strict, fast, notional, track or default";
    match word {
        "default" => Ok(None),
        _ => Mode::parse(word).map(Some).ok_or(Refusal::BadValue {
            field: "mode",
            expected,
        }),
    }
}

/// A member's role in a request.
pub(super) fn read_member_role(word: &str) -> Result<MemberRole, Refusal> {
    MemberRole::parse(word).ok_or(Refusal::BadValue {
        field: "role",
        expected: "member, pi or manager",
    })
}

fn mode(mode: Option<Mode>) -> String {
    mode.map_or("default", Mode::word).to_owned()
}

/// A project. `view` hides accounts and members that the caller may not see; without one all are
/// shown.
pub(super) fn project(
    directory: &Directory,
    project: &Project,
    view: Option<&View>,
) -> v1::Project {
    let names = |a: &&Account| {
        a.constraints
            .iter()
            .any(|c| c.dimension == Dimension::Project && c.allow && c.value == project.name)
    };
    let accounts = directory.accounts().filter(names);
    let accounts = accounts.filter(|a| view.is_none_or(|v| v.sees_account(a)));
    let parent = project.parent.and_then(|id| directory.project(id));
    let parent = parent.filter(|p| view.is_none_or(|v| v.sees_project(p)));
    v1::Project {
        name: project.name.clone(),
        parent: parent.map(|p| p.name.clone()),
        active: project.active,
        mode: mode(project.mode),
        description: some(&project.description),
        accounts: accounts.map(|a| a.name.clone()).collect(),
        members: members(directory, project),
        organization: some(&project.organization),
        machines: project
            .machines
            .iter()
            .filter_map(|id| directory.machine(*id))
            .filter(|m| view.is_none_or(|v| v.sees_machine(&m.name)))
            .map(|m| m.name.clone())
            .collect(),
    }
}

/// The members of a project, by name.
pub(super) fn members(directory: &Directory, project: &Project) -> Vec<v1::Member> {
    let rows = directory.members_of(project.id);
    let mut members: Vec<v1::Member> = rows
        .iter()
        .filter_map(|row| member(directory, row))
        .collect();
    members.sort_by(|a, b| a.user.cmp(&b.user));
    members
}

/// A membership.
pub(super) fn member(directory: &Directory, member: &Member) -> Option<v1::Member> {
    let user = directory.user(member.user)?;
    Some(v1::Member {
        user: user.name.clone(),
        active: member.active,
        role: member.role.word().to_owned(),
    })
}

/// A user. `view` hides projects that the caller may not see.
pub(super) fn user(directory: &Directory, user: &User, view: Option<&View>) -> v1::User {
    let seen = |p: &&Project| view.is_none_or(|v| v.sees_project(p));
    let own = |p: &&Project| directory.membership(p.id, user.id).is_some();
    let projects = directory.projects().filter(own).filter(seen);
    let default = user.default_project.and_then(|id| directory.project(id));
    v1::User {
        name: user.name.clone(),
        active: user.active,
        common_name: some(&user.common_name),
        email: some(&user.email),
        default_project: default.filter(|p| seen(p)).map(|p| p.name.clone()),
        projects: projects.map(|p| p.name.clone()).collect(),
        organization: some(&user.organization),
        phone: some(&user.phone),
        description: some(&user.description),
        aliases: user.aliases.clone(),
    }
}

/// A change of an account that changes nothing yet.
pub(super) fn no_change(name: &str) -> SetAccount {
    SetAccount {
        name: name.to_owned(),
        ..SetAccount::default()
    }
}

/// An allocation at an instant.
pub(super) fn allocation(
    directory: &Directory,
    allocation: &Allocation,
    phase: Phase,
) -> v1::Allocation {
    let bank = &directory.bank;
    let account = directory.account(allocation.account);
    v1::Allocation {
        id: allocation.id.0,
        account: account.map(|a| a.name.clone()).unwrap_or_default(),
        state: phase.word().to_owned(),
        start: allocation.window.start.map(time),
        until: allocation.window.end.map(time),
        amount: amount(allocation.amount, bank),
        held: amount(allocation.held, bank),
        credit_limit: amount(allocation.credit_limit, bank),
        deposited: amount(allocation.deposited, bank),
        shadow_charged: sum(-i128::from(allocation.shadow.0), bank),
        shadow_held: amount(allocation.shadow_held, bank),
        unit: bank.unit.clone(),
    }
}
