//! Debts of an account beside a deposit.

use bank_api::v1::{Allocation, List};
use maud::{Markup, html};
use serde_json::Value;

use super::amount::amount;
use crate::failed::Failed;
use crate::target::Target;
use crate::visit::Visit;

/// Debts of the account that a deposit with a new allocation does not pay.
pub(crate) async fn unpaid(visit: &Visit, answer: &Value) -> Result<Markup, Failed> {
    let text = |name: &str| answer.get(name).and_then(Value::as_str);
    let is_new = answer.get("created").and_then(Value::as_bool) == Some(true);
    let Some(account) = text("account").filter(|_| is_new) else {
        return Ok(html! {});
    };
    let target = Target::api(&["allocations"]).with("account", account);
    let list: List<Allocation> = visit.get(target.with("state", "active")).await?;
    let is_owing = |one: &&Allocation| one.amount.starts_with('-');
    Ok(html! {
        @for one in list.items.iter().filter(is_owing) {
            div .message { p {
                "Allocation " (one.id) " is " (amount(one.amount.trim_start_matches('-'))) " " (one.unit)
                " below zero, and this deposit does not pay that. A deposit with the number of this allocation does."
            } }
        }
    })
}
