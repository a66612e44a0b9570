//! The store on disk as a ground, in a temporary folder of its own.

use super::ground::{CLIENT, Ground, Line, Tx, Used, bank, fingerprint, of_key, reading};
use super::reply;
use bank_core::clock::Watch;
use bank_core::command::{Command, Scope};
use bank_core::directory::{Bank, Directory, Policy};
use bank_core::effects::Delta;
use bank_core::ids::AccountId;
use bank_core::ledger::{self, Ledger};
use bank_core::model::{Allocation, Instance, InstanceKey};
use bank_core::need::Need;
use bank_core::time::Timestamp;
use bankd_ledger::writer::Recording;
use bankd_records as records;
use bankd_store::bank::NewBank;
use bankd_store::read::money;
use bankd_store::{Known, SqliteStore, Stamp, StoredAnswer, open_reader, verify};
use rusqlite::Connection;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// The ledger in a file of its own.
pub(crate) struct Sqlite {
    store: Option<SqliteStore>,
    reader: Connection,
    path: PathBuf,
    policy: Policy,
    /// Commands in one database transaction, as the writer groups them; 1 commits each.
    group: usize,
    waiting: usize,
    watch: Watch,
    jumped: i64,
    _folder: TempDir,
}

impl Sqlite {
    pub(crate) fn new(policy: Policy, group: usize) -> Sqlite {
        Sqlite::of(bank(), policy, group)
    }

    /// The same for another bank than that of the conventions.
    pub(crate) fn of(bank: Bank, policy: Policy, group: usize) -> Sqlite {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bank.db");
        Sqlite {
            store: Some(create(&path, bank, policy)),
            reader: open_reader(&path).unwrap(),
            path,
            policy,
            group,
            waiting: 0,
            watch: Watch::new(policy.max_jump, None),
            jumped: 0,
            _folder: folder,
        }
    }

    /// A ground of its own that begins as this one is.
    pub(crate) fn copy(&mut self, group: usize) -> Sqlite {
        self.commit();
        self.store().checkpoint().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bank.db");
        std::fs::copy(&self.path, &path).unwrap();
        Sqlite {
            store: Some(SqliteStore::open(&path, self.policy).unwrap()),
            reader: open_reader(&path).unwrap(),
            path,
            policy: self.policy,
            group,
            waiting: 0,
            watch: self.watch,
            jumped: self.jumped,
            _folder: folder,
        }
    }

    /// Looks at the clock as the writer does before a batch, in an open transaction.
    fn look(&mut self, clock: Timestamp) -> Timestamp {
        let recorded = self.store().last_recorded();
        let look = self.watch.look(reading(clock, self.jumped), recorded);
        if let Some(shown) = look.stepped_back {
            self.store().stamp(stamp(look.now, "system", None));
            ledger::stepped_back(self.store(), shown, look.now).unwrap();
        }
        look.now
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Hands the store out, for the writer thread, and keeps the rest.
    pub(crate) fn take_store(&mut self) -> SqliteStore {
        self.commit();
        self.store.take().unwrap()
    }

    /// Opens the store anew, after the writer thread has ended or a transaction was dropped.
    pub(crate) fn open(&mut self) {
        self.store = Some(SqliteStore::open(&self.path, self.policy).unwrap());
    }

    pub(crate) fn store(&mut self) -> &mut SqliteStore {
        self.store.as_mut().unwrap()
    }

    fn begin(&mut self) {
        if self.waiting == 0 {
            self.store().begin().unwrap();
        }
        self.waiting += 1;
    }

    fn end(&mut self) {
        if self.waiting >= self.group {
            self.commit();
        }
    }

    fn commit(&mut self) {
        if self.waiting > 0 {
            self.store().commit().unwrap();
            self.waiting = 0;
        }
    }
}

/// A new bank in a file.
fn create(path: &Path, bank: Bank, policy: Policy) -> SqliteStore {
    let Bank {
        uuid,
        precision,
        unit,
    } = bank;
    let new = NewBank {
        uuid,
        precision,
        unit,
        test: true,
        init_uid: 0,
        created_at: Timestamp(0),
    };
    SqliteStore::create(path, &new, policy).unwrap()
}

/// Runs a command inside an open database transaction, as the writer does.
pub(crate) fn run(
    store: &mut SqliteStore,
    command: &Command,
    key: Option<&str>,
    clock: Timestamp,
) -> String {
    let print = Sha256::digest(fingerprint(command)).to_vec();
    if let Some(key) = key {
        match store.known(CLIENT, key, &print, "").unwrap() {
            Known::New => {}
            Known::Answered(answer) => return String::from_utf8(answer.body).unwrap(),
            Known::Reused => return reply::refused("key_reused"),
            Known::Replay => panic!("no request here has a nonce"),
        }
    }
    let now = store.ledger_now(clock);
    store.stamp(stamp(now, "system", None));
    ledger::sweep(&mut Recording::new(store, records::keep), now).unwrap();
    store.stamp(stamp(now, "cli", key));
    let recording = &mut Recording::new(store, records::keep);
    let decision = ledger::execute(recording, command, &Scope::default(), now, false).unwrap();
    let answer = reply::answer(&decision);
    let of_access = matches!(&decision, Err(refusal) if refusal.is_of_access());
    if let (Some(key), false) = (key, of_access) {
        let stored = StoredAnswer {
            answer: answer.clone(),
            fingerprint: print,
            nonce: String::new(),
        };
        let for_ever = command.is_charge();
        store
            .keep_answer(CLIENT, key, &stored, for_ever, now)
            .unwrap();
    }
    String::from_utf8(answer.body).unwrap()
}

/// Who did it, for the journal of these tests.
fn stamp(now: Timestamp, origin: &'static str, key: Option<&str>) -> Stamp {
    Stamp {
        now,
        request_id: "r".to_owned(),
        actor: "admin".to_owned(),
        client: CLIENT.to_owned(),
        origin,
        key: key.map(str::to_owned),
    }
}

impl Ground for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn submit(&mut self, command: &Command, key: Option<&str>, clock: Timestamp) -> String {
        self.begin();
        let now = self.look(clock);
        let answer = run(self.store(), command, key, now);
        self.end();
        answer
    }

    fn settle(&mut self, clock: Timestamp) {
        self.begin();
        let now = self.look(clock);
        self.store().stamp(stamp(now, "system", None));
        let recording = &mut Recording::new(self.store(), records::keep);
        assert_eq!(ledger::sweep(recording, now).unwrap(), []);
        self.end();
    }

    fn ledger_now(&self, clock: Timestamp) -> Timestamp {
        let recorded = self.store.as_ref().unwrap().last_recorded();
        let mut watch = self.watch;
        watch.look(reading(clock, self.jumped), recorded).now
    }

    fn unseen(&mut self, jump: i64) {
        self.jumped += jump;
    }

    fn confirm_clock(&mut self) {
        self.watch.confirm();
    }

    fn directory(&self) -> Arc<Directory> {
        self.store.as_ref().unwrap().reference()
    }

    fn allocations(&mut self) -> Vec<Allocation> {
        let need = all_accounts(&self.directory());
        let mut found = self.store().load(&need).unwrap().allocations;
        found.sort_by_key(|a| a.id);
        found
    }

    fn instances(&mut self, key: &InstanceKey) -> Vec<Instance> {
        self.store().load(&of_key(key)).unwrap().instances
    }

    fn journal(&mut self, after: i64) -> Vec<Tx> {
        self.commit();
        journal(&self.reader, after).unwrap()
    }

    fn liens(&mut self) -> Vec<(i64, String)> {
        self.commit();
        let sql = "SELECT id, state FROM lien ORDER BY id";
        let mut statement = self.reader.prepare(sql).unwrap();
        let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?)));
        rows.unwrap().map(Result::unwrap).collect()
    }

    fn usages(&mut self) -> Vec<Used> {
        self.commit();
        let sql = "SELECT charged_s, amount, billing FROM usage ORDER BY id";
        let mut statement = self.reader.prepare(sql).unwrap();
        let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)));
        rows.unwrap().map(Result::unwrap).collect()
    }

    /// The figures that readers see are those of the rows that the rules see.
    fn findings(&mut self) -> Vec<String> {
        if self.waiting > 0 {
            return Vec::new();
        }
        let (own, clock) = (self.allocations(), self.ledger_now(Timestamp(i64::MIN)));
        let ids: Vec<AccountId> = self.directory().accounts().map(|a| a.id).collect();
        let shown = money::figures(&self.reader, &ids, clock).unwrap();
        let mut by_account: BTreeMap<AccountId, Vec<Allocation>> = BTreeMap::new();
        for allocation in own {
            by_account
                .entry(allocation.account)
                .or_default()
                .push(allocation);
        }
        let differs = ids.iter().zip(shown).filter(|(id, shown)| {
            let own = by_account.get(id).map_or(&[][..], Vec::as_slice);
            money::Figures::of(own, clock) != *shown
        });
        differs
            .map(|(id, shown)| format!("account {}: readers see {shown:?}", id.0))
            .collect()
    }

    fn proof(&mut self) -> Vec<String> {
        self.commit();
        verify::run(&self.path).unwrap().lines()
    }

    fn reader(&mut self) -> Option<&Connection> {
        self.commit();
        Some(&self.reader)
    }

    fn reopen(&mut self) {
        drop(self.take_store());
        self.open();
    }
}

fn journal(reader: &Connection, after: i64) -> rusqlite::Result<Vec<Tx>> {
    let mut found: Vec<Tx> = Vec::new();
    let mut heads = reader.prepare_cached(
        "SELECT id, op, at_effective, at_recorded, reason FROM tx WHERE id > ?1 ORDER BY id",
    )?;
    let mut rows = heads.query([after])?;
    while let Some(r) = rows.next()? {
        found.push(Tx {
            id: r.get(0)?,
            op: r.get(1)?,
            effective: Timestamp(r.get(2)?),
            recorded: Timestamp(r.get(3)?),
            reason: r.get(4)?,
            entries: Vec::new(),
        });
    }
    let mut lines = reader.prepare_cached(
        "SELECT tx, kind, account, allocation, delta_amount, delta_held, delta_active,
             delta_shadow, delta_shadow_held, project, lien FROM entry WHERE tx > ?1 ORDER BY id",
    )?;
    let mut rows = lines.query([after])?;
    while let Some(r) = rows.next()? {
        let tx: i64 = r.get(0)?;
        let line = Line {
            kind: r.get(1)?,
            account: r.get(2)?,
            allocation: r.get(3)?,
            delta: Delta {
                amount: r.get(4)?,
                held: r.get(5)?,
                active: r.get(6)?,
                shadow: r.get(7)?,
                shadow_held: r.get(8)?,
            },
            project: r.get(9)?,
            lien: r.get(10)?,
        };
        let of = found.iter_mut().find(|t| t.id == tx);
        of.expect("no entry without a transaction")
            .entries
            .push(line);
    }
    Ok(found)
}

/// Everything there is, for [`Ledger::load`].
fn all_accounts(directory: &Directory) -> Need {
    Need {
        // Removed ones too: their allocations are still there.
        accounts: (1..directory.next_id("account")).map(AccountId).collect(),
        ..Need::default()
    }
}
