//! Other names of users: in and out.

use super::Error;
use bank_core::model::User;
use rusqlite::Connection;
use std::collections::HashMap;

/// The other names of all users, by the users' numbers, in order.
pub(super) fn aliases(connection: &Connection) -> Result<HashMap<i64, Vec<String>>, Error> {
    let mut statement = connection.prepare("SELECT user, alias FROM user_alias ORDER BY alias")?;
    let mut rows = statement.query([])?;
    let mut found: HashMap<i64, Vec<String>> = HashMap::new();
    while let Some(row) = rows.next()? {
        found.entry(row.get(0)?).or_default().push(row.get(1)?);
    }
    Ok(found)
}

/// Writes the other names of a user, all of them anew.
pub(super) fn write_aliases(connection: &Connection, user: &User) -> Result<(), Error> {
    connection
        .prepare_cached("DELETE FROM user_alias WHERE user = ?1")?
        .execute([user.id.0])?;
    for alias in &user.aliases {
        connection
            .prepare_cached("INSERT INTO user_alias (alias, user) VALUES (?1, ?2)")?
            .execute((alias, user.id.0))?;
    }
    Ok(())
}
