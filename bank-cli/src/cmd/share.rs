//! `bank report contribution`, `bank report utilization`: who used the clusters beside who paid for
//! them, and what of the capacity was used.

mod picture;

pub(super) use picture::top as pictured_top;

use std::collections::{BTreeMap, BTreeSet};

use bank_api::v1::{
    ContributionQuery, ContributionReport, ContributionRow, EfficiencyQuery, EfficiencyReport,
};
use bank_picture::{figure, reports::contribution::periods};
use serde_json::{Value, json};

use crate::{
    cli::{Basis, Credit, EfficiencyArgs, Format, RecentArgs, ShareArgs},
    config,
    context::Context,
    fail::Failure,
    out::{self, Kind, Sheet, column},
    when,
};

/// What follows the rows of shares.
const TOTALS: [&str; 2] = ["total without exempt", "total"];

/// `bank report contribution`
pub(super) fn contribution(context: &Context, args: ShareArgs) -> Result<String, Failure> {
    let by_contributor = !(args.by_project || args.by_user);
    let chart = args.chart;
    let report = ask(context, args, "contributor")?;
    let picture = || Ok(picture::report(context, &report));
    if let Some(answer) = context.pictured(chart, picture) {
        return answer;
    }
    let sheet = shares(&report, by_contributor);
    listed(context, &report, &sheet)
}

/// `bank report utilization`
pub(super) fn utilization(context: &Context, args: ShareArgs) -> Result<String, Failure> {
    let chart = args.chart;
    // One row for each machine unless intervals are asked for; only a chart, which needs a capacity, has intervals.
    let mut whole = args.clone();
    whole.buckets.get_or_insert_with(|| "1".to_owned());
    let mut report = ask(context, whole, "contributor")?;
    if args.buckets.is_none() && context.is_pictured(chart) && has_capacity(&report) {
        report = ask(context, args, "contributor")?;
    }
    let picture = || Ok(picture::utilization(context, &report));
    if let Some(answer) = context.pictured(chart, picture) {
        return answer;
    }
    listed(context, &report, &buckets(&report))
}

/// Whether any machine of the report has a declared capacity.
fn has_capacity(report: &ContributionReport) -> bool {
    let all = report.periods.iter().flat_map(|period| &period.utilisation);
    let mut buckets = all.flat_map(|own| &own.buckets);
    buckets.any(|bucket| bucket.percent.is_some())
}

/// Asks; by `usual` unless the options name another grouping.
pub(super) fn ask(
    context: &Context,
    args: ShareArgs,
    usual: &str,
) -> Result<ContributionReport, Failure> {
    let by = match (args.by_project, args.by_user) {
        (true, _) => "project",
        (_, true) => "user",
        _ => usual,
    };
    let basis = match args.basis {
        Basis::Slots => "slots",
        Basis::Cpu => "cpu",
        Basis::Gpu => "gpu",
        Basis::Su => "su",
    };
    let is_money = args.basis == Basis::Su;
    let credit = match args.credit {
        Credit::Spread => "spread",
        Credit::End => "end",
    };
    // Parts begin with the days that dates are of.
    let named = args.tz.or_else(config::zone_name);
    let tz = named.as_ref();
    let (from, to) = context.span_in(&args.span, tz)?;
    let second = RecentArgs {
        from: args.from2,
        to: args.to2,
        ..RecentArgs::default()
    };
    let (from2, to2) = context.span_in(&second, tz)?;
    let query = ContributionQuery {
        from,
        to,
        from2,
        to2,
        basis: Some(basis.to_owned()),
        by: Some(by.to_owned()),
        buckets: args.buckets,
        tz: named,
        credit: Some(credit.to_owned()),
        units: (context.form.in_seconds() && !is_money).then(|| "seconds".to_owned()),
        project: args.project,
        user: args.user,
        machine: args.machine,
        own: None,
    };
    let report: ContributionReport = context.get(&["report", "contribution"], &query)?;
    for period in &report.periods {
        if let Some(some) = period.unmeasured.filter(|some| *some > 0) {
            let all = period.uses;
            out::warn(&format!(
                "{some} of {all} jobs have no value for {}; they are counted as zero",
                report.basis
            ));
        }
    }
    let mut report = context.form.in_units(report)?;
    if is_money && context.form.in_seconds() {
        in_seconds(&mut report);
    }
    Ok(report)
}

/// The capacity in seconds, where usage is what was charged: it is told in hours.
fn in_seconds(report: &mut ContributionReport) {
    let all = report.periods.iter_mut().flat_map(|p| &mut p.utilisation);
    for bucket in all.flat_map(|own| &mut own.buckets) {
        let seconds = figure::times(&bucket.capacity, 3_600);
        bucket.capacity = seconds.unwrap_or_default();
    }
}

/// As text; in JSON Lines each row says of which periods it is.
pub(super) fn listed(
    context: &Context,
    report: &ContributionReport,
    sheet: &Sheet,
) -> Result<String, Failure> {
    if context.form.format != Format::Jsonl {
        return context.form.list(report, sheet);
    }
    let ContributionReport {
        basis,
        by,
        credit,
        zone,
        unit,
        periods,
    } = report;
    let words = [
        ("basis", basis),
        ("by", by),
        ("credit", credit),
        ("tz", zone),
        ("unit", unit),
    ];
    let mut whole: BTreeMap<String, &String> = words
        .into_iter()
        .map(|(key, word)| (key.to_owned(), word))
        .collect();
    for (period, behind) in periods.iter().zip(["", "2"]) {
        whole.insert(format!("period_from{behind}"), &period.from);
        whole.insert(format!("period_until{behind}"), &period.to);
    }
    context.form.report(&whole, sheet)
}

/// The rows of both periods side by side: whoever is in one of them is there.
fn shares(report: &ContributionReport, by_contributor: bool) -> Sheet {
    let mut names: Vec<&str> = Vec::new();
    let mut last: Vec<&str> = Vec::new();
    for row in report.periods.iter().flat_map(|period| &period.rows) {
        let own = if row.group == "unassigned" {
            &mut last
        } else {
            &mut names
        };
        if !own.contains(&row.group.as_str()) {
            own.push(&row.group);
        }
    }
    names.sort_unstable();
    names.extend(last);
    let mut rows: Vec<Value> = names
        .iter()
        .map(|name| side_by_side(report, name))
        .collect();
    for total in TOTALS
        .iter()
        .filter(|word| by_contributor || **word == "total")
    {
        rows.push(totals(report, total));
    }
    let title = match report.by.as_str() {
        "project" => "Project",
        "user" => "User",
        _ => "Contributor",
    };
    let mut columns = vec![column("group", title, Kind::Text)];
    let places: [[&'static str; 6]; 2] = [
        [
            "usage",
            "usage_share",
            "contribution",
            "contribution_share",
            "subscription",
            "cpu_efficiency",
        ],
        [
            "usage2",
            "usage_share2",
            "contribution2",
            "contribution_share2",
            "subscription2",
            "cpu_efficiency2",
        ],
    ];
    for [usage, share, given, given_share, subscription, busy] in
        places.into_iter().take(report.periods.len())
    {
        columns.push(column(usage, "Usage", Kind::Amount));
        columns.push(column(share, "%", Kind::Number));
        if by_contributor {
            columns.push(column(given, "Contribution", Kind::Amount));
            columns.push(column(given_share, "%", Kind::Number));
            columns.push(column(subscription, "Subscription", Kind::Text));
        }
        columns.push(column(busy, "CPU %", Kind::Number));
    }
    let mut sheet = Sheet::new(columns, &rows, "no usage");
    sheet.unit.clone_from(&report.unit);
    sheet.remark = remark(report);
    sheet
}

fn side_by_side(report: &ContributionReport, name: &str) -> Value {
    let mut cells = BTreeMap::from([("group".to_owned(), json!(name))]);
    for (period, behind) in report.periods.iter().zip(["", "2"]) {
        let own = period.rows.iter().find(|row| row.group == name);
        let nothing = ContributionRow::default();
        let own = own.unwrap_or(&nothing);
        for (word, value) in [
            ("usage", json!(own.usage)),
            ("usage_share", json!(own.usage_share)),
            ("contribution", json!(own.contribution)),
            ("contribution_share", json!(own.contribution_share)),
            ("subscription", json!(own.subscription)),
            ("cpu_efficiency", json!(own.cpu_efficiency)),
        ] {
            cells.insert(format!("{word}{behind}"), value);
        }
    }
    json!(cells)
}

fn totals(report: &ContributionReport, word: &str) -> Value {
    let mut cells = BTreeMap::from([("group".to_owned(), json!(word))]);
    for (period, behind) in report.periods.iter().zip(["", "2"]) {
        let own = if word == "total" {
            &period.all
        } else {
            &period.counted
        };
        cells.insert(format!("usage{behind}"), json!(own.usage));
        cells.insert(format!("contribution{behind}"), json!(own.contribution));
    }
    json!(cells)
}

/// When it is counted, and how.
pub(super) fn remark(report: &ContributionReport) -> String {
    let credit = match report.credit.as_str() {
        "end" => "usage is counted in the period in which the job ended",
        _ => "usage is counted in the period in which the job ran",
    };
    // The unit stands before it.
    format!("{}; {credit}.", periods(report))
}

fn buckets(report: &ContributionReport) -> Sheet {
    let mut rows = Vec::new();
    for (period, number) in report.periods.iter().zip(1..) {
        for own in &period.utilisation {
            for bucket in &own.buckets {
                rows.push(json!({
                    "period": number,
                    "machine": own.machine.as_deref().unwrap_or("(all)"),
                    "from": bucket.from,
                    "to": bucket.to,
                    "shown_from": bucket.shown_from,
                    "shown_to": bucket.shown_to,
                    "used": bucket.used,
                    "capacity": bucket.capacity,
                    "percent": bucket.percent,
                }));
            }
        }
    }
    let columns = vec![
        column("period", "Period", Kind::Number).screen_if(report.periods.len() > 1),
        column("machine", "Machine", Kind::Text),
        column("shown_from", "From", Kind::Text).on_screen(),
        column("shown_to", "To (exclusive)", Kind::Text).on_screen(),
        column("from", "From", Kind::Time).if_machine(),
        column("to", "To (exclusive)", Kind::Time).if_machine(),
        column("used", "Used", Kind::Amount),
        column("capacity", "Capacity", Kind::Amount),
        column("percent", "%", Kind::Number),
    ];
    let mut sheet = Sheet::new(columns, &rows, "no usage and no hardware");
    sheet.unit.clone_from(&report.unit);
    sheet.remark = remark(report) + &without_capacity(report);
    sheet
}

/// The machines whose hardware is not declared: their usage has no percentage.
fn without_capacity(report: &ContributionReport) -> String {
    let all = report.periods.iter().flat_map(|period| &period.utilisation);
    let none = all.filter(|own| own.buckets.iter().all(|bucket| bucket.percent.is_none()));
    let names: BTreeSet<&str> = none.filter_map(|own| own.machine.as_deref()).collect();
    if names.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = names.into_iter().collect();
    format!(
        " No capacity is declared for {} (bank hardware add).",
        names.join(", ")
    )
}

/// `bank report efficiency`
pub(super) fn efficiency(context: &Context, args: EfficiencyArgs) -> Result<String, Failure> {
    let (from, to) = context.span(&args.span)?;
    let query = EfficiencyQuery {
        from,
        to,
        by: Some(args.group_by),
        watts: args.watts,
        co2_g_per_kwh: args.co2,
        machine: args.machine,
    };
    let report: EfficiencyReport = context.get(&["report", "efficiency"], &query)?;
    if report.total.energy_kwh.is_some() && report.without_watts > 0 {
        let (some, all) = (report.without_watts, report.total.uses);
        out::warn(&format!(
            "{some} of {all} jobs ran on machines without a power value (watts per processor); their energy is \
             counted as zero"
        ));
    }
    let picture = || Ok(picture::efficiency(context, &report));
    if let Some(answer) = context.pictured(args.chart, picture) {
        return answer;
    }
    let in_seconds = context.form.in_seconds();
    let [held, requested, busy] = if in_seconds {
        ["seconds", "requested_seconds", "cpu_seconds"]
    } else {
        ["hours", "requested_hours", "cpu_hours"]
    };
    let title = if in_seconds {
        "Seconds held"
    } else {
        "Hours held"
    };
    let columns = vec![
        column("group", "Group", Kind::Text),
        column("uses", "Uses", Kind::Number),
        column(held, title, Kind::Amount),
        column(requested, "Requested", Kind::Amount),
        column("time_efficiency", "Ran %", Kind::Number),
        column(busy, "Busy", Kind::Amount),
        column("cpu_efficiency", "CPU %", Kind::Number),
        column("energy_kwh", "kWh", Kind::Amount).screen_if(report.total.energy_kwh.is_some()),
        column("co2_kg", "CO2 kg", Kind::Amount).screen_if(report.total.co2_kg.is_some()),
    ];
    let rows: Vec<_> = report.items.iter().chain([&report.total]).collect();
    let mut sheet = Sheet::new(columns, &rows, "no usage");
    let time = |text: &str| when::moment(text, context.zone);
    sheet.remark = format!(
        "Processor-{} from {} to {} (exclusive).",
        if in_seconds { "seconds" } else { "hours" },
        time(&report.from),
        time(&report.to)
    );
    context.form.report(&report, &sheet)
}
