//! Reasons for refusals by the rules. Expected, stable, and never a bug.

mod made;
mod values;

use crate::amount::Amount;
use crate::ids::NAME_BYTES_MAX;
use crate::time::Timestamp;
use std::borrow::Cow;

/// A refusal. The code is stable; HTTP status and exit codes are in the one table of `bank-api`
/// (decisions.md 17). Names in it are bounded and are those that the caller gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The lists of an account match, but the money is short (ledger.md 2.6).
    InsufficientFunds {
        /// The required amount.
        needed: Amount,
        /// The available amount.
        available: Amount,
        /// The account or project that was asked.
        whose: String,
    },
    /// A charge in mode `fast` left the account below zero; a deposit clears it (decisions.md 18).
    AccountBlocked {
        /// The account.
        account: String,
    },
    /// An account would match if the user were an active member (decisions.md 17).
    NotAMember {
        /// The user, empty when the request named none.
        user: String,
        /// The project.
        project: String,
    },
    /// No account's lists match.
    NoUsableAccount {
        /// The project.
        project: String,
    },
    /// The user is switched off.
    UserInactive {
        /// The user.
        user: String,
    },
    /// The project is switched off.
    ProjectInactive {
        /// The project.
        project: String,
    },
    /// The machine is switched off.
    MachineInactive {
        /// The machine.
        machine: String,
    },
    /// No project or account of that name.
    ProjectUnknown {
        /// The name as given.
        project: String,
    },
    /// No user of that name.
    UserUnknown {
        /// The name as given.
        user: String,
    },
    /// No machine of that name.
    MachineUnknown {
        /// The name as given.
        machine: String,
    },
    /// No account in the request and no default project of the user (nami.md 2.2).
    NoDefaultProject,
    /// The caller may not do this, or not for this project or machine.
    NotAllowed {
        /// The object outside of the caller's scope.
        what: String,
    },
    /// A project or account outside of the caller's view, or missing: who has access learns which (decisions.md 23).
    OutOfScope {
        /// Kind of object.
        kind: &'static str,
        /// The name as given.
        name: String,
    },
    /// A scheduler reports more time than can have passed, and the site refuses that (nami.md 1.4).
    Implausible {
        /// Seconds reported.
        reported: i64,
        /// Seconds that could still be billed.
        room: i64,
    },
    /// An amount or a limit that the command does not take: the rule, a sentence.
    BadAmount(&'static str),
    /// Text that is no decimal number: the text, if it is known.
    BadAmountSyntax(String),
    /// More decimal places than the bank's precision: the precision, and the text if it is known.
    TooManyDecimals(u8, String),
    /// An amount beyond `i64` minor units: the text, if it is known.
    AmountTooLarge(String),
    /// A result beyond `i64` minor units, or a price beyond exact arithmetic.
    AmountOverflow,
    /// A window whose start is not before its end.
    BadWindow,
    /// A window that is over, without `--allow-past`.
    WindowInPast,
    /// No object of that name or number.
    NotFound {
        /// Kind of object.
        kind: Cow<'static, str>,
        /// The name as given.
        name: String,
    },
    /// An object without a part of that name or number.
    NoPart {
        /// The object, such as `account "chem"`.
        holder: String,
        /// The part, such as `allocation 2`.
        part: String,
    },
    /// An object that has the part already.
    HasPart {
        /// The object.
        holder: String,
        /// The part.
        part: String,
    },
    /// Several objects fit; the list names them.
    Ambiguous {
        /// The candidates.
        candidates: Vec<String>,
    },
    /// Usage below zero.
    NegativeCharge,
    /// A duration that is not whole seconds between 0 and ten years.
    BadDuration,
    /// A field that the command cannot do without.
    MissingField {
        /// Its name.
        field: &'static str,
    },
    /// A name that is empty, too long, or holds control characters.
    BadName {
        /// The name, shortened.
        name: String,
        /// What such a name must be.
        rule: &'static str,
    },
    /// A field of a record without a value where it needs one.
    NoField {
        /// Its name.
        field: String,
    },
    /// A value that a field of a record does not take.
    BadField {
        /// The field.
        field: String,
        /// The values that it takes.
        expected: String,
    },
    /// A value that the setting does not take.
    BadValue {
        /// The setting.
        field: &'static str,
        /// The expected value.
        expected: &'static str,
    },
    /// An object of that name is there already.
    AlreadyExists {
        /// Kind of object.
        kind: Cow<'static, str>,
        /// The name.
        name: String,
    },
    /// An account of that name was removed, and its allocations would come back with it.
    WasRemoved {
        /// The name.
        name: String,
    },
    /// A project under itself.
    Cycle {
        /// The project.
        name: String,
    },
    /// Still used by something else.
    InUse {
        /// The name.
        name: String,
        /// By what.
        by: String,
        /// The field of the changed record that has it; none if another object uses the changed one.
        field: Option<&'static str>,
    },
    /// The account holds open liens.
    LiveLiens {
        /// The account.
        account: String,
        /// The number of objects.
        count: i64,
    },
    /// An account or an allocation still holds money.
    BalanceNotZero {
        /// The account or the allocation, in words.
        holder: String,
        /// The amount.
        amount: Amount,
    },
    /// A fallback account with its own fallback, or that is its own fallback (nami.md 5).
    FallbackChain {
        /// The account or machine.
        name: String,
    },
    /// A rate that is negative or has more than nine places.
    BadRate,
    /// The children of an account would get more than all of its deposits (ledger.md 2.1).
    SharesOver100 {
        /// The account above.
        parent: String,
        /// The sum of the shares.
        sum: i64,
    },
    /// Another allocation of the account is usable at the same time, and the bank requires them one after the
    /// other (ledger.md 2.1 g).
    AllocationOverlap {
        /// The account.
        account: String,
        /// The allocation that is in the way.
        allocation: i64,
    },
    /// A cycle whose next boundary is in the future: the bank runs it automatically.
    CycleNotDue {
        /// The cycle.
        name: String,
        /// Its next boundary, RFC 3339.
        next: String,
    },
    /// The ledger follows the clock already.
    NoClockJump,
    /// A window that was billed in part or whole (decisions.md 8).
    Overlap {
        /// Start of the first part that was billed already.
        start: Timestamp,
        /// Its end, exclusive.
        end: Timestamp,
    },
    /// A lien that holds nothing any more and cannot hold again.
    LienEnded {
        /// Its number.
        lien: i64,
        /// The state that ended it.
        state: &'static str,
    },
    /// A transfer to the account it comes from.
    SameAccount,
    /// Several objects of the scheduler have the id; the list names them.
    AmbiguousJob {
        /// The candidates: machine and kind.
        candidates: Vec<String>,
    },
    /// Nothing was charged, or everything was given back.
    NothingToRefund {
        /// The account that alone was to get its part back.
        account: Option<String>,
    },
    /// More than is left of the charges.
    RefundExceedsCharge {
        /// The rest.
        left: Amount,
    },
    /// The suspense account carries nothing of the instance.
    NothingUnbilled,
    /// Refunds hang on the charge.
    HasRefunds {
        /// Their transactions.
        transactions: Vec<i64>,
    },
    /// The transaction has its opposite already.
    AlreadyReversed {
        /// Which.
        transaction: i64,
        /// The opposite.
        by: i64,
    },
    /// A transaction that cannot be reversed.
    NotReversible {
        /// Which.
        transaction: i64,
        /// Why, and what to do instead.
        why: String,
    },
    /// An allocation would be left with less than is held on it, or in debt.
    Uncovered {
        /// Which.
        allocation: i64,
        /// The free amount on it afterwards: below zero.
        free: Amount,
    },
    /// More than a limit of the caller allows.
    OverLimit {
        /// The amount that the command moves.
        needed: Amount,
        /// The rest of the limit.
        left: Amount,
        /// Per what: `operation` or `day`.
        per: &'static str,
    },
    /// Somebody else has to approve it: it is to be proposed.
    ApprovalNeeded {
        /// The kind of operation.
        kind: &'static str,
        /// The amount that it moves.
        needed: Amount,
        /// Up to how much nobody else is asked.
        threshold: Amount,
    },
    /// A proposer cannot approve their own proposal.
    OwnProposal {
        /// Which.
        proposal: i64,
    },
    /// A decided or expired proposal.
    ProposalOver {
        /// Which.
        proposal: i64,
        /// Whether it is a request of a person who may not do it.
        is_request: bool,
        /// The state of the proposal.
        state: &'static str,
    },
    /// A person has as many open requests as anybody may have.
    TooManyRequests {
        /// How many.
        most: i64,
    },
    /// A field that cannot be changed after the object was made.
    NotSettable {
        /// The property.
        field: &'static str,
    },
    /// A period that has not ended cannot be closed.
    PeriodNotOver {
        /// Its end.
        end: Timestamp,
    },
    /// The period, or a part of it, is closed already.
    PeriodClosed {
        /// Everything before is.
        until: Timestamp,
    },
    /// Between what is closed and the period something would stay open.
    PeriodGap {
        /// The end of what is closed.
        from: Timestamp,
        /// The start of the period.
        until: Timestamp,
    },
    /// No close is in force.
    NothingClosed,
    /// The partner bank of a project refuses (decision 0174).
    PartnerRefused {
        /// The partner.
        partner: String,
        /// What it answered.
        why: String,
    },
    /// The partner bank of a project cannot be reached.
    PartnerAway {
        /// The partner.
        partner: String,
    },
    /// A message of a partner that is not the next one, or that differs from the one of its number.
    PartnerOutOfStep {
        /// The partner.
        partner: String,
        /// The number of the message.
        number: i64,
        /// The number of the next message.
        expected: i64,
    },
}

impl Refusal {
    /// The stable code, snake case.
    pub fn code(&self) -> &'static str {
        match self {
            Refusal::InsufficientFunds { .. } => "insufficient_funds",
            Refusal::AccountBlocked { .. } => "account_blocked",
            Refusal::NotAMember { .. } => "not_a_member",
            Refusal::NoUsableAccount { .. } => "no_usable_account",
            Refusal::UserInactive { .. } => "user_inactive",
            Refusal::ProjectInactive { .. } => "project_inactive",
            Refusal::MachineInactive { .. } => "machine_inactive",
            Refusal::ProjectUnknown { .. } => "project_unknown",
            Refusal::UserUnknown { .. } => "user_unknown",
            Refusal::MachineUnknown { .. } => "machine_unknown",
            Refusal::NoDefaultProject => "no_default_project",
            Refusal::NotAllowed { .. } | Refusal::OutOfScope { .. } => "not_allowed",
            Refusal::Implausible { .. } => "implausible_duration",
            Refusal::BadAmount(_) => "bad_amount",
            Refusal::BadAmountSyntax(_) => "bad_amount_syntax",
            Refusal::TooManyDecimals(..) => "too_many_decimals",
            Refusal::AmountTooLarge(_) => "amount_too_large",
            Refusal::AmountOverflow => "amount_overflow",
            Refusal::BadWindow => "bad_window",
            Refusal::WindowInPast => "window_in_past",
            Refusal::NotFound { .. } | Refusal::NoPart { .. } => "not_found",
            Refusal::Ambiguous { .. } | Refusal::AmbiguousJob { .. } => "ambiguous",
            Refusal::NegativeCharge => "negative_charge",
            Refusal::BadDuration => "bad_duration",
            Refusal::MissingField { .. } | Refusal::NoField { .. } => "missing_field",
            Refusal::BadName { .. } => "bad_name",
            Refusal::BadValue { .. } | Refusal::BadField { .. } => "bad_value",
            Refusal::AlreadyExists { .. } | Refusal::HasPart { .. } => "already_exists",
            Refusal::WasRemoved { .. } => "was_removed",
            Refusal::Cycle { .. } => "cycle",
            Refusal::InUse { .. } => "in_use",
            Refusal::LiveLiens { .. } => "live_liens",
            Refusal::BalanceNotZero { .. } => "balance_not_zero",
            Refusal::FallbackChain { .. } => "fallback_chain",
            Refusal::BadRate => "bad_rate",
            Refusal::SharesOver100 { .. } => "shares_over_100",
            Refusal::AllocationOverlap { .. } => "allocation_overlap",
            Refusal::CycleNotDue { .. } => "cycle_not_due",
            Refusal::NoClockJump => "no_clock_jump",
            Refusal::Overlap { .. } => "overlap",
            Refusal::LienEnded { .. } => "lien_ended",
            Refusal::SameAccount => "same_account",
            Refusal::NothingToRefund { .. } => "nothing_to_refund",
            Refusal::RefundExceedsCharge { .. } => "refund_exceeds_charge",
            Refusal::NothingUnbilled => "nothing_unbilled",
            Refusal::HasRefunds { .. } => "has_refunds",
            Refusal::AlreadyReversed { .. } => "already_reversed",
            Refusal::NotReversible { .. } => "not_reversible",
            Refusal::Uncovered { .. } => "uncovered",
            Refusal::OverLimit { .. } => "over_limit",
            Refusal::ApprovalNeeded { .. } => "approval_needed",
            Refusal::OwnProposal { .. } => "own_proposal",
            Refusal::ProposalOver { .. } => "proposal_over",
            Refusal::TooManyRequests { .. } => "too_many_requests",
            Refusal::NotSettable { .. } => "not_settable",
            Refusal::PeriodNotOver { .. } => "period_not_over",
            Refusal::PeriodClosed { .. } => "period_closed",
            Refusal::PeriodGap { .. } => "period_gap",
            Refusal::NothingClosed => "nothing_closed",
            Refusal::PartnerRefused { .. } => "partner_refused",
            Refusal::PartnerAway { .. } => "partner_away",
            Refusal::PartnerOutOfStep { .. } => "partner_out_of_step",
        }
    }

    /// Whether the same request may be accepted a moment later: it is not stored as an answer either.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Refusal::PartnerAway { .. } | Refusal::PartnerOutOfStep { .. }
        )
    }

    /// Whether it is a refusal of access, which is never stored as an answer (http-auth.md 3).
    pub fn is_of_access(&self) -> bool {
        matches!(
            self,
            Refusal::NotAllowed { .. }
                | Refusal::OutOfScope { .. }
                | Refusal::OverLimit { .. }
                | Refusal::ApprovalNeeded { .. }
                | Refusal::OwnProposal { .. }
        )
    }
}

/// A name as it was given, cut to the longest that a name can have.
pub fn short(name: &str) -> String {
    let mut end = name.len().min(NAME_BYTES_MAX);
    while !name.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    name.get(..end).unwrap_or_default().to_owned()
}
