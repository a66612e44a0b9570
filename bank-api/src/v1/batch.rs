//! Many commands in one request.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Most commands of one batch.
pub const BATCH_COMMANDS_MAX: usize = 1000;

/// `POST /api/v1/batch`: commands that are run in their order. Answer: `BatchDone`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewBatch {
    /// 1 to 1,000 commands.
    #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 1000))]
    pub commands: Vec<BatchCommand>,
    /// Write all commands in one transaction of the database, or none of them where one is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_or_nothing: bool,
}

/// One command of a batch: the request that it would be alone.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct BatchCommand {
    /// `POST`, `PATCH` or `DELETE`; absent: `POST`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Path and query, such as `/api/v1/deposits` or `/nami/v1/charge`. A path without a route refuses its
    /// command only.
    pub path: String,
    /// Its `Idempotency-Key`; absent: that of the batch with `#` and the position, from 1 on. The same request
    /// with the same key has no second effect, in a batch or alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Its `Bank-Event-Time` (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_time: Option<String>,
    /// The body: JSON as it is, or a document that is not JSON as a string. Absent: no body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<serde_json::Value>))]
    pub body: Option<Box<RawValue>>,
}

/// The answers of a batch.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BatchDone {
    /// One for each command, in their order.
    pub answers: Vec<BatchAnswer>,
    /// How many of them have a status of 400 or more. If there is one and all or nothing was asked for, nothing
    /// was written.
    pub refused: u64,
}

/// The answer to one command of a batch.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BatchAnswer {
    /// The HTTP status that the command would have alone.
    #[cfg_attr(feature = "openapi", schema(minimum = 200, maximum = 599))]
    pub status: u16,
    /// Whether it is the stored answer of the same request.
    pub replayed: bool,
    /// The body: JSON as it is, or text that is not JSON as a string.
    #[cfg_attr(feature = "openapi", schema(value_type = serde_json::Value))]
    pub body: Box<RawValue>,
}

impl BatchAnswer {
    /// Whether the command was refused, or failed.
    pub fn is_refused(&self) -> bool {
        crate::error::is_refusal(self.status)
    }
}

/// The output of `bank batch`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct BatchLines {
    /// One for each command, in their order.
    pub items: Vec<BatchLine>,
}

/// The result of one command of a file.
#[derive(Debug, Clone, Serialize)]
pub struct BatchLine {
    /// The line of the file, from 1 on.
    pub line: usize,
    /// Path and query of the command.
    pub path: String,
    /// Code of its refusal; empty if it was done.
    pub code: String,
    /// The result in words.
    pub result: String,
    /// The answer of the daemon.
    #[serde(flatten)]
    pub answer: BatchAnswer,
}
