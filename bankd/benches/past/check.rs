//! The figures that are timed are the right ones: some are compared with a whole reading of the journal.

use super::generate::Dice;
use super::moment;
use anyhow::{Result, ensure};
use bank_core::ids::AccountId;
use bankd_store::read::past;
use rusqlite::Connection;
use std::collections::HashMap;

/// Moments that are compared.
const MOMENTS: usize = 3;

pub(crate) fn against_a_whole_reading(
    reader: &Connection,
    accounts: &[AccountId],
    dice: &mut Dice,
) -> Result<()> {
    for _ in 0..MOMENTS {
        let at = moment(dice);
        let sql = "SELECT e.account, sum(e.delta_amount), sum(e.delta_held),
                       -sum(CASE WHEN e.usage IS NOT NULL THEN e.delta_amount ELSE 0 END)
                   FROM entry e JOIN tx t ON t.id = e.tx JOIN allocation a ON a.id = e.allocation
                   WHERE t.at_effective <= ?1 AND (a.start_at IS NULL OR a.start_at <= ?1)
                       AND (a.end_at IS NULL OR a.end_at > ?1)
                   GROUP BY e.account";
        let mut statement = reader.prepare(sql)?;
        let rows = statement.query_map([at.0], |r| {
            Ok((r.get(0)?, (r.get(1)?, r.get(2)?, r.get(3)?)))
        })?;
        let read: HashMap<i64, (i64, i64, i64)> = rows.collect::<Result<_, _>>()?;
        let all = past::figures(reader, accounts, at)?;
        for (n, (account, figures)) in accounts.iter().zip(all).enumerate() {
            let computed = (figures.amount, figures.held, figures.used);
            let (amount, held, used) = read.get(&account.0).copied().unwrap_or_default();
            let whole = (i128::from(amount), i128::from(held), i128::from(used));
            ensure!(
                computed == whole,
                "{account:?} at {at:?}: {computed:?}, the journal says {whole:?}"
            );
            // Each alone would take longer than all that is timed.
            if n % 50 > 0 {
                continue;
            }
            let alone = past::figures(reader, &[*account], at)?;
            ensure!(
                alone == [figures],
                "{account:?} at {at:?}: alone and with all differ"
            );
        }
    }
    println!(
        "{MOMENTS} moments of {} accounts are those of a whole reading",
        accounts.len()
    );
    Ok(())
}
