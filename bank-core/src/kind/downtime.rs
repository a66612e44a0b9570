//! Downtimes of hardware: periods in which its nodes are no capacity (reports.md 1.7 item 3). Job counts and
//! credits to contributors do not change.

use super::{Field, Kind, Objects, Record, Type, Value};
use crate::refusal::Refusal;

use super::hardware::NODES_MAX;

pub(super) fn kind() -> Kind {
    let ops = ["downtime_add", "downtime_set", "downtime_rm"];
    let about = "Downtimes, in which nodes do not count as capacity";
    let kind = Kind {
        deleted_after: 5,
        within: Some("hardware"),
        help: [
            "Add a downtime".into(),
            "Change a downtime, such as its end; reports of the past change too".into(),
            "Remove a downtime, from past reports too".into(),
            "no known downtimes".into(),
        ],
        check,
        ..Kind::new("downtime", "downtimes", ops, about)
    };
    let whole = Type::Whole(1, NODES_MAX);
    kind.with(
        Field::new(
            "hardware",
            Type::Reference("hardware".into()),
            "Number of the hardware",
        )
        .required()
        .positional()
        .owner(),
    )
    .with(Field::new("nodes", whole, "Number of nodes that are down").absent("all"))
    .with(Field::from("Start of the downtime, inclusive").required())
    .with(Field::until("End of the downtime, exclusive").absent("unknown"))
    .with(Field::new("reason", Type::Text(256), "Reason for the downtime").required())
}

/// No more nodes are down than the hardware has.
fn check(own: &Record, objects: &dyn Objects) -> Result<(), Refusal> {
    let hardware = super::Key::Number(own.whole("hardware").unwrap_or(0));
    let hardware = objects.records().get("hardware", &hardware);
    let most = hardware.and_then(|hardware| hardware.whole("nodes"));
    match (own.value("nodes"), most) {
        (Value::Whole(nodes), Some(most)) if *nodes > most => Err(Refusal::bad_field(
            "nodes",
            format!("at most the {most} nodes of the hardware"),
        )),
        _ => Ok(()),
    }
}
