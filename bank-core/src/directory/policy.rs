//! Rules from the site's configuration.

use super::Approval;
use crate::exact::Rounding;
use crate::model::Mode;
use crate::terms::{Excess, Overlap, Shortfall};
use crate::time::Seconds;

/// Who selects the fallback account when the account of a job is short (nami.md 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FallbackMode {
    /// The scheduler: it receives "insufficient funds" and asks again with another account.
    #[default]
    Scheduler,
    /// The bank: it places the lien on the configured fallback account.
    Bank,
}

/// The first criterion for the order of paying allocations (ledger.md 2.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelectionOrder {
    /// The earlier end; at equal end the nearer account.
    #[default]
    ExpiryFirst,
    /// The nearer account; at equal distance the earlier end.
    HierarchyFirst,
}

/// Rules from the site's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a setting of the site with two values"
)]
pub struct Policy {
    /// The mode of machines and projects that have none.
    pub mode: Mode,
    /// The rounding of an exact sum.
    pub rounding: Rounding,
    /// Time after the wall duration for which a lien still holds (decisions.md 12).
    pub lien_grace: Seconds,
    /// Time after the close for which an instance still takes charges (decisions.md 13).
    pub close_grace: Seconds,
    /// Time for which the lien of an ended use waits for the record of the source that charges the machine.
    pub record_wait: Seconds,
    /// Time for which an instance without a lien waits for its next document.
    pub idle: Seconds,
    /// Who selects a fallback account.
    pub fallback: FallbackMode,
    /// Whether charges leave records for the FILE or GGF writers.
    pub records: bool,
    /// The first criterion for the order of paying allocations.
    pub order: SelectionOrder,
    /// Liens hold only on allocations that last as long as the lien (ledger.md 2.7 f).
    pub require_cover: bool,
    /// No two allocations of an account may be usable at the same time (ledger.md 2.1 g).
    pub discrete: bool,
    /// Longest unobserved clock jump ahead without an operator's confirmation.
    pub max_jump: Seconds,
    /// Longest downtime of the bank before a start needs an operator's confirmation.
    pub max_downtime: Seconds,
    /// Who covers the uncovered part of a charge.
    pub shortfall: Shortfall,
    /// Whether credits that came after the usage may pay for it, where nothing from then can.
    pub later_credits_pay: bool,
    /// The treatment of a window that was billed before.
    pub overlap: Overlap,
    /// The treatment of reported time beyond the plausible maximum.
    pub excess: Excess,
    /// Above which amounts somebody else has to approve.
    pub approval: Approval,
}

/// Every fallback mode with its word.
pub const FALLBACK_MODES: [(FallbackMode, &str); 2] = [
    (FallbackMode::Scheduler, "scheduler"),
    (FallbackMode::Bank, "bank"),
];

crate::words!(FallbackMode, FALLBACK_MODES, "scheduler");

/// Every order with its word.
pub const ORDERS: [(SelectionOrder, &str); 2] = [
    (SelectionOrder::ExpiryFirst, "expiry-first"),
    (SelectionOrder::HierarchyFirst, "hierarchy-first"),
];

crate::words!(SelectionOrder, ORDERS, "expiry-first");

impl Default for Policy {
    fn default() -> Self {
        Policy {
            mode: Mode::Strict,
            rounding: Rounding::HalfEven,
            lien_grace: Seconds(600),
            close_grace: Seconds(600),
            record_wait: Seconds(86_400),
            idle: Seconds(7 * 86400),
            fallback: FallbackMode::Scheduler,
            records: false,
            order: SelectionOrder::ExpiryFirst,
            require_cover: false,
            discrete: false,
            max_jump: Seconds(3600),
            max_downtime: Seconds(7 * 86400),
            shortfall: Shortfall::Debt,
            later_credits_pay: false,
            overlap: Overlap::BillRest,
            excess: Excess::Clip,
            approval: Approval::default(),
        }
    }
}
