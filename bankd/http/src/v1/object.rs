//! The scheduler's object that a reserve or a charge by hand is about.

use std::collections::{BTreeMap, BTreeSet};

use bank_core::command::{Request, Whose};
use bank_core::decimal::Decimal;
use bank_core::model::{Facts, ObjectType};
use bank_core::refusal::Refusal;
use bank_core::select;
use bank_core::usage::{Usage, add_resource};
use bankd_store::read::jobs;

use super::call::Call;
use super::view::View;
use crate::error::Failure;

/// The object in a body.
pub(super) struct Object {
    pub(super) job: String,
    pub(super) kind: Option<String>,
    pub(super) project: Option<String>,
    pub(super) user: Option<String>,
    pub(super) machine: Option<String>,
    pub(super) processors: Option<i64>,
    pub(super) nodes: Option<i64>,
    pub(super) memory_mb: Option<i64>,
    pub(super) disk_mb: Option<i64>,
    pub(super) gres: BTreeMap<String, String>,
    pub(super) attributes: BTreeMap<String, String>,
    pub(super) qos: Option<String>,
    pub(super) class: Option<String>,
    pub(super) group: Option<String>,
    pub(super) quote: Option<String>,
}

/// The fields that every body about an object has, taken out of it.
macro_rules! object_of {
    ($new:ident) => {
        $crate::v1::object::Object {
            job: std::mem::take(&mut $new.job),
            kind: $new.kind.take(),
            project: $new.project.take(),
            user: $new.user.take(),
            machine: $new.machine.take(),
            processors: $new.processors,
            nodes: $new.nodes,
            memory_mb: $new.memory_mb,
            disk_mb: $new.disk_mb,
            gres: std::mem::take(&mut $new.gres),
            attributes: std::mem::take(&mut $new.attributes),
            qos: $new.qos.take(),
            class: $new.class.take(),
            group: $new.group.take(),
            quote: $new.quote.take(),
        }
    };
}
pub(super) use object_of;

/// The generic resources of a body. Names that differ in their spelling only are added up.
pub(super) fn resources(
    given: BTreeMap<String, String>,
) -> Result<Vec<(String, Decimal)>, Refusal> {
    let bad = || Refusal::BadValue {
        field: "gres",
        expected: "a decimal number",
    };
    let mut all = Vec::new();
    for (name, text) in given {
        let number = Decimal::parse(&text).ok_or_else(bad)?;
        add_resource(&mut all, name, number).ok_or_else(bad)?;
    }
    Ok(all)
}

impl Object {
    /// The request for it, with the default machine if it names none.
    pub(super) fn request(self, call: &Call) -> Result<Request, Refusal> {
        let view = &call.view;
        let object_type = match self.kind.as_deref() {
            None => ObjectType::Job,
            Some(word) => {
                ObjectType::parse(word).ok_or(Refusal::bad_value("type", "job or reservation"))?
            }
        };
        let user = self.user;
        let machine = match self.machine {
            Some(name) => name,
            None => only_machine(view)?,
        };
        let usage = Usage {
            processors: self.processors.map(Decimal::whole),
            nodes: self.nodes.map(Decimal::whole),
            memory_mb: self.memory_mb.map(Decimal::whole),
            disk_mb: self.disk_mb.map(Decimal::whole),
            gres: resources(self.gres)?,
            qos: self.qos,
            class: self.class,
            attributes: self.attributes.into_iter().collect(),
            counted: None,
            idle: None,
        };
        Ok(Request {
            object_type,
            object_id: self.job,
            facts: Facts {
                project: self.project.clone().unwrap_or_default(),
                user: user.clone().unwrap_or_default(),
                group: self.group.unwrap_or_default(),
                usage,
                ..Facts::default()
            },
            whose: Whose {
                project: self.project,
                user,
                machine,
                for_reservation: object_type == ObjectType::Reservation,
            },
            tid: self.quote,
            ..Request::default()
        })
    }
}

/// The default machine: the only one. With several machines a name is required, because the job could be
/// another one.
pub(super) fn only_machine(view: &View) -> Result<String, Refusal> {
    let machines = view.directory().machines();
    let mut seen = machines.filter(|m| view.sees_machine(&m.name));
    match (seen.next(), seen.next()) {
        (Some(only), None) => Ok(only.name.clone()),
        (None, _) => Ok(String::new()),
        _ => Err(Refusal::MissingField { field: "machine" }),
    }
}

/// The machine of a known job that a person names without more: the only one in view with its id.
pub(super) async fn machine_of(call: &Call, job: &str) -> Result<Option<String>, Failure> {
    let id = job.to_owned();
    let uses = call
        .ask(move |connection| jobs::uses(connection, &id))
        .await?;
    let machines = uses.into_iter().map(|row| row.machine);
    let machines: BTreeSet<String> = machines.filter(|m| call.view.sees_machine(m)).collect();
    let mut all = machines.into_iter();
    Ok(all.next().filter(|_| all.next().is_none()))
}

/// Usage needs an owner. A manual charge without a project must name a recorded job, or a user with a
/// default project.
pub(super) async fn has_payer(call: &Call, request: &Request) -> Result<(), Failure> {
    let payer = select::find(call.directory(), &request.whose);
    // A caller limited to single projects is refused in any case, whether the job exists or not.
    let is_narrow = !call.auth.caller.scope.projects.is_empty();
    if request.whose.project.is_some() || payer.project.is_some() || is_narrow {
        return Ok(());
    }
    let key = request.key();
    let known = call.ask(move |connection| jobs::is_known(connection, &key));
    if known.await? {
        return Ok(());
    }
    Err(call.refused(&Refusal::not_found("job", &request.object_id)))
}

/// A person names a quote on purpose, by its TID or its number: one that there is not is a mistake.
/// One that does not hold for the job is only warned about (ledger.md 2.7).
pub(super) async fn find_quote(call: &Call, request: &mut Request) -> Result<(), Failure> {
    let Some(name) = request.tid.clone() else {
        return Ok(());
    };
    let requested = name.clone();
    let found = call.ask(move |connection| jobs::quote_named(connection, &requested));
    let Some(tid) = found.await? else {
        return Err(call.refused(&Refusal::not_found("quote", &name)));
    };
    request.tid = Some(tid);
    Ok(())
}
