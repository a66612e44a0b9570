//! Commands about what clusters are made of and who paid for it (reports.md 1.7).

use crate::contribution::host::Pattern;
use crate::decimal::Decimal;
use crate::ids::{ContributionId, DowntimeId, HardwareId};
use crate::time::Timestamp;

/// A command about hardware, contributions and contributors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Equipment {
    /// Adds nodes of a kind.
    AddHardware(SetHardware),
    /// Changes them.
    SetHardware(HardwareId, SetHardware),
    /// Removes them: as if they never had been there.
    RemoveHardware(HardwareId),
    /// Adds a known downtime of nodes of a kind.
    AddDowntime(HardwareId, SetDowntime),
    /// Changes one.
    SetDowntime(DowntimeId, SetDowntime),
    /// Removes one: as if all had worked.
    RemoveDowntime(DowntimeId),
    /// Adds a contribution.
    AddContribution(SetContribution),
    /// Changes one.
    SetContribution(ContributionId, SetContribution),
    /// Removes one: as if it never had been there.
    RemoveContribution(ContributionId),
    /// Adds a contributor.
    AddContributor(SetContributor),
    /// Changes one.
    SetContributor(SetContributor),
    /// Removes one that nothing is credited to.
    RemoveContributor(String),
}

impl Equipment {
    /// The word for it in the journal's `op` column.
    pub fn op(&self) -> &'static str {
        match self {
            Equipment::AddHardware(_) => "hardware_add",
            Equipment::SetHardware(..) => "hardware_set",
            Equipment::RemoveHardware(_) => "hardware_rm",
            Equipment::AddDowntime(..) => "downtime_add",
            Equipment::SetDowntime(..) => "downtime_set",
            Equipment::RemoveDowntime(_) => "downtime_rm",
            Equipment::AddContribution(_) => "contribution_add",
            Equipment::SetContribution(..) => "contribution_set",
            Equipment::RemoveContribution(_) => "contribution_rm",
            Equipment::AddContributor(_) => "contributor_add",
            Equipment::SetContributor(_) => "contributor_set",
            Equipment::RemoveContributor(_) => "contributor_rm",
        }
    }
}

/// New nodes of a kind, or changes to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetHardware {
    /// Lower is asked first, 0 to 1,000,000; 100 for new ones.
    pub priority: Option<i64>,
    /// What the processors are called.
    pub name: Option<String>,
    /// The machine, by name, or any.
    pub machine: Option<Option<String>>,
    /// The hosts, all of them anew; none for all of the machine.
    pub hosts: Option<Vec<Pattern>>,
    /// What an hour of a processor counts: above 0, at most 1,000; 1 for new ones.
    pub factor: Option<Decimal>,
    /// Processors of a node: 1 to 1,000,000; a new one must say it.
    pub processors: Option<i64>,
    /// Nodes: 1 to 1,000,000; a new one must say it.
    pub nodes: Option<i64>,
    /// Whether they add to the capacity; yes for new ones.
    pub counts: Option<bool>,
    /// From when they are there, or always.
    pub from: Option<Option<Timestamp>>,
    /// Until when they are there, or for ever.
    pub until: Option<Option<Timestamp>>,
    /// Free text.
    pub description: Option<String>,
}

/// A new downtime, or changes to one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetDowntime {
    /// How many nodes are down, 1 to those that there are, or all; all for a new one.
    pub nodes: Option<Option<i64>>,
    /// From when they are down; a new one must say it.
    pub from: Option<Timestamp>,
    /// Until when they are down, or for as long as nobody knows.
    pub until: Option<Option<Timestamp>>,
    /// Why; a new one must say it.
    pub reason: Option<String>,
}

/// A new contribution, or changes to one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetContribution {
    /// The contributor that it is credited to, by name.
    pub contributor: Option<String>,
    /// Who paid for it.
    pub paid_by: Option<String>,
    /// What it is.
    pub what: Option<String>,
    /// Processors: 0 to 10,000,000.
    pub processors: Option<i64>,
    /// Percent of them that are credited: 0 to 100 with two decimals; 100 for a new one.
    pub split: Option<Decimal>,
    /// What a processor counts: above 0, at most 1,000; 1 for a new one.
    pub factor: Option<Decimal>,
    /// From when it is installed, or always.
    pub from: Option<Option<Timestamp>>,
    /// Until when it is installed, or for ever.
    pub until: Option<Option<Timestamp>>,
    /// Free text.
    pub description: Option<String>,
}

/// A new contributor, or changes to one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetContributor {
    /// Their name in reports.
    pub name: String,
    /// Their login name; empty for none.
    pub user: Option<String>,
    /// Whether subscriptions leave them out.
    pub exempt: Option<bool>,
    /// Their projects by name, all of them anew.
    pub projects: Option<Vec<String>>,
    /// Free text.
    pub description: Option<String>,
}
