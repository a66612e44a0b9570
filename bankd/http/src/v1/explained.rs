//! Explanations of charges, refused reserves and other transactions.

use std::collections::BTreeSet;

use bank_api::text::counted;
use bank_api::v1::{
    Considered, ExplainQuery, Explained, Explanation, JobUse, List, RefusedJob, RefusedQuery,
    RefusedReserve, ReservationJob, ReservationTime,
};
use bank_core::decimal::Decimal;
use bank_core::directory::Directory;
use bank_core::effects::EntryKind;
use bank_core::ids::AccountId;
use bank_core::model::Dimension;
use bank_core::price::{Priced, priced_from};
use bank_core::refusal::Refusal;
use bank_core_figures::reserved::Shares;
use bankd_partners::settle;
use bankd_store::read::charges::Charge;
use bankd_store::read::explain::{self as choices, Step, Why};
use bankd_store::read::jobs::{self, Detail, JobRow};
use bankd_store::read::journal::{Entry, JournalRow};
use bankd_store::refused::{self, RefusedRow};

use super::call::{Call, Handled, ok};
use super::path::Path;
use super::view::{Lookup as _, View};
use super::{arithmetic, explain, job, journal, json, pages, rate, reason};
use crate::error::{Failure, problem};

/// Refused reserves of an answer that names no limit.
const REFUSED_LIMIT: u32 = 100;

/// `GET /api/v1/explanations/{name}`: a job by the scheduler's id, else a transaction by its number.
pub(super) async fn show(Path(name): Path<String>, call: Call) -> Handled {
    let query: ExplainQuery = call.query()?;
    if !query.transaction {
        let of = (query.machine.clone(), query.number);
        let found = job::find(&call, &name, of).await?;
        let refused = find_refused(&call, &name, query.machine).await?;
        if let Some((row, detail)) = found {
            let is_its =
                |refused: &RefusedRow| refused.machine == row.machine && row.opened <= refused.at;
            return of_job(&call, (row.clone(), refused.filter(is_its)), detail).await;
        }
        if query.number.is_some() {
            return Err(call.refused(&Refusal::no_use(&name, query.number)));
        }
        if let Some(row) = refused {
            return ok(&Explanation {
                refused: refusal(&call, &row),
                job: Some(row.object_id),
                machine: Some(row.machine),
                complete: true,
                unit: call.directory().bank.unit.clone(),
                ..Explanation::default()
            });
        }
    }
    let kind = if query.transaction {
        "transaction"
    } else {
        "job or transaction"
    };
    let unknown = || call.refused(&Refusal::not_found(kind, &name));
    let number = name.parse().map_err(|_| unknown())?;
    let policy = call.directory().policy;
    let found = call.ask(move |connection| choices::transaction(connection, number, policy));
    let found = found.await?;
    let items: Vec<Explained> = found
        .iter()
        .filter_map(|one| shaped(&call.view, one, &[]))
        .collect();
    if items.is_empty() {
        // A hidden transaction gives the same answer as a missing one (decisions.md 23).
        return Err(if call.view.is_unlimited() {
            unknown()
        } else {
            let what = format!("{kind} {name}");
            call.refused(&Refusal::NotAllowed { what })
        });
    }
    ok(&Explanation {
        items,
        complete: true,
        unit: call.directory().bank.unit.clone(),
        ..Explanation::default()
    })
}

/// The uses of a job's id on its machine; none if it is the only one.
async fn uses(call: &Call, row: &JobRow) -> Result<Vec<JobUse>, Failure> {
    let id = row.object_id.clone();
    let rows = call.ask(move |connection| jobs::uses(connection, &id));
    let is_same = |other: &JobRow| {
        (&other.machine, other.object_type) == (&row.machine, row.object_type)
            && call
                .view
                .sees_work(&other.project, &other.user, &other.machine)
    };
    let shaped = |row: JobRow| JobUse {
        number: row.number,
        project: json::some(&row.project),
        user: json::some(&row.user),
        start: json::time(row.start.unwrap_or(row.opened)),
        end: row.end.or(row.closed.map(|(at, _)| at)).map(json::time),
    };
    let uses = rows.await?.into_iter().filter(is_same).map(shaped);
    let uses: Vec<JobUse> = uses.collect();
    Ok(if uses.len() > 1 { uses } else { Vec::new() })
}

/// The latest refused reserve of an object's id in view.
async fn find_refused(
    call: &Call,
    name: &str,
    machine: Option<String>,
) -> Result<Option<RefusedRow>, Failure> {
    let wanted = name.to_owned();
    let rows = call.ask(move |connection| refused::of_object(connection, &wanted));
    let is_wanted = |row: &RefusedRow| {
        let is_there = machine.as_ref().is_none_or(|m| *m == row.machine);
        is_there && call.view.sees_work(&row.project, &row.user, &row.machine)
    };
    Ok(rows.await?.into_iter().find(is_wanted))
}

/// `GET /api/v1/refused-reserves`: the latest first.
pub(super) async fn refused(call: Call) -> Handled {
    let query: RefusedQuery = call.query()?;
    let limit = pages::limit(query.limit, REFUSED_LIMIT).map_err(|r| call.refused(&r))?;
    let after = query.after.as_deref().map(str::parse::<refused::Place>);
    let after = after.transpose();
    let after = after.map_err(|()| call.refused(&pages::bad_cursor()))?;
    if let Some(name) = &query.machine {
        call.view.machine_ever(name)?;
    }
    let view = call.view.clone();
    let keep = move |row: &RefusedRow| {
        let is_there = query.machine.as_ref().is_none_or(|m| *m == row.machine);
        is_there && view.sees_work(&row.project, &row.user, &row.machine)
    };
    let page = call.ask(move |connection| refused::latest(connection, after, limit, keep));
    let page = page.await?;
    let shaped = |row: &RefusedRow| {
        Some(RefusedJob {
            job: row.object_id.clone(),
            machine: row.machine.clone(),
            refused: refusal(&call, row)?,
        })
    };
    ok(&List {
        items: page.rows.iter().filter_map(shaped).collect(),
        next: page.next.map(|next| next.to_string()),
    })
}

/// A refused reserve with its rule and figures.
fn refusal(call: &Call, row: &RefusedRow) -> Option<RefusedReserve> {
    let problem = problem(row.refusal.as_ref()?, &call.directory().bank);
    Some(RefusedReserve {
        at: json::time(row.at),
        tries: row.tries,
        code: problem.code,
        detail: problem.detail.unwrap_or_default(),
        hint: problem.hint,
        needed: problem.needed,
        available: problem.available,
        project: row.project.clone(),
        user: row.user.clone(),
    })
}

async fn of_job(
    call: &Call,
    (row, refused): (JobRow, Option<RefusedRow>),
    detail: Detail,
) -> Handled {
    let policy = call.directory().policy;
    let wanted = row.clone();
    let found = call.ask(move |connection| {
        let (numbers, complete) = choices::of_job(connection, &wanted)?;
        let mut found = Vec::new();
        for number in numbers {
            let mut one = choices::transaction(connection, number, policy)?;
            if let Some(one) = &mut one {
                one.narrow(wanted.id);
            }
            found.extend(one);
        }
        Ok((found, complete))
    });
    let (found, complete) = found.await?;
    let wanted = row.clone();
    let time = call.ask(move |connection| choices::reservation(connection, &wanted));
    let time = time.await?.map(|time| reservation(&call.view, &time));
    let uses = uses(call, &row).await?;
    // The latest refusal is of no earlier use.
    let newest = uses.first().map_or(row.number, |newest| newest.number);
    let refused = refused.filter(|_| newest == row.number);
    let items = found.iter();
    let items = items.filter_map(|one| shaped(&call.view, one, &detail.charges));
    ok(&Explanation {
        job: Some(row.object_id),
        machine: Some(row.machine),
        number: Some(row.number),
        uses,
        refused: refused.and_then(|row| refusal(call, &row)),
        reservation: time,
        items: items.collect(),
        next: None,
        complete,
        unit: call.directory().bank.unit.clone(),
    })
}

/// The time of a reservation. Jobs that the caller does not see are one row without a name.
fn reservation(view: &View, (shares, jobs): &(Shares, Vec<JobRow>)) -> ReservationTime {
    let seconds = |billionths: i128| Decimal::from_billionths(billionths).to_string();
    let mut hidden = 0_i128;
    let mut shown = Vec::new();
    for (id, used) in &shares.jobs {
        let job = jobs.iter().find(|job| job.id == id.0);
        match job.filter(|job| view.sees_work(&job.project, &job.user, &job.machine)) {
            Some(job) => shown.push(ReservationJob {
                job: Some(job.object_id.clone()),
                project: Some(job.project.clone()),
                used: seconds(*used),
            }),
            None => hidden = hidden.saturating_add(*used),
        }
    }
    if hidden > 0 {
        shown.push(ReservationJob {
            used: seconds(hidden),
            ..ReservationJob::default()
        });
    }
    ReservationTime {
        reserved: seconds(shares.reserved),
        idle: seconds(shares.idle),
        jobs: shown,
    }
}

/// A transaction with its visible entries, or `None` if the caller sees none of them.
fn shaped(view: &View, one: &choices::Explained, charges: &[Charge]) -> Option<Explained> {
    let object = |entry: &Entry| {
        let moved = entry.lien.and_then(|lien| one.jobs.get(&lien));
        let job = moved.or(one.job.as_ref())?;
        let kind = job.object_type.word().to_owned();
        Some((job.object_id.clone(), job.machine.clone(), kind))
    };
    let rows = (1_i64..)
        .zip(&one.entries)
        .map(|(place, entry)| JournalRow {
            tx: one.tx.clone(),
            entry: Some((place, entry.clone())),
            object: object(entry),
        });
    let rows: Vec<JournalRow> = rows.filter(|row| journal::sees(view, row)).collect();
    if rows.is_empty() && !view.is_unlimited() {
        return None;
    }
    let then = &one.then;
    let counterpart = |row: &_| settle::shaped(row, &then.bank);
    let mut shape = Explained {
        transaction: one.tx.id,
        at_effective: json::time(one.tx.at_effective),
        at_recorded: json::time(one.tx.at_recorded),
        op: one.tx.op.clone(),
        actor: one.tx.actor.clone(),
        reason: reason::shown(&one.tx),
        reversed_by: one.reversed_by,
        effects: sentences(one, view),
        entries: rows.iter().map(|row| journal::shaped(view, row)).collect(),
        considered: considered(view, one, &rows),
        counterparts: one.partners.iter().map(counterpart).collect(),
        ..Explained::default()
    };
    if let (Some(charge), Some(job)) = (&one.charge, &one.job) {
        let alone = [charge.clone()];
        let all = if charges.is_empty() { &alone } else { charges };
        let mut rows = job::charges(then, job, all).into_iter();
        // The last row: the reversal of an earlier record of the use precedes it.
        shape.charge = rows.rfind(|row| row.transaction == one.tx.id);
        let is_priced = charge.given.is_none() && charge.idle.is_none();
        if is_priced && charge.correction.is_none() {
            shape.price = explain::lines(then, &priced(then, job, charge));
        }
        // A refund or undo has no usage: the price belongs to the charge.
        let gives_back = matches!(one.tx.op.as_str(), "refund" | "undo");
        if let Some(row) = shape.charge.as_mut().filter(|_| gives_back) {
            row.itemisation = None;
            row.rates.clear();
        }
        let ids = shape.charge.as_ref().map_or(&[][..], |row| &row.rates);
        let rates = then.rates.iter().filter(|rate| ids.contains(&rate.id.0));
        shape.rates = rates.map(|one| rate::shaped(then, one)).collect();
    }
    Some(shape)
}

fn priced<'a>(then: &Directory, job: &'a JobRow, charge: &'a Charge) -> Priced<'a> {
    let duration = charge.priced();
    let from = charge.at.minus(duration);
    Priced {
        usage: &charge.usage,
        duration,
        machine: then.any_machine_named(&job.machine).map(|m| m.id),
        machine_name: &job.machine,
        named: arithmetic::named(job),
        at: charge
            .rates_at
            .unwrap_or(priced_from(charge.at, duration, job.opened)),
        from,
    }
}

/// Sentences that describe the effects of a transaction.
fn sentences(one: &choices::Explained, view: &View) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut say = |yes: Option<i64>, words: &str| {
        sentences.extend(yes.map(|number| format!("{words} transaction {number}")));
    };
    say(one.reverses, "reverses");
    say(one.corrects, "corrects");
    say(one.reversed_by, "reversed by");
    if one.tx.at_effective != one.tx.at_recorded {
        sentences.push("effective time precedes recording time".to_owned());
    }
    sentences.extend(of_total(one).map(str::to_owned));
    for entry in &one.entries {
        let account = entry.account.map(AccountId);
        let account = account.and_then(|id| view.directory().account(id));
        let (Some(account), Some(allocation)) = (account, entry.allocation) else {
            continue;
        };
        if !view.saw_account(account) {
            continue;
        }
        if entry.kind == "deposit" {
            let is_new = entry.amount_after == entry.delta_amount;
            let what = if is_new {
                "first deposit into"
            } else {
                "deposit into existing"
            };
            let name = &account.name;
            sentences.push(format!("{name}: {what} allocation {allocation}"));
        }
    }
    sentences.extend(unchosen(one).map(str::to_owned));
    if one.more_liens > 0 {
        let (more, most) = (one.more_liens, choices::MOVED_MAX);
        sentences.push(format!(
            "{} moved too; the search is shown for the first {most} only",
            counted(more, "more lien")
        ));
    }
    sentences
}

/// Describes the billed amount after the total usage was resent.
fn of_total(one: &choices::Explained) -> Option<&'static str> {
    let charge = one
        .charge
        .as_ref()
        .filter(|charge| charge.total.is_some())?;
    let is_other = |e: &Entry| e.usage.is_some_and(|usage| usage != charge.id);
    Some(if one.entries.iter().any(is_other) {
        "total usage was resent: earlier charges are refunded, and its price is billed"
    } else {
        "total usage was resent: its price is billed, less earlier charges"
    })
}

/// Explains why a use was billed or refunded without a selection of accounts.
fn unchosen(one: &choices::Explained) -> Option<&'static str> {
    if !one.choice.is_empty() {
        return None;
    }
    let has = |kind: EntryKind| one.entries.iter().any(|e| e.kind == kind.word());
    let falls = |e: &Entry| e.kind == EntryKind::ChargeNotional.word() && e.delta_shadow > 0;
    let back = has(EntryKind::Refund) || one.entries.iter().any(falls);
    Some(match one.tx.op.as_str() {
        "import" => {
            "no account was selected: a chunk of an import moves no money; each use counts in the shadow \
             total of the allocation that was first in payment order when the use ended"
        }
        "undo" => "no account was selected: an undo reverses the original entries",
        "adjust" if one.tx.reason == choices::ASSIGNED => {
            "no account was selected: unbilled usage is refunded before its project is charged"
        }
        "refund" | "charge" | "adjust" if back => {
            "no account was selected: the refund goes to the allocations that paid"
        }
        "adjust" if has(EntryKind::Adjust) => {
            "no account was selected: the adjustment named the account"
        }
        "adjust" if has(EntryKind::ChargeNotional) => {
            "no account was selected: no money moves; the use counts in the shadow total of the allocation \
             that was first in payment order"
        }
        _ => return None,
    })
}

/// The accounts in the search that the caller sees. For moved liens, only liens with visible entries.
fn considered(view: &View, one: &choices::Explained, rows: &[JournalRow]) -> Vec<Considered> {
    let bank = &view.directory().bank;
    let lien = |row: &JournalRow| row.entry.as_ref().and_then(|(_, entry)| entry.lien);
    let seen: BTreeSet<i64> = rows.iter().filter_map(lien).collect();
    let mut last = (None, 0);
    let row = |step: &Step| {
        if step.lien.is_some_and(|lien| !seen.contains(&lien)) {
            return None;
        }
        // Each lien has a separate order.
        last = (step.lien, if last.0 == step.lien { last.1 + 1 } else { 1 });
        let place = last.1;
        let account = one.then.account(step.account)?;
        let today = view.directory().account(step.account)?;
        if !view.saw_account(today) {
            return None;
        }
        let candidate = step.candidate.as_ref();
        let (verdict, why) = why(&step.why);
        Some(Considered {
            place,
            lien: step.lien,
            account: account.name.clone(),
            allocation: step.allocation.map(|id| id.0),
            priority: candidate.map(|c| c.priority),
            distance: candidate.and_then(|c| i64::try_from(c.distance).ok()),
            free: json::sum(step.free, bank),
            taken: json::sum(step.taken, bank),
            verdict: verdict.to_owned(),
            why,
        })
    };
    one.choice.iter().filter_map(row).collect()
}

fn why(why: &Why) -> (&'static str, String) {
    let (verdict, words) = match why {
        Why::Lien => ("lien", "covered by the job's lien"),
        Why::Turn => ("turn", "next in payment order"),
        Why::Fallback => ("fallback", "the fallback account covered the shortfall"),
        Why::Debt => ("debt", "no funds left; the first account goes into debt"),
        Why::Suspense => (
            "suspense",
            "no funds left; the suspense account carries the rest",
        ),
        Why::Removed => (
            "removed",
            "its account or allocation was removed; its liens moved to other accounts",
        ),
        Why::NotNeeded => ("not_needed", "earlier accounts covered everything"),
        Why::NoMoney => ("no_money", "no free funds"),
        Why::CameAfter => (
            "came_after",
            "its free credits came after the usage and do not pay for it",
        ),
        Why::TooLittle => (
            "too_little",
            "its funds were insufficient, and the fallback account paid everything",
        ),
        Why::Blocked => ("blocked", "a charge in mode fast had blocked it"),
        Why::Indivisible => (
            "indivisible",
            "discrete account: one of its allocations must cover the whole amount, and none could",
        ),
        Why::EndsBefore => ("ends_before", "ends before the lien"),
        Why::NoWindow => ("no_window", "no allocation was in its window"),
        Why::NotNamed => ("not_named", "the request named another account"),
        Why::Unrecorded => ("untold", "the stored data does not contain the reason"),
        Why::List(dimension) => {
            let list = match dimension {
                Dimension::Project => "project",
                Dimension::User => "user",
                Dimension::Machine => "machine",
                other => other.word(),
            };
            return (
                "list",
                format!("its {list} list does not allow the request"),
            );
        }
    };
    (verdict, words.to_owned())
}
