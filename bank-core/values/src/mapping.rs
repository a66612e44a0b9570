//! Mappings: whom usage is for, where its source names nobody that the bank knows (collectors.md g,
//! h.1, i, j).
//!
//! A mapping has conditions, all of which must hold, and gives a project, a user, a PI, or several of
//! them. What usage names itself is what the conditions see, never what another mapping made of it.
//! They are asked in the order of priority and number; the first that gives a project gives the
//! project, the first that gives a user gives the user, the first that gives a PI gives the PI. Where
//! none does, the account names the project, the user stays as named, and the usage has no PI of its
//! own.

mod condition;
mod pattern;
mod template;

pub use condition::{Condition, FIELDS, Field};
pub use pattern::Pattern;
pub use template::Template;

use crate::ids::MappingId;
use std::collections::{BTreeMap, BTreeSet};

/// How many conditions one mapping may have.
pub const CONDITIONS_MAX: usize = 16;
/// The priority where none is given.
pub const PRIORITY: i64 = 100;
/// The largest priority; the smallest is 0.
pub const PRIORITY_MAX: i64 = 1_000_000;

/// What usage says of whom it is for, as its source prints it; empty where it says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Naming<'a> {
    /// The collector's name.
    pub source: &'a str,
    /// The machine.
    pub machine: &'a str,
    /// Who ran it.
    pub user: &'a str,
    /// Their group.
    pub group: &'a str,
    /// What names the project where no mapping says otherwise.
    pub account: &'a str,
    /// Queue, class or partition.
    pub queue: &'a str,
    /// Quality of service.
    pub qos: &'a str,
    /// Namespace of the cluster.
    pub namespace: &'a str,
    /// Attributes, annotations and labels by their names.
    pub attributes: Option<&'a BTreeMap<String, String>>,
}

impl<'a> Naming<'a> {
    /// What it says in a field; none where it says nothing.
    pub fn get(&self, field: &Field) -> Option<&'a str> {
        let value = match field {
            Field::Source => self.source,
            Field::Machine => self.machine,
            Field::User => self.user,
            Field::Group => self.group,
            Field::Account => self.account,
            Field::Queue => self.queue,
            Field::Qos => self.qos,
            Field::Namespace => self.namespace,
            Field::Attribute(name) => self.attributes?.get(name)?,
        };
        Some(value).filter(|value| !value.is_empty())
    }
}

/// Whom usage is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapped {
    /// The project, or account of a project; empty where nothing names one.
    pub project: String,
    /// The user; empty where nobody names one.
    pub user: String,
    /// The principal investigator; empty where no mapping gives one.
    pub pi: String,
    /// The mapping that gave the project.
    pub rule: Option<i64>,
    /// The mapping that gave the user.
    pub user_rule: Option<i64>,
    /// The mapping that gave the PI.
    pub pi_rule: Option<i64>,
}

/// One mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Its number.
    pub id: MappingId,
    /// Lower is asked first, 0 to [`PRIORITY_MAX`]; at equal priority the lower number.
    pub priority: i64,
    /// What must hold; at least one, at most [`CONDITIONS_MAX`].
    pub conditions: Vec<Condition>,
    /// The project that it gives.
    pub project: Option<Template>,
    /// The user that it gives.
    pub user: Option<Template>,
    /// The principal investigator that it gives.
    pub pi: Option<Template>,
    /// Free text.
    pub description: String,
    /// Removed.
    pub deleted: bool,
}

impl Mapping {
    /// The texts that the stars of its patterns stand for, by condition; none where a condition does
    /// not hold.
    fn stars<'a>(&self, naming: &Naming<'a>) -> Option<Vec<Vec<&'a str>>> {
        let conditions = self.conditions.iter();
        conditions.map(|own| own.holds(naming)).collect()
    }

    /// What one of its templates makes of usage. None where a condition does not hold, where the
    /// template names what the usage does not say, and where the result is no name.
    fn made(&self, template: Option<&Template>, naming: &Naming<'_>) -> Option<String> {
        let template = template?;
        let stars = self.stars(naming)?;
        template.fill(naming, &self.conditions, &stars)
    }
}

/// The order in which mappings are asked.
type Rank = (i64, MappingId);

/// All mappings, found by the exact values that they ask for: what one asks for exactly costs other
/// usage nothing, however many there are.
#[derive(Clone, Debug, Default)]
pub struct Mappings {
    all: BTreeMap<MappingId, Mapping>,
    exact: BTreeMap<Field, BTreeMap<String, BTreeSet<Rank>>>,
    /// Those that ask for nothing exactly.
    open: BTreeSet<Rank>,
}

impl Mappings {
    /// Adds or replaces one.
    pub fn put(&mut self, mapping: Mapping) {
        if let Some(old) = self.all.remove(&mapping.id) {
            self.place(&old, |ranks, rank| {
                ranks.remove(&rank);
            });
        }
        if !mapping.deleted {
            self.place(&mapping, |ranks, rank| {
                ranks.insert(rank);
            });
        }
        self.all.insert(mapping.id, mapping);
    }

    fn place(&mut self, mapping: &Mapping, change: impl FnOnce(&mut BTreeSet<Rank>, Rank)) {
        let rank = (mapping.priority, mapping.id);
        let exact = mapping.conditions.iter().find_map(|own| {
            let value = own.exactly()?;
            Some((own.field.clone(), value.to_owned()))
        });
        let ranks = match exact {
            None => &mut self.open,
            Some((field, value)) => self
                .exact
                .entry(field)
                .or_default()
                .entry(value)
                .or_default(),
        };
        change(ranks, rank);
    }

    /// One by its number, unless it was removed.
    pub fn get(&self, id: MappingId) -> Option<&Mapping> {
        self.all.get(&id).filter(|own| !own.deleted)
    }

    /// Those that were not removed, in the order in which they are asked.
    pub fn in_order(&self) -> Vec<&Mapping> {
        let mut all: Vec<&Mapping> = self.all.values().filter(|own| !own.deleted).collect();
        all.sort_by_key(|own| (own.priority, own.id));
        all
    }

    /// Whether there is any to ask.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
            && self
                .exact
                .values()
                .all(|of| of.values().all(BTreeSet::is_empty))
    }

    /// What they give for usage: project, user and PI, each with the mapping that gave it.
    pub fn ask(&self, naming: &Naming<'_>) -> [Option<Given>; 3] {
        let mut found = [None, None, None];
        for mapping in self.near(naming) {
            let templates = [&mapping.project, &mapping.user, &mapping.pi];
            for (found, template) in found.iter_mut().zip(templates) {
                if found.is_none() {
                    let made = mapping.made(template.as_ref(), naming);
                    *found = made.map(|text| (text, mapping.id));
                }
            }
            if found.iter().all(Option::is_some) {
                break;
            }
        }
        found
    }

    /// Those that may hold, in order.
    fn near(&self, naming: &Naming<'_>) -> impl Iterator<Item = &Mapping> {
        let mut ranks: Vec<Rank> = self.open.iter().copied().collect();
        for (field, values) in &self.exact {
            let of = naming.get(field).and_then(|value| values.get(value));
            ranks.extend(of.into_iter().flatten());
        }
        ranks.sort_unstable();
        ranks.into_iter().filter_map(|(_, id)| self.get(id))
    }
}

/// What a mapping gave, and which.
pub type Given = (String, MappingId);

#[cfg(test)]
mod tests;
