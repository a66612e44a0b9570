//! The contents of an old bank, whichever it is: what the readers make, and the plan is made of.

use std::collections::BTreeMap;

use crate::{figure::Figure, table::Row};

/// The contents of an old bank. Names and keys are those of the old bank.
#[derive(Debug, Default)]
pub(crate) struct Old {
    pub(crate) users: Vec<User>,
    pub(crate) machines: Vec<Machine>,
    pub(crate) projects: Vec<Project>,
    pub(crate) members: Vec<Member>,
    pub(crate) accounts: Vec<Account>,
    pub(crate) allocations: Vec<Allocation>,
    pub(crate) rates: Vec<Rate>,
    /// Whether the old bank has rates at all.
    pub(crate) has_rates: bool,
    pub(crate) liens: Vec<Lien>,
    pub(crate) jobs: Vec<Job>,
    /// Figures that the old bank lists, to compare.
    pub(crate) listed: Vec<Listed>,
    /// The time of the last change in the old bank, if it has one.
    pub(crate) changed: Option<i64>,
    /// File and line of the objects, by their ids in the request (`user amy`), and of the finished jobs (`job 7`).
    pub(crate) places: BTreeMap<String, String>,
    pub(crate) skipped: Skipped,
    pub(crate) notes: Vec<String>,
}

impl Old {
    /// Notes where an object is.
    pub(crate) fn at(&mut self, id: String, row: &Row<'_>) {
        self.places.insert(id, row.place());
    }

    /// Where an object is, with a colon; empty if that is not known.
    pub(crate) fn place(&self, id: &str) -> String {
        let place = self.places.get(id);
        place.map_or_else(String::new, |place| format!("{place}: "))
    }
}

/// What is not moved: for each reason, the things.
#[derive(Debug, Default)]
pub(crate) struct Skipped(pub(crate) BTreeMap<String, Vec<String>>);

impl Skipped {
    pub(crate) fn add(&mut self, reason: impl Into<String>, thing: impl Into<String>) {
        self.0.entry(reason.into()).or_default().push(thing.into());
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) active: bool,
    pub(crate) common_name: String,
    pub(crate) email: String,
    pub(crate) phone: String,
    pub(crate) default_project: String,
    pub(crate) organization: String,
    pub(crate) description: String,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Machine {
    pub(crate) name: String,
    pub(crate) active: bool,
    pub(crate) architecture: String,
    pub(crate) operating_system: String,
    pub(crate) description: String,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Project {
    pub(crate) name: String,
    pub(crate) active: bool,
    pub(crate) parent: String,
    pub(crate) organization: String,
    pub(crate) description: String,
    pub(crate) machines: Vec<String>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Member {
    pub(crate) project: String,
    pub(crate) user: String,
    pub(crate) active: bool,
    /// `manager`, or none.
    pub(crate) role: Option<String>,
}

/// A name in a list of an account.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entry {
    pub(crate) value: String,
    pub(crate) allow: bool,
    pub(crate) subtree: bool,
}

/// The account above another one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Above {
    /// Its key.
    pub(crate) parent: String,
    /// Percent of deposits.
    pub(crate) share: i64,
    /// `no`, `yes` or `any`.
    pub(crate) overflow: &'static str,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Account {
    /// Its number or name in the old bank, unique.
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) description: String,
    /// The lists by dimension: `project`, `user`, `machine` and others. An empty list excludes everything; no
    /// list allows everything.
    pub(crate) lists: BTreeMap<String, Vec<Entry>>,
    pub(crate) above: Option<Above>,
    pub(crate) priority: Option<i64>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Allocation {
    pub(crate) key: String,
    /// The key of its account.
    pub(crate) account: String,
    /// Its window, in µs since 1970; none without bound.
    pub(crate) start: Option<i64>,
    pub(crate) end: Option<i64>,
    pub(crate) amount: Figure,
    pub(crate) deposited: Option<Figure>,
    pub(crate) credit_limit: Figure,
    pub(crate) note: String,
    /// File and line.
    pub(crate) place: String,
}

impl Allocation {
    pub(crate) fn is_active(&self, at: i64) -> bool {
        self.start.is_none_or(|start| start <= at) && self.end.is_none_or(|end| at < end)
    }
}

/// A part of a lien: the account that carries it, the allocation if the old bank names one, the amount.
#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    pub(crate) account: String,
    pub(crate) allocation: Option<String>,
    pub(crate) amount: Figure,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Lien {
    pub(crate) key: String,
    pub(crate) job: String,
    pub(crate) machine: String,
    pub(crate) project: String,
    pub(crate) user: String,
    pub(crate) start: Option<i64>,
    pub(crate) end: Option<i64>,
    pub(crate) parts: Vec<Part>,
    pub(crate) processors: Option<i64>,
    pub(crate) nodes: Option<i64>,
    pub(crate) class: String,
    pub(crate) qos: String,
}

impl Lien {
    pub(crate) fn amount(&self) -> Figure {
        let amounts = self.parts.iter().map(|part| part.amount);
        amounts.fold(Figure::ZERO, Figure::plus)
    }

    /// Whether the old bank counts it at a time.
    pub(crate) fn is_live(&self, at: i64) -> bool {
        self.start.is_none_or(|start| start <= at) && !self.is_over(at)
    }

    pub(crate) fn is_over(&self, at: i64) -> bool {
        self.end.is_some_and(|end| end <= at)
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Rate {
    pub(crate) key: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) instance: String,
    pub(crate) figure: Figure,
    /// `second`, `minute`, `hour` or `day`; none for the default.
    pub(crate) per: Option<String>,
    pub(crate) machine: Option<String>,
    pub(crate) description: String,
}

/// A finished use.
#[derive(Debug, Clone, Default)]
pub(crate) struct Job {
    /// Its number in the old bank.
    pub(crate) key: String,
    /// The id of the scheduler; empty for none.
    pub(crate) id: String,
    pub(crate) project: String,
    pub(crate) user: String,
    pub(crate) machine: String,
    pub(crate) class: String,
    pub(crate) qos: String,
    pub(crate) charge: Figure,
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// The old bank has no times of the job: they are derived.
    pub(crate) is_estimated: bool,
    pub(crate) processors: Option<i64>,
    pub(crate) nodes: Option<i64>,
    pub(crate) memory_mb: Option<i64>,
}

/// Figures of an account or an allocation that the old bank listed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listed {
    /// The key of the account or allocation.
    pub(crate) key: String,
    /// Its name, if the list has one.
    pub(crate) name: String,
    pub(crate) of: Of,
    /// The column as it is written.
    pub(crate) column: String,
    pub(crate) kind: Column,
    /// The figure as it is written.
    pub(crate) text: String,
    /// It has all its decimals; else the old bank printed it with fewer.
    pub(crate) is_exact: bool,
    /// File and line.
    pub(crate) place: String,
}

impl Listed {
    /// Whether reservations have a part in it.
    pub(crate) fn is_of_liens(&self) -> bool {
        let kinds = [Column::Reserved, Column::Balance, Column::Available];
        self.of == Of::Lien || kinds.contains(&self.kind)
    }
}

/// Whose figure it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Of {
    #[default]
    Account,
    Allocation,
    Lien,
}

/// Which figure it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Column {
    #[default]
    Amount,
    Reserved,
    Balance,
    CreditLimit,
    Available,
    Deposited,
}
