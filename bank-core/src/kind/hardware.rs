//! Hardware: nodes of one type with their hosts, capacity and conversion factor (reports.md 1.1, 1.7).

use super::{Field, Kind, Objects, Record, Type, Value};
use crate::host::Pattern;
use crate::ids::NAME_BYTES_MAX;
use crate::refusal::Refusal;

/// Most nodes, and most processors of a node.
pub(super) const NODES_MAX: i64 = 1_000_000;
/// The highest factor: 1000, in billionths.
pub(super) const FACTOR_MAX: i64 = 1_000_000_000_000;
/// A factor of 1, in billionths.
pub(super) const FACTOR_ONE: i64 = 1_000_000_000;
/// Most host patterns.
const HOSTS_MAX: usize = 64;

pub(super) fn kind() -> Kind {
    let ops = ["hardware_add", "hardware_set", "hardware_rm"];
    let about = "Hardware inventory: hosts, capacity, conversion factors";
    let kind = Kind {
        deleted_after: 11,
        ordered_by: Some("priority"),
        help: [
            "Add hardware: nodes of one kind".into(),
            "Change hardware; reports of the past change too".into(),
            "Remove hardware, from past reports too; `set --until` retires it".into(),
            "no hardware; the factor of every host is 1".into(),
        ],
        check,
        ..Kind::new("hardware", "hardware", ops, about)
    };
    capacity(nodes(kind))
}

/// The nodes, and their place in the list.
fn nodes(kind: Kind) -> Kind {
    let machine = Type::Reference("machine".into());
    kind.with(Field::priority())
        .with(
            Field::new("name", Type::Text(256), "Name of the processor type")
                .required()
                .positional(),
        )
        .with(
            Field::new("machine", machine, "Machine of the nodes")
                .absent("any")
                .letter('m'),
        )
        .with(
            Field::new("hosts", Type::Texts(HOSTS_MAX, NAME_BYTES_MAX), HOSTS)
                .absent("all hosts")
                .option("host"),
        )
}

/// Their processors, and the time in which they are in use.
fn capacity(kind: Kind) -> Kind {
    let size = Type::Whole(1, NODES_MAX);
    let factor = Type::Decimal(9, 1, FACTOR_MAX);
    kind.with(
        Field::new("factor", factor, "Weight of a processor-hour")
            .default(Value::Whole(FACTOR_ONE)),
    )
    .with(Field::new("processors", size.clone(), "Processors per node").required())
    .with(Field::new("nodes", size, "Number of nodes").required())
    .with(Field::new("counts", Type::Flag, "Count as capacity").default(Value::Flag(true)))
    .with(Field::from("Start of use, inclusive"))
    .with(Field::until("End of use, exclusive"))
    .with(Field::description())
}

const HOSTS: &str = "Hosts: * any text, ? one letter, [0-9] one of these";

/// The name is one, and each host is a pattern.
fn check(own: &Record, _: &dyn Objects) -> Result<(), Refusal> {
    crate::ids::check_name(own.text("name"))?;
    if own
        .list("hosts")
        .iter()
        .all(|host| Pattern::parse(host).is_some())
    {
        return Ok(());
    }
    Err(Refusal::bad_field(
        "hosts",
        "patterns of at most 128 bytes such as node[0-9]*, ? for one letter",
    ))
}
