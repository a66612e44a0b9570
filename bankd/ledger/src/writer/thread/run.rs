//! The order of tasks: batches of short ones, and between them one long task at a time.

use super::{Thread, count};
use crate::writer::full;
use crate::writer::{SubmitError, Task};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};

impl Thread {
    pub(in crate::writer) fn run(&mut self, tasks: &Receiver<Task>) {
        let mut batch = Vec::with_capacity(self.batch_max);
        // Long tasks come after the clients that wait for an answer, in separate commits. Those that came
        // while one ran are answered before the next one.
        let mut long = VecDeque::new();
        let mut stopping = false;
        while !stopping {
            if !self.is_writing() {
                self.work_off(&mut long);
                stopping = !self.follow(tasks);
                continue;
            }
            if long.is_empty() {
                match self.next(tasks) {
                    Ok(task) => batch.push(task),
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            // Long tasks that wait here count as well: otherwise the queue would have no limit.
            gather(tasks, &mut batch, self.batch_max.saturating_sub(long.len()));
            stopping = batch.iter().any(|task| matches!(task, Task::Stop));
            self.shared
                .depth
                .fetch_sub(count(batch.len()), Ordering::Relaxed);
            let (more, short): (Vec<_>, Vec<_>) = batch.drain(..).partition(Task::is_long);
            long.extend(more);
            self.work(short);
            if let Some(task) = long.pop_front() {
                self.work_long(task);
            }
        }
        self.work_off(&mut long);
        self.retire();
        if let Err(error) = self.store.checkpoint() {
            tracing::warn!(%error, "checkpoint at shutdown failed");
        }
    }

    fn work_off(&mut self, long: &mut VecDeque<Task>) {
        for task in long.drain(..) {
            self.work_long(task);
        }
    }

    fn work_long(&mut self, task: Task) {
        if task.is_void() {
            full::fail(task, SubmitError::Failed);
        } else {
            self.work(vec![task]);
        }
    }
}

/// Takes the waiting tasks up to a number, and yields as long as that brings more. If requests are read on the same
/// core, those in progress get into this commit instead of the next. No timer: as soon as no task
/// arrives, the batch runs.
fn gather(tasks: &Receiver<Task>, batch: &mut Vec<Task>, most: usize) {
    loop {
        let before = batch.len();
        std::thread::yield_now();
        while batch.len() < most {
            match tasks.try_recv() {
                Ok(task) => batch.push(task),
                Err(_) => break,
            }
        }
        if batch.len() == before || batch.len() >= most {
            return;
        }
    }
}
