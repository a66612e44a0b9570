//! Compares the lines of statements, read in small blocks and pages, with a sort of all entries.

use super::super::frame_of_lines;
use super::*;
use bank_core::ids::AccountId;
use bank_core::time::Window;
use std::collections::BTreeSet;

#[test]
fn a_position_is_read_as_it_was_written() {
    for (at, tx, entry) in [(0, 0, 0), (i64::MIN, 1, 2), (-5, i64::MAX, 7)] {
        let at = Timestamp(at);
        let position = Position { at, tx, entry };
        assert_eq!(position.to_string().parse(), Ok(position));
    }
    for text in ["", "1", "1.2", "1.2.3.4", "1.x.3", "1.2."] {
        assert_eq!(text.parse::<Position>(), Err(()), "{text:?}");
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        i64::try_from((z ^ (z >> 31)) % u64::try_from(bound).unwrap()).unwrap()
    }

    fn size(&mut self, bound: usize) -> usize {
        1 + usize::try_from(self.below(i64::try_from(bound).unwrap())).unwrap()
    }
}

/// An entry of the journal, as the tests compare it.
#[derive(Clone, Copy)]
struct Row {
    entry: i64,
    tx: i64,
    at: i64,
    account: i64,
    active: i64,
}

/// A journal that has only the columns of statement lines.
struct Journal {
    connection: Connection,
    rows: Vec<Row>,
    /// Closes: transaction, end, and the transaction that reopened it.
    closes: Vec<(i64, i64, Option<i64>)>,
    txs: i64,
    now: i64,
}

impl Journal {
    fn new() -> Journal {
        let mut connection = Connection::open_in_memory().unwrap();
        crate::migrate::migrate(&mut connection).unwrap();
        connection
            .pragma_update(None, "foreign_keys", false)
            .unwrap();
        // Accounts 1 and 2 have an allocation each, with their numbers.
        let sql = "INSERT INTO allocation (id, account, phase, amount, held, credit_limit, deposited, shadow,
            shadow_held) VALUES (?1, ?1, 'active', 0, 0, 0, 0, 0, 0)";
        for id in [1, 2] {
            connection.execute(sql, [id]).unwrap();
        }
        Journal {
            connection,
            rows: Vec::new(),
            closes: Vec::new(),
            txs: 0,
            now: 0,
        }
    }

    /// Appends a transaction, with one entry for each account and amount.
    fn add(&mut self, at: i64, entries: &[(i64, i64)]) -> i64 {
        self.txs += 1;
        let sql = "INSERT INTO tx (id, req_id, at_effective, at_recorded, actor, client, origin,
            op, reason, prev_hash, hash) VALUES (?1, 'r', ?2, ?3, '', '', '', '', '', x'00', x'00')";
        let mut insert = self.connection.prepare_cached(sql).unwrap();
        insert.execute((self.txs, at, self.now)).unwrap();
        let sql = "INSERT INTO entry (id, tx, n, kind, account, allocation, delta_amount,
            delta_held, delta_active, delta_shadow, delta_shadow_held, amount_after, held_after,
            project, user, machine, prev)
            VALUES (?1, ?2, ?3, 'deposit', ?4, ?4, ?5, 0, ?5, 0, 0, 0, 0, '', '', '',
                (SELECT last_entry FROM allocation WHERE id = ?4))";
        let mut insert = self.connection.prepare_cached(sql).unwrap();
        let sql = "UPDATE allocation SET last_entry = ?2 WHERE id = ?1";
        let mut append = self.connection.prepare_cached(sql).unwrap();
        for (n, (account, active)) in (0_i64..).zip(entries) {
            let entry = i64::try_from(self.rows.len()).unwrap() + 1;
            insert
                .execute((entry, self.txs, n, account, active))
                .unwrap();
            append.execute((account, entry)).unwrap();
            self.rows.push(Row {
                entry,
                tx: self.txs,
                at,
                account: *account,
                active: *active,
            });
        }
        self.txs
    }

    /// Writes a waypoint behind the last entry, with sums of both allocations or of one.
    fn mark(&self, both: bool) {
        let sql = "INSERT INTO waypoint (n, tx, entry, from_at, whole)
            SELECT (SELECT count(*) + 1 FROM waypoint), tx, id, 0, 0 FROM entry
            WHERE id = (SELECT max(id) FROM entry) AND tx NOT IN (SELECT tx FROM waypoint)";
        if self.connection.execute(sql, []).unwrap() == 0 {
            return;
        }
        let sql = "INSERT INTO waypoint_sum (allocation, n, entry, amount, held, deposited, used, shadow, shadow_held)
            SELECT id, (SELECT max(n) FROM waypoint), last_entry, 0, 0, 0, 0, 0, 0 FROM allocation
            WHERE last_entry IS NOT NULL AND (?1 OR id = 1)";
        self.connection.execute(sql, [both]).unwrap();
    }

    fn close(&mut self, end: i64) {
        let tx = self.add(self.now, &[]);
        let sql = "INSERT INTO period_close (tx, start_at, end_at) VALUES (?1, NULL, ?2)";
        self.connection.execute(sql, (tx, end)).unwrap();
        self.closes.push((tx, end, None));
    }

    fn reopen(&mut self) {
        let tx = self.add(self.now, &[]);
        let close = self.closes.iter_mut().rfind(|close| close.2.is_none());
        let close = close.unwrap();
        close.2 = Some(tx);
        let sql = "INSERT INTO period_reopen (tx, closed_by) VALUES (?1, ?2)";
        self.connection.execute(sql, (tx, close.0)).unwrap();
    }

    fn closed_until(&self) -> Option<i64> {
        let standing = self.closes.iter().rfind(|close| close.2.is_none());
        standing.map(|close| close.1)
    }

    fn random(random: &mut Random) -> Journal {
        let mut journal = Journal::new();
        let (length, step) = (random.below(90), random.below(4));
        for _ in 0..length {
            if random.below(2) == 0 {
                journal.now += random.below(step + 1);
            }
            let until = journal.closed_until();
            match random.below(14) {
                0 if until.is_none_or(|until| until < journal.now) => {
                    let open = journal.now - until.unwrap_or(0);
                    journal.close(journal.now - random.below(open.max(1)));
                }
                1 if until.is_some() && random.below(3) == 0 => journal.reopen(),
                kind => {
                    let late = if kind < 5 { random.below(40) } else { 0 };
                    let entries: Vec<(i64, i64)> = (0..random.below(4))
                        .map(|_| (1 + random.below(2), random.below(7) - 2))
                        .collect();
                    journal.add(journal.now - late, &entries);
                }
            }
            match random.below(8) {
                0 => journal.mark(true),
                1 => journal.mark(false),
                _ => {}
            }
        }
        journal
    }

    /// The lines of account 1, each with the running balance: all entries, sorted.
    fn expected(&self, frame: &Frame, known: i64) -> Vec<(i64, i64)> {
        let booked = |row: &Row| {
            let standing = |(tx, _, reopened): &&(i64, i64, Option<i64>)| {
                *tx < row.tx && reopened.is_none_or(|by| by > known)
            };
            let ends = self.closes.iter().filter(standing).map(|close| close.1);
            ends.fold(row.at, i64::max)
        };
        let is_line = |row: &&Row| {
            row.tx <= frame.upto
                && row.account == 1
                && row.active != 0
                && frame.period.contains(Timestamp(booked(row)))
        };
        let mut rows: Vec<Row> = self.rows.iter().filter(is_line).copied().collect();
        rows.sort_by_key(|row| (row.at, row.entry));
        with_balances(rows.iter().map(|row| (row.entry, row.active)))
    }

    /// The same, as pages of so many lines. Returns the number of calls too.
    fn read(&self, frame: &Frame, bounds: Bounds, page: usize) -> (Vec<(i64, i64)>, usize) {
        let read = |from: Position, visit: &mut dyn FnMut(&Movement) -> bool| {
            within(&self.connection, frame, &whose(), from, bounds, visit).unwrap()
        };
        Journal::pages(frame, page, read)
    }

    /// The same along the allocation of the account.
    fn follow(&self, frame: &Frame, page: usize) -> Vec<(i64, i64)> {
        let own = Own::up_to(&self.connection, frame, &whose(), frame.first, 1000);
        let own = own.unwrap().unwrap();
        let read = |from: Position, visit: &mut dyn FnMut(&Movement) -> bool| {
            along(&self.connection, frame, &own, from, visit).unwrap()
        };
        Journal::pages(frame, page, read).0
    }

    fn pages(
        frame: &Frame,
        page: usize,
        read: impl Fn(Position, &mut dyn FnMut(&Movement) -> bool) -> Option<Position>,
    ) -> (Vec<(i64, i64)>, usize) {
        let (mut lines, mut calls) = (Vec::new(), 0);
        let mut next = Some(Position::first(frame));
        while let Some(from) = next {
            calls += 1;
            assert!(calls < 10_000, "no end: {from}");
            let mut found = 0;
            next = read(from, &mut |movement| {
                let is_line = movement.tx <= frame.upto && movement.active != 0;
                if is_line && frame.period.contains(movement.booked) {
                    lines.push((movement.entry, movement.active));
                    found += 1;
                }
                found < page
            });
            assert!(next.is_none_or(|next| next.to_string().parse::<Position>() == Ok(next)));
        }
        (with_balances(lines.into_iter()), calls)
    }
}

fn whose() -> Whose {
    Whose::Accounts(BTreeSet::from([AccountId(1)]))
}

fn with_balances(lines: impl Iterator<Item = (i64, i64)>) -> Vec<(i64, i64)> {
    let balance = |sum: &mut i64, (entry, active): (i64, i64)| {
        *sum += active;
        Some((entry, *sum))
    };
    lines.scan(0, balance).collect()
}

fn window(start: Option<i64>, end: Option<i64>) -> Window {
    Window {
        start: start.map(Timestamp),
        end: end.map(Timestamp),
    }
}

/// Random journals with late entries, equal times and closes; statements of today, as known at a time, and
/// up to a transaction; blocks of one to five transactions.
#[test]
fn every_line_is_read_once_and_in_order() {
    for seed in 1..=300 {
        let mut random = Random(seed);
        let journal = Journal::random(&mut random);
        for _ in 0..12 {
            let last = journal.now + 2;
            let ends: Vec<i64> = journal.closes.iter().map(|close| close.1).collect();
            let instant = |random: &mut Random| match random.size(ends.len() + 4) {
                1 => None,
                2..=4 => Some(random.below(last + 1)),
                close => Some(ends[close - 5]),
            };
            let (one, other) = (instant(&mut random), instant(&mut random));
            let period = match (one, other) {
                (Some(one), Some(other)) => window(Some(one.min(other)), Some(one.max(other))),
                (one, other) => window(one, other),
            };
            let known = (random.below(3) == 0).then(|| Timestamp(random.below(last + 1)));
            let upto = (random.below(4) == 0).then(|| random.below(journal.txs + 1));
            let now = Timestamp(journal.now);
            let frame = frame_of_lines(&journal.connection, &period, now, known, upto).unwrap();
            let newest = known.map_or(journal.txs, |at| {
                first_recorded_from(&journal.connection, Timestamp(at.0 + 1)).unwrap() - 1
            });
            let bounds = Bounds {
                block: random.size(5),
                most: random.size(12),
            };
            let page = random.size(4);
            let (lines, _) = journal.read(&frame, bounds, page);
            let expected = journal.expected(&frame, newest);
            let what = format!(
                "seed {seed}: {period:?}, known {known:?}, up to {upto:?}, {bounds:?}, page {page}"
            );
            assert_eq!(lines, expected, "{what}");
            assert_eq!(journal.follow(&frame, page), expected, "{what}");
        }
    }
}

fn frame_of(journal: &Journal, start: i64, end: i64) -> Frame {
    let (period, now) = (window(Some(start), Some(end)), Timestamp(journal.now));
    frame_of_lines(&journal.connection, &period, now, None, None).unwrap()
}

/// Many transactions before a period that begins where a close ends; one entry far ahead, one of before
/// the period.
#[test]
fn lines_after_a_close_are_found_at_once() {
    for late in [None, Some(33), Some(12), Some(30)] {
        let mut journal = Journal::new();
        for _ in 0..30 {
            journal.now += 1;
            journal.add(journal.now, &[(1, 5)]);
        }
        journal.now = 31;
        journal.close(31);
        for at in 31..=35 {
            journal.now = at;
            journal.add(at, &[(1, 5)]);
        }
        if let Some(at) = late {
            journal.now = 36;
            journal.add(at, &[(1, 7)]);
        }
        let frame = frame_of(&journal, 31, 37);
        for block in [3, 10] {
            let bounds = Bounds { block, most: 20 };
            let (lines, calls) = journal.read(&frame, bounds, 100);
            assert_eq!(lines.len(), 5 + usize::from(late.is_some()), "{late:?}");
            assert_eq!(lines, journal.expected(&frame, i64::MAX), "{late:?}");
            assert_eq!(calls, 1, "{late:?}");
        }
    }
}

/// More transactions of one recorded time than a block has.
#[test]
fn equal_times_do_not_end_a_statement() {
    let mut journal = Journal::new();
    journal.now = 5;
    for n in 0..20 {
        journal.add(if n % 4 == 3 { 4 } else { 5 }, &[(1, 1), (1, 2)]);
    }
    journal.now = 6;
    journal.add(6, &[(1, 9)]);
    let frame = frame_of(&journal, 4, 7);
    for (block, page) in [(3, 1), (3, 3), (3, 100), (20, 7)] {
        let (lines, _) = journal.read(&frame, Bounds { block, most: 9 }, page);
        assert_eq!(lines.len(), 41, "{block} {page}");
        assert_eq!(lines, journal.expected(&frame, i64::MAX));
    }
}

/// Every query of a block begins at its first row: by index or by number, and only adjustments are sorted.
#[test]
fn queries_of_a_block_use_indexes() {
    let journal = Journal::new();
    for (sql, search, is_sorted) in [
        (Access::ByTime.sql(), "INDEX tx_effective (", false),
        (
            Access::ByNumber.sql(),
            "INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
            true,
        ),
        (USUAL, "INTEGER PRIMARY KEY (rowid>? AND rowid<?)", false),
    ] {
        let sql = format!("EXPLAIN QUERY PLAN {sql}");
        let mut statement = journal.connection.prepare(&sql).unwrap();
        let mut rows = statement.raw_query();
        let mut plan = String::new();
        while let Some(row) = rows.next().unwrap() {
            plan.push_str(&row.get::<_, String>(3).unwrap());
            plan.push('\n');
        }
        assert!(plan.starts_with("SEARCH tx USING "), "{plan}");
        assert!(plan.contains(search), "{plan}");
        assert_eq!(plan.contains("TEMP B-TREE"), is_sorted, "{plan}");
    }
}
