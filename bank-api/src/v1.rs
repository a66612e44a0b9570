//! The JSON shapes of `/api/v1`, shared by the daemon and the command line.
//!
//! Start at the room of the noun: `registry` for projects, users and machines,
//! `money` for accounts, allocations, deposits and balances, `work` for quotes, liens and jobs,
//! `hold` for what is reserved and charged by hand, `journal` for journal rows, `cycle` for cycles,
//! `usage` for finished use and who ran on a fallback account, `import` for usage that others wrote
//! down, `upload` for sending it and for what could not be read, `collect` for the queues of
//! collectors, `records` for usage records and their files, `local` for what `bank` says of files on
//! its own machine, `watch` for what-if and the clock, `source` for collectors and what of their
//! records was charged, `mapping` for whom usage is for, `admin` for rates, keys and the state of the
//! daemon.
//!
//! Conventions that hold for every shape:
//! - An amount is a string of an exact decimal at the bank's precision (`"1000.000"`), never a
//!   JSON number; beside it stands `unit` (decision 23).
//! - A time is RFC 3339 in UTC with `Z`; a window includes its start and excludes its end.
//! - `null` in an answer means "none"; a field that a request leaves out is left as it is.
//! - Requests refuse unknown fields; answers may gain fields, so readers ignore what they do not know.
//!
//! This module must never compute: no arithmetic on amounts, no defaults that decide anything.

mod admin;
mod after;
mod collect;
mod cycle;
mod hold;
mod import;
mod journal;
mod local;
mod mapping;
mod money;
mod monitor;
mod rates;
mod records;
mod registry;
mod source;
mod upload;
mod usage;
mod watch;
mod work;

pub use admin::{
    Key, KeyQuery, MachineStatus, NewKey, NewKeyAnswer, NewRate, PatchKey, Rate, Status, Unbilled,
};
pub use after::{
    Correction, CorrectionPart, NewAdjustment, NewRefund, NewReversal, NewSettlement, NewTransfer,
    RemoveQuery, Transfer, TransferPart,
};
pub use collect::{CollectBatch, CollectRound, CollectState, CollectStatus, CollectStream};
pub use cycle::{Cycle, CycleRun, NewCycle, PatchCycle};
pub use hold::{Charged, Held, NewCharge, NewReserve, PatchLien};
pub use import::{ImportFigure, ImportSummary, ImportTotals, Quantity};
pub use journal::{JournalEntry, JournalQuery};
pub use local::{Drained, Finding, Findings, Replayed, ReplayedObject, Waiting};
pub use mapping::{
    ASSIGN_MAX, AssignDone, AssignRefused, AssignedRecord, ImportedUsers, MERGE_MAX, Mapping,
    MappingTest, MappingTested, MergeEntry, MergeUsers, MergedUser, MergedUsers, NewAssign,
    NewMapping, PatchMapping, Unmapped, UnmappedQuery, UnmappedRow,
};
pub use money::{
    Account, Allocation, AllocationQuery, Balance, BalanceQuery, Constraint, NewAccount,
    NewDeposit, NewWithdrawal, PatchAccount, PatchAllocation, Receipt, ReceiptPart,
};
pub use monitor::{
    Enforced, EnforcedQuery, EnforcedSum, EnforcedUse, Monitor, MonitorQuery, MonitorSum,
    Monitored, Watched,
};
pub use rates::{
    Attribute, GivenQuote, GivenQuoteQuery, NewAttribute, RateQuery, RateTest, RateTested, Replay,
    ReplayRow, TestedPrice,
};
pub use records::{RecordLine, RecordQuery, SinkStatus, Truth};
pub use registry::{
    Machine, Member, NewMachine, NewMember, NewProject, NewUser, PatchMachine, PatchProject,
    PatchUser, Project, User,
};
pub use source::{
    Followed, PatchSource, ReconcileQuery, ReconcileRow, ReconcileSum, Reconciled, Source,
    SourceQuery,
};
pub use upload::{
    IMPORT_FORMATS, Import, ImportDone, ImportOpened, ImportTaken, NewImport, PieceQuery,
    QuarantineQuery, QuarantineRemoval, QuarantineRemoved, QuarantineReplayed, Quarantined,
    ReadOptions, ReplayQuarantined,
};
pub use usage::{
    BadLine, FallbackJob, FallbackQuery, FallbackReport, Imported, NewEquivalents, NewShare,
    NewTasks, NewUsage, NewUsages, Number, USAGE_RECORDS_MAX, UsageItem, UsageTaken,
};
pub use watch::{
    ClockStatus, ConfirmClock, NextCycle, StuckBoundary, WhatIf, WhatIfQuery, WouldRefuse,
    WouldRefuseSum,
};
pub use work::{
    ChargeRow, Job, JobLien, JobQuery, Lien, LienQuery, NewQuote, Payer, Quote, QuoteLine,
};

use serde::{Deserialize, Serialize};

/// A list answer: `{"items": [...], "next": null}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct List<T> {
    /// The rows of this page, in the order of the route.
    pub items: Vec<T>,
    /// Cursor of the next page, to be sent back as `after`; `null` on the last page.
    pub next: Option<String>,
}

impl<T> List<T> {
    /// A list that is complete in itself.
    pub fn whole(items: Vec<T>) -> Self {
        Self { items, next: None }
    }
}

/// The answer of `POST` and `PATCH` on a noun: the object as it is now, bare, and what was written.
///
/// In JSON the fields of the object and those below stand side by side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written<T> {
    /// The object after the change.
    #[serde(flatten)]
    pub object: T,
    /// The journal transaction; `null` on a dry run and where nothing changed.
    pub transaction: Option<i64>,
    /// True when the change was decided only (`?dry_run=true`).
    #[serde(default)]
    pub dry_run: bool,
    /// What the caller should know although the change was accepted.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// The answer of `DELETE`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removed {
    /// Name or id of what was removed.
    pub name: String,
    /// The journal transaction; `null` on a dry run.
    pub transaction: Option<i64>,
    /// True when the removal was decided only.
    #[serde(default)]
    pub dry_run: bool,
    /// What the caller should know although the removal was accepted.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// Query parameters that every mutating route takes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteQuery {
    /// Decide and answer, write nothing.
    #[serde(default)]
    pub dry_run: bool,
}

#[cfg(test)]
mod tests;
