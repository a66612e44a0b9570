//! What a handler of a page gets: the person, what the address asks for, and the API.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::Response;
use bank_api::text::{format_rfc3339, parse_rfc3339};
use bankd_http::auth::{SignedIn, roles_of};
use bankd_ledger::access::right::Right;
use bankd_ledger::access::{Person, Role, Roles};
use bankd_services::position::Seen;
use bankd_services::sessions::WebSession;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::api::Api;
use super::failed::Failed;
use super::target::{Target, fits};
use super::zone::Zone;
use super::{Web, cookie};

/// A page, or why there is none.
pub(crate) type Shown = Result<Response, Failed>;

/// Names and values of a query or a form, decoded.
pub(crate) type Fields = Vec<(String, String)>;

/// A request of a person with a session.
#[derive(Clone)]
pub(crate) struct Visit {
    pub(crate) web: Arc<Web>,
    /// The session.
    pub(crate) session: WebSession,
    /// The roles that the person has now, over the bank or over projects.
    pub(crate) roles: Roles,
    /// The token of forms.
    pub(crate) form_token: String,
    /// The path of the page, without the query.
    pub(crate) path: String,
    /// The query of the address.
    pub(crate) query: Fields,
    /// The fields of a form that was sent.
    pub(crate) form: Fields,
    /// How new the data of the page are at least; none for a bank on a single machine.
    pub(crate) seen: Option<Seen>,
    api: Api,
}

impl Visit {
    pub(crate) fn new(
        web: &Arc<Web>,
        session: WebSession,
        person: Person,
        own: &str,
        parts: &Parts,
    ) -> Self {
        let writer = &web.services.writer;
        let roles = roles_of(&person, &writer.directory(), writer.now());
        let id = bankd_ledger::clock::request_id();
        // The journal keeps it: which session, and how the person signed in.
        let request_id = format!("w{}-{}-{id}", session.id, session.way);
        let query = axum::extract::Query::<Fields>::try_from_uri(&parts.uri);
        Self {
            api: Api::new(&web.inside, SignedIn(person), request_id),
            web: Arc::clone(web),
            session,
            roles,
            form_token: cookie::form_token(own),
            path: parts.uri.path().to_owned(),
            query: query.map(|query| query.0).unwrap_or_default(),
            form: Fields::new(),
            seen: parts.extensions.get::<Seen>().copied(),
        }
    }

    /// Whether the person has a right, over the bank or some projects. Views and rules decide about objects.
    pub(crate) fn may(&self, right: Right) -> bool {
        right.is_held(self.roles)
    }

    /// Whether the person has a role in which jobs of others are listed, over the bank or some projects.
    pub(crate) fn sees_others(&self) -> bool {
        self.roles.words() != Role::User.word()
    }

    /// Whether the person is a contributor, and so sees the own shares of usage and contributions.
    pub(crate) fn is_contributor(&self) -> bool {
        let directory = self.web.services.writer.directory();
        let mut all = directory.records.all("contributor");
        all.any(|record| record.text("user") == self.session.name)
    }

    /// The same visit on the page that a form was sent from: the page is shown again.
    pub(crate) fn on(mut self, page: &str) -> Self {
        page.clone_into(&mut self.path);
        self
    }

    /// A parameter of the address; none if it is absent or empty.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        found(&self.query, name)
    }

    /// A field of the form; none if it is absent or empty.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        found(&self.form, name)
    }

    /// A field of the form without blanks around it; none if it is absent or empty.
    pub(crate) fn trimmed(&self, name: &str) -> Option<String> {
        let text = self.field(name).map(str::trim);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// The same for a field that is required.
    pub(crate) fn needed(&self, name: &str) -> Result<String, Failed> {
        let missing = || Failed::new("missing_field", "required").field(name);
        self.trimmed(name).ok_or_else(missing)
    }

    /// The label of the unit of the bank, such as `SU`.
    pub(crate) fn unit(&self) -> String {
        self.web.services.writer.directory().bank.unit.clone()
    }

    /// The zone of the address.
    pub(crate) fn zone(&self) -> Zone {
        let zone = self.parameter("zone").and_then(Zone::named);
        zone.unwrap_or_default()
    }

    /// Refuses a zone that nobody knows, which [`Self::zone`] would replace.
    pub(crate) fn checked_zone(&self) -> Result<(), Failed> {
        match self.parameter("zone") {
            Some(zone) if Zone::named(zone).is_none() => {
                let detail = format!("{zone:?} is not a time zone such as Europe/Berlin");
                Err(Failed::new("bad_value", detail).field("zone"))
            }
            _ => Ok(()),
        }
    }

    /// The ledger's present, µs since 1970.
    pub(crate) fn present(&self) -> i64 {
        self.web.services.writer.now().0
    }

    /// A time in the address, for the API; absent if it is not there.
    pub(crate) fn moment(&self, name: &str) -> Result<Option<String>, Failed> {
        let Some(text) = self.parameter(name) else {
            return Ok(None);
        };
        self.time_of(name, text).map(Some)
    }

    /// A time that was entered, for the API.
    pub(crate) fn time_of(&self, name: &str, text: &str) -> Result<String, Failed> {
        self.read_time(name, text, "2026-10-01, 2026-10 or -30d")
    }

    /// The same for an end that is later than now.
    pub(crate) fn end_of(&self, name: &str, text: &str) -> Result<String, Failed> {
        self.read_time(name, text, "2027-06-30, 2027-06 or +30d")
    }

    fn read_time(&self, name: &str, text: &str, examples: &str) -> Result<String, Failed> {
        self.zone().read(text, self.present()).ok_or_else(|| {
            let detail = format!("{text:?} is not a time such as {examples}");
            Failed::new("bad_value", detail).field(name)
        })
    }

    /// The period of the address: `from`, and `to`, which is exclusive. Absent ends are absent. Ends such as `-30d` and
    /// `-4w` are the beginning of that day.
    pub(crate) fn period(&self) -> Result<(Option<String>, Option<String>), Failed> {
        let (from, to) = (self.day_or_moment("from")?, self.day_or_moment("to")?);
        let micros = |text: &Option<String>| text.as_deref().and_then(parse_rfc3339);
        if let (Some(start), Some(end)) = (micros(&from), micros(&to))
            && start >= end
        {
            let detail = "the end of the period is not after its start";
            return Err(Failed::new("bad_value", detail).field("to"));
        }
        Ok((from, to))
    }

    fn day_or_moment(&self, name: &str) -> Result<Option<String>, Failed> {
        let found = self.moment(name)?;
        let is_day = |text: &str| text.starts_with('-') && text.ends_with(['d', 'w']);
        match found {
            Some(at) if self.parameter(name).is_some_and(is_day) => {
                self.time_of(name, &self.zone().day(&at)).map(Some)
            }
            found => Ok(found),
        }
    }

    /// The same; without a start, it begins with the day so many days before its end, or before now if that is earlier.
    pub(crate) fn period_of(&self, days: i64) -> Result<(String, Option<String>), Failed> {
        let (from, to) = self.period()?;
        if let Some(from) = from {
            let start = parse_rfc3339(&from).unwrap_or_default();
            if to.is_none() && start > self.present() {
                let detail = "the period has not begun yet, and has no end";
                return Err(Failed::new("bad_value", detail).field("from"));
            }
            return Ok((from, to));
        }
        let end = to.as_deref().and_then(parse_rfc3339);
        let back = days.saturating_mul(86_400_000_000);
        let end = end.map_or(self.present(), |end| end.min(self.present()));
        let start = end.saturating_sub(back);
        let day = self.zone().day(&format_rfc3339(start));
        Ok((self.time_of("from", &day)?, to))
    }

    /// The instant of which the page shows the state; none for now.
    pub(crate) fn at(&self) -> Result<Option<String>, Failed> {
        self.moment("at")
    }

    /// A page with the view of this one: the same zone, and the same instant if it can show the past.
    pub(crate) fn link(&self, segments: &[&str]) -> Target {
        let target = Target::page(segments);
        let at = self.parameter("at");
        let at = at.filter(|_| {
            self.web
                .of_past
                .iter()
                .any(|page| fits(page, target.as_str()))
        });
        target.maybe("zone", self.parameter("zone")).maybe("at", at)
    }

    /// Asks a route of the API.
    pub(crate) async fn get<T: DeserializeOwned>(&self, target: Target) -> Result<T, Failed> {
        self.api.get(&target).await
    }

    /// Asks a route with a body, which changes nothing.
    pub(crate) async fn ask<B: Serialize, T: DeserializeOwned>(
        &self,
        target: Target,
        body: &B,
    ) -> Result<T, Failed> {
        let key = uuid::Uuid::new_v4().to_string();
        let (_, answer) = self.api.send("POST", &target, &key, body).await?;
        Ok(answer)
    }

    /// The answer of a route of the API as it is.
    pub(crate) async fn raw(&self, target: &Target) -> Result<Vec<u8>, Failed> {
        self.api.raw(target).await
    }

    /// Sends a body to a route of the API: the status and the answer. `key` is that of the form.
    pub(crate) async fn send<B: Serialize, T: DeserializeOwned>(
        &self,
        method: &str,
        target: Target,
        key: &str,
        body: &B,
    ) -> Result<(u16, T), Failed> {
        self.api.send(method, &target, key, body).await
    }

    /// Removes an object by a route of the API. `key` is that of the form.
    pub(crate) async fn remove(&self, target: Target, key: &str) -> Result<(), Failed> {
        self.api.remove(&target, key).await
    }

    /// The id of this request in the log.
    pub(crate) fn request_id(&self) -> &str {
        self.api.request_id()
    }
}

fn found<'f>(fields: &'f Fields, name: &str) -> Option<&'f str> {
    let value = fields.iter().find(|(own, _)| own == name);
    value
        .map(|(_, value)| value.as_str())
        .filter(|value| !value.is_empty())
}

impl<S: Sync> FromRequestParts<S> for Visit {
    type Rejection = Failed;

    /// The value that the layer around the pages stored. A page outside of it is a bug and stays closed.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failed> {
        let visit = parts.extensions.get::<Self>().cloned();
        visit.ok_or_else(|| Failed::new("unauthorized", ""))
    }
}
