//! Usage records as lines, and the files that they go to.

use serde::{Deserialize, Serialize};

/// Query of `GET /api/v1/records`. Answer: `List<RecordLine>`, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RecordQuery {
    /// `file` or `ur1`; not with `sink`.
    pub format: Option<String>,
    /// The lines of this record file, by its settings; then none of the settings below.
    pub sink: Option<String>,
    /// Records made at this time or later.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub from: Option<String>,
    /// Records made before this time.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub to: Option<String>,
    /// Records of this machine.
    pub machine: Option<String>,
    /// Records of these numbers: `412`, or `412-415` with both ends.
    pub records: Option<String>,
    /// FILE: `moab6` or `maui`.
    pub dialect: Option<String>,
    /// FILE: one line per charge; false: one for each closed instance.
    pub interim: Option<Truth>,
    /// FILE: with `QOS=`, `NODES=` and `AMOUNT=`.
    pub extended: Option<Truth>,
    /// FILE: `percent` or `reject`.
    pub escape: Option<String>,
    /// FILE: text for a missing account.
    pub blank_account: Option<String>,
    /// FILE: text for a missing user.
    pub blank_user: Option<String>,
    /// UR 1.0: include records for changes after the close.
    pub adjustments: Option<Truth>,
    /// The `next` of the page before.
    pub after: Option<String>,
    /// Records to look at for one page, 1 to 1000; 500 by default.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
}

/// A setting that is true, false, or absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Truth {
    /// `true`
    True,
    /// `false`
    False,
}

impl From<bool> for Truth {
    fn from(is: bool) -> Self {
        if is { Self::True } else { Self::False }
    }
}

impl From<Truth> for bool {
    fn from(truth: Truth) -> Self {
        truth == Truth::True
    }
}

/// A usage record in the form that was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RecordLine {
    /// Its number, the last part of a `recordId`.
    pub record: i64,
    /// The line without its line feed; `null` if `escape` is `reject` and the record has no valid line.
    pub line: Option<String>,
    /// The key with the value that would need escapes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<String>,
    /// It corrects a charge, and the format has no line for that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_out: bool,
}

/// A record file in `GET /api/v1/status`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SinkStatus {
    /// `file`, `ggf`, or the name of a `[[sink]]`.
    pub name: String,
    /// `file` or `ggf`.
    pub format: String,
    /// The file.
    pub path: String,
    /// Records that it has not got yet.
    pub behind: i64,
    /// Error that keeps the lines pending; `null` for none.
    pub error: Option<String>,
    /// Number of failed writes since the start.
    pub failures: i64,
    /// Lines since the start with a rate that was raised to 0.01.
    pub raised: i64,
    /// Records without a line since the start (`escape = "reject"`).
    pub rejected: i64,
    /// Corrections of charges since the start that the format has no line for: refunds, undone and amended
    /// charges. The journal and `bank export csv` have them.
    #[serde(default)]
    pub left_out: i64,
}
