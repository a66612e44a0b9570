//! Every route (`auditor-api.md` 1), and one log line for each request.

use std::time::Duration;

use bank_api::cluster::POSITION;
use bankd_intake::auditor::Act;
use bankd_ledger::clock::{self, Stopwatch};
use bankd_services::position::Seen;
use hyper::body::Incoming;
use hyper::header::ACCEPT;
use hyper::{HeaderMap, Method, Request};

use super::access::Right;
use super::answer::{self, Answer, Dropped};
use super::house::{House, Visitor};
use super::metrics::{Answered, MEDIA, Route};
use super::query::Query;
use super::write::{self, Writing};
use super::{escape, read};

/// Maximum time for the health check of the database.
const ALIVE: Duration = Duration::from_secs(2);

/// The answer to a request; an error if the connection must end without one.
pub(super) async fn answer(
    house: &House,
    visitor: &Visitor,
    request: Request<Incoming>,
) -> Result<Answer, Dropped> {
    let since = Stopwatch::start();
    let request_id = clock::request_id();
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let is_read = matches!(method, Method::GET | Method::HEAD);
    let before = Seen::now(&house.services.writer).filter(|_| is_read);
    let mut answered = route(house, visitor, request, &request_id).await;
    if let Ok(answer) = &mut answered
        && !answer.headers().contains_key(POSITION)
        && let Some(seen) = before.or_else(|| Seen::now(&house.services.writer))
    {
        seen.show(answer.headers_mut());
    }
    let took = since.elapsed();
    let duration_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    let how = match &answered {
        Ok(answer) => Answered::Status(answer.status().as_u16()),
        Err(_) => Answered::Dropped,
    };
    house.tally.meter.answered(known(&method, &path), how, took);
    let remote = visitor.described();
    match &answered {
        Ok(answer) => tracing::debug!(
            request_id, remote, %method, path, status = answer.status().as_u16(), duration_us,
            "request"
        ),
        // The writer reports a full disk, with a count.
        Err(dropped) if dropped.0 == write::DISK_FULL => tracing::debug!(
            request_id, remote, %method, path, reason = dropped.0, duration_us, "not answered"
        ),
        Err(dropped) => {
            tracing::error!(
                request_id, remote, %method, path, reason = dropped.0, duration_us,
                "not answered: the client will retry"
            );
        }
    }
    answered
}

async fn route(
    house: &House,
    visitor: &Visitor,
    request: Request<Incoming>,
    request_id: &str,
) -> Result<Answer, Dropped> {
    let path = request.uri().path().to_owned();
    let method = request.method();
    let is_read = matches!(*method, Method::GET | Method::HEAD);
    let act = match (method, path.as_str()) {
        (&Method::POST, "/record") => Some(Act::One),
        (&Method::POST, "/records") => Some(Act::Many),
        (&Method::PUT, "/record") => Some(Act::End),
        _ => None,
    };
    if let Some(act) = act {
        let writing = Writing {
            house,
            visitor,
            act,
            request_id: request_id.to_owned(),
        };
        return writing.answer(request).await;
    }
    Ok(match path.as_str() {
        "/records" if is_read => records(house, visitor, &request).await,
        "/health_check" if is_read => health(house).await,
        "/metrics" if is_read => metrics(house, visitor).await,
        "/record" => answer::no_method("POST, PUT"),
        "/records" => answer::no_method("GET, HEAD, POST"),
        path => match path.strip_prefix("/record/") {
            Some(record_id) if is_read => record(house, visitor, record_id).await,
            _ => answer::no_route(),
        },
    })
}

async fn records(house: &House, visitor: &Visitor, request: &Request<Incoming>) -> Answer {
    if let Err(denied) = house.access().allowed(&visitor.identity, Right::Read) {
        house.denied(visitor, "GET /records", &denied);
        return answer::forbidden(&denied);
    }
    let query = match Query::parse(request.uri().query().unwrap_or_default()) {
        Ok(query) => query,
        Err(why) => return answer::no_query(&why),
    };
    if request.method() == Method::HEAD {
        return answer::record(Vec::new());
    }
    let reach = house.access().reach(&visitor.identity).cloned();
    read::many(&house.readers, reach, query, wants_array(request.headers())).await
}

/// Whether a client explicitly accepts JSON. AUDITOR's clients do not.
fn wants_array(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter();
    let mut kinds = accepted
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    kinds.any(|kind| {
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("application/json")
    })
}

/// The rest of the path is the name, with or without escapes, because clients send it unencoded.
async fn record(house: &House, visitor: &Visitor, record_id: &str) -> Answer {
    if let Err(denied) = house.access().allowed(&visitor.identity, Right::Read) {
        house.denied(visitor, "GET /record", &denied);
        return answer::forbidden(&denied);
    }
    let Some(record_id) = escape::decoded(record_id) else {
        return answer::no_such_record();
    };
    let reach = house.access().reach(&visitor.identity).cloned();
    read::one(&house.readers, reach, record_id).await
}

/// Whether records can be stored and read.
async fn health(house: &House) -> Answer {
    let there = house.readers.ask(ALIVE, |connection| {
        bankd_store::read::auditor::record(connection, "")
    });
    if there.await.is_some() && !house.services.writer_thread.is_finished() {
        answer::done()
    } else {
        answer::unwell()
    }
}

/// The visible stored records and the counters since the start.
async fn metrics(house: &House, visitor: &Visitor) -> Answer {
    if let Err(denied) = house.access().allowed(&visitor.identity, Right::Metrics) {
        house.denied(visitor, "GET /metrics", &denied);
        return answer::forbidden(&denied);
    }
    let access = house.access();
    let reach = access.reach(&visitor.identity);
    match house.tally.text(&access, &house.readers, reach).await {
        Some(text) => answer::plain(MEDIA, text),
        None => answer::unanswered("the database does not answer"),
    }
}

/// The route of a request, for the meter.
fn known(method: &Method, path: &str) -> Route {
    let is_read = matches!(*method, Method::GET | Method::HEAD);
    match (method, path) {
        (&Method::POST, "/record") => Route::Add,
        (&Method::PUT, "/record") => Route::Update,
        (&Method::POST, "/records") => Route::Bulk,
        (_, "/records") if is_read => Route::Query,
        (_, "/health_check") if is_read => Route::Health,
        (_, "/metrics") if is_read => Route::Metrics,
        (_, path) if is_read && path.starts_with("/record/") => Route::One,
        _ => Route::Other,
    }
}
