//! Fair-share priorities of groups (reports.md 6). The bank computes them, and the client sets them.

use std::collections::BTreeMap;
use std::sync::Arc;

use bank_api::v1::{PriorityQuery, PriorityReport, PriorityRow};
use bank_core::decimal::Decimal;
use bank_core::refusal::Refusal;
use bank_core::time::{Seconds, TEN_YEARS_S, Timestamp, Window};
use bank_core_figures::contribution::fixed;
use bank_core_figures::natural::Natural;
use bank_core_figures::priority::{self, Basis, Mode, Range, Record, Resources, Scores};
use bankd_store::read::uses::{self, UseFilter, Used};

use super::super::call::{Call, Handled, ok};
use super::super::json;
use super::super::view::Lookup as _;
use super::{group, on_machine, whole};
use crate::error::Failure;

/// Most components, and most groups that are named.
const COMPONENTS_MAX: usize = 4;
const GROUPS_MAX: usize = 1_000;
/// Components that uses have.
const COMPONENTS: [&str; 4] = ["processors", "gpus", "nodes", "memory_gb"];

/// `GET /api/v1/report/priority`
pub(in crate::v1) async fn show(call: Call) -> Handled {
    whole(&call)?;
    let query: PriorityQuery = call.query()?;
    let refused = |refusal: Refusal| call.refused(&refusal);
    let bad = |field, expected| refused(Refusal::BadValue { field, expected });
    let mode = query
        .mode
        .as_deref()
        .map_or(Some(Mode::default()), Mode::parse);
    let mode = mode.ok_or_else(|| bad("mode", "scaled-by-sum or full-spread"))?;
    let basis = basis(query.count.as_deref()).map_err(refused)?;
    let range = range(&query);
    let by = group::read(query.by.as_deref()).map_err(refused)?;
    let scores = scores(query.components.as_deref()).map_err(refused)?;
    let groups: Vec<String> = names(query.groups.as_deref());
    if groups.len() > GROUPS_MAX {
        return Err(bad("groups", "at most 1000 names with commas"));
    }
    let duration = query.duration_s;
    if duration.is_some_and(|s| !(1..=TEN_YEARS_S).contains(&s)) {
        return Err(bad("duration_s", "1 s to ten years"));
    }
    on_machine(&call, query.machine.as_deref()).await?;
    known_groups(&call, by, &groups).await?;
    let since = priority::since(call.now(), duration.map(Seconds));
    let window = Window::since(since);
    let filter = UseFilter {
        from: since.unwrap_or(Timestamp(0)),
        to: Timestamp::MAX,
        machine: query.machine.clone(),
    };
    let directory = Arc::clone(call.directory());
    let counted = call.ask(move |connection| {
        let mut resources = Resources::new(scores, &groups);
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        uses::each(connection, &filter, |used| {
            let group = group::of(by, used, &directory);
            let amounts = amounts(used);
            let record = record(used, basis, window, &amounts);
            if !group.is_empty() && resources.add(group, &record) {
                let count = counts.entry(group.to_owned()).or_default();
                *count = count.saturating_add(used.counts.into());
            }
        })?;
        Ok((resources, counts))
    });
    let (resources, counts) = counted.await?;
    let values: Vec<Natural> = resources.groups().values().cloned().collect();
    let priorities = priority::priorities(&values, mode, range)
        .ok_or_else(|| bad("max", "a number that is not below min"))?;
    let unit = resources.unit();
    let rows = resources.groups().iter().zip(priorities);
    ok(&PriorityReport {
        mode: mode.word().to_owned(),
        min: range.min,
        max: range.max,
        since: since.map(json::time),
        count: basis.word().to_owned(),
        by: group::word(by),
        items: rows
            .map(|((group, resource), priority)| PriorityRow {
                group: group.clone(),
                resource: shown(resource, &unit),
                priority,
                uses: counts.get(group).copied().unwrap_or(0),
            })
            .collect(),
    })
}

/// The basis: selection of uses.
fn basis(word: Option<&str>) -> Result<Basis, Refusal> {
    let basis = word.map_or(Some(Basis::default()), Basis::parse);
    basis.ok_or(Refusal::bad_value("count", "started or overlap"))
}

/// The least and the greatest priority.
fn range(query: &PriorityQuery) -> Range {
    let usual = Range::default();
    Range {
        min: query.min.unwrap_or(usual.min),
        max: query.max.unwrap_or(usual.max),
    }
}

/// Groups that were named are those of the bank, or of a use whenever it was: one that used nothing lately
/// has the least priority, and one that there never was is a slip of the fingers.
async fn known_groups(call: &Call, by: group::By, groups: &[String]) -> Result<(), Failure> {
    let mut strangers: Vec<String> = groups.to_vec();
    strangers.retain(|name| !group::is_registered(by, name, call));
    if strangers.is_empty() {
        return Ok(());
    }
    let directory = Arc::clone(call.directory());
    let filter = UseFilter {
        from: Timestamp(0),
        to: Timestamp::MAX,
        machine: None,
    };
    let unmet = call.ask(move |connection| {
        uses::each(connection, &filter, |used| {
            let own = group::of(by, used, &directory);
            strangers.retain(|name| name != own);
        })?;
        Ok(strangers)
    });
    match unmet.await?.first() {
        Some(name) => Err(call.view.unknown(group::kind(by), name)),
        None => Ok(()),
    }
}

/// The amount of each component in a use.
fn amounts(used: &Used) -> Vec<(&'static str, Decimal)> {
    let [processors, gpus, nodes, memory] = COMPONENTS;
    let whole =
        |number: u64| Decimal::from_billionths(i128::from(number).saturating_mul(1_000_000_000));
    let found = [
        (
            processors,
            used.millis
                .map(|n| Decimal::from_billionths(i128::from(n).saturating_mul(1_000_000))),
        ),
        (gpus, used.gpus.map(whole)),
        (nodes, used.nodes.map(whole)),
        (memory, used.memory.map(gigabytes)),
    ];
    let known = found
        .into_iter()
        .filter_map(|(name, amount)| Some((name, amount?)));
    known.collect()
}

/// Bytes as GB of 2^30, cut to nine places.
fn gigabytes(bytes: u64) -> Decimal {
    let billionths = i128::from(bytes).saturating_mul(1_000_000_000);
    Decimal::from_billionths(billionths.checked_shr(30).unwrap_or(0))
}

fn record<'a>(
    used: &Used,
    basis: Basis,
    window: Window,
    amounts: &'a [(&'a str, Decimal)],
) -> Record<'a> {
    let span = Window {
        start: Some(used.start),
        end: Some(used.end),
    };
    Record {
        ran_us: basis.counted(span, used.ended, used.wall_us, window),
        amounts,
    }
}

/// `processors=10.5,gpus=100`.
fn scores(text: Option<&str>) -> Result<Scores, Refusal> {
    let bad = || Refusal::BadValue {
        field: "components",
        expected: "NAME=SCORE with processors, gpus, nodes, memory_gb, each once, scores above 0",
    };
    let mut scores: Scores = Vec::new();
    for item in names(text) {
        let (name, score) = item.split_once('=').ok_or_else(bad)?;
        let score = Decimal::parse(score).filter(|score| *score > Decimal::ZERO);
        let is_new = scores.iter().all(|(known, _)| known != name);
        if !COMPONENTS.contains(&name) || !is_new || scores.len() >= COMPONENTS_MAX {
            return Err(bad());
        }
        scores.push((name.to_owned(), score.ok_or_else(bad)?));
    }
    Ok(scores)
}

fn names(text: Option<&str>) -> Vec<String> {
    let words = text.unwrap_or_default().split(',').map(str::trim);
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A resource with six places, cut, and no zeros behind.
fn shown(resource: &Natural, unit: &Natural) -> String {
    let million = Natural::ten_to(6);
    let cut = resource.times(&million).divided(unit).map(|(cut, _)| cut);
    let text = cut
        .and_then(|cut| fixed(&cut, &million, 6))
        .unwrap_or_default();
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_read_as_they_are_written_or_refused() {
        let read = scores(Some("processors=10.5, gpus=100")).unwrap();
        assert_eq!(read.len(), 2);
        assert!(scores(None).unwrap().is_empty());
        for text in [
            "processors",
            "rain=1",
            "gpus=0",
            "gpus=-1",
            "gpus=x",
            "gpus=1,gpus=2",
        ] {
            assert!(scores(Some(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn resources_are_shown_as_decimals() {
        let unit = Natural::from(1_000_000);
        for (resource, text) in [
            (0, "0"),
            (3_600_000_000_u128, "3600"),
            (1_500_000, "1.5"),
            (1, "0.000001"),
        ] {
            assert_eq!(shown(&resource.into(), &unit), text);
        }
        assert_eq!(gigabytes(3 << 29).to_string(), "1.5");
    }
}
