//! The usage rows of an instance, and those of them that count.

use super::super::{Error, codec};
use super::charge::Charge;
use bank_core_figures::rollup::Sign;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// All usage rows of an instance, by their transactions.
pub(super) fn chain(
    connection: &Connection,
    last: Option<i64>,
) -> Result<BTreeMap<i64, Vec<Charge>>, Error> {
    let sql = "SELECT u.id, u.tx, u.at, u.charged_s, u.amount, u.processors, u.facts, t.reverses,
                   u.billing = 'shadow', t.op IS 'settle', u.billing = 'refund', u.prev
               FROM usage u LEFT JOIN tx t ON t.id = u.tx WHERE u.id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut found: BTreeMap<i64, Vec<Charge>> = BTreeMap::new();
    let mut next = last;
    while let Some(id) = next {
        let mut rows = statement.query([id])?;
        let row = rows.next()?.ok_or_else(|| codec::broken("usage", id))?;
        let charge = Charge::read(row)?;
        next = row.get::<_, Option<i64>>(11)?.filter(|prev| *prev < id);
        found.entry(charge.tx).or_default().push(charge);
    }
    Ok(found)
}

/// The rows whose use counts, with their signs. Rows of a reversal have the opposite sign of the
/// reversed transaction's rows, at the same owner and time.
pub(super) fn standing(chain: &BTreeMap<i64, Vec<Charge>>) -> Vec<(&Charge, Sign)> {
    let mut found = Vec::new();
    for rows in chain.values() {
        let (mut of, mut sign) = (rows, Sign::Plus);
        while let Some(undone) = of
            .iter()
            .find_map(|row| row.reverses.filter(|tx| *tx < row.tx))
            .and_then(|tx| chain.get(&tx))
        {
            of = undone;
            sign = sign.turned(true);
        }
        found.extend(of.iter().map(|row| (row, sign)));
    }
    found
}

/// The charges that count in the end, each once. Corrections of idle time are no charges.
pub(super) fn remaining(chain: &BTreeMap<i64, Vec<Charge>>) -> Vec<&Charge> {
    let mut sums: BTreeMap<i64, (&Charge, i64)> = BTreeMap::new();
    for (charge, sign) in standing(chain) {
        let own = sums.entry(charge.id).or_insert((charge, 0));
        own.1 = own
            .1
            .saturating_add(if sign == Sign::Plus { 1 } else { -1 });
    }
    let is_correction = |charge: &Charge| charge.usage.idle.is_some_and(|idle| idle.span.is_some());
    sums.into_values()
        .filter(|(charge, sum)| *sum > 0 && !is_correction(charge))
        .map(|(charge, _)| charge)
        .collect()
}
