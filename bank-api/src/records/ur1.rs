//! A usage record 1.0 (`usage-records.md` 1): its content, and every violated rule, including rules that
//! the published schema cannot express.

use bank_core::domain::is_domain_name;

use super::xml::{Element, Space};
use super::{Findings, lexical, shown};

/// The values of a record. Times and durations are microseconds, amounts as they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// `JobUsageRecord`, and not `UsageRecord`.
    pub is_job: bool,
    /// `RecordIdentity@recordId`
    pub record_id: Option<String>,
    /// `RecordIdentity@createTime`
    pub created: Option<i64>,
    /// `GlobalJobId`
    pub global_job_id: Option<String>,
    /// `LocalJobId`
    pub local_job_id: Option<String>,
    /// `LocalUserId`
    pub user: Option<String>,
    /// `GlobalUserName`, else the subject of the user's certificate.
    pub global_user: Option<String>,
    /// `JobName`
    pub job_name: Option<String>,
    /// `Charge`, or the exact value of `bank.charge` if present.
    pub charge: Option<String>,
    /// `Charge@unit`
    pub unit: Option<String>,
    /// `Charge@formula`
    pub formula: Option<String>,
    /// `Charge@description`: why there is an adjustment.
    pub why: Option<String>,
    /// `Status`
    pub status: Option<String>,
    /// `Status@description`
    pub status_note: Option<String>,
    /// `Memory` of a node at most, in bytes.
    pub memory: Option<i64>,
    /// `TimeInstant@type=submitted`
    pub submitted: Option<i64>,
    /// `ServiceLevel@type=qos`
    pub qos: Option<String>,
    /// `WallDuration`
    pub wall: Option<i64>,
    /// `CpuDuration@usageType=user`
    pub cpu_user: Option<i64>,
    /// `CpuDuration@usageType=system`
    pub cpu_system: Option<i64>,
    /// `CpuDuration` without a type.
    pub cpu_total: Option<i64>,
    /// `NodeCount`
    pub nodes: Option<i64>,
    /// `Processors`
    pub processors: Option<i64>,
    /// `Processors@consumptionRate`
    pub rate: Option<String>,
    /// `EndTime`
    pub end: Option<i64>,
    /// `StartTime`
    pub start: Option<i64>,
    /// The machine: `bank.machine`, else `MachineName`.
    pub machine: Option<String>,
    /// `SubmitHost`
    pub submit_host: Option<String>,
    /// `Queue`
    pub queue: Option<String>,
    /// `ProjectName`
    pub project: Option<String>,
    /// `Host`
    pub hosts: Vec<String>,
    /// `Resource` and `ConsumableResource` with their descriptions.
    pub resources: Vec<(String, String)>,
}

/// Allowed number and position of an element.
struct Rule {
    name: &'static str,
    /// Elements of a lower place precede those of a higher one.
    place: u8,
    once: Once,
    attributes: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Once {
    /// By the schema, or by its meaning.
    Yes,
    /// Again with another metric, type or usage type only.
    ByKind,
    No,
}

const fn rule(
    name: &'static str,
    place: u8,
    once: Once,
    attributes: &'static [&'static str],
) -> Rule {
    Rule {
        name,
        place,
        once,
        attributes,
    }
}

const SIZE: &[&str] = &["description", "storageUnit", "phaseUnit", "metric", "type"];
const NOTE: &[&str] = &["description"];

/// The content model in the order of the schema (`usage-records.md` 1.2, 1.3).
const RULES: [Rule; 28] = [
    rule("RecordIdentity", 1, Once::Yes, &["recordId", "createTime"]),
    rule("JobIdentity", 2, Once::Yes, &[]),
    rule("UserIdentity", 3, Once::No, &[]),
    rule("JobName", 4, Once::Yes, NOTE),
    rule("Charge", 5, Once::Yes, &["description", "unit", "formula"]),
    rule("Status", 6, Once::Yes, NOTE),
    rule("Disk", 7, Once::ByKind, SIZE),
    rule("Memory", 7, Once::ByKind, SIZE),
    rule("Swap", 7, Once::ByKind, SIZE),
    rule(
        "Network",
        7,
        Once::ByKind,
        &["description", "storageUnit", "phaseUnit", "metric"],
    ),
    rule("TimeDuration", 7, Once::ByKind, &["type"]),
    rule("TimeInstant", 7, Once::ByKind, &["type"]),
    rule("ServiceLevel", 7, Once::ByKind, &["type"]),
    rule("WallDuration", 8, Once::Yes, NOTE),
    rule(
        "CpuDuration",
        8,
        Once::ByKind,
        &["description", "usageType"],
    ),
    rule("NodeCount", 8, Once::ByKind, &["description", "metric"]),
    rule(
        "Processors",
        8,
        Once::ByKind,
        &["description", "metric", "consumptionRate"],
    ),
    rule("EndTime", 8, Once::Yes, NOTE),
    rule("StartTime", 8, Once::Yes, NOTE),
    rule("MachineName", 8, Once::Yes, NOTE),
    rule("SubmitHost", 8, Once::Yes, NOTE),
    rule("Queue", 8, Once::Yes, NOTE),
    rule("ProjectName", 8, Once::No, NOTE),
    rule("Host", 8, Once::No, &["description", "primary"]),
    rule(
        "PhaseResource",
        8,
        Once::No,
        &["description", "units", "phaseUnit"],
    ),
    rule(
        "VolumeResource",
        8,
        Once::No,
        &["description", "units", "storageUnit"],
    ),
    rule("Resource", 8, Once::No, NOTE),
    rule("ConsumableResource", 8, Once::No, &["description", "units"]),
];

const STORAGE_UNITS: [(&str, i64); 6] = [
    ("B", 1),
    ("KB", 1 << 10),
    ("MB", 1 << 20),
    ("GB", 1 << 30),
    ("PB", 1 << 50),
    ("EB", 1 << 60),
];
const BIT_UNITS: [&str; 6] = ["b", "Kb", "Mb", "Gb", "Pb", "Eb"];

/// Reads a record; `None` if the element is not a record.
pub(super) fn read(root: &Element, findings: &mut Findings) -> Option<Record> {
    let mut record = Record {
        is_job: root.name == "JobUsageRecord",
        ..Record::default()
    };
    if !record.is_job && root.name != "UsageRecord" {
        findings.error(format!("{} is not a usage record", shown(&root.name)));
        return None;
    }
    match root.space {
        Space::Ours => {}
        Space::Draft => findings.warn("the namespace is that of the draft of 2003"),
        Space::None | Space::Other => {
            findings.error(format!("{} is of another namespace", shown(&root.name)));
            return None;
        }
    }
    let mut place = (0, "");
    let mut seen: Vec<(&str, String)> = Vec::new();
    for child in &root.children {
        let Some(rule) = known(child) else {
            findings.error(format!("{}: a foreign element", shown(&child.name)));
            continue;
        };
        if rule.place < place.0 {
            findings.error(format!("{}: must come before {}", rule.name, place.1));
        } else {
            place = (rule.place, rule.name);
        }
        let kind = match rule.once {
            Once::No => None,
            Once::Yes => Some(String::new()),
            Once::ByKind => Some(kind_of(child)),
        };
        if let Some(kind) = kind {
            let key = (rule.name, kind);
            if seen.contains(&key) {
                findings.error(format!("{}: given twice", rule.name));
                continue;
            }
            seen.push(key);
        }
        attributes(child, rule, findings);
        put(&mut record, child, findings);
    }
    for (name, is_missing) in [
        ("RecordIdentity@recordId", record.record_id.is_none()),
        ("Status", record.status.is_none()),
    ] {
        if is_missing {
            findings.error(format!("{name}: missing"));
        }
    }
    prefer_exact(&mut record);
    Some(record)
}

fn known(element: &Element) -> Option<&'static Rule> {
    let is_ours = matches!(element.space, Space::Ours | Space::Draft);
    RULES
        .iter()
        .find(|rule| is_ours && rule.name == element.name)
}

/// The attributes that distinguish two elements of one name.
fn kind_of(element: &Element) -> String {
    let part = |name| attribute(element, name).unwrap_or_default();
    let metric = attribute(element, "metric").unwrap_or("total");
    format!("{metric} {} {}", part("type"), part("usageType"))
}

fn attribute<'e>(element: &'e Element, name: &str) -> Option<&'e str> {
    let found = element.attributes.iter().find(|a| a.name == name);
    found.map(|a| a.value.trim())
}

fn attributes(element: &Element, rule: &Rule, findings: &mut Findings) {
    for given in &element.attributes {
        let name = format!("{}@{}", rule.name, given.name);
        if given.space == Space::None {
            findings.error(format!("{name}: needs the prefix of the namespace"));
        } else if !rule.attributes.contains(&given.name.as_str()) {
            findings.error(format!("{name}: unknown"));
            continue;
        }
        let value = given.value.trim();
        let is_good = match given.name.as_str() {
            "storageUnit" => {
                STORAGE_UNITS.iter().any(|(unit, _)| *unit == value) || BIT_UNITS.contains(&value)
            }
            "usageType" => ["user", "system"].contains(&value),
            "consumptionRate" => lexical::is_float(value),
            "phaseUnit" => lexical::duration(value).is_some(),
            "primary" => ["true", "false", "1", "0"].contains(&value),
            _ => true,
        };
        if !is_good {
            findings.error(format!("{name}: {} is not valid", shown(value)));
        }
    }
}

fn put(record: &mut Record, element: &Element, findings: &mut Findings) {
    let name = element.name.as_str();
    let text = element.text.trim();
    let content = || Some(text.to_owned()).filter(|text| !text.is_empty());
    match name {
        "RecordIdentity" => {
            record.record_id = attribute(element, "recordId").map(str::to_owned);
            let created = attribute(element, "createTime");
            record.created = created.and_then(|at| time("createTime", at, findings));
        }
        "JobIdentity" => {
            record.global_job_id = inner(element, "GlobalJobId");
            record.local_job_id = inner(element, "LocalJobId");
        }
        "UserIdentity" if record.user.is_none() && record.global_user.is_none() => {
            record.user = inner(element, "LocalUserId");
            let subject = || deep(element, "X509SubjectName");
            record.global_user = inner(element, "GlobalUserName").or_else(subject);
        }
        "JobName" => record.job_name = content(),
        "Charge" => {
            if !lexical::is_float(text) {
                findings.error(format!("Charge: {} is not a number", shown(text)));
            }
            record.charge = content();
            let of = |name| attribute(element, name).map(str::to_owned);
            (record.unit, record.formula, record.why) =
                (of("unit"), of("formula"), of("description"));
        }
        "Status" => {
            record.status = content();
            record.status_note = attribute(element, "description").map(str::to_owned);
        }
        "Queue" => record.queue = content(),
        "ProjectName" => record.project = record.project.take().or_else(content),
        "Resource" | "ConsumableResource" | "PhaseResource" | "VolumeResource" => {
            if name != "Resource" && !lexical::is_float(text) {
                findings.error(format!("{name}: {} is not a number", shown(text)));
            }
            let what = attribute(element, "description").unwrap_or_default();
            record
                .resources
                .push((what.to_owned(), element.text.clone()));
        }
        "MachineName" | "SubmitHost" | "Host" => host(record, name, text, findings),
        "Disk" | "Memory" | "Swap" | "Network" | "NodeCount" | "Processors" => {
            count(record, element, text, findings);
        }
        _ => when(record, element, text, findings),
    }
}

fn host(record: &mut Record, name: &str, text: &str, findings: &mut Findings) {
    if !is_domain_name(text) {
        findings.error(format!("{name}: {} is not a domain name", shown(text)));
    }
    match name {
        "MachineName" => record.machine = Some(text.to_owned()),
        "SubmitHost" => record.submit_host = Some(text.to_owned()),
        _ => record.hosts.push(text.to_owned()),
    }
}

fn count(record: &mut Record, element: &Element, text: &str, findings: &mut Findings) {
    let name = element.name.as_str();
    let Some(number) = lexical::positive(text) else {
        findings.error(format!(
            "{name}: {} is not a whole number above zero",
            shown(text)
        ));
        return;
    };
    match name {
        "NodeCount" => record.nodes = Some(number),
        "Processors" => {
            record.processors = Some(number);
            record.rate = attribute(element, "consumptionRate").map(str::to_owned);
        }
        "Memory" if attribute(element, "metric") == Some("max") => {
            let unit = attribute(element, "storageUnit").unwrap_or("KB");
            let unit = STORAGE_UNITS.iter().find(|(known, _)| *known == unit);
            record.memory = unit.and_then(|(_, bytes)| number.checked_mul(*bytes));
        }
        _ => {}
    }
}

/// Durations, times, and the rest of group A.
fn when(record: &mut Record, element: &Element, text: &str, findings: &mut Findings) {
    let kind = attribute(element, "type");
    match element.name.as_str() {
        "WallDuration" if !record.is_job && text.starts_with('-') => {
            // An adjustment takes time back.
            let rest = text.get(1..).unwrap_or_default();
            record.wall = span("WallDuration", rest, findings).and_then(i64::checked_neg);
        }
        "WallDuration" => record.wall = span("WallDuration", text, findings),
        "CpuDuration" => {
            let time = span("CpuDuration", text, findings);
            match attribute(element, "usageType") {
                Some("user") => record.cpu_user = time,
                Some("system") => record.cpu_system = time,
                _ => record.cpu_total = time,
            }
        }
        "TimeDuration" => drop(span("TimeDuration", text, findings)),
        "StartTime" => record.start = time("StartTime", text, findings),
        "EndTime" => record.end = time("EndTime", text, findings),
        "TimeInstant" => {
            let at = time("TimeInstant", text, findings);
            if kind == Some("submitted") {
                record.submitted = at;
            }
        }
        "ServiceLevel" if kind == Some("qos") => record.qos = Some(text.to_owned()),
        _ => {}
    }
}

fn span(name: &str, text: &str, findings: &mut Findings) -> Option<i64> {
    let Some((micros, is_rough)) = lexical::duration(text) else {
        findings.error(format!(
            "{name}: {} is not a duration such as PT60S",
            shown(text)
        ));
        return None;
    };
    if is_rough {
        findings.warn(format!(
            "{name}: years as 365 days, months as 2628000 seconds"
        ));
    }
    Some(micros)
}

fn time(name: &str, text: &str, findings: &mut Findings) -> Option<i64> {
    let Some((at, has_zone)) = lexical::time(text) else {
        findings.error(format!(
            "{name}: {} is not a time such as 2026-01-20T12:00:00Z",
            shown(text)
        ));
        return None;
    };
    if !has_zone {
        findings.warn(format!("{name}: no zone, read as UTC"));
    }
    Some(at)
}

/// The text of a child.
fn inner(element: &Element, name: &str) -> Option<String> {
    let found = element.children.iter().find(|child| child.name == name);
    let text = found.map(|child| child.text.trim().to_owned());
    text.filter(|text| !text.is_empty())
}

/// The text of the first such element anywhere inside.
fn deep(element: &Element, name: &str) -> Option<String> {
    let own = inner(element, name);
    own.or_else(|| element.children.iter().find_map(|child| deep(child, name)))
}

/// Uses the more exact values of the extension elements (`usage-records.md` 1.6).
fn prefer_exact(record: &mut Record) {
    let resource = |name: &str| {
        let found = record.resources.iter().find(|(what, _)| what == name);
        found.map(|(_, value)| value.clone())
    };
    let (charge, machine) = (resource("bank.charge"), resource("bank.machine"));
    record.charge = charge.or(record.charge.take());
    record.machine = machine.or(record.machine.take());
}
