//! A document as what the ledger is asked about: nothing is decided here, what the document does not
//! say stays unsaid, and what the ledger has no place for is kept verbatim with the instance.

use bank_core::command::{Request, Whose};
use bank_core::decimal::Decimal;
use bank_core::model::{Facts, ObjectType};
use bank_core::time::{Seconds, Timestamp};
use bank_core::usage::{ATTRIBUTE_VALUE_MAX, Usage};

use super::{Document, Number, ObjectKind};

/// What a document asks of the ledger; `machine` is the one where it names none, `declared` are the
/// usage attributes that the site declared.
pub fn request(document: Document, machine: &str, declared: &[String]) -> Request {
    let at = |seconds: Option<i64>| seconds.map(Timestamp::from_seconds);
    let mut other = Vec::new();
    let mut keep = |name: &str, value: Option<String>| {
        other.extend(value.map(|value| (name.to_owned(), value)));
    };
    keep("Requestor", document.requestor);
    keep("Amount", document.asserted_amount);
    other.extend(document.variables);
    other.extend(document.unknown);
    let mut facts = Facts {
        project: document.account.clone().unwrap_or_default(),
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
        },
        wall: document.wall_duration_s.map(Seconds),
        start: at(document.start_time_s),
        end: at(document.end_time_s),
        submit: at(document.submit_time_s),
        state: document.state.unwrap_or_default(),
        exit_code: document.completion_code,
        other,
    };
    declared_attributes(&mut facts, declared);
    Request {
        object_type: match document.kind {
            ObjectKind::Job => ObjectType::Job,
            ObjectKind::Reservation => ObjectType::Reservation,
        },
        object_id: document.object_id.unwrap_or_default(),
        whose: Whose {
            project: document.account,
            user: document.user,
            machine: document.machine.unwrap_or_else(|| machine.to_owned()),
        },
        facts,
        tid: document.tid,
        event_time: None,
    }
}

/// What a document says beyond the known fields counts as usage where the site declared it; all of
/// it is kept verbatim too.
fn declared_attributes(facts: &mut Facts, declared: &[String]) {
    for (name, value) in &facts.other {
        let known = declared.iter().find(|own| own.eq_ignore_ascii_case(name));
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
