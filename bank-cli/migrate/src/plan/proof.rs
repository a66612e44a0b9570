//! The figures that the old bank lists at a time, computed from its tables, and the comparison with its lists.

use std::collections::{BTreeMap, BTreeSet};

use bank_api::text::format_rfc3339;

use crate::{
    Settings,
    fault::Fault,
    figure::Figure,
    old::{Column, Listed, Of, Old},
};

/// Most differences in a message.
const SHOWN: usize = 10;
/// Most times at which a list is compared.
const TIMES_MAX: usize = 2000;

/// The figures of an account over its active allocations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) amount: Figure,
    pub(super) reserved: Figure,
    pub(super) credit_limit: Figure,
    pub(super) deposited: Figure,
}

impl Figures {
    /// The figure of a list, by its column.
    fn of(&self, column: Column) -> Figure {
        let balance = self.amount.minus(self.reserved);
        match column {
            Column::Amount => self.amount,
            Column::Reserved => self.reserved,
            Column::Balance => balance,
            Column::CreditLimit => self.credit_limit,
            Column::Available => balance.plus(self.credit_limit),
            Column::Deposited => self.deposited,
        }
    }
}

/// The figures of all accounts at a time, as the old bank counts: a reservation counts from its start to its
/// end, also on an allocation that is over.
pub(super) fn listed_at(old: &Old, at: i64) -> BTreeMap<&str, Figures> {
    let mut figures = allocated(old, at);
    for lien in old.liens.iter().filter(|lien| lien.is_live(at)) {
        for part in &lien.parts {
            let own = figures.entry(part.account.as_str()).or_default();
            own.reserved = own.reserved.plus(part.amount);
        }
    }
    figures
}

/// Amounts and credit limits of active allocations.
pub(super) fn allocated(old: &Old, at: i64) -> BTreeMap<&str, Figures> {
    let accounts = old.accounts.iter();
    let mut figures: BTreeMap<&str, Figures> = accounts
        .map(|own| (own.key.as_str(), Figures::default()))
        .collect();
    for allocation in old.allocations.iter().filter(|own| own.is_active(at)) {
        let own = figures.entry(allocation.account.as_str()).or_default();
        own.amount = own.amount.plus(allocation.amount);
        own.credit_limit = own.credit_limit.plus(allocation.credit_limit);
        let deposited = allocation.deposited.unwrap_or(allocation.amount);
        own.deposited = own.deposited.plus(deposited);
    }
    figures
}

/// Compares the lists with the tables: now, else at the latest time since the last change at which all figures
/// agree, or at the opening. Returns what differs since then, and the number of compared figures.
pub(super) fn compare(old: &Old, settings: &Settings) -> Result<(Vec<String>, usize), Fault> {
    let compared = old.listed.len();
    let now = differences(old, settings.now);
    if now.is_empty() {
        return Ok((Vec::new(), compared));
    }
    let mut best: Option<(usize, Vec<String>)> = None;
    for time in times(old, settings) {
        let then = differences(old, time);
        if then.is_empty() {
            let mut notes = vec![format!(
                "the list agrees with the old bank at {}, and differs now because time went on:",
                format_rfc3339(time)
            )];
            notes.extend(now.iter().map(|difference| format!("  {difference}")));
            return Ok((notes, compared));
        }
        if best.as_ref().is_none_or(|(least, _)| then.len() < *least) {
            best = Some((then.len(), then));
        }
    }
    let differences = best.map_or(now, |(_, differences)| differences);
    let more = differences.len().saturating_sub(SHOWN);
    let mut text: Vec<String> = differences.into_iter().take(SHOWN).collect();
    if more > 0 {
        text.push(format!("and {more} more"));
    }
    Err(Fault::new(
        format!("the list differs from the old bank: {}", text.join("; ")),
        "stop the old bank, then export its tables and save its list again, so that both are of one time",
    ))
}

/// The times since the last change at which a figure can differ from the one before, the latest first.
fn times(old: &Old, settings: &Settings) -> Vec<i64> {
    let Settings { at, now, .. } = *settings;
    let Some(changed) = old.changed else {
        return vec![at];
    };
    let windows = old.allocations.iter().flat_map(|own| [own.start, own.end]);
    let liens = old.liens.iter().flat_map(|own| [own.start, own.end]);
    let bounds = windows.chain(liens).flatten();
    let inside = bounds.filter(|bound| changed < *bound && *bound < now);
    let times: BTreeSet<i64> = inside.chain([changed.min(now), at]).collect();
    times.into_iter().rev().take(TIMES_MAX).collect()
}

/// The figures of the lists that differ from those of the tables.
fn differences(old: &Old, at: i64) -> Vec<String> {
    let accounts = listed_at(old, at);
    let allocations: BTreeMap<&str, Figures> = old
        .allocations
        .iter()
        .map(|own| {
            let figures = Figures {
                amount: own.amount,
                credit_limit: own.credit_limit,
                deposited: own.deposited.unwrap_or(own.amount),
                ..Figures::default()
            };
            (own.key.as_str(), figures)
        })
        .collect();
    let liens = old.liens.iter().map(|own| {
        let amount = if own.is_live(at) {
            own.amount()
        } else {
            Figure::ZERO
        };
        let figures = Figures {
            amount,
            ..Figures::default()
        };
        (own.key.as_str(), figures)
    });
    let liens: BTreeMap<&str, Figures> = liens.collect();
    let of = |listed: &Listed| match listed.of {
        Of::Account => accounts.get(listed.key.as_str()),
        Of::Allocation => allocations.get(listed.key.as_str()),
        Of::Lien => liens.get(listed.key.as_str()),
    };
    let differences = old.listed.iter().filter_map(|listed| {
        let Some(figures) = of(listed) else {
            let (what, key) = (noun(listed.of), &listed.key);
            return Some(format!(
                "{}: {what} {key} is not in the tables",
                listed.place
            ));
        };
        difference(listed, figures.of(listed.kind))
    });
    differences.collect()
}

fn noun(of: Of) -> &'static str {
    match of {
        Of::Account => "account",
        Of::Allocation => "allocation",
        Of::Lien => "reservation",
    }
}

/// The figure of a list against the one of the tables, with the decimals of the list.
fn difference(listed: &Listed, found: Figure) -> Option<String> {
    let places = listed.text.split_once('.').map_or(0, |(_, own)| own.len());
    let own = Figure::parse(&listed.text);
    let printed = [found.rounded(places), found.half_up(places)];
    let is_equal = |own| own == found || (!listed.is_exact && printed.contains(&own));
    if own.is_some_and(is_equal) {
        return None;
    }
    let Listed {
        key,
        name,
        column,
        text,
        place,
        ..
    } = listed;
    let what = noun(listed.of);
    let name = if name.is_empty() {
        String::new()
    } else {
        format!(" {name}")
    };
    Some(format!(
        "{place}: {what} {key}{name}: {column} is {text} in the list, {found} in the tables"
    ))
}
