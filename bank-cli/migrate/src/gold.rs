//! Gold: its tables, from CSV files or from its database.

mod history;
mod money;
mod objects;

use std::collections::BTreeMap;

use crate::{
    Reading, database,
    fault::Fault,
    folder::Folder,
    old::Old,
    table::{Row, Table},
};

/// Gold's end of times without end, in seconds.
const INFINITY: i64 = 2_147_483_647;

/// Who needs a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum For {
    Always,
    Reservations,
    History,
    /// It is read if it is there.
    Optional,
}

/// The tables, with the columns that each must have.
const TABLES: [(&str, For, &[&str]); 17] = [
    ("g_user", For::Always, &["g_name"]),
    ("g_machine", For::Always, &["g_name"]),
    ("g_project", For::Always, &["g_name"]),
    ("g_project_user", For::Always, &["g_project", "g_name"]),
    ("g_project_machine", For::Always, &["g_project", "g_name"]),
    ("g_account", For::Always, &["g_id"]),
    ("g_account_project", For::Always, &["g_account", "g_name"]),
    ("g_account_user", For::Always, &["g_account", "g_name"]),
    ("g_account_machine", For::Always, &["g_account", "g_name"]),
    ("g_account_account", For::Always, &["g_account", "g_id"]),
    (
        "g_allocation",
        For::Always,
        &[
            "g_id",
            "g_account",
            "g_amount",
            "g_start_time",
            "g_end_time",
        ],
    ),
    (
        "g_charge_rate",
        For::Always,
        &["g_type", "g_name", "g_rate"],
    ),
    (
        "g_reservation",
        For::Reservations,
        &["g_id", "g_name", "g_end_time"],
    ),
    (
        "g_reservation_allocation",
        For::Reservations,
        &["g_reservation", "g_id", "g_amount"],
    ),
    ("g_job", For::History, &["g_id", "g_job_id", "g_stage"]),
    ("g_quotation", For::Optional, &["g_id"]),
    ("g_transaction", For::Optional, &["g_object", "g_action"]),
];

/// Gold's tables.
#[derive(Debug, Default)]
struct Tables(BTreeMap<&'static str, Table>);

impl Tables {
    /// The rows of a table that are not deleted.
    fn rows(&self, name: &str) -> Result<Vec<Row<'_>>, Fault> {
        let Some(table) = self.0.get(name) else {
            return Ok(Vec::new());
        };
        let mut rows = Vec::new();
        for row in table.rows() {
            if !row.flag("g_deleted", false)? {
                rows.push(row);
            }
        }
        Ok(rows)
    }

    /// The same without Gold's own rows, such as ANY.
    fn own(&self, name: &str) -> Result<Vec<Row<'_>>, Fault> {
        let mut rows = Vec::new();
        for row in self.rows(name)? {
            if !row.flag("g_special", false)? {
                rows.push(row);
            }
        }
        Ok(rows)
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

/// Reads the tables of a folder: `g_account.csv` and the others.
pub(crate) fn folder(folder: &Folder, reading: &Reading) -> Result<Old, Fault> {
    let mut tables = Tables::default();
    for (name, whose, columns) in TABLES {
        let file = format!("{name}.csv");
        let Some(bytes) = folder.find(&file)? else {
            if is_needed(whose, reading) {
                return Err(folder.missing(&file));
            }
            continue;
        };
        let table = Table::read(&file, &bytes)?;
        table.require(columns)?;
        tables.0.insert(name, table);
    }
    old(&tables, reading)
}

/// Reads the tables of a database through its own client program.
pub(crate) fn database(database: &database::Database, reading: &Reading) -> Result<Old, Fault> {
    let is_wanted = |name: &str, whose| {
        let has_use = name != "g_transaction" || reading.history;
        is_needed(whose, reading) || (whose == For::Optional && has_use)
    };
    let wanted = TABLES
        .iter()
        .filter(|(name, whose, _)| is_wanted(name, *whose));
    let names: Vec<&'static str> = wanted.map(|(name, ..)| *name).collect();
    let mut tables = Tables(database::read(database, &names)?);
    for (name, _, columns) in TABLES {
        if let Some(table) = tables.0.get_mut(name) {
            table.require(columns)?;
        }
    }
    old(&tables, reading)
}

fn is_needed(whose: For, reading: &Reading) -> bool {
    match whose {
        For::Always => true,
        // A reservation has the figures of its job in `g_job`.
        For::Reservations => reading.reservations,
        For::History => reading.history || reading.reservations,
        For::Optional => false,
    }
}

fn old(tables: &Tables, reading: &Reading) -> Result<Old, Fault> {
    let mut old = Old {
        has_rates: true,
        ..Old::default()
    };
    objects::read(tables, &mut old)?;
    money::read(tables, reading, &mut old)?;
    if reading.history {
        history::read(tables, &mut old)?;
    }
    for table in tables.0.values() {
        for row in table.rows() {
            let times = ["g_creation_time", "g_modification_time"];
            for column in times {
                let at = time(&row, column)?;
                old.changed = old.changed.max(at);
            }
        }
        old.notes.extend(table.note_of_latin());
    }
    Ok(old)
}

/// A time in µs; none for the ends that Gold writes for infinity.
fn time(row: &Row<'_>, column: &str) -> Result<Option<i64>, Fault> {
    let seconds = row.whole(column)?;
    let Some(seconds) = seconds.filter(|at| *at != 0 && *at != INFINITY) else {
        return Ok(None);
    };
    let us = seconds.checked_mul(1_000_000);
    let bad = || {
        row.fault(
            column,
            &format!("{seconds} is not a time in seconds since 1970"),
        )
    };
    us.filter(|_| seconds > 0).ok_or_else(bad).map(Some)
}
