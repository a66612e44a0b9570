//! Quotes (ledger.md 2.9): plain ones write nothing, promised ones are bound on first use.

use super::money::short;
use super::price::Priced;
use super::who::{Fit, Payer};
use super::{Answer, Facts, Naive, Quote};
use crate::ledger::fixture::show_time;
use crate::ledger::reply::refused;
use bank_core::command::{Create, Promise, QuoteRequest, Request};
use bank_core::directory::FallbackMode;
use bank_core::model::Mode;
use bank_core::time::{Seconds, Timestamp, Window};

const DAY: i64 = 86_400;

impl Naive {
    pub(super) fn quote(&mut self, request: &QuoteRequest) -> Answer {
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
            ..Facts::default()
        };
        let price = self.price(&Priced {
            facts: &facts,
            machine: &request.whose.machine,
            seconds: duration.0,
            at: self.now,
        });
        let own = self.rounded(price.bounded(price.metered + price.once));
        let cost = match self.may_pay(request, &facts, own, mode) {
            Ok(cost) => cost,
            Err(_) if mode.is_shadow() => own,
            Err(refusal) => return Err(refusal),
        };
        let mut answer = format!("cost {}", if mode == Mode::Track { 0 } else { cost });
        if price.is_undefined {
            answer += ", undefined_instance";
        }
        let valid = match request.promise {
            Promise::None => return Ok(answer),
            Promise::Tid => DAY,
            Promise::Guarantee => duration.0 + 7 * DAY,
        };
        let end = self.now.plus(Seconds(valid));
        self.promise(&request.tid, payer, end, request.uses)?;
        self.begin("quote", self.now);
        Ok(format!(
            "{answer}, valid [{},{})",
            show_time(self.now),
            show_time(end)
        ))
    }

    fn promise(
        &mut self,
        tid: &str,
        payer: Payer,
        end: Timestamp,
        uses: i64,
    ) -> Result<(), String> {
        self.quotes.push(Quote {
            tid: tid.to_owned(),
            project: payer.project.ok_or_else(|| refused("no_default_project"))?,
            user: payer.user,
            machine: payer.machine,
            window: Window {
                start: Some(self.now),
                end: Some(end),
            },
            uses,
        });
        Ok(())
    }

    /// A create may promise a price: unless its document names a quote of ours, and where there is
    /// something to price (nami.md 2).
    pub(super) fn promise_tid(&mut self, create: &Create, n: usize) -> Result<(), String> {
        let request = &create.request;
        let is_ours = |q: &Quote| Some(&q.tid) == request.tid.as_ref();
        let (Some(tid), Some(_)) = (&create.tid, create.duration) else {
            return Ok(());
        };
        let payer = self.find(&request.whose);
        if self.quotes.iter().any(is_ours) || payer.project.is_none() {
            return Ok(());
        }
        self.check_attributes(&self.instances[n].facts.usage)?;
        self.promise(tid, payer, self.now.plus(Seconds(DAY)), 1)
    }

    /// What somebody may pay now: the cost, or what it is on the fallback account.
    fn may_pay(
        &self,
        request: &QuoteRequest,
        facts: &Facts,
        cost: i64,
        mode: Mode,
    ) -> Result<i64, String> {
        let fits = self.unblocked(self.usable(&request.whose, facts)?)?;
        let machine = &request.whose.machine;
        let grace = self.lien_grace(machine, true);
        let until = self.now.plus(request.duration.unwrap()).plus(grace);
        let available = self.reach(&fits, self.now, until, mode.is_shadow());
        if cost <= available {
            return Ok(cost);
        }
        let first = self.first_payer(&fits, self.now);
        let fallback = first.and_then(|first| self.fallback_of(first, Some(machine)));
        let fallback = fallback.filter(|_| self.policy.fallback == FallbackMode::Bank);
        if let Some(fallback) = fallback {
            let there = self.cost_on_fallback(request, facts, cost);
            let only = self.unblocked(vec![Fit::only(fallback)]);
            let covers = |only: Vec<Fit>| self.reach(&only, self.now, until, false) >= there;
            if only.is_ok_and(covers) {
                return Ok(there);
            }
        }
        if request.cost_only || mode == Mode::Fast {
            return Ok(cost);
        }
        Err(short(cost, available))
    }

    fn cost_on_fallback(&self, request: &QuoteRequest, facts: &Facts, cost: i64) -> i64 {
        let machine = self.machine(&request.whose.machine);
        let Some(qos) = machine.and_then(|m| m.fallback_qos.clone()) else {
            return cost;
        };
        let mut facts = facts.clone();
        facts.usage.qos = Some(qos);
        let price = self.price(&Priced {
            facts: &facts,
            machine: &request.whose.machine,
            seconds: request.duration.unwrap().0,
            at: self.now,
        });
        self.rounded(price.bounded(price.metered + price.once))
    }

    /// Ends a quote; what is bound to it keeps its price.
    pub(super) fn remove_quote(&mut self, number: i64) -> Answer {
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
