//! Signatures made and checked a second time, by hand and from the text of `http-auth.md` alone, so
//! that the daemon is not measured with its own ruler.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use super::bank::{KEY_ID, SECRET};
use super::client::{Request, Response};

/// How a request is signed.
#[derive(Clone, Debug)]
pub(crate) struct Signing {
    /// The covered components, in order.
    pub(crate) covered: Vec<String>,
    /// Seconds since 1970.
    pub(crate) created: i64,
    pub(crate) keyid: String,
    pub(crate) secret: Vec<u8>,
    pub(crate) nonce: String,
    /// Further parameters, such as `;alg="hmac-sha256"`.
    pub(crate) more: String,
}

impl Signing {
    /// As the scripts do it: everything that a command carries, with a new nonce, now.
    pub(crate) fn new() -> Self {
        let covered = [
            "@method",
            "@path",
            "@query",
            "content-digest",
            "idempotency-key",
        ];
        Self {
            covered: covered.map(str::to_owned).to_vec(),
            created: bankd_ledger::clock::auth_now_s(),
            keyid: KEY_ID.to_owned(),
            secret: SECRET.to_vec(),
            nonce: uuid::Uuid::new_v4().simple().to_string(),
            more: ";alg=\"hmac-sha256\"".to_owned(),
        }
    }

    /// Covers exactly these.
    pub(crate) fn covering(mut self, components: &[&str]) -> Self {
        self.covered = components.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// Covers exactly what the request carries, and signs it.
    pub(crate) fn sign_all(&self, request: Request) -> Request {
        let mut components = vec!["@method", "@path"];
        if request.target.contains('?') {
            components.push("@query");
        }
        if !request.body.is_empty() {
            components.push("content-digest");
        }
        for name in ["idempotency-key", "bank-event-time"] {
            if !request.joined(name).is_empty() {
                components.push(name);
            }
        }
        self.clone().covering(&components).sign(request)
    }

    /// Adds digest and signature to a request.
    pub(crate) fn sign(&self, request: Request) -> Request {
        let with_digest = self.covered.iter().any(|name| name == "content-digest");
        let has_digest = !request.joined("content-digest").is_empty();
        let request = if with_digest && !has_digest {
            let value = digest(&request.body);
            request.header("Content-Digest", &value)
        } else {
            request
        };
        let list: Vec<String> = self
            .covered
            .iter()
            .map(|name| format!("\"{name}\""))
            .collect();
        let parameters = format!(
            "({});created={};keyid=\"{}\";nonce=\"{}\"{}",
            list.join(" "),
            self.created,
            self.keyid,
            self.nonce,
            self.more
        );
        let mut base = String::new();
        for name in &self.covered {
            writeln!(base, "\"{name}\": {}", component(&request, name)).unwrap();
        }
        write!(base, "\"@signature-params\": {parameters}").unwrap();
        let signature = STANDARD.encode(mac(&self.secret, &base));
        request
            .header("Signature-Input", &format!("sig1={parameters}"))
            .header("Signature", &format!("sig1=:{signature}:"))
    }
}

/// The value of a `Content-Digest` header.
pub(crate) fn digest(body: &[u8]) -> String {
    format!("sha-256=:{}:", STANDARD.encode(Sha256::digest(body)))
}

/// Checks the signature of an answer to a request that was signed with this secret; says what is
/// wrong with it.
pub(crate) fn verify(request: &Request, response: &Response, secret: &[u8]) -> Result<(), String> {
    let field = |name: &str| response.header(name).ok_or(format!("no {name}"));
    let input = field("signature-input")?;
    let parameters = input.strip_prefix("sig1=").ok_or("another label")?;
    let mut base = format!("\"@status\": {}\n", response.status);
    let covered = if response.body.is_empty() {
        "(\"@status\" \"signature\";req);"
    } else {
        let expected = digest(&response.body);
        if field("content-digest")? != expected {
            return Err("the digest is not the body's".to_owned());
        }
        writeln!(base, "\"content-digest\": {expected}").unwrap();
        "(\"@status\" \"content-digest\" \"signature\";req);"
    };
    if !parameters.starts_with(covered) {
        return Err(format!("covers {parameters}"));
    }
    let sent = request.joined("signature");
    writeln!(base, "\"signature\";req: {sent}").unwrap();
    write!(base, "\"@signature-params\": {parameters}").unwrap();
    let expected = format!("sig1=:{}:", STANDARD.encode(mac(secret, &base)));
    if field("signature")? == expected {
        Ok(())
    } else {
        Err("the signature is wrong".to_owned())
    }
}

fn component(request: &Request, name: &str) -> String {
    let (path, query) = request
        .target
        .split_once('?')
        .unwrap_or((&request.target, ""));
    match name {
        "@method" => request.method.to_owned(),
        "@path" => path.to_owned(),
        "@query" => format!("?{query}"),
        "@request-target" => request.target.clone(),
        "@authority" => "localhost".to_owned(),
        field => request.joined(field),
    }
}

fn mac(secret: &[u8], base: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).unwrap();
    mac.update(base.as_bytes());
    mac.finalize().into_bytes().to_vec()
}
