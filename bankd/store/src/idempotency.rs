//! Answers kept beside their commands, in the same transaction (http-auth.md 3).

use super::sqlite::SqliteStore;
use super::{Error, codec, keyed, seal};
use crate::answer::{Answer, KEPT, Known, Media, PRUNE_MAX, StoredAnswer, nonce_checksum};
use bank_core::time::{Seconds, Timestamp};
use rusqlite::types::ToSql;
use rusqlite::{Connection, params, params_from_iter};
use std::borrow::Cow;

/// Bytes of a fingerprint that are stored: enough that no two requests of a key have the same ones.
const FINGERPRINT_BYTES: usize = 16;

/// Hexadecimal digits of a stored nonce.
const NONCE_DIGITS: usize = 12;

/// How long a nonce is kept that no answer keeps, on the ledger clock. Its window lasts for minutes.
const SPENT_KEPT: Seconds = Seconds(86_400);

/// How far back nonces can still be in their window, with a wide margin.
const SPENT_RECENT: Seconds = Seconds(7_200);

/// Looks a key up for a request.
pub fn known(
    connection: &Connection,
    client: &str,
    key: &str,
    fingerprint: &[u8],
    nonce: &str,
) -> Result<Known, Error> {
    if let Some(row) = keyed::row(connection, client, key)? {
        return keyed::known(row, fingerprint, nonce);
    }
    let Some(stored) = stored_answer(connection, client, key)? else {
        return Ok(Known::New);
    };
    if is_same_nonce(&stored.nonce, nonce) {
        return Ok(Known::Replay);
    }
    if !is_same(&stored.fingerprint, fingerprint) {
        return Ok(Known::Reused);
    }
    Ok(Known::Answered(stored.answer))
}

/// Whether a stored fingerprint is that of a request. Earlier versions stored all of its bytes.
fn is_same(stored: &[u8], fingerprint: &[u8]) -> bool {
    stored.len() >= FINGERPRINT_BYTES.min(fingerprint.len()) && fingerprint.starts_with(stored)
}

/// Whether a stored nonce is that of a request. Earlier versions stored all of it.
fn is_same_nonce(stored: &str, nonce: &str) -> bool {
    !nonce.is_empty() && (stored == nonce || stored == short_nonce(nonce))
}

/// A nonce as it is stored: 48 bits of its checksum, unless it is shorter. It is only compared with that of a request
/// with the same key: two nonces with the same checksum would cost the later request a 401.
fn short_nonce(nonce: &str) -> Cow<'_, str> {
    if nonce.len() <= NONCE_DIGITS {
        return Cow::Borrowed(nonce);
    }
    Cow::Owned(format!("{:012x}", nonce_checksum(nonce)))
}

/// Whether the answer to a key is kept for ever, in a row of its own.
pub(super) fn stays(connection: &Connection, client: &str, key: &str) -> Result<bool, Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM idempotency
                   WHERE client = ?1 AND key = ?2 AND until_at IS NULL)";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row((client, key), |r| r.get(0))?)
}

/// The stored body of the answer to a key.
pub(super) fn body(
    connection: &Connection,
    client: &str,
    key: &str,
) -> Result<Option<Vec<u8>>, Error> {
    if let Some(row) = keyed::row(connection, client, key)? {
        return Ok(Some(row.answer()?.body));
    }
    Ok(stored_answer(connection, client, key)?.map(|stored| stored.answer.body))
}

/// The key of the row of a nonce. No client can have it: theirs contain no `#`.
fn spent_key(signer: &str, nonce: &str) -> String {
    format!("#nonce:{signer}:{nonce}")
}

/// Whether a nonce has a row of its own, by client and signing key.
pub fn is_spent(
    connection: &Connection,
    (client, signer): (&str, &str),
    nonce: &str,
) -> Result<bool, Error> {
    let found = stored_answer(connection, client, &spent_key(signer, nonce))?;
    Ok(found.is_some())
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
    let media = codec::word("idempotency.media", codec::text(row, 3)?, Media::parse)?;
    Ok(Some(StoredAnswer {
        fingerprint: row.get(0)?,
        nonce: row.get(1)?,
        answer: Answer {
            status: row.get(2)?,
            media,
            body: row.get(4)?,
        },
    }))
}

impl SqliteStore {
    /// Looks a key up for a request.
    pub fn known(
        &mut self,
        client: &str,
        key: &str,
        fingerprint: &[u8],
        nonce: &str,
    ) -> Result<Known, Error> {
        if self.greatest.is_below(&self.connection, client, key)? {
            return Ok(Known::New);
        }
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
        if self.keep_beside_transaction(client, key, stored, for_ever)? {
            return Ok(());
        }
        let until = (!for_ever).then(|| now.plus(KEPT).0);
        self.keep_row(client, key, stored, until)
    }

    fn keep_row(
        &mut self,
        client: &str,
        key: &str,
        stored: &StoredAnswer,
        until: Option<i64>,
    ) -> Result<(), Error> {
        let answer = &stored.answer;
        let fingerprint = stored.fingerprint.get(..FINGERPRINT_BYTES);
        let row = params![
            client,
            key,
            fingerprint.unwrap_or(&stored.fingerprint),
            short_nonce(&stored.nonce),
            answer.status,
            answer.media.word(),
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
        self.greatest.keep(client, key);
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

    /// Keeps the nonce of a signed request that no stored answer keeps, with the second when it was signed.
    pub fn spend_nonce(
        &mut self,
        (client, signer): (&str, &str),
        (nonce, created_s): (&str, i64),
        now: Timestamp,
    ) -> Result<(), Error> {
        let key = spent_key(signer, nonce);
        if stored_answer(&self.connection, client, &key)?.is_some() {
            return Ok(());
        }
        let stored = StoredAnswer {
            answer: Answer {
                // The row keeps a nonce: nothing answers with it.
                status: 0,
                media: Media::Text,
                body: created_s.to_string().into_bytes(),
            },
            fingerprint: Vec::new(),
            nonce: nonce.to_owned(),
        };
        let until = Some(now.plus(SPENT_KEPT).0);
        self.keep_row(client, &key, &stored, until)
    }

    /// When the latest of the requests was signed whose nonces have rows of their own and can be in their window.
    pub fn spent_until(&self, now: Timestamp) -> Result<Option<i64>, Error> {
        let newest = now.plus(SPENT_KEPT);
        let sql = "SELECT max(CAST(CAST(body AS TEXT) AS INTEGER)) FROM idempotency
                   WHERE until_at >= ?1 AND until_at <= ?2 AND key >= '#nonce:' AND key < '#nonce;'";
        let range = (newest.minus(SPENT_RECENT).0, newest.0);
        Ok(self.connection.query_row(sql, range, |row| row.get(0))?)
    }

    /// Removes some of the expired answers. Returns how many it found or looked for, at most [`PRUNE_MAX`].
    pub fn prune_answers(&mut self, now: Timestamp) -> Result<usize, Error> {
        let looked_at = self.prune_beside_transactions(now.minus(KEPT))?;
        Ok(self.prune_rows(now)?.max(looked_at))
    }

    fn prune_rows(&mut self, now: Timestamp) -> Result<usize, Error> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bank::NewBank;
    use crate::greatest::CLIENTS_MAX;
    use bank_core::directory::Policy;

    fn stored(nonce: &str) -> StoredAnswer {
        StoredAnswer {
            answer: Answer {
                status: 200,
                media: Media::Text,
                body: b"ok\n".to_vec(),
            },
            fingerprint: vec![7; 32],
            nonce: nonce.to_owned(),
        }
    }

    fn create(path: &std::path::Path) -> SqliteStore {
        let new = NewBank::of_test();
        SqliteStore::create(path, &new, Policy::default()).unwrap()
    }

    /// Whether a key is new, according to the cache and the table.
    fn is_new(store: &mut SqliteStore, client: &str, key: &str) -> bool {
        let looked = store.known(client, key, &[7; 32], "").unwrap();
        let stored = known(&store.connection, client, key, &[7; 32], "").unwrap();
        let is_new = matches!(looked, Known::New);
        assert_eq!(is_new, matches!(stored, Known::New), "{client} {key:?}");
        is_new
    }

    fn keep(store: &mut SqliteStore, client: &str, key: &str) {
        let answer = stored("");
        store
            .keep_answer(client, key, &answer, false, Timestamp(0))
            .unwrap();
    }

    /// The cached greatest key never hides a stored key: in any order of arrival, after a rollback,
    /// and in a reopened store.
    #[test]
    fn a_key_that_is_kept_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bank.db");
        let mut store = create(&path);
        for key in ["", "b", "a", "c", "é", "c\0", "ca", "Z", "b0"] {
            store.begin().unwrap();
            assert!(is_new(&mut store, "moab", key), "{key:?}");
            keep(&mut store, "moab", key);
            assert!(!is_new(&mut store, "moab", key), "{key:?}");
            assert!(is_new(&mut store, "slurm", key), "{key:?}");
            store.commit().unwrap();
        }
        store.begin().unwrap();
        keep(&mut store, "moab", "z");
        store.rollback();
        for key in ["z", "y", "zz"] {
            assert!(is_new(&mut store, "moab", key), "{key}");
        }
        keep(&mut store, "moab", "y");
        drop(store);
        let mut store = SqliteStore::open(&path, Policy::default()).unwrap();
        for (key, expected) in [("zz", true), ("y", false), ("x", true), ("", false)] {
            assert_eq!(is_new(&mut store, "moab", key), expected, "{key}");
        }
        // Expired keys are new again.
        let later = Timestamp(0).plus(KEPT);
        assert_eq!(store.prune_answers(later).unwrap(), 10);
        for key in ["y", "a", "zz"] {
            assert!(is_new(&mut store, "moab", key), "{key}");
        }
    }

    /// A row has half of the fingerprint and a letter for the media type. Rows of earlier versions have all of both.
    #[test]
    fn answers_of_earlier_versions_are_given_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = create(&folder.path().join("bank.db"));
        keep(&mut store, "moab", "k");
        let row = "SELECT length(fingerprint) || media FROM idempotency";
        let row: String = store.connection.query_row(row, [], |r| r.get(0)).unwrap();
        assert_eq!(row, "16t");
        let before = "UPDATE idempotency SET fingerprint = ?1, media = 'text/plain; charset=utf-8'";
        for written in [None, Some([7_u8; 32])] {
            if let Some(fingerprint) = written {
                store.connection.execute(before, [fingerprint]).unwrap();
            }
            let found = store.known("moab", "k", &[7; 32], "").unwrap();
            let answer = stored("").answer;
            assert!(matches!(found, Known::Answered(found) if found == answer));
            let mut other = [7; 32];
            other[15] = 8;
            let found = store.known("moab", "k", &other, "").unwrap();
            assert!(matches!(found, Known::Reused));
        }
    }

    /// A row has 48 bits of a checksum of the nonce. Rows of earlier versions have the nonce.
    #[test]
    fn signed_bytes_that_come_again_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = create(&folder.path().join("bank.db"));
        for nonce in ["", "n-000001", "0123456789abcdef0123456789abcdef"] {
            let answer = stored(nonce);
            let keep = store.keep_answer("moab", nonce, &answer, false, Timestamp(0));
            keep.unwrap();
            let row = "SELECT nonce FROM idempotency WHERE key = ?1";
            let row: String = store
                .connection
                .query_row(row, [nonce], |r| r.get(0))
                .unwrap();
            assert!(row.len() <= NONCE_DIGITS, "{row}");
            for written in [row, nonce.to_owned()] {
                let before = "UPDATE idempotency SET nonce = ?1 WHERE key = ?2";
                store.connection.execute(before, [&written, nonce]).unwrap();
                let again = store.known("moab", nonce, &[7; 32], nonce).unwrap();
                assert_eq!(matches!(again, Known::Replay), !nonce.is_empty());
                let other = store
                    .known("moab", nonce, &[7; 32], "another nonce")
                    .unwrap();
                assert!(matches!(other, Known::Answered(_)));
            }
        }
    }

    #[test]
    fn the_clients_that_are_remembered_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = create(&folder.path().join("bank.db"));
        keep(&mut store, "1", "k");
        for n in 0..=CLIENTS_MAX {
            let client = n.to_string();
            assert_eq!(is_new(&mut store, &client, "k"), client != "1");
        }
        assert!(store.greatest.0.len() <= CLIENTS_MAX);
        assert!(!is_new(&mut store, "1", "k"));
    }
}
