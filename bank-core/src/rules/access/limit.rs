//! Limits of what somebody may move.

use crate::amount::Amount;
use crate::command::SetLimit;
use crate::effects::{DirectoryRow, Effects, Outcome};
use crate::ids::check_name;
use crate::model::{Limit, LimitOf};
use crate::postings::Postings;
use crate::refusal::Refusal;
use crate::view::{Context, View};

/// Sets a limit, new or not.
pub(super) fn set(set: &SetLimit, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    if let LimitOf::Name(name) = &set.of {
        check_name(name)?;
    }
    if set.per_operation.is_none() && set.per_day.is_none() {
        return Err(Refusal::MissingField {
            field: "per_operation or per_day",
        });
    }
    let known = ctx.directory.limit(&set.of);
    let limit = Limit {
        of: set.of.clone(),
        per_operation: set
            .per_operation
            .unwrap_or(known.and_then(|l| l.per_operation)),
        per_day: set.per_day.unwrap_or(known.and_then(|l| l.per_day)),
    };
    let bounds = [limit.per_operation, limit.per_day];
    if bounds.iter().flatten().any(|bound| *bound < Amount::ZERO) {
        return Err(Refusal::LIMIT_BELOW_ZERO);
    }
    if bounds == [None, None] {
        return Err(Refusal::MissingField {
            field: "per_operation or per_day",
        });
    }
    let mut postings = Postings::new(view);
    postings.begin("limit_set", ctx.now);
    let precision = ctx.directory.bank.precision;
    let shown = |bound: Option<Amount>| {
        bound.map_or("none".to_owned(), |a| a.display(precision).to_string())
    };
    postings.remark(&format!(
        "{} per_operation={} per_day={}",
        described(&limit.of),
        shown(limit.per_operation),
        shown(limit.per_day)
    ));
    postings.directory.push(DirectoryRow::Limit(limit.clone()));
    Ok(postings.finish(Outcome::Limited(limit)))
}

/// Removes a limit.
pub(super) fn remove(of: &LimitOf, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let name = described(of);
    if ctx.directory.limit(of).is_none() {
        return Err(Refusal::not_found("limit", &name));
    }
    let mut postings = Postings::new(view);
    postings.begin("limit_rm", ctx.now);
    postings.remark(&name);
    postings.directory.push(DirectoryRow::LimitGone(of.clone()));
    Ok(postings.finish(Outcome::Removed(name)))
}

/// `role=operator`, `name=amy`.
fn described(of: &LimitOf) -> String {
    match of {
        LimitOf::Role(role) => format!("role={}", role.word()),
        LimitOf::Name(name) => format!("name={name}"),
    }
}
