//! What was asked for beside what was used, and the energy that it took.

use std::collections::BTreeMap;
use std::sync::Arc;

use bank_api::v1::{EfficiencyQuery, EfficiencyReport, EfficiencyRow};
use bank_core::contribution::efficiency::{Efficiency, Work};
use bank_core::contribution::{Credit, part};
use bank_core::decimal::Decimal;
use bank_core::refusal::Refusal;

use super::super::call::{Call, Handled, ok};
use super::super::shape;
use super::{group, period, whole};
use crate::store::read::uses::{self, Asked, Used};

/// `GET /api/v1/report/efficiency`
pub(in crate::http::v1) async fn show(call: Call) -> Handled {
    whole(&call)?;
    let query: EfficiencyQuery = call.query()?;
    let refused = |refusal: Refusal| call.refused(&refusal);
    let span = period(query.from.as_deref(), query.to.as_deref(), call.now()).map_err(refused)?;
    let by = group::read(query.by.as_deref()).map_err(refused)?;
    let watts = factor(query.watts.as_deref(), "watts").map_err(refused)?;
    let grams = factor(query.co2_g_per_kwh.as_deref(), "co2_g_per_kwh").map_err(refused)?;
    let asked = Asked {
        from: span.from(),
        to: span.to(),
        machine: query.machine.clone(),
    };
    let directory = Arc::clone(call.directory());
    let counted = call.ask(move |connection| {
        let mut groups: BTreeMap<String, Efficiency> = BTreeMap::new();
        let (mut all, mut fits) = (Efficiency::default(), Some(()));
        uses::each(connection, &asked, |used| {
            let work = work(used);
            // So much that some of it falls into each microsecond.
            if part(u64::MAX.into(), work.ran, span, Credit::Spread) == 0 {
                return;
            }
            let name = group::of(by, used, &directory);
            let own = groups.entry(name.to_owned()).or_default();
            let added = own.add(&work, span, Credit::Spread);
            fits = fits.and(added).and(all.add(&work, span, Credit::Spread));
        })?;
        Ok(fits.map(|()| (groups, all)))
    });
    let too_much = || call.refused(&Refusal::AmountOverflow);
    let (groups, all) = counted.await?.ok_or_else(too_much)?;
    let row = |name: &str, own: &Efficiency| EfficiencyRow {
        group: name.to_owned(),
        uses: own.uses,
        hours: own.hours(),
        requested_hours: own.asked_hours(),
        cpu_hours: own.busy_hours(),
        time_efficiency: own.of_asked(),
        cpu_efficiency: own.of_held(),
        energy_kwh: watts.and_then(|watts| own.energy(watts)),
        co2_kg: watts
            .zip(grams)
            .and_then(|(watts, grams)| own.carbon(watts, grams)),
    };
    ok(&EfficiencyReport {
        from: shape::time(span.from()),
        to: shape::time(span.to()),
        by: group::word(by),
        items: groups.iter().map(|(name, own)| row(name, own)).collect(),
        total: row("total", &all),
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

/// A use whose processors nobody says held nothing.
fn work(used: &Used) -> Work {
    let millis = u128::from(used.millis.unwrap_or(0));
    let over = |time: u64| millis.saturating_mul(u128::from(time));
    Work {
        held: over(used.wall_us),
        asked: used.asked_us.map(over),
        busy: used
            .cpu_us
            .map(|time| u128::from(time).saturating_mul(1_000)),
        ran: (used.start, used.end),
    }
}
