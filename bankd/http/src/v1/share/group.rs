//! Groups of uses.

use bank_core::directory::Directory;
use bank_core::kind::{Key, Record};
use bank_core::refusal::Refusal;
use bankd_store::read::uses::Used;

use super::super::call::Call;
use super::super::view::Lookup as _;

/// The key of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Project,
    Account,
    User,
    Group,
    Contributor,
}

const BYS: [(By, &str); 5] = [
    (By::Project, "project"),
    (By::Account, "account"),
    (By::User, "user"),
    (By::Group, "group"),
    (By::Contributor, "contributor"),
];

/// The key in a query.
pub(super) fn read(text: Option<&str>) -> Result<By, Refusal> {
    let expected = "project, account, user, group or contributor";
    super::read(&BYS, text, By::Project, "by", expected)
}

pub(super) fn word(by: By) -> String {
    super::word(&BYS, by)
}

/// The name of this kind of group.
pub(super) fn kind(by: By) -> &'static str {
    let found = BYS.iter().find(|(own, _)| *own == by);
    found.map_or("group", |(_, word)| word)
}

/// Whether the bank has this group. Groups of systems are not registered.
pub(super) fn is_registered(by: By, name: &str, call: &Call) -> bool {
    match by {
        By::Project => call.view.project(name).is_ok(),
        By::Account => call.view.account_ever(name).is_ok(),
        By::User => call.view.user(name).is_ok(),
        By::Group => false,
        By::Contributor => {
            let key = Key::Name(name.to_owned());
            call.directory().records.get("contributor", &key).is_some()
        }
    }
}

/// The group of a use; empty if not reported.
pub(super) fn of<'u>(by: By, used: &'u Used, directory: &'u Directory) -> &'u str {
    match by {
        By::Project => &used.project,
        By::Account => &used.account,
        By::User => &used.user,
        By::Group => &used.group,
        By::Contributor => {
            let own = directory.contributor_of(&used.project);
            own.map_or("", Record::name)
        }
    }
}
