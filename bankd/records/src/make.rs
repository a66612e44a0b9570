//! A usage record of an event: the facts of the ledger and of the documents, in the fields of the formats
//! (`usage-records.md` 1.8, 6.1). Missing facts stay missing.

use bank_core::decimal::Decimal;
use bank_core::directory::Directory;
use bank_core::effects::{Billing, RecordEvent, UsageRow};
use bank_core::model::{Instance, Mode, ObjectType};
use bank_core::select;
use bank_core::time::{MICROS, Seconds, Timestamp};
use bank_core::usage::kept::names;
use bank_core::usage::{self, Usage as Used};
use bankd_emit::{Kind, Occasion, Outcome, Record, Usage, Why};
use bankd_store::Counted;

use super::reported::Reported;

/// The record of what happened, and what it adds to usage.
pub(super) fn record(directory: &Directory, event: &RecordEvent, counted: Counted) -> Record {
    let record = of_event(directory, event, counted);
    let is_final = record.occasion != Occasion::Charge;
    let record = Record {
        counted: is_final.then_some(counted.core),
        ..record
    };
    if !matches!(record.occasion, Occasion::Adjustment { .. }) {
        return record;
    }
    // The processors' usage is in one record of the whole object, so that records can be added up.
    Record {
        cpu_user: None,
        cpu_system: None,
        cpu_total: None,
        ..record
    }
}

fn of_event(directory: &Directory, event: &RecordEvent, counted: Counted) -> Record {
    match event {
        RecordEvent::Charged {
            instance,
            usage,
            amount,
            created,
        } => {
            let known = instance.record.unwrap_or(usage.id).0;
            let change = Change {
                instance,
                usage,
                amount: amount.0,
                created: *created,
                counted,
            };
            if counted.is_part {
                return change.after_the_close(directory, Why::Part);
            }
            if !usage.late {
                return change.before_the_close(directory, known);
            }
            let why = if change.is_less() || counted.is_whole {
                Why::Adjust
            } else {
                Why::LateCharge
            };
            change.after_the_close(directory, why)
        }
        RecordEvent::Adjusted {
            instance,
            usage,
            created,
        } => {
            let is_refund = usage.billing == Billing::Refund;
            let change = Change {
                instance,
                usage,
                amount: reported(directory, instance, usage),
                created: *created,
                counted,
            };
            match (is_refund, instance.is_open()) {
                (true, _) => change.after_the_close(directory, Why::Refund),
                (false, true) => change.before_the_close(directory, usage.id.0),
                (false, false) => change.after_the_close(directory, Why::Reverse),
            }
        }
        RecordEvent::Closed {
            instance,
            amount,
            created,
        } => closed(directory, instance, (amount.0, *created), counted),
    }
}

/// The cost of a change in its record: 0 for shadow charges in mode `track` (usage-records.md 6.1).
fn reported(directory: &Directory, instance: &Instance, usage: &UsageRow) -> i64 {
    if usage.billing == Billing::Shadow && mode(directory, instance) == Mode::Track {
        return 0;
    }
    usage.amount.0
}

/// A closed instance with all that was charged for it before.
fn closed(
    directory: &Directory,
    instance: &Instance,
    (amount, created): (i64, Timestamp),
    counted: Counted,
) -> Record {
    let base = base(directory, instance, created, summed(instance), amount);
    // A use that was billed under two modes has both sums.
    let is_mixed = base.outcome != Outcome::Shadow && !instance.shadow_billed.is_zero();
    Record {
        occasion: Occasion::Close {
            charges: u32::from(instance.record.is_some()),
        },
        record_id: instance.record.map_or(0, |id| id.0),
        wall: Some(counted.wall),
        shadow: base.shadow.or(is_mixed.then_some(instance.shadow_billed.0)),
        real: is_mixed.then_some(instance.billed.0),
        ..base
    }
}

/// A charge, or a change of what was charged.
struct Change<'a> {
    instance: &'a Instance,
    usage: &'a UsageRow,
    /// Its cost in the record.
    amount: i64,
    created: Timestamp,
    counted: Counted,
}

impl Change<'_> {
    /// One that the close of the instance sums up.
    fn before_the_close(&self, directory: &Directory, record_id: i64) -> Record {
        Record {
            occasion: Occasion::Charge,
            record_id,
            ..self.base(directory, self.usage.charged)
        }
    }

    /// Whether it takes something back; hours can leave a project whose charges stay.
    fn is_less(&self) -> bool {
        let usage = self.usage;
        self.amount < 0 || usage.amount.0 < 0 || usage.charged.0 < 0 || self.counted.wall < 0
    }

    /// One that counts by itself: its time is what it adds to usage, below 0 where it takes back.
    fn after_the_close(&self, directory: &Directory, why: Why) -> Record {
        let charged = match (self.counted.is_whole, self.is_less()) {
            (false, _) if self.usage.billing == Billing::Refund => Seconds(0),
            (false, _) => self.usage.charged,
            (true, false) => self.instance.charged,
            (true, true) => Seconds(self.instance.charged.0.saturating_neg()),
        };
        let base = self.base(directory, charged);
        let wall = self.counted.wall;
        // So that time × processors is what it adds, where both have the same sign.
        let core = i128::from(self.counted.core).saturating_mul(1_000_000);
        let processors = core
            .checked_div(wall.into())
            .filter(|processors| *processors > 0);
        let (start, end) = self.times(&base, why, charged);
        Record {
            occasion: Occasion::Adjustment {
                of: self.instance.record.unwrap_or(self.usage.id).0,
                why,
            },
            record_id: self.usage.id.0,
            start_time: Some(start),
            end_time: Some(end),
            wall: Some(wall),
            usage: match processors {
                Some(processors) => base.usage.with_processors(processors),
                None => base.usage,
            },
            ..base
        }
    }

    /// The times of a change: further time has its own, and any other change those of the whole use, whenever it was
    /// made.
    fn times(&self, base: &Record, why: Why, charged: Seconds) -> (i64, i64) {
        let at = self.usage.at;
        let own = (at.minus(Seconds(charged.0.max(0))).0, at.0);
        let is_further = matches!(why, Why::LateCharge | Why::Part);
        let whole = base.end().map(|end| (base.start().unwrap_or(end), end));
        whole.filter(|_| !is_further).unwrap_or(own)
    }

    fn base(&self, directory: &Directory, charged: Seconds) -> Record {
        let usage = self.usage;
        let used = match usage.billing {
            // A refund uses no time, and has no rate.
            Billing::Refund => Usage::one(millionths(usage.processors), None, 0),
            _ => one(usage, charged),
        };
        let base = base(directory, self.instance, self.created, used, self.amount);
        // The instance has the sum of its charges; the charge has the outcome of this one.
        let outcome = match usage.billing {
            Billing::Shadow => Outcome::Shadow,
            Billing::Unbilled => Outcome::Unbilled,
            // A part has the account of its owner, which may be the suspense account.
            Billing::Billed if !self.counted.is_part => Outcome::Billed,
            Billing::Billed | Billing::Refund if base.outcome == Outcome::Shadow => Outcome::Billed,
            Billing::Billed | Billing::Refund => base.outcome,
        };
        Record {
            outcome,
            shadow: (outcome == Outcome::Shadow).then_some(usage.amount.0),
            ..base
        }
    }
}

/// The usage of one charge: its rate is the share of the processors that it counts (`ledger.md` 3.1). A reservation
/// that pays for idle time has the average of its idle processors.
fn one(row: &UsageRow, charged: Seconds) -> Usage {
    let used = usage::text::read(&row.facts, Some(row.processors)).unwrap_or_default();
    let rate = i64::try_from(millionths(used.consumption())).unwrap_or(i64::MAX);
    let processors = match used.idle {
        Some(idle) => {
            let average = idle.processor_seconds.checked_div(charged.0.into());
            average.map_or(0, |processors| processors / 1000)
        }
        None => millionths(row.processors),
    };
    Usage::one(processors, Some(rate), micros(charged))
}

/// The usage of all charges of an instance.
fn summed(instance: &Instance) -> Usage {
    let processors = instance.facts.usage.processors.unwrap_or_default();
    Usage::total(
        millionths(processors),
        instance.processor_seconds,
        micros(instance.charged),
    )
}

fn millionths(number: Decimal) -> i128 {
    number.billionths() / 1000
}

fn base(
    directory: &Directory,
    instance: &Instance,
    created: Timestamp,
    usage: Usage,
    amount: i64,
) -> Record {
    let facts = &instance.facts;
    let reported = Reported::of(&facts.other, &facts.usage.attributes);
    let outcome = outcome(directory, instance);
    let machine = &instance.key.machine;
    let fqdn = directory.any_machine_named(machine).map(|m| &m.fqdn);
    let stated = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let measured = match (facts.start, facts.end) {
        (Some(start), Some(end)) if start <= end => end.0.saturating_sub(start.0),
        _ => usage.charged(),
    };
    let memory = facts.usage.memory_mb.and_then(bytes);
    let record = Record {
        occasion: Occasion::Charge,
        record_id: 0,
        created_at: created.0,
        kind: match instance.key.object_type {
            ObjectType::Job => Kind::Job,
            ObjectType::Reservation => Kind::Reservation,
        },
        object_id: instance.key.object_id.clone(),
        user: stated(&facts.user),
        project: stated(&facts.project),
        payer: payer(directory, instance),
        machine: machine.clone(),
        machine_fqdn: fqdn.filter(|fqdn| !fqdn.is_empty()).cloned(),
        class: facts.usage.class.clone(),
        qos: facts.usage.qos.clone(),
        nodes: facts.usage.nodes.and_then(Decimal::as_whole),
        submit_time: facts.submit.map(|at| at.0),
        start_time: facts.start.map(|at| at.0),
        end_time: facts.end.map(|at| at.0),
        wall: Some(measured),
        usage,
        state: reported.state(&facts.state, facts.exit_code, reported.is_collected()),
        exit_code: facts.exit_code,
        amount,
        group: stated(&facts.group),
        requested: facts.wall.map(micros),
        gpus: gpus(&facts.usage),
        began: began(instance).filter(|_| facts.start.is_none()),
        used_until: instance
            .used_until
            .map(|at| at.0)
            .filter(|_| facts.end.is_none()),
        outcome,
        shadow: (outcome == Outcome::Shadow).then_some(instance.shadow_billed.0),
        ..Record::default()
    };
    reported.added_to(memory, record)
}

/// The bank's first record of it. Without a reserve, it is the time that was charged before its last charge,
/// as rollups count it. An amount without a time has no start.
fn began(instance: &Instance) -> Option<i64> {
    let charged = Some(instance.charged).filter(|charged| charged.0 > 0);
    let counted = || Some(instance.used_until?.minus(charged?));
    instance.began.or_else(counted).map(|at| at.0)
}

/// The outcome from the sums of an instance, and its mode if they are zero. A charge has the account that
/// paid with the instance. If none did, the suspense account carries it; of a use without a price, only if it has no
/// project.
fn outcome(directory: &Directory, instance: &Instance) -> Outcome {
    let suspense = bank_core::book::suspense_account().id;
    let nobody_paid = instance.account.is_none() && instance.record.is_some();
    let in_shadow = || mode(directory, instance).is_shadow();
    let is_free =
        || instance.billed.is_zero() && select::is_payer(directory, &instance.facts.project);
    match (instance.billed.0, instance.shadow_billed.0) {
        (0, shadow) if shadow != 0 => Outcome::Shadow,
        _ if instance.account == Some(suspense) => Outcome::Unbilled,
        (0, _) if in_shadow() => Outcome::Shadow,
        _ if nobody_paid && !is_free() => Outcome::Unbilled,
        _ => Outcome::Billed,
    }
}

/// The mode of its project and machine.
fn mode(directory: &Directory, instance: &Instance) -> Mode {
    if let Some(mode) = instance.mode {
        return mode;
    }
    let project = select::named(directory, &instance.facts.project);
    let machine = directory.any_machine_named(&instance.key.machine);
    let project = project.map(|(project, _)| project.id);
    directory.mode(project, machine.map(|machine| machine.id))
}

fn gpus(usage: &Used) -> Option<i64> {
    usage.gpus().and_then(Decimal::as_whole)
}

/// The account that pays where a fallback does.
fn payer(directory: &Directory, instance: &Instance) -> Option<String> {
    let paying = instance.fallback_from.and(instance.account)?;
    Some(directory.account(paying)?.name.clone())
}

fn micros(duration: Seconds) -> i64 {
    duration.0.saturating_mul(MICROS)
}

/// Bytes in a number of megabytes: its nine places were cut, so the nearest whole number is the stated one.
fn bytes(megabytes: Decimal) -> Option<i64> {
    let scaled = megabytes.billionths().checked_mul(1 << 20)?;
    i64::try_from(scaled.checked_add(500_000_000)? / 1_000_000_000).ok()
}

/// The name of a job, of what is kept verbatim with its instance and of its usage attributes.
pub fn job_name(other: &[(String, String)], attributes: &[(String, String)]) -> Option<String> {
    Reported::of(other, attributes).text(&names::JOB_NAME)
}
