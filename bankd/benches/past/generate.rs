//! A bank with a year of entries, written in bulk: rows as the daemon writes them, but for their hashes,
//! which no question about the past looks at.
//!
//! Account 2 has one allocation with a fifth of all entries. The others have one for each quarter, and
//! jobs that place liens and are charged. One entry in thirty was late, by up to two days, and one in a
//! thousand by up to thirty days.

use anyhow::Result;
use bank_core::amount::Precision;
use bank_core::directory::Policy;
use bank_core::time::Timestamp;
use bankd_store::SqliteStore;
use bankd_store::bank::NewBank;
use rusqlite::{Connection, params};
use std::collections::HashMap;
use std::path::Path;

/// 2026-01-01T00:00:00Z.
pub(crate) const BEGIN_US: i64 = 1_767_225_600_000_000;
/// 365 days.
pub(crate) const YEAR_US: i64 = 365 * DAY_US;
const DAY_US: i64 = 86_400_000_000;
const QUARTER_US: i64 = YEAR_US / 4;
/// What is deposited into each allocation, in minor units.
const DEPOSIT: i64 = 1_000_000_000_000;

/// What is made.
pub(crate) struct Plan {
    pub(crate) entries: u64,
    pub(crate) accounts: u64,
    pub(crate) seed: u64,
}

/// Numbers out of a seed (`SplitMix64`).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound.max(1)
    }
}

/// Makes the bank.
pub(crate) fn bank(path: &Path, plan: &Plan) -> Result<()> {
    let new = NewBank {
        uuid: "00000000-0000-4000-8000-000000000000".to_owned(),
        precision: Precision::DEFAULT,
        unit: "credits".to_owned(),
        test: false,
        init_uid: 0,
        created_at: Timestamp(BEGIN_US),
    };
    drop(SqliteStore::create(path, &new, Policy::default())?);
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144;
         PRAGMA foreign_keys = OFF; BEGIN;",
    )?;
    let mut making = Making {
        connection: &connection,
        dice: Dice(plan.seed),
        next: (1, 1),
        running: HashMap::new(),
        held: HashMap::new(),
        liens: 0,
    };
    making.accounts(plan)?;
    making.year(plan)?;
    making.settle()?;
    connection.execute_batch("COMMIT; PRAGMA journal_mode = WAL;")?;
    Ok(())
}

#[derive(Clone, Copy, Default)]
struct Running {
    account: i64,
    amount: i64,
    held: i64,
    used: i64,
    last: Option<i64>,
}

struct Making<'a> {
    connection: &'a Connection,
    dice: Dice,
    /// The next transaction and entry.
    next: (i64, i64),
    running: HashMap<i64, Running>,
    /// The open lien of an allocation.
    held: HashMap<i64, (i64, i64)>,
    liens: i64,
}

impl Making<'_> {
    /// Accounts with their allocations: one for the whole year, or one for each quarter.
    fn accounts(&mut self, plan: &Plan) -> Result<()> {
        let mut allocation = 2;
        for n in 0..plan.accounts.cast_signed() {
            let account = n + 2;
            self.connection
                .prepare_cached(
                    "INSERT INTO account (id, name, priority, fallback, blocked, deleted,
                         description) VALUES (?1, ?2, 0, NULL, 0, 0, '')",
                )?
                .execute((account, format!("project{n}")))?;
            let quarters: &[i64] = if n == 0 { &[-1] } else { &[0, 1, 2, 3] };
            for quarter in quarters {
                let window = (*quarter >= 0).then(|| {
                    let start = BEGIN_US + quarter * QUARTER_US;
                    (start, start + QUARTER_US)
                });
                let (start, end) = (window.map(|w| w.0), window.map(|w| w.1));
                self.connection
                    .prepare_cached(
                        "INSERT INTO allocation (id, account, start_at, end_at, phase, amount, held,
                             credit_limit, deposited, used, shadow, shadow_held, last_entry)
                         VALUES (?1, ?2, ?3, ?4, 'expired', 0, 0, 0, ?5, 0, 0, 0, NULL)",
                    )?
                    .execute((allocation, account, start, end, DEPOSIT))?;
                let own = Running {
                    account,
                    ..Running::default()
                };
                self.running.insert(allocation, own);
                let tx = self.next.0;
                self.connection
                    .prepare_cached("INSERT INTO shape VALUES (?1, ?2, ?3, ?4, 0)")?
                    .execute((allocation, tx, start, end))?;
                self.entry(
                    "deposit",
                    allocation,
                    (DEPOSIT, 0),
                    None,
                    (BEGIN_US, BEGIN_US),
                )?;
                allocation += 1;
            }
        }
        Ok(())
    }

    /// Liens and charges, evenly over the year.
    fn year(&mut self, plan: &Plan) -> Result<()> {
        let entries = plan.entries.cast_signed();
        let others = plan.accounts.max(2) - 1;
        for n in self.next.1..=entries {
            let recorded = BEGIN_US
                + i64::try_from(i128::from(YEAR_US) * i128::from(n) / i128::from(entries))?;
            let quarter = ((recorded - BEGIN_US) / QUARTER_US).min(3);
            let allocation = if self.dice.below(5) == 0 {
                2
            } else {
                3 + 4 * self.dice.below(others).cast_signed() + quarter
            };
            let late = match self.dice.below(1000) {
                0 => self.dice.below((30 * DAY_US).cast_unsigned()),
                1..=33 => self.dice.below((2 * DAY_US).cast_unsigned()),
                _ => 0,
            };
            let effective = (recorded - late.cast_signed()).max(BEGIN_US);
            let times = (effective, recorded);
            if let Some((lien, held)) = self.held.remove(&allocation) {
                self.entry("charge", allocation, (-held, -held), Some(lien), times)?;
            } else {
                self.liens += 1;
                let held = 1 + self.dice.below(100_000).cast_signed();
                self.held.insert(allocation, (self.liens, held));
                self.entry(
                    "lien",
                    allocation,
                    (0, held),
                    Some(self.liens),
                    (recorded, recorded),
                )?;
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        kind: &str,
        allocation: i64,
        (amount, held): (i64, i64),
        lien: Option<i64>,
        (effective, recorded): (i64, i64),
    ) -> Result<()> {
        let (tx, entry) = self.next;
        self.next = (tx + 1, entry + 1);
        let own = self.running.entry(allocation).or_default();
        own.amount += amount;
        own.held += held;
        own.used -= amount * i64::from(kind == "charge");
        let prev = own.last.replace(entry);
        let hash = [7_u8; 32];
        self.connection
            .prepare_cached(
                "INSERT INTO tx (id, req_id, at_effective, at_recorded, actor, client, origin, op,
                     idem_key, instance, reverses, corrects, reason, prev_hash, hash)
                 VALUES (?1, '0190f0a0-0000-7000-8000-000000000000', ?2, ?3, 'moab', 'moab', 'nami',
                     ?4, '0190f0a0-0000-7000-8000-000000000001', ?5, NULL, NULL, '', ?6, ?6)",
            )?
            .execute(params![tx, effective, recorded, kind, lien, hash])?;
        let usage = (kind == "charge").then_some(entry);
        self.connection
            .prepare_cached(
                "INSERT INTO entry (id, tx, n, prev, kind, account, allocation, lien, usage,
                     delta_amount, delta_held, delta_active, delta_shadow, delta_shadow_held,
                     amount_after, held_after, project, user, machine, instance)
                 VALUES (?1, ?2, 0, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?9, 0, 0, ?11, ?12, 'chemistry',
                     'amy', 'colony', ?7)",
            )?
            .execute(params![
                entry, tx, prev, kind, own.account, allocation, lien, usage, amount, held, own.amount,
                own.held
            ])?;
        Ok(())
    }

    /// What the allocations came to.
    fn settle(&self) -> Result<()> {
        let mut update = self.connection.prepare(
            "UPDATE allocation SET amount = ?2, held = ?3, used = ?4, last_entry = ?5 WHERE id = ?1",
        )?;
        for (id, own) in &self.running {
            update.execute((id, own.amount, own.held, own.used, own.last))?;
        }
        Ok(())
    }
}
