//! The port over `PostgreSQL`.

use std::time::Duration;

use tokio_postgres::types::Type;

use super::fault::Kind;
use super::{ANSWER, PostgresLog, entry, lease, limit, node, send, tables};
use crate::log::{self, Appended, Entry, KeySecret, Lease, Log, LogError, NodeRow};

impl Log for PostgresLog {
    fn append(&mut self, entry: &Entry) -> Result<Appended, LogError> {
        log::check(entry)?;
        let limit = limit(entry.body.len());
        let (count, warning) = self.call(true, Kind::Write, limit, async |session, bank| {
            send(session, bank, entry).await
        })?;
        // The server stopped waiting for its standby: the row is visible and may be lost at a failover.
        if let Some(warning) = warning {
            return Err(LogError::Unknown(format!(
                "the log at {}: entry {} may not be durable: {warning}",
                self.server, entry.position
            )));
        }
        if count == 1 {
            return Ok(Appended::Done);
        }
        self.not_appended(entry.position)
    }

    fn find(&mut self, position: i64) -> Result<Option<Entry>, LogError> {
        let limit = limit(log::BODY_MAX);
        let rows = self.rows(Kind::Read, limit, tables::FIND, &[(&position, Type::INT8)])?;
        Ok(self.read_rows(&rows, entry)?.pop())
    }

    fn read(&mut self, from: i64, bytes: usize) -> Result<Vec<Entry>, LogError> {
        let limit = limit(bytes.saturating_add(log::BODY_MAX));
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        let values: [(&(dyn tokio_postgres::types::ToSql + Sync), Type); 2] =
            [(&from, Type::INT8), (&bytes, Type::INT8)];
        let rows = self.rows(Kind::Read, limit, tables::READ, &values)?;
        let entries = self.read_rows(&rows, entry)?;
        match entries.first() {
            Some(first) if first.position != from => Err(log::trimmed(from, first.position)),
            _ => Ok(entries),
        }
    }

    fn last(&mut self) -> Result<i64, LogError> {
        self.number(tables::LAST)
    }

    fn first(&mut self) -> Result<i64, LogError> {
        self.number(tables::FIRST)
    }

    fn lease(&mut self) -> Result<Option<Lease>, LogError> {
        let rows = self.rows(Kind::Read, ANSWER, tables::LEASE, &[])?;
        Ok(self.read_rows(&rows, lease)?.pop())
    }

    fn take(
        &mut self,
        node: &str,
        address: &str,
        ttl: Duration,
    ) -> Result<Option<Lease>, LogError> {
        if node.is_empty() {
            return Err(LogError::Wrong("the name of the node is empty".to_owned()));
        }
        let ttl = i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX);
        let rows = self.rows(
            Kind::Write,
            ANSWER,
            tables::TAKE,
            &[
                (&node, Type::TEXT),
                (&address, Type::TEXT),
                (&ttl, Type::INT8),
            ],
        )?;
        Ok(self.read_rows(&rows, lease)?.pop())
    }

    fn renew(&mut self, node: &str, epoch: i64, durable: i64) -> Result<bool, LogError> {
        let count = self.change(
            tables::RENEW,
            &[
                (&node, Type::TEXT),
                (&epoch, Type::INT8),
                (&durable, Type::INT8),
            ],
        )?;
        Ok(count == 1)
    }

    fn hand_over(&mut self, node: &str, epoch: i64, to: Option<&str>) -> Result<bool, LogError> {
        let count = self.change(
            tables::HAND_OVER,
            &[(&node, Type::TEXT), (&epoch, Type::INT8), (&to, Type::TEXT)],
        )?;
        Ok(count == 1)
    }

    fn report(&mut self, row: &NodeRow) -> Result<(), LogError> {
        let count = self.change(
            tables::REPORT,
            &[
                (&row.node, Type::TEXT),
                (&row.address, Type::TEXT),
                (&row.applied, Type::INT8),
                (&row.version, Type::TEXT),
            ],
        );
        count.map(|_| ())
    }

    fn nodes(&mut self) -> Result<Vec<NodeRow>, LogError> {
        let rows = self.rows(Kind::Read, ANSWER, tables::NODES, &[])?;
        self.read_rows(&rows, node)
    }

    fn leave(&mut self, node: &str) -> Result<(), LogError> {
        let count = self.change(tables::LEAVE, &[(&node, Type::TEXT)]);
        count.map(|_| ())
    }

    fn trim(&mut self, below: i64) -> Result<u64, LogError> {
        let mut all = 0;
        loop {
            let count = self.change(tables::TRIM, &[(&below, Type::INT8)])?;
            if count == 0 {
                return Ok(all);
            }
            all += count;
        }
    }

    fn secret(&mut self, fresh: &[u8]) -> Result<Vec<u8>, LogError> {
        self.make_secrets()?;
        let mut rows = self.rows(Kind::Read, ANSWER, tables::SECRET, &[])?;
        if rows.is_empty() {
            self.change(tables::KEEP_SECRET, &[(&fresh, Type::BYTEA)])?;
            rows = self.rows(Kind::Read, ANSWER, tables::SECRET, &[])?;
        }
        let found = self.read_rows(&rows, |row| row.try_get(0))?.pop();
        found.ok_or_else(|| LogError::Away("the secret of the cluster was removed".to_owned()))
    }

    fn keys(&mut self) -> Result<Vec<KeySecret>, LogError> {
        self.make_secrets()?;
        let rows = self.rows(Kind::Read, ANSWER, tables::KEYS, &[])?;
        self.read_rows(&rows, |row| {
            Ok(KeySecret {
                id: row.try_get(0)?,
                secret: row.try_get(1)?,
            })
        })
    }

    fn keep_key(&mut self, key: &KeySecret) -> Result<(), LogError> {
        self.make_secrets()?;
        let values: [(&(dyn tokio_postgres::types::ToSql + Sync), Type); 2] =
            [(&key.id, Type::TEXT), (&key.secret, Type::BYTEA)];
        self.change(tables::KEEP_KEY, &values).map(|_| ())
    }

    fn remove_key(&mut self, id: &str) -> Result<(), LogError> {
        self.make_secrets()?;
        let count = self.change(tables::REMOVE_KEY, &[(&id, Type::TEXT)]);
        count.map(|_| ())
    }

    fn warnings(&mut self) -> Result<Vec<String>, LogError> {
        let row = self.call(true, Kind::Read, ANSWER, async |session, _| {
            session.client.query_typed_one(tables::SAFETY, &[]).await
        })?;
        let found = self.read_rows([&row], |row| {
            Ok(Safety {
                fsync: row.try_get(0)?,
                pages: row.try_get(1)?,
                commit: row.try_get(2)?,
                names: row.try_get(3)?,
                standbys: row.try_get(4)?,
            })
        })?;
        Ok(found.first().map(Safety::warnings).unwrap_or_default())
    }
}

impl PostgresLog {
    /// Makes the tables of secrets in a log of an earlier version.
    fn make_secrets(&mut self) -> Result<(), LogError> {
        if self.has_secrets {
            return Ok(());
        }
        let row = self.call(true, Kind::Read, ANSWER, async |session, _| {
            session
                .client
                .query_typed_one(tables::HAS_SECRETS, &[])
                .await
        })?;
        let found = self.read_rows([&row], |row| row.try_get::<_, bool>(0))?;
        if found != [true] {
            self.call(true, Kind::Write, ANSWER, async |session, _| {
                session.client.batch_execute(tables::CREATE_SECRETS).await
            })?;
        }
        self.has_secrets = true;
        Ok(())
    }
}

/// Settings of the server on which the durability of entries depends.
struct Safety {
    fsync: String,
    pages: String,
    commit: String,
    names: String,
    /// The number of connected standbys.
    standbys: i64,
}

impl Safety {
    fn warnings(&self) -> Vec<String> {
        let mut all = Vec::new();
        if self.fsync != "on" {
            all.push("PostgreSQL: fsync is off: answered commands can be lost when its machine loses power");
        }
        if self.pages != "on" {
            all.push(
                "PostgreSQL: full_page_writes is off: the log can be damaged when its machine loses power",
            );
        }
        let named = !self.names.trim().is_empty();
        match self.commit.as_str() {
            "off" => all.push(
                "PostgreSQL: synchronous_commit is off: answered commands are lost when it crashes; set it to on",
            ),
            "local" if named || self.standbys > 0 => all.push(
                "PostgreSQL: synchronous_commit is local: a commit does not wait for the standby, and answered commands \
                 can be lost at a failover; set it to on",
            ),
            "remote_write" if named => all.push(
                "PostgreSQL: synchronous_commit is remote_write: answered commands can be lost when the machines of the \
                 primary and of the standby fail together; set it to on",
            ),
            _ => {}
        }
        if !named && self.standbys > 0 {
            all.push(
                "PostgreSQL: synchronous_standby_names is empty: its standbys receive commits later, and answered \
                 commands can be lost at a failover",
            );
        } else if !named {
            all.push(
                "PostgreSQL: synchronous_standby_names is empty and no standby is connected: the log is lost with the \
                 machine or the disk of this server; the nodes keep what they applied",
            );
        }
        all.into_iter().map(str::to_owned).collect()
    }
}
