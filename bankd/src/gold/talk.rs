//! What a verified request asks for, and what is said to it.

use std::future::{Ready, ready};
use std::sync::Arc;

use super::{Said, Verified};
use crate::app::App;

/// Answers a request: no object or action is served yet, so each is told that it is not.
pub fn answer(_app: &Arc<App>, _request: &Verified) -> Ready<Said> {
    ready(Said::failure("315", "not supported"))
}
