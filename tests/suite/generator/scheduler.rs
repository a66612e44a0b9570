//! The scheduler: what it sends at each moment of its day, and what goes wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::jobs::{DAY_END, Job, Jobs, LONGEST_S};
use super::wire::{Document, send};
use crate::harness::{Bank, Numbers, T0};

/// Between two charges of a running job, in seconds.
pub(super) const FLUSH_S: i64 = 3600;
/// Between two looks at the jobs, in seconds.
const TICK_S: i64 = 600;
/// Objects of one call at most.
const OBJECTS: usize = 6;
/// Bursts of calls without a kill at most: no day is a good one.
const PEACE: usize = 80;

/// What the day was like.
#[derive(Debug, Default)]
pub(super) struct Done {
    /// Kills of the daemon in the midst of requests.
    pub(super) kills: usize,
    /// Stops in good order.
    pub(super) restarts: usize,
    /// Documents sent a second time though they were answered.
    pub(super) repeated: usize,
    /// Documents without an answer, sent again.
    pub(super) resent: usize,
    /// Charges of more than one flush interval.
    pub(super) longer: usize,
    /// Jobs whose delete never came.
    pub(super) lost_deletes: usize,
    /// Starts that had to be tried again.
    pub(super) retried_starts: usize,
    documents: usize,
}

/// A scheduler with its spool.
pub(super) struct Scheduler {
    jobs: Jobs,
    numbers: Numbers,
    /// Jobs that wait for their start, by the time at which they may.
    waiting: BTreeMap<i64, Vec<usize>>,
    running: Vec<usize>,
    /// Documents that wait, in the order of their events; those of one group concern different
    /// objects.
    spool: Vec<Vec<Document>>,
    /// While the daemon is down: the tick at which it comes back.
    back_at: Option<i64>,
    /// While the scheduler is down: the tick at which it comes back.
    up_at: i64,
    /// Bursts of calls since the last kill.
    since_kill: usize,
    done: Done,
}

impl Scheduler {
    pub(super) fn new(jobs: Jobs, numbers: Numbers) -> Self {
        let mut waiting: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
        for job in jobs.all() {
            waiting.entry(job.ready).or_default().push(job.number);
        }
        Self {
            jobs,
            numbers,
            waiting,
            running: Vec::new(),
            spool: Vec::new(),
            back_at: None,
            up_at: T0,
            since_kill: 0,
            done: Done::default(),
        }
    }

    pub(super) fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    pub(super) fn done(&self) -> &Done {
        &self.done
    }

    /// The whole day, and on until every job has ended, nothing waits and the bank is there; says
    /// when that was.
    pub(super) fn run(&mut self, bank: &mut Bank) -> i64 {
        let mut now = T0;
        while self.is_open() {
            now += TICK_S;
            assert!(now < DAY_END + 10 * LONGEST_S, "the day does not end");
            bank.set_clock(now);
            self.tick(bank, now);
        }
        now
    }

    /// Whether there is something left of the day. The bank may have been killed when its last
    /// answer was given: it comes back all the same.
    fn is_open(&self) -> bool {
        let is_idle = self.waiting.is_empty() && self.running.is_empty() && self.spool.is_empty();
        !is_idle || self.back_at.is_some()
    }

    fn tick(&mut self, bank: &mut Bank, now: i64) {
        self.weather(bank, now);
        if now < self.up_at {
            return;
        }
        let charges = self.charges(now);
        let deletes = self.deletes(now);
        for group in [charges, deletes] {
            self.deliver(bank, group, now);
        }
        // Nothing starts while the bank is out.
        if self.back_at.is_none() {
            let starts = self.starts(now);
            let lost = self.send(bank, starts, now);
            self.start_again(&lost, now);
        }
    }

    /// What goes wrong from now on, and what comes back.
    fn weather(&mut self, bank: &mut Bank, now: i64) {
        if self.back_at.is_some_and(|back| back <= now) {
            self.back_at = None;
            bank.start();
        }
        if now >= self.up_at + FLUSH_S && self.numbers.once_in(20) {
            // Long enough to miss a flush or two, and no longer than the bank waits for a charge.
            self.up_at = now + TICK_S * self.numbers.seconds(3, 12);
        }
        if self.back_at.is_none() && self.numbers.once_in(10) {
            bank.stop();
            bank.start();
            self.done.restarts += 1;
        }
    }

    /// Charges of what runs, at each flush, and of what has ended.
    fn charges(&mut self, now: i64) -> Vec<Document> {
        let is_flush = now % FLUSH_S == 0;
        let mut due = Vec::new();
        for number in &self.running {
            let job = self.jobs.get(*number);
            let (start, end) = (job.started.unwrap(), job.end().unwrap());
            let until = now.min(end) - start;
            if until > job.charged_s && (is_flush || end <= now) {
                due.push((*number, until - job.charged_s));
                job.charged_s = until;
            }
        }
        self.done.longer += due.iter().filter(|(_, seconds)| *seconds > FLUSH_S).count();
        self.documents("charge", now, &due)
    }

    /// Deletes of what has ended; some get lost.
    fn deletes(&mut self, now: i64) -> Vec<Document> {
        let jobs = &self.jobs.all();
        let is_over = |number: &usize| jobs[*number].end().unwrap() <= now;
        let (over, running) = self.running.iter().partition(|number| is_over(number));
        self.running = running;
        let (lost, known): (Vec<usize>, Vec<usize>) =
            Vec::into_iter(over).partition(|number| jobs[*number].is_forgotten);
        self.done.lost_deletes += lost.len();
        let known: Vec<_> = known.into_iter().map(|number| (number, 0)).collect();
        self.documents("delete", now, &known)
    }

    /// Starts of what waits.
    fn starts(&mut self, now: i64) -> Vec<Document> {
        let later = self.waiting.split_off(&(now + 1));
        let ready = std::mem::replace(&mut self.waiting, later);
        let ready: Vec<_> = ready.into_values().flatten().collect();
        for number in &ready {
            self.jobs.get(*number).started = Some(now);
        }
        self.running.extend(&ready);
        let ready: Vec<_> = ready.into_iter().map(|number| (number, 0)).collect();
        self.documents("reserve", now, &ready)
    }

    /// A start without an answer has failed: whatever the bank holds for it, it is tried anew.
    fn start_again(&mut self, lost: &[Document], now: i64) {
        let lost: BTreeSet<usize> = lost.iter().flat_map(|one| &one.jobs).copied().collect();
        self.done.retried_starts += lost.len();
        for number in &lost {
            self.jobs.get(*number).started = None;
            self.waiting.entry(now + 1).or_default().push(*number);
        }
        self.running.retain(|number| !lost.contains(number));
    }

    fn documents(&mut self, event: &'static str, at: i64, of: &[(usize, i64)]) -> Vec<Document> {
        let mut made = Vec::new();
        for some in of.chunks(OBJECTS) {
            let object = |(number, seconds): &(usize, i64)| {
                let job: &Job = &self.jobs.all()[*number];
                job.document((*seconds > 0).then_some(*seconds))
            };
            let twice = event != "reserve" && self.numbers.once_in(20);
            self.done.repeated += usize::from(twice);
            self.done.documents += 1;
            made.push(Document {
                event,
                key: format!("day-{:07}", self.done.documents),
                at,
                body: some.iter().map(object).collect(),
                jobs: some.iter().map(|(number, _)| *number).collect(),
                twice,
                is_late: false,
            });
        }
        made
    }

    /// Sends what may not be lost: what has no answer goes into the spool, and all that comes after
    /// it too, until the spool is empty again.
    fn deliver(&mut self, bank: &mut Bank, group: Vec<Document>, now: i64) {
        if !group.is_empty() {
            self.spool.push(group);
        }
        while !self.spool.is_empty() && self.back_at.is_none() {
            let mut group = self.spool.remove(0);
            for document in &mut group {
                document.is_late = document.at < now;
            }
            let lost = self.send(bank, group, now);
            if !lost.is_empty() {
                self.done.resent += lost.len();
                self.spool.insert(0, lost);
            }
        }
    }

    /// Sends documents while the daemon is there; now and then it is killed meanwhile.
    fn send(&mut self, bank: &mut Bank, documents: Vec<Document>, now: i64) -> Vec<Document> {
        if self.back_at.is_some() || documents.is_empty() {
            return documents;
        }
        self.since_kill += 1;
        let is_killed = self.numbers.once_in(40) || self.since_kill > PEACE;
        let kill = is_killed.then(|| Duration::from_millis(self.numbers.between(0, 40)));
        let lost = send(bank, &documents, kill);
        if is_killed {
            self.done.kills += 1;
            self.since_kill = 0;
            bank.kill();
            self.back_at = Some(now + TICK_S * self.numbers.seconds(1, 10));
        }
        lost
    }
}
