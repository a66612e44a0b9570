//! The pages: one file each, with its rows, handlers and templates.

pub(crate) mod ask;
pub(crate) mod burn;
pub(crate) mod checkpoints;
pub(crate) mod closes;
pub(crate) mod contribution;
pub(crate) mod explain;
pub(crate) mod home;
pub(crate) mod jobs;
pub(crate) mod journal;
pub(crate) mod keys;
pub(crate) mod limits;
pub(crate) mod members;
pub(crate) mod mine;
pub(crate) mod money;
pub(crate) mod notices;
pub(crate) mod operations;
pub(crate) mod people;
pub(crate) mod project;
pub(crate) mod proof;
pub(crate) mod proposals;
pub(crate) mod quote;
pub(crate) mod rates;
pub(crate) mod requests;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod statement;
pub(crate) mod statements;
pub(crate) mod today;
pub(crate) mod tree;
pub(crate) mod undo;
pub(crate) mod usage;
pub(crate) mod utilization;
pub(crate) mod waiting;

use super::page::Page;

/// Every page, in the order of the navigation.
pub fn rows() -> Vec<Page> {
    let all = [
        home::rows(),
        today::rows(),
        proposals::rows(),
        tree::rows(),
        project::rows(),
        burn::rows(),
        jobs::rows(),
        explain::rows(),
        statement::rows(),
        statements::rows(),
        mine::rows(),
        usage::rows(),
        waiting::rows(),
        utilization::rows(),
        contribution::rows(),
        quote::rows(),
        requests::rows(),
        ask::rows(),
        notices::rows(),
        operations::rows(),
        money::rows(),
        rates::rows(),
        closes::rows(),
        members::rows(),
        undo::rows(),
        proof::rows(),
        checkpoints::rows(),
        journal::rows(),
        people::rows(),
        limits::rows(),
        keys::rows(),
        settings::rows(),
        sessions::rows(),
    ];
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankd_ledger::access::right::Right;
    use std::collections::BTreeSet;

    #[test]
    fn every_row_is_there_once() {
        let mut seen = BTreeSet::new();
        for row in rows() {
            let name = format!("{} {}", row.method, row.path);
            assert!(row.path.starts_with('/'), "{name}");
            assert!(row.nav.is_none() || row.method == "GET", "{name}");
            assert!(row.nav.is_none() || !row.path.contains('{'), "{name}");
            assert!(row.right != Right::Anybody, "{name}");
            assert!(seen.insert(name.clone()), "{name}");
        }
    }
}
