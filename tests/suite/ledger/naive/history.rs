//! What became of charges: which entries stand, and what of each is left to give back.

use super::Naive;
use super::journal::Entry;

/// Transaction and place.
pub(super) type Place = (usize, usize);

/// The project and the user of a charge.
pub(super) type Owner = (String, String);

/// Parts of allocations that go back to an owner.
type Parts = (Owner, Vec<(usize, i64)>);

/// Refunds, each with a charge that it gave something back of.
type Pairs = Vec<(Place, Place)>;

impl Naive {
    /// An entry stands unless one that stands reverses it.
    pub(super) fn is_effective(&self, place: Place) -> bool {
        !self.is_reversed(place)
    }

    fn is_reversed(&self, place: Place) -> bool {
        self.reversal_of(place).is_some()
    }

    /// The transaction that took an entry back, and stands.
    pub(super) fn reversal_of(&self, place: Place) -> Option<usize> {
        for (number, tx) in self.journal.iter().enumerate() {
            for (at, entry) in tx.entries.iter().enumerate() {
                let takes = entry.kind == "reverse" && entry.takes_back == Some(place);
                if takes && self.is_effective((number, at)) {
                    return Some(number);
                }
            }
        }
        None
    }

    /// The entries of an instance that bill it or take that back, in order.
    pub(super) fn rows(&self, n: usize) -> Vec<Place> {
        let mut rows = Vec::new();
        for (number, tx) in self.journal.iter().enumerate() {
            for (at, entry) in tx.entries.iter().enumerate() {
                if tx.instance == Some(n) && (is_charge(entry.kind) || is_back(entry.kind)) {
                    rows.push((number, at));
                }
            }
        }
        rows
    }

    /// The charges of an instance that stand, with what of each is left: less the refunds that
    /// point at it, and less those of falling totals on its allocation, the newest charge first.
    pub(super) fn rests(&self, n: usize) -> Vec<(Place, i64)> {
        self.rests_and_refunds(n).0
    }

    /// The entry that another one takes back. What was reissued and is granted again names the reversal of its refund, and no
    /// charge.
    pub(super) fn named(&self, entry: &Entry) -> Option<Place> {
        let of = |(tx, at): &Place| self.journal[*tx].entries[*at].kind;
        let is_again = |place: &Place| entry.kind == "refund" && of(place) == "reverse";
        entry.takes_back.filter(|place| !is_again(place))
    }

    /// Whether a total in force fell by more than a refund had left.
    pub(super) fn is_fallen_into(&self, refund: usize) -> bool {
        let named = |of: &Place| of.0 == refund;
        let mut txs = self.journal.iter().enumerate();
        txs.any(|(number, tx)| tx.fell_into.iter().any(named) && self.is_in_force(number))
    }

    fn is_in_force(&self, number: usize) -> bool {
        let mut txs = self.journal.iter().enumerate();
        !txs.any(|(by, tx)| tx.reverses == Some(number) && self.is_in_force(by))
    }

    /// The same, and which refund gave something back of which charge.
    pub(super) fn rests_and_refunds(&self, n: usize) -> (Vec<(Place, i64)>, Pairs) {
        let mut gave: Pairs = Vec::new();
        let mut rests: Vec<(Place, i64)> = Vec::new();
        for place in self
            .rows(n)
            .into_iter()
            .filter(|place| self.is_effective(*place))
        {
            let entry = &self.journal[place.0].entries[place.1];
            if is_charge(entry.kind) && entry.kind != "charge_notional" {
                rests.push((place, -entry.amount));
            } else if entry.kind == "refund" {
                let mut back = entry.amount;
                for (charge, left) in rests.iter_mut().rev() {
                    let is_meant = match self.named(entry) {
                        Some(of) => of == *charge,
                        None => {
                            self.journal[charge.0].entries[charge.1].allocation == entry.allocation
                        }
                    };
                    if is_meant {
                        let part = back.min(*left);
                        gave.extend((part > 0).then_some((place, *charge)));
                        *left -= part;
                        back -= part;
                    }
                }
                // Reissued credits that a moved use leaves where they are.
                for (charge, left) in rests.iter_mut().rev() {
                    if self.named(entry).is_none() {
                        let part = back.min(*left);
                        gave.extend((part > 0).then_some((place, *charge)));
                        *left -= part;
                        back -= part;
                    }
                }
            }
        }
        (rests, gave)
    }

    /// The refunds of an instance that were not undone: their places, allocations and amounts.
    pub(super) fn refunds(&self, n: usize) -> Vec<(Place, usize, i64)> {
        let own = self
            .rows(n)
            .into_iter()
            .filter(|place| self.is_effective(*place));
        let entries = own.map(|place| (place, &self.journal[place.0].entries[place.1]));
        let refunds = entries.filter(|(_, e)| e.kind == "refund" && self.named(e).is_some());
        refunds
            .map(|(place, e)| (place, e.allocation, e.amount))
            .collect()
    }

    /// What allocations have paid for an instance and not got back, by number.
    pub(super) fn paid(&self, n: usize, in_shadow: bool) -> Vec<(usize, i64)> {
        let mut paid: Vec<(usize, i64)> = Vec::new();
        let mut add = |allocation: usize, part: i64| match paid
            .iter_mut()
            .find(|(id, _)| *id == allocation)
        {
            Some((_, sum)) => *sum += part,
            None => paid.push((allocation, part)),
        };
        if in_shadow {
            for (tx, at) in self.rows(n) {
                let entry = &self.journal[tx].entries[at];
                add(entry.allocation, -entry.shadow);
            }
        } else {
            for ((tx, at), left) in self.rests(n) {
                add(self.journal[tx].entries[at].allocation, left);
            }
        }
        paid.sort_unstable();
        paid
    }

    /// Parts that go back by the owners of the charges that they reduce, in proportion to what is left of these; the one that
    /// was charged last is the last.
    pub(super) fn by_owner(&self, n: usize, parts: &[(usize, i64)], in_shadow: bool) -> Vec<Parts> {
        let charges: Vec<(usize, Owner, i64)> = self.left_of_charges(n, in_shadow);
        let mut owners: Vec<Parts> = Vec::new();
        for (_, owner, _) in &charges {
            owners.retain(|(own, _)| own != owner);
            owners.push((owner.clone(), Vec::new()));
        }
        if owners.is_empty() {
            let facts = &self.instances[n].facts;
            owners.push(((facts.project.clone(), facts.user.clone()), Vec::new()));
        }
        for (id, part) in parts {
            let on = |owner: &Owner| {
                let own = charges
                    .iter()
                    .filter(|(on, own, _)| on == id && own == owner);
                own.map(|(_, _, left)| left).sum::<i64>().max(0)
            };
            let weights: Vec<i64> = owners.iter().map(|(owner, _)| on(owner)).collect();
            let all: i64 = weights.iter().sum();
            let mut given = shares(&weights, (*part).min(all));
            if let Some(last) = given.last_mut() {
                *last += part - (*part).min(all);
            }
            for ((_, own), share) in owners.iter_mut().zip(given) {
                own.extend((share > 0).then_some((*id, share)));
            }
        }
        owners
    }

    /// What is left of each real charge, or what each entry took as a price without money.
    fn left_of_charges(&self, n: usize, in_shadow: bool) -> Vec<(usize, Owner, i64)> {
        let of = |(tx, at): Place, left: Option<i64>| {
            let entry = &self.journal[tx].entries[at];
            let owner = (entry.project.clone(), entry.user.clone());
            (entry.allocation, owner, left.unwrap_or(-entry.shadow))
        };
        if !in_shadow {
            let rests = self.rests(n).into_iter().filter(|(_, left)| *left > 0);
            return rests.map(|(place, left)| of(place, Some(left))).collect();
        }
        let mut rows = self.rows(n);
        rows.retain(|(tx, at)| self.journal[*tx].entries[*at].kind == "charge_notional");
        rows.retain(|place| self.is_effective(*place));
        rows.into_iter().map(|place| of(place, None)).collect()
    }

    /// Gives a part back in the names of an owner.
    pub(super) fn give_to(&mut self, owner: &Owner, allocation: usize, part: i64, in_shadow: bool) {
        let (project, user) = owner.clone();
        if in_shadow {
            self.enter(Entry {
                kind: "charge_notional",
                allocation,
                shadow: part,
                project,
                user,
                ..Entry::default()
            });
            return;
        }
        self.move_amount("refund", allocation, part);
        let last = self.tx().entries.last_mut().unwrap();
        (last.project, last.user) = (project, user);
        self.expire_beside(allocation, part);
    }
}

pub(super) fn is_charge(kind: &str) -> bool {
    let charges = [
        "charge",
        "charge_debt",
        "charge_fallback",
        "late_charge",
        "charge_notional",
    ];
    charges.contains(&kind)
}

fn is_back(kind: &str) -> bool {
    ["refund", "reverse"].contains(&kind)
}

/// A sum in proportion to weights: rounded down, the rest by the largest remainder, then by place.
pub(super) fn shares(weights: &[i64], sum: i64) -> Vec<i64> {
    let all: i64 = weights.iter().sum();
    if all == 0 {
        return vec![0; weights.len()];
    }
    let mut shares: Vec<i64> = weights.iter().map(|w| w * sum / all).collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|at| -(weights[*at] * sum % all));
    let left = sum - shares.iter().sum::<i64>();
    for at in order.into_iter().take(usize::try_from(left).unwrap()) {
        shares[at] += 1;
    }
    shares
}
