//! The accounts that project, user and machine of a query may spend from (ledger.md 2.6).

use bank_core::directory::Directory;
use bank_core::ids::AccountId;
use bank_core::model::Account;
use bankd_ledger::usable::{By, usable};
use bankd_ledger::view::View;

use super::{Call, Fault, take_related};

/// Names of related objects, as conditions or as options.
const RELATED: [&str; 3] = ["Project", "User", "Machine"];

/// The options of a query that are about who may spend. The lists always count, and so do accounts above
/// that pay for those below.
pub(super) const OPTIONS: [&str; 5] =
    ["Project", "User", "Machine", "UseRules", "IncludeAncestors"];

/// The accounts that the related objects may together spend from, and the excluded ones may not; none where
/// the query names no related object. A name that is unknown or out of view may spend from none.
pub(super) fn related(view: &View, call: &mut Call) -> Result<Option<Vec<AccountId>>, Fault> {
    let mut related = take_related(call, &RELATED)?;
    for name in RELATED {
        if let Some(value) = call.option(name) {
            related.push((name, true, value.to_owned()));
        }
    }
    if related.is_empty() {
        return Ok(None);
    }
    let accounts = view.directory().accounts();
    let usable = accounts.filter(|account| is_related(view, &related, account));
    Ok(Some(usable.map(|account| account.id).collect()))
}

fn is_related(view: &View, related: &[(&'static str, bool, String)], account: &Account) -> bool {
    let directory: &Directory = view.directory();
    let mut together = By::default();
    for (name, must, value) in related {
        let mut one = By::default();
        let known = match *name {
            "Project" => {
                let found = directory.project_named(value);
                one.project = found.filter(|own| view.sees_project(own));
                one.project.is_some()
            }
            "User" => {
                let found = directory.user_named(value);
                one.user = found.filter(|own| view.sees_user(own));
                one.user.is_some()
            }
            _ => {
                let found = directory.machine_named(value);
                one.machine = found.filter(|own| view.sees_machine(&own.name));
                one.machine.is_some()
            }
        };
        if !must {
            if known && usable(directory, account, one) {
                return false;
            }
            continue;
        }
        if !known || together.contradicts(one) {
            return false;
        }
        together = together.and(one);
    }
    usable(directory, account, together)
}
