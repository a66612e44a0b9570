//! GGF usage records (GFD-R-P.098): one self-contained element per line, in
//! the order that the schema demands, every attribute with its prefix
//! (`usage-records.md` 1.2, 1.4, 1.8). A missing value is left out, never
//! written empty; an extension never becomes a foreign element.

use bank_core::domain::is_domain_name;

use super::xml::Xml;
use super::{Kind, Occasion, Record, State, text};

/// The settings `ggf.*` and what the bank itself adds.
#[derive(Debug, Clone, Copy)]
pub struct GgfOptions<'o> {
    /// Write a record for what changes after the close.
    pub adjustments: bool,
    /// The first 8 hex digits of the bank's UUID.
    pub bank: &'o str,
    /// The bank's unit label.
    pub unit: &'o str,
    /// Decimal places of the bank's amounts, 0 to 6.
    pub precision: u32,
    /// Write the data that record files leave out too, as in `usage-records.md` 6.3: requested resources, the
    /// group, GPUs, and in `Resource` everything without another place.
    pub whole: bool,
}

/// The line of a record with its line feed; `None` where nothing is written:
/// a charge before the close, an instance that was never charged, and an
/// adjustment where they are switched off.
pub fn render(record: &Record, options: &GgfOptions<'_>) -> Option<String> {
    let adjustment = match record.occasion {
        Occasion::Charge | Occasion::Close { charges: 0 } => return None,
        Occasion::Close { .. } => None,
        Occasion::Adjustment { .. } if !options.adjustments => return None,
        Occasion::Adjustment { of, why } => Some((of, why.as_str())),
    };
    let root = match record.kind {
        Kind::Job if adjustment.is_none() => "JobUsageRecord",
        Kind::Job | Kind::Reservation => "UsageRecord",
    };
    let mut xml = Xml::new();
    for part in ["<", root, DECLARATIONS, ">"] {
        xml.text.push_str(part);
    }
    identity(&mut xml, record, options);
    match adjustment {
        None => closed(&mut xml, record, options),
        Some((of, why)) => adjusted(&mut xml, record, options, of, why),
    }
    for part in ["</", root, ">\n"] {
        xml.text.push_str(part);
    }
    Some(xml.text)
}

/// The head of a document of records.
pub const HEAD: &str = concat!(
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
    "<UsageRecords xmlns=\"http://schema.ogf.org/urf/2003/09/urf\">\n"
);
/// The end of a document of records.
pub const TAIL: &str = "</UsageRecords>\n";
/// The default namespace does not cover attributes: they need a prefix.
const DECLARATIONS: &str = concat!(
    " xmlns=\"http://schema.ogf.org/urf/2003/09/urf\"",
    " xmlns:urf=\"http://schema.ogf.org/urf/2003/09/urf\""
);
/// The user of a reservation that has none, as in FILE records.
const BLANK_USER: &str = "KITTY";

/// Elements 1 to 3 of the schema's order.
fn identity(xml: &mut Xml, record: &Record, options: &GgfOptions<'_>) {
    let name = format!("bank:{}", record.name(options.bank));
    let created = text::time(record.created_at);
    xml.empty(
        "RecordIdentity",
        &[
            ("recordId", Some(&name)),
            ("createTime", created.as_deref()),
        ],
    );
    xml.text.push_str("<JobIdentity>");
    xml.plain("LocalJobId", Some(&record.object_id));
    xml.text.push_str("</JobIdentity>");
    let user = match record.kind {
        Kind::Job => record.user.as_deref(),
        Kind::Reservation => record.user.as_deref().or(Some(BLANK_USER)),
    };
    if let Some(user) = user.filter(|user| !user.is_empty()) {
        xml.text.push_str("<UserIdentity>");
        xml.plain("LocalUserId", Some(user));
        xml.text.push_str("</UserIdentity>");
    }
}

/// The rest of a closed instance.
fn closed(xml: &mut Xml, record: &Record, options: &GgfOptions<'_>) {
    xml.plain("JobName", record.job_name.as_deref());
    charge(xml, record, options, None);
    let (word, note) = status(record.state);
    let exit = record.exit_code.map(|code| format!("exit={code}"));
    let note: Vec<&str> = note.into_iter().chain(exit.as_deref()).collect();
    let note = Some(note.join(" ")).filter(|note| !note.is_empty());
    xml.element("Status", &[("description", note.as_deref())], Some(word));
    memory(xml, record, options.whole);
    let requested = record.requested.filter(|_| options.whole);
    xml.element(
        "TimeDuration",
        &[("type", Some("requested"))],
        requested.map(text::duration).as_deref(),
    );
    let submitted = record.submit_time.and_then(text::time);
    xml.element(
        "TimeInstant",
        &[("type", Some("submitted"))],
        submitted.as_deref(),
    );
    xml.element(
        "ServiceLevel",
        &[("type", Some("qos"))],
        record.qos.as_deref(),
    );
    xml.plain("WallDuration", record.wall.map(text::duration).as_deref());
    processor_time(xml, record);
    let nodes = record
        .nodes
        .filter(|nodes| *nodes > 0)
        .map(|nodes| nodes.to_string());
    xml.plain("NodeCount", nodes.as_deref());
    processors(xml, record);
    times_and_machine(xml, record);
    let submit_host = record.submit_host.as_deref().and_then(domain_name);
    xml.plain("SubmitHost", submit_host.as_deref());
    xml.plain("Queue", record.class.as_deref());
    xml.plain("ProjectName", record.project.as_deref());
    let host_type = record.host_type.as_deref().filter(|_| options.whole);
    for (n, host) in record.hosts.iter().enumerate() {
        let primary = (n == 0).then_some("true");
        xml.element(
            "Host",
            &[("description", host_type), ("primary", primary)],
            domain_name(host).as_deref(),
        );
    }
    fraction_of_processors(xml, record);
    resources(xml, record, options);
    if options.whole {
        beyond(xml, record);
    }
    if submit_host.as_deref() != record.submit_host.as_deref() {
        xml.resource("bank.submit_host", record.submit_host.as_deref());
    }
    for host in record
        .hosts
        .iter()
        .filter(|host| domain_name(host).as_ref() != Some(*host))
    {
        xml.resource("bank.host", Some(host));
    }
}

/// Memory used: most on one node, and that of the whole job where it is stated as such; in lines of record
/// files one of them, as Moab's property set has it.
fn memory(xml: &mut Xml, record: &Record, whole: bool) {
    let has_one = record.memory_per_node.is_some();
    let total = record.memory_total.filter(|_| whole || !has_one);
    for (description, metric, bytes) in [
        (Some("per node"), "max", record.memory_per_node),
        (None, "total", total),
    ] {
        let kilobytes = bytes.map(|bytes| text::nearest(i128::from(bytes), 1024));
        // The schema takes none below one.
        let kilobytes = kilobytes.filter(|kilobytes| *kilobytes > 0);
        let attributes = [
            ("description", description),
            ("storageUnit", Some("KB")),
            ("metric", Some(metric)),
            ("type", Some("physical")),
        ];
        let kilobytes = kilobytes.map(|kilobytes| kilobytes.to_string());
        xml.element("Memory", &attributes, kilobytes.as_deref());
    }
}

/// The data for which the schema has no element, and which Moab's record files do not have.
fn beyond(xml: &mut Xml, record: &Record) {
    if let Some(gpus) = record.gpus.filter(|gpus| *gpus > 0) {
        let attributes = [("units", Some("count")), ("description", Some("gres.gpu"))];
        xml.element("ConsumableResource", &attributes, Some(&gpus.to_string()));
    }
    xml.resource("bank.group", record.group.as_deref());
    let number = |number: Option<i64>| number.map(|number| number.to_string());
    xml.resource("bank.uid", number(record.uid).as_deref());
    xml.resource("bank.gid", number(record.gid).as_deref());
    xml.resource("bank.source", record.source.as_deref());
    xml.resource("bank.pi", record.pi.as_deref());
    let has_host = record.hosts.iter().any(|host| domain_name(host).is_some());
    let host_type = record.host_type.as_deref().filter(|_| !has_host);
    xml.resource("bank.host_type", host_type);
    let requested = record.requested_processors;
    let requested = requested.map(|requested| text::decimal(requested.into(), 6));
    xml.resource("bank.requested_processors", requested.as_deref());
    let requested = number(record.requested_memory);
    xml.resource("bank.requested_memory_per_node_bytes", requested.as_deref());
    // Reported parts are written alone, though their sum may differ from the total.
    let total = record
        .cpu_total
        .filter(|total| record.cpu_parts().is_some_and(|sum| sum != *total));
    let total = total.map(|total| text::decimal(total.into(), 6));
    xml.resource("bank.cpu_total_s", total.as_deref());
    let charged = record.usage.charged();
    let charged = (record.wall != Some(charged)).then(|| text::decimal(charged.into(), 6));
    xml.resource("bank.charge_s", charged.as_deref());
}

/// The rest of an adjustment: the difference, and what it is a difference to.
fn adjusted(xml: &mut Xml, record: &Record, options: &GgfOptions<'_>, of: i64, why: &str) {
    charge(xml, record, options, Some(why));
    xml.plain("Status", Some(status(record.state).0));
    xml.plain(
        "WallDuration",
        Some(&text::duration(record.wall.unwrap_or_default())),
    );
    processors(xml, record);
    times_and_machine(xml, record);
    xml.plain("ProjectName", record.project.as_deref());
    fraction_of_processors(xml, record);
    resources(xml, record, options);
    xml.resource("bank.adjusts", Some(&format!("bank:{}:{of}", options.bank)));
}

fn charge(xml: &mut Xml, record: &Record, options: &GgfOptions<'_>, why: Option<&str>) {
    let attributes = [
        ("description", why),
        ("unit", Some(options.unit)),
        ("formula", record.formula.as_deref()),
    ];
    xml.element("Charge", &attributes, Some(&amount(record, options)));
}

fn amount(record: &Record, options: &GgfOptions<'_>) -> String {
    text::decimal(i128::from(record.amount), options.precision)
}

/// Both parts where they are known; else the sum, without a type.
fn processor_time(xml: &mut Xml, record: &Record) {
    let parts = [("user", record.cpu_user), ("system", record.cpu_system)];
    for (part, time) in parts {
        let time = time.map(text::duration);
        xml.element("CpuDuration", &[("usageType", Some(part))], time.as_deref());
    }
    if record.cpu_user.is_none() && record.cpu_system.is_none() {
        xml.plain(
            "CpuDuration",
            record.cpu_total.map(text::duration).as_deref(),
        );
    }
}

/// Whole processors; the schema takes none below one.
fn processors(xml: &mut Xml, record: &Record) {
    let whole = text::ceiling(record.usage.processors());
    if whole > 0 {
        let rate = record.usage.rate_times(1_000_000);
        let rate = rate.map(|(n, d)| text::decimal(text::nearest(n, d), 6));
        let attributes = [("consumptionRate", rate.as_deref())];
        xml.element("Processors", &attributes, Some(&whole.to_string()));
    }
}

/// The exact number where [`processors`] had to round it up.
fn fraction_of_processors(xml: &mut Xml, record: &Record) {
    let processors = record.usage.processors();
    if processors % 1_000_000 != 0 {
        let attributes = [("description", Some("processors"))];
        xml.element(
            "ConsumableResource",
            &attributes,
            Some(&text::decimal(processors, 6)),
        );
    }
}

fn times_and_machine(xml: &mut Xml, record: &Record) {
    xml.plain("EndTime", record.end_time.and_then(text::time).as_deref());
    xml.plain(
        "StartTime",
        record.start_time.and_then(text::time).as_deref(),
    );
    xml.plain("MachineName", machine_name(record).as_deref());
}

/// The extension elements that both kinds of record end with.
fn resources(xml: &mut Xml, record: &Record, options: &GgfOptions<'_>) {
    xml.resource("bank.charge", Some(&amount(record, options)));
    if machine_name(record).as_deref() != Some(record.machine.as_str()) {
        xml.resource("bank.machine", Some(&record.machine));
    }
    if options.whole {
        let counted = text::decimal(record.counted().into(), 6);
        xml.resource("bank.processor_s", Some(&counted));
        let shadow = record.shadow;
        let shadow = shadow.map(|shadow| text::decimal(shadow.into(), options.precision));
        xml.resource("bank.shadow_charge", shadow.as_deref());
        let replaced = record.replaces(options.bank);
        let replaced = replaced.map(|name| format!("bank:{name}"));
        xml.resource("bank.replaces", replaced.as_deref());
    }
}

/// The machine's name if the schema takes it, else its domain name, else its
/// name with illegal characters replaced (`usage-records.md` 6.3, note 2).
fn machine_name(record: &Record) -> Option<String> {
    let fqdn = record
        .machine_fqdn
        .as_deref()
        .filter(|name| is_domain_name(name));
    match fqdn {
        Some(fqdn) if !is_domain_name(&record.machine) => Some(fqdn.to_owned()),
        _ => domain_name(&record.machine),
    }
}

/// The name, if need be with `-` for what the schema does not take; `None`
/// where that is not enough.
fn domain_name(name: &str) -> Option<String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '\'');
    let name = name.replace(|c| !allowed(c), "-");
    is_domain_name(&name).then_some(name)
}

/// The word of the schema, and the state that it cannot express (`usage-records.md` 6.2).
fn status(state: State) -> (&'static str, Option<&'static str>) {
    match state {
        State::Completed => ("Completed", None),
        State::Timeout => ("Completed", Some("timeout")),
        State::Failed => ("Failed", None),
        State::Aborted => ("Aborted", None),
        State::Preempted => ("Aborted", Some("preempted")),
        State::Running => ("Started", None),
        State::Suspended => ("Suspended", None),
        State::Held => ("Held", None),
        State::Queued => ("Queued", None),
    }
}
