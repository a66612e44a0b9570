//! Changes of the reference data.

use crate::directory::Directory;
use crate::effects::DirectoryRow;

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
