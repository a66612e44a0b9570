//! Quotes (ledger.md 2.9): plain ones write nothing, promised ones are bound on first use.

use super::money::short;
use super::price::Asked;
use super::who::Fit;
use super::{Facts, Naive, Quote, Said};
use crate::ledger::fixture::show_time;
use crate::ledger::reply::refused;
use bank_core::command::{Promise, QuoteRequest, Request};
use bank_core::directory::FallbackMode;
use bank_core::model::Mode;
use bank_core::time::{Seconds, Timestamp, Window};

const DAY: i64 = 86_400;

impl Naive {
    pub(super) fn quote(&mut self, request: &QuoteRequest) -> Said {
        let duration = request.duration.unwrap();
        if request.usage.has_negative() {
            return Err(refused("negative_charge"));
        }
        self.check_attributes(&request.usage)?;
        if request.uses < 1 {
            return Err(refused("bad_value"));
        }
        let payer = self.find(&request.whose);
        let mode = self.mode(&payer);
        let facts = Facts {
            project: payer.named.clone(),
            user: request.whose.user.clone().unwrap_or_default(),
            group: request.group.clone(),
            usage: request.usage.clone(),
        };
        let price = self.price(&Asked {
            facts: &facts,
            machine: &request.whose.machine,
            seconds: duration.0,
            at: self.now,
        });
        let cost = self.rounded(price.bounded(price.metered + price.once));
        if let (Err(refusal), false) = (self.may_pay(request, &facts, cost, mode), mode.is_shadow())
        {
            return Err(refusal);
        }
        let mut said = format!("cost {}", if mode == Mode::Track { 0 } else { cost });
        if price.is_undefined {
            said += ", undefined_instance";
        }
        let valid = match request.promise {
            Promise::None => return Ok(said),
            Promise::Tid => DAY,
            Promise::Guarantee => duration.0 + 7 * DAY,
        };
        let project = payer.project.clone();
        let end = self.now.plus(Seconds(valid));
        self.quotes.push(Quote {
            tid: request.tid.clone(),
            project: project.ok_or_else(|| refused("no_default_project"))?,
            user: payer.user,
            machine: payer.machine,
            window: Window {
                start: Some(self.now),
                end: Some(end),
            },
            uses: request.uses,
        });
        self.begin("quote", self.now);
        Ok(format!(
            "{said}, valid [{},{})",
            show_time(self.now),
            show_time(end)
        ))
    }

    /// Whether somebody may pay so much now.
    fn may_pay(
        &self,
        request: &QuoteRequest,
        facts: &Facts,
        cost: i64,
        mode: Mode,
    ) -> Result<(), String> {
        let fits = self.unblocked(self.usable(&request.whose, facts)?)?;
        let machine = &request.whose.machine;
        let grace = self.lien_grace(machine, true);
        let until = self.now.plus(request.duration.unwrap()).plus(grace);
        let available = self.reach(&fits, self.now, until, mode.is_shadow());
        if cost <= available || request.cost_only || mode == Mode::Fast {
            return Ok(());
        }
        let first = self.first_payer(&fits, self.now);
        let fallback = first.and_then(|first| self.fallback_of(first, Some(machine)));
        let fallback = fallback.filter(|_| self.policy.fallback == FallbackMode::Bank);
        let covers =
            |account: usize| self.reach(&[Fit::only(account)], self.now, until, false) >= cost;
        if fallback.is_some_and(covers) {
            return Ok(());
        }
        Err(short(cost, available))
    }

    /// Ends a quote; what is bound to it keeps its price.
    pub(super) fn remove_quote(&mut self, number: i64) -> Said {
        let now = self.now;
        let at = usize::try_from(number - 1).ok();
        let quote = at.and_then(|at| self.quotes.get_mut(at));
        let quote = quote.filter(|q| !q.window.is_over(now));
        let quote = quote.ok_or_else(|| refused("not_found"))?;
        quote.window.end = Some(now);
        quote.uses = 0;
        self.begin("quote_rm", now);
        Ok("removed".to_owned())
    }

    /// Binds the quote that a request names to its instance on first use; says whether it is one
    /// that does not hold here.
    pub(super) fn bind(&mut self, n: usize, request: &Request, at: Timestamp) -> bool {
        let named = |q: &Quote| Some(&q.tid) == request.tid.as_ref();
        let Some(known) = self.quotes.iter().rposition(named) else {
            return false;
        };
        if self.instances[n].quote == Some(known) {
            return false;
        }
        let payer = self.find(&request.whose);
        let quote = &mut self.quotes[known];
        let fits = payer.project.as_ref() == Some(&quote.project)
            && (quote.user.is_none() || quote.user == payer.user)
            && (quote.machine.is_none() || quote.machine == payer.machine);
        let is_free = quote.uses > 0 && self.instances[n].quote.is_none();
        if !fits || !is_free || !quote.window.contains(at) {
            return true;
        }
        quote.uses -= 1;
        self.instances[n].quote = Some(known);
        self.instances[n].rates_at = quote.window.start;
        false
    }
}
