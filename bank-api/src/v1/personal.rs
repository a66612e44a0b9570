//! Pages of one person: made by `bank` from several answers, with the rights of that person.

use serde::{Deserialize, Serialize};

use super::{
    ContributionReport, EfficiencyReport, ExpiringRow, ForecastRow, Statement, UsageTable,
};

/// `bank report personal`: the projects of a person in a period, and their outlook.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonalReport {
    /// The login name; `null` for the caller.
    pub user: Option<String>,
    /// Start of the period, inclusive.
    pub from: String,
    /// Its end, exclusive.
    pub until: String,
    /// The unit of amounts.
    pub unit: String,
    /// Number of visible projects. The page has the statements of the first of them.
    pub projects: usize,
    /// A statement of each project.
    pub statements: Vec<Statement>,
    /// Usage in the period by project and user.
    pub usage: UsageTable,
    /// Subscription and contribution; `null` for a person without a contributor.
    pub contribution: Option<ContributionReport>,
    /// Forecast of the accounts, as of the creation of the page.
    pub forecast: Vec<ForecastRow>,
    /// Allocations that end soon, as of the creation of the page.
    pub expiring: Vec<ExpiringRow>,
    /// The days within which they end.
    pub within_days: u32,
}

/// `bank report efficiency-letter`: requested beside used resources of visible jobs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EfficiencyLetter {
    /// The login name; `null` for the caller.
    pub user: Option<String>,
    /// The figures.
    #[serde(flatten)]
    pub report: EfficiencyReport,
}
