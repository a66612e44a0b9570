//! Alerts: the daemon checks figures periodically, and journals once each threshold that was
//! reached or is no longer reached (decision note 0060).
//!
//! A check only reads, on a connection of the pool; changes go through the writer as commands of
//! the daemon. After downtime the first check finds the current state. Notification is the
//! responsibility of `deliver`.

mod digest;
mod observe;
#[cfg(test)]
mod tests;
mod unfunded;

use std::sync::Arc;
use std::time::Duration;

use bank_core::attention::{CHANGES_MAX, Event, Open, Rules, Turn, judge};
use bank_core::command::{Attention, Command, Scope};
use bank_core::time::{Seconds, Timestamp};
use bankd_config::Notices;
use bankd_ledger::clock::{self, Stopwatch};
use bankd_ledger::writer::{Caller, Decided, Origin, Reply, Submission, SubmitError, Writer};
use bankd_store::NoticeChange;
use bankd_store::answer::{Answer, Media};
use bankd_store::read::{Pool, ReadError, attention};
use tokio::sync::watch;

use observe::{Look, Seen};

/// How often it is asked whether it is time to look.
const TICK: Duration = Duration::from_secs(1);
/// Looks from one removal of old notices to the next.
const FORGET_LOOKS: u32 = 60;

/// The longest sentence, in bytes.
const MESSAGE_MAX: usize = 1000;

/// The bank that is looked at.
pub struct Bank {
    /// Its settings.
    pub settings: Arc<Notices>,
    /// Journals the changes.
    pub writer: Writer,
    /// Reads the figures.
    pub readers: Pool,
}

/// Why a check failed; the next check runs soon.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Submit(#[from] SubmitError),
    #[error("the writer refused it")]
    Refused,
}

/// Repeats the checks until the daemon stops. With alerts switched off it checks once, which clears
/// earlier alerts.
pub async fn watch(bank: Bank, mut stopped: watch::Receiver<()>) {
    let mut interval = tokio::time::interval(TICK);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    let mut desk = Desk::new(&bank.settings);
    loop {
        tokio::select! {
            _ = interval.tick() => desk.tick(&bank).await,
            _ = stopped.changed() => return,
        }
    }
}

/// State kept between checks; none of it is needed after a restart.
struct Desk {
    rules: Rules,
    every: Seconds,
    is_on: bool,
    /// When it was looked last: on the ledger's clock, and as time passes.
    last: Option<(Timestamp, Stopwatch)>,
    looks: u32,
    was_in_trouble: bool,
}

impl Desk {
    fn new(settings: &Notices) -> Self {
        Self {
            rules: settings.attention.rules(),
            every: Seconds(settings.attention.every_s),
            is_on: settings.attention.on,
            last: None,
            looks: 0,
            was_in_trouble: false,
        }
    }

    async fn tick(&mut self, bank: &Bank) {
        let now = bank.writer.now();
        if !bank.writer.is_writing() || !self.is_due(now) {
            return;
        }
        let done = self.look(bank, now).await;
        match done {
            Ok(()) => {
                self.last = Some((now, Stopwatch::start()));
                self.was_in_trouble = false;
            }
            // Logged once; the next tick tries again.
            Err(error) if !self.was_in_trouble => {
                tracing::warn!(%error, "alerts could not be checked");
                self.was_in_trouble = true;
            }
            Err(_) => {}
        }
    }

    /// True if the ledger's clock advanced, or if real time passed while that clock did not.
    fn is_due(&self, now: Timestamp) -> bool {
        let Some((last, passed)) = &self.last else {
            return true;
        };
        let every = u64::try_from(self.every.0).unwrap_or(1);
        self.is_on
            && (now >= last.plus(self.every) || passed.elapsed() >= Duration::from_secs(every))
    }

    async fn look(&mut self, bank: &Bank, now: Timestamp) -> Result<(), Trouble> {
        // Due boundaries are journalled first: windows end before they are checked.
        bank.writer.settle().await?;
        let look = Look::new(
            &bank.settings,
            bank.writer.directory(),
            bank.writer.standing(),
            now,
        );
        let is_on = self.is_on;
        let (seen, open) = bank
            .readers
            .run(move |connection| {
                let seen = if is_on {
                    look.seen(connection)?
                } else {
                    Seen::default()
                };
                Ok((seen, attention::open(connection)?))
            })
            .await?;
        let changes = self.changes(&seen, &open);
        for part in changes.chunks(CHANGES_MAX) {
            submit(bank, part.to_vec()).await?;
        }
        if self.is_on {
            digest::make(bank, now).await?;
        }
        self.looks = self.looks.wrapping_add(1);
        if self.looks % FORGET_LOOKS == 1 {
            let old = NoticeChange::Forget(now.minus(bank.settings.keep()));
            bank.writer.change_notice(old).await?;
        }
        Ok(())
    }

    /// Changed alerts. If a kind could not be checked completely, none of its alerts clears.
    fn changes(&self, seen: &Seen, open: &[Open]) -> Vec<Event> {
        let mut changes = judge(&seen.observed, open, &self.rules);
        changes.retain(|event| {
            event.turn == Turn::Raised || !seen.incomplete.contains(&event.topic.kind)
        });
        for event in &mut changes {
            event.message = one_line(&event.message);
        }
        changes
    }
}

/// One line of text without characters that the journal rejects.
fn one_line(text: &str) -> String {
    let line: String = text.replace(char::is_control, " ");
    let mut end = line.len().min(MESSAGE_MAX);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line.get(..end).unwrap_or_default().to_owned()
}

/// Journals changes as the daemon's own doing.
async fn submit(bank: &Bank, events: Vec<Event>) -> Result<(), Trouble> {
    let name = "bankd".to_owned();
    let submission = Submission {
        command: Command::Attention(Attention::Turn(events)),
        caller: Caller {
            actor: name.clone(),
            client: name,
            origin: Origin::System,
            scope: Scope::default(),
        },
        key: None,
        request_id: clock::request_id(),
        dry_run: false,
        render,
        fingerprint: String::new(),
        turn: None,
    };
    match bank.writer.submit(submission).await? {
        Reply::Fresh { answer, .. } if answer.media == Media::Text => Ok(()),
        _ => Err(Trouble::Refused),
    }
}

/// Only [`submit`] reads it.
fn render(decided: &Decided<'_>) -> Answer {
    let media = match decided.decision {
        Ok(_) => Media::Text,
        Err(_) => Media::Problem,
    };
    Answer {
        status: 200,
        media,
        body: Vec::new(),
    }
}
