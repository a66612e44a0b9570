//! Requested and used resources, and energy.

use std::collections::BTreeMap;
use std::sync::Arc;

use bank_api::v1::{EfficiencyQuery, EfficiencyReport, EfficiencyRow};
use bank_core::decimal::Decimal;
use bank_core::refusal::Refusal;
use bank_core_figures::contribution::efficiency::{Efficiency, Factors, Work, carbon, energy};
use bank_core_figures::contribution::{Credit, part};
use bankd_ledger::access::right::Right;
use bankd_store::read::uses::{self, UseFilter, Used};

use super::super::call::{Call, Handled, ok};
use super::super::json;
use super::{group, on_machine, period};

/// `GET /api/v1/report/efficiency`
pub(in crate::v1) async fn show(call: Call) -> Handled {
    if call.view.is_unlimited() {
        call.demand(Right::SeeShares)?;
    }
    let query: EfficiencyQuery = call.query()?;
    let refused = |refusal: Refusal| call.refused(&refusal);
    let span = period(query.from.as_deref(), query.to.as_deref(), call.now()).map_err(refused)?;
    let by = group::read(query.by.as_deref()).map_err(refused)?;
    let watts = factor(query.watts.as_deref(), "watts").map_err(refused)?;
    let grams = factor(query.co2_g_per_kwh.as_deref(), "co2_g_per_kwh").map_err(refused)?;
    let settings = &call.services.report;
    let factors = |machine: &str| {
        let known = settings.factors(machine);
        Factors {
            watts: watts.or(known.watts),
            grams: grams.or(known.grams),
        }
    };
    on_machine(&call, query.machine.as_deref()).await?;
    let filter = UseFilter {
        from: span.from(),
        to: span.to(),
        machine: query.machine.clone(),
    };
    let directory = Arc::clone(call.directory());
    let view = call.view.clone();
    let counted = call.ask(move |connection| {
        // Per group and machine, because machines differ in power.
        let mut groups: BTreeMap<String, BTreeMap<String, Efficiency>> = BTreeMap::new();
        let mut fits = Some(());
        uses::each(connection, &filter, |used| {
            if !view.sees_work(&used.project, &used.user, &used.machine) {
                return;
            }
            let work = work(used);
            // So much that some of it falls into each microsecond.
            if part(u64::MAX.into(), work.ran, span, Credit::Spread) == 0 {
                return;
            }
            let name = group::of(by, used, &directory);
            let own = groups.entry(name.to_owned()).or_default();
            let own = own.entry(used.machine.clone()).or_default();
            fits = fits.and(own.add(&work, span, Credit::Spread));
        })?;
        Ok(fits.map(|()| groups))
    });
    let too_much = || call.refused(&Refusal::AmountOverflow);
    let groups = counted.await?.ok_or_else(too_much)?;
    let rows = groups.iter().map(|(name, machines)| {
        let machines = machines.iter();
        let parts: Vec<_> = machines
            .map(|(machine, own)| (own, factors(machine)))
            .collect();
        row(name, &parts)
    });
    let items: Option<Vec<EfficiencyRow>> = rows.collect();
    let all = groups.values().flatten();
    let parts: Vec<_> = all.map(|(machine, own)| (own, factors(machine))).collect();
    let unknown = parts.iter().filter(|(_, factors)| factors.watts.is_none());
    let without_watts = unknown.map(|(own, _)| own.uses).sum();
    ok(&EfficiencyReport {
        from: json::time(span.from()),
        to: json::time(span.to()),
        by: group::word(by),
        items: items.ok_or_else(too_much)?,
        total: row("total", &parts).ok_or_else(too_much)?,
        without_watts,
    })
}

/// One group, from its machines; `None` on overflow of a sum.
fn row(name: &str, parts: &[(&Efficiency, Factors)]) -> Option<EfficiencyRow> {
    let start = Some(Efficiency::default());
    let own = parts.iter().fold(start, |sum, (own, _)| sum?.plus(own))?;
    let [seconds, requested_seconds, cpu_seconds] = own.seconds();
    let idle: Vec<_> = parts
        .iter()
        .map(|(own, factors)| (own.idle(), *factors))
        .collect();
    let idle = || idle.iter().map(|(own, factors)| (own, *factors));
    Some(EfficiencyRow {
        group: name.to_owned(),
        uses: own.uses,
        hours: own.hours(),
        requested_hours: own.requested_hours(),
        cpu_hours: own.busy_hours(),
        seconds,
        requested_seconds,
        cpu_seconds,
        time_efficiency: own.of_requested(),
        cpu_efficiency: own.of_held(),
        energy_kwh: energy(parts.iter().copied()),
        co2_kg: carbon(parts.iter().copied()),
        idle_hours: own.idle().hours(),
        idle_energy_kwh: energy(idle()),
        idle_co2_kg: carbon(idle()),
    })
}

fn factor(text: Option<&str>, field: &'static str) -> Result<Option<Decimal>, Refusal> {
    let read = |text: &str| {
        let number = Decimal::parse(text).filter(|number| !number.is_negative());
        number.ok_or(Refusal::BadValue {
            field,
            expected: "a decimal number from 0 on",
        })
    };
    text.map(read).transpose()
}

/// A use without a number of processors counts as zero.
fn work(used: &Used) -> Work {
    let millis = u128::from(used.millis.unwrap_or(0));
    let over = |time: u64| millis.saturating_mul(u128::from(time));
    Work {
        held: over(used.wall_us),
        requested: used.requested_us.map(over),
        busy: used
            .cpu_us
            .map(|time| u128::from(time).saturating_mul(1_000)),
        ran: (used.start, used.end),
        counts: used.counts,
    }
}
