//! `POST /api/v1/batch`: many commands in one request. Each is a request to a route of the table, with the
//! caller of the batch and a key of its own.
//!
//! Commands are written in their order. Those that read nothing before they are in the writer's queue are in
//! progress beside each other, so that they share commits. Every other command begins after the earlier ones are
//! done, and ends before the later ones begin.

mod command;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use bank_api::v1::{BATCH_COMMANDS_MAX, BatchAnswer, BatchDone, NewBatch, WriteQuery};
use bankd_ledger::access::right::Right;
use bankd_ledger::writer::{Turn, Whole};
use bankd_services::Services;
use serde_json::value::{RawValue, to_raw_value};
use tokio::task::JoinSet;

use super::call::{Call, Handled};
use crate::error::{self, Failure};
use crate::frame::within_limits;
use crate::log::{Denied, Stories, Story};
use crate::route::{Joins, Route, once};
use command::Prepared;

/// Commands of one batch that are in progress at once, at most.
const BESIDE_MAX: usize = 256;

/// The routes of the commands.
#[derive(Clone)]
pub struct Commands {
    router: Router,
    /// How the routes without parameters in their path may be in a batch.
    joins: Arc<HashMap<(Method, Cow<'static, str>), Joins>>,
}

impl Commands {
    /// The table, and its router without the frame.
    pub(crate) fn new(rows: &[Route], router: Router) -> Commands {
        let joins = rows
            .iter()
            .map(|row| ((row.method.clone(), row.path.clone()), row.joins));
        Commands {
            router,
            joins: Arc::new(joins.collect()),
        }
    }
}

/// The row of the batch itself, over the routes of its commands.
pub fn row(commands: Commands) -> Route {
    let run = move |call: Call| {
        let commands = commands.clone();
        async move { batch(&call, commands).await }
    };
    Route::post("/api/v1/batch", run)
        .right(Right::SeeStatus)
        .description("Run many commands, each with an answer of its own")
        .more(
            "Commands run in their order, and a refused one does not stop the others. Each needs the right of \
             its own route. With `all_or_nothing` every command must be one of the money movements, a reserve, \
             a charge or a document of the scheduler with one object.",
        )
        .query::<WriteQuery>()
        .body::<NewBatch>()
        .gives::<BatchDone>(200, "The answers, in the order of the commands.")
}

async fn batch(call: &Call, commands: Commands) -> Handled {
    let WriteQuery { dry_run } = call.query()?;
    let batch: NewBatch = call.json()?;
    if !(1..=BATCH_COMMANDS_MAX).contains(&batch.commands.len()) {
        let detail = format!("commands: 1 to {BATCH_COMMANDS_MAX} in one request");
        return Err(Failure::new("bad_request", detail).hint("send them in several requests"));
    }
    let whole = batch.all_or_nothing.then(Whole::default);
    let mut running = Running {
        services: Arc::clone(&call.services),
        commands,
        whole,
        dry_run,
        tasks: JoinSet::new(),
        answers: Vec::new(),
    };
    running.answers.resize_with(batch.commands.len(), || None);
    for (place, new) in batch.commands.iter().enumerate() {
        let prepared = command::prepare(new, place, &call.auth, call.services.auth.window_s);
        running.run(place, prepared).await;
    }
    running.finish().await
}

/// A batch in progress.
struct Running {
    services: Arc<Services>,
    commands: Commands,
    whole: Option<Whole>,
    dry_run: bool,
    tasks: JoinSet<(usize, Response)>,
    answers: Vec<Option<Response>>,
}

impl Running {
    /// Begins one command, at the latest when the earlier ones allow it.
    async fn run(&mut self, place: usize, prepared: Result<Prepared, Failure>) {
        let admitted = prepared.and_then(|prepared| self.admitted(place, prepared));
        let (mut prepared, joins) = match admitted {
            Ok(admitted) => admitted,
            Err(failure) => return self.keep(place, failure.into_response()),
        };
        let is_beside = self.whole.is_some() || joins == Joins::Beside;
        if !is_beside || self.tasks.len() >= BESIDE_MAX && self.whole.is_none() {
            self.drain().await;
        }
        let turn = self.whole.as_ref().map_or_else(Turn::default, Turn::of);
        prepared.caller.turn = Some(turn.clone());
        let (router, own, id) = (
            self.commands.router.clone(),
            turn.clone(),
            prepared.caller.request_id.clone(),
        );
        let request = prepared.request(self.dry_run);
        self.tasks.spawn(async move {
            let response = match request {
                Ok(request) => once(router, request).await,
                Err(failure) => failure.into_response(),
            };
            own.leave();
            (place, error::with_request_id(response, &id))
        });
        turn.entered().await;
        if !is_beside {
            self.drain().await;
        }
    }

    /// A command that may be in this batch, and is within the limits of its client.
    fn admitted(&self, place: usize, command: Prepared) -> Result<(Prepared, Joins), Failure> {
        let path = Cow::Owned(command.path().to_owned());
        let found = self.commands.joins.get(&(command.method.clone(), path));
        let joins = found.copied().unwrap_or_default();
        if self.whole.is_some() && joins == Joins::Alone {
            let detail = "all_or_nothing: this command is not one that can be undone with others";
            return Err(Failure::new("bad_request", detail).field("path"));
        }
        // The first one is the request itself.
        if place > 0 {
            let is_nami = command.path().starts_with("/nami/");
            let limits = within_limits(&self.services, is_nami, &command.caller, command.length());
            if limits.is_err() {
                let detail = "the client of the batch is beyond its limit";
                return Err(Failure::new("rate_limited", detail));
            }
        }
        Ok((command, joins))
    }

    /// Waits until every command that began is done.
    async fn drain(&mut self) {
        while self.one_ends().await {}
    }

    /// Waits for the end of one command; false if none is in progress.
    async fn one_ends(&mut self) -> bool {
        match self.tasks.join_next().await {
            Some(Ok((place, response))) => {
                self.keep(place, response);
                true
            }
            // A panic is an answer already, so this is a task that the runtime ended.
            Some(Err(_)) => true,
            None => false,
        }
    }

    fn keep(&mut self, place: usize, response: Response) {
        if let Some(answer) = self.answers.get_mut(place) {
            *answer = Some(response);
        }
    }

    /// Writes what is to be written together, and makes the answer.
    async fn finish(mut self) -> Result<Response, Failure> {
        if let Some(whole) = self.whole.clone() {
            // The commands that do not wait for the others end by themselves.
            while self.tasks.len() > whole.len() && self.one_ends().await {}
            let is_bad = |answer: &Response| answer.status().as_u16() >= 400;
            if self.answers.iter().flatten().any(is_bad) {
                whole.abandon();
            } else {
                whole.submit(&self.services.writer)?;
            }
        }
        self.drain().await;
        answered(self.answers).await
    }
}

/// The answers as one, with the log lines of all.
async fn answered(all: Vec<Option<Response>>) -> Result<Response, Failure> {
    let mut done = BatchDone {
        answers: Vec::with_capacity(all.len()),
        refused: 0,
    };
    let (mut stories, mut denied) = (Vec::new(), Denied::default());
    for response in all {
        let lost = || Failure::new("internal", "the command has no answer").into_response();
        let mut response = response.unwrap_or_else(lost);
        let extensions = response.extensions_mut();
        stories.extend(extensions.remove::<Stories>().unwrap_or_default().0);
        stories.extend(extensions.remove::<Story>());
        denied.join(extensions.remove().unwrap_or_default());
        let answer = answer_of(response).await?;
        done.refused += u64::from(answer.is_refused());
        done.answers.push(answer);
    }
    let body = serde_json::to_vec(&done).map_err(unwritable)?;
    let media = [(axum::http::header::CONTENT_TYPE, "application/json")];
    let mut response = (StatusCode::OK, media, body).into_response();
    response.extensions_mut().insert(Stories(stories));
    denied.put(response.extensions_mut());
    Ok(response)
}

async fn answer_of(response: Response) -> Result<BatchAnswer, Failure> {
    let (parts, body) = response.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await;
    let body = String::from_utf8_lossy(&body.unwrap_or_default()).into_owned();
    let media = parts.headers.get(axum::http::header::CONTENT_TYPE);
    let is_json = media.is_some_and(|media| media.as_bytes().ends_with(b"json"));
    let json = is_json.then(|| RawValue::from_string(body.clone()).ok());
    let body = match json.flatten() {
        Some(json) => json,
        None => to_raw_value(&body).map_err(unwritable)?,
    };
    Ok(BatchAnswer {
        status: parts.status.as_u16(),
        replayed: parts.headers.contains_key("idempotent-replay"),
        body,
    })
}

fn unwritable(_: serde_json::Error) -> Failure {
    Failure::new("internal", "an answer cannot be written as JSON")
}
