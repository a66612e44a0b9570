//! Settings with a fixed set of words, and the types that they select.

use bank_core::directory::{FallbackMode, SelectionOrder};
use bank_core::exact::Rounding;
use bank_core::model::{ChargeDuration, Mode};
use bank_core::terms::{Excess, Overlap, Shortfall};
use bankd_emit::appender::Fsync;
use bankd_emit::file::{Dialect, Escape};
use serde::{Deserialize, Serialize};

/// The word of a mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the words of bank_core::model::Mode")]
pub enum ModeWord {
    #[default]
    Strict,
    Fast,
    Notional,
    Track,
}

/// The word of a rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the words of bank_core::exact::Rounding")]
pub enum RoundingWord {
    #[default]
    HalfEven,
    HalfUp,
    Ceil,
}

/// The word of a selection order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(
    missing_docs,
    reason = "the words of bank_core::directory::SelectionOrder"
)]
pub enum OrderWord {
    #[default]
    ExpiryFirst,
    HierarchyFirst,
}

/// Meaning of a document's `ChargeDuration`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the words of bank_core::model::ChargeDuration")]
pub enum ChargeDurationWord {
    #[default]
    Incremental,
    Cumulative,
}

/// Policy for impossible usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the words of bank_core::terms::Excess")]
pub enum ExcessWord {
    #[default]
    Clip,
    Accept,
    Refuse,
}

/// The word of a fallback mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(
    missing_docs,
    reason = "the words of bank_core::directory::FallbackMode"
)]
pub enum FallbackWord {
    #[default]
    Scheduler,
    Bank,
}

/// The word of a shortfall policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the words of bank_core::terms::Shortfall")]
pub enum ShortfallWord {
    #[default]
    Debt,
    Reject,
    Fallback,
}

/// The word of an overlap policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the words of bank_core::terms::Overlap")]
pub enum OverlapWord {
    #[default]
    BillRest,
    Reject,
}

/// The word of a dialect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the words of bankd_emit::file::Dialect")]
pub enum DialectWord {
    #[default]
    Moab6,
    Maui,
}

/// The word of a policy about the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the words of bankd_emit::appender::Fsync")]
pub enum FsyncWord {
    #[default]
    Batch,
    Each,
    Never,
}

/// The word of an escape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the words of bankd_emit::file::Escape")]
pub enum EscapeWord {
    #[default]
    Percent,
    Reject,
}

/// Line format of a record file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FormatWord {
    /// `WITHDRAWAL …`
    #[default]
    File,
    /// Usage records 1.0.
    Ggf,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Conditions that a person must act on.
    Error,
    /// Also failures that are retried.
    Warn,
    /// And one line per command.
    #[default]
    Info,
    /// Also details for finding a fault.
    Debug,
    /// And everything else.
    Trace,
}

/// The form of a log line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl From<ModeWord> for Mode {
    fn from(word: ModeWord) -> Self {
        match word {
            ModeWord::Strict => Mode::Strict,
            ModeWord::Fast => Mode::Fast,
            ModeWord::Notional => Mode::Notional,
            ModeWord::Track => Mode::Track,
        }
    }
}

impl From<RoundingWord> for Rounding {
    fn from(word: RoundingWord) -> Self {
        match word {
            RoundingWord::HalfEven => Rounding::HalfEven,
            RoundingWord::HalfUp => Rounding::HalfUp,
            RoundingWord::Ceil => Rounding::Ceil,
        }
    }
}

impl From<OrderWord> for SelectionOrder {
    fn from(word: OrderWord) -> Self {
        match word {
            OrderWord::ExpiryFirst => SelectionOrder::ExpiryFirst,
            OrderWord::HierarchyFirst => SelectionOrder::HierarchyFirst,
        }
    }
}

impl From<FallbackWord> for FallbackMode {
    fn from(word: FallbackWord) -> Self {
        match word {
            FallbackWord::Scheduler => FallbackMode::Scheduler,
            FallbackWord::Bank => FallbackMode::Bank,
        }
    }
}

impl From<ShortfallWord> for Shortfall {
    fn from(word: ShortfallWord) -> Self {
        match word {
            ShortfallWord::Debt => Shortfall::Debt,
            ShortfallWord::Reject => Shortfall::Reject,
            ShortfallWord::Fallback => Shortfall::Fallback,
        }
    }
}

impl From<ChargeDurationWord> for ChargeDuration {
    fn from(word: ChargeDurationWord) -> Self {
        match word {
            ChargeDurationWord::Incremental => ChargeDuration::Incremental,
            ChargeDurationWord::Cumulative => ChargeDuration::Cumulative,
        }
    }
}

impl From<ExcessWord> for Excess {
    fn from(word: ExcessWord) -> Self {
        match word {
            ExcessWord::Clip => Excess::Clip,
            ExcessWord::Accept => Excess::Accept,
            ExcessWord::Refuse => Excess::Refuse,
        }
    }
}

impl From<OverlapWord> for Overlap {
    fn from(word: OverlapWord) -> Self {
        match word {
            OverlapWord::BillRest => Overlap::BillRest,
            OverlapWord::Reject => Overlap::Reject,
        }
    }
}

impl From<DialectWord> for Dialect {
    fn from(word: DialectWord) -> Self {
        match word {
            DialectWord::Moab6 => Dialect::Moab6,
            DialectWord::Maui => Dialect::Maui,
        }
    }
}

impl From<FsyncWord> for Fsync {
    fn from(word: FsyncWord) -> Self {
        match word {
            FsyncWord::Batch => Fsync::Batch,
            FsyncWord::Each => Fsync::Each,
            FsyncWord::Never => Fsync::Never,
        }
    }
}

impl From<EscapeWord> for Escape {
    fn from(word: EscapeWord) -> Self {
        match word {
            EscapeWord::Percent => Escape::Percent,
            EscapeWord::Reject => Escape::Reject,
        }
    }
}
