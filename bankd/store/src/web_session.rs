//! Sessions on the web pages: beside the ledger, replaced and deleted.

use super::{Error, SqliteStore, seal};
use rusqlite::{Connection, Row, params};

/// A session of a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebSession {
    /// Its number.
    pub id: i64,
    /// SHA-256 of the text in the cookie.
    pub hash: [u8; 32],
    /// The person.
    pub name: String,
    /// Their uid, if they signed in through the socket.
    pub uid: Option<u32>,
    /// `link`, `header` or `oidc`; `signed` for an address without a session.
    pub way: String,
    /// Roles by groups of an identity provider, with spaces between.
    pub roles: String,
    /// As the browser names itself.
    pub agent: String,
    /// When it began, in seconds.
    pub created_s: i64,
    /// The last request, in seconds, to the minute.
    pub used_s: i64,
}

/// A change of the sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionChange {
    /// A person signed in.
    New(WebSession),
    /// The last requests of sessions, in seconds.
    Used(Vec<(i64, i64)>),
    /// These have ended.
    End(Vec<i64>),
}

impl SqliteStore {
    /// All sessions, by number.
    pub fn web_sessions(&self) -> Result<Vec<WebSession>, Error> {
        web_sessions(&self.connection)
    }

    /// Changes the sessions; returns the number of affected rows.
    pub fn change_session(&self, change: &SessionChange) -> Result<u64, Error> {
        let connection = &self.connection;
        let mut changed = 0;
        match change {
            SessionChange::New(session) => {
                let sql = "INSERT INTO web_session (id, hash, name, uid, way, roles, agent, created_s, used_s)
                           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
                changed = connection.execute(
                    sql,
                    params![
                        session.id,
                        session.hash,
                        session.name,
                        session.uid,
                        session.way,
                        session.roles,
                        session.agent,
                        session.created_s,
                        session.used_s
                    ],
                )?;
                seal::renew(connection, "web_session", &[&session.id])?;
            }
            SessionChange::Used(uses) => {
                for (id, used_s) in uses {
                    let sql = "UPDATE web_session SET used_s = ?2 WHERE id = ?1";
                    changed += connection.execute(sql, (id, used_s))?;
                    seal::renew(connection, "web_session", &[id])?;
                }
            }
            SessionChange::End(ids) => {
                let mut end = connection.prepare("DELETE FROM web_session WHERE id = ?1")?;
                for id in ids {
                    changed += end.execute([id])?;
                }
            }
        }
        Ok(u64::try_from(changed).unwrap_or(0))
    }
}

/// All sessions, by number.
///
/// # Errors
/// If they cannot be read.
pub fn web_sessions(connection: &Connection) -> Result<Vec<WebSession>, Error> {
    let sql = "SELECT id, hash, name, uid, way, roles, agent, created_s, used_s FROM web_session ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_map([], read)?.collect::<Result<_, _>>()?)
}

fn read(row: &Row<'_>) -> rusqlite::Result<WebSession> {
    Ok(WebSession {
        id: row.get(0)?,
        hash: row.get(1)?,
        name: row.get(2)?,
        uid: row.get(3)?,
        way: row.get(4)?,
        roles: row.get(5)?,
        agent: row.get(6)?,
        created_s: row.get(7)?,
        used_s: row.get(8)?,
    })
}
