//! Slurm's lists of nodes: `cpn-f13-03-[01-02],node5`, `r[1-2]n[01-04]` (`collectors.md` a.4).

/// Maximum number of nodes of a list.
const NODES_MAX: u64 = 100_000;

/// Number of nodes of a list, without expanding it; `None` if it is no list, or has more than
/// [`NODES_MAX`].
pub(super) fn count(list: &str) -> Option<u64> {
    let (mut sum, mut product) = (0_u64, 1_u64);
    let mut rest = list;
    let mut is_empty = true;
    while let Some(first) = rest.chars().next() {
        let left = rest.get(first.len_utf8()..)?;
        match first {
            ',' if is_empty => return None,
            ',' => {
                sum = sum.checked_add(product)?;
                (product, is_empty, rest) = (1, true, left);
            }
            '[' => {
                let (ranges, left) = left.split_once(']')?;
                let numbers = ranges.split(',').map(range);
                let numbers: Option<u64> = numbers.sum();
                product = product.checked_mul(numbers?)?;
                (is_empty, rest) = (false, left);
            }
            ']' => return None,
            c if c.is_whitespace() => return None,
            _ => (is_empty, rest) = (false, left),
        }
        if product > NODES_MAX {
            return None;
        }
    }
    let all = sum.checked_add(product).filter(|all| *all <= NODES_MAX)?;
    (!is_empty).then_some(all)
}

/// The same as a count of a job.
pub(super) fn listed(list: &str) -> Option<i64> {
    i64::try_from(count(list)?).ok()
}

/// `01-04` are four, `7` is one.
fn range(text: &str) -> Option<u64> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| text.parse::<u64>().ok()).flatten()
    };
    number(high)?.checked_sub(number(low)?)?.checked_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_counted_without_being_written_out() {
        for (list, nodes) in [
            ("node5", Some(1)),
            ("node5,other6", Some(2)),
            ("cpn-f13-03-[01-02],cpn-f13-04-[01-02]", Some(4)),
            ("d13n[03,05,07-08,16]", Some(5)),
            ("r[1-2]n[01-04]", Some(8)),
            ("r[1-2]n[01-04]-ib,x", Some(9)),
            ("n[1-100000]", Some(100_000)),
            ("n[1-100001]", None),
            ("n[1-1000]m[1-1000]", None),
            ("n[0-18446744073709551615]", None),
            ("n[4-1]", None),
            ("n[a]", None),
            ("n[1", None),
            ("n]", None),
            ("a,,b", None),
            ("None assigned", None),
            ("", None),
        ] {
            assert_eq!(count(list), nodes, "{list}");
        }
    }
}
