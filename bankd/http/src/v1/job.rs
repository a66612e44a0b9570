//! Jobs and reservations with their charges.

use bank_api::v1::{ChargeRow, Job, JobLien, JobQuery, List, OneJobQuery, Payer};
use bank_core::amount::Amount;
use bank_core::decimal::Decimal;
use bank_core::directory::Directory;
use bank_core::effects::{Billing, KnownUse};
use bank_core::exact::to_amount;
use bank_core::model::{Closing, LienState};
use bank_core::price::{Priced, price, priced_from};
use bank_core::refusal::Refusal;
use bank_core::time::Timestamp;
use bank_core_figures::rollup::Measure;
use bankd_store::read::charges::{self, Charge};
use bankd_store::read::jobs::{self, Detail, JobRow, Period};
use bankd_store::read::{Page, liens::LienRow};

use super::call::{Call, Handled, ok};
use super::named::Names;
use super::pages::numbered;
use super::path::Path;
use super::view::View;
use super::{arithmetic, explain, formula, json};
use crate::error::Failure;

mod outcome;

use outcome::Used;

/// `GET /api/v1/jobs`: newest first.
pub(super) async fn list(call: Call) -> Handled {
    let query: JobQuery = call.query()?;
    let (limit, below) = numbered(&call, query.limit, query.after.as_deref())?;
    let open = query.state.as_deref().map(is_open).transpose();
    let open = open.map_err(|r| call.refused(&r))?;
    let bounds = [&query.from, &query.until, &query.period].map(Option::as_deref);
    let period = period(bounds).map_err(|r| call.refused(&r))?;
    let outcome = query.outcome.as_deref().map(outcome::known).transpose();
    let outcome = outcome.map_err(|r| call.refused(&r))?;
    let work = Work::new(&call.view, query.project, query.user, query.machine);
    let wanted = work.clone();
    let page = call.ask(move |connection| {
        let last = |row: &JobRow| charges::last_use(connection, row.last_usage);
        let keep = |row: &JobRow| {
            let is_wanted = open.is_none_or(|open| open == row.closed.is_none())
                && wanted.holds(&row.project, &row.user, &row.machine);
            Ok(is_wanted
                && match outcome {
                    Some(sought) => Used::new(row, last(row)?).outcome() == sought,
                    None => true,
                })
        };
        let page = jobs::list(connection, below, limit.saturating_add(1), period, keep)?;
        let Page { rows, next } = page.within(limit, |row| row.id);
        let last: Vec<_> = rows.iter().map(last).collect::<Result<_, _>>()?;
        Ok((rows, last, next))
    });
    let (rows, last, next) = page.await?;
    if rows.is_empty() && next.is_none() {
        work.check(&call).await?;
    }
    let directory = call.directory();
    let items = rows.iter().zip(&last);
    ok(&List {
        items: items
            .map(|(row, last)| shaped(directory, row, &Used::new(row, last.clone())))
            .collect(),
        next: next.map(|id| id.to_string()),
    })
}

/// `GET /api/v1/jobs/{object_id}`: its newest use, on the only machine with this id or on the named one.
pub(super) async fn show(Path(id): Path<String>, call: Call) -> Handled {
    let OneJobQuery { machine } = call.query()?;
    let Some((row, detail)) = find(&call, &id, (machine, None)).await? else {
        let failure = call.refused(&Refusal::not_found("job", &id));
        if !id.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(failure);
        }
        return Err(failure.hint(format!(
            "a part of a heterogeneous job of Slurm is {id}+0, a task of an array is {id}_0; \
             bank jobs lists them, and bank jobs --recorded those that an import only counted"
        )));
    };
    let directory = call.directory();
    let bank = &directory.bank;
    let mut job = shaped(directory, &row, &Used::of(&row, &detail.charges));
    job.late = detail.charges.iter().any(|c| c.late);
    job.lien = detail
        .lien
        .as_ref()
        .map(|lien| job_lien(directory, lien, &detail));
    job.charges = charges(directory, &row, &detail.charges);
    let share = |share: &jobs::Share| Payer {
        account: account_name(directory, share.account).unwrap_or_default(),
        allocation: share.allocation.0,
        amount: json::sum(share.amount, bank),
        until: share.until.map(json::time),
    };
    job.paid_by = detail.shares.iter().map(share).collect();
    job.explanation = explanation(directory, &row, &detail.charges);
    job.explanation.extend(detail.finished.as_ref().map(policy));
    ok(&job)
}

/// The newest use of a job in view, or the one with a number; none if there is no such job.
pub(super) async fn find(
    call: &Call,
    id: &str,
    (machine, number): (Option<String>, Option<i64>),
) -> Result<Option<(JobRow, Detail)>, Failure> {
    let view = call.view.clone();
    let wanted = id.to_owned();
    let found = call.ask(move |connection| {
        let keep = |row: &JobRow| {
            machine.as_ref().is_none_or(|m| *m == row.machine)
                && number.is_none_or(|number| number == row.number)
                && view.sees_work(&row.project, &row.user, &row.machine)
        };
        let rows = jobs::newest(connection, &wanted, keep)?;
        let detail = match rows.as_slice() {
            [only] => Some(jobs::detail(connection, only)?),
            _ => None,
        };
        Ok((rows, detail))
    });
    match found.await? {
        (rows, None) if rows.is_empty() => Ok(None),
        (rows, None) => Err(ambiguous(call, id, &rows)),
        (rows, Some(detail)) => Ok(rows.into_iter().next().map(|row| (row, detail))),
    }
}

/// Several machines have a job of this id.
fn ambiguous(call: &Call, id: &str, rows: &[JobRow]) -> Failure {
    let on = |row: &JobRow| format!("{} {id} on {}", row.object_type.word(), row.machine);
    let candidates = rows.iter().map(on).collect();
    call.refused(&Refusal::AmbiguousJob { candidates })
        .hint("name the machine with -m")
}

/// Selection of visible work in a list.
#[derive(Clone)]
pub(super) struct Work {
    view: View,
    project: Option<String>,
    user: Option<String>,
    machine: Option<String>,
}

impl Work {
    /// Names that only documents have are looked for as text; [`Work::check`] is for an empty list.
    pub(super) fn new(
        view: &View,
        project: Option<String>,
        user: Option<String>,
        machine: Option<String>,
    ) -> Work {
        Work {
            view: view.clone(),
            project,
            user,
            machine,
        }
    }

    /// Checks the names of an empty list, which would hide a misspelt one: registered, or named by usage or a job in
    /// view.
    ///
    /// # Errors
    /// 404 for the first other name; if the store cannot be read.
    pub(super) async fn check(&self, call: &Call) -> Result<(), Failure> {
        let kinds = [
            (self.project.as_deref(), None, None),
            (None, self.user.as_deref(), None),
            (None, None, self.machine.as_deref()),
        ];
        for (project, user, machine) in kinds {
            let names = Names {
                project,
                user,
                machine,
                ..Names::default()
            };
            let Err(unknown) = names.check(call).await else {
                continue;
            };
            let [project, user, machine] = [project, user, machine].map(|n| n.map(str::to_owned));
            let work = Work::new(&call.view, project, user, machine);
            let found = call.ask(move |connection| {
                let keep = |row: &JobRow| Ok(work.holds(&row.project, &row.user, &row.machine));
                jobs::list(connection, None, 1, None, keep)
            });
            let found = found.await?;
            // A search that stopped early may have missed a job.
            if found.rows.is_empty() && found.next.is_none() {
                return Err(unknown);
            }
        }
        Ok(())
    }

    /// The requested project.
    pub(super) fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    /// Whether the query names no user and no machine.
    pub(super) fn is_of_anybody(&self) -> bool {
        self.user.is_none() && self.machine.is_none()
    }

    /// Whether a row belongs to it, by the names of its documents.
    pub(super) fn holds(&self, project: &str, user: &str, machine: &str) -> bool {
        let meant = || self.view.meant(project).map(|p| p.name.as_str());
        self.project
            .as_deref()
            .is_none_or(|p| p == project || Some(p) == meant())
            && self.user.as_deref().is_none_or(|u| u == user)
            && self.machine.as_deref().is_none_or(|m| m == machine)
            && self.view.sees_work(project, user, machine)
    }
}

/// The period of a query with a start, an end and a word; none if it names no part of one.
pub(super) fn period([from, until, word]: [Option<&str>; 3]) -> Result<Option<Period>, Refusal> {
    if from.is_none() && until.is_none() && word.is_none() {
        return Ok(None);
    }
    let time = |text: Option<&str>, field, absent| match text {
        Some(text) => json::read_time(text, field),
        None => Ok(Timestamp(absent)),
    };
    let count = match word {
        None | Some("ended") => Measure::Ended,
        Some("started") => Measure::Started,
        Some("running") => Measure::Running,
        Some(_) => {
            return Err(Refusal::bad_value("period", "ended, started or running"));
        }
    };
    let period = Period {
        from: time(from, "from", i64::MIN)?,
        until: time(until, "until", i64::MAX)?,
        count,
    };
    if period.from >= period.until {
        return Err(Refusal::BadWindow);
    }
    Ok(Some(period))
}

fn is_open(state: &str) -> Result<bool, Refusal> {
    match state {
        "open" => Ok(true),
        "closed" => Ok(false),
        _ => Err(Refusal::bad_value("state", "open or closed")),
    }
}

fn account_name(directory: &Directory, id: Option<bank_core::ids::AccountId>) -> Option<String> {
    let account = directory.account(id?)?;
    Some(account.name.clone())
}

fn shaped(directory: &Directory, row: &JobRow, used: &Used) -> Job {
    let bank = &directory.bank;
    let last = used.last.as_ref();
    Job {
        job: row.object_id.clone(),
        machine: row.machine.clone(),
        kind: row.object_type.word().to_owned(),
        number: row.number,
        state: if row.closed.is_none() {
            "open"
        } else {
            "closed"
        }
        .to_owned(),
        project: json::some(&row.project),
        user: json::some(&row.user),
        account: account_name(directory, row.account),
        qos: row.usage.qos.clone(),
        class: row.usage.class.clone(),
        processors: row.usage.processors.and_then(Decimal::as_whole),
        requested_s: row.wall.map(|w| w.0),
        charged: json::sum(used.billed, bank),
        refunded: last.map(|_| json::sum(used.refunded, bank)),
        net: last.map(|_| json::sum(used.billed - used.refunded, bank)),
        charged_s: row.charged.0,
        disputed_s: row.disputed.0,
        opened: Some(json::time(row.opened)),
        closed: row.closed.map(|(at, _)| json::time(at)),
        fallback_from: account_name(directory, row.fallback_from),
        late: last.is_some_and(|charge| charge.late),
        outcome: Some(used.outcome().to_owned()),
        unit: bank.unit.clone(),
        ..Job::default()
    }
}

fn job_lien(directory: &Directory, row: &LienRow, detail: &Detail) -> JobLien {
    let bank = &directory.bank;
    let lien = &row.lien;
    let released = match lien.state {
        LienState::Open => 0,
        _ => i128::from(lien.placed.0) - detail.taken_from_lien,
    };
    JobLien {
        placed_amount: json::amount(lien.placed, bank),
        amount: json::sum(lien.remaining(), bank),
        placed: json::time(lien.start),
        released: json::sum(released.max(0), bank),
        state: lien.state.word().to_owned(),
    }
}

/// The charges of a job with their calculations.
pub(super) fn charges(directory: &Directory, job: &JobRow, charges: &[Charge]) -> Vec<ChargeRow> {
    let used = |charge: &Charge| !charge.late && charge.correction.is_none();
    let last = charges.iter().rposition(used);
    let alone = charges.iter().filter(|c| used(c)).count() == 1;
    let row = |(place, charge): (usize, &Charge)| ChargeRow {
        transaction: charge.tx,
        at: json::time(charge.at),
        seconds: Some(charge.seconds.0),
        amount: json::amount(charge.amount, &directory.bank),
        kind: kind(charge).to_owned(),
        explanation: Some(remark(job, charge, last == Some(place), alone)),
        ..ChargeRow::default()
    };
    let mut rows: Vec<ChargeRow> = charges.iter().enumerate().map(row).collect();
    arithmetic::add(directory, job, charges, &mut rows);
    rows
}

fn kind(charge: &Charge) -> &'static str {
    match charge.billing {
        _ if charge.correction.is_some() => charge.correction.unwrap_or("refund"),
        Billing::Shadow => "charge_notional",
        _ if charge.amount.0 < 0 => "refund",
        _ if charge.late => "late_charge",
        _ if charge.debt => "charge_debt",
        _ if charge.fallback => "charge_fallback",
        _ => "charge",
    }
}

fn remark(job: &JobRow, charge: &Charge, is_last: bool, alone: bool) -> String {
    match charge.correction {
        Some("refund") => return "returned to the payers".to_owned(),
        Some("settle") if charge.amount < Amount::ZERO => return "from #unbilled".to_owned(),
        Some("settle") => return "from #unbilled to the project".to_owned(),
        Some(_) => return "undone".to_owned(),
        None => {}
    }
    let end = match job.closed.map(|(_, by)| by) {
        Some(Closing::Expiry) => "interim, then its lien expired",
        // One charge for all of it.
        Some(_) if alone => "final",
        Some(_) => "interim, then end",
        None => "interim",
    };
    let word = match (charge.late, is_last) {
        (true, _) => "after the end",
        (false, true) => end,
        (false, false) => "interim",
    };
    let unbilled = charge.billing == Billing::Unbilled;
    let unbilled = if unbilled { ", unbilled" } else { "" };
    let debt = if charge.debt { ", partly debt" } else { "" };
    let given = charge.given.as_deref().map(as_given);
    let given = given.map(|text| format!(", {text}")).unwrap_or_default();
    format!("{word}{unbilled}{debt}{given}")
}

/// The remark on an amount without a rate.
fn as_given(text: &str) -> String {
    if text.is_empty() {
        "as given".to_owned()
    } else {
        format!("as given: {text}")
    }
}

/// `policy DEBITALLCPU: cpu 28800, from slurm:colony`
fn policy(finished: &KnownUse) -> String {
    let KnownUse {
        policy,
        counted,
        source,
        ..
    } = finished;
    format!("policy {policy}: {counted}, from {source}")
}

/// The factors of the total price, as the last charge was priced. If they do not yield the sum, because the
/// charges differ in size, quality of service or rates, a reference to the single charges.
fn explanation(directory: &Directory, job: &JobRow, charges: &[Charge]) -> Vec<String> {
    let Some(first) = charges.first() else {
        return Vec::new();
    };
    if charges.iter().any(|charge| charge.given.is_some()) {
        // No rate makes this sum.
        return vec!["amounts as given".to_owned()];
    }
    // The charge stores the priced values: quality of service of a fallback account, values of a charge
    // policy.
    let by_policy = charges.iter().rev().find(|c| c.usage.counted.is_some());
    let last = || charges.iter().rev().find(|c| c.correction.is_none());
    let priced = by_policy.or_else(last).map(|charge| &charge.usage);
    let began = priced_from(first.at, first.seconds, job.opened);
    let at: Timestamp = job.rates_at.unwrap_or(began);
    let all_priced = Priced {
        usage: priced.unwrap_or(&job.usage),
        duration: job.charged,
        machine: directory.any_machine_named(&job.machine).map(|m| m.id),
        machine_name: &job.machine,
        named: arithmetic::named(job),
        at,
        from: first.at.minus(first.seconds),
    };
    let mut lines: Vec<String> = match formula::line(&directory.rates, &all_priced) {
        _ if !is_sum(directory, job, &all_priced) => vec![format!(
            "sum of the charges, which differ in size or rates (bank rate explain {})",
            job.object_id
        )],
        Some(line) => vec![line],
        None => explain::lines(directory, &all_priced)
            .iter()
            .map(|line| format!("{} = {} {}", line.text, line.amount, line.unit))
            .collect(),
    };
    if charges.iter().filter(|c| c.correction.is_none()).count() > 1 {
        lines.push("each charge = rounded sum − billed before".to_owned());
    }
    lines
}

/// Whether one price yields the total.
fn is_sum(directory: &Directory, job: &JobRow, priced: &Priced<'_>) -> bool {
    let bank = &directory.bank;
    let total = price(priced, directory.rates_at(priced.at)).and_then(|exact| exact.total());
    let amount = total.and_then(|t| to_amount(t, bank.precision, directory.policy.rounding));
    let billed = i128::from(job.billed.0) + i128::from(job.shadow_billed.0);
    amount.is_some_and(|amount| i128::from(amount.0) == billed)
}
