//! Notes: texts that people add to their actions. The journal keeps them for ever.

use super::{Access, After, Attention, Command, Open, Period};
use crate::refusal::Refusal;

/// The longest note, in bytes.
pub const NOTE_MAX: usize = 4096;

impl Command {
    /// The note that comes with it; none where none is given or it takes none.
    pub fn note(&self) -> Option<&str> {
        let note = match self {
            Command::Deposit(one) => &one.note,
            Command::Withdraw(one) => &one.note,
            Command::Open(Open::Allocation(one)) => &one.note,
            Command::AddCycle(one) => &one.note,
            Command::SetCycle(one) => one.note.as_ref()?,
            Command::Assign(one) => &one.note,
            Command::After(After::Transfer(one)) => &one.note,
            Command::After(After::Refund(one)) => &one.note,
            Command::After(After::Adjust(one)) => &one.note,
            Command::After(After::Reverse(one)) => &one.note,
            Command::After(After::Settle(one)) => &one.note,
            Command::Attention(Attention::Ack(one)) => &one.note,
            Command::Period(Period::Close(one)) => &one.note,
            Command::ConfirmClock(_, note) | Command::Period(Period::Reopen(note)) => note,
            Command::Access(Access::Propose(one)) => return one.command.note(),
            Command::Access(Access::Approve(one)) => &one.reason,
            Command::Access(Access::Reject(one)) => &one.reason,
            _ => return None,
        };
        Some(note)
            .filter(|note| !note.is_empty())
            .map(String::as_str)
    }

    /// Whether its note is one that is kept.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for one of more than [`NOTE_MAX`] bytes.
    pub(crate) fn check_note(&self) -> Result<(), Refusal> {
        if self.note().is_none_or(|note| note.len() <= NOTE_MAX) {
            return Ok(());
        }
        let field = match self {
            Command::Access(Access::Approve(_) | Access::Reject(_)) => "reason",
            _ => "note",
        };
        Err(Refusal::BadValue {
            field,
            expected: "at most 4096 bytes",
        })
    }
}
