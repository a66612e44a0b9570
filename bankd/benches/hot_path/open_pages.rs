//! Pages that people have open beside the load.

use anyhow::{Result, anyhow, ensure};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use crate::document::user;
use crate::visitor::Visitor;

/// Open pages, and how often each is loaded again.
const PAGES: u32 = 50;
const EVERY: Duration = Duration::from_secs(30);

/// First screens of so many members, loaded in turn until it is stopped.
pub(crate) struct OpenPages {
    /// Dropped to end it.
    running: Sender<()>,
    thread: JoinHandle<Result<()>>,
}

impl OpenPages {
    /// Signs the people in, and begins.
    pub(crate) fn start(port: u16) -> Result<Self> {
        let people = (0..PAGES).map(|n| Visitor::sign_in(port, &user(n.into())));
        let people = people.collect::<Result<Vec<_>>>()?;
        let (running, stopped) = channel();
        let thread = spawn(move || {
            for visitor in people.iter().cycle() {
                let (status, _) = visitor.open("/")?;
                ensure!(status == 200, "a first screen: {status}");
                if stopped.recv_timeout(EVERY / PAGES) != Err(RecvTimeoutError::Timeout) {
                    break;
                }
            }
            Ok(())
        });
        Ok(Self { running, thread })
    }

    /// Ends it; an error if a page was refused.
    pub(crate) fn stop(self) -> Result<()> {
        drop(self.running);
        let ended = self.thread.join();
        ended.map_err(|_| anyhow!("the thread of the open pages failed"))?
    }
}
