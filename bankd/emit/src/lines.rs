//! Uses as JSON Lines and as CSV (`usage-records.md` 5.3), by the names of the internal record; and JSON
//! Lines in the shape of AUDITOR's records.

use std::collections::BTreeMap;

use bank_api::auditor::{self, Head, HeadComponent, HeadScore};
use bank_api::text::is_formula;
use bank_api::v1::UsedLine;

use super::export::{Site, Written, is_exported};
use super::{Kind, Occasion, Outcome, Record, State, text};

/// A record with everything that is known of it.
pub fn line(record: &Record, site: &Site) -> UsedLine {
    let adjusts = match record.occasion {
        Occasion::Adjustment { of, why } => Some((of, why)),
        _ => None,
    };
    let time = |at: Option<i64>| at.and_then(text::time);
    let millionths = |micros: Option<i64>| micros.map(|micros| text::decimal(micros.into(), 6));
    let rate = record.usage.rate_times(1_000_000_000);
    let kind = match (record.kind, adjusts) {
        (_, Some(_)) => "Adjustment",
        (Kind::Job, None) => "Job",
        (Kind::Reservation, None) => "Reservation",
    };
    UsedLine {
        record_id: format!("bank:{}", record.name(&site.bank)),
        replaces: record
            .replaces(&site.bank)
            .map(|name| format!("bank:{name}")),
        kind: kind.to_owned(),
        adjusts: adjusts.map(|(of, _)| format!("bank:{}:{of}", site.bank)),
        why: adjusts.map(|(_, why)| why.as_str().to_owned()),
        source: record.source.clone(),
        outcome: match record.outcome {
            Outcome::Billed => "Billed",
            Outcome::Unbilled => "Unbilled",
            Outcome::Shadow => "Shadow",
        }
        .to_owned(),
        created_at: text::time(record.created_at),
        user: record.user.clone(),
        uid: record.uid,
        group: record.group.clone(),
        gid: record.gid,
        project: record.project.clone(),
        machine: record.machine.clone(),
        submit_host: record.submit_host.clone(),
        class: record.class.clone(),
        qos: record.qos.clone(),
        hosts: record.hosts.clone(),
        host_type: record.host_type.clone(),
        local_job_id: record.object_id.clone(),
        job_name: record.job_name.clone(),
        submit_time: time(record.submit_time),
        start_time: time(record.start_time),
        end_time: time(record.end_time),
        wall_s: millionths(record.wall),
        charge_s: millionths(Some(record.usage.charged())),
        processor_s: Some(text::decimal(record.counted().into(), 6)),
        cpu_total_s: millionths(record.cpu_total),
        cpu_user_s: millionths(record.cpu_user),
        cpu_system_s: millionths(record.cpu_system),
        requested_s: millionths(record.requested),
        processors: Some(text::decimal(record.usage.processors(), 6)),
        proc_rate: rate.map(|(n, d)| text::decimal(text::nearest(n, d), 9)),
        nodes: record.nodes,
        requested_processors: millionths(record.requested_processors),
        memory_max_per_node_bytes: record.memory_per_node,
        memory_total_bytes: record.memory_total,
        requested_memory_per_node_bytes: record.requested_memory,
        gpus: record.gpus,
        state: state(record.state).to_owned(),
        exit_code: record.exit_code,
        charge: site.amount(record.amount),
        charge_unit: site.unit.clone(),
        shadow_charge: record.shadow.map(|shadow| site.amount(shadow)),
        formula: record.formula.clone(),
        pi: record.pi.clone(),
    }
}

fn state(state: State) -> &'static str {
    match state {
        State::Completed => "Completed",
        State::Failed => "Failed",
        State::Timeout => "Timeout",
        State::Aborted => "Aborted",
        State::Preempted => "Preempted",
        State::Running => "Running",
        State::Suspended => "Suspended",
        State::Held => "Held",
        State::Queued => "Queued",
    }
}

/// A record as a line of JSON.
pub fn json(record: &Record, site: &Site) -> Written {
    if !is_exported(record) {
        return Written::Nothing;
    }
    Written::Text(line(record, site).json() + "\n")
}

/// The header line of CSV.
pub fn csv_head() -> String {
    UsedLine::COLUMNS.join(",") + "\n"
}

/// A record as a row of CSV (RFC 4180, except for the line feed). Missing values are empty. A spreadsheet
/// takes some texts for formulas; `is_safe` puts `'` before them.
pub fn csv(record: &Record, site: &Site, is_safe: bool) -> Written {
    if !is_exported(record) {
        return Written::Nothing;
    }
    let cells: BTreeMap<String, String> = line(record, site).cells().into_iter().collect();
    let row: Vec<String> = UsedLine::COLUMNS
        .iter()
        .map(|column| {
            let value = cells.get(*column).map(String::as_str).unwrap_or_default();
            cell(value, is_safe && !NUMBERS.contains(column))
        })
        .collect();
    Written::Text(row.join(",") + "\n")
}

/// Columns of numbers, which may be negative and are no formulas.
const NUMBERS: [&str; 8] = [
    "exit_code",
    "charge",
    "shadow_charge",
    "uid",
    "gid",
    "wall_s",
    "charge_s",
    "processor_s",
];

/// A cell of CSV: in quotes where it holds what ends cells or rows.
pub(super) fn cell(value: &str, is_safe: bool) -> String {
    let value = if is_safe && is_formula(value) {
        format!("'{value}")
    } else {
        value.to_owned()
    };
    // A blank at an end would be lost by readers that trim.
    let is_odd = value.contains(['"', ',', '\n', '\r']) || value.trim() != value;
    if is_odd {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value
    }
}

/// A row of CSV.
pub fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|value| cell(value, false)).collect();
    cells.join(",") + "\n"
}

/// A record in the shape of AUDITOR's: whole jobs with a start and an end only.
pub fn auditor(record: &Record, site: &Site) -> Written {
    if let Some(unfit) = super::export::unfit_for_jobs(record) {
        return unfit;
    }
    let times = record.span();
    let times = times.and_then(|(s, e)| Some((s, e, text::time(s)?, text::time(e)?)));
    let Some((start, end, start_time, stop_time)) = times else {
        return Written::Skipped("its times are beyond the calendar");
    };
    let whole = |number: i128| i64::try_from(number).ok();
    let amounts = [
        ("Cores", whole(text::ceiling(record.usage.processors()))),
        ("NNodes", record.nodes),
        ("Memory", record.memory()),
        ("GPU", record.gpus),
        (
            "TotalCPU",
            record
                .cpu()
                .and_then(|cpu| whole(super::export::seconds(cpu.into()))),
        ),
    ];
    let value = site
        .benchmark
        .as_ref()
        .map(|benchmark| text::decimal(benchmark.value, 9));
    let value = value.and_then(|value| serde_json::value::RawValue::from_string(value).ok());
    let scores = |name: &str| -> Vec<HeadScore<'_>> {
        let worth = site.benchmark.as_ref().zip(value.as_deref());
        let worth = worth.filter(|_| name == "Cores");
        worth
            .map(|(benchmark, value)| HeadScore {
                name: &benchmark.name,
                value,
            })
            .into_iter()
            .collect()
    };
    let components = amounts
        .into_iter()
        .filter_map(|(name, amount)| {
            Some(HeadComponent {
                name,
                amount: amount.filter(|amount| *amount >= 0)?,
                scores: scores(name),
            })
        })
        .collect();
    let name = format!("bank:{}", record.first_name(&site.bank));
    let meta = meta(record, site);
    let head = Head {
        record_id: &name,
        meta: Some(&meta),
        components,
        start_time: &start_time,
    };
    let runtime = super::export::epoch(end).saturating_sub(super::export::epoch(start));
    let stop = auditor::text(&stop_time);
    let open = head.open_text();
    Written::Text(format!(
        "{open},\"stop_time\":{stop},\"runtime\":{runtime}}}\n"
    ))
}

fn meta(record: &Record, site: &Site) -> BTreeMap<String, Vec<String>> {
    let named = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
    let id = Some(record.object_id.clone());
    let all = [
        ("account", named(&record.project)),
        ("group_id", named(&record.group)),
        ("headnode", named(&record.submit_host)),
        ("job_id", id),
        ("machine", named(&Some(record.machine.clone()))),
        ("partition", named(&record.class)),
        ("qos", named(&record.qos)),
        ("site_id", named(&Some(site.name.clone()))),
        ("state", Some(state(record.state).to_owned())),
        ("user_id", named(&record.user)),
    ];
    let mut meta: BTreeMap<String, Vec<String>> = all
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), vec![value?])))
        .collect();
    if !record.hosts.is_empty() {
        meta.insert("nodename".to_owned(), record.hosts.clone());
    }
    meta
}
