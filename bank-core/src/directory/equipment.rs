//! Hardware with its downtimes, contributions and contributors, and whose a project is.

use super::Directory;
use crate::contribution::hardware::{Down, Kind};
use crate::ids::{ContributionId, DowntimeId, HardwareId};
use crate::model::{Contribution, Contributor, Downtime, Hardware};
use std::collections::{BTreeMap, BTreeSet};

/// What clusters are made of and who paid for it.
#[derive(Clone, Debug, Default)]
pub struct Equipped {
    hardware: BTreeMap<HardwareId, Hardware>,
    downtimes: BTreeMap<DowntimeId, Downtime>,
    contributions: BTreeMap<ContributionId, Contribution>,
    contributors: BTreeMap<String, Contributor>,
}

impl Equipped {
    /// Adds or replaces nodes of a kind.
    pub fn put_hardware(&mut self, hardware: Hardware) {
        self.hardware.insert(hardware.id, hardware);
    }

    /// Adds or replaces a downtime.
    pub fn put_downtime(&mut self, downtime: Downtime) {
        self.downtimes.insert(downtime.id, downtime);
    }

    /// Adds or replaces a contribution.
    pub fn put_contribution(&mut self, contribution: Contribution) {
        self.contributions.insert(contribution.id, contribution);
    }

    /// Adds or replaces a contributor.
    pub fn put_contributor(&mut self, contributor: Contributor) {
        let name = contributor.name.clone();
        self.contributors.insert(name, contributor);
    }

    /// Nodes of a kind, unless they were removed.
    pub fn hardware(&self, id: HardwareId) -> Option<&Hardware> {
        self.hardware.get(&id).filter(|own| !own.deleted)
    }

    /// A downtime, unless it or its hardware was removed.
    pub fn downtime(&self, id: DowntimeId) -> Option<&Downtime> {
        self.downtimes.get(&id).filter(|own| self.stands(own))
    }

    fn stands(&self, own: &Downtime) -> bool {
        !own.deleted && self.hardware(own.hardware).is_some()
    }

    /// A contribution, unless it was removed.
    pub fn contribution(&self, id: ContributionId) -> Option<&Contribution> {
        self.contributions.get(&id).filter(|own| !own.deleted)
    }

    /// A contributor, unless they were removed.
    pub fn contributor(&self, name: &str) -> Option<&Contributor> {
        self.contributors.get(name).filter(|own| !own.deleted)
    }

    /// All hardware, in the order in which it is asked for the factor of a host.
    pub fn all_hardware(&self) -> Vec<&Hardware> {
        let all = self.hardware.values().filter(|own| !own.deleted);
        let mut all: Vec<&Hardware> = all.collect();
        all.sort_by_key(|own| (own.priority, own.id));
        all
    }

    /// All downtimes of hardware that stands, by number.
    pub fn all_downtimes(&self) -> impl Iterator<Item = &Downtime> {
        self.downtimes.values().filter(|own| self.stands(own))
    }

    /// All contributions by number.
    pub fn all_contributions(&self) -> impl Iterator<Item = &Contribution> {
        self.contributions.values().filter(|own| !own.deleted)
    }

    /// All contributors by name.
    pub fn all_contributors(&self) -> impl Iterator<Item = &Contributor> {
        self.contributors.values().filter(|own| !own.deleted)
    }

    /// All hardware as reports count it, with its downtimes, in its order.
    pub fn kinds(&self) -> Vec<Kind> {
        let mut down: BTreeMap<HardwareId, Vec<Down>> = BTreeMap::new();
        for own in self.all_downtimes() {
            down.entry(own.hardware).or_default().push(own.down());
        }
        let kind = |own: &Hardware| Kind {
            down: down.remove(&own.id).unwrap_or_default(),
            ..own.kind()
        };
        self.all_hardware().into_iter().map(kind).collect()
    }

    /// The contributor that names a project itself.
    pub fn holder(&self, project: &str) -> Option<&Contributor> {
        let mut all = self.all_contributors();
        all.find(|own| own.projects.iter().any(|name| name == project))
    }

    /// The number of the next hardware.
    pub fn next_hardware(&self) -> HardwareId {
        let last = self.hardware.keys().next_back().map_or(0, |id| id.0);
        HardwareId(last.saturating_add(1))
    }

    /// The number of the next downtime.
    pub fn next_downtime(&self) -> DowntimeId {
        let last = self.downtimes.keys().next_back().map_or(0, |id| id.0);
        DowntimeId(last.saturating_add(1))
    }

    /// The number of the next contribution.
    pub fn next_contribution(&self) -> ContributionId {
        let last = self.contributions.keys().next_back().map_or(0, |id| id.0);
        ContributionId(last.saturating_add(1))
    }

    /// How many rows there are, removed ones too.
    pub fn rows(&self) -> [usize; 4] {
        [
            self.hardware.len(),
            self.downtimes.len(),
            self.contributions.len(),
            self.contributors.len(),
        ]
    }
}

impl Directory {
    /// Whose usage of a project is: the contributor that names it, else the nearest of those that name
    /// a project above it. None where nobody does.
    pub fn contributor_of(&self, project: &str) -> Option<&Contributor> {
        let mut name = project;
        let mut met = BTreeSet::new();
        while met.insert(name) {
            if let Some(own) = self.equipment.holder(name) {
                return Some(own);
            }
            let above = self.project_named(name).and_then(|own| own.parent);
            let Some(above) = above.and_then(|id| self.project(id)) else {
                break;
            };
            name = &above.name;
        }
        None
    }
}
