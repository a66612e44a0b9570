//! What the scripts of the model test must bring together, beside that every command is there.

use bank_core::command::{After, Command};
use bank_core::effects::{EntryKind, Transaction};
use std::collections::BTreeSet;

/// What must come together in some script.
pub(super) const MEETINGS: [&str; 8] = [
    "a debt that ended",
    "a refund of a debt that ended",
    "a refund after the end of a window",
    "a reissued refund",
    "an amended use",
    "an amended use of somebody else",
    "a charge under a changed rate",
    "an undo of an undo",
];

/// Which of them came together so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Meetings {
    pub(super) met: BTreeSet<&'static str>,
    is_repriced: bool,
}

impl Meetings {
    /// Notes which of the [`MEETINGS`] a command is.
    pub(super) fn meet(&mut self, command: &Command, answer: &str, new: &[Transaction]) {
        let ended = |tx: &Transaction| {
            let mut entries = tx.entries.iter();
            tx.op == "boundary"
                && entries.any(|e| e.kind == EntryKind::Expire && e.delta.active > 0)
        };
        let is_refund = matches!(command, Command::After(After::Refund(_)));
        let reissues = match command {
            Command::After(After::Refund(refund)) => refund.reissue_until.is_some(),
            _ => false,
        };
        let is_amended = answer.starts_with("adjusted");
        let is_moved = is_amended
            && new.iter().any(|tx| {
                let names: BTreeSet<_> = tx.entries.iter().map(|e| (&e.project, &e.user)).collect();
                names.len() > 1
            });
        let is_charge = matches!(command, Command::Charge(_)) && !answer.starts_with("refused");
        self.is_repriced |= command.op() == "rate_set" && !answer.starts_with("refused");
        for (one, is_met) in [
            ("a debt that ended", new.iter().any(ended)),
            (
                "a refund of a debt that ended",
                answer.contains("ended debt"),
            ),
            (
                "a refund after the end of a window",
                is_refund && answer.contains("expired"),
            ),
            (
                "a reissued refund",
                reissues && answer.starts_with("refunded"),
            ),
            ("an amended use", is_amended),
            ("an amended use of somebody else", is_moved),
            (
                "a charge under a changed rate",
                is_charge && self.is_repriced,
            ),
            ("an undo of an undo", answer == "undid undo"),
        ] {
            if is_met {
                self.met.insert(one);
            }
        }
    }
}
