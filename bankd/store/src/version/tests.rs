use super::*;
use crate::migrate;

fn bank() -> Connection {
    let mut bank = Connection::open_in_memory().unwrap();
    migrate::migrate(&mut bank).unwrap();
    bank
}

/// A column that is added to one of the tables, and left out of its versions, would have no past.
#[test]
fn every_column_of_the_reference_data_is_in_its_versions() {
    let bank = bank();
    for kind in tables() {
        let sql = format!("SELECT name FROM pragma_table_info('{}')", kind.table);
        let mut statement = bank.prepare(&sql).unwrap();
        let names = statement.query_map([], |r| r.get::<_, String>(0)).unwrap();
        let mut names: Vec<String> = names.map(Result::unwrap).collect();
        let mut own: Vec<&str> = kind.columns.to_vec();
        names.sort_unstable();
        own.sort_unstable();
        assert_eq!(names, own, "columns of {}", kind.table);
    }
}

#[test]
fn a_row_that_is_changed_without_the_journal_is_found() {
    let mut bank = bank();
    bank.execute_batch(
        "INSERT INTO project VALUES (1, 'chem', NULL, 1, 0, NULL, 'a \"b\"', '');
         INSERT INTO user (id, name, active, deleted, common_name, email, default_project)
             VALUES (1, 'amy', 1, 0, 'Amy Ångström', '', NULL);
         INSERT INTO member VALUES (1, 1, 1, 'member');
         INSERT INTO user_alias VALUES ('x@y', 1);",
    )
    .unwrap();
    seed(&mut bank).unwrap();
    assert_eq!(check(&bank).unwrap(), Vec::<String>::new());
    for (change, back, finding) in [
        (
            "UPDATE project SET active = 0",
            "UPDATE project SET active = 1",
            "project 1: it differs from the journal",
        ),
        (
            "DELETE FROM member",
            "INSERT INTO member VALUES (1, 1, 1, 'member')",
            "member 1/1: it differs from the journal",
        ),
        (
            "INSERT INTO member VALUES (1, 2, 1, 'member')",
            "DELETE FROM member WHERE user = 2",
            "member 1/2: it differs from the journal",
        ),
        (
            "UPDATE user_alias SET alias = 'x@z'",
            "UPDATE user_alias SET alias = 'x@y'",
            "user 1: it differs from the journal",
        ),
        (
            "DROP TRIGGER shape_no_update; INSERT INTO shape VALUES (1, 0, NULL, NULL, 0)",
            "DROP TRIGGER shape_no_delete; DELETE FROM shape",
            "the state before the first transaction was changed",
        ),
    ] {
        bank.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        bank.execute_batch(change).unwrap();
        assert_eq!(check(&bank).unwrap(), [finding], "{change}");
        bank.execute_batch(back).unwrap();
        assert_eq!(check(&bank).unwrap(), Vec::<String>::new(), "{back}");
    }
}
