//! The plain set: CSV files with the columns of docs/reference/migrate.md. Only `accounts.csv` is needed.

mod money;
mod objects;

use bank_api::text::Moment;

use crate::{
    Reading,
    fault::Fault,
    folder::Folder,
    old::Old,
    table::{Row, Table},
};

/// The files, with the columns that each must have and those that it may have.
const FILES: [(&str, &[&str], &[&str]); 10] = [
    (
        "users.csv",
        &["name"],
        &[
            "active",
            "common_name",
            "email",
            "phone",
            "default_project",
            "organization",
            "description",
        ],
    ),
    (
        "machines.csv",
        &["name"],
        &["active", "architecture", "operating_system", "description"],
    ),
    (
        "projects.csv",
        &["name"],
        &[
            "active",
            "parent",
            "machines",
            "organization",
            "description",
        ],
    ),
    ("members.csv", &["project", "user"], &["active", "role"]),
    (
        "accounts.csv",
        &["name"],
        &[
            "id",
            "projects",
            "users",
            "machines",
            "parent",
            "share",
            "overflow",
            "priority",
            "description",
        ],
    ),
    (
        "allocations.csv",
        &["account", "amount"],
        &[
            "id",
            "start",
            "end",
            "deposited",
            "credit_limit",
            "description",
        ],
    ),
    (
        "liens.csv",
        &["job", "project", "machine", "amount", "end"],
        &[
            "id",
            "user",
            "account",
            "start",
            "processors",
            "nodes",
            "class",
            "qos",
        ],
    ),
    (
        "rates.csv",
        &["kind", "name", "rate"],
        &["instance", "per", "machine", "description"],
    ),
    (
        "usage.csv",
        &["job", "end", "charge"],
        &[
            "id",
            "project",
            "user",
            "machine",
            "class",
            "qos",
            "start",
            "processors",
            "nodes",
            "memory_mb",
        ],
    ),
    (
        "balances.csv",
        &["account", "amount"],
        &["held", "credit_limit"],
    ),
];

/// Reads a folder.
pub(crate) fn folder(folder: &Folder, reading: &Reading) -> Result<Old, Fault> {
    let mut old = Old::default();
    let mut tables = Vec::new();
    for (name, needed, possible) in FILES {
        let Some(bytes) = folder.find(name)? else {
            if name == "accounts.csv" {
                return Err(folder.missing(name));
            }
            continue;
        };
        let table = Table::read(name, &bytes)?;
        table.require(needed)?;
        let others = table.others(&[needed, possible].concat());
        if let Some(other) = others.first() {
            let known = [needed, possible].concat().join(", ");
            return Err(Fault::new(
                format!("{name}: unknown column {other:?}"),
                format!("remove the column; {name} may have: {known}"),
            ));
        }
        tables.push((name, table));
    }
    old.has_rates = tables.iter().any(|(name, _)| *name == "rates.csv");
    for (name, table) in &tables {
        match *name {
            "users.csv" => objects::users(table, &mut old)?,
            "machines.csv" => objects::machines(table, &mut old)?,
            "projects.csv" => objects::projects(table, &mut old)?,
            "members.csv" => objects::members(table, &mut old)?,
            "accounts.csv" => objects::accounts(table, &mut old)?,
            "allocations.csv" => money::allocations(table, reading, &mut old)?,
            "liens.csv" if reading.reservations => money::liens(table, reading, &mut old)?,
            "rates.csv" => objects::rates(table, &mut old)?,
            "usage.csv" if reading.history => money::usage(table, reading, &mut old)?,
            "balances.csv" => money::balances(table, &mut old)?,
            _ => {}
        }
    }
    Ok(old)
}

/// A time; none for `infinity`, `-infinity` and an empty cell.
pub(crate) fn time(row: &Row<'_>, column: &str, reading: &Reading) -> Result<Option<i64>, Fault> {
    let text = row.text(column);
    if text.is_empty() || text.eq_ignore_ascii_case("infinity") || text == "-infinity" {
        return Ok(None);
    }
    match reading.zone.read(text, reading.now_us) {
        Some(Moment::At(at)) => Ok(Some(at)),
        Some(Moment::Past | Moment::Future) => Ok(None),
        None => Err(row
            .fault(column, &format!("{text:?} is not a time"))
            .hint("write 2026-10-01, '2026-10-01 12:00:00', 2026-10-01T12:00:00Z or infinity")),
    }
}

/// The names of a cell: `amy, bob`.
pub(crate) fn names(text: &str) -> Vec<&str> {
    let names = text.split(',').map(str::trim);
    names.filter(|name| !name.is_empty()).collect()
}
