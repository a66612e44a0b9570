//! Slurm's job values that the ledger does not need, for reports and exports.

use std::borrow::Cow;

use bank_core::usage::kept;

use super::tres;
use crate::number::Number;

/// It goes with the job. Missing texts are empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Stated<'t> {
    /// The number of the user.
    pub(super) uid: Cow<'t, str>,
    /// The number of the group.
    pub(super) gid: Cow<'t, str>,
    /// The reservation that it ran in.
    pub(super) reservation: Cow<'t, str>,
    /// Processor time in user mode and in system mode.
    pub(super) cpu: [Option<Number>; 2],
    /// Processors that were asked for.
    pub(super) requested: Option<i64>,
    /// Bytes of memory that were asked for on each node.
    pub(super) memory_per_node: Option<i128>,
}

impl Stated<'_> {
    /// Processor time of both modes; none where the record has zeros or nothing.
    pub(super) fn processor_time(&self) -> Option<Number> {
        let mut parts = self.cpu.iter().flatten();
        let sum = parts.try_fold(Number::ZERO, |sum, part| sum.plus(*part))?;
        sum.is_above_zero().then_some(sum)
    }

    /// By the names of [`kept`]; missing or empty values are left out.
    pub(super) fn pairs(&self) -> Vec<(&'static str, String)> {
        let mut pairs = Vec::new();
        let mut add = |name, value: Option<String>| pairs.extend(value.map(|value| (name, value)));
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        let number = |text: &str| (!text.is_empty() && digits(text)).then(|| text.to_owned());
        add(kept::UID, number(&self.uid));
        add(kept::GID, number(&self.gid));
        let is_named = !matches!(&*self.reservation, "" | "0" | "(null)" | "None");
        add(
            kept::RESERVATION,
            is_named.then(|| self.reservation.clone().into_owned()),
        );
        // The line of a job has zeros where its steps have the time.
        if self.cpu.iter().flatten().any(|cpu| cpu.is_above_zero()) {
            let [user, system] = self.cpu;
            add(kept::CPU_USER, user.map(|cpu| cpu.to_string()));
            add(kept::CPU_SYSTEM, system.map(|cpu| cpu.to_string()));
        }
        let requested = self.requested.filter(|requested| *requested > 0);
        add(
            kept::REQUESTED_PROCESSORS,
            requested.map(|requested| requested.to_string()),
        );
        let memory = self.memory_per_node.filter(|bytes| *bytes > 0);
        add(
            kept::REQUESTED_MEMORY,
            memory.map(|bytes| bytes.to_string()),
        );
        pairs
    }
}

/// Bytes on each node that a `ReqMem` asks for, where that is a whole number.
pub(super) fn memory_per_node(reqmem: &str, cpus: Option<i64>, nodes: Option<i64>) -> Option<i128> {
    let bytes = tres::requested_memory(reqmem, cpus, nodes)?.as_whole()?;
    let nodes = i128::from(nodes.unwrap_or(1));
    let is_whole = bytes.checked_rem(nodes)? == 0;
    bytes.checked_div(nodes).filter(|_| is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_reported_per_node_where_it_is_a_whole_number() {
        for (reqmem, bytes) in [
            ("4000Mn", Some(4000 << 20)),
            ("4Gc", Some(16 << 30)),
            ("1K", Some(512)),
            ("1.5K", Some(768)),
            ("", None),
        ] {
            assert_eq!(memory_per_node(reqmem, Some(8), Some(2)), bytes, "{reqmem}");
        }
        assert_eq!(memory_per_node("1K", None, Some(3)), None);
        assert_eq!(memory_per_node("1K", None, None), Some(1024));
        assert_eq!(memory_per_node("1K", None, Some(0)), None);
    }

    /// Zeros if only the steps have the time; a text that is not a number is left out.
    #[test]
    fn missing_values_are_left_out() {
        let zero = Some(Number::ZERO);
        let stated = Stated {
            uid: "amy".into(),
            gid: "200".into(),
            reservation: "(null)".into(),
            cpu: [zero, zero],
            requested: Some(0),
            memory_per_node: Some(0),
        };
        assert_eq!(stated.pairs(), [(kept::GID, "200".to_owned())]);
        let stated = Stated {
            cpu: [zero, Some(Number::scaled(15, 1))],
            ..Stated::default()
        };
        let parts = [(kept::CPU_USER, "0"), (kept::CPU_SYSTEM, "1.5")];
        assert_eq!(
            stated.pairs(),
            parts.map(|(name, value)| (name, value.to_owned()))
        );
    }
}
