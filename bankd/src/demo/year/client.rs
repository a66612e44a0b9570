//! Requests to the bank inside the process, at the time of the year.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use bank_api::text::format_rfc3339;
use bank_core::time::Timestamp;
use bankd_http::auth::{SignedIn, outside};
use bankd_http::inside::Inside;
use bankd_ledger::clock::SetClock;
use bankd_services::Services;
use serde_json::Value;

use super::DAY;

/// Sends requests as the person who made the bank, or with a token.
pub(super) struct Client {
    inside: Inside,
    clock: Arc<SetClock>,
    start: i64,
    number: u64,
    token: Option<String>,
    is_manager: bool,
}

impl Client {
    pub(super) fn new(
        services: &Arc<Services>,
        uid: u32,
        clock: Arc<SetClock>,
        start: Timestamp,
    ) -> Self {
        Self {
            inside: Inside::new(services, uid),
            clock,
            start: start.0,
            number: 0,
            token: None,
            is_manager: false,
        }
    }

    /// Sets the clock of the bank.
    pub(super) fn set(&self, us: i64) {
        self.clock.set(Timestamp(us));
    }

    /// An instant of the year, µs.
    pub(super) fn instant(&self, day: i64, us: i64) -> i64 {
        self.start.saturating_add(day * DAY).saturating_add(us)
    }

    /// An instant of the year as text.
    pub(super) fn time(&self, day: i64, us: i64) -> String {
        format_rfc3339(self.instant(day, us))
    }

    /// The present as text, some time later.
    pub(super) fn later(&self, us: i64) -> String {
        use bankd_ledger::clock::LedgerClock as _;
        format_rfc3339(self.clock.now().0.saturating_add(us))
    }

    /// The token of the account manager, for later requests of hers.
    pub(super) fn give(&mut self, token: &str) {
        self.token = Some(token.to_owned());
    }

    /// Sends later requests as the account manager, or as the person who made the bank.
    pub(super) fn manages(&mut self, is_manager: bool) {
        self.is_manager = is_manager;
    }

    /// Sends a request as a person of the bank.
    pub(super) async fn post_as(&mut self, name: &str, target: &str, body: &Value) -> Result<()> {
        let person = self.inside.of_person(SignedIn(outside(name)));
        let own = std::mem::replace(&mut self.inside, person);
        let done = self.post(target, body).await;
        self.inside = own;
        done.map(|_| ())
    }

    pub(super) async fn post(&mut self, target: &str, body: &Value) -> Result<Value> {
        self.send("POST", target, body).await
    }

    pub(super) async fn send(&mut self, method: &str, target: &str, body: &Value) -> Result<Value> {
        let bytes = if body.is_null() {
            Vec::new()
        } else {
            serde_json::to_vec(body)?
        };
        self.bytes(method, target, bytes).await
    }

    /// Sends bytes. An answer that is no success is an error.
    pub(super) async fn bytes(
        &mut self,
        method: &str,
        target: &str,
        body: Vec<u8>,
    ) -> Result<Value> {
        self.number = self.number.saturating_add(1);
        let key = format!("demo-{}", self.number);
        let mut fields = vec![("Idempotency-Key", key.as_str())];
        let token = self.token.as_ref().filter(|_| self.is_manager);
        let bearer = token.map(|token| format!("Bearer {token}"));
        if let Some(bearer) = &bearer {
            fields.push(("Authorization", bearer));
        }
        if !body.is_empty() {
            fields.push(("Content-Type", "application/json"));
        }
        let (status, answer) = self.inside.send(method, target, &fields, body).await?;
        if !(200..300).contains(&status) {
            let text = String::from_utf8_lossy(&answer);
            bail!("{method} {target}: {status} {text}");
        }
        Ok(serde_json::from_slice(&answer).unwrap_or(Value::Null))
    }
}

/// Adds a member to a body.
pub(super) fn put(body: &mut Value, name: &str, value: Value) {
    if let Some(members) = body.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
}

/// A text of an answer.
pub(super) fn text<'a>(answer: &'a Value, name: &'static str) -> Result<&'a str> {
    answer.get(name).and_then(Value::as_str).context(name)
}
