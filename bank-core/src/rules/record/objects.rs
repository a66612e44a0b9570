//! The directory, as the rules of kinds see it.

use crate::history::PastRecord;
use crate::kind::{Objects, Records};
use crate::model::{Constraint, Dimension};
use crate::select;
use crate::view::Context;

/// The directory as it is once a transaction has been undone: records that come back exist.
pub(super) struct Undone<'a> {
    pub(super) ctx: &'a Context<'a>,
    pub(super) back: &'a [PastRecord],
}

impl Objects for Undone<'_> {
    fn has(&self, kind: &str, key: &str) -> bool {
        let comes = |past: &PastRecord| {
            let before = past.before.as_ref().filter(|before| !before.deleted);
            before.is_some_and(|before| before.kind == kind && before.key.to_string() == key)
        };
        self.back.iter().any(comes) || self.ctx.has(kind, key)
    }

    fn records(&self) -> &Records {
        self.ctx.records()
    }

    fn has_payer(&self, name: &str) -> bool {
        self.has("project", name) || self.ctx.has_payer(name)
    }

    fn user_with_alias(&self, alias: &str) -> Option<&str> {
        self.ctx.user_with_alias(alias)
    }

    fn account_listing(&self, project: &str) -> Option<&str> {
        self.ctx.account_listing(project)
    }

    fn rate_of(&self, attribute: &str) -> Option<i64> {
        self.ctx.rate_of(attribute)
    }
}

impl Objects for Context<'_> {
    fn has(&self, kind: &str, key: &str) -> bool {
        match kind {
            "account" => self.directory.account_named(key).is_some(),
            kind => {
                let records = self.records();
                let of = records.kind(kind);
                let key = of.and_then(|of| Some(records.spelled(of, &of.read_key(key)?)));
                key.is_some_and(|key| records.get(kind, &key).is_some())
            }
        }
    }

    fn records(&self) -> &Records {
        &self.directory.records
    }

    fn has_payer(&self, name: &str) -> bool {
        select::named(self.directory, name).is_some()
    }

    fn user_with_alias(&self, alias: &str) -> Option<&str> {
        let owner = self.directory.user_with_alias(alias)?;
        Some(&owner.name)
    }

    fn account_listing(&self, project: &str) -> Option<&str> {
        let names = |row: &Constraint| row.dimension == Dimension::Project && row.value == project;
        let mut all = self.directory.accounts();
        let account = all.find(|account| account.constraints.iter().any(names))?;
        Some(&account.name)
    }

    fn rate_of(&self, attribute: &str) -> Option<i64> {
        let is = |property: &str| property.eq_ignore_ascii_case(attribute);
        let mut rates = self.directory.rates_at(self.now).iter();
        let rate = rates.find(|rate| is(&rate.name) || is(rate.property()));
        rate.map(|rate| rate.id.0)
    }
}
