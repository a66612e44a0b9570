//! Signals that end a demo early: Ctrl-C, a closed terminal, `kill`. They are only noted here; the demo removes what it
//! made and then ends. This must never end the process itself.

use anyhow::{Context as _, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// Shells add this to the number of the signal that ended a program.
const BY_SIGNAL: u8 = 128;

/// Whether a signal has asked the demo to end.
#[derive(Clone)]
pub(super) struct Ended(watch::Receiver<Option<u8>>);

impl Ended {
    /// Catches the signals from now on.
    pub(super) fn watch() -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (sender, receiver) = watch::channel(None);
        let inside = runtime.enter();
        let mut interrupt = caught(SignalKind::interrupt())?;
        let mut terminate = caught(SignalKind::terminate())?;
        // Under `nohup` a demo outlives its terminal.
        let mut hangup = if is_hangup_ignored() {
            None
        } else {
            Some(caught(SignalKind::hangup())?)
        };
        drop(inside);
        std::thread::spawn(move || {
            let number = runtime.block_on(async {
                let hung_up = async {
                    match &mut hangup {
                        Some(hangup) => hangup.recv().await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    _ = interrupt.recv() => 2,
                    _ = terminate.recv() => 15,
                    _ = hung_up => 1,
                }
            });
            sender.send_replace(Some(BY_SIGNAL.saturating_add(number)));
        });
        Ok(Self(receiver))
    }

    /// A line on standard error, which a closed terminal does not take.
    pub(super) fn announce(text: &str) {
        complain!("bankd: {text}");
    }

    /// The exit code of a demo that a signal ended.
    pub(super) fn code(&self) -> Option<u8> {
        *self.0.borrow()
    }

    /// Is done when a signal has arrived.
    pub(super) async fn arrived(mut self) {
        let _ = self.0.wait_for(Option::is_some).await;
    }
}

fn caught(kind: SignalKind) -> Result<Signal> {
    signal(kind).context("cannot listen for signals")
}

/// Whether this process was started with SIGHUP ignored.
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}
