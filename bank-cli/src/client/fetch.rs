//! Asking a server that is not the daemon: Prometheus, Nomad, Kubernetes. Reads only.
//!
//! TLS is checked against the public authorities or those of the settings, never switched off. A token
//! is read from its file when a round begins, and goes to this server only: no redirect is followed.
//! What may pass is tried again with growing waits; what will not is told at once.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bank_api::exit::bank as exit;
use bank_client::tls::certificates;
use bank_client::{jitter, wait};
use ureq::Agent;
use ureq::tls::{ClientCert, PrivateKey, RootCerts, TlsConfig};

use crate::config::collect::Http;
use crate::fail::Failure;

/// Largest file of certificates or tokens, in bytes.
const FILE_MAX: u64 = 1 << 20;
/// Longest wait between two tries.
const WAIT_MAX: Duration = Duration::from_mins(2);
/// Characters of an answer that an error quotes.
const QUOTED: usize = 200;

/// How the token is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    /// `Authorization: Bearer`
    Bearer,
    /// `X-Nomad-Token`
    Nomad,
}

/// A server.
#[derive(Debug)]
pub(crate) struct Server {
    agent: Agent,
    /// Without a slash at its end.
    url: String,
    /// Name and value of the header.
    token: Option<(&'static str, String)>,
    retries: u32,
    retry_wait: Duration,
    answer_max: u64,
}

/// What one request came to.
enum Answer {
    Body(Vec<u8>),
    /// There is no such thing.
    Missing,
    /// It may pass.
    Trouble(Failure),
    /// It will not.
    Final(Failure),
}

impl Server {
    /// A server by its settings; reads the files that they name.
    pub(crate) fn new(http: &Http, token: Token) -> Result<Self, Failure> {
        let roots = match &http.ca_file {
            None => RootCerts::WebPki,
            Some(file) => RootCerts::Specific(Arc::new(certificates(file)?)),
        };
        let client = match (&http.cert_file, &http.key_file) {
            (Some(cert), Some(key)) => Some(ClientCert::new_with_certs(
                &certificates(cert)?,
                private_key(key)?,
            )),
            _ => None,
        };
        let tls = TlsConfig::builder()
            .root_certs(roots)
            .client_cert(client)
            .build();
        let timeout = Duration::from_secs(http.timeout.unsigned_abs());
        let agent = Agent::config_builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .tls_config(tls)
            .user_agent(concat!("bank/", env!("CARGO_PKG_VERSION")))
            .build();
        let name = match token {
            Token::Bearer => "authorization",
            Token::Nomad => "x-nomad-token",
        };
        let secret = http.token_file.as_deref().map(secret).transpose()?;
        let value = secret.map(|secret| match token {
            Token::Bearer => (name, format!("Bearer {secret}")),
            Token::Nomad => (name, secret),
        });
        Ok(Self {
            agent: Agent::new_with_config(agent),
            url: http.url.trim_end_matches('/').to_owned(),
            token: value,
            retries: http.retries,
            retry_wait: Duration::from_secs(http.retry_wait.unsigned_abs()),
            answer_max: http.answer_mib.saturating_mul(1 << 20),
        })
    }

    /// The body of an answer; `None` where there is no such thing (404, 410). `target` is path and query,
    /// percent-encoded.
    pub(crate) fn get(&self, target: &str) -> Result<Option<Vec<u8>>, Failure> {
        let mut tried = 0;
        loop {
            let trouble = match self.once(target) {
                Answer::Body(body) => return Ok(Some(body)),
                Answer::Missing => return Ok(None),
                Answer::Final(failure) => return Err(failure),
                Answer::Trouble(failure) => failure,
            };
            if tried >= self.retries {
                return Err(trouble);
            }
            crate::clock::wait(wait(self.retry_wait, WAIT_MAX, tried, jitter()));
            tried = tried.saturating_add(1);
        }
    }

    /// The same, where it must be there.
    pub(crate) fn must(&self, target: &str) -> Result<Vec<u8>, Failure> {
        self.get(target)?.ok_or_else(|| {
            let path = target.split('?').next().unwrap_or_default();
            Failure::usage(format!(
                "{}{path}: there is no such thing (404, 410)",
                self.url
            ))
            .hint("is `url` the server, with the path before its API if it has one?")
        })
    }

    fn once(&self, target: &str) -> Answer {
        let mut request = self
            .agent
            .get(format!("{}{target}", self.url))
            .header("accept", "application/json");
        if let Some((name, value)) = &self.token {
            request = request.header(*name, value);
        }
        let what = |why: &str| format!("{}: {why}", self.url);
        let answer = match request.call() {
            Ok(answer) => answer,
            Err(error) => {
                let failure = Failure::unreachable(what(&error.to_string()));
                return match error {
                    // A certificate that is not trusted will not be so in a second.
                    ureq::Error::Tls(_) | ureq::Error::Rustls(_) => Answer::Final(failure),
                    ureq::Error::BadUri(_) | ureq::Error::Http(_) => {
                        Answer::Final(Failure::usage(failure.what))
                    }
                    _ => Answer::Trouble(failure),
                };
            }
        };
        let (parts, mut body) = answer.into_parts();
        let status = parts.status.as_u16();
        let body = body.with_config().limit(self.answer_max).read_to_vec();
        let body = match body {
            Ok(body) => body,
            Err(ureq::Error::BodyExceedsLimit(_)) => {
                let why = what("the answer is too large");
                let hint = "ask for less at once (`window`), or raise `answer_mib`";
                return Answer::Final(Failure::unreachable(why).hint(hint));
            }
            Err(error) => return Answer::Trouble(Failure::unreachable(what(&error.to_string()))),
        };
        if (200..300).contains(&status) {
            return Answer::Body(body);
        }
        let message = what(&format!("answered {status}: {}", error_text(&body)));
        match status {
            404 | 410 => Answer::Missing,
            408 | 425 | 429 | 500..=599 => Answer::Trouble(Failure::unreachable(message)),
            401 | 403 => Answer::Final(
                Failure::of(exit::DENIED, message)
                    .hint("`token_file` names a file with a token that may read"),
            ),
            _ => Answer::Final(Failure::usage(message)),
        }
    }
}

/// The error of Prometheus and Kubernetes in words, else the beginning of the answer.
fn error_text(body: &[u8]) -> String {
    let value: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    let word = |name: &str| value.get(name).and_then(serde_json::Value::as_str);
    let text = word("error").or_else(|| word("message")).map(str::to_owned);
    let text = text.unwrap_or_else(|| String::from_utf8_lossy(body).into_owned());
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let text: String = text.chars().map(clean).take(QUOTED).collect();
    text.trim().to_owned()
}

fn bytes(file: &Path) -> Result<Vec<u8>, Failure> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    fs::File::open(file)
        .and_then(|file| file.take(FILE_MAX).read_to_end(&mut bytes))
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", file.display())))?;
    Ok(bytes)
}

/// The token in a file, without the line feed at its end.
fn secret(file: &Path) -> Result<String, Failure> {
    let text = String::from_utf8_lossy(&bytes(file)?).trim().to_owned();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Failure::usage(format!("{}: no token", file.display())));
    }
    Ok(text)
}

fn private_key(file: &Path) -> Result<PrivateKey<'static>, Failure> {
    PrivateKey::from_pem(&bytes(file)?)
        .map_err(|error| Failure::usage(format!("{}: {error}", file.display())))
}

#[cfg(test)]
pub(crate) mod tests;
