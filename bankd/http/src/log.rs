//! One structured line for each command (`ux.md` 7), and one at a lower level for each read.
//!
//! A handler that ran a command puts the result into its response's extensions: a [`Story`], or [`Stories`] for several
//! commands. `Denied` records the refusal of an authenticated
//! caller. A line never contains bodies, secrets, signatures, nonces, or idempotency keys.

use axum::extract::MatchedPath;
use axum::http::Extensions;
use axum::http::request;
use axum::http::response;
use bank_api::error::Problem;
use bank_api::nami;
use bank_api::sign::Failure;
use bank_core::command::{Command, Object};
use bankd_ledger::access::Roles;
use bankd_ledger::clock::Stopwatch;
use bankd_ledger::writer::Summary;
use bankd_services::Services;
use bankd_store::answer::Answer;

use super::auth::Peer;

/// Results of the commands of one request, for the log.
#[derive(Clone, Debug, Default)]
pub struct Stories(pub Vec<Story>);

/// Result and object of one command. A text that does not apply is empty.
#[derive(Clone, Debug)]
pub struct Story {
    /// The summary of the writer.
    pub summary: Summary,
    /// The project as named.
    pub project: String,
    /// The user as named.
    pub user: String,
    /// The scheduler's id.
    pub job: String,
    /// The machine as named.
    pub machine: String,
}

impl Story {
    /// The story of a command, once it has a summary: the first name of each kind in the command. An account without a
    /// project of its name counts as a project.
    pub fn about(command: &Command) -> impl FnOnce(Summary) -> Self + use<> {
        let [mut project, mut user, mut job, mut machine] = [const { String::new() }; 4];
        let set = |text: &mut String, name: &str| {
            if text.is_empty() {
                name.clone_into(text);
            }
        };
        for object in command.objects() {
            match object {
                Object::Account(name) => set(&mut project, &name),
                Object::Project(name) | Object::Row(name, _) => set(&mut project, name),
                Object::User(name) => set(&mut user, name),
                Object::Machine(name) => set(&mut machine, name),
                Object::Job(id) => set(&mut job, id),
                Object::Payer(whose) => {
                    set(&mut project, whose.project.as_deref().unwrap_or_default());
                    set(&mut user, whose.user.as_deref().unwrap_or_default());
                    set(&mut machine, &whose.machine);
                }
                Object::Bank | Object::Allocation(_) | Object::Lien(_) | Object::Inside(_) => {}
            }
        }
        move |summary| Self {
            summary,
            project,
            user,
            job,
            machine,
        }
    }
}

/// Reasons for the refusal of an authenticated caller, in the extensions of a response. Each reason of
/// several commands occurs once, with its number.
#[derive(Clone, Debug, Default)]
pub(super) struct Denied(Vec<Reason>);

#[derive(Clone, Debug)]
struct Reason {
    /// A row of the one table.
    code: &'static str,
    /// The text that the caller got.
    why: String,
    times: u64,
}

impl Denied {
    /// A refusal before any rule; empty if the code is not about access.
    pub(super) fn of(code: &'static str, why: String) -> Denied {
        let mut denied = Denied::default();
        denied.add(code, why);
        denied
    }

    /// Adds a refusal by a rule because of the caller's identity. Other results add nothing.
    pub(super) fn by_rule(&mut self, summary: &Summary, answer: &Answer) {
        if OF_ACCESS.contains(&summary.code) {
            self.add(summary.code, sentence(answer));
        }
    }

    /// Adds the reasons of another request.
    pub(super) fn join(&mut self, other: Denied) {
        for Reason { code, why, times } in other.0 {
            (0..times).for_each(|_| self.add(code, why.clone()));
        }
    }

    /// Puts it beside the answer that leaves.
    pub(super) fn put(self, extensions: &mut Extensions) {
        if !self.0.is_empty() {
            extensions.insert(self);
        }
    }

    fn add(&mut self, code: &'static str, why: String) {
        if !OF_ACCESS.contains(&code) {
            return;
        }
        let is_full = self.0.len() >= REASONS_MAX;
        let same = |r: &&mut Reason| r.code == code && (is_full || r.why == why);
        if let Some(known) = self.0.iter_mut().rfind(same) {
            known.times = known.times.saturating_add(1);
            return;
        }
        self.0.push(Reason {
            code,
            why,
            times: 1,
        });
    }
}

/// The sentence of an answer that refuses.
fn sentence(answer: &Answer) -> String {
    if let Some(problem) = Problem::from_json(&answer.body) {
        return problem.detail.unwrap_or_default();
    }
    match nami::Line::parse(String::from_utf8_lossy(&answer.body).trim_end()) {
        Ok(nami::Line::Refused { text, .. } | nami::Line::Error { text, .. }) => text,
        _ => String::new(),
    }
}

/// The refusals because of the caller, not of the request.
const OF_ACCESS: [&str; 3] = ["not_allowed", "over_limit", "own_proposal"];
/// Maximum number of reasons of one request with a separate line. Later ones count with the last of their
/// code.
const REASONS_MAX: usize = 16;
/// Longest path in the log.
const OBJECT_MAX: usize = 256;

/// The line of a request while it is under way.
#[derive(Debug)]
pub(super) struct Line {
    since: Stopwatch,
    peer: Peer,
    request_id: String,
    method: axum::http::Method,
    route: Option<MatchedPath>,
    path: String,
    caller: String,
    roles: Roles,
    failure: Option<Failure>,
}

impl Line {
    pub(super) fn new(
        since: Stopwatch,
        peer: Peer,
        request_id: String,
        parts: &request::Parts,
    ) -> Self {
        // The pattern, not the path: names of users and projects stay out of it.
        let route = parts.extensions.get::<MatchedPath>().cloned();
        Self {
            since,
            peer,
            request_id,
            method: parts.method.clone(),
            route,
            path: parts.uri.path().chars().take(OBJECT_MAX).collect(),
            caller: String::new(),
            roles: Roles::default(),
            failure: None,
        }
    }

    fn route(&self) -> &str {
        self.route.as_ref().map_or("", MatchedPath::as_str)
    }

    pub(super) fn request_id(&self) -> &str {
        &self.request_id
    }

    pub(super) fn peer(&self) -> Peer {
        self.peer
    }

    pub(super) fn called_by(&mut self, caller: &str) {
        caller.clone_into(&mut self.caller);
    }

    pub(super) fn with_roles(&mut self, roles: Roles) {
        self.roles = roles;
    }

    pub(super) fn unauthorized(&mut self, failure: Failure) {
        self.failure = Some(failure);
    }

    /// Writes the line, or one for each command.
    pub(super) fn write(&self, services: &Services, response: &response::Parts) {
        let status = response.status.as_u16();
        services.requests.answered(
            self.method.as_str(),
            self.route(),
            status,
            self.duration_us(),
        );
        if let Some(failure) = self.failure {
            let reason = failure.reason();
            tracing::warn!(
                request_id = %self.request_id, remote = %self.peer, method = %self.method,
                route = self.route(), reason, status, "not authenticated"
            );
            return;
        }
        self.denied(services, response);
        if let Some(stories) = response.extensions.get::<Stories>() {
            stories
                .0
                .iter()
                .for_each(|story| self.command(services, story, status));
        } else if let Some(story) = response.extensions.get::<Story>() {
            self.command(services, story, status);
        } else {
            self.request(status);
        }
    }

    /// Counts refusals of access, and logs the caller, the reason, and the object.
    fn denied(&self, services: &Services, response: &response::Parts) {
        let denied = response.extensions.get::<Denied>();
        for Reason { code, why, times } in denied.into_iter().flat_map(|denied| &denied.0) {
            services.counters.access_refused(self.roles, code, *times);
            tracing::warn!(
                request_id = %self.request_id, caller = %self.caller, roles = %self.roles.words(),
                remote = %self.peer, method = %self.method, route = self.route(),
                object = %self.path, code, why = why.as_str(), times, "access refused"
            );
        }
    }

    fn request(&self, status: u16) {
        let duration_us = self.duration_us();
        macro_rules! line {
            ($level:ident) => {
                tracing::$level!(
                    request_id = %self.request_id, caller = %self.caller, remote = %self.peer,
                    method = %self.method, route = self.route(), status, duration_us, "request"
                )
            };
        }
        match status {
            // The writer reports these, with a count: the log may be on the same disk.
            507 => line!(debug),
            503 => line!(warn),
            500..=599 => line!(error),
            _ => line!(debug),
        }
    }

    fn command(&self, services: &Services, story: &Story, status: u16) {
        if !tracing::enabled!(tracing::Level::INFO) {
            return;
        }
        let summary = &story.summary;
        let directory = services.writer.directory();
        let places = directory.bank.precision.places();
        let amount = summary.amount;
        let amount = amount.map(|minor| bank_api::text::format_amount(minor, places));
        let outcome = if summary.code.is_empty() {
            "done"
        } else {
            "refused"
        };
        tracing::info!(
            request_id = %self.request_id,
            caller = %self.caller,
            remote = %self.peer,
            route = self.route(),
            kind = summary.op,
            project = %story.project,
            user = %story.user,
            job = %story.job,
            machine = %story.machine,
            amount,
            currency = amount.as_ref().map(|_| directory.bank.unit.as_str()),
            outcome,
            code = summary.code,
            status,
            txn = summary.transaction,
            duration_us = self.duration_us(),
            queue_us = summary.queue_us,
            commit_us = summary.commit_us,
            batch = summary.batch,
            "command"
        );
    }

    fn duration_us(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}
