//! Simulation of strict enforcement from an instant on.

use std::collections::BTreeMap;
use std::sync::Arc;

use bank_api::v1::{Enforced, EnforcedQuery, EnforcedSum, EnforcedUse};
use bank_core::amount::Amount;
use bank_core::command::Scope;
use bank_core::directory::Bank;
use bank_core::refusal::Refusal;
use bank_core::rules::enforce::{Enforcement, Party, PastUse};
use bank_core::time::Timestamp;
use bank_core::view::Context;
use bankd_store::read::enforced::{self, Use, Who};

use super::call::{Call, Handled, ok};
use super::job::Work;
use super::json::{self, read_time};
use super::pages::{self, Turn};
use super::view::Lookup as _;

/// `GET /api/v1/what-if/enforced`
pub(super) async fn show(call: Call) -> Handled {
    let query: EnforcedQuery = call.query()?;
    let turn = Turn::of(&call, query.limit, query.after.clone())?;
    let now = call.now();
    let window = window(&query, now).map_err(|refusal| call.refused(&refusal))?;
    if let Some(name) = &query.machine {
        call.view.machine_ever(name)?;
    }
    if let Some(name) = &query.project {
        call.view.project_ever(name)?;
    }
    let work = Work::new(&call.view, query.project, None, query.machine);
    let directory = Arc::clone(call.directory());
    let rows = call.ask(move |connection| {
        let (from, until) = window;
        let found = enforced::uses(connection, from, until)?;
        let (standing, changes) = enforced::money(connection, from)?;
        let scope = Scope::default();
        let ctx = Context {
            directory: &directory,
            now,
            scope: &scope,
        };
        let parties: Vec<Party> = found.people.iter().map(|who| party(&ctx, who)).collect();
        let mut money = Enforcement::new(&ctx, standing, changes);
        let mut tale = Tale::of(turn);
        for one in &found.uses {
            let (Some(party), Some(who)) = (parties.get(one.who), found.people.get(one.who)) else {
                continue;
            };
            let fate = money.begin(&PastUse {
                party,
                start: one.start,
                end: one.end,
                cost: Amount(one.cost.max(0)),
            });
            if work.holds(&who.project, &who.user, &who.machine) {
                tale.tell(one, who, fate.err());
            }
        }
        for (one, shown, _) in &mut tale.items {
            shown.job = enforced::id_of(connection, one.row)?;
        }
        Ok((tale, found.complete))
    });
    let (tale, complete) = rows.await?;
    if tale.passed.is_some() {
        return Err(call.refused(&pages::bad_cursor()));
    }
    let bank = &call.directory().bank;
    ok(&tale.shaped(window, complete, bank))
}

fn window(query: &EnforcedQuery, now: Timestamp) -> Result<(Timestamp, Timestamp), Refusal> {
    let from = read_time(&query.from, "from")?;
    let until = query.until.as_deref().map(|text| read_time(text, "until"));
    let until = until.transpose()?.map_or(now, |until| until.min(now));
    if from >= until {
        return Err(Refusal::BadWindow);
    }
    Ok((from, until))
}

fn party(ctx: &Context<'_>, who: &Who) -> Party {
    Party::new(ctx, &who.whose(), &who.usage(), &who.group)
}

/// Results of the listed uses.
struct Tale {
    sums: BTreeMap<String, Sum>,
    /// With the amount that would have been available, for insufficient funds.
    items: Vec<(Use, EnforcedUse, Option<Amount>)>,
    /// The page begins after this use, which has not appeared yet.
    passed: Option<String>,
    /// Rows of the page.
    limit: usize,
    more: bool,
}

#[derive(Default)]
struct Sum {
    jobs: i64,
    cost: i128,
    refused: i64,
    refused_cost: i128,
    first: Option<Timestamp>,
}

impl Tale {
    fn of(turn: Turn) -> Self {
        let (limit, passed) = turn.parts();
        Self {
            sums: BTreeMap::new(),
            items: Vec::new(),
            passed,
            limit,
            more: false,
        }
    }

    fn tell(&mut self, one: &Use, who: &Who, refusal: Option<Refusal>) {
        if !self.sums.contains_key(&who.project) {
            self.sums.insert(who.project.clone(), Sum::default());
        }
        let Some(sum) = self.sums.get_mut(&who.project) else {
            return;
        };
        let cost = i128::from(one.cost);
        let Some(refusal) = refusal else {
            sum.jobs += 1;
            sum.cost = sum.cost.saturating_add(cost);
            return;
        };
        sum.refused += 1;
        sum.refused_cost = sum.refused_cost.saturating_add(cost);
        sum.first = sum.first.or(Some(one.start));
        if let Some(passed) = &self.passed {
            self.passed = (*passed != one.row.to_string()).then(|| passed.clone());
            return;
        }
        if self.items.len() >= self.limit {
            self.more = true;
            return;
        }
        let available = match &refusal {
            Refusal::InsufficientFunds { available, .. } => Some(*available),
            _ => None,
        };
        let shown = EnforcedUse {
            at: json::time(one.start),
            machine: who.machine.clone(),
            project: who.project.clone(),
            user: who.user.clone(),
            code: refusal.code().to_owned(),
            ..EnforcedUse::default()
        };
        self.items.push((*one, shown, available));
    }

    fn shaped(
        self,
        (from, until): (Timestamp, Timestamp),
        complete: bool,
        bank: &Bank,
    ) -> Enforced {
        let last = self.items.last().filter(|_| self.more);
        let next = last.map(|(one, ..)| one.row.to_string());
        let items = self
            .items
            .into_iter()
            .map(|(one, shown, available)| EnforcedUse {
                cost: json::amount(Amount(one.cost), bank),
                available: available.map(|amount| json::amount(amount, bank)),
                ..shown
            });
        let projects = self.sums.into_iter().map(|(project, sum)| EnforcedSum {
            project,
            jobs: sum.jobs,
            cost: json::sum(sum.cost, bank),
            refused: sum.refused,
            refused_cost: json::sum(sum.refused_cost, bank),
            first_refused: sum.first.map(json::time),
        });
        Enforced {
            from: json::time(from),
            until: json::time(until),
            projects: projects.collect(),
            items: items.collect(),
            next,
            complete,
            unit: bank.unit.clone(),
        }
    }
}
