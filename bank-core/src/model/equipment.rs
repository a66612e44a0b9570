//! What clusters are made of, who paid for it, and whose projects use it (reports.md 1.1, 1.7).

use crate::contribution::Installed;
use crate::contribution::hardware::{Down, Kind};
use crate::contribution::host::Pattern;
use crate::ids::{ContributionId, DowntimeId, HardwareId};
use crate::time::Window;

/// Nodes of one kind, and from when to when they are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hardware {
    /// Its number.
    pub id: HardwareId,
    /// Lower is asked first, then the lower number.
    pub priority: i64,
    /// What its processors are called.
    pub name: String,
    /// The machine, by name; empty for any.
    pub machine: String,
    /// The hosts that it has; all of its machine where there are none.
    pub hosts: Vec<Pattern>,
    /// What an hour of a processor counts, in billionths; above zero.
    pub factor: u64,
    /// Processors of a node.
    pub processors: i64,
    /// How many nodes.
    pub nodes: i64,
    /// Whether it adds to the capacity of its machine.
    pub counts: bool,
    /// When it is there.
    pub valid: Window,
    /// Free text.
    pub description: String,
    /// It was removed.
    pub deleted: bool,
}

/// Nodes of a kind that are known not to work for a time: they give nothing, and stay what they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Downtime {
    /// Its number.
    pub id: DowntimeId,
    /// Of which kind the nodes are.
    pub hardware: HardwareId,
    /// How many of them; none for all that there are.
    pub nodes: Option<i64>,
    /// When they are down; always with a start, and without an end while nobody knows it.
    pub valid: Window,
    /// Why; free text.
    pub reason: String,
    /// It was removed.
    pub deleted: bool,
}

/// Processors that somebody put into a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contribution {
    /// Its number.
    pub id: ContributionId,
    /// The contributor that it is credited to, by name.
    pub contributor: String,
    /// Who paid for it, where that is somebody else; free text.
    pub paid_by: String,
    /// What it is: a host, a kind of processors; free text.
    pub what: String,
    /// Processors.
    pub processors: i64,
    /// What of them is credited, in hundredths of a percent: 0 to 10,000.
    pub split: i64,
    /// What a processor counts, in billionths; above zero.
    pub factor: u64,
    /// When it is installed.
    pub valid: Window,
    /// Free text.
    pub description: String,
    /// It was removed.
    pub deleted: bool,
}

/// Somebody whom contributions are credited to, and whose projects use the clusters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contributor {
    /// The name that reports show.
    pub name: String,
    /// Their login name; empty where nobody knows.
    pub user: String,
    /// Whether subscriptions leave them out.
    pub exempt: bool,
    /// Their projects by name, with those below them, in order.
    pub projects: Vec<String>,
    /// Free text.
    pub description: String,
    /// They were removed.
    pub deleted: bool,
}

impl Hardware {
    /// As reports count it, as long as all of it works.
    pub fn kind(&self) -> Kind {
        Kind {
            hosts: self.hosts.clone(),
            machine: self.machine.clone(),
            factor: self.factor,
            processors: self.processors.try_into().unwrap_or(0),
            nodes: self.nodes.try_into().unwrap_or(0),
            counts: self.counts,
            valid: self.valid,
            down: Vec::new(),
        }
    }
}

impl Downtime {
    /// As reports count it.
    pub fn down(&self) -> Down {
        Down {
            nodes: self.nodes.map(|nodes| nodes.try_into().unwrap_or(0)),
            valid: self.valid,
        }
    }
}

impl Contribution {
    /// As reports count it.
    pub fn installed(&self) -> Installed {
        Installed {
            processors: self.processors.try_into().unwrap_or(0),
            split: self.split.try_into().unwrap_or(0),
            factor: self.factor,
            valid: self.valid,
        }
    }
}
