//! Mappings and other names of users: in and out.

use super::{Error, codec};
use bank_core::ids::MappingId;
use bank_core::mapping::{Condition, Mapping, Template};
use bank_core::model::User;
use rusqlite::{Connection, Row, params};
use std::collections::HashMap;

pub(super) const MAPPINGS: &str =
    "SELECT id, priority, conditions, project, user, description, deleted FROM mapping ORDER BY id";

pub(super) fn read(r: &Row<'_>) -> Result<Mapping, Error> {
    let conditions = codec::lines(&r.get::<_, String>(2)?);
    let condition = |text: String| codec::word("mapping.conditions", &text, Condition::parse);
    let template = |text: Option<String>| {
        let read = |text: String| codec::word("mapping.project", &text, Template::parse);
        text.map(read).transpose()
    };
    Ok(Mapping {
        id: MappingId(r.get(0)?),
        priority: r.get(1)?,
        conditions: conditions
            .into_iter()
            .map(condition)
            .collect::<Result<_, _>>()?,
        project: template(r.get(3)?)?,
        user: template(r.get(4)?)?,
        description: r.get(5)?,
        deleted: r.get(6)?,
    })
}

pub(super) fn write(connection: &Connection, mapping: &Mapping) -> Result<usize, Error> {
    let texts: Vec<String> = mapping.conditions.iter().map(ToString::to_string).collect();
    Ok(connection.execute(
        "INSERT INTO mapping (id, priority, conditions, project, user, description, deleted)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (id) DO UPDATE SET priority = ?2, conditions = ?3, project = ?4, user = ?5,
             description = ?6, deleted = ?7",
        params![
            mapping.id.0,
            mapping.priority,
            codec::join(&texts),
            mapping.project.as_ref().map(Template::text),
            mapping.user.as_ref().map(Template::text),
            mapping.description,
            mapping.deleted,
        ],
    )?)
}

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
