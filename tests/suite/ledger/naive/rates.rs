//! Rates that change in time, and declared attributes (ledger.md 3.3 and 6).

use super::price::Priced;
use super::{Answer, Naive};
use crate::ledger::reply::refused;
use bank_core::command::SetRate;
use bank_core::kind::Value;
use bank_core::rate::{Per, RateKind, RateValue};
use bank_core::time::{Timestamp, Window};
use bank_core::usage::Usage;

/// A version of a rate; its number is its place.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    pub(super) kind: RateKind,
    pub(super) name: String,
    pub(super) instance: String,
    pub(super) value: RateValue,
    pub(super) per: Per,
    pub(super) machine: Option<String>,
    pub(super) window: Window,
}

impl Rate {
    pub(super) fn holds(&self, priced: &Priced<'_>) -> bool {
        let here = self.machine.as_deref().is_none_or(|m| m == priced.machine);
        here && self.window.contains(priced.at)
    }

    /// Of two that are about the same only one counts.
    pub(super) fn is_about(&self, other: &Rate) -> bool {
        let property = |r: &Rate| match r.kind {
            RateKind::Mvbr => r.instance.split('=').next().unwrap().to_owned(),
            _ => String::new(),
        };
        (self.kind, &self.name) == (other.kind, &other.name) && property(self) == property(other)
    }

    /// Of two with the same subject the newer one ends the older one.
    fn is_same(&self, other: &Rate) -> bool {
        let subject = |r: &Rate| {
            (
                r.kind,
                r.name.clone(),
                r.instance.clone(),
                r.machine.clone(),
            )
        };
        subject(self) == subject(other)
    }
}

impl Naive {
    pub(super) fn set_rate(&mut self, set: &SetRate) -> Answer {
        if set.from.is_some_and(|from| from < self.now) {
            return Err(refused("bad_value"));
        }
        let start = set.from.unwrap_or(self.now).max(self.after_quotes());
        if set.until.is_some_and(|until| until <= start) {
            return Err(refused("bad_window"));
        }
        if set
            .machine
            .as_deref()
            .is_some_and(|m| self.machine_at(m).is_err())
        {
            return Err(refused("not_found"));
        }
        let window = Window {
            start: Some(start),
            end: set.until,
        };
        let new = Rate {
            kind: set.kind,
            name: if set.kind.is_limit() {
                String::new()
            } else {
                set.name.clone()
            },
            instance: set.instance.clone(),
            value: set.value,
            per: set.per,
            machine: set.machine.clone(),
            window,
        };
        let meets = |old: &&mut Rate| {
            let is_over = old.window.end.is_some_and(|end| end <= start);
            let is_later = old.window.start.zip(set.until).is_some_and(|(s, u)| u <= s);
            old.is_same(&new) && !is_over && !is_later
        };
        let mut ended: Vec<&mut Rate> = self.rates.iter_mut().filter(meets).collect();
        // One that is as the new one already stays, and nothing changes.
        if let [old] = ended.as_slice()
            && (old.value, old.per, old.window.end) == (new.value, new.per, window.end)
            && old.window.start <= window.start
        {
            return Ok("done".to_owned());
        }
        for old in &mut ended {
            old.end_at(start);
        }
        self.rates.push(new);
        self.begin("rate_set", self.now);
        Ok("done".to_owned())
    }

    pub(super) fn remove_rate(&mut self, number: i64) -> Answer {
        let (now, end) = (self.now, self.after_quotes());
        let at = usize::try_from(number - 1).ok();
        let rate = at.and_then(|at| self.rates.get_mut(at));
        let rate = rate.filter(|r| r.window.end.is_none_or(|end| end > now));
        rate.ok_or_else(|| refused("not_found"))?.end_at(end);
        self.begin("rate_rm", self.now);
        Ok("removed".to_owned())
    }

    /// A quote holds the rates of its instant: a change in the same instant comes after it
    /// (decision note 0015).
    fn after_quotes(&self) -> Timestamp {
        let newest = self.quotes.last().and_then(|q| q.window.start);
        let is_now = newest.is_some_and(|at| at >= self.now);
        Timestamp(self.now.0 + i64::from(is_now))
    }

    pub(super) fn add_attribute(&mut self, new: &str, set: &[(String, Value)]) -> Answer {
        if self.attributes.iter().any(|(name, _)| name == new) {
            return Err(refused("already_exists"));
        }
        let number = ("type".to_owned(), Value::from("number"));
        let is_number = set.contains(&number);
        self.attributes.push((new.to_owned(), is_number));
        self.begin("attr_add", self.now);
        Ok("done".to_owned())
    }

    pub(super) fn remove_attribute(&mut self, name: &str) -> Answer {
        let known = self.attributes.iter().position(|(n, _)| n == name);
        let known = known.ok_or_else(|| refused("not_found"))?;
        if self.is_rated(name) {
            return Err(refused("in_use"));
        }
        self.attributes.remove(known);
        self.begin("attr_rm", self.now);
        Ok("removed".to_owned())
    }

    /// Whether a rate in force uses an attribute.
    pub(super) fn is_rated(&self, name: &str) -> bool {
        let open = self
            .rates
            .iter()
            .filter(|r| r.window.end.is_none_or(|end| end > self.now));
        let mut names = open.map(|r| match r.kind {
            RateKind::Mvbr => r.instance.split('=').next().unwrap().to_owned(),
            _ => r.name.clone(),
        });
        names.any(|own| own == name)
    }

    /// Whether what is declared as a number is one.
    pub(super) fn check_attributes(&self, usage: &Usage) -> Result<(), String> {
        let is_bad = |(name, value): &(String, String)| {
            self.attributes.contains(&(name.clone(), true)) && value.parse::<i64>().is_err()
        };
        if usage.attributes.iter().any(is_bad) {
            return Err(refused("bad_value"));
        }
        Ok(())
    }
}

impl Rate {
    /// Ends it then; one that was to begin later never does.
    fn end_at(&mut self, at: Timestamp) {
        let end = self.window.start.map_or(at, |start| start.max(at));
        self.window.end = Some(end);
    }
}
