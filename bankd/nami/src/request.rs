//! Converts a document to a request for the ledger: names, quantities, times, and everything else verbatim
//! (`nami.md` 3.1). Nothing is decided here: missing fields stay missing.

use bank_core::amount::Amount;
use bank_core::command::{Request, Whose};
use bank_core::decimal::Decimal;
use bank_core::directory::Directory;
use bank_core::exact::to_amount;
use bank_core::model::{Facts, ObjectType};
use bank_core::select;
use bank_core::time::{Seconds, Timestamp};
use bank_core::usage::kept::RESERVATION;
use bank_core::usage::{ATTRIBUTE_VALUE_MAX, Usage};

use super::{Document, Number, ObjectKind};

/// The request in a document; `machine` is the default if it names none.
pub fn request(document: Document, directory: &Directory, machine: &str) -> Request {
    let (account, machine) = payer_and_machine(&document, directory, machine);
    let asserted = document.asserted().map(|amount| amount.to_string());
    let asserted = asserted.unwrap_or_default();
    let at = |seconds: Option<i64>| seconds.map(Timestamp::from_seconds);
    let mut other = Vec::new();
    let mut keep = |name: &str, value: Option<String>| {
        other.extend(value.map(|value| (name.to_owned(), value)));
    };
    keep("Requestor", document.requestor);
    keep("Amount", document.asserted_amount);
    keep(RESERVATION, document.reservation);
    other.extend(document.variables);
    other.extend(document.unknown);
    let mut facts = Facts {
        project: account.clone().unwrap_or_default(),
        user: document.user.clone().unwrap_or_default(),
        group: document.group.unwrap_or_default(),
        usage: Usage {
            processors: document.processors.map(decimal),
            nodes: document.nodes.map(decimal),
            memory_mb: document.memory_mb.map(Decimal::whole),
            disk_mb: document.disk_mb.map(Decimal::whole),
            gres: document
                .gres
                .into_iter()
                .map(|(name, count)| (name, decimal(count)))
                .collect(),
            qos: document.qos,
            class: document.class,
            attributes: Vec::new(),
            counted: None,
            idle: None,
        },
        wall: document.wall_duration_s.map(Seconds),
        start: at(document.start_time_s),
        end: at(document.end_time_s),
        submit: at(document.submit_time_s),
        state: document.state.unwrap_or_default(),
        exit_code: document.completion_code,
        other,
    };
    declared_attributes(&mut facts, directory);
    let for_reservation = document.kind == ObjectKind::Reservation;
    Request {
        object_type: match document.kind {
            ObjectKind::Job => ObjectType::Job,
            ObjectKind::Reservation => ObjectType::Reservation,
        },
        object_id: document.object_id.unwrap_or_default(),
        whose: Whose {
            project: account,
            user: document.user,
            machine,
            for_reservation,
        },
        facts,
        tid: document.tid,
        event_time: None,
        asserted,
    }
}

/// The payer and the machine. `a@m` is the account a on the cluster m, if no account has that full name and
/// one is called a: the form of APPENDMACHINENAME (`nami.md` 4.1). `a@p` is the project a of the partner bank p. A
/// machine in the document has precedence over the one behind the `@`.
fn payer_and_machine(
    document: &Document,
    directory: &Directory,
    machine: &str,
) -> (Option<String>, String) {
    let default = machine;
    let is_known = |name: &str| {
        let is_here = select::named(directory, name).is_some();
        is_here || directory.at_partner(name).is_some()
    };
    let split = |whole: &String| {
        let (account, machine) = whole.rsplit_once('@')?;
        let fits = !machine.is_empty() && is_known(account) && !is_known(whole);
        fits.then(|| (account.to_owned(), machine.to_owned()))
    };
    let (account, appended) = match document.account.as_ref().and_then(split) {
        Some((account, machine)) => (Some(account), Some(machine)),
        None => (document.account.clone(), None),
    };
    let machine = document.machine.clone().or(appended);
    (account, machine.unwrap_or_else(|| default.to_owned()))
}

/// The price in a document, in the bank's unit; none if that is no number.
pub fn asserted_amount(document: &Document, directory: &Directory) -> Option<Amount> {
    let asserted = document.asserted()?;
    let trillionths = asserted.micro().checked_mul(1_000_000)?;
    to_amount(
        trillionths,
        directory.bank.precision,
        directory.policy.rounding,
    )
}

/// Unknown fields of a document count as usage if the site declared them; all of them are kept verbatim too.
fn declared_attributes(facts: &mut Facts, directory: &Directory) {
    for (name, value) in &facts.other {
        let known = directory.attribute(name).map(|own| &own.name);
        let Some(own) = known.filter(|_| value.len() <= ATTRIBUTE_VALUE_MAX) else {
            continue;
        };
        let taken = &mut facts.usage.attributes;
        if !taken.iter().any(|(name, _)| name == own) {
            taken.push((own.clone(), value.replace(char::is_control, " ")));
        }
    }
}

/// Millionths as billionths: exact.
fn decimal(number: Number) -> Decimal {
    Decimal::from_billionths(number.micro().saturating_mul(1000))
}
