//! Names in the order of people: `node2` before `node10`.

use std::cmp::Ordering;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// A name that sorts with its numbers as numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Natural(pub(super) String);

impl FromStr for Natural {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for Natural {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        let (mut one, mut two) = (self.0.as_str(), other.0.as_str());
        while !one.is_empty() && !two.is_empty() {
            let ((a, rest_a), (b, rest_b)) = (part(one), part(two));
            let order = match (number(a), number(b)) {
                (Some(a), Some(b)) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
                _ => a.cmp(b),
            };
            if order != Ordering::Equal {
                return order;
            }
            (one, two) = (rest_a, rest_b);
        }
        // Names such as `a1` and `a01` are different.
        let rest = one.len().cmp(&two.len());
        rest.then_with(|| self.0.cmp(&other.0))
    }
}

/// The digits at the start of a text, or the text before its first digit; and the rest.
fn part(text: &str) -> (&str, &str) {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit());
    let end = text.find(|c: char| c.is_ascii_digit() != is_number);
    text.split_at(end.unwrap_or(text.len()))
}

/// Digits without zeros before them.
fn number(part: &str) -> Option<&str> {
    let is_number = part.starts_with(|c: char| c.is_ascii_digit());
    is_number.then(|| part.trim_start_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_sort_as_numbers() {
        let sorted = [
            "",
            "1",
            "2",
            "10",
            "a",
            "a01b",
            "a1b",
            "a2",
            "a10",
            "a10b2",
            "a10b11",
            "b",
            "node9",
            "node10",
            "node99999999999999999999999",
            "node100000000000000000000000",
            "ä",
        ];
        let names: Vec<Natural> = sorted.iter().map(|name| name.parse().unwrap()).collect();
        for (place, one) in names.iter().enumerate() {
            for (other_place, other) in names.iter().enumerate() {
                assert_eq!(one.cmp(other), place.cmp(&other_place), "{one}, {other}");
            }
        }
    }
}
