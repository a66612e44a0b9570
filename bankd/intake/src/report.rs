//! A reader's job as the command of the ledger.

use bank_core::command::{AsNamed, Request, SAMPLED, UsageReport, Whose};
use bank_core::decimal::Decimal;
use bank_core::directory::Directory;
use bank_core::host;
use bank_core::mapping::Naming;
use bank_core::model::{Facts, ObjectType};
use bank_core::policy::{Ended, Figures};
use bank_core::time::{Seconds, Timestamp};
use bank_core::usage::kept::{HOSTS, JOB_NAME, PROCESSORS, kept};
use bank_core::usage::{ATTRIBUTE_NAME_MAX, ATTRIBUTE_VALUE_MAX, ATTRIBUTES_MAX, Usage};
use bankd_ingest::number::MEAN_PLACES;
use bankd_ingest::{Job, Number, State, object_id};

use std::collections::BTreeMap;

use super::Feed;

/// Formats with namespaces as accounts (collectors.md g, h, j).
const NAMESPACED: [&str; 4] = ["kubernetes", "nomad", "openshift", "prometheus"];

/// Bytes of a megabyte, as the rates have it.
const MB: i128 = 1 << 20;

/// Converts a reader's job to a ledger command. Texts lose their control characters, quantities are
/// truncated to nine places, and attributes beyond the limits of a command are left out.
pub fn report(mut job: Job, feed: &Feed, directory: &Directory) -> UsageReport {
    let machine = machine(job.cluster.as_deref(), feed, directory);
    let account = text(job.account.take());
    let user = text(job.user.take());
    let group = text(job.group.take());
    let queue = text(job.queue.take());
    let qos = text(job.qos.take());
    let mapped = directory.mapped(&Naming {
        source: &feed.source,
        machine: &machine,
        user: &user,
        group: &group,
        account: &account,
        queue: &queue,
        qos: &qos,
        namespace: namespace(&feed.format, &account, &job.attributes),
        attributes: Some(&job.attributes),
    });
    let named = AsNamed {
        account: (mapped.project != account).then_some(account),
        user: (mapped.user != user).then_some(user),
    };
    UsageReport {
        source: feed.source.clone(),
        figures: figures(&job),
        named,
        pi: mapped.pi,
        host: job.hosts.as_deref().and_then(host::first),
        more: kept(stated(&job, processors(&job).as_deref()), &job.attributes),
        flags: job.flags.join(" "),
        charged_before: None,
        track: false,
        is_present: false,
        request: Request {
            object_type: ObjectType::Job,
            object_id: object_id(&job.id).into_owned(),
            facts: Facts {
                project: mapped.project.clone(),
                user: mapped.user.clone(),
                group,
                wall: job.limit_s.filter(|s| *s >= 0).map(Seconds),
                start: Some(Timestamp(job.start_us)),
                end: Some(Timestamp(job.end_us)),
                submit: job.submit_us.map(Timestamp),
                state: text(job.state_word.take()),
                exit_code: job.exit.as_deref().and_then(exit_code),
                usage: usage(job, queue, qos, directory),
                other: Vec::new(),
            },
            whose: Whose {
                project: some(mapped.project),
                user: some(mapped.user),
                machine,
                for_reservation: false,
            },
            ..Request::default()
        },
    }
}

/// The namespace of a use: the attribute of that name, else the account for formats with namespaces
/// as accounts.
pub fn namespace<'a>(
    format: &str,
    account: &'a str,
    attributes: &'a BTreeMap<String, String>,
) -> &'a str {
    let attribute = attributes.get("namespace").map(String::as_str);
    let has = NAMESPACED.contains(&format);
    attribute.unwrap_or(if has { account } else { "" })
}

/// The requested machine, the cluster in the record, the caller's only machine, or the only one;
/// with several machines, the text after the colon of the source.
pub(super) fn machine(cluster: Option<&str>, feed: &Feed, directory: &Directory) -> String {
    if let Some(machine) = &feed.machine {
        return machine.clone();
    }
    if let Some(cluster) = cluster.filter(|cluster| !cluster.is_empty()) {
        return text(Some(cluster.to_owned()));
    }
    if let Some(own) = feed.caller.scope.only_machine() {
        return own.to_owned();
    }
    let mut present = directory.machines().filter(|machine| !machine.deleted);
    if let (Some(only), None) = (present.next(), present.next()) {
        return only.name.clone();
    }
    let behind = feed.source.split_once(':').map(|(_, name)| name);
    behind.unwrap_or(&feed.source).to_owned()
}

/// The processors of a job, if thousandths do not have all of them.
fn processors(job: &Job) -> Option<String> {
    let processors = job.procs.filter(|procs| procs.cut(3) != *procs)?;
    Some(processors.cut(MEAN_PLACES).to_string())
}

/// Fields of the source that the ledger does not need; first the processors, where reports look for them.
fn stated<'j>(
    job: &'j Job,
    processors: Option<&'j str>,
) -> impl Iterator<Item = (&'j str, &'j str)> {
    let own = [
        (PROCESSORS, processors),
        (JOB_NAME, job.name.as_deref()),
        (HOSTS, job.hosts.as_deref()),
    ];
    let own = own.into_iter();
    let own = own.filter_map(|(name, value)| Some((name, value?)));
    let more = job.stated.iter();
    own.chain(more.map(|(name, value)| (*name, value.as_str())))
}

fn usage(job: Job, queue: String, qos: String, directory: &Directory) -> Usage {
    let gpus = job.gpus.and_then(decimal).map(|n| ("gpu".to_owned(), n));
    // Only those that a rate of that time names: else neither records nor repeated imports change.
    let start = Timestamp(job.start_us);
    let is_priced = |name: &str| {
        let mut rates = directory.rates_at(start).iter();
        rates.any(|rate| rate.name.eq_ignore_ascii_case(name) && rate.window.contains(start))
    };
    let resources = job.resources.into_iter();
    let resources = resources.filter(|(name, _)| is_priced(name));
    let resources = resources.filter_map(|(name, count)| Some((name, decimal(count)?)));
    let fits = |(name, value): &(String, String)| {
        !name.is_empty() && name.len() <= ATTRIBUTE_NAME_MAX && value.len() <= ATTRIBUTE_VALUE_MAX
    };
    let attributes = job.attributes.into_iter().filter(fits).take(ATTRIBUTES_MAX);
    // A sample without cores states that there are none.
    let unstated = job.flags.contains(&SAMPLED).then_some(Decimal::ZERO);
    Usage {
        processors: job.procs.and_then(decimal).or(unstated),
        nodes: job.nodes.and_then(decimal),
        memory_mb: job.memory_bytes.and_then(megabytes),
        disk_mb: job.disk_bytes.and_then(megabytes),
        gres: gpus.into_iter().chain(resources).collect(),
        qos: some(qos),
        class: some(queue),
        attributes: attributes
            .map(|(name, value)| (text(Some(name)), text(Some(value))))
            .collect(),
        counted: None,
        idle: None,
    }
}

fn figures(job: &Job) -> Figures {
    let used = job.wall.as_microseconds();
    let between = job.end_us.saturating_sub(job.start_us);
    Figures {
        ended: ended(job.state),
        wall_us: used.filter(|used| *used != between),
        cpu_s: job.cpu.and_then(decimal),
        ..Figures::default()
    }
}

/// A running job as seen so far: a later record replaces it.
fn ended(state: State) -> Ended {
    match state {
        State::Completed => Ended::Completed,
        State::Failed => Ended::Failed,
        State::Timeout => Ended::Timeout,
        State::Aborted => Ended::Removed,
        State::Preempted => Ended::Preempted,
        State::Running | State::Unknown => Ended::Unknown,
    }
}

/// `1:0`, code and signal, as one number: the code, else the signal.
fn exit_code(text: &str) -> Option<i64> {
    let (code, signal) = text.split_once(':').unwrap_or((text, "0"));
    let code: i64 = code.trim().parse().ok()?;
    let signal = signal.trim().parse().unwrap_or(0);
    Some(if code == 0 { signal } else { code })
}

fn decimal(number: Number) -> Option<Decimal> {
    let (units, places) = number.cut(9).parts();
    let more = 9_u32.checked_sub(places.into())?;
    let billionths = units.checked_mul(10_i128.checked_pow(more)?)?;
    Some(Decimal::from_billionths(billionths))
}

fn megabytes(bytes: Number) -> Option<Decimal> {
    let billionths = decimal(bytes)?.billionths();
    Some(Decimal::from_billionths(billionths.checked_div(MB)?))
}

fn some(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// Without control characters, and without blanks around it.
pub(super) fn text(text: Option<String>) -> String {
    let text = text.unwrap_or_default();
    let is_plain = |byte: &u8| (b' '..0x7f).contains(byte);
    let is_blank = |end: Option<&u8>| end == Some(&b' ');
    let bytes = text.as_bytes();
    if bytes.iter().all(is_plain) && !is_blank(bytes.first()) && !is_blank(bytes.last()) {
        return text;
    }
    if text.chars().any(char::is_control) {
        let kept: String = text.chars().filter(|c| !c.is_control()).collect();
        return kept.trim().to_owned();
    }
    text.trim().to_owned()
}
