//! The JSON shapes of `/api/v1`, shared by the daemon and the command line.
//!
//! Modules by noun: `registry` for projects, users and machines, `money` for accounts, allocations,
//! deposits and balances, `work` for quotes, liens and jobs, `statement` for statements and closed periods,
//! `hold` for manual reserves and charges, `past` for queries of earlier states, `journal` for journal
//! rows, `query` for the query language, `explain` for explanations of transactions, `cycle` for cycles,
//! `report` for usage reports, `schedule` for scheduled reports, `usage` for finished usage and the report
//! of fallback accounts, `import` for imports of usage, `upload` for uploads and the quarantine, `collect`
//! for the queues of collectors, `records` for usage records and their files, `local` for output of `bank`
//! about local files, `web` for sign-in to the web pages, `partner` for partner banks, `watch` for what-if and the clock, `source` for collectors and their reconciliation,
//! `attention` for alerts, notifications and forecasts, `proof` for verifications, `queued` for commands on the disk of a client, `operations` for backups
//! and `bankd doctor`, `mapping` for mappings of usage, `admin` for rates, keys and the state of the
//! daemon, `access` for tokens, roles, limits and proposals.
//!
//! Conventions that hold for every shape:
//! - An amount is a string of an exact decimal at the bank's precision (`"1000.000"`), never a
//!   JSON number, with `unit` beside it (decisions.md 23).
//! - A time is RFC 3339 in UTC with `Z`; a window includes its start and excludes its end.
//! - `null` in an answer means "none". A field that a request omits is unchanged.
//! - Requests refuse unknown fields. Answers may gain fields, so readers ignore unknown ones.
//!
//! This module must never compute: no arithmetic on amounts, no defaults that decide anything.

mod access;
mod admin;
mod attention;
mod batch;
mod cluster;
mod collect;
mod correction;
mod cycle;
mod explain;
mod export;
mod import;
mod job;
mod journal;
mod local;
mod mapping;
mod migration;
mod money;
mod monitor;
#[cfg(feature = "openapi")]
pub mod openapi;
mod operations;
mod partner;
mod past;
mod personal;
mod proof;
mod query;
mod queued;
mod rates;
mod recorded;
mod records;
mod registry;
mod report;
mod request;
mod reserve;
mod sampled;
mod schedule;
mod share;
mod source;
mod statement;
mod upload;
mod usage;
mod watch;
mod web;

pub use access::{
    Limit, NewDecision, NewLimit, NewRoleGrant, NewToken, NewTokenAnswer, Proposal, ProposalQuery,
    ProposeQuery, ProposedRequest, RefusedAccess, RevokeQuery, RoleGrant, RoleQuery, RotateKey,
    Token, TokenQuery,
};
pub use admin::{
    Key, KeyQuery, MachineStatus, NewKey, NewKeyAnswer, NewRate, PatchKey, Rate, Setting, Status,
    Unbilled,
};
pub use attention::{
    AckAttention, Attention, AttentionDone, AttentionQuery, AttentionStatus, DigestNotification,
    ExpiringRow, ForecastQuery, ForecastRow, NegativeRow, Notice, Notification, OutboxQuery,
    SwitchAttention, TargetStatus,
};
pub use batch::{
    BATCH_COMMANDS_MAX, BatchAnswer, BatchCommand, BatchDone, BatchLine, BatchLines, NewBatch,
};
pub use cluster::*;
pub use collect::{CollectBatch, CollectRound, CollectState, CollectStatus, CollectStream};
pub use correction::{
    AccountAfter, Correction, CorrectionPart, NewAdjustment, NewRefund, NewReversal, NewSettlement,
    NewTransfer, RemoveQuery, Transfer, TransferPart,
};
pub use cycle::{Cycle, CycleRun, NewCycle, PatchCycle};
pub use explain::{
    Considered, ExplainQuery, Explained, Explanation, JobUse, RefusedJob, RefusedQuery,
    RefusedReserve, ReservationJob, ReservationTime,
};
pub use export::{
    ExportPage, ExportQuery, Lost, OnDemandBalance, OnDemandBalances, OnDemandConfig,
    OnDemandQuery, Skipped, UsedLine,
};
pub use import::{ImportFigure, ImportSummary, ImportTotals, ImportedTable, Quantity};
pub use job::{
    ChargeRow, Job, JobLien, JobQuery, Lien, LienQuery, NewQuote, OneJobQuery, Payer, Quote,
    QuoteLine,
};
pub use journal::{JournalEntry, JournalPage, JournalQuery};
pub use local::{Drained, Finding, Findings, Replayed, ReplayedObject, Waiting};
pub use mapping::{
    ASSIGN_MAX, AssignDone, AssignReason, AssignRefused, AssignedRecord, ImportedUsers, MERGE_MAX,
    MappingTest, MappingTested, MergeEntry, MergeUsers, MergedUser, MergedUsers, NewAssign,
    Unmapped, UnmappedQuery, UnmappedRow,
};
pub use migration::{
    BalanceFigures, ExpectedBalance, MIGRATION_BYTES_MAX, MIGRATION_ITEMS_MAX, MigratedItem,
    Migration, MigrationItem, MigrationKind, MigrationMember, MovedHistory, MovedIn, NewMigration,
    NotMoved, OpeningAllocation, OpeningLien, ProvedBalance, RenamedObject,
};
pub use money::{
    Account, Allocation, AllocationQuery, Balance, BalanceQuery, Constraint, NewAccount,
    NewDeposit, NewWithdrawal, PatchAccount, PatchAllocation, Receipt, ReceiptPart,
};
pub use monitor::{
    Enforced, EnforcedQuery, EnforcedSum, EnforcedUse, Monitor, MonitorQuery, MonitorSum,
    Monitored, Watched,
};
pub use operations::{Backup, BackupFile, Check, Checkup, LastBackup, Limited};
pub use partner::{
    PartnerCharge, PartnerCharged, PartnerEntry, PartnerEntryQuery, PartnerExplained, PartnerHeld,
    PartnerLine, PartnerMessageQuery, PartnerPosition, PartnerRelease, PartnerReleased,
    PartnerReserve, PartnerWaiting, Settlement, SettlementDifference, SettlementQuery,
    SettlementSide,
};
pub use past::{AccountsQuery, PastPageQuery, PastQuery};
pub use personal::{EfficiencyLetter, PersonalReport};
pub use proof::{KeptCheckpoint, ProofFinding, SignedCheckpoint, Verification, VerificationQuery};
pub use query::{QueryAnswer, QueryColumn, QueryQuery, QueryValue};
pub use queued::QueuedCall;
pub use rates::{
    GivenQuote, GivenQuoteQuery, RateQuery, RateTest, RateTested, Replay, ReplayRow, TestedPrice,
};
pub use recorded::{RecordedUse, RecordedUseQuery};
pub use records::{RecordLine, RecordQuery, SinkStatus, Truth};
pub use registry::{Member, NewMember, Project};
pub use report::{UsageFigures, UsageLine, UsageQuery, UsageTable};
pub use request::{
    DepositRequest, ExtensionRequest, MemberRequest, ProjectRequest, ProjectStart, REQUEST_STATES,
    RequestQuery,
};
pub use reserve::{Charged, Held, NewCharge, NewReserve, PaidPart, PatchLien};
pub use sampled::{SampledFigures, SampledLine, SampledQuery, SampledSource, SampledTable};
pub use schedule::{
    FailingReport, MadeReport, PageProblem, ReportDelivery, ReportNotification, ReportRun,
    RunReport, ScheduleStatus, ScheduledReport,
};
pub use share::{
    ContributionPeriod, ContributionQuery, ContributionReport, ContributionRow, ContributionTotal,
    EfficiencyQuery, EfficiencyReport, EfficiencyRow, PriorityQuery, PriorityReport, PriorityRow,
    Utilisation, UtilisationBucket,
};
pub use source::{
    Followed, LeftOut, PatchSource, ReconcileQuery, ReconcileRow, ReconcileSum, Reconciled, Source,
    SourceQuery,
};
pub use statement::{
    Close, CloseQuery, NewClose, Statement, StatementGroup, StatementLine, StatementLineQuery,
    StatementPart, StatementQuery, StatementSample, StatementSum, UndoClose,
};
pub use upload::{
    IMPORT_FORMATS, Import, ImportDone, ImportOpened, ImportTaken, NewImport, PieceQuery,
    QuarantineQuery, QuarantineRemoval, QuarantineRemoved, QuarantineReplayed, Quarantined,
    ReadOptions, ReplayQuarantined,
};
#[cfg(feature = "openapi")]
pub use usage::UsageBody;
pub use usage::{
    BadLine, FallbackJob, FallbackQuery, FallbackReport, Imported, NewEquivalents, NewShare,
    NewTasks, NewUsage, NewUsages, Number, USAGE_RECORDS_MAX, UsageItem, UsageTaken,
};
pub use watch::{
    ClockStatus, ConfirmClock, NextCycle, StuckBoundary, WhatIf, WhatIfQuery, WouldRefuse,
    WouldRefuseSum,
};
pub use web::{NewWebLink, NewWebLogin, WebLink, WebLogin};

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

/// An answer with rows in pages, and values for all pages.
pub trait Paged {
    /// Cursor of the next page, to be sent back as `after`; none on the last page.
    fn next(&self) -> Option<&str>;

    /// Appends the rows of the next page and takes its cursor.
    fn go_on(&mut self, page: Self);
}

macro_rules! paged {
    ($($answer:ty),*) => {
        $(impl Paged for $answer {
            fn next(&self) -> Option<&str> {
                self.next.as_deref()
            }

            fn go_on(&mut self, page: Self) {
                self.items.extend(page.items);
                self.next = page.next;
            }
        })*
    };
}

paged!(Unmapped, WhatIf, Enforced, FallbackReport);

/// The answer of `POST` and `PATCH` on a noun: the changed object and the transaction.
///
/// In JSON the fields of the object and the fields below are members of one object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written<T> {
    /// The object after the change.
    #[serde(flatten)]
    pub object: T,
    /// The journal transaction; `null` on a dry run and without a change.
    pub transaction: Option<i64>,
    /// True when the change was decided only (`?dry_run=true`).
    #[serde(default)]
    pub dry_run: bool,
    /// Warnings about an accepted change.
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl<T> Written<T> {
    /// What became of a known object, as a word: a change that changes nothing has no transaction.
    #[must_use]
    pub fn verb(&self) -> &'static str {
        if self.transaction.is_none() && !self.dry_run {
            "unchanged"
        } else {
            "changed"
        }
    }
}

/// The answer of `DELETE`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Removed {
    /// Name or id of the removed object.
    pub name: String,
    /// The journal transaction; `null` on a dry run.
    pub transaction: Option<i64>,
    /// True when the removal was decided only.
    #[serde(default)]
    pub dry_run: bool,
    /// Warnings about an accepted removal.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// The query of a list that has no other parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PageQuery {
    /// Rows per page, 1 to 1000; default 1000.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    pub after: Option<String>,
}

/// Query parameters that every mutating route takes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WriteQuery {
    /// Check and answer, but write nothing.
    #[serde(default)]
    pub dry_run: bool,
}

#[cfg(test)]
mod tests;
