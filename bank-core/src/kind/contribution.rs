//! Contributions: processors that a contributor put into a cluster (reports.md 1.7).

use super::hardware::{FACTOR_MAX, FACTOR_ONE};
use super::{Field, Kind, Readers, Type, Value};

/// Most processors of a contribution.
const PROCESSORS_MAX: i64 = 10_000_000;
/// 100 percent, in hundredths of a percent.
const WHOLE: i64 = 10_000;

pub(super) fn kind() -> Kind {
    let ops = ["contribution_add", "contribution_set", "contribution_rm"];
    let kind = Kind {
        deleted_after: 9,
        readers: Readers::Auditors,
        listed: vec![
            "contributor",
            "processors",
            "split",
            "factor",
            "from",
            "until",
            "paid_by",
            "what",
            "description",
        ],
        help: [
            "Credit a contributor with processors".into(),
            "Change a contribution; reports of the past change too".into(),
            "Remove a contribution, from past reports too; `set --until` ends it".into(),
            "no contributions".into(),
        ],
        ..Kind::new(
            "contribution",
            "contributions",
            ops,
            "Hardware contributions",
        )
    };
    shares(who(kind))
}

/// The contributor, the payer, and the hardware.
fn who(kind: Kind) -> Kind {
    let text = Type::Text(256);
    let contributor = Type::Reference("contributor".into());
    let processors = Type::Whole(0, PROCESSORS_MAX);
    kind.with(
        Field::new(
            "contributor",
            contributor,
            "Contributor that receives the credit",
        )
        .required()
        .positional(),
    )
    .with(Field::new(
        "paid_by",
        text.clone(),
        "Person or group that paid",
    ))
    .with(Field::new(
        "what",
        text,
        "Hardware, such as a host or a processor type",
    ))
    .with(
        Field::new("processors", processors, "Number of processors")
            .required()
            .positional(),
    )
}

/// Shares, and the time of use.
fn shares(kind: Kind) -> Kind {
    let split = Type::Decimal(2, 0, WHOLE);
    let factor = Type::Decimal(9, 1, FACTOR_MAX);
    kind.with(
        Field::new("split", split, "Percent of processors credited")
            .label("Split %")
            .default(Value::Whole(WHOLE)),
    )
    .with(Field::new("factor", factor, "Weight of a processor").default(Value::Whole(FACTOR_ONE)))
    .with(Field::from("Start of use, inclusive"))
    .with(Field::until("End of use, exclusive"))
    .with(Field::description())
}
