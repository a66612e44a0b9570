//! Queries of earlier states: `at`, and `recorded` for the data that was recorded by then.
//!
//! Rights are those of today: a caller sees the history of projects that are visible to them now.

use std::sync::Arc;

use bank_api::v1::{PastPageQuery, PastQuery};
use bank_core::refusal::Refusal;
use bank_core::time::Timestamp;
use bankd_store::read::past::{self, AsOf};

use super::call::Call;
use super::json;
use super::pages::Turn;
use super::view::View;
use crate::error::Failure;

/// The bank at an instant.
pub(super) struct Then {
    /// The part of the journal that counts.
    pub(super) as_of: AsOf,
    /// The instant.
    pub(super) at: Timestamp,
    /// The reference data of then, as the caller may see it now.
    pub(super) view: View,
}

/// The bank at the instant that the query names; none without one.
pub(super) async fn requested(call: &Call) -> Result<Option<Then>, Failure> {
    let PastQuery { at, recorded } = call.query()?;
    then(call, at.as_deref(), recorded).await
}

/// The same for a list, with the requested page.
pub(super) async fn listed(call: &Call) -> Result<(Option<Then>, Turn), Failure> {
    let PastPageQuery {
        at,
        recorded,
        limit,
        after,
    } = call.query()?;
    let turn = Turn::of(call, limit, after)?;
    Ok((then(call, at.as_deref(), recorded).await?, turn))
}

/// The requested instant; `None` without one. `recorded` requires an instant.
pub(super) fn moment(
    call: &Call,
    at: Option<&str>,
    recorded: bool,
) -> Result<Option<Timestamp>, Failure> {
    let Some(text) = at else {
        if recorded {
            let expected = "`at`: recorded needs an instant";
            let field = "recorded";
            return Err(call.refused(&Refusal::BadValue { field, expected }));
        }
        return Ok(None);
    };
    let at = instant(text, call.now()).map_err(|r| call.refused(&r))?;
    Ok(Some(at))
}

/// The bank at an instant; none without one.
pub(super) async fn then(
    call: &Call,
    at: Option<&str>,
    recorded: bool,
) -> Result<Option<Then>, Failure> {
    let Some(at) = moment(call, at, recorded)? else {
        return Ok(None);
    };
    let as_of = if recorded {
        AsOf::recorded(at)
    } else {
        AsOf::effective(at)
    };
    let policy = call.directory().policy;
    let directory = call.ask(move |connection| past::directory(connection, as_of, policy));
    let directory = Arc::new(directory.await?);
    Ok(Some(Then {
        as_of,
        at,
        view: call.view.then(directory),
    }))
}

/// The view of an instant, or of now.
pub(super) fn view<'a>(then: Option<&'a Then>, call: &'a Call) -> &'a View {
    then.map_or(&call.view, |then| &then.view)
}

/// An instant in the past, for which the journal is complete.
fn instant(text: &str, now: Timestamp) -> Result<Timestamp, Refusal> {
    let at = json::read_time(text, "at")?;
    if at <= now {
        return Ok(at);
    }
    Err(Refusal::bad_value("at", "a time that has passed"))
}
