//! The directory, as the rules of kinds see it.

use crate::kind::{Objects, Records};
use crate::select;
use crate::view::Context;

impl Objects for Context<'_> {
    fn has(&self, kind: &str, key: &str) -> bool {
        match kind {
            "project" => self.directory.project_named(key).is_some(),
            "user" => self.directory.user_named(key).is_some(),
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

    fn rate_of(&self, attribute: &str) -> Option<i64> {
        let is = |property: &str| property.eq_ignore_ascii_case(attribute);
        let mut rates = self.directory.rates_at(self.now).iter();
        let rate = rates.find(|rate| is(&rate.name) || is(rate.property()));
        rate.map(|rate| rate.id.0)
    }
}
