//! The book in memory as a ground.

use super::ground::{Ground, Line, Tx, Used, bank, fingerprint, of_key, reading};
use super::reply;
use bank_core::book::Book;
use bank_core::clock::Watch;
use bank_core::command::{Command, Scope};
use bank_core::directory::{Bank, Directory, Policy};
use bank_core::effects::Transaction;
use bank_core::ledger::{self, Ledger};
use bank_core::model::{Allocation, Instance, InstanceKey};
use bank_core::time::Timestamp;
use std::collections::HashMap;
use std::sync::Arc;

/// The ledger in memory.
#[derive(Clone)]
pub(crate) struct Memory {
    pub(crate) book: Book,
    recorded: Vec<Timestamp>,
    watch: Watch,
    jumped: i64,
    answers: HashMap<String, (String, String)>,
}

impl Memory {
    pub(crate) fn new(policy: Policy) -> Memory {
        Memory::of(bank(), policy)
    }

    /// The same for another bank than that of the conventions.
    pub(crate) fn of(bank: Bank, policy: Policy) -> Memory {
        Memory {
            book: Book::new(bank, policy),
            recorded: Vec::new(),
            watch: Watch::new(policy.max_jump, None),
            jumped: 0,
            answers: HashMap::new(),
        }
    }

    /// Looks at the clock as the writer does before a batch.
    fn look(&mut self, clock: Timestamp) -> Timestamp {
        let recorded = self.last_recorded();
        let look = self.watch.look(reading(clock, self.jumped), recorded);
        if let Some(shown) = look.stepped_back {
            let Ok(()) = ledger::stepped_back(&mut self.book, shown, look.now);
            self.stamp(look.now);
        }
        look.now
    }

    fn last_recorded(&self) -> Timestamp {
        self.recorded.last().copied().unwrap_or(Timestamp(i64::MIN))
    }

    fn stamp(&mut self, now: Timestamp) {
        self.recorded.resize(self.book.journal.len(), now);
    }
}

impl Ground for Memory {
    fn name(&self) -> &'static str {
        "book"
    }

    fn submit(&mut self, command: &Command, key: Option<&str>, clock: Timestamp) -> String {
        let print = fingerprint(command);
        match key.and_then(|k| self.answers.get(k)) {
            Some((known, answer)) if *known == print => return answer.clone(),
            Some(_) => return reply::refused("key_reused"),
            None => {}
        }
        let now = self.look(clock);
        let scope = Scope::default();
        let Ok(decision) = ledger::execute(&mut self.book, command, &scope, now, false);
        self.stamp(now);
        let answer = reply::text(&decision);
        let of_access = matches!(&decision, Err(refusal) if refusal.is_of_access());
        if let (Some(key), false) = (key, of_access) {
            self.answers.insert(key.to_owned(), (print, answer.clone()));
        }
        answer
    }

    fn settle(&mut self, clock: Timestamp) {
        let now = self.look(clock);
        let Ok(stuck) = ledger::sweep(&mut self.book, now);
        assert_eq!(stuck, []);
        self.stamp(now);
    }

    fn ledger_now(&self, clock: Timestamp) -> Timestamp {
        let mut watch = self.watch;
        watch
            .look(reading(clock, self.jumped), self.last_recorded())
            .now
    }

    fn unseen(&mut self, jump: i64) {
        self.jumped += jump;
    }

    fn confirm_clock(&mut self) {
        self.watch.confirm();
    }

    fn directory(&self) -> Arc<Directory> {
        Arc::new(self.book.reference().clone())
    }

    fn allocations(&mut self) -> Vec<Allocation> {
        self.book.allocations.values().copied().collect()
    }

    fn instances(&mut self, key: &InstanceKey) -> Vec<Instance> {
        let Ok(view) = self.book.load(&of_key(key));
        view.instances
    }

    fn journal(&mut self, after: i64) -> Vec<Tx> {
        let all = self.book.journal.iter().zip(&self.recorded);
        all.filter(|(tx, _)| tx.id.0 > after)
            .map(|(tx, recorded)| of_book(tx, *recorded))
            .collect()
    }

    fn liens(&mut self) -> Vec<(i64, String)> {
        let all = self.book.liens.values();
        all.map(|l| (l.id.0, l.state.word().to_owned())).collect()
    }

    fn usages(&mut self) -> Vec<Used> {
        let rows = self.book.usages.iter();
        rows.map(|u| (u.charged.0, u.amount.0, u.billing.word().to_owned()))
            .collect()
    }

    fn findings(&mut self) -> Vec<String> {
        self.book.findings()
    }

    fn proof(&mut self) -> Vec<String> {
        self.book.findings()
    }
}

fn of_book(tx: &Transaction, recorded: Timestamp) -> Tx {
    let lines = tx.entries.iter().map(|e| Line {
        kind: e.kind.word().to_owned(),
        account: e.account.map(|a| a.0),
        allocation: e.allocation.map(|a| a.0),
        lien: e.lien.map(|l| l.0),
        delta: e.delta,
        project: e.project.clone(),
    });
    Tx {
        id: tx.id.0,
        op: tx.op.to_owned(),
        effective: tx.at_effective,
        recorded,
        reason: tx.reason.clone(),
        entries: lines.collect(),
    }
}
