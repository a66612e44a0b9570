//! The input of a choice among accounts, kept so that the choice can be explained and repeated after later
//! changes (decision note 0082).

use crate::directory::{FallbackMode, Policy, SelectionOrder};
use crate::ids::{AccountId, MachineId, ProjectId, UserId};
use crate::model::{Mode, Traits};
use crate::select::Payer;
use crate::terms::Shortfall;

/// The intended payer, and further facts of the request. Recorded only if the entries of the choice do not
/// have the same facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The project.
    pub project: Option<ProjectId>,
    /// The user.
    pub user: Option<UserId>,
    /// The machine.
    pub machine: Option<MachineId>,
    /// The only account that might pay.
    pub only: Option<AccountId>,
    /// Any member would have done.
    pub any_member: bool,
    /// The account that paid for the job before, where it was asked first.
    pub own: Option<AccountId>,
    /// Class, quality of service and the rest, where lists look at them.
    pub traits: Option<Box<Traits>>,
}

impl Choice {
    /// The choice of a payer, with its own account first.
    pub(crate) fn of(payer: &Payer, own: Option<AccountId>) -> Choice {
        Choice {
            project: payer.project,
            user: payer.user,
            machine: payer.machine,
            only: payer.only,
            any_member: payer.any_member,
            own,
            traits: payer.traits.clone(),
        }
    }

    /// The payer that it was of; its project goes by its number.
    pub fn payer(self) -> Payer {
        Payer {
            project: self.project,
            user: self.user,
            machine: self.machine,
            only: self.only,
            any_member: self.any_member,
            project_name: String::new(),
            traits: self.traits,
        }
    }
}

/// The settings of the site that decide which accounts pay, in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The mode of machines and projects that have none.
    pub mode: Mode,
    /// Who selects a fallback account.
    pub fallback: FallbackMode,
    /// The first criterion for the order of paying allocations.
    pub order: SelectionOrder,
    /// Whether liens hold only on allocations that last as long as the lien.
    pub require_cover: bool,
    /// Who covers the uncovered part of a charge.
    pub shortfall: Shortfall,
}

impl Settings {
    /// Those of a policy.
    pub fn of(policy: &Policy) -> Settings {
        Settings {
            mode: policy.mode,
            fallback: policy.fallback,
            order: policy.order,
            require_cover: policy.require_cover,
            shortfall: policy.shortfall,
        }
    }

    /// A policy in which they hold.
    #[must_use]
    pub fn within(self, policy: Policy) -> Policy {
        Policy {
            mode: self.mode,
            fallback: self.fallback,
            order: self.order,
            require_cover: self.require_cover,
            shortfall: self.shortfall,
            ..policy
        }
    }

    /// As text, for the journal.
    pub(crate) fn text(self) -> String {
        let Settings {
            mode,
            fallback,
            order,
            require_cover,
            shortfall,
        } = self;
        format!(
            "mode={} fallback={} order={} require_cover={require_cover} shortfall={}",
            mode.word(),
            fallback.word(),
            order.word(),
            shortfall.word()
        )
    }
}
