//! A statement as JSON.

use bank_api::v1::{Statement, StatementGroup, StatementLine, StatementPart, StatementSample};
use bank_core::directory::Bank;
use bank_core::ids::AccountId;
use bank_core::time::Timestamp;
use bankd_store::read::burn::used_up;
use bankd_store::read::statement::{Heading, Movement, Object, Reading, Side};

use super::super::call::Call;
use super::super::json;
use super::of::StatementRequest;
use super::{StatementData, sees};

/// The answer.
pub(super) fn statement(
    call: &Call,
    request: &StatementRequest,
    data: &StatementData,
) -> Statement {
    let directory = call.directory();
    let bank = &directory.bank;
    let StatementData {
        accounts,
        frame,
        sums,
        ..
    } = data;
    let name = |id: &AccountId| directory.account(*id).map(|a| a.name.clone());
    let mut names: Vec<String> = accounts.iter().filter_map(name).collect();
    names.sort();
    let until = request.period.end.or(frame.period.end).unwrap_or_default();
    let mut shape = Statement {
        of: request.subject.kind().to_owned(),
        name: request.subject.name().to_owned(),
        tree: request.subject.tree(),
        accounts: names,
        from: request.period.start.map(json::time),
        until: json::time(until),
        transaction: frame.upto,
        closed: frame.closed.is_some(),
        credits: groups(data, Side::Credit, bank),
        debits: groups(data, Side::Debit, bank),
        total_credits: json::sum(sums.side(Side::Credit), bank),
        total_debits: json::sum(sums.side(Side::Debit), bank),
        parts: parts(data, bank),
        entries: sums.entries,
        unit: bank.unit.clone(),
        samples: data
            .samples
            .iter()
            .map(|sample| self::sample(sample, bank))
            .collect(),
        ..Statement::default()
    };
    if request.subject.has_balances() {
        ends(&mut shape, data, call);
    }
    shape
}

fn sample((at, reading): &(Timestamp, Reading), bank: &Bank) -> StatementSample {
    StatementSample {
        at: json::time(*at),
        amount: json::sum(reading.amount, bank),
        held: json::sum(reading.held, bank),
    }
}

/// Opening and closing, and values derived from them.
fn ends(shape: &mut Statement, data: &StatementData, call: &Call) {
    let bank = &call.directory().bank;
    let StatementData {
        accounts,
        frame,
        sums,
        burn,
        ..
    } = data;
    let opening: i128 = accounts.iter().map(|id| sums.opening(frame, *id)).sum();
    let (mut end, mut debt) = (Reading::default(), 0_i128);
    for id in accounts {
        let own = sums.closing(frame, *id);
        end.amount += own.amount;
        end.held += own.held;
        end.credit_limit += own.credit_limit;
        end.liens += own.liens;
        debt += (-own.amount).max(0);
    }
    let balance = end.amount - end.held;
    let available = balance + end.credit_limit;
    let per_day: i128 = accounts.iter().filter_map(|id| burn.per_day(*id)).sum();
    let sum = |sum: i128| Some(json::sum(sum, bank));
    shape.opening = sum(opening);
    shape.closing = sum(end.amount);
    shape.held = sum(end.held);
    shape.liens = Some(end.liens);
    shape.balance = sum(balance);
    shape.credit_limit = sum(end.credit_limit);
    shape.available = sum(available);
    shape.debt = sum(debt);
    if per_day > 0 {
        shape.burn_per_day = sum(per_day);
        // Of a period that is over, the rate and the closing amount decide, so that its statement does not change.
        let until = frame.period.end.unwrap_or_default();
        let is_over = until < call.now();
        let empty = if is_over {
            used_up(per_day, available, until)
        } else {
            data.empty_at
        };
        shape.empty_at = empty.map(json::time);
    }
}

fn groups(data: &StatementData, side: Side, bank: &Bank) -> Vec<StatementGroup> {
    let own = data.sums.groups.iter().filter(|((of, ..), _)| *of == side);
    let shaped = own.map(|((_, adjustment, heading), group)| StatementGroup {
        heading: Heading::word(*heading).to_owned(),
        adjustment: *adjustment,
        amount: json::sum(group.amount, bank),
        entries: group.entries,
        jobs: group.jobs,
    });
    shaped.collect()
}

/// By charges, largest first, then by name.
fn parts(data: &StatementData, bank: &Bank) -> Vec<StatementPart> {
    let mut parts: Vec<_> = data.sums.parts.iter().collect();
    parts.sort_by(|(a, x), (b, y)| y.charged.cmp(&x.charged).then(a.cmp(b)));
    let shaped = parts.into_iter().map(|(name, part)| StatementPart {
        name: json::some(name),
        jobs: part.jobs,
        charged: json::sum(part.charged, bank),
        refunded: json::sum(part.refunded, bank),
    });
    shaped.collect()
}

/// The amount of a movement, minor units: of active money, or of a use.
pub(super) fn moved(movement: &Movement, of_use: bool) -> i64 {
    if of_use {
        movement.amount
    } else {
        movement.active
    }
}

/// One line. A statement of usage shows the movement of the allocation, one of accounts the movement of
/// active funds.
pub(super) fn line(
    call: &Call,
    movement: &Movement,
    object: Option<&Object>,
    of_use: bool,
) -> StatementLine {
    let directory = call.directory();
    let account = directory.account(movement.account);
    let moved = moved(movement, of_use);
    let is_seen = movement.user.is_empty() || sees(&call.view, movement);
    // A shared account may be used by projects that are none of theirs.
    let project = directory.project_named(&movement.project);
    let names_seen = project.is_some_and(|p| call.view.sees_project(p))
        && call.view.sees_machine(&movement.machine);
    StatementLine {
        at: json::time(movement.at),
        kind: movement.kind.word().to_owned(),
        adjustment: movement.is_adjustment(),
        account: account.map(|a| a.name.clone()).unwrap_or_default(),
        allocation: movement.allocation.0,
        project: json::some(&movement.project).filter(|_| is_seen || names_seen),
        user: json::some(&movement.user).filter(|_| is_seen),
        machine: json::some(&movement.machine).filter(|_| is_seen || names_seen),
        job: object.map(|object| object.id.clone()).filter(|_| is_seen),
        job_type: object.map(|object| object.kind.clone()),
        amount: json::sum(moved.into(), &directory.bank),
        running: None,
        transaction: movement.tx,
        entry: movement.entry,
    }
}
