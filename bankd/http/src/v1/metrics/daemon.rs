//! The samples of the daemon itself in `/metrics`. Labels have few values: kinds, outcomes, codes, routes,
//! and names of the settings or of collectors. No project, user or job is in one.

use std::collections::BTreeSet;

use bank_api::text::parse_rfc3339;
use bank_core::kind::Record;
use bank_core::time::Timestamp;
use bankd_ledger::{exposition::Text, obs};
use bankd_safekeeping::backup;
use bankd_services::spool;
use bankd_store::partner;
use bankd_store::read::attention::{self, TargetStanding};
use bankd_store::read::sources::{self, SourceRow};
use bankd_store::read::{quarantine, status};

use super::super::call::Call;
use super::super::records;
use crate::error::Failure;

/// Number of collectors with samples. Further ones, by name, have none.
const SOURCES_MAX: usize = 1_000;

/// Data of one answer.
struct Read {
    ledger: status::LedgerStatus,
    open_liens: i64,
    sources: Vec<SourceRow>,
    quarantine: quarantine::Totals,
    targets: Vec<TargetStanding>,
    partners: Vec<partner::Waiting>,
    backup: Option<bank_api::v1::LastBackup>,
    wal_bytes: u64,
    spool: Option<[u64; 2]>,
}

/// Adds all counters, and all figures that have to be read.
pub(super) async fn write(call: &Call, text: &mut Text) -> Result<(), Failure> {
    let data = call.services.backups.data().clone();
    let read = call.ask(move |connection| {
        let (_, targets) = attention::standing(connection)?;
        Ok(Read {
            ledger: status::read(connection)?,
            open_liens: status::open_liens(connection)?,
            sources: sources::list(connection, None)?,
            quarantine: quarantine::totals(connection)?,
            targets,
            partners: partner::all_waiting(connection)?,
            backup: backup::last(&data),
            wal_bytes: backup::wal_bytes(&data),
            spool: spool::spooled(),
        })
    });
    let read = read.await?;
    process(call, text);
    commands(call, text);
    call.services.requests.write(text);
    cluster(call, text);
    refused(call, text);
    stored(&read, text);
    set_aside(&read, text);
    collected(call, &read, text);
    followed(call, text);
    records_of(call, &read, text);
    delivered(call, &read, text);
    partners(call, &read, text);
    Ok(())
}

fn one(text: &mut Text, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
    text.head(name, kind, help);
    text.sample(name, &[], value);
}

/// Samples of one metric with one label.
fn by<V: std::fmt::Display>(
    text: &mut Text,
    (name, kind, help): (&str, &str, &str),
    label: &str,
    rows: impl IntoIterator<Item = (String, V)>,
) {
    text.head(name, kind, help);
    for (value, sample) in rows {
        text.sample(name, &[(label, &value)], sample);
    }
}

fn process(call: &Call, text: &mut Text) {
    let name = "bankd_build_info";
    text.head(name, "gauge", "The version that runs; always 1");
    text.sample(name, &[("version", env!("CARGO_PKG_VERSION"))], 1);
    let up = call.services.started.elapsed().as_secs();
    one(
        text,
        "bankd_uptime_seconds",
        "gauge",
        "Time since the start",
        up,
    );
    let healthy = u8::from(call.services.writer.obstacles().next().is_none());
    let help = "1 while commands are accepted: the writer runs, its last commit went well, and in a cluster the log can be used";
    one(text, "bankd_healthy", "gauge", help, healthy);
    let name = "bankd_log_lines_lost_total";
    let help = "Lines of the log that could not be written";
    one(text, name, "counter", help, obs::lost_lines());
}

fn commands(call: &Call, text: &mut Text) {
    let writer = &call.services.writer;
    let (meter, counters) = (writer.meter(), writer.counters());
    let name = "bankd_commands_total";
    text.head(name, "counter", "Commands by kind and outcome");
    for (kind, outcome, count) in meter.commands() {
        text.sample(name, &[("kind", kind), ("outcome", outcome)], count);
    }
    let refusals = meter.refusals().into_iter();
    let refusals = refusals.map(|(code, count)| (code.to_owned(), count));
    let name = "bankd_refusals_total";
    by(
        text,
        (name, "counter", "Refused commands by code"),
        "code",
        refusals,
    );
    let name = "bankd_usage_records_total";
    let help = "Finished uses of imports and collectors, by outcome";
    by(text, (name, "counter", help), "outcome", meter.uses());
    let name = "bankd_commit_duration_seconds";
    text.head(name, "histogram", "Time that commits waited for the disk");
    meter.commits().write(name, &[], text);
    let help = "Commands that wait for the writer";
    one(
        text,
        "bankd_writer_queue_depth",
        "gauge",
        help,
        counters.queue_depth,
    );
    let help = "Commands that may wait for the writer";
    one(
        text,
        "bankd_writer_queue_capacity",
        "gauge",
        help,
        counters.queue_capacity,
    );
}

/// The node of a cluster. A bank on a single machine writes, and has no log.
fn cluster(call: &Call, text: &mut Text) {
    let own = call.services.writer.cluster();
    let is_writer = u64::from(call.services.writer.is_writing());
    let help = "1 if this node of a cluster writes, and on a single machine";
    one(text, "bankd_cluster_writer", "gauge", help, is_writer);
    let position = own.map_or(0, |own| u64::try_from(own.position()).unwrap_or_default());
    let help = "The last entry of the log that this node contains";
    one(text, "bankd_cluster_position", "gauge", help, position);
    let is_failed = u64::from(own.is_some_and(|own| own.state().fault.is_some()));
    let help = "1 if the log of the cluster cannot be used";
    one(text, "bankd_cluster_log_failed", "gauge", help, is_failed);
}

fn refused(call: &Call, text: &mut Text) {
    let counters = &call.services.counters;
    let reasons = counters.auth_failures().into_iter();
    let reasons = reasons.map(|(reason, count)| (reason.to_owned(), count));
    let name = "bankd_auth_failures_total";
    let help = "Requests without an identified sender, by reason";
    by(text, (name, "counter", help), "reason", reasons);
    let mut codes = std::collections::BTreeMap::<String, u64>::new();
    for (_, code, count) in counters.access_refusals() {
        let sum = codes.entry(code.to_owned()).or_default();
        *sum = sum.saturating_add(count);
    }
    let name = "bankd_access_refused_total";
    let help = "Requests of identified callers refused because a right was missing, by code";
    by(text, (name, "counter", help), "code", codes);
    let limits = ["rate", "concurrent", "body"].map(str::to_owned);
    let name = "bankd_limited_requests_total";
    let help = "Requests beyond a limit of their client";
    let met = limits.into_iter().zip(counters.limits_met());
    by(text, (name, "counter", help), "limit", met);
    let help = "Failed attempts to write a record file";
    let failures = counters.record_failures();
    one(
        text,
        "bankd_record_failures_total",
        "counter",
        help,
        failures,
    );
}

fn stored(read: &Read, text: &mut Text) {
    let ledger = &read.ledger;
    for (name, kind, help, value) in [
        (
            "bankd_journal_transactions_total",
            "counter",
            "Transactions in the journal",
            ledger.transactions,
        ),
        (
            "bankd_journal_entries_total",
            "counter",
            "Entries in the journal",
            ledger.entries,
        ),
        (
            "bankd_open_liens",
            "gauge",
            "Liens that hold money",
            read.open_liens,
        ),
        (
            "bankd_database_bytes",
            "gauge",
            "Size of the database",
            ledger.bytes,
        ),
    ] {
        one(text, name, kind, help, value);
    }
    let help = "Size of the write-ahead log";
    one(text, "bankd_wal_bytes", "gauge", help, read.wal_bytes);
    let made = read.backup.as_ref();
    let made = made.and_then(|backup| parse_rfc3339(&backup.made_at));
    let name = "bankd_backup_last_success_timestamp_seconds";
    text.head(
        name,
        "gauge",
        "When the last backup was made; none before the first",
    );
    if let Some(made) = made {
        text.sample(name, &[], made.div_euclid(1_000_000));
    }
}

/// Rejected input that waits for an operator.
fn set_aside(read: &Read, text: &mut Text) {
    let totals = &read.quarantine;
    let help = "Rejected lines and bodies in the quarantine";
    one(text, "bankd_quarantine_rows", "gauge", help, totals.rows);
    one(
        text,
        "bankd_quarantine_bytes",
        "gauge",
        "Size of the quarantine",
        totals.bytes,
    );
    let help = "Rows that fell out of a full quarantine";
    one(
        text,
        "bankd_quarantine_dropped_total",
        "counter",
        help,
        totals.dropped,
    );
    let name = "bankd_spool_documents";
    let help = "Documents in the spool of the scheduler's scripts, where it is on this host";
    let states = ["waiting", "quarantine"].map(str::to_owned);
    let counts = read.spool.into_iter().flatten();
    by(
        text,
        (name, "gauge", help),
        "state",
        states.into_iter().zip(counts),
    );
}

fn collected(call: &Call, read: &Read, text: &mut Text) {
    let now = call.now();
    let shown = read.sources.iter().filter(|row| !row.removed);
    let shown: Vec<&SourceRow> = shown.take(SOURCES_MAX).collect();
    let of = |value: fn(&SourceRow, Timestamp) -> Option<i64>| {
        let rows = shown.iter();
        let rows = rows.filter_map(move |row| Some((row.name.clone(), value(row, now)?)));
        rows.collect::<Vec<_>>()
    };
    let lag = of(|row, now| Some(now.seconds().saturating_sub(row.last_event?.seconds())));
    let name = "bankd_source_lag_seconds";
    let help = "Time since the latest end of a use that a collector reported";
    by(text, (name, "gauge", help), "source", lag);
    let contact = of(|row, _| row.contacts[1].map(Timestamp::seconds));
    let name = "bankd_source_last_contact_timestamp_seconds";
    by(
        text,
        (name, "gauge", "Time of the last contact of a collector"),
        "source",
        contact,
    );
    for (name, help, place) in [
        (
            "bankd_source_records_total",
            "Records that a collector sent",
            0,
        ),
        (
            "bankd_source_rejected_total",
            "Records of a collector that could not be read",
            3,
        ),
    ] {
        let counts = shown
            .iter()
            .filter_map(|row| Some((row.name.clone(), *row.counts.get(place)?)));
        by(text, (name, "counter", help), "source", counts);
    }
}

fn followed(call: &Call, text: &mut Text) {
    let standings: Vec<_> = call.services.follow.standings().collect();
    for (name, kind, help) in [
        (
            "bankd_follow_behind_bytes",
            "gauge",
            "Bytes of a followed file that are not taken in yet",
        ),
        (
            "bankd_follow_failures_total",
            "counter",
            "Looks at a followed file that failed",
        ),
    ] {
        text.head(name, kind, help);
        for (source, path, standing) in &standings {
            let value = match kind {
                "gauge" => standing.behind,
                _ => standing.failures,
            };
            text.sample(name, &[("source", source), ("path", path)], value);
        }
    }
}

fn records_of(call: &Call, read: &Read, text: &mut Text) {
    let sinks = records::standings(call, read.ledger.records);
    let name = "bankd_record_sink_behind";
    let help = "Usage records that a record file does not hold yet";
    let behind = sinks.iter().map(|sink| (sink.name.clone(), sink.behind));
    by(text, (name, "gauge", help), "sink", behind);
}

fn delivered(call: &Call, read: &Read, text: &mut Text) {
    let name = "bankd_deliveries";
    let help = "Notices by target: waiting ones, and abandoned ones as long as they are kept";
    text.head(name, "gauge", help);
    for target in &read.targets {
        for (state, count) in [("waiting", target.waiting), ("given_up", target.dead)] {
            text.sample(name, &[("target", &target.name), ("state", state)], count);
        }
    }
    let name = "bankd_delivery_attempts_total";
    let help = "Attempts to deliver a notice, by outcome";
    let attempts = call.services.writer.meter().deliveries();
    by(text, (name, "counter", help), "outcome", attempts);
}

/// A sample for each partner bank, also while nothing waits.
fn partners(call: &Call, read: &Read, text: &mut Text) {
    let now = call.now().seconds();
    let directory = call.directory();
    let known = directory.records.all("partner").map(Record::name);
    let others = read.partners.iter().map(|one| one.partner.as_str());
    let names: BTreeSet<&str> = known.chain(others).collect();
    let of = |value: fn(&partner::Waiting, i64) -> i64| {
        let mut rows = Vec::new();
        for name in &names {
            let found = read.partners.iter().find(|one| one.partner == *name);
            rows.push(((*name).to_owned(), found.map_or(0, |one| value(one, now))));
        }
        rows
    };
    let name = "bankd_partner_messages_waiting";
    let help = "Messages that a partner bank has not confirmed";
    by(
        text,
        (name, "gauge", help),
        "partner",
        of(|one, _| one.count),
    );
    let name = "bankd_partner_waiting_seconds";
    let help = "Time since the oldest message that a partner bank has not confirmed was recorded";
    let age = of(|one, now| now.saturating_sub(one.since.seconds()));
    by(text, (name, "gauge", help), "partner", age);
}
