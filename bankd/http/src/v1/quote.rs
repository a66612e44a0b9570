//! Quotes: a plain one writes nothing; a guaranteed one is a row (ledger.md 2.9).

use axum::response::IntoResponse;
use bank_api::error::Problem;
use bank_api::v1::{NewQuote, Quote};
use bank_core::command::{Command, Promise, QuoteRequest, Whose};
use bank_core::decimal::Decimal;
use bank_core::directory::{Directory, FallbackMode};
use bank_core::effects::{Outcome, Quoted};
use bank_core::model::{Account, Project};
use bank_core::price::Priced;
use bank_core::refusal::Refusal;
use bank_core::select::{self, Payer};
use bank_core::time::Seconds;
use bank_core::usage::Usage;
use bankd_ledger::keys;
use bankd_ledger::writer::{Decided, Render};
use bankd_store::answer::Answer;

use super::call::{Call, Handled, rendered};
use super::object::resources;
use super::{explain, json, overflow};
use crate::error::Failure;

/// The warning about a price of 0 without a rate.
pub(super) const UNPRICED: &str = "unpriced: no rate matches anything of this usage, so it is free";

/// `POST /api/v1/quotes`
pub(super) async fn quote(call: Call) -> Handled {
    let new: NewQuote = call.json()?;
    let (guarantee, cost_only) = (new.guarantee, new.cost_only);
    let mut request = read(new, &call)?;
    if let Err(hidden) = only_what_is_seen(&call, &request.whose) {
        return if guarantee {
            call.answered_or(hidden).await
        } else {
            Err(hidden)
        };
    }
    let render: Render = match (guarantee, cost_only) {
        (true, false) => render_guarantee,
        (true, true) => render_guarantee_cost_only,
        (false, false) => render,
        (false, true) => render_cost_only,
    };
    if guarantee {
        request.promise = Promise::Guarantee;
        let failed = |_| Failure::new("internal", "no random numbers");
        request.tid = keys::new_tid().map_err(failed)?;
    }
    let refused = overflow::RefusedRequest {
        whose: request.whose.clone(),
        usage: request.usage.clone(),
        group: request.group.clone(),
    };
    if guarantee {
        let mut done = call.write(Command::Quote(request), render).await?;
        overflow::add(&call, &mut done, &refused);
        return Ok(done.into_response());
    }
    let fallback = fallback_hint(&call, &request);
    let command = Command::Quote(request);
    let mut done = call.write_unkeyed(command, render).await?;
    overflow::add(&call, &mut done, &refused);
    if let Some(hint) = fallback {
        done.tell_once(|problem: &mut Problem| {
            if problem.code == "insufficient_funds" {
                problem.hint = Some(hint);
            }
        });
    }
    Ok(done.into_response())
}

/// A hint for schedulers with a fallback: the account for a second attempt, if the caller may see it.
fn fallback_hint(call: &Call, request: &QuoteRequest) -> Option<String> {
    let directory = call.directory();
    if directory.policy.fallback != FallbackMode::Scheduler {
        return None;
    }
    let payer = select::find(directory, &request.whose);
    let payer = payer.knowing(directory, &request.usage, &request.group);
    let account = first_account(directory, request, &payer)?;
    let fallback = directory.fallback_of(account, payer.machine)?;
    if !call.view.sees_account(fallback) {
        return None;
    }
    let about = match fallback.description.as_str() {
        "" => String::new(),
        text => format!(" ({text})"),
    };
    Some(format!(
        "the scheduler may run such a job under its fallback account {:?}{about}; this quote is \
         for {} only",
        fallback.name, payer.project_name
    ))
}

/// The account that is asked first.
fn first_account<'a>(
    directory: &'a Directory,
    request: &QuoteRequest,
    payer: &Payer,
) -> Option<&'a Account> {
    let candidates = match request.whose.user.as_deref() {
        None if request.any_member => select::for_any_member(directory, payer),
        user => select::candidates(directory, payer, user.unwrap_or_default()),
    };
    let candidates = candidates.unwrap_or_default();
    let first = candidates
        .iter()
        .min_by_key(|c| (c.priority, c.distance, c.fit));
    directory.account(first?.account)
}

fn read(new: NewQuote, call: &Call) -> Result<QuoteRequest, Failure> {
    let directory = call.directory();
    // A program has no user. A person is the caller.
    let own = || call.view.own_user().map(|u| u.name.clone());
    let user = new.user.clone().or_else(own);
    let user = user.or_else(|| {
        call.auth
            .user
            .clone()
            .filter(|_| !call.view.sees_everything())
    });
    let machine = new.machine.clone().unwrap_or_else(|| {
        let mut all = directory
            .machines()
            .filter(|m| call.view.sees_machine(&m.name));
        match (all.next(), all.next()) {
            (Some(only), None) => only.name.clone(),
            _ => String::new(),
        }
    });
    let cost_only = new.cost_only;
    let group = new.group.clone().unwrap_or_default();
    let jobs = new.uses.unwrap_or(1);
    Ok(QuoteRequest {
        whose: Whose {
            project: new.project.clone(),
            user,
            machine,
            for_reservation: false,
        },
        duration: Some(Seconds(new.wall_s)),
        usage: usage(new).map_err(|r| call.refused(&r))?,
        promise: Promise::None,
        tid: String::new(),
        cost_only,
        uses: jobs,
        group,
        any_member: true,
    })
}

fn usage(new: NewQuote) -> Result<Usage, Refusal> {
    Ok(Usage {
        processors: new.processors.map(Decimal::whole),
        nodes: new.nodes.map(Decimal::whole),
        gres: resources(new.gres)?,
        memory_mb: new.memory_mb.map(Decimal::whole),
        disk_mb: new.disk_mb.map(Decimal::whole),
        qos: new.qos,
        class: new.class,
        attributes: new.attributes.into_iter().collect(),
        counted: None,
        idle: None,
    })
}

/// Hidden names give the same error as missing ones, before any rule reveals more.
fn only_what_is_seen(call: &Call, whose: &Whose) -> Result<(), Failure> {
    let view = &call.view;
    if view.is_unlimited() {
        return Ok(());
    }
    if let Some(name) = &whose.project {
        let seen = |p: &Project| view.sees_project(p);
        if !view.meant(name).is_some_and(seen) {
            let unknown = Refusal::ProjectUnknown {
                project: name.clone(),
            };
            return Err(hinted(call, &unknown, "project", name));
        }
    }
    if let Some(name) = &whose.user {
        let user = view.directory().user_named(name);
        if !user.is_some_and(|u| view.sees_user(u)) {
            let unknown = Refusal::UserUnknown { user: name.clone() };
            return Err(hinted(call, &unknown, "user", name));
        }
    }
    Ok(())
}

fn hinted(call: &Call, refusal: &Refusal, kind: &str, name: &str) -> Failure {
    let failure = call.refused(refusal);
    match call.view.did_you_mean(kind, name) {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn shaped(decided: &Decided<'_>, status: u16, cost_only: bool) -> Answer {
    rendered(decided, status, |outcome| {
        let (Outcome::Quoted(quoted), Command::Quote(request)) = (outcome, decided.command) else {
            return None;
        };
        Some(Quote {
            transaction: decided.transaction,
            ..shape_of(decided, request, quoted, cost_only)
        })
    })
}

fn shape_of(
    decided: &Decided<'_>,
    request: &QuoteRequest,
    quoted: &Quoted,
    cost_only: bool,
) -> Quote {
    let directory = decided.directory;
    let bank = &directory.bank;
    // A row that was decided only: its number and its text were never given out.
    let row = quoted.quote.as_ref().filter(|_| !decided.dry_run);
    let remaining = i128::from(quoted.available.0) - i128::from(quoted.cost.0);
    let mut warnings = Vec::new();
    if quoted.undefined_instance {
        warnings.push("undefined_instance: a multiplier has no rate for this value".to_owned());
    }
    if quoted.unpriced {
        warnings.push(UNPRICED.to_owned());
    }
    if !cost_only && remaining < 0 {
        warnings.push("would_refuse: strict enforcement would refuse it".to_owned());
    }
    let payer = select::find(directory, &request.whose);
    // The account of a partner has a limit for what its projects may owe, not their money.
    let name = &payer.project_name;
    let is_elsewhere =
        directory.project_named(name).is_none() && directory.at_partner(name).is_some();
    let has_money = !cost_only && !is_elsewhere;
    let priced = Priced {
        usage: &request.usage,
        duration: request.duration.unwrap_or_default(),
        machine: payer.machine,
        machine_name: &request.whose.machine,
        named: request.named(&payer.project_name),
        at: quoted.at,
        from: quoted.at,
    };
    Quote {
        cost: json::amount(quoted.cost, bank),
        available: has_money.then(|| json::amount(quoted.available, bank)),
        needed: (!cost_only).then(|| json::amount(quoted.cost, bank)),
        remaining: has_money.then(|| json::sum(remaining, bank)),
        account: quoted
            .account
            .and_then(|id| directory.account(id))
            .map(|a| a.name.clone()),
        id: row.map(|q| q.id.0),
        tid: row.map(|q| q.tid.clone()),
        valid_from: row.and_then(|q| q.window.start).map(json::time),
        valid_until: row.and_then(|q| q.window.end).map(json::time),
        lines: explain::lines(directory, &priced),
        unit: bank.unit.clone(),
        project: Some(payer.project_name),
        transaction: None,
        warnings,
    }
}

fn render(decided: &Decided<'_>) -> Answer {
    shaped(decided, 200, false)
}

fn render_cost_only(decided: &Decided<'_>) -> Answer {
    shaped(decided, 200, true)
}

fn render_guarantee(decided: &Decided<'_>) -> Answer {
    shaped(decided, 201, false)
}

fn render_guarantee_cost_only(decided: &Decided<'_>) -> Answer {
    shaped(decided, 201, true)
}
