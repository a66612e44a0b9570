//! Rates: set and ended. Old ones stay, so that past charges can be priced again (ledger.md 3.3).

use crate::command::SetRate;
use crate::directory::Directory;
use crate::effects::{DirectoryRow, Effects, Outcome};
use crate::ids::{BOUNDED_RULE, NAME_BYTES_MAX, RateId};
use crate::postings::Postings;
use crate::rate::fit::is_expression;
use crate::rate::{LIMIT_NAME, Rate, RateKind};
use crate::refusal::Refusal;
use crate::time::{Timestamp, Window};
use crate::view::{Context, View};
use std::sync::Arc;

/// Most rates in force or to come.
const RATES_MAX: usize = 1000;

/// A proposed rate without bounds in time: for questions about prices that are not set.
///
/// # Errors
/// The refusals of [`crate::command::Command::SetRate`], except those about times.
pub fn propose(set: &SetRate, directory: &Directory) -> Result<Rate, Refusal> {
    check(set)?;
    let named = |name: &str| {
        let machine = directory.machine_named(name);
        machine.ok_or_else(|| Refusal::not_found("machine", name))
    };
    let machine = set.machine.as_deref().map(named).transpose()?;
    Ok(Rate {
        id: RateId(directory.next_id("rate")),
        kind: set.kind,
        name: if set.kind.is_limit() {
            LIMIT_NAME.to_owned()
        } else {
            set.name.clone()
        },
        instance: set.instance.clone(),
        value: set.value,
        per: set.per,
        machine: machine.map(|m| m.id),
        window: Window::ALWAYS,
        when: set.when.clone().map(Arc::new),
        description: set.description.clone(),
    })
}

/// Adds a rate; one about the same subject ends where the new one begins.
pub(super) fn set(set: &SetRate, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    check(set)?;
    // Nothing was priced before the first rate of a bank: it alone may begin in the past, so that
    // usage of the years before the bank has a price (accounting files that are brought in).
    let is_first = ctx.directory.rates.is_empty();
    let from = set.from.unwrap_or(ctx.now);
    if from < ctx.now && !is_first {
        return Err(Refusal::bad_value("from", "now or later"));
    }
    if ctx.directory.rates_at(ctx.now).len() >= RATES_MAX {
        return Err(Refusal::bad_value(
            "rate",
            "at most 1000 in force or to come",
        ));
    }
    let from = if is_first && set.from.is_some() {
        from
    } else {
        from.max(after_quotes(view, ctx))
    };
    let window = Window {
        start: Some(from),
        end: set.until,
    };
    if !window.is_proper() {
        return Err(Refusal::BadWindow);
    }
    let rate = Rate {
        window,
        ..propose(set, ctx.directory)?
    };
    let mut postings = Postings::new(view);
    let overlaps = |old: &Rate| {
        let begins_later = window
            .end
            .zip(old.window.start)
            .is_some_and(|(end, s)| end <= s);
        !old.window.is_over(from) && !begins_later
    };
    let same = |old: &&Rate| old.same_subject(&rate) && overlaps(old);
    let replaced: Vec<&Rate> = ctx.directory.rates.iter().filter(same).collect();
    if let [old] = replaced.as_slice()
        && is_in_force(&rate, old)
    {
        // A change that changes nothing makes no transaction.
        return Ok(postings.finish(Outcome::Rate((*old).clone())));
    }
    postings.begin("rate_set", ctx.now);
    postings.remark(&remark(&rate));
    for old in replaced {
        // One that was to begin later never does: its window is empty.
        let end = old.window.start.map_or(from, |start| start.max(from));
        let window = Window {
            start: old.window.start,
            end: Some(end),
        };
        let ended = Rate {
            window,
            ..old.clone()
        };
        postings.directory.push(DirectoryRow::Rate(ended));
    }
    postings.directory.push(DirectoryRow::Rate(rate.clone()));
    Ok(postings.finish(Outcome::Rate(rate)))
}

/// Whether a known rate is already what a new one would be, from the start of the new one on.
fn is_in_force(new: &Rate, old: &Rate) -> bool {
    let is_earlier = old.window.start.is_none_or(|s| Some(s) <= new.window.start);
    let as_new = Rate {
        id: new.id,
        when: new.when.clone(),
        window: new.window,
        ..old.clone()
    };
    is_earlier && old.window.end == new.window.end && as_new == *new
}

/// Ends a rate now.
pub(super) fn remove(id: RateId, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let known = ctx
        .directory
        .rates
        .iter()
        .find(|r| r.id == id && !r.window.is_over(ctx.now));
    let rate = known.ok_or_else(|| Refusal::not_found("rate", &id.0.to_string()))?;
    // One that was to begin later never does: its window is empty.
    let end = after_quotes(view, ctx);
    let window = Window {
        start: rate.window.start,
        end: Some(rate.window.start.map_or(end, |start| start.max(end))),
    };
    let mut postings = Postings::new(view);
    postings.begin("rate_rm", ctx.now);
    postings.remark(&format!("rate={} {} {}", id.0, rate.kind.code(), rate.name));
    postings.directory.push(DirectoryRow::Rate(Rate {
        window,
        ..rate.clone()
    }));
    Ok(postings.finish(Outcome::Removed(id.0.to_string())))
}

/// When a change may begin: now, but after every quote that was given. One of this very instant has
/// the rates as they were (ledger.md 2.9).
fn after_quotes(view: &View, ctx: &Context<'_>) -> Timestamp {
    let quoted = view.newest_quote.is_some_and(|at| at >= ctx.now);
    Timestamp(ctx.now.0.saturating_add(i64::from(quoted)))
}

/// A rate in the words of the journal.
fn remark(rate: &Rate) -> String {
    let instance = match rate.instance.as_str() {
        "" => String::new(),
        instance => format!("[{instance}]"),
    };
    let hours = match rate.hours() {
        "" => String::new(),
        hours => format!(" when {hours}"),
    };
    let per = if rate.kind.is_metered() {
        format!(" per {}", rate.per.word())
    } else {
        String::new()
    };
    let (kind, name, value) = (rate.kind.code(), &rate.name, rate.value);
    format!("{kind} {name}{instance}={value}{per}{hours}")
}

fn check(set: &SetRate) -> Result<(), Refusal> {
    let bounded = |text: &str| text.len() <= NAME_BYTES_MAX && !text.chars().any(char::is_control);
    let named = !set.name.is_empty() || set.kind.is_limit();
    if !named || !bounded(&set.name) || !bounded(&set.instance) {
        return Err(Refusal::bad_name(&set.name, BOUNDED_RULE));
    }
    check_instance(set)?;
    if !set.kind.is_metered() && set.per != crate::rate::Per::Second {
        let expected = "no unit of time: only VBR, NBR and MVBR have one";
        return Err(Refusal::BadValue {
            field: "per",
            expected,
        });
    }
    Ok(())
}

/// Checks the allowed instances of each family.
fn check_instance(set: &SetRate) -> Result<(), Refusal> {
    let expected = match set.kind {
        kind if kind.is_limit() => Some("none: a limit is for every job").filter(|_| !set.instance.is_empty()),
        RateKind::Mvbr => match set.instance.split_once('=') {
            Some((property, _)) if !property.is_empty() => None,
            _ => Some("PROPERTY=VALUE"),
        },
        kind if kind.is_name_based() => None,
        _ => Some("a value, ranges such as 1-64,128-256, or <64, >64 (a value-based rate looks at the value)")
            .filter(|_| !is_expression(&set.instance)),
    };
    expected.map_or(Ok(()), |expected| {
        Err(Refusal::BadValue {
            field: "instance",
            expected,
        })
    })
}
