//! Hardware and contributions of the bank's records, as reports count them.

use crate::contribution::Installed;
use crate::contribution::hardware::{Down, Kind as Nodes};
use bank_core::host::Pattern;
use bank_core::kind::{Record, Records, of};
use std::collections::BTreeMap;

/// All hardware with its downtimes, as reports count it, in its order.
pub fn nodes(records: &Records) -> Vec<Nodes> {
    let mut down: BTreeMap<i64, Vec<Down>> = BTreeMap::new();
    for own in records.all("downtime") {
        let hardware = own.whole("hardware").unwrap_or(0);
        down.entry(hardware).or_default().push(Down {
            nodes: own.whole("nodes").and_then(|nodes| nodes.try_into().ok()),
            valid: own.window(),
        });
    }
    let Some(kind) = of("hardware") else {
        return Vec::new();
    };
    let nodes = |own: &Record| Nodes {
        hosts: own
            .list("hosts")
            .iter()
            .filter_map(|host| Pattern::parse(host))
            .collect(),
        machine: own.text("machine").to_owned(),
        factor: count(own, "factor"),
        processors: count(own, "processors"),
        nodes: count(own, "nodes"),
        counts: own.flag("counts"),
        valid: own.window(),
        down: down.remove(&own.number()).unwrap_or_default(),
    };
    records.listed(kind).into_iter().map(nodes).collect()
}

/// All contributions as reports count them, each with the name of its contributor.
pub fn installed(records: &Records) -> impl Iterator<Item = (&str, Installed)> {
    records.all("contribution").map(|own| {
        let installed = Installed {
            processors: count(own, "processors"),
            split: own
                .whole("split")
                .and_then(|split| split.try_into().ok())
                .unwrap_or(0),
            factor: count(own, "factor"),
            valid: own.window(),
        };
        (own.text("contributor"), installed)
    })
}

fn count(own: &Record, field: &str) -> u64 {
    own.whole(field)
        .and_then(|value| value.try_into().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bank_core::kind::{Key, Value};

    fn put(records: &mut Records, kind: &str, number: i64, fields: &[(&str, i64)]) {
        let mut own = Record::new(kind, Key::Number(number));
        for (field, value) in fields {
            own.set(field, Value::Whole(*value));
        }
        records.put(own);
    }

    #[test]
    fn hardware_has_its_downtimes_in_the_order_of_its_list() {
        let mut records = Records::default();
        let hardware = |priority| [("priority", priority), ("processors", 8), ("nodes", 4)];
        put(&mut records, "hardware", 1, &hardware(200));
        put(&mut records, "hardware", 2, &hardware(100));
        put(
            &mut records,
            "downtime",
            1,
            &[("hardware", 1), ("nodes", 2)],
        );
        put(&mut records, "downtime", 2, &[("hardware", 1)]);
        put(&mut records, "downtime", 3, &[("hardware", 3)]);
        let all = nodes(&records);
        let down: Vec<Vec<Option<u64>>> = all
            .iter()
            .map(|own| own.down.iter().map(|down| down.nodes).collect())
            .collect();
        assert_eq!(down, [vec![], vec![Some(2), None]]);
        assert_eq!((all[1].processors, all[1].nodes), (8, 4));
    }
}
