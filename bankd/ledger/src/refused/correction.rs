//! Messages for refused corrections, closings and approvals.

use bank_core::directory::Bank;
use bank_core::refusal::Refusal;

use bank_api::text::format_rfc3339;

use super::shown;

/// Description of the case, in one sentence.
pub(super) fn detail(refusal: &Refusal, bank: &Bank) -> Option<String> {
    let unit = &bank.unit;
    Some(match refusal {
        Refusal::SameAccount => "both names mean the same account".to_owned(),
        Refusal::AmbiguousJob { candidates } => {
            format!(
                "several jobs or reservations have this id: {}",
                candidates.join(", ")
            )
        }
        Refusal::NothingToRefund { account: None } => "nothing is left to refund".to_owned(),
        Refusal::NothingToRefund {
            account: Some(account),
        } => format!("nothing that account {account:?} paid is left to refund"),
        Refusal::RefundExceedsCharge { left } => {
            format!("only {} {unit} can still be refunded", shown(*left, bank))
        }
        Refusal::NothingUnbilled => "#unbilled has no usage of this job".to_owned(),
        Refusal::HasRefunds { transactions } => refunded(transactions),
        Refusal::AlreadyReversed { transaction, by } => {
            format!("transaction {transaction} was reversed by transaction {by}")
        }
        Refusal::NotReversible { transaction, why } => {
            format!("transaction {transaction} cannot be undone: {why}")
        }
        Refusal::Uncovered { allocation, free } => {
            let free = shown(*free, bank);
            format!("allocation {allocation} would be left with {free} {unit} free")
        }
        Refusal::SharesOver100 { parent, sum } => {
            format!(
                "the shares of the accounts below {parent:?} would add up to {sum} percent; the limit is 100"
            )
        }
        Refusal::AllocationOverlap {
            account,
            allocation,
        } => format!("allocation {allocation} of account {account:?} is usable at the same time"),
        Refusal::Overlap { start, end } => {
            let (start, end) = (format_rfc3339(start.0), format_rfc3339(end.0));
            format!("billed already from {start} until {end}")
        }
        Refusal::LienEnded { lien, state } => format!("lien {lien} is {state} and holds nothing"),
        Refusal::WasRemoved { name } => {
            format!("an account {name:?} was removed, and its allocations are kept")
        }
        Refusal::Implausible { reported, room } => {
            format!(
                "{reported} s reported, at most {room} s can have been used since the last charge"
            )
        }
        Refusal::NotSettable { field } => format!("{field} cannot be set"),
        _ => return closing(refusal).or_else(|| two_people(refusal, bank)),
    })
}

/// The refunds of a charge, which must be undone before it.
fn refunded(transactions: &[i64]) -> String {
    let all: Vec<String> = transactions.iter().map(i64::to_string).collect();
    match all.split_last() {
        Some((last, [])) => format!("transaction {last} refunds this charge"),
        Some((last, others)) => {
            let others = others.join(", ");
            format!("transactions {others} and {last} refund this charge")
        }
        None => "it has been refunded".to_owned(),
    }
}

/// The same for the closing of periods.
fn closing(refusal: &Refusal) -> Option<String> {
    Some(match refusal {
        Refusal::PeriodNotOver { end } => {
            format!(
                "the period ends at {} and is not over yet",
                format_rfc3339(end.0)
            )
        }
        Refusal::PeriodClosed { until } => {
            format!(
                "everything before {} is closed already",
                format_rfc3339(until.0)
            )
        }
        Refusal::PeriodGap { from, until } => {
            let (from, until) = (format_rfc3339(from.0), format_rfc3339(until.0));
            format!("from {from} until {until} is not closed yet")
        }
        Refusal::NothingClosed => "no period is closed".to_owned(),
        _ => return None,
    })
}

/// The same for transaction limits and two-person approval.
fn two_people(refusal: &Refusal, bank: &Bank) -> Option<String> {
    let unit = &bank.unit;
    Some(match refusal {
        Refusal::OverLimit { needed, left, per } => {
            let (needed, left) = (shown(*needed, bank), shown(*left, bank));
            format!("{needed} {unit} are more than the {left} that you may still move per {per}")
        }
        Refusal::ApprovalNeeded {
            kind,
            needed,
            threshold,
        } => {
            let (needed, threshold) = (shown(*needed, bank), shown(*threshold, bank));
            let kind = match *kind {
                "withdraw" => "a withdrawal".to_owned(),
                "adjust" => "an adjustment".to_owned(),
                kind => format!("a {}", kind.replace('_', " ")),
            };
            format!(
                "{kind} of {needed} {unit} is above {threshold}: another person must approve it"
            )
        }
        Refusal::OwnProposal { proposal } => {
            format!("proposal {proposal} is your own: another person must approve it")
        }
        Refusal::ProposalOver {
            proposal,
            is_request,
            state,
        } => {
            let word = if *is_request { "request" } else { "proposal" };
            format!("{word} {proposal} is {state}")
        }
        Refusal::TooManyRequests { most } => {
            format!("you have {most} open requests, which is the most")
        }
        _ => return None,
    })
}

/// A remedy, without a name.
pub(super) fn hint(refusal: &Refusal) -> Option<&'static str> {
    Some(match refusal {
        Refusal::AmbiguousJob { .. } => "name the machine with -m, and the kind with --type",
        Refusal::HasRefunds { .. } => "`bank undo` them first",
        Refusal::AlreadyReversed { .. } => "to apply it again, undo the reversal with `bank undo`",
        Refusal::OverLimit { .. } => {
            "a person with a higher limit can do it, or the caller a part of it on another UTC day"
        }
        Refusal::ApprovalNeeded { .. } => "--propose stores it for approval by another person",
        Refusal::OwnProposal { .. } => "`bank reject` withdraws it",
        Refusal::ProposalOver {
            is_request: true, ..
        } => "`bank request show` shows its state",
        Refusal::ProposalOver { .. } => "`bank proposal show` shows its state",
        Refusal::TooManyRequests { .. } => {
            "wait for an answer, or take one back with `bank request withdraw`"
        }
        Refusal::WasRemoved { .. } => "`bank account undelete` restores it",
        Refusal::Uncovered { .. } => "--allow-debt permits it",
        Refusal::NotSettable { .. } => {
            "deposits, withdrawals, transfers and adjustments change amounts; the window \
             determines what is active"
        }
        _ => return None,
    })
}
