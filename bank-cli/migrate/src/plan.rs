//! The plan: what is made in this bank, under which names, and what is not moved.

mod fit;
mod history;
mod names;
mod proof;
mod request;
mod show;

use std::collections::BTreeMap;

use bank_api::v1::{ExpectedBalance, NewMigration, NewUsage};

use self::names::Names;
use crate::{Settings, fault::Fault, old::Old};

/// A plan.
#[derive(Debug)]
pub struct Plan {
    pub(crate) old: Old,
    settings: Settings,
    names: Names,
    request: NewMigration,
    history: Vec<NewUsage>,
    /// Figures of the list that agree with the tables at an earlier time only: why.
    since_listed: Vec<String>,
    /// Compared figures of lists.
    compared: usize,
}

pub(crate) fn make(mut old: Old, settings: &Settings) -> Result<Plan, Fault> {
    history::complete(&mut old, settings);
    fit::check(&mut old, settings)?;
    let names = names::give(&mut old);
    let (since_listed, compared) = proof::compare(&old, settings)?;
    let history = history::records(&mut old, &names, settings);
    let request = request::make(&mut old, &names, settings)?;
    Ok(Plan {
        request,
        history,
        since_listed,
        compared,
        names,
        settings: settings.clone(),
        old,
    })
}

impl Plan {
    /// The request that opens this bank.
    pub fn request(&self) -> &NewMigration {
        &self.request
    }

    /// Where an item of the request is in the old bank: file and line.
    pub fn place(&self, id: &str) -> Option<&str> {
        self.old.places.get(id).map(String::as_str)
    }

    /// Where a finished use is, by its place in [`Plan::history`].
    pub fn place_of_use(&self, index: usize) -> Option<&str> {
        let job = self.old.jobs.get(index)?;
        self.place(&format!("job {}", job.key))
    }

    /// The finished uses, oldest first.
    pub fn history(&self) -> &[NewUsage] {
        &self.history
    }

    /// The sum of the charges of the finished uses.
    pub fn charged(&self) -> String {
        history::sum(&self.history)
    }

    /// Objects with a new name: kind, old name, new name.
    pub fn renamed(&self) -> &[(String, String, String)] {
        &self.names.renamed
    }

    /// What is not moved: for each reason, the things.
    pub fn skipped(&self) -> &BTreeMap<String, Vec<String>> {
        &self.old.skipped.0
    }

    /// Remarks.
    pub fn notes(&self) -> Vec<String> {
        let all = self.old.notes.iter().chain(&self.since_listed);
        all.cloned().collect()
    }

    /// The number of figures of the old bank's lists that were compared.
    pub fn compared(&self) -> usize {
        self.compared
    }

    /// The figures that are expected, by account.
    pub fn expected(&self) -> &[ExpectedBalance] {
        &self.request.expected
    }

    /// The plan as text.
    pub fn text(&self) -> String {
        show::text(self)
    }
}
