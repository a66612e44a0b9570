//! One server, and one exchange with it.

use std::{sync::Arc, time::Duration};

use bank_api::{error::Problem, sign};
use ureq::{
    Agent, http,
    tls::{RootCerts, TlsConfig},
};

use crate::{
    address::Address,
    call::Call,
    clock,
    error::{Error, Identity, Refused},
    secret::Signer,
    unix,
};

/// The largest answer that is read.
const ANSWER_MAX: u64 = 64 * 1024 * 1024;
/// The longest text of an answer that an error keeps, in bytes.
const TEXT_MAX: usize = 64 * 1024;

/// What the servers of a client have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) signer: Option<Signer>,
    pub(crate) token: Option<String>,
    /// Receives warnings.
    pub(crate) warn: Option<fn(&str)>,
}

/// Time limits and trust of connections.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    pub(crate) timeout: Duration,
    pub(crate) connect: Duration,
    pub(crate) roots: RootCerts,
    pub(crate) user_agent: &'static str,
}

/// One server.
#[derive(Debug)]
pub(crate) struct Node {
    agent: Agent,
    /// `http://localhost` for a socket, else scheme, host and port.
    base: String,
    /// As the user wrote it.
    pub(crate) name: String,
    is_tcp: bool,
    shared: Arc<Shared>,
}

/// An answer, whatever its status.
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: http::HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// A failure of one server.
pub(crate) struct Failed {
    pub(crate) error: Error,
    /// Whether the server may have received the request.
    pub(crate) is_sent: bool,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        let is_sent = false;
        Self { error, is_sent }
    }
}

impl Node {
    pub(crate) fn new(name: &str, limits: &Limits, shared: &Arc<Shared>) -> Result<Self, Error> {
        let address = Address::parse(name)?;
        if shared.token.is_some() && !address.is_private() {
            return Err(Error::hinted(
                format!("a token is not sent to {name}: others could read it on the way"),
                "sign with a key (BANK_KEY_ID, BANK_KEY_FILE), or reach the daemon through a tunnel to this host",
            ));
        }
        let tls = TlsConfig::builder()
            .root_certs(limits.roots.clone())
            .build();
        let config = Agent::config_builder()
            .timeout_global(Some(limits.timeout))
            .timeout_connect(Some(limits.connect))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .tls_config(tls)
            .user_agent(limits.user_agent)
            .build();
        let (agent, base, is_tcp) = match address {
            Address::Socket(path) => {
                let connector = unix::UnixConnector(path.into());
                let resolver = ureq::unversioned::resolver::DefaultResolver::default();
                let agent = Agent::with_parts(config, connector, resolver);
                (agent, "http://localhost".to_owned(), false)
            }
            Address::Tcp(base) => (Agent::new_with_config(config), base, true),
        };
        Ok(Self {
            agent,
            base,
            name: name.to_owned(),
            is_tcp,
            shared: Arc::clone(shared),
        })
    }

    /// The key that signs requests to this server; none on a socket, or with a token.
    fn signer(&self) -> Option<&Signer> {
        let signer = self.shared.signer.as_ref();
        signer.filter(|_| self.is_tcp && self.shared.token.is_none())
    }

    fn identity(&self) -> Identity {
        if self.shared.token.is_some() {
            Identity::Token
        } else if self.signer().is_some() {
            Identity::Key
        } else if self.is_tcp {
            Identity::None
        } else {
            Identity::Socket
        }
    }

    /// Sends a call once.
    pub(crate) fn exchange(&self, call: &Call) -> Result<Reply, Failed> {
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
        if let Some(time) = &call.event_time {
            request = request.header("bank-event-time", time);
        }
        if let Some(token) = &self.shared.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let signer = self.signer();
        let signature = signer.map(|signer| signer.sign(call)).transpose()?;
        if let Some(signature) = &signature {
            if let Some(digest) = &signature.content_digest {
                request = request.header("content-digest", digest);
            }
            request = request
                .header("signature-input", &signature.signature_input)
                .header("signature", &signature.signature);
        }
        let reply = self.send(request, call)?;
        if let (Some(signer), Some(signature)) = (signer, &signature) {
            self.verify(signer, &signature.signature, &reply)?;
        }
        Ok(reply)
    }

    fn send(&self, request: http::request::Builder, call: &Call) -> Result<Reply, Failed> {
        let malformed = |error: http::Error| Error::settings(format!("cannot send this: {error}"));
        let answer = if call.body.is_empty() {
            self.agent.run(request.body(()).map_err(malformed)?)
        } else {
            let request = request.body(call.body.as_slice()).map_err(malformed)?;
            self.agent.run(request)
        };
        let answer = answer.map_err(|error| self.broken(&error, call))?;
        let (parts, mut body) = answer.into_parts();
        let body = body
            .with_config()
            .limit(ANSWER_MAX)
            .read_to_vec()
            .map_err(|error| self.broken(&error, call))?;
        Ok(Reply {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body,
        })
    }

    /// The transport failed: the command may have been executed if it was sent.
    fn broken(&self, error: &ureq::Error, call: &Call) -> Failed {
        let is_sent = match error {
            ureq::Error::HostNotFound
            | ureq::Error::ConnectionFailed
            | ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve)
            | ureq::Error::Tls(_)
            | ureq::Error::Rustls(_) => false,
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
        let error = Error::Unreachable {
            server: self.name.clone(),
            why,
            key: call.key.clone().filter(|_| is_sent),
        };
        Failed { error, is_sent }
    }

    fn verify(&self, signer: &Signer, sent: &str, reply: &Reply) -> Result<(), Failed> {
        // A 401 cannot be signed: its sender has no key of this caller. It is an error in any case.
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
            .map_err(|error| Failed {
                error: Error::Unverified {
                    server: self.name.clone(),
                    why: error.to_string(),
                },
                is_sent: true,
            })?;
        if let (false, Some(warn)) = (verified.created_in_window, self.shared.warn) {
            warn("the clocks of this machine and of the daemon differ");
        }
        Ok(())
    }

    /// The error of an answer outside of success.
    pub(crate) fn refusal(&self, reply: &Reply, call: &Call) -> Error {
        let text = reply.body.get(..TEXT_MAX).unwrap_or(&reply.body);
        let after = reply.headers.get("retry-after");
        let seconds = after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
        Error::from(Refused {
            server: self.name.clone(),
            status: reply.status,
            problem: Problem::from_json(&reply.body),
            text: String::from_utf8_lossy(text).into_owned(),
            key: call.key.clone(),
            identity: self.identity(),
            retry_after: seconds.map(Duration::from_secs),
        })
    }
}
