//! Objects of the ledger as JSON shapes.

use bank_api::text::{self, format_rfc3339};
use bank_api::v1;
use bank_core::amount::{Amount, Precision};
use bank_core::command::SetAccount;
use bank_core::directory::{Bank, Directory};
use bank_core::model::{Allocation, MemberRole, Phase};
use bank_core::refusal::Refusal;
use bank_core::time::{Timestamp, Window};

/// An amount with all decimals of the bank.
pub(super) fn amount(amount: Amount, bank: &Bank) -> String {
    text::format_amount(amount.0, bank.precision.places())
}

/// A sum, held at the ends of the range.
pub(super) fn sum(sum: i128, bank: &Bank) -> String {
    amount(Amount::clamped(sum), bank)
}

/// A time.
pub(super) fn time(at: Timestamp) -> String {
    format_rfc3339(at.0)
}

/// A text, or `null` if it is empty.
pub(super) fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// A text that clears the value if it is empty.
pub(super) fn cleared(text: String) -> Option<String> {
    Some(text).filter(|t| !t.is_empty())
}

/// An amount in a request.
pub(super) fn read_amount(text: &str, precision: Precision) -> Result<Amount, Refusal> {
    Amount::parse(text, precision).map_err(|error| Refusal::of_amount(error, text))
}

/// A bound of a window in a request: RFC 3339, or `unbounded` (`infinity`, `-infinity`) for none.
pub(super) fn read_bound(
    text: &str,
    field: &'static str,
    unbounded: &str,
) -> Result<Option<Timestamp>, Refusal> {
    if text == unbounded {
        return Ok(None);
    }
    read_time(text, field).map(Some)
}

/// A time in a request.
pub(super) fn read_time(text: &str, field: &'static str) -> Result<Timestamp, Refusal> {
    let expected = "a time such as 2026-10-01T00:00:00Z";
    text::parse_rfc3339(text)
        .map(Timestamp)
        .ok_or(Refusal::BadValue { field, expected })
}

/// A time in a request, where there is one.
pub(super) fn read_time_of(
    text: Option<&String>,
    field: &'static str,
) -> Result<Option<Timestamp>, Refusal> {
    text.map(|text| read_time(text, field)).transpose()
}

/// A period in a request, by its two fields; each bound may be missing.
pub(super) fn read_period(
    (from, from_field): (Option<&String>, &'static str),
    (until, until_field): (Option<&String>, &'static str),
) -> Result<Window, Refusal> {
    let window = Window {
        start: read_time_of(from, from_field)?,
        end: read_time_of(until, until_field)?,
    };
    if window.is_proper() {
        return Ok(window);
    }
    Err(Refusal::BadWindow)
}

/// A member's role in a request.
pub(super) fn read_member_role(word: &str) -> Result<MemberRole, Refusal> {
    MemberRole::parse(word).ok_or(Refusal::bad_value("role", "member, pi or manager"))
}

/// A change of an account that changes nothing yet.
pub(super) fn no_change(name: &str) -> SetAccount {
    SetAccount {
        name: name.to_owned(),
        ..SetAccount::default()
    }
}

/// An allocation at an instant.
pub(super) fn allocation(
    directory: &Directory,
    allocation: &Allocation,
    phase: Phase,
) -> v1::Allocation {
    let bank = &directory.bank;
    let account = directory.account(allocation.account);
    v1::Allocation {
        id: allocation.id.0,
        account: account.map(|a| a.name.clone()).unwrap_or_default(),
        state: phase.word().to_owned(),
        start: allocation.window.start.map(time),
        until: allocation.window.end.map(time),
        amount: amount(allocation.amount, bank),
        held: amount(allocation.held, bank),
        credit_limit: amount(allocation.credit_limit, bank),
        deposited: amount(allocation.deposited, bank),
        shadow_charged: sum(-i128::from(allocation.shadow.0), bank),
        shadow_held: amount(allocation.shadow_held, bank),
        unit: bank.unit.clone(),
    }
}
