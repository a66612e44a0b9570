//! Single bytes of the file of a bank.

use super::super::wild::Dice;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

/// The pages of some tables, from 1.
pub(super) fn pages(bank: &Connection, tables: &[&str]) -> Vec<u64> {
    let mut statement = bank
        .prepare("SELECT pageno FROM dbstat WHERE name = ?1 AND pagetype IN ('leaf', 'overflow')")
        .unwrap();
    let mut found = Vec::new();
    for table in tables {
        let rows = statement
            .query_map([table], |r| r.get::<_, i64>(0))
            .unwrap();
        found.extend(rows.map(|page| u64::try_from(page.unwrap()).unwrap()));
    }
    assert!(found.len() > 20, "{found:?}");
    found
}

/// Every row of every table; none where they cannot be read.
pub(super) fn contents(path: &Path) -> Option<Vec<(String, Vec<Vec<Value>>)>> {
    let bank = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    let mut statement = bank.prepare(sql).ok()?;
    let names = statement.query_map([], |r| r.get::<_, String>(0)).ok()?;
    let mut all = Vec::new();
    for name in names {
        let name = name.ok()?;
        let mut statement = bank.prepare(&format!("SELECT * FROM {name}")).ok()?;
        let width = statement.column_count();
        let rows = statement.query_map([], |r| (0..width).map(|n| r.get(n)).collect());
        let rows = rows.ok()?.collect::<Result<Vec<Vec<Value>>, _>>().ok()?;
        all.push((name, rows));
    }
    Some(all)
}

/// Changes one bit of one byte of a copy; says which.
pub(super) fn one(bank: &Path, copy: &Path, pages: &[u64], dice: &mut Dice) -> String {
    let page = pages[usize::try_from(dice.below(pages.len().try_into().unwrap())).unwrap()];
    let at = (page - 1) * 4096 + dice.below(4096);
    let mask = 1_u8 << dice.below(8);
    let mut bytes = std::fs::read(bank).unwrap();
    bytes[usize::try_from(at).unwrap()] ^= mask;
    std::fs::write(copy, bytes).unwrap();
    format!("byte {at} of the file, page {page}, mask {mask:#x}")
}
