//! Value of usage: real money and shadow amounts, separately.

use bank_core_figures::rollup::{Measure, Sums};

/// An amount in minor units: the part that moved money, and the part that moved shadow totals only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Worth {
    pub(crate) real: i128,
    pub(crate) shadow: i128,
}

impl Worth {
    /// An amount of one kind.
    pub(crate) fn of(amount: i64, in_shadow: bool) -> Worth {
        let amount = i128::from(amount);
        if in_shadow {
            Worth {
                real: 0,
                shadow: amount,
            }
        } else {
            Worth {
                real: amount,
                shadow: 0,
            }
        }
    }

    /// With another one.
    #[must_use]
    pub(crate) fn plus(self, other: Worth) -> Worth {
        Worth {
            real: self.real.saturating_add(other.real),
            shadow: self.shadow.saturating_add(other.shadow),
        }
    }

    /// Without another one.
    #[must_use]
    pub(crate) fn minus(self, other: Worth) -> Worth {
        Worth {
            real: self.real.saturating_sub(other.real),
            shadow: self.shadow.saturating_sub(other.shadow),
        }
    }

    /// As measures.
    pub(crate) fn sums(self) -> Sums {
        Sums::default()
            .with(Measure::Charge, self.real)
            .with(Measure::Shadow, self.shadow)
    }
}
