//! Refusals in words: the problem document of the JSON API, and one sentence for every other interface.
//!
//! A hint must never contain a name that the caller may not see. Its names are from the request, or from
//! the caller's view.

mod correction;

use bank_api::error::Problem;
use bank_api::text;
use bank_core::amount::Amount;
use bank_core::command::{After, Command};
use bank_core::directory::Bank;
use bank_core::refusal::Refusal;

/// The problem document of a refusal.
pub fn problem(refusal: &Refusal, bank: &Bank) -> Problem {
    let mut problem = Problem::new(refusal.code(), detail(refusal, bank));
    problem.hint = hint(refusal).map(str::to_owned);
    if let Refusal::InUse { field, .. } = refusal {
        problem.field = field.map(str::to_owned);
    }
    if let Refusal::InsufficientFunds {
        needed, available, ..
    } = refusal
    {
        problem.needed = Some(amount(*needed, bank));
        problem.available = Some(amount(*available, bank));
    }
    if let Refusal::OverLimit { needed, left, .. } = refusal {
        problem.needed = Some(amount(*needed, bank));
        problem.available = Some(amount(*left, bank));
    }
    problem
}

fn amount(amount: Amount, bank: &Bank) -> String {
    text::format_amount(amount.0, bank.precision.places())
}

/// An amount in a sentence, with separators.
fn shown(amount: Amount, bank: &Bank) -> String {
    text::format_grouped(amount.0, bank.precision.places())
}

/// Description of the case, in one sentence.
pub fn detail(refusal: &Refusal, bank: &Bank) -> String {
    let unit = &bank.unit;
    match refusal {
        Refusal::InsufficientFunds {
            needed,
            available,
            whose,
        } => {
            let (needed, available) = (shown(*needed, bank), shown(*available, bank));
            format!("{whose} has {available} {unit} available, {needed} are needed")
        }
        Refusal::AccountBlocked { account } => {
            format!("account {account:?} is blocked: a charge took it below zero")
        }
        Refusal::NotAMember { user, project } if user.is_empty() => {
            format!("project {project:?} is for its members, and no user was named")
        }
        Refusal::NotAMember { user, project } => {
            format!("user {user:?} is not an active member of project {project:?}")
        }
        Refusal::NoUsableAccount { project } => {
            format!("no account lets project {project:?} spend for this user and machine")
        }
        Refusal::UserInactive { user } => format!("user {user:?} is switched off"),
        Refusal::ProjectInactive { project } => format!("project {project:?} is switched off"),
        Refusal::MachineInactive { machine } => format!("machine {machine:?} is switched off"),
        Refusal::ProjectUnknown { project } => format!("no project {project:?}"),
        Refusal::UserUnknown { user } => format!("no user {user:?}"),
        Refusal::MachineUnknown { machine } => format!("no machine {machine:?}"),
        Refusal::NotAllowed { what } => format!("not allowed: {what}"),
        Refusal::OutOfScope { kind, name } => format!("not allowed: {kind} {name}"),
        Refusal::NotFound { kind, name } => format!("no {kind} {name:?}"),
        Refusal::NoPart { holder, part } => format!("{holder} has no {part}"),
        Refusal::HasPart { holder, part } => format!("{holder} already has {part}"),
        Refusal::Ambiguous { candidates } => {
            format!("several accounts fit: {}", candidates.join(", "))
        }
        Refusal::MissingField { field } => format!("{field} is missing"),
        Refusal::BadName { name, .. } => format!("{name:?} cannot be a name"),
        Refusal::NoField { field } => format!("{field} is missing"),
        Refusal::BadField { field, expected } => format!("{field}: expected {expected}"),
        Refusal::BadValue { field, expected } => format!("{field}: expected {expected}"),
        Refusal::AlreadyExists { kind, name } if kind.starts_with("removed ") => {
            format!("{name:?} is the id of a {kind}: no id is used twice")
        }
        Refusal::AlreadyExists { kind, name } => format!("{kind} {name:?} already exists"),
        Refusal::Cycle { name } => format!("{name:?} cannot be its own parent or ancestor"),
        Refusal::InUse { name, by, field } => in_use(name, by, *field),
        Refusal::LiveLiens { account, count } => live_liens(account, *count),
        Refusal::BalanceNotZero {
            holder,
            amount: left,
        } => {
            let left = shown(*left, bank);
            format!("{holder} still holds {left} {unit}")
        }
        Refusal::FallbackChain { name } => format!(
            "{name:?} cannot be the fallback: an account cannot be its own fallback, and the \
             fallback of another account has none itself"
        ),
        Refusal::CycleNotDue { name, next } => {
            format!("cycle {name:?} runs automatically at {next}")
        }
        other => correction::detail(other, bank)
            .or_else(|| of_partner(other))
            .or_else(|| of_text(other))
            .unwrap_or_else(|| plain_detail(other).to_owned()),
    }
}

fn live_liens(account: &str, count: i64) -> String {
    let liens = text::counted(count, "open lien");
    format!("account {account:?} has {liens}")
}

/// What uses a name; with the field, if a change gives the name of another object.
fn in_use(name: &str, by: &str, field: Option<&str>) -> String {
    let field = field.map_or_else(String::new, |field| format!("{field}: "));
    format!("{field}{name:?} is used by {by}")
}

/// Refusals of texts that are no amount of the bank.
fn of_text(refusal: &Refusal) -> Option<String> {
    Some(match refusal {
        Refusal::TooManyDecimals(precision, text) => {
            format!("this bank keeps {precision} decimals{}", given(text))
        }
        Refusal::BadAmountSyntax(text) => {
            let given = given(text);
            format!(
                "the amount is not a decimal number{given}: expected digits, with at most one point between them"
            )
        }
        Refusal::AmountTooLarge(text) => {
            let given = given(text);
            format!("the amount is larger than the bank can hold{given}")
        }
        _ => return None,
    })
}

/// The text of the request that a rule is about, if it is known.
fn given(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!(": {text:?}")
}

/// Refusals of partner banks.
fn of_partner(refusal: &Refusal) -> Option<String> {
    Some(match refusal {
        Refusal::PartnerRefused { partner, why } => format!("{partner} refuses: {why}"),
        Refusal::PartnerAway { partner } => {
            format!("the partner bank {partner} cannot be reached")
        }
        Refusal::PartnerOutOfStep {
            partner,
            number,
            expected,
        } => format!("message {number} of {partner}: the next one is {expected}"),
        _ => return None,
    })
}

/// Refusals with a constant text.
fn plain_detail(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::NoDefaultProject => "no project was named, and the user has no default project",
        Refusal::BadAmount(rule) => rule,
        Refusal::AmountOverflow => "the result is larger than the bank can hold",
        Refusal::BadWindow => "the start of a window must be before its end",
        Refusal::WindowInPast => "the end is in the past",
        Refusal::NegativeCharge => "usage cannot be below zero",
        Refusal::BadDuration => "a duration is whole seconds from 0 to ten years",
        Refusal::NoClockJump => "the ledger follows the clock: there is no jump to confirm",
        Refusal::BadRate => "a rate is a decimal from 0 with at most 9 places",
        _ => "refused by a rule",
    }
}

/// The remedy that depends on the command, where it does.
pub fn hint_of(refusal: &Refusal, command: &Command) -> Option<&'static str> {
    match (refusal, command) {
        (
            Refusal::InsufficientFunds { .. },
            Command::Withdraw(_) | Command::After(After::Transfer(_)),
        ) => Some("use an amount that is available; `bank balance` shows it"),
        (Refusal::OutOfScope { kind: "user", .. }, Command::SetMember(_)) => {
            Some("`bank request member PROJECT USER` asks an administrator")
        }
        (Refusal::WindowInPast, Command::AddCycle(_)) => {
            Some("use a start whose period is not over yet")
        }
        (Refusal::InsufficientFunds { .. }, Command::After(After::Adjust(_))) => {
            Some("adjust by an amount that is available; `bank balance` shows it")
        }
        _ => None,
    }
}

/// A remedy, without a name.
fn hint(refusal: &Refusal) -> Option<&'static str> {
    Some(match refusal {
        Refusal::InsufficientFunds { .. } => {
            "make a deposit; for a job, request a shorter duration or fewer resources"
        }
        Refusal::AccountBlocked { .. } => "a deposit that brings it to zero or above clears it",
        Refusal::NotAMember { .. } => "`bank project members add` makes a user a member",
        Refusal::NoUsableAccount { .. } => "`bank account show` lists who may spend",
        Refusal::NoDefaultProject => "name a project with -A",
        Refusal::SharesOver100 { .. } => {
            "`bank account ls --columns name,parent,share` shows the shares"
        }
        Refusal::AllocationOverlap { .. } => "choose a window that meets no other",
        Refusal::WindowInPast => {
            "use a later end; --allow-past accepts the end of a deposit or an allocation"
        }
        Refusal::LiveLiens { .. } => "`bank lien ls` shows them",
        Refusal::BalanceNotZero { amount, .. } if *amount < Amount::ZERO => {
            "a deposit into its allocation pays the debt; --force removes the account with its debt"
        }
        Refusal::BalanceNotZero { .. } => "`bank withdraw` takes the rest out",
        Refusal::NothingToRefund { .. } | Refusal::RefundExceedsCharge { .. } => {
            "`bank jobs JOB` lists the uses of the id; --use N refunds an earlier one"
        }
        Refusal::Ambiguous { .. } => "name one of the accounts",
        Refusal::CycleNotDue { .. } => "--dry-run shows the next run",
        Refusal::LienEnded { .. } => "`bank reserve` places a new one",
        Refusal::Overlap { .. } => "charge only usage outside of it",
        Refusal::BadName { rule, .. } => rule,
        Refusal::AlreadyExists { kind, .. } if kind == "kind" => {
            "`bank kind set` replaces its fields: name those that stay too"
        }
        Refusal::NoPart { part, .. } if part.starts_with("allocation ") => {
            "`bank allocation ls -a ACCOUNT` lists the allocations of an account"
        }
        Refusal::PartnerAway { .. } => {
            "try again; `bank partner set --away accept` starts jobs without it"
        }
        Refusal::PartnerOutOfStep { .. } => {
            "one of both banks was restored from a backup: compare with `bank settlement`"
        }
        other => return correction::hint(other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bank_core::amount::Precision;

    fn bank() -> Bank {
        Bank {
            uuid: "u".into(),
            precision: Precision::DEFAULT,
            unit: "SU".into(),
        }
    }

    #[test]
    fn a_shortage_contains_both_amounts() {
        let refusal = Refusal::InsufficientFunds {
            needed: Amount(57_600_000),
            available: Amount(42_400_000),
            whose: "chem".into(),
        };
        let problem = problem(&refusal, &bank());
        assert_eq!(
            problem.detail.as_deref(),
            Some("chem has 42,400.000 SU available, 57,600.000 are needed")
        );
        assert_eq!(problem.status, 402);
        assert_eq!(problem.needed.as_deref(), Some("57600.000"));
        assert_eq!(problem.available.as_deref(), Some("42400.000"));
    }
}
