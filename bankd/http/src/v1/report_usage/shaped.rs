//! The answer: sorted, cut to the largest, with totals; rounded once, after the sum.

use std::collections::{BTreeMap, BTreeSet};

use bank_api::v1::{UsageFigures, UsageLine, UsageQuery, UsageTable};
use bank_core::directory::Bank;
use bank_core::model::User;
use bank_core_figures::rollup::grid::{Every, Grid, shown};
use bank_core_figures::rollup::{HOUR, Measure};
use bankd_store::read::report::{Answer, Dimension, Figures};

use super::super::call::Call;
use super::super::json;
use super::super::owner::HIDDEN;
use super::View;

/// Decimal places of hours.
const PLACES: u32 = 6;

/// The query.
pub(super) struct Context<'a> {
    pub(super) query: &'a UsageQuery,
    pub(super) by: &'a [Dimension],
    pub(super) sort: Measure,
    pub(super) grid: &'a Grid,
    pub(super) every: Every,
    pub(super) zone: &'a bank_core::calendar::Zone,
}

/// A row on its way; without values it is all the others.
struct Row {
    bucket: usize,
    values: Option<Vec<String>>,
    figures: Figures,
}

/// The whole answer.
pub(super) fn table(call: &Call, context: &Context<'_>, answer: Answer) -> UsageTable {
    let bank = &call.directory().bank;
    let from_rollups = answer.from_rollups;
    let total = total(&answer, context.query.credit.as_deref() == Some("end"));
    let mut rows = rows(answer);
    sort(&mut rows, context);
    let wholes = wholes(&rows);
    let figures = |figures: &Figures, whole: Option<&Figures>| {
        shaped(figures, whole, context.query.users, from_rollups, bank)
    };
    // If rows are buckets only, each is a part of the period.
    let whole_of = |row: &Row| match context.by {
        [] => Some(&total),
        _ => wholes.get(&row.bucket),
    };
    let users = users(&call.view, context.by, &rows);
    let edge = |place: usize| {
        let at = context.grid.edges.get(place).copied();
        at.map(json::time).unwrap_or_default()
    };
    let last = context.grid.edges.len().saturating_sub(1);
    let line = |row: &Row, is_whole: bool| {
        let key = |(place, dimension): (usize, &Dimension)| {
            let value = row.values.as_ref().and_then(|values| values.get(place));
            let value = value.filter(|value| *value != HIDDEN).cloned();
            (dimension.word().to_owned(), value)
        };
        let (common_name, email) = known(&users, context.by, row);
        let (first, behind) = if is_whole {
            (0, last)
        } else {
            (row.bucket, row.bucket.saturating_add(1))
        };
        let labels = context.grid.labels.get(row.bucket);
        let whole = is_whole.then_some(&total);
        UsageLine {
            keys: context.by.iter().enumerate().map(key).collect(),
            bucket: labels
                .filter(|label| !is_whole && !label.is_empty())
                .cloned(),
            bucket_from: edge(first),
            bucket_until: edge(behind),
            others: row.values.is_none(),
            common_name,
            email,
            figures: figures(&row.figures, whole_of(row).filter(|_| !is_whole).or(whole)),
        }
    };
    let sums = sums(&rows, context);
    let seen = |edge: Option<&bank_core::time::Timestamp>| edge.map(|at| shown(*at, context.zone));
    UsageTable {
        from: edge(0),
        until: edge(last),
        shown_from: seen(context.grid.edges.first()).unwrap_or_default(),
        shown_until: seen(context.grid.edges.last()).unwrap_or_default(),
        tz: context.query.tz.clone().unwrap_or_else(|| "UTC".to_owned()),
        every: context.every.word().to_owned(),
        by: context.by.iter().map(|d| d.word().to_owned()).collect(),
        unit: bank.unit.clone(),
        from_what: if from_rollups { "rollups" } else { "records" }.to_owned(),
        rows: rows.iter().map(|row| line(row, false)).collect(),
        sums: sums.iter().map(|row| line(row, true)).collect(),
        total: figures(&total, Some(&total)),
    }
}

/// The users that rows are of, as far as the bank has and the caller sees them, by name.
fn users<'v>(view: &'v View, by: &[Dimension], rows: &[Row]) -> BTreeMap<String, &'v User> {
    let Some(place) = by.iter().position(|word| *word == Dimension::User) else {
        return BTreeMap::new();
    };
    let values = rows.iter().filter_map(|row| row.values.as_ref());
    let names: BTreeSet<&String> = values.filter_map(|values| values.get(place)).collect();
    let known = names.into_iter().filter_map(|name| {
        let user = view.directory().user_named(name);
        let user = user.filter(|user| view.sees_user(user))?;
        Some((name.clone(), user))
    });
    known.collect()
}

/// Name and address of the user that a row is of.
fn known(
    users: &BTreeMap<String, &User>,
    by: &[Dimension],
    row: &Row,
) -> (Option<String>, Option<String>) {
    let mut values = row.values.iter().flatten().zip(by);
    let name = values.find(|(_, word)| **word == Dimension::User);
    let user = name.and_then(|(name, _)| users.get(name));
    let text_of = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    (
        user.and_then(|user| text_of(&user.common_name)),
        user.and_then(|user| text_of(&user.email)),
    )
}

/// Everything in one row.
fn total(answer: &Answer, at_end: bool) -> Figures {
    let mut total = Figures::default();
    for (bucket, figures) in answer.all() {
        total.add(&counted_once(bucket, figures, at_end));
    }
    total
}

/// The figures of a bucket for a sum of all. Buckets are consecutive: a job in several of them counts once, in the
/// bucket of its start or in the first.
fn counted_once(bucket: usize, figures: &Figures, at_end: bool) -> Figures {
    let mut figures = figures.clone();
    figures.sums = figures.sums.of_span(bucket == 0 || at_end);
    figures
}

/// The figures of each bucket.
fn wholes(rows: &[Row]) -> BTreeMap<usize, Figures> {
    let mut wholes: BTreeMap<usize, Figures> = BTreeMap::new();
    for row in rows {
        wholes.entry(row.bucket).or_default().add(&row.figures);
    }
    wholes
}

/// The rows of the whole period, if they are asked for.
fn sums(rows: &[Row], context: &Context<'_>) -> Vec<Row> {
    if !context.query.sums {
        return Vec::new();
    }
    let at_end = context.query.credit.as_deref() == Some("end");
    let mut sums: BTreeMap<Option<&Vec<String>>, Figures> = BTreeMap::new();
    for row in rows {
        let own = sums.entry(row.values.as_ref()).or_default();
        own.add(&counted_once(row.bucket, &row.figures, at_end));
    }
    let mut sums: Vec<Row> = sums
        .into_iter()
        .map(|(values, figures)| Row {
            bucket: 0,
            values: values.cloned(),
            figures,
        })
        .collect();
    sort(&mut sums, context);
    sums
}

/// By bucket, then the largest first, then all the others.
fn sort(rows: &mut [Row], context: &Context<'_>) {
    let size = |row: &Row| row.figures.sums.get(context.sort);
    rows.sort_by(|a, b| {
        let others = a.values.is_none().cmp(&b.values.is_none());
        let by_bucket = a.bucket.cmp(&b.bucket).then(others);
        by_bucket
            .then_with(|| size(b).cmp(&size(a)))
            .then_with(|| a.values.cmp(&b.values))
    });
}

/// The rows, and one for the others in each bucket.
fn rows(answer: Answer) -> Vec<Row> {
    let rows = answer.rows.into_iter();
    let rows = rows.map(|((bucket, values), figures)| Row {
        bucket,
        values: Some(values),
        figures,
    });
    let others = answer.others.into_iter().map(|(bucket, figures)| Row {
        bucket,
        values: None,
        figures,
    });
    rows.chain(others).collect()
}

fn shaped(
    figures: &Figures,
    whole: Option<&Figures>,
    users: bool,
    from_rollups: bool,
    bank: &Bank,
) -> UsageFigures {
    let sum = |measure| figures.sums.get(measure);
    let hours = |measure| decimal(sum(measure), HOUR.into(), PLACES);
    // MiB × milliseconds.
    let sizes = |measure| decimal(sum(measure), i128::from(HOUR) / 1000, PLACES);
    // Figures are kept in microseconds and milliseconds: these are exact.
    let seconds = |measure| decimal(sum(measure), 1_000_000, 6);
    let size_seconds = |measure| decimal(sum(measure), 1_000, 3);
    UsageFigures {
        jobs: sum(Measure::Running).to_string(),
        started: sum(Measure::Started).to_string(),
        ended: sum(Measure::Ended).to_string(),
        core_hours: hours(Measure::Core),
        gpu_hours: hours(Measure::Gpu),
        node_hours: hours(Measure::Node),
        wall_hours: hours(Measure::Wall),
        cpu_hours: hours(Measure::Cpu),
        memory_mib_hours: sizes(Measure::Memory),
        disk_mib_hours: sizes(Measure::Disk),
        cpu_mhz_hours: (!from_rollups)
            .then(|| decimal(figures.mhz, i128::from(HOUR).saturating_mul(1000), PLACES)),
        factored_hours: hours(Measure::Factored),
        core_seconds: seconds(Measure::Core),
        gpu_seconds: seconds(Measure::Gpu),
        node_seconds: seconds(Measure::Node),
        wall_seconds: seconds(Measure::Wall),
        cpu_seconds: seconds(Measure::Cpu),
        memory_mib_seconds: size_seconds(Measure::Memory),
        disk_mib_seconds: size_seconds(Measure::Disk),
        cpu_mhz_seconds: (!from_rollups).then(|| decimal(figures.mhz, 1_000_000_000, 9)),
        factored_seconds: seconds(Measure::Factored),
        charged: json::sum(sum(Measure::Charge), bank),
        shadow_charged: json::sum(sum(Measure::Shadow), bank),
        share: whole.and_then(|whole| share(figures, whole)),
        users: users.then(|| u64::try_from(figures.users.len()).unwrap_or(u64::MAX)),
        submitted: sum(Measure::Submitted).to_string(),
        wait_mean_s: mean(
            sum(Measure::Wait),
            sum(Measure::Waited).saturating_mul(1_000_000),
        ),
        expansion: mean(
            sum(Measure::Expansion),
            sum(Measure::Expanded).saturating_mul(1_000_000),
        ),
    }
}

fn mean(sum: i128, count: i128) -> Option<String> {
    (count != 0).then(|| decimal(sum, count, 3))
}

/// Percent of the charges. Without charges, of shadow charges; without these, of processor time.
fn share(figures: &Figures, whole: &Figures) -> Option<String> {
    let of = |measure| (figures.sums.get(measure), whole.sums.get(measure));
    let (part, all) = [Measure::Charge, Measure::Shadow, Measure::Core]
        .map(of)
        .into_iter()
        .find(|(_, all)| *all > 0)?;
    Some(decimal(part.saturating_mul(100), all, 2))
}

/// A fraction as a decimal, rounded half away from zero (reports.md 1.8).
fn decimal(sum: i128, unit: i128, places: u32) -> String {
    let scale = 10_i128.saturating_pow(places);
    let scaled = sum.saturating_abs().saturating_mul(scale);
    let half = unit / 2;
    let rounded = scaled
        .saturating_add(half)
        .checked_div(unit)
        .unwrap_or_default();
    let sign = if sum < 0 && rounded != 0 { "-" } else { "" };
    let (whole, part) = (rounded / scale, rounded % scale);
    let width = usize::try_from(places).unwrap_or(0);
    format!("{sign}{whole}.{part:0width$}")
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn hours_are_rounded_once_and_half_away_from_zero() {
        for (sum, unit, places, text) in [
            (0, 3600, 6, "0.000000"),
            (3600, 3600, 6, "1.000000"),
            (1, 3, 2, "0.33"),
            (-2, 3, 2, "-0.67"),
            (1, 200, 2, "0.01"),
            (-1, 200, 2, "-0.01"),
            (-1, 1000, 2, "0.00"),
            (7_234_567, 1_000_000, 4, "7.2346"),
        ] {
            assert_eq!(decimal(sum, unit, places), text, "{sum} / {unit}");
        }
    }
}
