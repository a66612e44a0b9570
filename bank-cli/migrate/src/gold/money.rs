//! Allocations, reservations and quotations.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Tables,
    objects::{no_account, number},
    time,
};
use crate::{
    Reading,
    fault::Fault,
    figure::Figure,
    old::{Allocation, Lien, Old, Part},
    table::{Once, Row},
};

pub(super) fn read(tables: &Tables, reading: &Reading, old: &mut Old) -> Result<(), Fault> {
    allocations(tables, old)?;
    if reading.reservations {
        reservations(tables, old)?;
    }
    for row in tables.rows("g_quotation")? {
        let (id, amount) = (row.text("g_id"), row.text("g_amount"));
        let (user, project) = (row.text("g_user"), row.text("g_project"));
        let what = format!("quotation {id} of {amount} for {user} of {project}");
        old.skipped.add("quotations: ask for a new quote", what);
    }
    Ok(())
}

fn allocations(tables: &Tables, old: &mut Old) -> Result<(), Fault> {
    let accounts: BTreeSet<String> = old.accounts.iter().map(|own| own.key.clone()).collect();
    let mut once = Once::default();
    let mut found: BTreeMap<i64, Allocation> = BTreeMap::new();
    for row in tables.rows("g_allocation")? {
        let key = number(&row, "g_id")?;
        once.add(&row, "g_id", &key.to_string())?;
        old.at(format!("allocation {key}"), &row);
        let account = number(&row, "g_account")?.to_string();
        if !accounts.contains(&account) {
            return Err(no_account(&row, "g_account", &account));
        }
        let allocation = allocation(&row, key, account)?;
        let (amount, account) = (allocation.amount, &allocation.account);
        let what = format!("allocation {key} of account {account}: {amount}");
        let kind = row.text("g_call_type");
        if !(kind.is_empty() || kind.eq_ignore_ascii_case("Normal")) {
            old.skipped.add(
                "allocations of call types Back and Forward: money of peers",
                format!("{what} ({kind})"),
            );
        } else if is_empty_window(&allocation) {
            let reason = "allocations that end before they start: they were never active";
            old.skipped.add(reason, what);
        } else {
            found.insert(key, allocation);
        }
    }
    old.allocations = found.into_values().collect();
    Ok(())
}

fn is_empty_window(allocation: &Allocation) -> bool {
    let window = allocation.start.zip(allocation.end);
    window.is_some_and(|(start, end)| end <= start)
}

fn allocation(row: &Row<'_>, key: i64, account: String) -> Result<Allocation, Fault> {
    let amount = row.figure("g_amount")?;
    let credit_limit = row.figure("g_credit_limit")?.unwrap_or_default();
    if credit_limit.is_negative() {
        return Err(row.fault("g_credit_limit", "is below zero"));
    }
    Ok(Allocation {
        key: key.to_string(),
        account,
        start: time(row, "g_start_time")?,
        end: time(row, "g_end_time")?,
        amount: amount.ok_or_else(|| row.fault("g_amount", "is empty"))?,
        deposited: row.figure("g_deposited")?,
        credit_limit,
        note: row.text("g_description").to_owned(),
        place: row.place(),
    })
}

fn reservations(tables: &Tables, old: &mut Old) -> Result<(), Fault> {
    let mut parts: BTreeMap<i64, Vec<Part>> = BTreeMap::new();
    let owners: BTreeMap<String, String> = old
        .allocations
        .iter()
        .map(|own| (own.key.clone(), own.account.clone()))
        .collect();
    for row in tables.rows("g_reservation_allocation")? {
        let allocation = number(&row, "g_id")?.to_string();
        let owner = owners.get(&allocation).cloned();
        let bad = || row.fault("g_amount", "is empty");
        let amount = row.figure("g_amount")?.ok_or_else(bad)?;
        if amount.is_negative() {
            return Err(row.fault("g_amount", "is below zero"));
        }
        let Some(account) = owner else {
            let reason = "parts of reservations on allocations that are not moved";
            let reservation = row.text("g_reservation");
            let what = format!("{amount} of reservation {reservation} on allocation {allocation}");
            old.skipped.add(reason, what);
            continue;
        };
        let own = parts.entry(number(&row, "g_reservation")?).or_default();
        own.push(Part {
            account,
            allocation: Some(allocation),
            amount,
        });
    }
    let mut jobs: BTreeMap<&str, Row<'_>> = BTreeMap::new();
    for row in tables.rows("g_job")? {
        jobs.insert(row.text("g_id"), row);
    }
    let mut once = Once::default();
    for row in tables.rows("g_reservation")? {
        let key = number(&row, "g_id")?;
        once.add(&row, "g_id", &key.to_string())?;
        old.at(format!("lien {key}"), &row);
        let own = parts.remove(&key).unwrap_or_default();
        let lien = lien(&row, jobs.get(row.text("g_job")), own)?;
        old.liens.push(lien);
    }
    Ok(())
}

fn lien(row: &Row<'_>, job: Option<&Row<'_>>, parts: Vec<Part>) -> Result<Lien, Fault> {
    let whole = |column| job.map_or(Ok(None), |job| job.whole(column));
    let text = |column| job.map_or("", |job| job.text(column));
    let named = |column| match row.text(column) {
        "" => text(column).to_owned(),
        name => name.to_owned(),
    };
    let name = row.text("g_name");
    Ok(Lien {
        key: row.text("g_id").to_owned(),
        job: if name.is_empty() {
            text("g_job_id")
        } else {
            name
        }
        .to_owned(),
        machine: named("g_machine"),
        project: named("g_project"),
        user: named("g_user"),
        start: time(row, "g_start_time")?,
        end: time(row, "g_end_time")?,
        parts: parts
            .into_iter()
            .filter(|part| part.amount != Figure::ZERO)
            .collect(),
        processors: whole("g_processors")?.filter(|count| *count > 0),
        nodes: whole("g_nodes")?.filter(|count| *count > 0),
        class: text("g_queue").to_owned(),
        qos: text("g_quality_of_service").to_owned(),
    })
}
