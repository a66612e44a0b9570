//! The input of exports: usage records and finished uses as one kind of record, and the selection of the
//! format.

use std::collections::BTreeMap;

use bank_api::v1::UsedLine;
use bank_core::directory::{Bank, Directory};
use bank_core::time::{MICROS, Seconds};
use bank_core::usage::kept;
use bankd_config as config;
use bankd_emit::export::{Site, Written};
use bankd_emit::ggf::{self, GgfOptions};
use bankd_emit::{Collected, Kind, Occasion, Outcome, Record, Usage};
use bankd_emit::{apel, lines, sacct, ur2};
use bankd_store::read::feed::{Amendment, ChargeForm, Item, Used};

use super::form;
use super::reported::Reported;

/// A format that is made record by record, so that a cursor goes along it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Usage records 1.0.
    Ur1,
    /// Usage records 2.0.
    Ur2,
    /// Input for the shredder of Open `XDMoD`.
    Xdmod,
    /// CSV.
    Csv {
        /// Guarded against spreadsheets.
        is_safe: bool,
    },
    /// JSON Lines.
    Jsonl,
    /// JSON Lines in AUDITOR's shape.
    Auditor,
    /// Messages of jobs to APEL.
    Apel,
}

impl Format {
    /// The head and the end of the whole export.
    pub fn frame(self) -> (String, &'static str) {
        match self {
            Format::Ur1 => (ggf::HEAD.to_owned(), ggf::TAIL),
            Format::Ur2 => (ur2::HEAD.to_owned(), ur2::TAIL),
            Format::Csv { .. } => (lines::csv_head(), ""),
            Format::Jsonl => (UsedLine::SCHEMA.to_owned(), ""),
            Format::Apel => (apel::JOBS.to_owned(), ""),
            Format::Xdmod | Format::Auditor => (String::new(), ""),
        }
    }

    /// The form in which it reports charges.
    pub fn charge_form(self) -> ChargeForm {
        match self {
            Format::Ur1 | Format::Ur2 | Format::Csv { .. } | Format::Jsonl => {
                ChargeForm::AsRecorded
            }
            Format::Xdmod | Format::Auditor | Format::Apel => ChargeForm::Current,
        }
    }

    /// The export of a record; `now` in microseconds.
    pub fn write(self, record: &Record, site: &Site, now: i64) -> Written {
        match self {
            Format::Ur1 => {
                let options = GgfOptions {
                    adjustments: true,
                    bank: &site.bank,
                    unit: &site.unit,
                    precision: site.precision,
                    whole: true,
                };
                ggf::render(record, &options).map_or(Written::Nothing, Written::Text)
            }
            Format::Ur2 => ur2::render(record, site),
            Format::Xdmod => sacct::render(record, site),
            Format::Csv { is_safe } => lines::csv(record, site, is_safe),
            Format::Jsonl => lines::json(record, site),
            Format::Auditor => lines::auditor(record, site),
            Format::Apel => apel::render(record, site, now),
        }
    }

    /// The fields of JSON Lines that it has no place for.
    fn homeless(self) -> &'static [&'static str] {
        match self {
            Format::Csv { .. } | Format::Jsonl | Format::Ur1 => &[],
            Format::Ur2 => &NOT_IN_UR2,
            Format::Xdmod => &NOT_IN_XDMOD,
            Format::Auditor => &NOT_IN_AUDITOR,
            Format::Apel => &NOT_IN_APEL,
        }
    }

    /// The fields of a change after the end that only JSON Lines and CSV have: usage records state the
    /// difference.
    fn homeless_in_changes(self) -> &'static [&'static str] {
        match self {
            Format::Ur1 => &[
                "source",
                "pi",
                "uid",
                "group",
                "gid",
                "job_name",
                "submit_host",
                "class",
                "qos",
                "hosts",
                "host_type",
                "submit_time",
                "cpu_total_s",
                "cpu_user_s",
                "cpu_system_s",
                "requested_s",
                "nodes",
                "requested_processors",
                "memory_max_per_node_bytes",
                "memory_total_bytes",
                "requested_memory_per_node_bytes",
                "gpus",
                "exit_code",
            ],
            _ => &[],
        }
    }

    /// Counts the reported fields of a record that are missing in its export.
    pub fn lose(self, record: &Record, site: &Site, lost: &mut BTreeMap<String, i64>) {
        let is_change = matches!(record.occasion, Occasion::Adjustment { .. });
        let changes: &[&str] = if is_change {
            self.homeless_in_changes()
        } else {
            &[]
        };
        for (field, _) in lines::line(record, site).cells() {
            let name = field.as_str();
            if self.homeless().contains(&name) || changes.contains(&name) {
                let count = lost.entry(field).or_default();
                *count = count.saturating_add(1);
            }
        }
    }
}

/// Fields of JSON Lines that [`Format::Ur2`] has no place for.
const NOT_IN_UR2: [&str; 17] = [
    "source",
    "replaces",
    "adjusts",
    "why",
    "uid",
    "gid",
    "cpu_user_s",
    "cpu_system_s",
    "requested_s",
    "proc_rate",
    "requested_processors",
    "requested_memory_per_node_bytes",
    "gpus",
    "shadow_charge",
    "processor_s",
    "formula",
    "pi",
];
/// Fields of JSON Lines that [`Format::Xdmod`] has no place for.
const NOT_IN_XDMOD: [&str; 14] = [
    "source",
    "replaces",
    "created_at",
    "submit_host",
    "host_type",
    "cpu_total_s",
    "cpu_user_s",
    "cpu_system_s",
    "proc_rate",
    "charge",
    "shadow_charge",
    "processor_s",
    "formula",
    "pi",
];
/// Fields of JSON Lines that [`Format::Auditor`] has no place for.
const NOT_IN_AUDITOR: [&str; 20] = [
    "source",
    "replaces",
    "created_at",
    "uid",
    "gid",
    "host_type",
    "job_name",
    "submit_time",
    "cpu_user_s",
    "cpu_system_s",
    "requested_s",
    "proc_rate",
    "requested_processors",
    "requested_memory_per_node_bytes",
    "exit_code",
    "charge",
    "shadow_charge",
    "processor_s",
    "formula",
    "pi",
];
/// Fields of JSON Lines that [`Format::Apel`] has no place for.
const NOT_IN_APEL: [&str; 24] = [
    "source",
    "replaces",
    "created_at",
    "uid",
    "group",
    "gid",
    "qos",
    "hosts",
    "host_type",
    "job_name",
    "submit_time",
    "cpu_user_s",
    "cpu_system_s",
    "requested_s",
    "proc_rate",
    "requested_processors",
    "requested_memory_per_node_bytes",
    "gpus",
    "exit_code",
    "charge",
    "shadow_charge",
    "processor_s",
    "formula",
    "pi",
];

/// The facts of the bank and its settings in every export.
pub fn site(bank: &Bank, settings: &config::Export) -> Site {
    Site {
        bank: bank.uuid.chars().filter(|c| *c != '-').take(8).collect(),
        unit: bank.unit.clone(),
        precision: u32::from(bank.precision.places()),
        name: settings.site.clone(),
        infrastructure: settings.infrastructure.clone(),
        description: settings.description.clone(),
        benchmark: settings.benchmark(),
        full_cpu: settings.assume_full_cpu,
        vo: settings.vo(),
    }
}

/// The record of a row; none if another row contains it.
///
/// # Errors
/// If its text is none that this version writes.
pub fn record(item: &Item, directory: &Directory) -> anyhow::Result<Option<Record>> {
    let kept = |kept| Ok::<_, anyhow::Error>(money_that_moved(form::read(kept)?));
    Ok(match item {
        Item::Kept(row, ended) => Some(Record {
            belongs: *ended,
            ..kept(row)?
        }),
        Item::Amended(row) => {
            Some(kept(row)?).filter(|r| !matches!(r.occasion, Occasion::Close { .. }))
        }
        Item::Amending(row, to) => Some(amended(kept(row)?, to, directory)),
        Item::Used(used) => Some(of_use(used, directory)),
        Item::Gone(_) => None,
    })
}

/// The record of a row in an export of some records: those that `is_wanted` accepts. A finished use that is none of
/// them any more, and that the cursor passed as one, has a record that takes it back.
///
/// # Errors
/// If its text is none that this version writes.
pub fn selected(
    item: &Item,
    directory: &Directory,
    is_wanted: impl Fn(&Record) -> bool,
) -> anyhow::Result<Option<Record>> {
    let found = record(item, directory)?.filter(|record| is_wanted(record));
    let (Item::Used(used) | Item::Gone(used)) = item else {
        return Ok(found);
    };
    let Some(withdrawn) = withdrawn(used) else {
        return Ok(found);
    };
    let had_it = is_wanted(&withdrawn);
    Ok(match found {
        None => Some(withdrawn).filter(|_| had_it),
        Some(record) if had_it => Some(record),
        // What it replaces is not in this export.
        Some(record) => Some(Record {
            collected: record.collected.map(|collected| Collected {
                replaced: None,
                ..collected
            }),
            ..record
        }),
    })
}

/// What takes back a use that the cursor passed: its earlier names, no time and no amount. Its other facts may be of
/// somebody else.
fn withdrawn(used: &Used) -> Option<Record> {
    let before = used.before.as_ref()?;
    let present = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Some(Record {
        occasion: Occasion::Close { charges: 1 },
        record_id: used.id,
        created_at: used.created,
        kind: kind(used),
        object_id: used.object_id.clone(),
        user: present(&before.user),
        project: present(&before.project),
        machine: before.machine.clone(),
        start_time: Some(used.start).filter(|start| *start != 0),
        end_time: Some(used.end),
        wall: Some(0),
        usage: Usage::one(0, Some(1_000_000), 0),
        outcome: Outcome::Shadow,
        source: Some(used.source.clone()),
        shadow: Some(0),
        counted: Some(0),
        collected: Some(Collected {
            revision: used.revision,
            replaced: used.replaced,
            is_withdrawn: true,
        }),
        ..Record::default()
    })
}

fn kind(used: &Used) -> Kind {
    match used.object_type.as_str() {
        "reservation" => Kind::Reservation,
        _ => Kind::Job,
    }
}

/// The job of an amendment as a whole, under its earlier name: the latest report, over its latest time.
fn amended(change: Record, to: &Amendment, directory: &Directory) -> Record {
    let (Occasion::Adjustment { of, .. }, used) = (change.occasion, of_use(&to.used, directory))
    else {
        return change;
    };
    let present = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Record {
        occasion: Occasion::Close { charges: 1 },
        record_id: of,
        project: present(&to.project),
        user: present(&to.user),
        start_time: used.start_time,
        end_time: used.end_time,
        wall: used.wall,
        usage: used.usage,
        counted: used.counted,
        cpu_user: used.cpu_user,
        cpu_system: used.cpu_system,
        cpu_total: used.cpu_total,
        amount: to.billed,
        shadow: change.shadow.map(|_| to.shadow),
        ..change
    }
}

/// A record as exports show it: its charge is the money that moved, and the shadow charge is a field of its
/// own. Record files have the shadow charge as their charge (`usage-records.md` 6.1).
fn money_that_moved(record: Record) -> Record {
    if record.outcome != Outcome::Shadow {
        let amount = record.real.unwrap_or(record.amount);
        return Record { amount, ..record };
    }
    Record {
        shadow: record.shadow.or(Some(record.amount)),
        amount: 0,
        ..record
    }
}

/// A finished use as a closed job that moved no money: its price is in a separate field.
fn of_use(used: &Used, directory: &Directory) -> Record {
    let between = used.end.saturating_sub(used.start).max(0);
    let start = Some(used.start).filter(|start| *start != 0);
    let wall = used.wall.or(start.map(|_| between));
    let millionths = used.processors().unwrap_or(1_000_000);
    let processor_time = used.processor_time(wall.unwrap_or(0));
    let fqdn = directory.any_machine_named(&used.machine).map(|m| &m.fqdn);
    let present = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let stated = used.more.as_deref().map(kept::of_job);
    let reported = Reported(stated.into_iter().flatten().collect());
    let record = Record {
        occasion: Occasion::Close { charges: 1 },
        record_id: used.id,
        created_at: used.created,
        kind: kind(used),
        object_id: used.object_id.clone(),
        user: present(&used.user),
        project: present(&used.project),
        machine: used.machine.clone(),
        machine_fqdn: fqdn.filter(|fqdn| !fqdn.is_empty()).cloned(),
        class: present(&used.queue),
        qos: present(&used.qos),
        nodes: used.nodes,
        submit_time: used.submit,
        start_time: start,
        end_time: Some(used.end),
        wall,
        cpu_total: used.cpu,
        usage: Usage::one(millionths, Some(1_000_000), wall.unwrap_or(0)),
        state: reported.state(&used.state, used.exit_code, true),
        exit_code: used.exit_code,
        group: present(&used.group),
        requested: used
            .requested_s
            .map(|s| Seconds(s).0.saturating_mul(MICROS)),
        gpus: used.gpus,
        outcome: Outcome::Shadow,
        shadow: Some(used.amount),
        counted: i64::try_from(processor_time).ok(),
        collected: Some(Collected {
            revision: used.revision,
            replaced: used
                .replaced
                .or_else(|| used.revision.checked_sub(1).filter(|version| *version >= 0)),
            is_withdrawn: false,
        }),
        ..Record::default()
    };
    let reported = reported.added_to(None, record);
    Record {
        memory_total: used.memory,
        source: Some(used.source.clone()),
        pi: present(&used.pi),
        ..reported
    }
}
