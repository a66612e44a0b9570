//! Answers to commands whose key is a UUID of version 7, beside the transactions of these commands (table `answer`).
//!
//! The transaction has the client and the key, and its time is that of the answer. So a row needs neither, and no index
//! finds the ends of answers: those that are not kept for ever go in the order of their transactions.

use super::sqlite::SqliteStore;
use super::{Error, codec, seal, uuid};
use crate::answer::{Answer, Known, Media, PRUNE_MAX, StoredAnswer, nonce_checksum};
use bank_core::phrases;
use bank_core::time::Timestamp;
use rusqlite::types::ToSql;
use rusqlite::{Connection, params, params_from_iter};

/// Bytes of a fingerprint that are stored. It is only compared with that of a request with the same key of the same
/// client.
const FINGERPRINT_BYTES: usize = 8;

/// What the word of the media type has before it in a row whose body is packed.
const PACKED: &str = "+";

/// A row.
pub(super) struct Stored {
    request: Vec<u8>,
    status: u16,
    media: String,
    body: Vec<u8>,
}

impl Stored {
    /// The answer.
    pub(super) fn answer(self) -> Result<Answer, Error> {
        let packed = self.media.strip_prefix(PACKED);
        let word = packed.unwrap_or(&self.media);
        let media = codec::word("answer.media", word, Media::parse)?;
        let body = match packed {
            Some(_) => {
                phrases::unpack(&self.body).ok_or_else(|| codec::broken("answer.body", 0))?
            }
            None => self.body,
        };
        Ok(Answer {
            status: self.status,
            media,
            body,
        })
    }
}

/// The row of a key.
pub(super) fn row(
    connection: &Connection,
    client: &str,
    key: &str,
) -> Result<Option<Stored>, Error> {
    let Some(bytes) = uuid::bytes(key) else {
        return Ok(None);
    };
    let Some(place) = uuid::place(&bytes) else {
        return Ok(None);
    };
    let sql = "SELECT a.request, a.status, a.media, a.body FROM answer a JOIN tx t ON t.id = a.tx
               WHERE a.place = ?1 AND t.client = ?2 AND t.key_uuid = ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((place, client, bytes))?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    Ok(Some(Stored {
        request: row.get(0)?,
        status: row.get(1)?,
        media: row.get(2)?,
        body: row.get(3)?,
    }))
}

/// What a row comes to for a request with its key.
pub(super) fn known(stored: Stored, fingerprint: &[u8], nonce: &str) -> Result<Known, Error> {
    let (own, own_nonce) = stored
        .request
        .split_at_checked(FINGERPRINT_BYTES)
        .unwrap_or((&stored.request, &[]));
    if !own_nonce.is_empty() && !nonce.is_empty() && own_nonce == short_nonce(nonce) {
        return Ok(Known::Replay);
    }
    if !fingerprint.starts_with(own) {
        return Ok(Known::Reused);
    }
    Ok(Known::Answered(stored.answer()?))
}

/// A nonce as it is stored.
fn short_nonce(nonce: &str) -> [u8; 6] {
    let [_, _, bytes @ ..] = nonce_checksum(nonce).to_be_bytes();
    bytes
}

/// Whether the answer to a key is kept for ever. Of several transactions of a command, the last one has the answer.
pub(super) fn stays(connection: &Connection, client: &str, key: &str) -> Result<bool, Error> {
    let Some(bytes) = uuid::bytes(key) else {
        return Ok(false);
    };
    let sql = "SELECT EXISTS (SELECT 1 FROM answer a JOIN tx t ON t.id = a.tx
                   WHERE a.place = ?1 AND a.stays = 1 AND t.client = ?2 AND t.key_uuid = ?3)";
    let mut statement = connection.prepare_cached(sql)?;
    let place = uuid::place(&bytes);
    Ok(statement.query_row((place, client, bytes), |r| r.get(0))?)
}

impl SqliteStore {
    /// Keeps the answer to the command that wrote the last transaction; false where it needs a row of its own.
    pub(super) fn keep_beside_transaction(
        &mut self,
        client: &str,
        key: &str,
        stored: &StoredAnswer,
        for_ever: bool,
    ) -> Result<bool, Error> {
        let is_own = self.stamp.client == client && self.stamp.key.as_deref() == Some(key);
        let (Some((tx, place)), Some(fingerprint), true) = (
            self.keyed_tx,
            stored.fingerprint.get(..FINGERPRINT_BYTES),
            is_own,
        ) else {
            return Ok(false);
        };
        let mut request = fingerprint.to_vec();
        if !stored.nonce.is_empty() {
            request.extend_from_slice(&short_nonce(&stored.nonce));
        }
        let answer = &stored.answer;
        let packed = phrases::pack(&answer.body);
        let media = match &packed {
            Some(_) => answer.media.packed_word(),
            None => answer.media.word(),
        };
        let body = packed.as_ref().unwrap_or(&answer.body);
        let row = params![place, tx, for_ever, request, answer.status, media, body];
        let seal = seal::of_values(row)?;
        self.connection
            .prepare_cached(
                "INSERT INTO answer (place, tx, stays, request, status, media, body, seal)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params_from_iter(
                row.iter().copied().chain([&seal as &dyn ToSql]),
            ))?;
        self.extent.keep(seal);
        self.greatest.keep(client, key);
        Ok(true)
    }

    /// Removes answers of transactions that were recorded no later than this; returns how many transactions it looked at.
    pub(super) fn prune_beside_transactions(&mut self, until: Timestamp) -> Result<usize, Error> {
        let sql = "SELECT id, at_recorded, key_uuid FROM tx WHERE id > ?1 ORDER BY id LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let most = i64::try_from(PRUNE_MAX).unwrap_or(i64::MAX);
        let mut rows = statement.query((self.extent.answered, most))?;
        let sql = "DELETE FROM answer WHERE place = ?1 AND tx = ?2 AND stays = 0 RETURNING seal";
        let mut delete = self.connection.prepare_cached(sql)?;
        let mut seen = 0_usize;
        // Times of recording never decrease.
        while let Some(row) = rows.next()?
            && row.get::<_, i64>(1)? <= until.0
        {
            let tx: i64 = row.get(0)?;
            self.extent.answered = tx;
            seen = seen.saturating_add(1);
            let key: Option<[u8; uuid::BYTES]> = row.get(2)?;
            let Some(place) = key.as_ref().and_then(uuid::place) else {
                continue;
            };
            let mut gone = delete.query((place, tx))?;
            while let Some(row) = gone.next()? {
                self.extent.forget(row.get(0)?);
            }
        }
        Ok(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stamp;
    use crate::answer::KEPT;
    use crate::bank::NewBank;
    use bank_core::command::{Command, Scope};
    use bank_core::directory::Policy;
    use bank_core::ledger;
    use bank_core::time::Seconds;

    const KEYS: [&str; 3] = [
        "01938a2c-0000-7000-8000-000000000001",
        "01938a2c-0000-7000-8000-000000000002",
        "01938a2c-0000-4000-8000-000000000003",
    ];
    const BODY: &str = "ok lien 230400 credits\n";
    const NONCE: &str = "0123456789abcdef0123456789abcdef";

    fn create(path: &std::path::Path) -> SqliteStore {
        let new = NewBank::of_test();
        SqliteStore::create(path, &new, Policy::default()).unwrap()
    }

    /// A command with a transaction, and its answer.
    fn answer(store: &mut SqliteStore, key: &str, for_ever: bool) {
        let now = Timestamp(1_000_000);
        store.stamp(Stamp {
            now,
            client: "moab".to_owned(),
            key: Some(key.to_owned()),
            origin: "nami",
            ..Stamp::default()
        });
        let command = Command::add_record("user", &format!("u{key}"), &[]);
        let done = ledger::execute(store, &command, &Scope::default(), now, false);
        done.unwrap().unwrap();
        let stored = StoredAnswer {
            answer: Answer {
                status: 200,
                media: Media::Text,
                body: BODY.as_bytes().to_vec(),
            },
            fingerprint: vec![7; 32],
            nonce: NONCE.to_owned(),
        };
        let kept = store.keep_answer("moab", key, &stored, for_ever, now);
        kept.unwrap();
    }

    fn count(store: &SqliteStore, table: &str) -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        store.connection.query_row(&sql, [], |r| r.get(0)).unwrap()
    }

    /// The answer to a key of version 7 is beside its transaction and comes again as it was; the others have rows of
    /// their own. After seven days those go that are not kept for ever.
    #[test]
    fn an_answer_beside_its_transaction_comes_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bank.db");
        let mut store = create(&path);
        store.begin().unwrap();
        for (key, for_ever) in KEYS.iter().zip([false, true, false]) {
            answer(&mut store, key, for_ever);
        }
        store.commit().unwrap();
        assert_eq!(
            (count(&store, "answer"), count(&store, "idempotency")),
            (2, 1)
        );
        drop(store);
        let mut store = SqliteStore::open(&path, Policy::default()).unwrap();
        for key in KEYS {
            let again = store.known("moab", key, &[7; 32], "another").unwrap();
            let Known::Answered(answer) = again else {
                panic!("{key}: {again:?}");
            };
            assert_eq!(answer.body, BODY.as_bytes());
            assert_eq!((answer.status, answer.media), (200, Media::Text));
            let other = store.known("moab", key, &[8; 32], "another").unwrap();
            assert!(matches!(other, Known::Reused));
            let replay = store.known("moab", key, &[7; 32], NONCE).unwrap();
            assert!(matches!(replay, Known::Replay));
            let of_another = store.known("slurm", key, &[7; 32], "").unwrap();
            assert!(matches!(of_another, Known::New));
        }
        let end = Timestamp(1_000_000).plus(KEPT);
        store.begin().unwrap();
        store.prune_answers(end.minus(Seconds(1))).unwrap();
        assert_eq!(
            (count(&store, "answer"), count(&store, "idempotency")),
            (2, 1)
        );
        assert_eq!(store.prune_answers(end).unwrap(), 3);
        assert_eq!(store.prune_answers(end).unwrap(), 0);
        assert_eq!(
            (count(&store, "answer"), count(&store, "idempotency")),
            (1, 0)
        );
        store.commit().unwrap();
        let gone = store.known("moab", KEYS[0], &[7; 32], "").unwrap();
        assert!(matches!(gone, Known::New));
        let kept = store.known("moab", KEYS[1], &[7; 32], "").unwrap();
        assert!(matches!(kept, Known::Answered(_)));
    }

    /// A refusal has no transaction, and neither has the key of a request of several objects: each has a row of its own.
    #[test]
    fn an_answer_without_a_transaction_has_a_row_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = create(&folder.path().join("bank.db"));
        store.begin().unwrap();
        answer(&mut store, KEYS[0], false);
        store.stamp(Stamp {
            client: "moab".to_owned(),
            key: Some(KEYS[1].to_owned()),
            ..Stamp::default()
        });
        let stored = StoredAnswer {
            answer: Answer {
                status: 409,
                media: Media::Problem,
                body: b"{}".to_vec(),
            },
            fingerprint: vec![7; 32],
            nonce: String::new(),
        };
        let kept = store.keep_answer("moab", KEYS[1], &stored, false, Timestamp(0));
        kept.unwrap();
        assert_eq!(
            (count(&store, "answer"), count(&store, "idempotency")),
            (1, 1)
        );
        let again = store.known("moab", KEYS[1], &[7; 32], "").unwrap();
        assert!(matches!(again, Known::Answered(answer) if answer == stored.answer));
    }
}
