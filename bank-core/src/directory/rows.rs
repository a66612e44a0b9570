//! Objects in the order of their numbers. Numbers mostly run from 1 without gaps, and an object is found at its place at
//! once; with gaps, by bisection.

use crate::ids::{AccountId, MachineId, ProjectId, UserId};

/// A number that names a row.
pub(super) trait Number: Copy + Ord {
    /// The number itself.
    fn number(self) -> i64;
}

impl Number for ProjectId {
    fn number(self) -> i64 {
        self.0
    }
}

impl Number for UserId {
    fn number(self) -> i64 {
        self.0
    }
}

impl Number for MachineId {
    fn number(self) -> i64 {
        self.0
    }
}

impl Number for AccountId {
    fn number(self) -> i64 {
        self.0
    }
}

/// The objects of a kind.
#[derive(Clone, Debug)]
pub(super) struct Rows<K, V>(Vec<(K, V)>);

impl<K, V> Default for Rows<K, V> {
    fn default() -> Self {
        Rows(Vec::new())
    }
}

impl<K: Number, V> Rows<K, V> {
    /// The object of a number.
    pub(super) fn get(&self, key: &K) -> Option<&V> {
        let place = self.place(*key).ok()?;
        self.0.get(place).map(|(_, value)| value)
    }

    /// Adds or replaces an object.
    pub(super) fn insert(&mut self, key: K, value: V) {
        match self.place(key) {
            Ok(place) => {
                if let Some(own) = self.0.get_mut(place) {
                    own.1 = value;
                }
            }
            Err(place) => self.0.insert(place, (key, value)),
        }
    }

    /// All objects, by number.
    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }

    /// The greatest number.
    pub(super) fn last_number(&self) -> Option<K> {
        self.0.last().map(|(key, _)| *key)
    }

    /// The place of a number, or the place where it would be.
    fn place(&self, key: K) -> Result<usize, usize> {
        let first = usize::try_from(key.number().saturating_sub(1));
        let is_at = |place: &usize| self.0.get(*place).is_some_and(|(own, _)| *own == key);
        match first.ok().filter(is_at) {
            Some(place) => Ok(place),
            None => self.0.binary_search_by_key(&key, |(own, _)| *own),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn objects_are_found_and_in_order_with_gaps_and_without() {
        for numbers in [
            vec![1, 2, 3, 4, 3, 1],
            vec![7, 1, i64::MAX, 2, 3, -4, 0, 9, 7, i64::MIN],
            vec![3, 2, 1],
        ] {
            let (mut rows, mut expected) = (Rows::default(), BTreeMap::new());
            for (place, number) in numbers.into_iter().enumerate() {
                rows.insert(ProjectId(number), place);
                expected.insert(ProjectId(number), place);
                for number in [i64::MIN, -4, 0, 1, 2, 3, 4, 5, 7, 8, 9, 10, i64::MAX] {
                    let id = ProjectId(number);
                    assert_eq!(rows.get(&id), expected.get(&id), "{number}");
                }
                assert!(rows.values().eq(expected.values()));
                assert_eq!(rows.last_number(), expected.keys().last().copied());
            }
        }
    }
}
