//! Changes of the reference data, and proposals.

use super::Book;
use crate::directory::Directory;
use crate::effects::DirectoryRow;
use crate::model::Proposal;
use crate::need::Need;
use crate::view::View;

impl Book {
    /// Adds the proposal to decide, and the number of open requests.
    pub(super) fn add_proposals(&self, need: &Need, view: &mut View) {
        let proposal = need.proposal.and_then(|id| self.proposals.get(&id));
        view.proposal = proposal.cloned();
        if let Some((person, now)) = &need.asked_by {
            let open = |p: &&Proposal| p.is_open_request_of(person, *now);
            let open = self.proposals.values().filter(open).count();
            view.open_requests = i64::try_from(open).unwrap_or(i64::MAX);
        }
    }
}

impl Directory {
    /// Takes a change of the reference data in.
    pub fn put(&mut self, row: &DirectoryRow) {
        match row {
            DirectoryRow::Member(member) => self.put_member(*member),
            DirectoryRow::MemberGone(project, user) => self.remove_member(*project, *user),
            DirectoryRow::Account(account) => self.put_account(account.clone()),
            DirectoryRow::Rate(rate) => self.put_rate(rate.clone()),
            DirectoryRow::Key(key) => self.put_key(key.clone()),
            DirectoryRow::Cycle(cycle) => self.put_cycle(cycle.clone()),
            DirectoryRow::Record(record) => self.put_record(record.clone()),
            DirectoryRow::Quiet(project, quiet) => self.put_quiet(*project, *quiet),
            DirectoryRow::Grant(grant) => self.put_grant(grant.clone()),
            DirectoryRow::Limit(limit) => self.put_limit(limit.clone()),
            DirectoryRow::LimitGone(of) => self.remove_limit(of),
        }
    }
}
