//! A thread that drains a queue.

use std::{
    sync::{
        Arc,
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    thread::JoinHandle,
    time::Duration,
};

use super::{Drained, Queue, QueueError};
use crate::client::Client;

/// A thread that drains a queue; it ends when this value is dropped, after the call that it sends then.
#[derive(Debug)]
pub struct Background {
    /// Dropped first: the thread ends.
    wake: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Queue {
    /// Drains this queue in a thread: at once, whenever [`Background::wake`] is called, and after each `every`.
    /// `report` receives the result of each drain.
    ///
    /// The limits of repeated calls are those of the client; [`Retry::NONE`](crate::Retry::NONE) is enough, because
    /// a command that was not accepted is sent again after `every`.
    pub fn background(
        &self,
        client: Arc<Client>,
        every: Duration,
        mut report: impl FnMut(Result<Drained, QueueError>) + Send + 'static,
    ) -> Background {
        let (wake, woken) = channel();
        let queue = self.clone();
        let thread = std::thread::spawn(move || {
            loop {
                report(queue.drain(&client));
                match woken.recv_timeout(every) {
                    // Several calls to wake are one drain.
                    Ok(()) => while woken.try_recv().is_ok() {},
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        });
        Background {
            wake: Some(wake),
            thread: Some(thread),
        }
    }
}

impl Background {
    /// Drains now, such as after a command was added.
    pub fn wake(&self) {
        if let Some(wake) = &self.wake {
            // The thread ends only with this value.
            let _ = wake.send(());
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            // A panic in the caller's report has been printed.
            let _ = thread.join();
        }
    }
}
