//! Answers that are kept for repeats: whether there is one, and keeping it.

use super::Thread;
use crate::writer::Submission;
use bank_core::ledger::Decision;
use bank_core::time::Timestamp;
use bankd_store::answer::Answer;
use bankd_store::{self as store, Known, StoredAnswer};

impl Thread {
    /// The stored state of a submission's key, and of that of the whole request.
    pub(super) fn known(&mut self, s: &Submission) -> Result<Known, store::Error> {
        let (client, Some(key)) = (&s.caller.client, &s.key) else {
            return Ok(Known::New);
        };
        if let Some(whole) = &key.whole
            && let Known::Reused = self.store.known(client, whole, &key.fingerprint, "")?
        {
            return Ok(Known::Reused);
        }
        self.store
            .known(client, &key.key, &key.fingerprint, &key.nonce)
    }

    /// Keeps the answer for repeats, unless it is computed again each time.
    pub(super) fn keep_answer(
        &mut self,
        s: &Submission,
        decision: &Decision,
        answer: &Answer,
        now: Timestamp,
    ) -> Result<(), store::Error> {
        let Some(key) = s.key.as_ref().filter(|_| !s.dry_run) else {
            return Ok(());
        };
        if let Err(refusal) = decision
            && (refusal.is_of_access() || refusal.is_passing() || key.is_content)
        {
            return Ok(());
        }
        let stored = StoredAnswer {
            answer: answer.clone(),
            fingerprint: key.fingerprint.to_vec(),
            nonce: key.nonce.clone(),
        };
        let (client, for_ever) = (&s.caller.client, s.command.is_charge());
        self.store
            .keep_answer(client, &key.key, &stored, for_ever, now)?;
        match &key.whole {
            Some(whole) => self.store.keep_whole(client, whole, &stored, for_ever, now),
            None => Ok(()),
        }
    }
}
