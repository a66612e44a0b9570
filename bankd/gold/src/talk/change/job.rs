//! Jobs: Create makes one that holds nothing, Modify keeps what is reported of one.

use bank_core::command::{Command, Create, Request};
use bankd_nami::{self as nami, ObjectKind};

use super::super::options::not_read;
use super::{Asked, Change, Fault, Identity, missing};

/// Gold's names of fields that the documents of a scheduler name otherwise.
const FIELDS: [(&str, &str); 3] = [
    ("User", "UserId"),
    ("Project", "ProjectId"),
    ("Machine", "MachineName"),
];

/// A new job.
pub(super) fn create(asked: &Asked<'_>) -> Result<Change, Fault> {
    let request = request(asked, Vec::new())?;
    Ok(Change {
        command: Command::Create(Create {
            request,
            ..Create::default()
        }),
        key: Vec::new(),
        also: String::new(),
    })
}

/// A change of what is kept of a job.
pub(super) fn modify<'a>(asked: &'a Asked<'_>, key: &'a Identity) -> Result<Command, Fault> {
    if key.get("Closed") != "0" {
        let message = "The job is closed: what is reported of it cannot change";
        return Err(Fault::new("not_settable", message));
    }
    let own = ["JobId", "Type"].map(|name| (name, key.get(name)));
    let machine = ("MachineName", key.get("Machine"));
    let fixed = own.into_iter().chain([machine]);
    let request = request(
        asked,
        fixed.filter(|(_, value)| !value.is_empty()).collect(),
    )?;
    Ok(Command::Modify(request))
}

/// The fields of the message as those of a document.
fn request<'a>(
    asked: &'a Asked<'_>,
    mut fields: Vec<(&'a str, &'a str)>,
) -> Result<Request, Fault> {
    for (name, value) in &asked.call.fields {
        if ["Id", "Charge", "Stage"].contains(&name.as_str()) {
            let message = format!("Set {name}: the ledger computes it");
            return Err(Fault::new("not_settable", message));
        }
        let known = FIELDS.iter().find(|(gold, _)| gold == name);
        let name = known.map_or(name.as_str(), |(_, own)| own);
        if fields.iter().any(|(own, _)| *own == name) {
            let gold = super::plain(known.map_or(name, |(gold, _)| *gold));
            let message = format!("Set {gold}: it cannot change, or is set twice");
            return Err(Fault::new("not_settable", message));
        }
        fields.push((name, value));
    }
    let is_reservation = fields
        .iter()
        .any(|(name, value)| *name == "Type" && value.eq_ignore_ascii_case("reservation"));
    let kind = if is_reservation {
        ObjectKind::Reservation
    } else {
        ObjectKind::Job
    };
    let document = nami::of_fields(kind, fields).map_err(|error| not_read(&error))?;
    if document.object_id.is_none() {
        return Err(missing("JobId"));
    }
    let machine = asked.request.peer.scope.only_machine().unwrap_or_default();
    Ok(nami::request(document, asked.directory, machine))
}
