//! The record files: what a charge leaves for other programs (`usage-records.md` 1.8, 4.5, 4.6).
//!
//! Lines are made inside the charge's own transaction and wait in the outbox; one thread puts them
//! into their files and confirms them. A file that cannot be written delays its lines and never a
//! charge. [`Files`] renders, [`start`] begins the thread.

mod drain;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use bank_core::decimal::Decimal;
use bank_core::directory::{Bank, Directory};
use bank_core::effects::{Billing, RecordEvent, UsageRow};
use bank_core::exact::Fraction;
use bank_core::model::{Instance, ObjectType};
use bank_core::time::{MICROS, Seconds, Timestamp};

use crate::config::{self, Config};
use crate::emit::appender::Fsync;
use crate::emit::file::{self, FileOptions};
use crate::emit::ggf::{self, GgfOptions};
use crate::emit::{Kind, Occasion, Record, State, Usage, Why};
use crate::writer::RecordRenderer;

pub use drain::{Drain, start};

/// The name of the FILE sink in the outbox.
const FILE: &str = "file";
/// The name of the GGF sink.
const GGF: &str = "ggf";

/// The settings of both files, with what the bank adds.
#[derive(Clone, Debug)]
pub struct Files {
    file: Option<(PathBuf, config::File)>,
    ggf: Option<(PathBuf, config::Ggf)>,
    /// The first 8 hex digits of the bank's UUID (`usage-records.md` 1.8).
    bank: String,
    unit: String,
    precision: u32,
}

/// Where a sink's lines go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sink {
    /// `file` or `ggf`.
    pub name: &'static str,
    /// The file.
    pub path: PathBuf,
    /// When a line counts as written.
    pub fsync: Fsync,
}

impl Files {
    /// What the settings say, for a bank.
    pub fn new(config: &Config, data: &Path, bank: &Bank) -> Self {
        let at = |setting: &str| config::path_in(data, setting);
        Self {
            file: at(&config.file.path).map(|path| (path, config.file.clone())),
            ggf: at(&config.ggf.path).map(|path| (path, config.ggf.clone())),
            bank: bank.uuid.chars().filter(|c| *c != '-').take(8).collect(),
            unit: bank.unit.clone(),
            precision: u32::from(bank.precision.places()),
        }
    }

    /// The files that are switched on.
    pub fn sinks(&self) -> Vec<Sink> {
        let file = self.file.iter().map(|(path, settings)| Sink {
            name: FILE,
            path: path.clone(),
            fsync: settings.fsync.into(),
        });
        let ggf = self.ggf.iter().map(|(path, settings)| Sink {
            name: GGF,
            path: path.clone(),
            fsync: settings.fsync.into(),
        });
        file.chain(ggf).collect()
    }

    /// What the writer calls for every charge and close.
    pub fn renderer(&self) -> RecordRenderer {
        let files = self.clone();
        Box::new(move |directory, event| files.lines(&record(directory, event)))
    }

    /// The lines of a record with their sinks, without line feeds.
    fn lines(&self, record: &Record) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        let mut add = |sink: &str, line: Option<String>| {
            let line = line.map(|mut line| {
                line.truncate(line.trim_end_matches('\n').len());
                line
            });
            lines.extend(line.map(|line| (sink.to_owned(), line)));
        };
        if let Some((_, settings)) = &self.file {
            let options = FileOptions {
                dialect: settings.dialect.into(),
                interim: settings.interim,
                extended: settings.extended,
                blank_account: &settings.blank_account,
                blank_user: &settings.blank_user,
                precision: self.precision,
            };
            add(FILE, file::render(record, &options));
        }
        if let Some((_, settings)) = &self.ggf {
            let options = GgfOptions {
                adjustments: settings.adjustments,
                bank: &self.bank,
                unit: &self.unit,
                precision: self.precision,
            };
            add(GGF, ggf::render(record, &options));
        }
        lines
    }
}

/// The record of what happened.
fn record(directory: &Directory, event: &RecordEvent) -> Record {
    match event {
        RecordEvent::Charged {
            instance,
            usage,
            amount,
            created,
        } => {
            let of = instance.record.unwrap_or(usage.id).0;
            let whole = Usage::one(
                usage.processors.billionths() / 1000,
                Some(charged_share(instance)),
                micros(usage.charged),
            );
            let base = base(directory, instance, *created, whole, amount.0);
            if !usage.late {
                return Record {
                    occasion: Occasion::Charge,
                    record_id: of,
                    ..base
                };
            }
            if amount.0 < 0 {
                return given_back(usage, of, base);
            }
            // A late charge states its own window and time.
            Record {
                occasion: Occasion::Adjustment {
                    of,
                    why: Why::LateCharge,
                },
                record_id: usage.id.0,
                start_time: Some(usage.at.minus(usage.charged).0),
                end_time: Some(usage.at.0),
                wall: Some(micros(usage.charged)),
                ..base
            }
        }
        RecordEvent::Adjusted {
            instance,
            usage,
            created,
        } => adjusted(directory, instance, usage, *created),
        RecordEvent::Closed {
            instance,
            amount,
            created,
        } => Record {
            occasion: Occasion::Close {
                charges: u32::from(instance.record.is_some()),
            },
            record_id: instance.record.map_or(0, |id| id.0),
            ..base(directory, instance, *created, summed(instance), amount.0)
        },
    }
}

/// A refund or a reversal: an adjustment that uses no time.
fn adjusted(
    directory: &Directory,
    instance: &Instance,
    usage: &UsageRow,
    created: Timestamp,
) -> Record {
    let nothing = Usage::one(usage.processors.billionths() / 1000, Some(WHOLE), 0);
    let why = match usage.billing {
        Billing::Refund => Why::Refund,
        _ => Why::Reverse,
    };
    Record {
        occasion: Occasion::Adjustment {
            of: instance.record.unwrap_or(usage.id).0,
            why,
        },
        record_id: usage.id.0,
        start_time: Some(usage.at.0),
        end_time: Some(usage.at.0),
        wall: Some(0),
        ..base(directory, instance, created, nothing, usage.amount.0)
    }
}

/// A total that fell after the close: money goes back at its effective time, and no time is used.
fn given_back(usage: &UsageRow, of: i64, base: Record) -> Record {
    Record {
        occasion: Occasion::Adjustment {
            of,
            why: Why::Refund,
        },
        record_id: usage.id.0,
        start_time: Some(usage.at.0),
        end_time: Some(usage.at.0),
        wall: Some(0),
        usage: Usage::one(base.usage.processors(), None, 0),
        ..base
    }
}

/// All of a processor is charged, in millionths: what CPU-based charging would lower.
const WHOLE: i64 = 1_000_000;

/// How much of each processor is charged, in millionths: all of it, unless a charge policy counts
/// something else.
fn charged_share(instance: &Instance) -> i64 {
    let usage = &instance.facts.usage;
    let own = usage.processors.unwrap_or_default().billionths();
    let counted = usage.counted.and_then(Fraction::billionths);
    let share =
        counted.and_then(|counted| counted.checked_mul(i128::from(WHOLE))?.checked_div(own));
    share
        .and_then(|share| i64::try_from(share).ok())
        .unwrap_or(WHOLE)
}

/// The usage of all charges of an instance: one second of the sum of processor-seconds, then the
/// rest of the time at no rate. So processors are those of the last charge, time is the whole
/// time, and the product is the exact sum (`usage-records.md` 4.5).
fn summed(instance: &Instance) -> Usage {
    let processors = instance.facts.usage.processors.unwrap_or_default();
    let processors = processors.billionths() / 1000;
    let charged = instance.charged.0;
    if charged <= 0 {
        return Usage::one(processors, Some(WHOLE), 0);
    }
    let work = Usage::one(instance.processor_seconds / 1000, Some(WHOLE), MICROS);
    work.then(Usage::one(
        processors,
        Some(0),
        micros(Seconds(charged - 1)),
    ))
}

fn base(
    directory: &Directory,
    instance: &Instance,
    created: Timestamp,
    usage: Usage,
    amount: i64,
) -> Record {
    let facts = &instance.facts;
    let stated = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let measured = match (facts.start, facts.end) {
        (Some(start), Some(end)) if start <= end => end.0.saturating_sub(start.0),
        _ => usage.charged(),
    };
    let megabytes = facts.usage.memory_mb.and_then(Decimal::as_whole);
    Record {
        occasion: Occasion::Charge,
        record_id: 0,
        created_at: created.0,
        kind: match instance.key.object_type {
            ObjectType::Job => Kind::Job,
            ObjectType::Reservation => Kind::Reservation,
        },
        object_id: instance.key.object_id.clone(),
        job_name: None,
        user: stated(&facts.user),
        project: stated(payer(directory, instance)),
        machine: instance.key.machine.clone(),
        machine_fqdn: None,
        submit_host: None,
        class: facts.usage.class.clone(),
        qos: facts.usage.qos.clone(),
        host_type: None,
        hosts: Vec::new(),
        nodes: facts.usage.nodes.and_then(Decimal::as_whole),
        memory_per_node: megabytes.and_then(|mb| mb.checked_mul(1 << 20)),
        submit_time: facts.submit.map(|at| at.0),
        start_time: facts.start.map(|at| at.0),
        end_time: facts.end.map(|at| at.0),
        wall: Some(measured),
        cpu_user: None,
        cpu_system: None,
        cpu_total: None,
        usage,
        state: State::from_word(&facts.state),
        exit_code: facts.exit_code,
        amount,
        formula: None,
    }
}

/// The project as named; where a fallback pays, the account that does.
fn payer<'a>(directory: &'a Directory, instance: &'a Instance) -> &'a str {
    let paying = instance.fallback_from.and(instance.account);
    let account = paying.and_then(|id| directory.account(id));
    account.map_or(&instance.facts.project, |account| &account.name)
}

fn micros(duration: Seconds) -> i64 {
    duration.0.saturating_mul(MICROS)
}
