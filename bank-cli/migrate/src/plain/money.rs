//! Allocations, liens, finished uses and balances of the plain set.

use super::time;
use crate::{
    Reading,
    fault::Fault,
    figure::Figure,
    old::{Allocation, Column, Job, Lien, Listed, Of, Old, Part},
    table::{Once, Row, Table},
};

/// The id of a row: its own, else its number in the file.
fn id(row: &Row<'_>, number: usize, once: &mut Once) -> Result<String, Fault> {
    let own = row.text("id");
    let id = if own.is_empty() {
        number.to_string()
    } else {
        own.to_owned()
    };
    once.add(row, "id", &id)?;
    Ok(id)
}

fn account<'a>(row: &Row<'a>, old: &Old) -> Result<&'a str, Fault> {
    let name = row.need("account")?;
    let is_known = old.accounts.iter().any(|own| own.name == name);
    if is_known {
        return Ok(name);
    }
    let fault = row.fault("account", &format!("{name:?} is not in accounts.csv"));
    Err(fault.hint("add the account to accounts.csv, or correct the name"))
}

fn positive(row: &Row<'_>, column: &str) -> Result<Option<Figure>, Fault> {
    match row.figure(column)? {
        Some(figure) if figure.is_negative() => Err(row.fault(column, "is below zero")),
        figure => Ok(figure),
    }
}

pub(super) fn allocations(table: &Table, reading: &Reading, old: &mut Old) -> Result<(), Fault> {
    let mut once = Once::default();
    for (number, row) in (1..).zip(table.rows()) {
        let key = id(&row, number, &mut once)?;
        old.at(format!("allocation {key}"), &row);
        let account = account(&row, old)?.to_owned();
        let bad = || row.fault("amount", "is empty");
        let (start, end) = (time(&row, "start", reading)?, time(&row, "end", reading)?);
        if start.zip(end).is_some_and(|(start, end)| end <= start) {
            return Err(row.fault("end", "is not after start"));
        }
        old.allocations.push(Allocation {
            key,
            account,
            start,
            end,
            amount: row.figure("amount")?.ok_or_else(bad)?,
            deposited: positive(&row, "deposited")?,
            credit_limit: positive(&row, "credit_limit")?.unwrap_or_default(),
            note: row.text("description").to_owned(),
            place: row.place(),
        });
    }
    Ok(())
}

pub(super) fn liens(table: &Table, reading: &Reading, old: &mut Old) -> Result<(), Fault> {
    let mut once = Once::default();
    for (number, row) in (1..).zip(table.rows()) {
        let key = id(&row, number, &mut once)?;
        old.at(format!("lien {key}"), &row);
        let bad = || row.fault("amount", "is empty");
        let amount = positive(&row, "amount")?.ok_or_else(bad)?;
        let account = match row.text("account") {
            "" => only_account(&row, old)?,
            _ => account(&row, old)?.to_owned(),
        };
        row.need("end")?;
        old.liens.push(Lien {
            key,
            job: row.need("job")?.to_owned(),
            machine: row.need("machine")?.to_owned(),
            project: row.need("project")?.to_owned(),
            user: row.text("user").to_owned(),
            start: time(&row, "start", reading)?,
            end: time(&row, "end", reading)?,
            parts: vec![Part {
                account,
                allocation: None,
                amount,
            }],
            processors: row.whole("processors")?,
            nodes: row.whole("nodes")?,
            class: row.text("class").to_owned(),
            qos: row.text("qos").to_owned(),
        });
    }
    Ok(())
}

/// The only account whose project list names the project.
fn only_account(row: &Row<'_>, old: &Old) -> Result<String, Fault> {
    let project = row.need("project")?;
    let is_of = |own: &&crate::old::Account| {
        let list = own.lists.get("project").into_iter().flatten();
        list.into_iter()
            .any(|entry| entry.allow && entry.value == project)
    };
    let mut own = old.accounts.iter().filter(is_of);
    match (own.next(), own.next()) {
        (Some(only), None) => Ok(only.key.clone()),
        _ => Err(row
            .fault(
                "account",
                &format!("is empty, and project {project:?} has not exactly one account"),
            )
            .hint("write the account that holds the lien in the column account")),
    }
}

pub(super) fn usage(table: &Table, reading: &Reading, old: &mut Old) -> Result<(), Fault> {
    let mut once = Once::default();
    for (number, row) in (1..).zip(table.rows()) {
        let key = id(&row, number, &mut once)?;
        old.at(format!("job {key}"), &row);
        let missing = |column: &'static str| row.fault(column, "is empty");
        let end = time(&row, "end", reading)?.ok_or_else(|| missing("end"))?;
        let start = time(&row, "start", reading)?;
        if start.is_some_and(|start| start > end) {
            return Err(row.fault("end", "is before start"));
        }
        old.jobs.push(Job {
            key,
            id: row.need("job")?.to_owned(),
            project: row.text("project").to_owned(),
            user: row.text("user").to_owned(),
            machine: row.text("machine").to_owned(),
            class: row.text("class").to_owned(),
            qos: row.text("qos").to_owned(),
            charge: positive(&row, "charge")?.ok_or_else(|| missing("charge"))?,
            is_estimated: start.is_none(),
            start: start.unwrap_or(end),
            end,
            processors: row.whole("processors")?,
            nodes: row.whole("nodes")?,
            memory_mb: row.whole("memory_mb")?,
        });
    }
    Ok(())
}

pub(super) fn balances(table: &Table, old: &mut Old) -> Result<(), Fault> {
    let columns = [
        ("amount", Column::Amount),
        ("held", Column::Reserved),
        ("credit_limit", Column::CreditLimit),
    ];
    for row in table.rows() {
        let name = account(&row, old)?.to_owned();
        for (column, kind) in columns {
            if row.figure(column)?.is_none() {
                continue;
            }
            old.listed.push(Listed {
                key: name.clone(),
                name: String::new(),
                of: Of::Account,
                column: column.to_owned(),
                kind,
                text: row.text(column).to_owned(),
                is_exact: true,
                place: row.place(),
            });
        }
    }
    Ok(())
}
