//! The outcome of a job: what has become of its price.

use bank_core::amount::Amount;
use bank_core::effects::Billing;
use bank_core::refusal::Refusal;
use bankd_store::read::charges::Charge;
use bankd_store::read::jobs::JobRow;

/// The outcomes of a job.
const OUTCOMES: [&str; 7] = [
    "charged",
    "partly_refunded",
    "refunded",
    "unbilled",
    "notional",
    "reversed",
    "none",
];

pub(super) fn known(word: &str) -> Result<&'static str, Refusal> {
    let found = OUTCOMES.into_iter().find(|known| *known == word);
    found.ok_or_else(|| {
        let expected = "charged, partly_refunded, refunded, unbilled, notional, reversed or none";
        Refusal::bad_value("outcome", expected)
    })
}

/// What a job was charged, minor units.
pub(super) struct Used {
    /// The last charge that is no refund.
    pub(super) last: Option<Charge>,
    pub(super) billed: i128,
    /// Without refunds that were undone.
    pub(super) refunded: i128,
}

impl Used {
    pub(super) fn new(row: &JobRow, (last, refunded): (Option<Charge>, i128)) -> Used {
        let billed = i128::from(row.billed.0) + i128::from(row.shadow_billed.0);
        Used {
            last,
            billed,
            refunded,
        }
    }

    /// Of all charges of a job.
    pub(super) fn of(row: &JobRow, charges: &[Charge]) -> Used {
        let is_refund = |charge: &&Charge| charge.billing == Billing::Refund;
        let refunds = charges.iter().filter(is_refund);
        let refunded = refunds.map(|charge| -i128::from(charge.amount.0)).sum();
        let last = charges.iter().rev().find(|charge| !is_refund(charge));
        Used::new(row, (last.cloned(), refunded))
    }

    /// A word of `OUTCOMES`.
    pub(super) fn outcome(&self) -> &'static str {
        let Some(last) = &self.last else {
            return "none";
        };
        match (last.billing, self.refunded) {
            _ if last.amount < Amount::ZERO && self.billed == 0 => "reversed",
            (_, refunded) if refunded != 0 && refunded == self.billed => "refunded",
            (Billing::Unbilled, _) => "unbilled",
            (Billing::Shadow, _) => "notional",
            (_, 0) => "charged",
            _ => "partly_refunded",
        }
    }
}
