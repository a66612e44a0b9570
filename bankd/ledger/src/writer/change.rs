//! Changes beside the ledger: the quarantine is emptied, how a collector is read is kept, waypoints and
//! blocks of rollups are written down, and what became of notices.

use super::{SubmitError, Task, Writer};
use bankd_store::partner::PartnerChange;
use bankd_store::rollup::BlockSums;
use bankd_store::web_session::SessionChange;
use bankd_store::{NoticeChange, Numbered, ScheduleChange, SourceChange, Waypoint};
use tokio::sync::oneshot;

/// The change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// These go out of the quarantine.
    Discard(Vec<i64>),
    /// All of a collector go out of the quarantine.
    DiscardOf(String),
    /// The settings for reading the files of a collector, as JSON.
    Reading { source: String, options: String },
    /// The expected reports of a collector.
    Source(SourceChange),
    /// When keys and tokens were used last, in seconds.
    Uses(Vec<(String, i64)>),
    /// The nonce of a signed request is kept: client and signing key; nonce, and when it was signed, in seconds.
    Spend((String, String), (String, i64)),
    /// Sessions on the web pages.
    Session(SessionChange),
    /// A place in the journal is marked.
    Mark(Box<Waypoint>),
    /// A block of rollups.
    Block(BlockSums),
    /// The outbox.
    Notice(NoticeChange),
    /// Names get numbers that have none.
    Number(Vec<Numbered>),
    /// Reports that the daemon makes.
    Schedule(ScheduleChange),
    /// Messages to partners.
    Partner(PartnerChange),
}

impl Writer {
    /// Removes some rows of the quarantine; returns their number.
    ///
    /// # Errors
    /// If the store fails, or the queue is full.
    pub async fn discard(&self, ids: Vec<i64>) -> Result<u64, SubmitError> {
        self.change(Change::Discard(ids)).await
    }

    /// Removes all rows of a collector from the quarantine; returns their number.
    ///
    /// # Errors
    /// If the store fails, or the queue is full.
    pub async fn discard_of(&self, source: String) -> Result<u64, SubmitError> {
        self.change(Change::DiscardOf(source)).await
    }

    /// Changes what is expected of a collector; false if there is none of that name.
    ///
    /// # Errors
    /// If the store fails, or the queue is full.
    pub async fn change_source(&self, change: SourceChange) -> Result<bool, SubmitError> {
        Ok(self.change(Change::Source(change)).await? > 0)
    }

    /// Changes the outbox; returns the number of affected notices.
    ///
    /// # Errors
    /// If the store fails, or the queue is full.
    pub async fn change_notice(&self, change: NoticeChange) -> Result<u64, SubmitError> {
        self.change(Change::Notice(change)).await
    }

    /// The same from a thread: it waits for room in the queue.
    ///
    /// # Errors
    /// If the store fails, or the daemon is going down.
    pub fn settle_notice(&self, change: NoticeChange) -> Result<u64, SubmitError> {
        let (reply, answer) = oneshot::channel();
        self.wait_for_room(Task::Change(Change::Notice(change), reply))?;
        answer.blocking_recv().unwrap_or(Err(SubmitError::Failed))
    }

    /// Keeps when keys and tokens were used last, in seconds of the authentication clock.
    ///
    /// # Errors
    /// If the store fails, or the queue is full.
    pub async fn keep_uses(&self, uses: Vec<(String, i64)>) -> Result<(), SubmitError> {
        self.change(Change::Uses(uses)).await.map(drop)
    }

    /// Keeps the nonce of a signed request over a restart: client and signing key; nonce, and when it was signed, in
    /// seconds.
    ///
    /// # Errors
    /// If the store fails, or the queue is full.
    pub async fn spend(
        &self,
        who: (String, String),
        nonce: (String, i64),
    ) -> Result<(), SubmitError> {
        self.change(Change::Spend(who, nonce)).await.map(drop)
    }

    /// Changes the sessions on the web pages; returns the number of affected rows.
    ///
    /// # Errors
    /// If the store fails, or the queue is full.
    pub async fn change_session(&self, change: SessionChange) -> Result<u64, SubmitError> {
        self.change(Change::Session(change)).await
    }

    /// Gives numbers to names that have none, for the Standard Workload Format.
    ///
    /// # Errors
    /// If the store fails, or the queue is full.
    pub async fn number_names(&self, names: Vec<Numbered>) -> Result<(), SubmitError> {
        self.change(Change::Number(names)).await.map(drop)
    }

    /// Changes the state of scheduled reports; returns the number of affected rows.
    ///
    /// # Errors
    /// If the store fails, or the queue is full.
    pub async fn change_schedule(&self, change: ScheduleChange) -> Result<u64, SubmitError> {
        self.change(Change::Schedule(change)).await
    }

    /// The same from a thread: it waits for room in the queue.
    ///
    /// # Errors
    /// If the store fails, or the daemon is going down.
    pub fn keep_schedule(&self, change: ScheduleChange) -> Result<u64, SubmitError> {
        self.change_and_wait(Change::Schedule(change))
    }

    /// Changes the state of messages to partners; returns the number of affected rows.
    ///
    /// # Errors
    /// If the store fails, or the queue is full.
    pub async fn change_partner(&self, change: PartnerChange) -> Result<u64, SubmitError> {
        self.change(Change::Partner(change)).await
    }

    /// The same from a thread: it waits for room in the queue.
    ///
    /// # Errors
    /// If the store fails, or the daemon is going down.
    pub fn keep_partner(&self, change: PartnerChange) -> Result<u64, SubmitError> {
        self.change_and_wait(Change::Partner(change))
    }

    async fn change(&self, change: Change) -> Result<u64, SubmitError> {
        let (reply, answer) = oneshot::channel();
        self.enqueue(Task::Change(change, reply))?;
        answer.await.unwrap_or(Err(SubmitError::Failed))
    }

    /// Keeps how the files of a collector were read, as JSON. From a thread: it waits for room in the
    /// queue.
    ///
    /// # Errors
    /// If the store fails, or the daemon is going down.
    pub fn keep_reading(&self, source: String, options: String) -> Result<(), SubmitError> {
        self.change_and_wait(Change::Reading { source, options })
            .map(|_| ())
    }

    /// Writes a waypoint down; false if it does not follow the last. From a thread: it waits for room in
    /// the queue.
    ///
    /// # Errors
    /// If the store fails, or the daemon is going down.
    pub fn mark(&self, waypoint: Waypoint) -> Result<bool, SubmitError> {
        let marked = self.change_and_wait(Change::Mark(Box::new(waypoint)))?;
        Ok(marked > 0)
    }

    /// Stores a block of rollups; false if what it was made of has changed since. From a thread: it waits for room in
    /// the queue.
    ///
    /// # Errors
    /// If the store fails, or the daemon is going down.
    pub fn place_block(&self, made: BlockSums) -> Result<bool, SubmitError> {
        Ok(self.change_and_wait(Change::Block(made))? > 0)
    }

    fn change_and_wait(&self, change: Change) -> Result<u64, SubmitError> {
        let (reply, answer) = oneshot::channel();
        self.wait_for_room(Task::Change(change, reply))?;
        answer.blocking_recv().unwrap_or(Err(SubmitError::Failed))
    }
}
