//! The nearest of the names that a caller may see.

/// Longest name compared, in characters; longer ones are no typing errors.
const MAX_LENGTH: usize = 64;

/// The candidate nearest to `name`, if it is near enough to be a slip of the fingers: at most one
/// edit for each three characters, and at least one allowed. Letter case does not count. Of equals
/// the first. Pass only names that the caller may see.
pub fn suggest<'a, S: AsRef<str>>(name: &str, candidates: &'a [S]) -> Option<&'a str> {
    let wanted = fold(name)?;
    let allowed = (wanted.len() / 3).max(1);
    candidates
        .iter()
        .map(AsRef::as_ref)
        .filter_map(|candidate| {
            let folded = fold(candidate)?;
            let near = folded.len().abs_diff(wanted.len()) <= allowed;
            near.then(|| (distance(&wanted, &folded), candidate))
        })
        .filter(|(edits, candidate)| *edits <= allowed && *candidate != name)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

fn fold(name: &str) -> Option<Vec<char>> {
    let folded: Vec<char> = name
        .chars()
        .flat_map(char::to_lowercase)
        .take(MAX_LENGTH + 1)
        .collect();
    (1..=MAX_LENGTH).contains(&folded.len()).then_some(folded)
}

/// Edits between two names: insert, delete, replace, and two neighbours exchanged.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut previous_a = None;
    for (row, &x) in a.iter().enumerate() {
        let mut current = Vec::with_capacity(last.len());
        current.push(row + 1);
        let mut left = row + 1;
        let mut previous_b = None;
        for (column, &y) in b.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX);
            let replaced = at(&last, column).saturating_add(usize::from(x != y));
            let deleted = at(&last, column + 1).saturating_add(1);
            let mut best = replaced.min(deleted).min(left + 1);
            if previous_a == Some(y) && previous_b == Some(x) {
                let exchanged = column
                    .checked_sub(1)
                    .map_or(usize::MAX, |two| at(&before, two));
                best = best.min(exchanged.saturating_add(1));
            }
            current.push(best);
            left = best;
            previous_b = Some(y);
        }
        before = std::mem::replace(&mut last, current);
        previous_a = Some(x);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest() {
        let names = ["chemistry", "physics", "astro", "chem/gpu", "chem"];
        for (name, expected) in [
            ("chemstry", Some("chemistry")),
            ("chemsitry", Some("chemistry")),
            ("Physics", Some("physics")),
            ("phisycs", Some("physics")),
            ("asro", Some("astro")),
            ("che", Some("chem")),
            ("zoology", None),
            ("", None),
            ("chem", None),
        ] {
            assert_eq!(suggest(name, &names), expected, "{name}");
        }
        assert_eq!(suggest::<&str>("x", &[]), None);
        assert_eq!(suggest("mira", &["mria"]), Some("mria"));
    }
}
