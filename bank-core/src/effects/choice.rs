//! What a choice among accounts was asked with, so that it can be explained later: whatever is changed
//! afterwards, the same question can be asked again (decision note 0082).

use crate::directory::{FallbackMode, Policy, SelectionOrder};
use crate::ids::{AccountId, MachineId, ProjectId, UserId};
use crate::model::{Mode, Traits};
use crate::select::Payer;
use crate::terms::Shortfall;

/// Who was to pay, and what was known of the request besides. Written down only where the entries of
/// the choice do not say the same.
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
    /// That of a payer, after an account of its own.
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
    /// Who steps in for an account that is short.
    pub fallback: FallbackMode,
    /// What decides first which allocation pays.
    pub order: SelectionOrder,
    /// Whether liens lie only on allocations that last as long as they do.
    pub require_cover: bool,
    /// Who covers what a charge lacks.
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

    /// In words, as the journal says it.
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
