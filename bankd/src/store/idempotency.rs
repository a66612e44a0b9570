//! Answers kept beside their commands, in the same transaction (http-auth.md 3).

use super::sqlite::SqliteStore;
use super::{Error, seal};
use crate::answer::{Answer, Media};
use bank_core::time::{Seconds, Timestamp};
use rusqlite::types::ToSql;
use rusqlite::{Connection, params, params_from_iter};

/// How long an answer is kept that is no charge's (decision 22).
const KEPT: Seconds = Seconds(7 * 86_400);

/// Expired rows that one go removes.
pub const PRUNE_MAX: usize = 500;

/// What a key was used for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnswer {
    /// The answer.
    pub answer: Answer,
    /// SHA-256 over method, path, query and body.
    pub fingerprint: Vec<u8>,
    /// The nonce of the request that made the row; empty on the socket.
    pub nonce: String,
}

/// What is known of a key.
#[derive(Clone, Debug)]
pub enum Known {
    /// Nothing: the command is new.
    New,
    /// The same request was answered.
    Answered(Answer),
    /// Another request used the key.
    Reused,
    /// The same signed bytes again (http-auth.md 2).
    Replay,
}

/// Looks a key up for a request.
pub fn known(
    connection: &Connection,
    client: &str,
    key: &str,
    fingerprint: &[u8],
    nonce: &str,
) -> Result<Known, Error> {
    let Some(stored) = stored_answer(connection, client, key)? else {
        return Ok(Known::New);
    };
    if !nonce.is_empty() && stored.nonce == nonce {
        return Ok(Known::Replay);
    }
    if stored.fingerprint != fingerprint {
        return Ok(Known::Reused);
    }
    Ok(Known::Answered(stored.answer))
}

fn stored_answer(
    connection: &Connection,
    client: &str,
    key: &str,
) -> Result<Option<StoredAnswer>, Error> {
    let sql = "SELECT fingerprint, nonce, status, media, body FROM idempotency
               WHERE client = ?1 AND key = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((client, key))?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let media: String = row.get(3)?;
    Ok(Some(StoredAnswer {
        fingerprint: row.get(0)?,
        nonce: row.get(1)?,
        answer: Answer {
            status: row.get(2)?,
            media: Media::parse(&media),
            body: row.get(4)?,
        },
    }))
}

impl SqliteStore {
    /// Looks a key up for a request.
    pub fn known(
        &self,
        client: &str,
        key: &str,
        fingerprint: &[u8],
        nonce: &str,
    ) -> Result<Known, Error> {
        known(&self.connection, client, key, fingerprint, nonce)
    }

    /// Keeps an answer with its key: a charge's for ever.
    pub fn keep_answer(
        &mut self,
        client: &str,
        key: &str,
        stored: &StoredAnswer,
        for_ever: bool,
        now: Timestamp,
    ) -> Result<(), Error> {
        let until = (!for_ever).then(|| now.plus(KEPT).0);
        let answer = &stored.answer;
        let row = params![
            client,
            key,
            stored.fingerprint,
            stored.nonce,
            answer.status,
            answer.media.content_type(),
            answer.body,
            until,
        ];
        let seal = seal::of_values(row)?;
        self.connection
            .prepare_cached(
                "INSERT INTO idempotency (client, key, fingerprint, nonce, status, media, body,
                     until_at, seal) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params_from_iter(
                row.iter().copied().chain([&seal as &dyn ToSql]),
            ))?;
        self.extent.keep(seal);
        Ok(())
    }

    /// Keeps the key of a request of several objects beside those of its objects, without an answer
    /// of its own.
    pub fn keep_whole(
        &mut self,
        client: &str,
        whole: &str,
        part: &StoredAnswer,
        for_ever: bool,
        now: Timestamp,
    ) -> Result<(), Error> {
        if stored_answer(&self.connection, client, whole)?.is_some() {
            return Ok(());
        }
        let empty = Answer {
            status: part.answer.status,
            media: part.answer.media,
            body: Vec::new(),
        };
        let stored = StoredAnswer {
            answer: empty,
            fingerprint: part.fingerprint.clone(),
            nonce: String::new(),
        };
        self.keep_answer(client, whole, &stored, for_ever, now)
    }

    /// Removes some of the answers whose time is over; says how many.
    pub fn prune_answers(&mut self, now: Timestamp) -> Result<usize, Error> {
        let sql = "DELETE FROM idempotency WHERE (client, key) IN (
                       SELECT client, key FROM idempotency
                       WHERE until_at IS NOT NULL AND until_at <= ?1 LIMIT ?2) RETURNING seal";
        let mut statement = self.connection.prepare_cached(sql)?;
        let most = i64::try_from(PRUNE_MAX).unwrap_or(i64::MAX);
        let mut rows = statement.query((now.0, most))?;
        let mut gone = 0_usize;
        while let Some(row) = rows.next()? {
            self.extent.forget(row.get(0)?);
            gone = gone.saturating_add(1);
        }
        Ok(gone)
    }
}
