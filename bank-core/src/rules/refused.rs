//! Refused reserves that are kept: why an object did not get its lien, and the time of the request.
//!
//! Only refusals that an operator can act on are kept: funds, membership, names. A malformed request and
//! one beyond the caller's scope leave nothing.

use crate::amount::Amount;
use crate::command::{AfterEnd, Command};
use crate::directory::Directory;
use crate::effects::RefusedReserve;
use crate::refusal::Refusal;
use crate::select;
use crate::time::Timestamp;

/// The record of a refused reserve; none for other commands and refusals.
pub(crate) fn of(
    command: &Command,
    refusal: &Refusal,
    directory: &Directory,
    now: Timestamp,
) -> Option<RefusedReserve> {
    let Command::Reserve(reserve) = command else {
        return None;
    };
    subject(refusal)?;
    let request = &reserve.request;
    Some(RefusedReserve {
        key: request.key(),
        project: select::find(directory, &request.whose).project_name,
        user: request.whose.user.clone().unwrap_or_default(),
        at: request.event_time.map_or(now, |at| at.min(now)),
        is_start: reserve.after_end != AfterEnd::Absorbed,
        refusal: refusal.clone(),
    })
}

/// The name in a refusal; none for refusals that are not kept.
pub fn subject(refusal: &Refusal) -> Option<&str> {
    Some(match refusal {
        Refusal::InsufficientFunds { whose: name, .. }
        | Refusal::AccountBlocked { account: name }
        | Refusal::NotAMember { project: name, .. }
        | Refusal::NoUsableAccount { project: name }
        | Refusal::UserInactive { user: name }
        | Refusal::ProjectInactive { project: name }
        | Refusal::MachineInactive { machine: name }
        | Refusal::ProjectUnknown { project: name }
        | Refusal::UserUnknown { user: name }
        | Refusal::MachineUnknown { machine: name } => name,
        Refusal::NoDefaultProject => "",
        _ => return None,
    })
}

/// The needed and the available amount of a refusal for lack of funds; zero for others.
pub fn figures(refusal: &Refusal) -> (Amount, Amount) {
    match refusal {
        Refusal::InsufficientFunds {
            needed, available, ..
        } => (*needed, *available),
        _ => (Amount::ZERO, Amount::ZERO),
    }
}

/// The refusal again from its code, its subject, the user and its figures.
pub fn rebuilt(
    code: &str,
    name: &str,
    user: &str,
    (needed, available): (Amount, Amount),
) -> Option<Refusal> {
    let (name, user) = (name.to_owned(), user.to_owned());
    Some(match code {
        "insufficient_funds" => Refusal::InsufficientFunds {
            needed,
            available,
            whose: name,
        },
        "account_blocked" => Refusal::AccountBlocked { account: name },
        "not_a_member" => Refusal::NotAMember {
            user,
            project: name,
        },
        "no_usable_account" => Refusal::NoUsableAccount { project: name },
        "user_inactive" => Refusal::UserInactive { user: name },
        "project_inactive" => Refusal::ProjectInactive { project: name },
        "machine_inactive" => Refusal::MachineInactive { machine: name },
        "project_unknown" => Refusal::ProjectUnknown { project: name },
        "user_unknown" => Refusal::UserUnknown { user: name },
        "machine_unknown" => Refusal::MachineUnknown { machine: name },
        "no_default_project" => Refusal::NoDefaultProject,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kept_refusal_comes_back_as_it_was() {
        let name = || "chem".to_owned();
        let all = [
            Refusal::InsufficientFunds {
                needed: Amount(5),
                available: Amount(-3),
                whose: name(),
            },
            Refusal::AccountBlocked { account: name() },
            Refusal::NotAMember {
                user: "amy".to_owned(),
                project: name(),
            },
            Refusal::NoUsableAccount { project: name() },
            Refusal::UserInactive { user: name() },
            Refusal::ProjectInactive { project: name() },
            Refusal::MachineInactive { machine: name() },
            Refusal::ProjectUnknown { project: name() },
            Refusal::UserUnknown { user: name() },
            Refusal::MachineUnknown { machine: name() },
            Refusal::NoDefaultProject,
        ];
        for refusal in all {
            let kept = subject(&refusal).unwrap();
            let again = rebuilt(refusal.code(), kept, "amy", figures(&refusal));
            assert_eq!(again, Some(refusal));
        }
        assert_eq!(subject(&Refusal::BadWindow), None);
        assert_eq!(
            rebuilt("bad_window", "", "", figures(&Refusal::BadWindow)),
            None
        );
    }
}
