//! Whose the usage of each charge is, by the journal.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::truth::all;

/// The project and the user that the journal names for a usage row: those of its first entry, or of the settlement in
/// force that took this back.
pub(super) fn owners(journal: &Connection) -> BTreeMap<i64, [String; 2]> {
    let sql = "SELECT usage, project, user FROM entry WHERE usage IS NOT NULL ORDER BY id DESC";
    let read = |r: &rusqlite::Row<'_>| Ok((r.get(0)?, [r.get(1)?, r.get(2)?]));
    let mut found: BTreeMap<i64, [String; 2]> = all(journal, sql, read).into_iter().collect();
    let sql = "SELECT reverses, id FROM tx WHERE reverses IS NOT NULL";
    let reversals = all(journal, sql, |r| Ok((r.get(0)?, r.get(1)?)));
    let reversals: BTreeMap<i64, i64> = reversals.into_iter().collect();
    let in_force = |mut tx: i64| {
        let mut is = true;
        while let Some(by) = reversals.get(&tx) {
            (tx, is) = (*by, !is);
        }
        is
    };
    let sql = "SELECT e.tx, o.usage, n.project, n.user FROM entry e JOIN tx t ON t.id = e.tx
               JOIN correction c ON c.entry = e.id JOIN entry o ON o.id = c.of
               JOIN entry n ON n.tx = e.tx AND n.kind IN ('charge', 'charge_debt')
               WHERE t.op = 'settle' ORDER BY e.id";
    let read = |r: &rusqlite::Row<'_>| {
        let to: [String; 2] = [r.get(2)?, r.get(3)?];
        Ok((r.get::<_, i64>(0)?, r.get::<_, Option<i64>>(1)?, to))
    };
    for (tx, row, to) in all(journal, sql, read) {
        if let Some(row) = row.filter(|_| in_force(tx)) {
            found.insert(row, to);
        }
    }
    found
}
