//! The result of a command: the answer to its request, and the stored answer for repeats.

use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use bankd_store::answer::{Answer, Media};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::answer::respond;
use crate::log::{Denied, Story};

/// Marks the answer to a repeat.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replay");

/// The result of a command before it is sent: the bytes that are stored for repeats.
pub(super) struct Done {
    answer: Answer,
    /// `None` for a repeat.
    story: Option<Story>,
    dry_run: bool,
}

impl Done {
    /// The result of a command that was executed now.
    pub(super) fn fresh(answer: Answer, story: Story, dry_run: bool) -> Done {
        Done {
            answer,
            story: Some(story),
            dry_run,
        }
    }

    /// The stored result of an earlier command.
    pub(super) fn stored(answer: Answer) -> Done {
        Done {
            answer,
            story: None,
            dry_run: false,
        }
    }

    /// Whether the command was accepted.
    pub(super) fn is_accepted(&self) -> bool {
        self.answer.media == Media::Json
    }

    /// Whether it was executed now, not earlier under the same key.
    pub(super) fn is_fresh(&self) -> bool {
        self.story.is_some()
    }

    /// Whether nothing was written.
    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Adds a secret to this answer. It is shown once and never stored, so every form of the answer must
    /// contain it.
    pub(super) fn tell_secret<T: Serialize + DeserializeOwned>(
        &mut self,
        secret: &str,
        add: impl FnOnce(&mut T),
    ) {
        if self.tell_once(add) {
            return;
        }
        let body = serde_json::from_slice::<Map<String, Value>>(&self.answer.body);
        let mut body = body.unwrap_or_default();
        body.insert("secret".to_owned(), Value::from(secret));
        self.answer.body = Value::from(body).to_string().into_bytes();
    }

    /// Adds data to this answer that is not stored. False if the answer has another shape; it is then
    /// unchanged.
    pub(super) fn tell_once<T>(&mut self, add: impl FnOnce(&mut T)) -> bool
    where
        T: Serialize + DeserializeOwned,
    {
        let Ok(mut shape) = serde_json::from_slice::<T>(&self.answer.body) else {
            return false;
        };
        add(&mut shape);
        let body = serde_json::to_vec(&shape);
        body.map(|body| self.answer.body = body).is_ok()
    }
}

/// Additional data of an answer to several commands.
pub(super) struct Beside {
    /// All of them were answered before.
    pub(super) replayed: bool,
    /// Refusals of access among them.
    pub(super) denied: Denied,
}

impl Beside {
    /// Puts it beside the answer that leaves.
    pub(super) fn mark(self, mut response: Response) -> Response {
        self.denied.put(response.extensions_mut());
        if self.replayed {
            return replayed(response);
        }
        response
    }
}

impl IntoResponse for Done {
    fn into_response(self) -> Response {
        let mut denied = Denied::default();
        if let Some(story) = &self.story {
            denied.by_rule(&story.summary, &self.answer);
        }
        let mut response = respond(self.answer);
        if let Some(story) = self.story {
            // For the log line of the request.
            let extensions = response.extensions_mut();
            extensions.insert(story);
            denied.put(extensions);
            return response;
        }
        replayed(response)
    }
}

/// Marks an answer that was given before.
fn replayed(mut response: Response) -> Response {
    let yes = HeaderValue::from_static("true");
    response.headers_mut().insert(REPLAYED, yes);
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use bank_api::v1::Removed;

    /// An answer that is not of the shape that was expected loses no secret.
    #[test]
    fn a_secret_goes_with_whatever_there_is() {
        for (body, expected) in [
            (
                r#"{"id":"a","transaction":7}"#,
                r#"{"id":"a","secret":"s3cret","transaction":7}"#,
            ),
            (r#"{"secret":null}"#, r#"{"secret":"s3cret"}"#),
            ("", r#"{"secret":"s3cret"}"#),
            ("[1, 2", r#"{"secret":"s3cret"}"#),
        ] {
            let answer = Answer {
                status: 201,
                media: Media::Json,
                body: body.as_bytes().to_vec(),
            };
            let mut done = Done::stored(answer);
            done.tell_secret("s3cret", |shape: &mut Removed| shape.name = String::new());
            let shown: Value = serde_json::from_slice(&done.answer.body).unwrap();
            let expected: Value = serde_json::from_str(expected).unwrap();
            assert_eq!(shown, expected, "{body:?}");
        }
    }
}
