//! What makes a group of uses.

use bank_core::directory::Directory;
use bank_core::refusal::Refusal;

use crate::store::read::uses::Used;

/// By what uses are put together.
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

/// As a question says it.
pub(super) fn read(text: Option<&str>) -> Result<By, Refusal> {
    let expected = "project, account, user, group or contributor";
    super::read(&BYS, text, By::Project, "by", expected)
}

pub(super) fn word(by: By) -> String {
    super::word(&BYS, by)
}

/// The group of a use; empty where nobody says.
pub(super) fn of<'u>(by: By, used: &'u Used, directory: &'u Directory) -> &'u str {
    match by {
        By::Project => &used.project,
        By::Account => &used.account,
        By::User => &used.user,
        By::Group => &used.group,
        By::Contributor => {
            let own = directory.contributor_of(&used.project);
            own.map_or("", |own| own.name.as_str())
        }
    }
}
