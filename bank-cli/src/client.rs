//! Talking to the daemon: over its Unix socket (the kernel says who we are) or over TCP, where
//! requests are signed and answers must be (`http-auth.md`).
//!
//! It must never believe an answer over TCP that does not verify: a foreign process on the port is
//! reported as "daemon unreachable". It never repeats a request by itself.

mod address;
pub(crate) mod fetch;
mod path;
mod signer;
mod unix;

use std::time::Duration;

use bank_api::{
    error::{self, Problem},
    sign,
    v1::{List, Paged},
};
use bank_picture::printable::printable;
use serde::{Serialize, de::DeserializeOwned};
use ureq::{Agent, http};

use self::signer::Signer;
pub(crate) use self::{
    path::{path, query},
    signer::read_secret,
};
use crate::{
    clock,
    config::{Settings, Token},
    fail::Failure,
};

/// The longest a call may take; the daemon answers within milliseconds or says 503.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The longest a call for help texts may take: help is shown without the daemon too.
const HELP_TIMEOUT: Duration = Duration::from_secs(2);
/// The largest answer that is read.
const MAX_ANSWER_BYTES: u64 = 64 * 1024 * 1024;

/// What most bodies are.
const JSON: &str = "application/json";
const XML: &str = "text/xml";

/// One request as it will be sent.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// `GET`, `POST`, `PATCH` or `DELETE`.
    pub(crate) method: http::Method,
    /// Path and query, percent-encoded.
    pub(crate) target: String,
    /// What is sent; empty for nothing.
    pub(crate) body: Vec<u8>,
    /// What that is.
    pub(crate) media: &'static str,
    /// The idempotency key of a call that writes.
    pub(crate) key: Option<String>,
}

impl Call {
    /// A read.
    pub(crate) fn get(target: String) -> Self {
        Self {
            method: http::Method::GET,
            target,
            body: Vec::new(),
            media: JSON,
            key: None,
        }
    }

    /// A call with a JSON body and, if it writes, its idempotency key.
    pub(crate) fn send(
        method: http::Method,
        target: String,
        body: &impl Serialize,
        key: Option<String>,
    ) -> Result<Self, Failure> {
        let body = serde_json::to_vec(body)
            .map_err(|error| Failure::internal(format!("cannot write JSON: {error}")))?;
        Ok(Self {
            method,
            target,
            body,
            media: JSON,
            key,
        })
    }

    /// Bytes as they are, with the key of the call.
    pub(crate) fn bytes(target: String, body: Vec<u8>, key: String) -> Self {
        Self {
            method: http::Method::POST,
            target,
            body,
            media: "application/octet-stream",
            key: Some(key),
        }
    }

    /// Media of an answer: that of XML is XML, or a problem in JSON.
    fn accepted(&self) -> &'static str {
        match self.media {
            XML => "text/xml, application/problem+json",
            _ => JSON,
        }
    }

    /// XML, with the key of the call. The answer is XML.
    pub(crate) fn xml(target: String, body: String, key: String) -> Self {
        Self {
            media: XML,
            ..Self::bytes(target, body.into_bytes(), key)
        }
    }

    /// A removal.
    pub(crate) fn delete(target: String, key: String) -> Self {
        Self {
            method: http::Method::DELETE,
            target,
            body: Vec::new(),
            media: JSON,
            key: Some(key),
        }
    }
}

/// A way to the daemon. No connection is made before the first call.
#[derive(Debug)]
pub(crate) struct Client {
    agent: Agent,
    /// `http://localhost` for the socket, else scheme, host and port.
    base: String,
    /// As the user wrote it, for messages.
    server: String,
    signer: Option<Signer>,
    token: Option<Token>,
    tcp: bool,
    /// The person in whose view everything is read; empty for the caller without roles over the whole bank.
    pub(crate) view_as: Option<String>,
}

struct Reply {
    status: u16,
    headers: http::HeaderMap,
    body: Vec<u8>,
}

impl Client {
    /// Reads the address and, over TCP, the key file.
    pub(crate) fn new(settings: &Settings) -> Result<Self, Failure> {
        Self::within(settings, TIMEOUT)
    }

    /// The same for the kinds of the site, whose options are in help texts.
    pub(crate) fn for_help(settings: &Settings) -> Result<Self, Failure> {
        Self::within(settings, HELP_TIMEOUT)
    }

    fn within(settings: &Settings, timeout: Duration) -> Result<Self, Failure> {
        let server = settings.server().to_owned();
        let config = Agent::config_builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .user_agent(concat!("bank/", env!("CARGO_PKG_VERSION")))
            .build();
        if let Some(socket) = address::socket(&server) {
            let connector = unix::UnixConnector(socket.into());
            let resolver = ureq::unversioned::resolver::DefaultResolver::default();
            let agent = Agent::with_parts(config, connector, resolver);
            let base = "http://localhost".to_owned();
            return Ok(Self {
                agent,
                base,
                server,
                signer: None,
                token: settings.token.clone(),
                tcp: false,
                view_as: None,
            });
        }
        let base = address::tcp(&server)?;
        let token = settings.token.clone();
        if token.is_some() && !address::is_here(&base) {
            return Err(Failure::usage(format!(
                "a token is not sent to {server}: others could read it on the way"
            ))
            .hint("sign with a key (BANK_KEY_ID, BANK_KEY_FILE), or reach the daemon through a tunnel to this host"));
        }
        let signer = match &token {
            Some(_) => None,
            None => Signer::new(settings)?,
        };
        Ok(Self {
            agent: Agent::new_with_config(config),
            base,
            server,
            signer,
            token,
            tcp: true,
            view_as: None,
        })
    }

    /// Reads a list to its end, page by page.
    pub(crate) fn all<T: DeserializeOwned>(
        &self,
        segments: &[&str],
        parameters: &impl Serialize,
    ) -> Result<List<T>, Failure> {
        let mut target = path(segments) + &query(parameters);
        let mut items = Vec::new();
        let mut before = None;
        loop {
            let page: List<T> = self.call(&Call::get(target))?;
            items.extend(page.items);
            let Some(next) = page.next else {
                return Ok(List::whole(items));
            };
            if before.as_ref() == Some(&next) {
                return Err(Failure::internal("the list does not go on"));
            }
            target = path(segments) + &path::query_after(parameters, &next);
            before = Some(next);
        }
    }

    /// Reads an answer whose rows come page by page to its end; sums are those of the first page.
    pub(crate) fn whole<T: DeserializeOwned + Paged>(
        &self,
        segments: &[&str],
        parameters: &impl Serialize,
    ) -> Result<T, Failure> {
        let mut whole: T = self.call(&Call::get(path(segments) + &query(parameters)))?;
        while let Some(next) = whole.next().map(str::to_owned) {
            let target = path(segments) + &path::query_after(parameters, &next);
            whole.go_on(self.call(&Call::get(target))?);
            if whole.next() == Some(&next) {
                return Err(Failure::internal("the list does not go on"));
            }
        }
        Ok(whole)
    }

    /// Sends a call and reads its answer.
    pub(crate) fn call<T: DeserializeOwned>(&self, call: &Call) -> Result<T, Failure> {
        let reply = self.exchange(call)?;
        if !(200..300).contains(&reply.status) {
            return Err(self.refusal(&reply, call));
        }
        let body = if reply.body.is_empty() {
            b"null".as_slice()
        } else {
            &reply.body
        };
        serde_json::from_slice(body).map_err(|error| {
            let what = format!("cannot read the answer of {}: {error}", self.server);
            let failure = Failure::internal(what);
            if call.method == http::Method::GET {
                return failure.hint("`bank` and `bankd` should be of the same release");
            }
            // It is done, and what was told may be told once only: a secret.
            Failure {
                before: Some(printable(&String::from_utf8_lossy(body)) + "\n"),
                ..failure.hint(
                    "it was done; the answer stands above as it came, and may hold a secret that \
                     is told once. `bank` and `bankd` should be of the same release",
                )
            }
        })
    }

    /// Sends a call and returns its answer as it is.
    pub(crate) fn text(&self, call: &Call) -> Result<String, Failure> {
        let reply = self.exchange(call)?;
        if !(200..300).contains(&reply.status) {
            return Err(self.refusal(&reply, call));
        }
        String::from_utf8(reply.body)
            .map_err(|_| Failure::internal(format!("the answer of {} is no text", self.server)))
    }

    fn exchange(&self, call: &Call) -> Result<Reply, Failure> {
        let viewed = self
            .view_as
            .as_ref()
            .filter(|_| call.method == http::Method::GET);
        let viewed = viewed.map(|person| Call {
            target: path::viewed_as(&call.target, person),
            ..call.clone()
        });
        let call = viewed.as_ref().unwrap_or(call);
        let mut request = http::Request::builder()
            .method(call.method.clone())
            .uri(format!("{}{}", self.base, call.target))
            .header("accept", call.accepted());
        if !call.body.is_empty() {
            request = request.header("content-type", call.media);
        }
        if let Some(key) = &call.key {
            request = request.header("idempotency-key", key);
        }
        if let Some(Token(token)) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let signature = self
            .signer
            .as_ref()
            .map(|signer| signer.sign(call))
            .transpose()?;
        if let Some(signature) = &signature {
            if let Some(digest) = &signature.content_digest {
                request = request.header("content-digest", digest);
            }
            request = request
                .header("signature-input", &signature.signature_input)
                .header("signature", &signature.signature);
        }
        let reply = self.send(request, call)?;
        if let (Some(signer), Some(signature)) = (&self.signer, &signature) {
            self.verify(signer, &signature.signature, &reply)?;
        }
        Ok(reply)
    }

    fn send(&self, request: http::request::Builder, call: &Call) -> Result<Reply, Failure> {
        let malformed = |error: http::Error| Failure::usage(format!("cannot send this: {error}"));
        let answer = if call.body.is_empty() {
            self.agent.run(request.body(()).map_err(malformed)?)
        } else {
            self.agent
                .run(request.body(call.body.as_slice()).map_err(malformed)?)
        };
        let answer = answer.map_err(|error| self.broken(&error, call))?;
        let (parts, mut body) = answer.into_parts();
        let body = body
            .with_config()
            .limit(MAX_ANSWER_BYTES)
            .read_to_vec()
            .map_err(|error| self.broken(&error, call))?;
        Ok(Reply {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body,
        })
    }

    /// The transport failed: what to say depends on whether the command may have been done.
    fn broken(&self, error: &ureq::Error, call: &Call) -> Failure {
        let connected = match error {
            ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => false,
            ureq::Error::Io(error) => {
                use std::io::ErrorKind as E;
                !matches!(
                    error.kind(),
                    E::NotFound | E::ConnectionRefused | E::PermissionDenied
                )
            }
            _ => true,
        };
        let why = match error {
            ureq::Error::Io(error) => error.to_string(),
            other => other.to_string(),
        };
        let failure =
            Failure::unreachable(format!("cannot reach the daemon at {}: {why}", self.server));
        match &call.key {
            Some(key) if connected => failure.hint(format!(
                "it may have been done: the same command with --key {key} does it at most once"
            )),
            _ => failure.hint("is bankd running?  --server or BANK_SERVER names another address"),
        }
    }

    fn verify(&self, signer: &Signer, sent: &str, reply: &Reply) -> Result<(), Failure> {
        // A 401 cannot be signed: its sender does not know us. It is an error in any case.
        if reply.status == 401 {
            return Ok(());
        }
        let headers: Vec<(&str, &[u8])> = reply
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
            .collect();
        let answer = sign::ReceivedAnswer {
            status: reply.status,
            headers: headers.iter().copied(),
            body: &reply.body,
            sent_signature: sent,
            label: sign::LABEL,
            keyid: &signer.id,
        };
        let now_s = clock::now_us().div_euclid(1_000_000);
        let verified = sign::verify_answer(&signer.key, &answer, now_s, sign::DEFAULT_WINDOW_S)
            .map_err(|error| {
                Failure::unreachable(format!("what answers at {} is not trusted: {error}", self.server))
                    .hint("another process may listen there, or the daemon has another secret for this key")
            })?;
        if !verified.created_in_window {
            crate::out::warn("the clocks of this machine and of the daemon differ");
        }
        Ok(())
    }

    /// What an answer outside 2xx says.
    fn refusal(&self, reply: &Reply, call: &Call) -> Failure {
        if let Some(problem) = Problem::from_json(&reply.body) {
            let mut failure = Failure::problem(problem);
            // 503 can come for a command that is done later; after 507 nothing was written.
            let key = call
                .key
                .as_ref()
                .filter(|_| [503, 507].contains(&reply.status));
            if let (Some(key), None) = (key, &failure.hint) {
                failure.hint = Some(format!(
                    "in a moment again: the same command with --key {key} does it at most once"
                ));
            }
            return if reply.status == 401 {
                self.unauthorized(failure)
            } else {
                failure
            };
        }
        let message = String::from_utf8_lossy(&reply.body);
        let message: String = message
            .chars()
            .filter(|c| !c.is_control())
            .take(120)
            .collect();
        let what = format!("{} answered {}: {message}", self.server, reply.status);
        let failure = Failure::of(error::bank_exit_of_status(reply.status), what);
        if reply.status == 401 {
            self.unauthorized(failure)
        } else {
            failure
        }
    }

    fn unauthorized(&self, mut failure: Failure) -> Failure {
        failure.hint = Some(if self.token.is_some() {
            "the token (BANK_TOKEN) is unknown, over or removed".to_owned()
        } else if self.signer.is_some() {
            "the key id, its secret or the clock of this machine is wrong".to_owned()
        } else if self.tcp {
            "over TCP set BANK_KEY_ID and BANK_KEY_FILE, or use the daemon's Unix socket".to_owned()
        } else {
            "the bank has no such user".to_owned()
        });
        failure
    }
}

#[cfg(test)]
mod tests;
