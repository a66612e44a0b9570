//! Value of usage: real money and shadow amounts, separately.

use super::{Measure, Sums};

/// An amount in minor units: the part that moved money, and the part that moved shadow totals only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worth {
    /// What moved money.
    pub real: i128,
    /// What moved shadow totals only.
    pub shadow: i128,
}

impl Worth {
    /// An amount of one kind.
    pub fn of(amount: i64, in_shadow: bool) -> Worth {
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
    pub fn plus(self, other: Worth) -> Worth {
        Worth {
            real: self.real.saturating_add(other.real),
            shadow: self.shadow.saturating_add(other.shadow),
        }
    }

    /// Without another one.
    #[must_use]
    pub fn minus(self, other: Worth) -> Worth {
        Worth {
            real: self.real.saturating_sub(other.real),
            shadow: self.shadow.saturating_sub(other.shadow),
        }
    }

    /// As measures.
    pub fn sums(self) -> Sums {
        Sums::default()
            .with(Measure::Charge, self.real)
            .with(Measure::Shadow, self.shadow)
    }
}
