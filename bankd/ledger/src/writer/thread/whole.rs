//! Commands that are written together or not at all. The caller undoes the transaction if one is refused.

use super::Thread;
use crate::writer::turn::Waiting;
use crate::writer::{Reply, SubmitError};
use bank_core::time::Timestamp;
use bankd_store as store;
use std::collections::BTreeSet;

/// What happened to the commands.
pub(super) struct Decided {
    /// The replies up to the first refused command.
    pub(super) replies: Vec<Reply>,
    /// Whether the last of them is a refusal, so that nothing is to be written.
    pub(super) is_undone: bool,
}

impl Thread {
    /// Decides the commands in their order, up to the first that is refused.
    pub(super) fn whole(
        &mut self,
        waiting: &[Waiting],
        now: Timestamp,
    ) -> Result<Decided, store::Error> {
        let mut replies = Vec::with_capacity(waiting.len());
        let mut is_undone = false;
        for (submission, _) in waiting {
            let reply = self.submission(submission, now)?;
            is_undone = reply.is_refusal();
            replies.push(reply);
            if is_undone {
                break;
            }
        }
        Ok(Decided { replies, is_undone })
    }

    /// Answers the commands. Where one was refused, it gets its refusal, and those that were done before get their
    /// stored answers.
    pub(super) fn answer_whole(&self, waiting: Vec<Waiting>, decided: Decided, commit_us: u64) {
        let Decided { replies, is_undone } = decided;
        let (size, refused) = (waiting.len(), replies.len().saturating_sub(1));
        let mut replies = replies.into_iter();
        let mut keys = BTreeSet::new();
        for (place, (submission, back)) in waiting.into_iter().enumerate() {
            // The answer to a key that came twice was stored by this request, and is undone with it.
            let is_first = submission
                .key
                .as_ref()
                .is_none_or(|key| keys.insert(key.key.clone()));
            let is_own = |reply: &Reply| {
                let is_done_before = is_first && matches!(reply, Reply::Stored(_));
                !is_undone || place == refused || is_done_before
            };
            match replies.next().filter(is_own) {
                Some(reply) => self.reply((submission, back), reply, (size, 0, commit_us)),
                None => {
                    let _ = back.send(Err(SubmitError::Undone));
                }
            }
        }
    }
}
