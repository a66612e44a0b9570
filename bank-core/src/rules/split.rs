//! Amounts divided among several allocations.

use crate::amount::Amount;
use crate::refusal::Refusal;

/// A sum in proportion to these weights: each share is rounded down, and the remaining units go to the largest
/// remainders, then to the lowest positions. No share is above its weight: a sum above theirs is cut.
pub(super) fn in_proportion(weights: &[i128], sum: i128) -> Vec<i128> {
    let whole = weights.iter().copied().fold(0, i128::saturating_add);
    let sum = sum.min(whole).max(0);
    // Weights and sums are minor units of at most 64 bits: no product leaves 128.
    let products = || weights.iter().map(|weight| weight.saturating_mul(sum));
    let mut shares: Vec<i128> = products()
        .map(|product| product.checked_div(whole).unwrap_or(0))
        .collect();
    let given = shares.iter().copied().fold(0, i128::saturating_add);
    let missing = usize::try_from(sum.saturating_sub(given)).unwrap_or(0);
    let mut remainders: Vec<(i128, usize)> = products()
        .map(|product| product.checked_rem(whole).unwrap_or(0))
        .zip(0..)
        .collect();
    remainders.sort_unstable_by_key(|(remainder, index)| (std::cmp::Reverse(*remainder), *index));
    for (_, index) in remainders.into_iter().take(missing) {
        if let Some(share) = shares.get_mut(index) {
            *share = share.saturating_add(1);
        }
    }
    shares
}

/// An amount from these funds in their order, as far as each has any; and what they do not cover.
pub(super) fn in_order<T>(
    funds: impl IntoIterator<Item = (T, i128)>,
    amount: Amount,
) -> Result<(Vec<(T, Amount)>, i128), Refusal> {
    let mut remaining = i128::from(amount.0);
    let mut parts = Vec::new();
    for (fund, free) in funds {
        let take = free.min(remaining);
        if take > 0 {
            parts.push((fund, Amount::from_sum(take)?));
            remaining = remaining.saturating_sub(take);
        }
    }
    Ok((parts, remaining))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_the_largest_remainder_goes_first() {
        for (weights, sum, expected) in [
            (vec![100, 50], 20, vec![13, 7]),
            (vec![30, 20], 25, vec![15, 10]),
            (vec![1, 1, 1], 2, vec![1, 1, 0]),
            (vec![5], 9, vec![5]),
            (vec![0, 0], 9, vec![0, 0]),
            (vec![5, 5], -1, vec![0, 0]),
            (vec![], 9, vec![]),
        ] {
            let got = in_proportion(&weights, sum);
            assert_eq!(got, expected, "{weights:?} {sum}");
        }
    }
}
