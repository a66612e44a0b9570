//! Warnings about rates of Slurm's resources that charge one thing twice, or nothing.

use bank_api::v1::Rate;

/// Slurm's name of its GPUs of all types, which jobs have as [`GPUS`].
const UNTYPED: &str = "gres/gpu";
/// GPUs of all types.
const GPUS: &str = "gpu";
/// Before the type of GPUs.
const TYPED: &str = "gres/gpu:";
/// The sum that Slurm makes of resources.
const BILLING: &str = "billing";
/// Resources that [`BILLING`] may consist of.
const PARTS: [&str; 4] = ["Processors", "Nodes", "Memory", GPUS];

/// The warning about a rate among the rates in force, if there is a reason for one.
pub(super) fn warning(rate: &Rate, rates: &[Rate]) -> Option<String> {
    if rate.name == UNTYPED {
        return Some(format!(
            "no job has the resource {UNTYPED}: the GPUs of all types are {GPUS}; bank rate rm {}, and bank rate set {} \
             {GPUS} {}",
            rate.id, rate.kind, rate.rate
        ));
    }
    let other = rates
        .iter()
        .find(|other| meet(rate, other) && is_same(&rate.name, &other.name))?;
    Some(format!(
        "rates add up: a job with {} and {} pays for both, and these are the same resources; bank rate rm {} or {}",
        rate.name, other.name, rate.id, other.id
    ))
}

/// Whether a job can be charged by both.
fn meet(one: &Rate, other: &Rate) -> bool {
    let same_machine =
        one.machine.is_none() || other.machine.is_none() || one.machine == other.machine;
    one.id != other.id && one.kind == other.kind && same_machine
}

/// Whether one resource contains the other.
fn is_same(one: &str, other: &str) -> bool {
    let contains = |whole: &str, part: &str| {
        let is_typed = part.starts_with(TYPED);
        (whole == GPUS && is_typed) || (whole == BILLING && (is_typed || PARTS.contains(&part)))
    };
    contains(one, other) || contains(other, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(id: i64, name: &str, machine: Option<&str>) -> Rate {
        Rate {
            id,
            kind: "VBR".to_owned(),
            name: name.to_owned(),
            rate: "1".to_owned(),
            machine: machine.map(str::to_owned),
            ..Rate::default()
        }
    }

    #[test]
    fn rates_of_the_same_resources() {
        for (one, other, warns) in [
            ("gpu", "gres/gpu:a100", true),
            ("gres/gpu:a100", "gpu", true),
            ("gres/gpu:a100", "gres/gpu:h100", false),
            ("billing", "gres/gpu:a100", true),
            ("Processors", "billing", true),
            ("Processors", "gpu", false),
            ("gres/gpu", "Processors", true),
            ("license/x", "billing", false),
        ] {
            let (first, second) = (rate(2, one, None), rate(1, other, Some("colony")));
            let found = warning(&first, &[first.clone(), second]);
            assert_eq!(found.is_some(), warns, "{one} {other}: {found:?}");
        }
        let (first, second) = (rate(2, "gpu", Some("a")), rate(1, "gres/gpu:x", Some("b")));
        assert_eq!(warning(&first, &[second]), None);
    }
}
