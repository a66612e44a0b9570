//! One document to the bank and its outcome: the request, signed over TCP, and the judgement
//! whether the answer may be believed (`http-auth.md` 5).
//!
//! Over TCP no unsigned answer is trusted, except a 401, which confirms nothing. Any failure here
//! counts as "bank unreachable", so no foreign process on the port can fake a charge or a lien.

use std::cell::Cell;
use std::fmt::Write as _;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use bank_api::sign::{
    DEFAULT_WINDOW_S, LABEL, OutgoingRequest, ReceivedAnswer, Secret, SigningKey, sign_request,
    verify_answer,
};
use bank_api::text::percent_encode;

use crate::clock::{Deadline, now_us};
use crate::event::Event;
use crate::outcome::{Condition, Outcome};
use crate::settings::{Server, Settings};
use crate::wire::{Answer, WireError, exchange};

/// Pauses before a second and a third attempt, when there was no connection or no whole answer.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(300)];
/// Time to connect to a server if another one can be tried: a script remembers nothing, so each call pays for a
/// machine that is away.
const CONNECT_TIME: Duration = Duration::from_secs(1);
/// Largest key file, in bytes.
const MAX_KEY_FILE: u64 = 8 * 1024;

/// A document on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Document<'a> {
    pub(crate) event: Event,
    /// The `Idempotency-Key`: one per document, the same at every attempt.
    pub(crate) key: &'a str,
    /// RFC 3339; sent only with a document that arrives later than its event.
    pub(crate) event_time: Option<&'a str>,
    /// The query of the target, without `?`; empty for none.
    pub(crate) query: &'a str,
    pub(crate) body: &'a [u8],
}

/// Connects to the bank of the settings.
#[derive(Debug)]
pub(crate) struct Client<'a> {
    settings: &'a Settings,
    /// Id and key; `None` if all servers are Unix sockets.
    signer: Option<(String, SigningKey)>,
    /// Place of the server that answered last.
    current: Cell<usize>,
}

impl<'a> Client<'a> {
    /// Reads the key, where one is needed; without it nothing can be sent.
    pub(crate) fn new(settings: &'a Settings) -> Result<Self, Outcome> {
        let signs = settings.servers.iter().any(is_tcp);
        let signer = signs.then(|| read_signer(settings)).transpose();
        let signer = signer
            .map_err(|why| Outcome::new(Condition::Auth, format!("not authenticated: {why}")))?;
        Ok(Self {
            settings,
            signer,
            current: Cell::new(0),
        })
    }

    /// Sends a document and tries again while that can help: same key, new nonce.
    pub(crate) fn send_patiently(&self, document: &Document<'_>, deadline: Deadline) -> Outcome {
        for pause in PAUSES {
            let (outcome, again) = self.attempt(document, deadline);
            if !again || !deadline.pause(pause) {
                return outcome;
            }
        }
        self.send(document, deadline)
    }

    /// Sends a document once.
    pub(crate) fn send(&self, document: &Document<'_>, deadline: Deadline) -> Outcome {
        self.attempt(document, deadline).0
    }

    /// The outcome, and whether another attempt could have a better one. Each server is tried once, beginning
    /// with the one that answered last, with the same key, until one answers that serves.
    fn attempt(&self, document: &Document<'_>, deadline: Deadline) -> (Outcome, bool) {
        let servers = &self.settings.servers;
        let (before, after) = servers
            .split_at_checked(self.current.get())
            .unwrap_or_default();
        let mut left = u32::try_from(servers.len()).unwrap_or(u32::MAX);
        let mut last = (Outcome::unreachable("no server is configured"), false);
        for (step, server) in after.iter().chain(before).enumerate() {
            let part = deadline.part(left);
            let connect_by = if left > 1 {
                part.at_most(CONNECT_TIME)
            } else {
                part
            };
            let tried = self.attempt_at(server, document, connect_by, part);
            if tried.serves {
                self.current
                    .set((self.current.get() + step) % servers.len());
                return (tried.outcome, false);
            }
            last = (tried.outcome, tried.again);
            left -= 1;
        }
        last
    }

    fn attempt_at(
        &self,
        server: &Server,
        document: &Document<'_>,
        connect_by: Deadline,
        deadline: Deadline,
    ) -> Tried {
        let tried = |outcome, again| Tried {
            outcome,
            again,
            serves: false,
        };
        let Some((head, sent_signature)) = self.head(server, document) else {
            let text = "the system gives no random bytes";
            return tried(Outcome::new(Condition::Other, text), false);
        };
        match exchange(server, &head, document.body, connect_by, deadline) {
            Ok(answer) => {
                let outcome = self.judge(server, document.event, &answer, &sent_signature);
                // A node of a cluster without a writer answers 503; nobody trusted answers as if away.
                let does_serve = answer.status != 503 && outcome.condition != Condition::Connect;
                Tried {
                    outcome,
                    again: false,
                    serves: does_serve,
                }
            }
            Err(WireError::TimedOut) => tried(Outcome::timed_out(), false),
            Err(WireError::Broken(why)) => tried(Outcome::unreachable(why), true),
            Err(WireError::Connect(why)) => {
                let server = server.display();
                tried(Outcome::unreachable(&format!("{server}: {why}")), true)
            }
        }
    }

    /// The key, if requests to this server are signed.
    fn signer(&self, server: &Server) -> Option<&(String, SigningKey)> {
        self.signer.as_ref().filter(|_| is_tcp(server))
    }

    /// Request line and header fields, and the `Signature` value sent (empty if not signed).
    /// `None` if no nonce could be made.
    fn head(&self, server: &Server, document: &Document<'_>) -> Option<(String, String)> {
        let mut target = format!("/nami/v1/{}", document.event.name());
        if !document.query.is_empty() {
            target.push('?');
            target.push_str(document.query);
        }
        let mut head = String::with_capacity(1024);
        // Writing to a String cannot fail.
        let _ = write!(
            head,
            "POST {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
             Content-Type: application/xml\r\nContent-Length: {}\r\nIdempotency-Key: {}\r\n",
            server.authority(),
            document.body.len(),
            document.key,
        );
        if let Some(time) = document.event_time {
            let _ = write!(head, "Bank-Event-Time: {time}\r\n");
        }
        let mut sent_signature = String::new();
        if let Some((keyid, key)) = self.signer(server) {
            let request = OutgoingRequest {
                method: "POST",
                target: &target,
                body: document.body,
                idempotency_key: Some(document.key),
                event_time: document.event_time,
            };
            let signed = sign_request(key, keyid, &request, now_us() / 1_000_000, &nonce()?);
            if let Some(digest) = &signed.content_digest {
                let _ = write!(head, "Content-Digest: {digest}\r\n");
            }
            let _ = write!(
                head,
                "Signature-Input: {}\r\nSignature: {}\r\n",
                signed.signature_input, signed.signature
            );
            sent_signature = signed.signature;
        }
        head.push_str("\r\n");
        Some((head, sent_signature))
    }

    /// Whether the answer is trusted, and its meaning.
    fn judge(
        &self,
        server: &Server,
        event: Event,
        answer: &Answer,
        sent_signature: &str,
    ) -> Outcome {
        let understood = || Outcome::of_answer(event, answer.status, &answer.body);
        let Some((keyid, key)) = self.signer(server) else {
            return understood();
        };
        if answer.status == 401 {
            return understood();
        }
        let received = ReceivedAnswer {
            status: answer.status,
            headers: answer
                .headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_slice())),
            body: &answer.body,
            sent_signature,
            label: LABEL,
            keyid,
        };
        match verify_answer(key, &received, now_us() / 1_000_000, DEFAULT_WINDOW_S) {
            Err(why) => Outcome::unreachable(&why.to_string()),
            Ok(verified) => {
                let mut outcome = understood();
                if !verified.created_in_window {
                    let gap = if outcome.text.is_empty() { "" } else { "; " };
                    let _ = write!(
                        outcome.text,
                        "{gap}warning: the bank's clock differs from ours"
                    );
                }
                outcome
            }
        }
    }
}

/// One server's part of an attempt.
struct Tried {
    outcome: Outcome,
    /// Whether the same server could have a better outcome at once.
    again: bool,
    /// Whether it answered and serves: no other one is tried.
    serves: bool,
}

fn is_tcp(server: &Server) -> bool {
    matches!(server, Server::Tcp { .. })
}

/// The query that the settings add to every document of an event.
pub(crate) fn query_of(settings: &Settings, event: Event) -> String {
    let mut query = String::new();
    let mut add = |name: &str, value: &str| {
        if !query.is_empty() {
            query.push('&');
        }
        query.push_str(name);
        query.push('=');
        percent_encode(value, &mut query);
    };
    if let Some(machine) = &settings.machine {
        add("machine", machine);
    }
    if settings.print_tid && matches!(event, Event::Quote | Event::Create) {
        add("print_tid", "true");
    }
    if settings.latin1_fallback {
        add("latin1_fallback", "true");
    }
    query
}

fn read_signer(settings: &Settings) -> Result<(String, SigningKey), String> {
    let keyid = settings
        .key_id
        .as_ref()
        .ok_or("key_id is not set, and TCP needs one")?;
    let fits = (1..=64).contains(&keyid.len())
        && keyid
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if !fits {
        return Err("key_id is 1 to 64 letters, digits, dots, lines and underlines".to_owned());
    }
    let path = settings
        .key_file
        .as_ref()
        .ok_or("key_file is not set, and TCP needs one")?;
    let text = read_key_file(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let secret = Secret::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok((keyid.clone(), SigningKey::new(&secret)))
}

/// A key that others may read is no secret, so it is not used (`http-auth.md` 4).
fn read_key_file(path: &Path) -> std::io::Result<String> {
    let file = std::fs::File::open(path)?;
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        return Err(std::io::Error::other(
            "others may read this file; make it mode 0600",
        ));
    }
    let mut text = String::new();
    file.take(MAX_KEY_FILE).read_to_string(&mut text)?;
    Ok(text)
}

/// 24 hex digits of randomness; new for every attempt.
fn nonce() -> Option<String> {
    let mut bytes = [0_u8; 12];
    getrandom::fill(&mut bytes).ok()?;
    Some(
        bytes
            .iter()
            .fold(String::with_capacity(24), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            }),
    )
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
