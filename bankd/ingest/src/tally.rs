//! Sums by name and by value, for millions of jobs: names are looked up once for a job. Of each
//! dimension the last value is tried first, because similar jobs are adjacent.

use std::collections::{BTreeMap, HashMap};

use super::job::{Job, Label};
use super::number::Number;

/// Sums by name.
pub(super) type Sums = BTreeMap<Label, Number>;

/// Maximum number of distinct quantity names; some come from the input.
const NAMES_MAX: usize = 1_000;

/// Maximum number of distinct values of a dimension, such as users.
const VALUES_MAX: usize = 100_000;

/// Name of the rest.
const OTHER: &str = "other";

/// The names of quantities, by number.
#[derive(Debug, Default)]
pub(super) struct Names {
    names: Vec<Label>,
    /// The numbers of one job's names.
    places: Vec<usize>,
}

impl Names {
    /// The numbers of a job's quantities, in their order.
    pub(super) fn places(&mut self, job: &Job) -> &[usize] {
        self.places.clear();
        for (at, (name, _)) in job.quantities.iter().enumerate() {
            // Jobs of a source have the same quantities in the same order, nearly always.
            let place = if self.names.get(at).is_some_and(|known| known == name) {
                at
            } else {
                self.place(name)
            };
            self.places.push(place);
        }
        &self.places
    }

    fn place(&mut self, name: &Label) -> usize {
        if let Some(known) = self.names.iter().position(|known| known == name) {
            return known;
        }
        let place = self.names.len();
        match place {
            ..NAMES_MAX => self.names.push(name.clone()),
            NAMES_MAX => self.names.push(OTHER.into()),
            _ => return NAMES_MAX,
        }
        place
    }

    /// The name of a number.
    pub(super) fn name(&self, place: usize) -> Option<&Label> {
        self.names.get(place)
    }
}

/// One sum, and how many quantities went into it.
#[derive(Clone, Copy, Debug)]
struct Sum {
    place: usize,
    count: u64,
    value: Number,
}

/// Sums by the numbers of their names, in the order of their first use.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally(Vec<Sum>);

impl Tally {
    /// Adds a quantity. `at` is where its sum most likely is. `false` where it would leave the range
    /// of exact numbers.
    pub(super) fn add(&mut self, at: usize, place: usize, value: Number) -> bool {
        let at = match self.0.get(at) {
            Some(sum) if sum.place == place => Some(at),
            _ => self.0.iter().position(|sum| sum.place == place),
        };
        let Some(sum) = at.and_then(|at| self.0.get_mut(at)) else {
            self.0.push(Sum {
                place,
                count: 1,
                value,
            });
            return true;
        };
        sum.count = sum.count.saturating_add(1);
        let grown = sum.value.plus(value);
        sum.value = grown.unwrap_or(sum.value);
        grown.is_some()
    }

    /// Adds all quantities of a job; these are the numbers of their names.
    pub(super) fn add_all(&mut self, places: &[usize], job: &Job) -> bool {
        let quantities = places.iter().zip(&job.quantities).enumerate();
        let mut fits = true;
        for (at, (place, (_, value))) in quantities {
            fits &= self.add(at, *place, *value);
        }
        fits
    }

    /// The difference from another tally that is part of it. Names with nothing left are dropped.
    /// `None` beyond the range of exact numbers.
    pub(super) fn without(&self, other: &Tally) -> Option<Tally> {
        let mut left = Vec::with_capacity(self.0.len());
        for sum in &self.0 {
            let gone = other.0.iter().find(|gone| gone.place == sum.place);
            let (count, value) = gone.map_or((0, Number::ZERO), |gone| (gone.count, gone.value));
            let count = sum.count.saturating_sub(count);
            if count > 0 {
                left.push(Sum {
                    place: sum.place,
                    count,
                    value: sum.value.minus(value)?,
                });
            }
        }
        Some(Tally(left))
    }

    /// The sums by name.
    pub(super) fn sums(&self, names: &Names) -> Sums {
        let mut sums = Sums::new();
        for sum in &self.0 {
            if let Some(name) = names.name(sum.place) {
                add(&mut sums, name, sum.value);
            }
        }
        sums
    }
}

/// The values of one dimension, such as users, each with its jobs and sums.
#[derive(Debug, Default)]
pub(super) struct Dimension {
    places: HashMap<String, usize>,
    values: Vec<Value>,
    last: usize,
}

#[derive(Debug)]
struct Value {
    name: String,
    jobs: u64,
    tally: Tally,
}

impl Dimension {
    /// Counts a job and adds its quantities; `false` where a sum would leave the range.
    pub(super) fn add(&mut self, value: &str, places: &[usize], job: &Job) -> bool {
        if self
            .values
            .get(self.last)
            .is_none_or(|last| last.name != value)
        {
            self.last = self.place(value);
        }
        let Some(value) = self.values.get_mut(self.last) else {
            return true;
        };
        value.jobs = value.jobs.saturating_add(1);
        value.tally.add_all(places, job)
    }

    fn place(&mut self, value: &str) -> usize {
        if let Some(known) = self.places.get(value) {
            return *known;
        }
        let fresh = self.values.len();
        if fresh == VALUES_MAX && value != OTHER {
            return self.place_of_the_rest();
        }
        if fresh > VALUES_MAX {
            return VALUES_MAX;
        }
        self.places.insert(value.to_owned(), fresh);
        self.values.push(Value {
            name: value.to_owned(),
            jobs: 0,
            tally: Tally::default(),
        });
        fresh
    }

    /// Beyond a number of values all others are one.
    fn place_of_the_rest(&mut self) -> usize {
        if let Some(known) = self.places.get(OTHER) {
            return *known;
        }
        let fresh = self.values.len();
        self.places.insert(OTHER.to_owned(), fresh);
        self.values.push(Value {
            name: OTHER.to_owned(),
            jobs: 0,
            tally: Tally::default(),
        });
        fresh
    }

    /// Values, jobs and sums.
    pub(super) fn each(&self) -> impl Iterator<Item = (&str, u64, &Tally)> {
        let values = self.values.iter();
        values.map(|value| (value.name.as_str(), value.jobs, &value.tally))
    }
}

/// Adds to a sum; `false` where it would leave the range.
pub(super) fn add(sums: &mut Sums, name: &Label, value: Number) -> bool {
    let Some(sum) = sums.get_mut(name) else {
        sums.insert(name.clone(), value);
        return true;
    };
    let grown = sum.plus(value);
    *sum = grown.unwrap_or(*sum);
    grown.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(quantities: &[(&'static str, i64)]) -> Job {
        let mut job = Job::default();
        for (name, value) in quantities {
            job.add(*name, Number::whole(*value));
        }
        job
    }

    fn shown(tally: &Tally, names: &Names) -> String {
        let sums = tally.sums(names);
        let sums = sums.iter().map(|(name, value)| format!("{name}={value}"));
        sums.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn sums_are_under_their_names_in_any_order() {
        let (mut names, mut all, mut gone) = (Names::default(), Tally::default(), Tally::default());
        for (quantities, is_gone) in [
            (&[("wall", 1), ("core", 2)][..], false),
            (&[("core", 5), ("wall", 7), ("core", 1)], false),
            (&[("gpu", 3)], true),
            (&[("wall", 10), ("gpu", 4), ("core", -2)], true),
            (&[], false),
        ] {
            let job = job(quantities);
            let places = names.places(&job).to_vec();
            assert!(all.add_all(&places, &job));
            if is_gone {
                gone.add_all(&places, &job);
            }
        }
        assert_eq!(shown(&all, &names), "core=6 gpu=7 wall=18");
        let left = all.without(&gone).unwrap();
        assert_eq!(shown(&left, &names), "core=8 wall=8");
    }

    #[test]
    fn a_sum_beyond_the_range_is_reported() {
        let mut tally = Tally::default();
        assert!(tally.add(0, 0, Number::whole(i128::MAX)));
        assert!(!tally.add(0, 0, Number::whole(1)));
        assert!(tally.add(0, 0, Number::whole(-1)));
    }

    #[test]
    fn names_without_end_become_one() {
        let (mut names, mut tally) = (Names::default(), Tally::default());
        for number in 0..NAMES_MAX + 500 {
            let mut job = Job::default();
            job.add(format!("score_{number}_s"), Number::whole(1));
            let places = names.places(&job).to_vec();
            tally.add_all(&places, &job);
        }
        let sums = tally.sums(&names);
        assert_eq!(sums.len(), NAMES_MAX + 1);
        assert_eq!(sums.get(OTHER), Some(&Number::whole(500)));
    }

    #[test]
    fn values_without_end_become_one() {
        for known in [None, Some(OTHER)] {
            let mut users = Dimension::default();
            let job = job(&[]);
            users.add(known.unwrap_or("first"), &[], &job);
            for number in 1..VALUES_MAX + 50 {
                users.add(&format!("user{number}"), &[], &job);
            }
            users.add("user1", &[], &job);
            let rest = users.each().find(|(name, _, _)| *name == OTHER);
            let rest = rest.map_or(0, |(_, jobs, _)| jobs);
            let most = VALUES_MAX + usize::from(known.is_none());
            assert_eq!(users.each().count(), most);
            assert_eq!(rest, 50 + u64::from(known.is_some()), "{known:?}");
        }
    }

    #[test]
    fn values_are_distinguished() {
        let (mut names, mut users) = (Names::default(), Dimension::default());
        for user in ["amy", "amy", "bob", "", "amy"] {
            let job = job(&[("wall", 2)]);
            let places = names.places(&job).to_vec();
            assert!(users.add(user, &places, &job));
        }
        let each = users.each();
        let each =
            each.map(|(user, jobs, tally)| format!("{user}:{jobs} {}", shown(tally, &names)));
        assert_eq!(
            each.collect::<Vec<_>>(),
            ["amy:3 wall=6", "bob:1 wall=2", ":1 wall=2"]
        );
    }
}
