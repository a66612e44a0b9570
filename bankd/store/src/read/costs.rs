//! Movements of accounts: charges, their reversals, and deposits; transaction by transaction, in
//! the order of the journal.

use super::super::{Error, codec, numbers, version};
use super::charges::{self, Charge};
use super::closes;
use super::jobs::{self, JobRow};
use super::journal::{self, JournalRow, Span};
use bank_core::amount::Amount;
use bank_core::effects::Billing;
use bank_core::period::Closes;
use bank_core::time::{Seconds, Timestamp};
use rusqlite::{Connection, OptionalExtension};

/// Subject of a cost row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// An instance was charged.
    Charged(Box<Used>),
    /// Money went back of this charge.
    Back(Box<Used>),
    /// Money was put into an allocation, or taken out of it.
    Deposit,
}

/// A charge and its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// The charge.
    pub charge: Charge,
    /// Its instance.
    pub job: JobRow,
    /// Processors × time that it bills, in billionths of a second.
    pub processor_seconds: i128,
    /// Scheduler properties that have no column.
    pub other: Vec<(String, String)>,
}

/// Money of one transaction that was about one thing, and of one account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The transaction.
    pub tx: i64,
    /// The number of its first entry: no other cost has it.
    pub entry: i64,
    /// When it counts.
    pub at: Timestamp,
    /// Its subject.
    pub what: What,
    /// Minor units that were charged, or put in; below 0 where they went back, or were taken out.
    pub amount: i128,
    /// The account.
    pub account: Option<i64>,
    /// Project as named.
    pub project: String,
    /// User as named.
    pub user: String,
    /// Machine as named.
    pub machine: String,
}

/// A page of costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// In the order of the journal.
    pub rows: Vec<Cost>,
    /// The last transaction that was looked at; before the one asked for where the journal ends there.
    pub last: i64,
    /// Whether there was more to look at.
    pub more: bool,
    /// The closed periods, to recognise late entries.
    pub closes: Closes,
}

/// The entries that charge.
const CHARGES: [&str; 4] = ["charge", "charge_debt", "charge_fallback", "late_charge"];

/// The rows after a transaction; reads a bounded number of rows. The connection must be in a
/// snapshot.
pub fn page(connection: &Connection, after: i64, limit: usize) -> Result<Costs, Error> {
    let span = Span {
        after,
        limit,
        ..Span::default()
    };
    let page = journal::page(connection, &span, |row| {
        let kind = row
            .entry
            .as_ref()
            .map_or("", |(_, entry)| entry.kind.as_str());
        CHARGES.contains(&kind) || ["refund", "reverse", "deposit", "withdraw"].contains(&kind)
    })?;
    let newest = numbers::last_transaction(connection)?;
    let mut costs = Costs {
        last: page.next.unwrap_or(newest),
        more: page.next.is_some(),
        closes: closes::standing(connection)?,
        ..Costs::default()
    };
    for row in &page.rows {
        add(connection, &mut costs.rows, row)?;
    }
    costs.rows.retain(|cost| cost.amount != 0);
    for rows in costs.rows.chunk_by_mut(is_of_same_charge) {
        share(rows);
    }
    Ok(costs)
}

/// The project at the top of the one of a cost, when that was charged or deposited. What goes back of a charge goes to
/// the one of the charge.
pub fn top(connection: &Connection, cost: &Cost, project: &str) -> Result<String, Error> {
    let tx = match &cost.what {
        What::Back(used) => used.charge.tx,
        What::Charged(_) | What::Deposit => cost.tx,
    };
    version::top_of(connection, project, tx)
}

/// Whether two rows are of one charge, which several accounts paid.
fn is_of_same_charge(a: &Cost, b: &Cost) -> bool {
    match (&a.what, &b.what) {
        (What::Charged(own), What::Charged(other)) => {
            a.tx == b.tx && own.charge.id == other.charge.id
        }
        _ => false,
    }
}

/// Divides the time of a charge among its accounts, in proportion to what each paid. The last one has the rest.
fn share(rows: &mut [Cost]) {
    let mut amount: i128 = rows.iter().map(|row| row.amount).sum();
    let mut time = match rows.first().map(|row| &row.what) {
        Some(What::Charged(used)) => used.processor_seconds,
        _ => return,
    };
    for row in rows {
        let What::Charged(used) = &mut row.what else {
            continue;
        };
        let part = time.checked_mul(row.amount);
        let part = part.and_then(|part| part.checked_div(amount));
        used.processor_seconds = part.unwrap_or(time);
        time = time.saturating_sub(used.processor_seconds);
        amount = amount.saturating_sub(row.amount);
    }
}

/// Adds an entry to the cost that it is a part of, or begins one with it.
fn add(connection: &Connection, costs: &mut Vec<Cost>, row: &JournalRow) -> Result<(), Error> {
    let Some((_, entry)) = &row.entry else {
        return Ok(());
    };
    if entry.delta_amount == 0 {
        return Ok(());
    }
    let root = root(connection, entry.id, &entry.kind, entry.usage)?;
    let is_charged = CHARGES.contains(&entry.kind.as_str());
    let change = i128::from(entry.delta_amount);
    let (usage, amount) = match root.kind.as_str() {
        // A charge is shown as a negative amount.
        kind if CHARGES.contains(&kind) || kind == "refund" => match root.usage {
            Some(usage) => (Some(usage), change.saturating_neg()),
            None => return Ok(()),
        },
        "deposit" | "withdraw" => (None, change),
        // The opposite of anything else is as little a cost as that is.
        _ => return Ok(()),
    };
    let is_same = |cost: &&mut Cost| {
        let own = match &cost.what {
            What::Charged(used) => (Some(used.charge.id), true),
            What::Back(used) => (Some(used.charge.id), false),
            What::Deposit => (None, false),
        };
        cost.tx == row.tx.id
            && own == (usage, is_charged && usage.is_some())
            && cost.account == entry.account
    };
    if let Some(cost) = costs.iter_mut().rev().find(is_same) {
        cost.amount = cost.amount.saturating_add(amount);
        return Ok(());
    }
    let what = match usage {
        None => What::Deposit,
        Some(usage) => {
            let Some(used) = used(connection, usage)? else {
                return Ok(());
            };
            if is_charged {
                What::Charged(Box::new(used))
            } else {
                What::Back(Box::new(used))
            }
        }
    };
    costs.push(Cost {
        tx: row.tx.id,
        entry: entry.id,
        at: row.tx.at_effective,
        what,
        amount,
        account: entry.account,
        project: entry.project.clone(),
        user: entry.user.clone(),
        machine: entry.machine.clone(),
    });
    Ok(())
}

/// The entry that another one takes back, and that takes none back itself.
pub(super) struct Root {
    pub(super) id: i64,
    kind: String,
    usage: Option<i64>,
}

/// Corrections of corrections are followed: each is of an earlier entry.
pub(super) fn root(
    connection: &Connection,
    entry: i64,
    kind: &str,
    usage: Option<i64>,
) -> Result<Root, Error> {
    let mut root = Root {
        id: entry,
        kind: kind.to_owned(),
        usage,
    };
    let sql = "SELECT e.id, e.kind, e.usage FROM correction c JOIN entry e ON e.id = c.of
               WHERE c.entry = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    while matches!(root.kind.as_str(), "refund" | "reverse") {
        let found = statement.query_row([root.id], |r| {
            let (id, kind, usage) = (r.get(0)?, r.get(1)?, r.get(2)?);
            Ok(Root { id, kind, usage })
        });
        let Some(earlier) = found.optional()?.filter(|earlier| earlier.id < root.id) else {
            break;
        };
        root = earlier;
    }
    Ok(root)
}

fn used(connection: &Connection, usage: i64) -> Result<Option<Used>, Error> {
    let sql = "SELECT u.instance, i.other FROM usage u JOIN instance i ON i.id = u.instance
               WHERE u.id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([usage], |r| Ok((r.get(0)?, r.get::<_, String>(1)?)));
    let Some((instance, other)) = found.optional()? else {
        return Ok(None);
    };
    let charge = charges::with_reason(connection, usage)?;
    let Some((charge, job)) = charge.zip(jobs::one(connection, instance)?) else {
        return Ok(None);
    };
    let other = codec::read_pairs("instance.other", &other)?;
    let processor_seconds = processor_seconds(connection, &charge)?;
    Ok(Some(Used {
        charge,
        job,
        processor_seconds,
        other,
    }))
}

/// What a charge bills: its own time, or all of a use that it takes over in its transaction from another project or
/// from the suspense account.
fn processor_seconds(connection: &Connection, charge: &Charge) -> Result<i128, Error> {
    let prev = charge.prev.map(|id| charges::one(connection, id));
    let before = prev.transpose()?.flatten();
    let Some(before) = before.filter(|before| before.tx == charge.tx) else {
        return Ok(charge.usage.processor_seconds(charge.seconds));
    };
    if before.billing != Billing::Unbilled {
        return Ok(charge.usage.processor_seconds(charge.priced()));
    }
    let mut sum: i128 = 0;
    for earlier in charges::of_job(connection, before.prev)? {
        if earlier.billing != Billing::Unbilled {
            continue;
        }
        let is_settled = earlier.amount < Amount::ZERO && earlier.seconds == Seconds(0);
        sum = if is_settled {
            0
        } else {
            sum.saturating_add(earlier.usage.processor_seconds(earlier.seconds))
        };
    }
    Ok(sum)
}
