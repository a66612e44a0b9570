//! The names in a path, as a handler gets them.

use axum::extract::FromRequestParts;
use axum::extract::path::ErrorKind;
use axum::extract::rejection::PathRejection;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::error::Failure;

/// The parameters of a path, percent-decoded. A value that is no text, or no number, is a problem document
/// like any other error.
pub(super) struct Path<T>(pub(super) T);

impl<T, S> FromRequestParts<S> for Path<T>
where
    T: DeserializeOwned + Send,
    S: Send + Sync,
{
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let read = axum::extract::Path::from_request_parts(parts, state).await;
        let axum::extract::Path(values) = read.map_err(|rejection| refused(&rejection))?;
        Ok(Self(values))
    }
}

fn refused(rejection: &PathRejection) -> Failure {
    let PathRejection::FailedToDeserializePathParams(failed) = rejection else {
        return Failure::new("internal", "the path cannot be read");
    };
    let detail = match failed.kind() {
        ErrorKind::InvalidUtf8InPathParam { key } => format!("path: {key} is not UTF-8"),
        ErrorKind::ParseErrorAtKey { key, .. } => format!("path: {key} is not a whole number"),
        ErrorKind::ParseErrorAtIndex { .. } | ErrorKind::ParseError { .. } => {
            "path: a whole number is expected".to_owned()
        }
        _ => return Failure::new("internal", "the path cannot be read"),
    };
    Failure::new("bad_request", detail)
}
