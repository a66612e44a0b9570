//! Rates: set and ended. Old ones stay, so that past charges can be priced again (ledger.md 3.3).

use crate::command::SetRate;
use crate::effects::{DirectoryRow, Effects, Outcome};
use crate::ids::{NAME_BYTES_MAX, RateId};
use crate::model::Machine;
use crate::postings::Postings;
use crate::rate::{Rate, RateKind};
use crate::refusal::{Refusal, short};
use crate::time::Window;
use crate::view::{Context, View};

/// Adds a rate; one about the same subject ends where the new one begins.
pub(super) fn set(set: &SetRate, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    check(set)?;
    let from = set.from.unwrap_or(ctx.now);
    if from < ctx.now {
        return Err(Refusal::BadValue {
            field: "from",
            expected: "now or later",
        });
    }
    let window = Window {
        start: Some(from),
        end: set.until,
    };
    if !window.is_proper() {
        return Err(Refusal::BadWindow);
    }
    let machine = set
        .machine
        .as_deref()
        .map(|name| machine(name, ctx))
        .transpose()?;
    let rate = Rate {
        id: RateId(ctx.directory.next_id("rate")),
        kind: set.kind,
        name: set.name.clone(),
        instance: set.instance.clone(),
        value: set.value,
        per: set.per,
        machine: machine.map(|m| m.id),
        window,
        description: set.description.clone(),
    };
    let mut postings = Postings::new(view);
    postings.begin("rate_set", ctx.now);
    postings.remark(&format!(
        "{} {}{}={} per {}",
        rate.kind.code(),
        rate.name,
        if rate.instance.is_empty() {
            String::new()
        } else {
            format!("[{}]", rate.instance)
        },
        rate.value,
        rate.per.word(),
    ));
    let overlaps = |old: &Rate| {
        let begins_later = window
            .end
            .zip(old.window.start)
            .is_some_and(|(end, s)| end <= s);
        !old.window.is_over(from) && !begins_later
    };
    let same = |old: &&Rate| old.same_subject(&rate) && overlaps(old);
    for old in ctx.directory.rates.iter().filter(same) {
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

/// Ends a rate now.
pub(super) fn remove(id: RateId, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let known = ctx
        .directory
        .rates
        .iter()
        .find(|r| r.id == id && !r.window.is_over(ctx.now));
    let rate = known.ok_or_else(|| Refusal::not_found("rate", &id.0.to_string()))?;
    let window = Window {
        start: rate.window.start,
        end: Some(ctx.now),
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

fn check(set: &SetRate) -> Result<(), Refusal> {
    let bounded = |text: &str| text.len() <= NAME_BYTES_MAX && !text.chars().any(char::is_control);
    if set.name.is_empty() || !bounded(&set.name) || !bounded(&set.instance) {
        return Err(Refusal::BadName {
            name: short(&set.name),
        });
    }
    let by_instance = set.kind.is_name_based() || set.kind == RateKind::Mvbr;
    if !by_instance && !set.instance.is_empty() {
        let expected = "none: a value-based rate looks at the value";
        return Err(Refusal::BadValue {
            field: "instance",
            expected,
        });
    }
    if set.kind == RateKind::Mvbr && !set.instance.contains('=') {
        return Err(Refusal::BadValue {
            field: "instance",
            expected: "PROPERTY=VALUE",
        });
    }
    if !set.kind.is_metered() && set.per != crate::rate::Per::Second {
        let expected = "no unit of time: only VBR, NBR and MVBR have one";
        return Err(Refusal::BadValue {
            field: "per",
            expected,
        });
    }
    Ok(())
}

fn machine<'a>(name: &str, ctx: &Context<'a>) -> Result<&'a Machine, Refusal> {
    ctx.directory
        .machine_named(name)
        .ok_or_else(|| Refusal::not_found("machine", name))
}
