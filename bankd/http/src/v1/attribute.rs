//! Declared usage attributes. What they are called is no secret; declaring is for administrators.

use axum::response::IntoResponse;
use bank_api::v1::{self, List, NewAttribute};
use bank_core::attribute::{Attribute, AttributeKind};
use bank_core::command::Command;
use bank_core::effects::Outcome;
use bank_core::refusal::Refusal;
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;

use super::call::{Call, Handled, new_state, ok, removed, rendered};
use super::json;
use super::pages::Turn;
use super::path::Path;

/// `GET /api/v1/attributes`: by name.
pub(super) async fn list(call: Call) -> Handled {
    let turn = Turn::read(&call)?;
    let declared = call.directory().attributes.iter().filter(|a| !a.deleted);
    let mut declared: Vec<&Attribute> = declared.collect();
    declared.sort_by(|a, b| a.name.cmp(&b.name));
    let page = turn.by(declared, |row| row.name.clone());
    let (declared, next) = page.map_err(|refusal| call.refused(&refusal))?;
    ok(&List {
        items: declared.into_iter().map(shaped).collect(),
        next,
    })
}

/// `POST /api/v1/attributes`
pub(super) async fn add(call: Call) -> Handled {
    let new: NewAttribute = call.json()?;
    let expected = "text or number";
    let kind = new.kind.as_deref().unwrap_or("text");
    let kind = AttributeKind::parse(kind).ok_or_else(|| {
        call.refused(&Refusal::BadValue {
            field: "type",
            expected,
        })
    })?;
    let command = Command::AddAttribute(Attribute {
        name: new.name,
        kind,
        description: new.description.unwrap_or_default(),
        deleted: false,
    });
    Ok(call.write(command, render).await?.into_response())
}

/// `DELETE /api/v1/attributes/{name}`
pub(super) async fn remove(Path(name): Path<String>, call: Call) -> Handled {
    let command = Command::RemoveAttribute(name);
    Ok(call.write(command, removed).await?.into_response())
}

fn shaped(attribute: &Attribute) -> v1::Attribute {
    v1::Attribute {
        name: attribute.name.clone(),
        kind: attribute.kind.word().to_owned(),
        description: json::some(&attribute.description),
    }
}

fn render(decided: &Decided<'_>) -> Answer {
    rendered(decided, 201, |outcome| match outcome {
        Outcome::Attribute(attribute) => Some(new_state(shaped(attribute), decided)),
        _ => None,
    })
}
