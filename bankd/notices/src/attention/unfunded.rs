//! Running jobs that the money of their accounts does not cover.
//!
//! An account covers the holds of its open liens in the order of their starts, up to its amount and credit limit: the
//! jobs that started last are the first without money. A job that used up its hold, or whose lien expired while it
//! runs, needs available money. It is observed until its use closes: nothing shows that it still runs after that.

use std::collections::BTreeMap;

use bank_core::amount::Amount;
use bank_core::attention::{AttentionKind, Concern, Observed, THERE};
use bank_core::ids::{AccountId, AllocationId};
use bank_core::model::{Allocation, Phase};
use bank_core::time::Timestamp;
use bankd_store as store;
use bankd_store::read::SCAN_MAX;
use bankd_store::read::liens::{self, LienRow, Wanted};
use bankd_store::read::money::Figures;
use rusqlite::Connection;

/// Money of an account, and the part of it that earlier jobs hold.
#[derive(Clone, Copy, Debug, Default)]
struct Cover {
    /// Amount and credit limit of the active allocations, minor units.
    covered: i128,
    /// Available beside all holds.
    available: i128,
    /// Holds of the jobs so far.
    taken: i128,
}

/// An open lien, or the expired one of a job that is still open, and what its accounts do not cover of it.
pub(super) struct Job {
    pub(super) lien: LienRow,
    /// None while it is covered; 0 if its hold is used up and nothing is available.
    pub(super) short: Option<i128>,
}

impl Job {
    /// As one observation of its instance; `message` describes a job that is not covered.
    pub(super) fn observed(&self, message: impl FnOnce(&LienRow, i128) -> String) -> Observed {
        let lien = &self.lien;
        Observed {
            kind: AttentionKind::JobUnfunded,
            subject: format!("instance:{}", lien.lien.instance.0),
            level: if self.short.is_some() { THERE } else { 0 },
            concern: Concern {
                account: lien.accounts.first().copied(),
                lien: Some(lien.lien.id),
                project: lien.project.clone(),
                user: lien.user.clone(),
                machine: lien.machine.clone(),
                ..Concern::default()
            },
            amount: self
                .short
                .and_then(|short| i64::try_from(short).ok().map(Amount)),
            message: self
                .short
                .map_or_else(String::new, |short| message(lien, short)),
        }
    }
}

/// Jobs with an open lien that holds real money, in the order of their starts, then open jobs whose lien expired, and
/// whether these are all.
pub(super) fn jobs(
    connection: &Connection,
    allocations: &[Allocation],
    now: Timestamp,
) -> Result<(Vec<Job>, bool), store::Error> {
    let page = liens::list(connection, Wanted::Open, None, SCAN_MAX, |row| {
        !row.lien.shadow
    })?;
    let complete = page.next.is_none();
    let mut liens = page.rows;
    liens.sort_by_key(|row| (row.lien.start, row.lien.id));
    let mut covers = covers(allocations, now);
    let active = allocations
        .iter()
        .filter(|own| Phase::of(&own.window, now) == Phase::Active);
    let payer: BTreeMap<AllocationId, AccountId> =
        active.map(|own| (own.id, own.account)).collect();
    let job = |lien: LienRow| Job {
        short: short(&lien, &payer, &mut covers),
        lien,
    };
    let mut jobs: Vec<Job> = liens.into_iter().map(job).collect();
    let (outlived, all) = liens::outlived(connection, SCAN_MAX)?;
    let real = outlived.into_iter().filter(|row| !row.lien.shadow);
    jobs.extend(real.map(|lien| Job {
        short: (!has_available(&lien, &covers)).then_some(0),
        lien,
    }));
    Ok((jobs, complete && all))
}

fn has_available(row: &LienRow, covers: &BTreeMap<AccountId, Cover>) -> bool {
    let available = |account| covers.get(account).is_some_and(|cover| cover.available > 0);
    row.accounts.iter().any(available)
}

fn covers(allocations: &[Allocation], now: Timestamp) -> BTreeMap<AccountId, Cover> {
    let accounts = allocations.chunk_by(|a, b| a.account == b.account);
    let cover = |own: &[Allocation]| {
        let figures = Figures::of(own, now);
        let cover = Cover {
            covered: figures.amount.saturating_add(figures.credit_limit),
            available: figures.available(),
            taken: 0,
        };
        own.first().map(|first| (first.account, cover))
    };
    accounts.filter_map(cover).collect()
}

/// What is missing for a lien, after the liens before it. A hold on an allocation that is not active is covered by that
/// allocation.
fn short(
    row: &LienRow,
    payer: &BTreeMap<AllocationId, AccountId>,
    covers: &mut BTreeMap<AccountId, Cover>,
) -> Option<i128> {
    let mut short = 0_i128;
    for portion in &row.lien.portions {
        let account = payer.get(&portion.allocation);
        let Some(cover) = account.and_then(|account| covers.get_mut(account)) else {
            continue;
        };
        let hold = i128::from(portion.amount.0);
        cover.taken = cover.taken.saturating_add(hold);
        let missing = cover.taken.saturating_sub(cover.covered);
        short = short.saturating_add(missing.clamp(0, hold.max(0)));
    }
    let is_used_up = row.lien.remaining() == 0;
    let is_dry = is_used_up && !has_available(row, covers);
    (short > 0 || is_dry).then_some(short)
}
