//! Usage attributes that a site declares (ledger.md 6).

use super::{Field, KeyType, Kind, Objects, Record, Screen, Value, choice};
use crate::attribute::{Attribute, AttributeKind, check_name};
use crate::refusal::Refusal;
use crate::usage::ATTRIBUTES_MAX;

pub(super) fn kind() -> Kind {
    let ops = ["attr_add", "attr_set", "attr_rm"];
    let kind = Kind {
        key: KeyType::AnyCase,
        key_rule: check_name,
        most: ATTRIBUTES_MAX,
        deleted_after: 2,
        command: Some("attr"),
        help: [
            "Declare a usage attribute".into(),
            "Change the description of an attribute".into(),
            "Remove a declaration; usage keeps its values".into(),
            "no attributes are declared".into(),
        ],
        removable,
        ..Kind::new(
            "attribute",
            "attributes",
            ops,
            "Usage attributes of this site",
        )
    };
    let types = choice([AttributeKind::Text, AttributeKind::Number].map(AttributeKind::word));
    kind.with(
        Field::new("type", types, "Type of its values")
            .column("kind")
            .default(Value::Text(AttributeKind::Text.word().to_owned()))
            .fixed(),
    )
    .with(Field {
        screen: Screen::Always,
        ..Field::description()
    })
}

/// An attribute that a rate uses stays.
fn removable(own: &Record, objects: &dyn Objects) -> Result<(), Refusal> {
    match objects.rate_of(own.name()) {
        Some(rate) => Err(Refusal::in_use(own.name(), format!("rate {rate}"))),
        None => Ok(()),
    }
}

impl Attribute {
    /// The attribute of a record.
    pub fn of(record: &Record) -> Attribute {
        Attribute {
            name: record.name().to_owned(),
            kind: AttributeKind::parse(record.text("type")).unwrap_or_default(),
            description: record.text("description").to_owned(),
            deleted: record.deleted,
        }
    }
}
