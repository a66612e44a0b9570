//! Usage records 2.0 (GFD-R-P.204): documents of blocks, each block a line (`usage-records.md` 2). There
//! is no place for extensions: what does not fit is left out.

use super::export::{Site, Written, is_exported};
use super::xml::Xml;
use super::{Occasion, Record, State, text};

/// The head of a document.
pub const HEAD: &str = concat!(
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
    "<UsageRecords xmlns=\"http://schema.ogf.org/urf/2013/04/urf\"",
    " xmlns:urf=\"http://schema.ogf.org/urf/2013/04/urf\">\n"
);
/// The end of a document.
pub const TAIL: &str = "</UsageRecords>\n";

/// The element of a record, with its line feeds.
pub fn render(record: &Record, site: &Site) -> Written {
    if !is_exported(record) {
        return Written::Nothing;
    }
    let times = record.start().zip(record.end());
    let times = times.and_then(|(start, end)| text::time(start).zip(text::time(end)));
    let Some((start, end)) = times else {
        return Written::Skipped("its start or end is unknown");
    };
    let Some(wall) = record.wall else {
        return Written::Skipped("its wall time is unknown");
    };
    // The processors' usage is in the record of the job: a change of its charge has none of it.
    let is_change = matches!(record.occasion, Occasion::Adjustment { .. });
    let Some(cpu) = site.cpu(record).or(is_change.then_some(0)) else {
        return Written::Skipped("its processor time is unknown (export.assume_full_cpu)");
    };
    let mut xml = Xml::new();
    xml.text.push_str("  <UsageRecord>\n");
    identity(&mut xml, record, site);
    subject(&mut xml, record);
    xml.block("ComputeUsageBlock", |xml| {
        let cpu = format!("PT{}S", text::decimal(cpu.max(0), 6));
        xml.plain("CpuDuration", Some(&cpu));
        xml.plain("WallDuration", Some(&text::duration(wall)));
        xml.plain("StartTime", Some(&start));
        xml.plain("EndTime", Some(&end));
        hosts(xml, record, site);
        xml.plain("HostType", record.host_type.as_deref());
        let processors = text::ceiling(record.usage.processors());
        xml.plain("Processors", positive(processors).as_deref());
        let nodes = record.nodes.and_then(|nodes| positive(nodes.into()));
        xml.plain("NodeCount", nodes.as_deref());
        let exit = record.exit_code.map(|code| code.to_string());
        xml.plain("ExitStatus", exit.as_deref());
        xml.plain("Charge", Some(&site.amount(record.amount)));
    });
    job(&mut xml, record);
    if let Some(bytes) = record.memory().filter(|bytes| *bytes >= 0) {
        xml.block("MemoryUsageBlock", |xml| {
            xml.plain("MemoryClass", Some("Physical"));
            xml.plain("MemoryResourceCapacityUsed", Some(&bytes.to_string()));
            xml.plain("StartTime", Some(&start));
            xml.plain("EndTime", Some(&end));
        });
    }
    xml.text.push_str("  </UsageRecord>\n");
    Written::Text(xml.text)
}

fn positive(number: i128) -> Option<String> {
    (number > 0).then(|| number.to_string())
}

fn identity(xml: &mut Xml, record: &Record, site: &Site) {
    xml.block("RecordIdentityBlock", |xml| {
        // Another word than that of usage records 1.0: a store must not take one for a repeat.
        let name = format!("bank2:{}", record.first_name(&site.bank));
        xml.plain("RecordId", Some(&name));
        // Required; there is none beyond the calendar.
        let created = text::time(record.created_at).or_else(|| text::time(0));
        xml.plain("CreateTime", created.as_deref());
        xml.plain("Site", Some(&site.name));
        let described = Some(site.description.as_str()).filter(|text| !text.is_empty());
        xml.element(
            "Infrastructure",
            &[("description", described)],
            Some(&site.infrastructure),
        );
    });
}

fn subject(xml: &mut Xml, record: &Record) {
    if record.user.is_none() && record.group.is_none() && record.project.is_none() {
        return;
    }
    xml.block("SubjectIdentityBlock", |xml| {
        xml.plain("LocalUserId", record.user.as_deref());
        xml.plain("LocalGroupId", record.group.as_deref());
        xml.plain("GlobalGroupId", record.project.as_deref());
        let kind = [("type", Some("account"))];
        xml.element("GlobalGroupAttribute", &kind, record.project.as_deref());
    });
}

/// The nodes; a benchmark hangs on the first one, or on the machine where none is known.
fn hosts(xml: &mut Xml, record: &Record, site: &Site) {
    let machine = [record.machine.clone()];
    let hosts: &[String] = match &site.benchmark {
        Some(_) if record.hosts.is_empty() && !record.machine.is_empty() => &machine,
        _ => &record.hosts,
    };
    for (n, host) in hosts.iter().filter(|host| !host.is_empty()).enumerate() {
        xml.text.push_str("<ExecutionHost>");
        let primary = (n == 0).then_some("true");
        xml.element("Hostname", &[("primary", primary)], Some(host));
        if let Some(benchmark) = site.benchmark.as_ref().filter(|_| n == 0) {
            let value = text::decimal(benchmark.value, 9);
            let kind = [("type", Some(benchmark.name.as_str()))];
            xml.element("Benchmark", &kind, Some(&value));
        }
        xml.text.push_str("</ExecutionHost>");
    }
}

fn job(xml: &mut Xml, record: &Record) {
    xml.block("JobUsageBlock", |xml| {
        xml.plain("LocalJobId", Some(&record.object_id));
        xml.plain("JobName", record.job_name.as_deref());
        xml.plain("MachineName", Some(&record.machine));
        xml.plain("SubmitHost", record.submit_host.as_deref());
        let execution = [("description", Some("execution"))];
        xml.element("Queue", &execution, record.class.as_deref());
        let submitted = record.submit_time.and_then(text::time);
        let kind = [("type", Some("submitted"))];
        xml.element("TimeInstant", &kind, submitted.as_deref());
        xml.plain("ServiceLevel", record.qos.as_deref());
        xml.plain("Status", Some(status(record.state)));
    });
}

/// `usage-records.md` 6.2.
fn status(state: State) -> &'static str {
    match state {
        State::Completed | State::Timeout => "completed",
        State::Failed => "failed",
        State::Aborted | State::Preempted => "aborted",
        State::Running => "started",
        State::Suspended => "suspended",
        State::Held => "held",
        State::Queued => "queued",
    }
}
