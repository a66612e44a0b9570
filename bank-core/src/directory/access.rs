//! Roles of people, limits, and what needs a second pair of eyes.

use super::Directory;
use crate::amount::Amount;
use crate::model::{Grant, Limit, LimitOf, Member, MemberRole, MoneyKind};
use crate::time::Timestamp;

/// The amounts above which somebody else has to approve, by kind, in millionths of a credit, independent of
/// the bank's precision; none: no approval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Approval {
    /// Of deposits, and of what a cycle gives each time.
    pub deposit: Option<Amount>,
    /// Of withdrawals.
    pub withdraw: Option<Amount>,
    /// Of transfers.
    pub transfer: Option<Amount>,
    /// Of refunds.
    pub refund: Option<Amount>,
    /// Of adjustments, up or down.
    pub adjust: Option<Amount>,
    /// Of new credit limits, and of what one grows by.
    pub credit_limit: Option<Amount>,
}

impl Approval {
    /// The amount above which a kind needs a second pair of eyes; none for never.
    pub fn above(&self, kind: MoneyKind) -> Option<Amount> {
        match kind {
            MoneyKind::Deposit => self.deposit,
            MoneyKind::Withdraw => self.withdraw,
            MoneyKind::Transfer => self.transfer,
            MoneyKind::Refund => self.refund,
            MoneyKind::Adjust => self.adjust,
            MoneyKind::CreditLimit => self.credit_limit,
        }
    }
}

impl Directory {
    /// Adds or replaces a role of a person.
    pub fn put_grant(&mut self, grant: Grant) {
        self.grants.insert(grant.id, grant);
    }

    /// Every role that was given, those that are over or were taken back too, by number.
    pub fn grants(&self) -> impl Iterator<Item = &Grant> {
        self.grants.values()
    }

    /// The roles of a person that count at an instant.
    pub fn grants_of(&self, name: &str, now: Timestamp) -> impl Iterator<Item = &Grant> {
        let own = self.grants.values().filter(move |g| g.name == name);
        own.filter(move |g| g.counts(now))
    }

    /// The projects in which a user is active in a place.
    pub fn projects_led(&self, user: &str, place: MemberRole) -> Vec<String> {
        let Some(user) = self.user_named(user).filter(|u| u.active) else {
            return Vec::new();
        };
        let led = self.leaders.get(&user.id).into_iter().flatten();
        let led = led.filter(|(_, role)| **role == place);
        let led = led.filter_map(|(id, _)| self.project(*id));
        let there = led.filter(|project| !project.deleted);
        there.map(|project| project.name.clone()).collect()
    }

    /// Records the projects that a person leads: every request of a person needs them.
    pub(super) fn lead(&mut self, member: &Member) {
        let led = self.leaders.entry(member.user).or_default();
        if member.active && member.role != MemberRole::Member {
            led.insert(member.project, member.role);
        } else {
            led.remove(&member.project);
        }
        if led.is_empty() {
            self.leaders.remove(&member.user);
        }
    }

    /// Adds or replaces a limit.
    pub fn put_limit(&mut self, limit: Limit) {
        self.limits.insert(limit.of.clone(), limit);
    }

    /// Takes a limit away.
    pub fn remove_limit(&mut self, of: &LimitOf) {
        self.limits.remove(of);
    }

    /// Every limit, those of roles first.
    pub fn limits(&self) -> impl Iterator<Item = &Limit> {
        self.limits.values()
    }

    /// The limit for somebody.
    pub fn limit(&self, of: &LimitOf) -> Option<&Limit> {
        self.limits.get(of)
    }
}
