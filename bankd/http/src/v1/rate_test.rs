//! The cost of usage, or of past usage, by stored or proposed rates. Nothing is written.

mod chunked;
mod tally;

use std::collections::BTreeMap;

use bank_api::v1::{RateTest, RateTested, Replay, ReplayRow, TestedPrice};
use bank_core::decimal::Decimal;
use bank_core::directory::{Bank, Directory};
use bank_core::exact::{Fraction, to_amount};
use bank_core::price::{Named, Once, Priced, itemise, price, priced_from};
use bank_core::rate::Rate;
use bank_core::refusal::Refusal;
use bank_core::rules;
use bank_core::time::{Seconds, TEN_YEARS_S, Timestamp};
use bank_core::usage::{IdleTime, Usage};
use bankd_ledger::access::right::Right;
use bankd_store::read::chunked as uses;
use bankd_store::read::usage::{self, UsedRow};

use super::call::{Call, Handled, ok};
use super::view::Lookup as _;
use super::{json, rate};
use crate::error::Failure;
use chunked::Replayed;
use tally::{Sums, Tally, add};

/// Most rates of one proposal.
const PROPOSED_MAX: usize = 100;
/// Longest replay up to now, in days.
const DAYS_MAX: i64 = 3660;
/// Most charges of one replay.
const CHARGES_MAX: usize = 500_000;

/// `POST /api/v1/rates/test`. Prices are public. A replay reveals charges of others, so it requires an
/// administrator or an auditor, and covers what is in their view.
pub(super) async fn test(call: Call) -> Handled {
    let request: RateTest = call.json()?;
    let refused = |r: Refusal| call.refused(&r);
    let proposed = proposals(call.directory(), &request).map_err(refused)?;
    let mut answer = RateTested {
        unit: call.directory().bank.unit.clone(),
        ..RateTested::default()
    };
    if request.from.is_some() || request.to.is_some() || request.last_days.is_some() {
        call.demand(Right::PriceThePast)?;
        answer.replay = Some(replay(&call, &request, &proposed).await?);
        return ok(&answer);
    }
    known(&call, &request)?;
    prices(&call, &request, &proposed, &mut answer).map_err(refused)?;
    ok(&answer)
}

/// Checks that named objects exist: a misspelt name would silently change the price.
fn known(call: &Call, request: &RateTest) -> Result<(), Failure> {
    if let Some(name) = &request.project {
        call.view.project(name)?;
    }
    if let Some(name) = &request.user {
        call.view.user(name)?;
    }
    if let Some(name) = &request.machine {
        call.view.machine(name)?;
    }
    Ok(())
}

/// The proposed rates, each valid at all times.
fn proposals(directory: &Directory, request: &RateTest) -> Result<Vec<Rate>, Refusal> {
    if request.rates.len() > PROPOSED_MAX {
        return Err(Refusal::bad_value("rates", "at most 100"));
    }
    let mut proposed = Vec::with_capacity(request.rates.len());
    for (place, new) in (0_i64..).zip(&request.rates) {
        let set = rate::read(directory, new.clone())?;
        let mut rate = rules::propose(&set, directory)?;
        rate.id.0 += place;
        proposed.push(rate);
    }
    Ok(proposed)
}

/// The stored rates. A proposed rate replaces the one of the same subject.
fn merged(directory: &Directory, proposed: &[Rate], only: bool) -> Vec<Rate> {
    let stays = |rate: &&Rate| !only && !proposed.iter().any(|new| new.same_subject(rate));
    let mut rates: Vec<Rate> = directory.rates.iter().filter(stays).cloned().collect();
    rates.extend(proposed.iter().cloned());
    rates
}

fn prices(
    call: &Call,
    request: &RateTest,
    proposed: &[Rate],
    answer: &mut RateTested,
) -> Result<(), Refusal> {
    let directory = call.directory();
    let duration = request
        .wall_s
        .ok_or(Refusal::MissingField { field: "wall_s" })?;
    if !(0..=TEN_YEARS_S).contains(&duration) {
        return Err(Refusal::BadDuration);
    }
    let start = request.start.as_deref();
    let start = start.map(|text| json::read_time(text, "start"));
    let from = start.transpose()?.unwrap_or_else(|| call.now());
    let properties = properties(&request.usage)?;
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let (user, project, group) = (
        text(&request.user),
        text(&request.project),
        text(&request.group),
    );
    let machine = text(&request.machine);
    let priced = Priced {
        usage: &properties,
        duration: Seconds(duration),
        machine: directory.any_machine_named(&machine).map(|m| m.id),
        machine_name: &machine,
        named: Named {
            user: &user,
            project: &project,
            group: &group,
        },
        at: from,
        from,
    };
    answer.current = Some(tested(directory, &priced, &directory.rates)?);
    if !proposed.is_empty() || request.only {
        let rates = merged(directory, proposed, request.only);
        answer.proposed = Some(tested(directory, &priced, &rates)?);
        warn(&priced, &rates, answer);
    } else {
        warn(&priced, &directory.rates, answer);
    }
    Ok(())
}

fn warn(priced: &Priced<'_>, rates: &[Rate], answer: &mut RateTested) {
    let exact = price(priced, rates).unwrap_or_default();
    if exact.undefined_instance {
        let text = "undefined_instance: a multiplier has no rate for this value";
        answer.warnings.push(text.to_owned());
    }
    if exact.unpriced {
        answer.warnings.push(super::quote::UNPRICED.to_owned());
    }
}

fn tested(
    directory: &Directory,
    priced: &Priced<'_>,
    rates: &[Rate],
) -> Result<TestedPrice, Refusal> {
    let bank = &directory.bank;
    let total = price(priced, rates).and_then(|p| p.total());
    let amount = total.and_then(|t| to_amount(t, bank.precision, directory.policy.rounding));
    let text = itemise(priced, rates, Once::Whole);
    Ok(TestedPrice {
        amount: json::amount(amount.ok_or(Refusal::AmountOverflow)?, bank),
        itemisation: text.ok_or(Refusal::AmountOverflow)?,
    })
}

/// Usage by the names that rates have for it.
fn properties(given: &BTreeMap<String, String>) -> Result<Usage, Refusal> {
    let mut used = Usage::default();
    for (name, value) in given {
        let number = || {
            let number = Decimal::parse(value).filter(|d| !d.is_negative());
            number.map(Some).ok_or(Refusal::BadValue {
                field: "usage",
                expected: "decimal numbers, zero or above, for Processors, Nodes, Memory, Disk",
            })
        };
        match name.to_ascii_lowercase().as_str() {
            "processors" => used.processors = number()?,
            "nodes" => used.nodes = number()?,
            "memory" => used.memory_mb = number()?,
            "disk" => used.disk_mb = number()?,
            "qualityofservice" | "qos" => used.qos = Some(value.clone()),
            "class" | "queue" => used.class = Some(value.clone()),
            _ => used.attributes.push((name.clone(), value.clone())),
        }
    }
    if used.has_negative() {
        return Err(Refusal::NegativeCharge);
    }
    if used.is_bounded() {
        return Ok(used);
    }
    Err(Refusal::bad_value(
        "usage",
        "at most 64 attributes, values up to 1024 bytes",
    ))
}

/// Owner and kind of charges: project, user, and whether only shadow totals moved.
type Whose = (String, String, bool);

/// The period of a replay. Without a given end it includes the present instant.
fn span(request: &RateTest, now: Timestamp) -> Result<(Timestamp, Timestamp), Refusal> {
    let until_now = now.plus(Seconds(1));
    if let Some(days) = request.last_days {
        if !(1..=DAYS_MAX).contains(&days) {
            return Err(Refusal::bad_value("last_days", "1 to 3660"));
        }
        return Ok((now.minus(Seconds(days.saturating_mul(86_400))), until_now));
    }
    let to = json::read_time_of(request.to.as_ref(), "to")?.unwrap_or(until_now);
    let from = json::read_time_of(request.from.as_ref(), "from")?;
    Ok((from.ok_or(Refusal::MissingField { field: "from" })?, to))
}

async fn replay(call: &Call, request: &RateTest, proposed: &[Rate]) -> Result<Replay, Failure> {
    let refused = |r: Refusal| call.refused(&r);
    let (from, to) = span(request, call.now()).map_err(refused)?;
    if from >= to {
        return Err(refused(Refusal::BadWindow));
    }
    let directory = call.directory();
    let rates = merged(directory, proposed, request.only);
    // A switch of modes in the midst of an instance makes two of it.
    let mut tallies: BTreeMap<(i64, bool), Tally> = BTreeMap::new();
    let mut next = call
        .ask(move |connection| usage::first_from(connection, from))
        .await?;
    let mut looked = 0;
    loop {
        let rows = call
            .ask(move |connection| usage::page(connection, next))
            .await?;
        let Some(last) = rows.last() else { break };
        next = last.id.saturating_add(1);
        looked += rows.len();
        if looked > CHARGES_MAX {
            return Err(refused(too_many()));
        }
        let within = |row: &&UsedRow| {
            from <= row.at
                && row.at < to
                && call.view.sees_work(&row.project, &row.user, &row.machine)
        };
        for row in rows.iter().filter(within) {
            let tally = tallies.entry((row.instance, row.shadow)).or_default();
            tally.beyond |= count(directory, &rates, row, tally)
                .and_then(|()| tally.attribute(row, directory))
                .is_none();
        }
    }
    let mut replayed = Replayed::new(directory, &rates, proposed);
    add_uses(call, (from, to), looked, &mut replayed).await?;
    summed(&directory.bank, tallies, replayed, (from, to))
        .ok_or_else(|| refused(Refusal::AmountOverflow))
}

/// Counts the uses without an instance that ended in a period, and that the caller may see.
async fn add_uses(
    call: &Call,
    (from, to): (Timestamp, Timestamp),
    mut looked: usize,
    replayed: &mut Replayed<'_>,
) -> Result<(), Failure> {
    for machine in call.ask(uses::machines).await? {
        let mut after = (from, 0);
        loop {
            let name = machine.clone();
            let page = call.ask(move |connection| uses::page(connection, &name, to, after));
            let rows = page.await?;
            let Some(last) = rows.last() else { break };
            after = (last.end, last.id);
            looked += rows.len();
            if looked > CHARGES_MAX {
                return Err(call.refused(&too_many()));
            }
            let seen =
                |row: &uses::ChunkUse| call.view.sees_work(&row.project, &row.user, &row.machine);
            rows.into_iter()
                .filter(seen)
                .for_each(|row| replayed.count(row));
        }
    }
    Ok(())
}

fn too_many() -> Refusal {
    Refusal::BadValue {
        field: "from",
        expected: "a span with at most 500,000 charges after its begin",
    }
}

fn count(directory: &Directory, rates: &[Rate], row: &UsedRow, tally: &mut Tally) -> Option<()> {
    let idle = row.usage.idle.map(|idle| Idle::of(row, idle));
    let (usage, from, seconds, at) = if let Some(idle) = &idle {
        (&idle.reserved, idle.from, idle.seconds, idle.from)
    } else {
        let at = priced_from(row.at, row.seconds, row.opened);
        (&row.usage, row.at.minus(row.seconds), row.seconds, at)
    };
    let priced = Priced {
        usage,
        duration: seconds,
        machine: directory.any_machine_named(&row.machine).map(|m| m.id),
        machine_name: &row.machine,
        named: Named {
            user: &row.user,
            project: &row.project,
            group: &row.group,
        },
        at,
        from,
    };
    let of_given = row.reverses.is_some_and(|tx| tally.given_in.contains(&tx));
    if row.is_given || of_given {
        tally.given_in.insert(row.tx);
        tally.given = tally.given.checked_add(row.amount.0.into())?;
        return Some(());
    }
    let undone = |tx: i64| tally.signs.get(&tx).copied().unwrap_or(1);
    let sign = row.reverses.map_or(1, |tx| -undone(tx));
    tally.signs.insert(row.tx, sign);
    tally.standing += sign;
    let mut exact = price(&priced, rates)?;
    if let Some(idle) = &idle {
        exact.metered = idle.part(exact.metered)?;
    }
    tally.metered = tally.metered.checked_add(exact.metered)?;
    tally.once = tally.once.max(exact.once);
    tally.whole |= row.is_first;
    tally.last = exact;
    Some(())
}

/// The idle part of a reservation that a charge or a correction counted.
struct Idle {
    /// What the reservation held.
    reserved: Usage,
    from: Timestamp,
    seconds: Seconds,
    /// Idle processor-seconds, in billionths: below zero if they were taken back.
    processor_seconds: i128,
}

impl Idle {
    fn of(row: &UsedRow, idle: IdleTime) -> Idle {
        let length = Seconds(row.seconds.0.saturating_abs());
        let (from, seconds) = match idle.span {
            Some((from, to)) => (from, Seconds(to.seconds().saturating_sub(from.seconds()))),
            None => (row.at.minus(length), length),
        };
        Idle {
            reserved: Usage {
                counted: None,
                idle: None,
                ..row.usage.clone()
            },
            from,
            seconds,
            processor_seconds: row.usage.processor_seconds(row.seconds),
        }
    }

    /// Its part of the price of all reserved time: every quantity counts in proportion to idle processors. Without
    /// processors there is no idle part, and the reservation counts whole, once.
    fn part(&self, whole: i128) -> Option<i128> {
        let processors = self.reserved.processors.unwrap_or_default().billionths();
        let all = processors.checked_mul(self.seconds.0.into())?;
        if all == 0 {
            return Some(if self.processor_seconds == 0 {
                whole
            } else {
                0
            });
        }
        let part = Fraction::new(self.processor_seconds, all)?.times(Fraction::whole(whole))?;
        part.numerator().checked_div(part.denominator())
    }
}

fn summed(
    bank: &Bank,
    tallies: BTreeMap<(i64, bool), Tally>,
    replayed: Replayed<'_>,
    (from, to): (Timestamp, Timestamp),
) -> Option<Replay> {
    let mut groups: BTreeMap<Whose, Sums> = BTreeMap::new();
    let (mut real, mut in_shadow, mut beyond) =
        (Sums::default(), Sums::default(), replayed.left_out);
    for ((project, user), own) in replayed.owners {
        add(&mut in_shadow, own)?;
        add(groups.entry((project, user, true)).or_default(), own)?;
    }
    for ((_, shadow), mut tally) in tallies {
        if tally.move_cost().is_none() || tally.beyond {
            beyond += 1;
            continue;
        }
        for ((project, user), own) in tally.owners {
            add(if shadow { &mut in_shadow } else { &mut real }, own)?;
            add(groups.entry((project, user, shadow)).or_default(), own)?;
        }
    }
    let row = |(charges, billed, proposed): Sums| ReplayRow {
        charges,
        billed: json::sum(billed, bank),
        proposed: json::sum(proposed, bank),
        difference: json::sum(proposed.saturating_sub(billed), bank),
        ..ReplayRow::default()
    };
    let rows = groups
        .into_iter()
        .map(|((project, user, shadow), sums)| ReplayRow {
            project: json::some(&project),
            user: json::some(&user),
            shadow,
            ..row(sums)
        });
    Some(Replay {
        from: json::time(from),
        to: json::time(to),
        rows: rows.collect(),
        total: row(real),
        shadow_total: (in_shadow.0 > 0).then(|| ReplayRow {
            shadow: true,
            ..row(in_shadow)
        }),
        left_out: beyond,
    })
}
