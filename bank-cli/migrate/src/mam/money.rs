//! Allocations, liens and usage records.

use std::collections::{BTreeMap, BTreeSet};

use super::Lists;
use crate::{
    Reading,
    fault::Fault,
    old::{Allocation, Job, Lien, Old, Part},
    plain::{names, time},
    table::{Once, Row, Table},
};

/// The remedy where two lists do not fit together.
const SAME_TIME: &str =
    "make both lists again while the old bank is stopped: mam-list-funds --format csv > funds.csv";

pub(super) fn read(lists: &Lists, reading: &Reading, old: &mut Old) -> Result<(), Fault> {
    if let Some(table) = lists.get("allocations") {
        allocations(table, reading, old)?;
    }
    let records = lists.get("usagerecords");
    if let Some(table) = lists.get("liens").filter(|_| reading.reservations) {
        liens(table, records, reading, old)?;
    }
    if let Some(table) = records.filter(|_| reading.history) {
        usage(table, reading, old)?;
    }
    Ok(())
}

fn allocations(table: &Table, reading: &Reading, old: &mut Old) -> Result<(), Fault> {
    let funds: BTreeSet<String> = old.accounts.iter().map(|own| own.key.clone()).collect();
    let mut once = Once::default();
    for row in table.rows() {
        let (key, fund) = (row.need("Id")?, row.need("Fund")?);
        once.add(&row, "Id", key)?;
        old.at(format!("allocation {key}"), &row);
        if !funds.contains(fund) {
            let fault = row.fault("Fund", &format!("{fund:?} is not in the list of funds"));
            return Err(fault.hint(SAME_TIME));
        }
        let amount = match row.figure("Remaining")? {
            Some(amount) => Some(amount),
            None => row.figure("Amount")?,
        };
        let (start, end) = (
            time(&row, "StartTime", reading)?,
            time(&row, "EndTime", reading)?,
        );
        if start.zip(end).is_some_and(|(start, end)| end <= start) {
            let reason = "allocations that end before they start: they were never active";
            old.skipped
                .add(reason, format!("allocation {key} of fund {fund}"));
            continue;
        }
        let mut deposited = None;
        for column in ["Allocated", "Deposited", "InitialDeposit"] {
            deposited = deposited.or(row.figure(column)?);
        }
        let credit_limit = row.figure("CreditLimit")?.unwrap_or_default();
        if credit_limit.is_negative() {
            return Err(row.fault("CreditLimit", "is below zero"));
        }
        old.allocations.push(Allocation {
            key: key.to_owned(),
            account: fund.to_owned(),
            start,
            end,
            amount: amount.ok_or_else(|| row.fault("Remaining", "is empty, and Amount too"))?,
            deposited: deposited.filter(|own| !own.is_negative()),
            credit_limit,
            note: row.text("Description").to_owned(),
            place: row.place(),
        });
    }
    Ok(())
}

/// Liens. What is missing in the list of liens is in the usage record of the lien.
fn liens(
    table: &Table,
    records: Option<&Table>,
    reading: &Reading,
    old: &mut Old,
) -> Result<(), Fault> {
    let rows = records.into_iter().flat_map(Table::rows);
    let records: BTreeMap<&str, Row<'_>> = rows.map(|row| (row.text("Id"), row)).collect();
    let funds: BTreeSet<String> = old.accounts.iter().map(|own| own.key.clone()).collect();
    let mut once = Once::default();
    for row in table.rows() {
        let key = row.need("Id")?;
        once.add(&row, "Id", key)?;
        old.at(format!("lien {key}"), &row);
        let amount = row
            .figure("Amount")?
            .ok_or_else(|| row.fault("Amount", "is empty"))?;
        if amount.is_negative() {
            return Err(row.fault("Amount", "is below zero"));
        }
        let own: BTreeSet<&str> = names(row.text("Funds")).into_iter().collect();
        if let Some(unknown) = own.iter().find(|fund| !funds.contains(**fund)) {
            let fault = row.fault("Funds", &format!("{unknown:?} is not in the list of funds"));
            return Err(fault.hint(SAME_TIME));
        }
        let mut own = own.into_iter();
        let (Some(fund), None) = (own.next(), own.next()) else {
            let reason = "liens on several funds or none: the list has no amount of each";
            old.skipped.add(reason, format!("lien {key} of {amount}"));
            continue;
        };
        let record = records.get(row.text("UsageRecord"));
        let named = |column: &str| {
            let own = row.text(column);
            let other = || record.map_or("", |record| record.text(column));
            if own.is_empty() { other() } else { own }.to_owned()
        };
        let whole = |column| record.map_or(Ok(None), |record| record.whole(column));
        old.liens.push(Lien {
            key: key.to_owned(),
            job: row.need("Instance")?.to_owned(),
            machine: named("Machine"),
            project: named("Account"),
            user: named("User"),
            start: time(&row, "StartTime", reading)?,
            end: time(&row, "EndTime", reading)?,
            parts: vec![Part {
                account: fund.to_owned(),
                allocation: None,
                amount,
            }],
            processors: whole("Processors")?.filter(|count| *count > 0),
            nodes: whole("Nodes")?.filter(|count| *count > 0),
            class: named("Class"),
            qos: named("QualityOfService"),
        });
    }
    Ok(())
}

fn usage(table: &Table, reading: &Reading, old: &mut Old) -> Result<(), Fault> {
    let mut once = Once::default();
    for row in table.rows() {
        let key = row.need("Id")?;
        once.add(&row, "Id", key)?;
        old.at(format!("job {key}"), &row);
        let charge = row.figure("Charge")?.unwrap_or_default();
        let stage = row.text("Stage");
        let is_charged = stage.is_empty() || stage.eq_ignore_ascii_case("Charge");
        if (!is_charged && charge.is_zero()) || charge.is_negative() {
            if charge.is_negative() {
                let reason = "usage records with a charge below zero";
                old.skipped.add(reason, format!("record {key}: {charge}"));
            }
            continue;
        }
        let (start, end) = (
            time(&row, "StartTime", reading)?,
            time(&row, "EndTime", reading)?,
        );
        let seconds = row.whole("Duration")?.unwrap_or(0).max(0);
        let length = seconds.saturating_mul(1_000_000);
        let changed = match time(&row, "ModificationTime", reading)? {
            Some(at) => Some(at),
            None => time(&row, "CreationTime", reading)?,
        };
        let end_of = |start: i64| start.saturating_add(length);
        let last = end.or(start.map(end_of)).or(changed);
        let Some(last) = last else {
            return Err(row.fault("EndTime", "is empty, and the record has no other time").hint(
                "list the usage records with the columns StartTime, EndTime, CreationTime and ModificationTime",
            ));
        };
        let start_of = start.filter(|start| *start <= last);
        old.jobs.push(Job {
            key: key.to_owned(),
            id: row.text("Instance").to_owned(),
            project: row.text("Account").to_owned(),
            user: row.text("User").to_owned(),
            machine: row.text("Machine").to_owned(),
            class: row.text("Class").to_owned(),
            qos: row.text("QualityOfService").to_owned(),
            charge,
            start: start_of.unwrap_or_else(|| last.saturating_sub(length)),
            end: last,
            is_estimated: start.zip(end).is_none(),
            processors: row.whole("Processors")?.filter(|count| *count > 0),
            nodes: row.whole("Nodes")?.filter(|count| *count > 0),
            memory_mb: row.whole("Memory")?.filter(|count| *count > 0),
        });
    }
    Ok(())
}
