//! What a verified request asks for, and what is said to it.

use std::sync::Arc;

use super::{Said, Verified};
use crate::app::App;

/// Answers a request: no object or action is served yet, so each is told that it is not.
pub async fn answer(_app: &Arc<App>, _request: &Verified) -> Said {
    Said::failure("315", "not supported")
}
