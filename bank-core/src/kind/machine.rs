//! Machines: clusters with one scheduler (nami.md 1.3, 4.3, 5, 7).

use super::{Concern, Field, KeyType, Kind, Objects, Record, Screen, Type, Value, Whose, choice};
use crate::domain::is_domain_name;
use crate::ids::{MachineId, check_name, check_new_name};
use crate::model::{
    CHARGE_DURATIONS, ChargeDuration, FLUSH_INTERVAL, MODES, Machine, Mode, RESERVATION_CHARGES,
    ReservationCharge,
};
use crate::policy::{CHARGE_POLICIES, ChargePolicy};
use crate::refusal::Refusal;
use crate::time::Seconds;
use std::borrow::Cow;

/// Longest flush interval: Maui's and Moab's is between a second and a day (nami.md 1.3).
const FLUSH_MAX: i64 = 86_400;
/// The charge policy of a machine without another one.
const POLICY: &str = "DEBITALLWC";
/// The time in documents about reservations without another setting.
const IDLE: &str = "idle";
/// The word for the setting of the site.
const DEFAULT: &str = "default";

pub(super) fn kind() -> Kind {
    let ops = ["machine_add", "machine_set", "machine_rm"];
    let kind = Kind {
        key: KeyType::Object,
        key_rule: |name| Ok(check_new_name(name)?),
        deleted_after: 1,
        concerns: Some(|own| Concern {
            machines: vec![Cow::Borrowed(own.name())],
            whose: Whose::Everyone,
        }),
        of_jobs: true,
        listed: vec![
            "active",
            "mode",
            "flush_interval_s",
            "fallback",
            "source",
            "charge_policy",
            "fallback_qos",
            "architecture",
            "operating_system",
            "fqdn",
            "reservation_account",
            "test",
            "charge_duration",
            "reservation_charge",
            "description",
        ],
        help: [
            "Add a machine".into(),
            "Change a machine".into(),
            "Remove a machine without open jobs".into(),
            "no machines".into(),
        ],
        ..Kind::new("machine", "machines", ops, "Machines and their schedulers")
    };
    usage_records(charging(scheduler(kind)))
}

/// Its mode, and the interval of its scheduler.
fn scheduler(kind: Kind) -> Kind {
    let modes = MODES.map(|(_, word)| word);
    let modes = choice(modes.into_iter().chain([DEFAULT]));
    let active = "Enable the machine; an inactive machine gets no quotes and no liens";
    let mode = "Mode; that of a project takes precedence";
    let interval = "Interval of charges to a running job: seconds, HH:MM:SS, minute, hour, day";
    let fallback = "Account that pays if the project's account cannot";
    kind.with(Field::new("active", Type::Flag, active).default(Value::Flag(true)))
        .with(
            Field::new("mode", modes, mode)
                .default(Value::Text(DEFAULT.to_owned()))
                .nullable(),
        )
        .with(
            Field::new("flush_interval_s", Type::Duration(1, FLUSH_MAX), interval)
                .label("Flush s")
                .default(Value::Whole(FLUSH_INTERVAL.0))
                .option("flush-interval")
                .secondary(),
        )
        .with(
            Field::new("fallback", Type::Text(256), fallback)
                .absent("none")
                .nullable()
                .payer()
                .rule(fallback_account),
        )
        .with(Field {
            screen: Screen::Always,
            ..Field::description()
        })
        .with(
            Field::new(
                "architecture",
                Type::Text(256),
                "Architecture of the processors",
            )
            .option("arch")
            .alias("architecture")
            .secondary()
            .if_any(),
        )
        .with(
            Field::new("operating_system", Type::Text(256), "Operating system")
                .option("opsys")
                .alias("operating-system")
                .secondary()
                .if_any(),
        )
}

/// The source of its charges, and what is charged.
fn charging(kind: Kind) -> Kind {
    let policies = choice(CHARGE_POLICIES.map(|(_, word)| word));
    let source = "Source of the usage that is charged: nami, gold or an import source";
    let qos = "Quality of service that sets the price on the fallback account";
    kind.with(
        Field::new("source", Type::Text(256), source)
            .absent("the first that reports")
            .nullable()
            .rule(name)
            .secondary()
            .if_any(),
    )
    .with(
        Field::new(
            "charge_policy",
            policies,
            "Charge policy for finished usage",
        )
        .default(Value::Text(POLICY.to_owned()))
        .nullable()
        .if_any(),
    )
    .with(
        Field::new("fallback_qos", Type::Text(256), qos)
            .label("Fallback QOS")
            .absent("that of the job")
            .nullable()
            .rule(name)
            .secondary()
            .if_any(),
    )
}

/// Its name in usage records, and how documents of its scheduler are read.
fn usage_records(kind: Kind) -> Kind {
    let durations = CHARGE_DURATIONS.map(|(_, word)| word);
    let durations = choice(durations.into_iter().chain([DEFAULT]));
    let fqdn = "Domain name for usage records, if the machine's name is not one";
    let payer = "Project or account that pays for reservations without project and user";
    let test = "Test scheduler: all its usage runs in mode track";
    kind.with(
        Field::new("fqdn", Type::Text(256), fqdn)
            .label("Domain name")
            .rule(domain_name)
            .secondary()
            .if_any(),
    )
    .with(
        Field::new("reservation_account", Type::Text(256), payer)
            .label("Reservations")
            .absent("none")
            .nullable()
            .payer()
            .rule(super::payer)
            .secondary()
            .if_any(),
    )
    .with(
        Field::new("test", Type::Flag, test)
            .default(Value::Flag(false))
            .if_any(),
    )
    .with(
        Field::new("charge_duration", durations, "Meaning of ChargeDuration")
            .label("ChargeDuration")
            .default(Value::Text(DEFAULT.to_owned()))
            .nullable()
            .secondary()
            .if_any(),
    )
    .with(
        Field::new(
            "reservation_charge",
            choice(RESERVATION_CHARGES.map(|(_, word)| word)),
            "Time in documents about reservations: idle only, or all as reported",
        )
        .default(Value::Text(IDLE.to_owned()))
        .nullable()
        .secondary()
        .if_any(),
    )
}

/// An account, or `+` and a suffix of the account that is short.
fn fallback_account(text: &str, objects: &dyn Objects) -> Result<String, Refusal> {
    match text.strip_prefix('+') {
        Some("") => Err(Refusal::bad_field("fallback", "an account or +suffix")),
        Some(_) => Ok(text.to_owned()),
        None if objects.has("account", text) => Ok(text.to_owned()),
        None => Err(Refusal::not_found("account", text)),
    }
}

fn name(text: &str, _: &dyn Objects) -> Result<String, Refusal> {
    check_name(text)?;
    Ok(text.to_owned())
}

fn domain_name(text: &str, _: &dyn Objects) -> Result<String, Refusal> {
    if is_domain_name(text) {
        return Ok(text.to_owned());
    }
    Err(Refusal::bad_field(
        "fqdn",
        "a domain name such as ia.example.org, each label of two or more characters",
    ))
}

impl Machine {
    /// The machine of a record of the kind `machine`.
    pub fn of(record: &Record) -> Machine {
        let text = |field: &str| record.text(field).to_owned();
        let some = |field: &str| Some(text(field)).filter(|text| !text.is_empty());
        let interval = record.whole("flush_interval_s");
        Machine {
            id: MachineId(record.id),
            name: record.name().to_owned(),
            active: record.flag("active"),
            deleted: record.deleted,
            mode: Mode::parse(record.text("mode")),
            flush_interval: interval.map_or(FLUSH_INTERVAL, Seconds),
            fallback: some("fallback"),
            description: text("description"),
            architecture: text("architecture"),
            operating_system: text("operating_system"),
            source: some("source"),
            charge_policy: ChargePolicy::parse(record.text("charge_policy")),
            fallback_qos: some("fallback_qos"),
            fqdn: text("fqdn"),
            reservation_account: some("reservation_account"),
            test: record.flag("test"),
            charge_duration: ChargeDuration::parse(record.text("charge_duration")),
            reservation_charge: ReservationCharge::parse(record.text("reservation_charge"))
                .unwrap_or_default(),
        }
    }
}
