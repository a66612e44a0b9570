//! Every table of the schema has its proof.

use super::*;
use std::collections::BTreeSet;

#[test]
fn every_table_has_its_proof() {
    let mut fresh = Connection::open_in_memory().unwrap();
    migrate::migrate(&mut fresh).unwrap();
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let mut statement = fresh.prepare(sql).unwrap();
    let names = statement.query_map([], |r| r.get::<_, String>(0)).unwrap();
    // A node compares its place with the log when it follows it.
    let names = names.map(Result::unwrap).filter(|name| name != "place");
    let there: BTreeSet<String> = names.collect();
    let tables = proven().flat_map(|(_, tables)| tables);
    let proven: BTreeSet<String> = tables.map(|name| (*name).to_owned()).collect();
    let (without, gone) = (there.difference(&proven), proven.difference(&there));
    assert_eq!(
        without.collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "no proof"
    );
    assert_eq!(gone.collect::<Vec<_>>(), Vec::<&String>::new(), "no table");
}
