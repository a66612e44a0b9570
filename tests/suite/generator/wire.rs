//! What the scripts do, for many documents at once: each has one key, and what has no answer is
//! sent again under it, later with the time of its event.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bank_api::text::format_rfc3339;

use crate::harness::{Address, Bank, Connection, Request, pause};

/// Calls at the same time: what arrives together is committed together.
const CALLS: usize = 128;

/// A document of several objects on its way.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub(super) event: &'static str,
    pub(super) key: String,
    /// When it happened, in seconds.
    pub(super) at: i64,
    pub(super) body: String,
    /// The jobs that it is about.
    pub(super) jobs: Vec<usize>,
    /// Whether its call was made a second time though the first was answered.
    pub(super) twice: bool,
    /// Whether it comes later than its event.
    pub(super) is_late: bool,
}

impl Document {
    fn request(&self) -> Request {
        let mut request = Request::nami(self.event, &self.key, self.body.as_bytes());
        request.target.push_str("?machine=colony");
        if self.is_late {
            let time = format_rfc3339(self.at * 1_000_000);
            request = request.header("Bank-Event-Time", &time);
        }
        request
    }
}

/// Sends documents in no order; gives back those that had no answer. If `kill_after` is a time, the
/// daemon is killed that long after the first was sent.
pub(super) fn send(
    bank: &Bank,
    documents: &[Document],
    kill_after: Option<Duration>,
) -> Vec<Document> {
    let address = Address::Unix(bank.socket());
    let next = AtomicUsize::new(0);
    let lost = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..CALLS.min(documents.len()) {
            scope.spawn(|| {
                let mut connection = None;
                while let Some(document) = documents.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if !is_taken(&address, &mut connection, document) {
                        lost.lock().unwrap().push(document.clone());
                    }
                }
            });
        }
        if let Some(time) = kill_after {
            pause(time);
            bank.kill_now();
        }
    });
    let mut lost = lost.into_inner().unwrap();
    lost.sort_by(|a, b| a.key.cmp(&b.key));
    lost
}

/// Sends one document; false if there was no answer.
fn is_taken(address: &Address, to: &mut Option<Connection>, document: &Document) -> bool {
    let request = document.request();
    let mut ask = || -> std::io::Result<(u16, String, bool)> {
        loop {
            let connection = match to {
                Some(connection) => connection,
                None => to.insert(Connection::open(address)?),
            };
            let answer = connection.send(&request)?;
            // Busy is an answer, too: what is left of the document was not taken.
            if answer.status != 503 {
                let again = answer.header("idempotent-replay").is_some();
                return Ok((answer.status, answer.text(), again));
            }
        }
    };
    let first = ask();
    let Ok((status, text, _)) = &first else {
        *to = None;
        return false;
    };
    let good = |line: &str| line.starts_with("ok ");
    assert!(
        *status == 200 && text.lines().count() == document.jobs.len() && text.lines().all(good),
        "{} {}: {status} {text}",
        document.event,
        document.key
    );
    if document.twice {
        // A call whose answer was not believed: the same bytes come back, and nothing happens.
        if let Ok((_, again, is_replay)) = ask() {
            assert!(is_replay && again == *text, "{}: {again}", document.key);
        } else {
            *to = None;
        }
    }
    true
}
