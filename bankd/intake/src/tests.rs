use super::waiting::LINES_MAX;
use super::*;
use bank_core::amount::Precision;
use bank_core::command::Scope;
use bank_core::directory::Policy;
use bank_core::model::Mode;
use bank_core::time::Timestamp;
use bankd_config::BATCH_MAX;
use bankd_ingest::{Options, formats};
use bankd_ledger::clock::LedgerClock;
use bankd_ledger::writer::{self, Origin};
use bankd_records as records;
use bankd_store::SqliteStore;
use bankd_store::bank::NewBank;
use bankd_store::verify;
use std::fmt::Write as _;
use std::sync::Arc;
use std::thread::JoinHandle;

struct Fixed(Timestamp);

impl LedgerClock for Fixed {
    fn now(&self) -> Timestamp {
        self.0
    }
}

struct Site {
    folder: tempfile::TempDir,
    writer: Writer,
    thread: JoinHandle<()>,
}

/// 2026-01-01 in microseconds.
const NOW: i64 = 1_767_225_600_000_000;

fn site(mode: Mode) -> Site {
    let folder = tempfile::tempdir().unwrap();
    let new = NewBank {
        uuid: "00000000-0000-4000-8000-000000000000".into(),
        precision: Precision::DEFAULT,
        unit: "SU".into(),
        test: true,
        init_uid: 0,
        created_at: Timestamp(0),
    };
    let policy = Policy {
        mode,
        ..Policy::default()
    };
    let store = SqliteStore::create(&folder.path().join("bank.db"), &new, policy).unwrap();
    let clock = Arc::new(Fixed(Timestamp(NOW)));
    let (writer, thread) = writer::start(store, clock, records::keep, BATCH_MAX).unwrap();
    Site {
        folder,
        writer,
        thread,
    }
}

fn feed() -> Feed {
    Feed {
        source: "slurm:colony".to_owned(),
        format: "sacct".to_owned(),
        machine: None,
        caller: Caller {
            actor: "amy".to_owned(),
            client: "unix:amy".to_owned(),
            origin: Origin::Cli,
            scope: Scope::default(),
        },
        request_id: "r".to_owned(),
        dry_run: false,
        keep_raw: true,
    }
}

impl Site {
    fn import(&self, text: &str, chunk: usize) -> Taken {
        take(text, Intake::new(self.writer.clone(), feed(), chunk))
    }

    /// The same with exclusive access to the bank.
    fn import_alone(&self, text: &str, chunk: usize) -> Taken {
        let mut intake = Intake::new(self.writer.clone(), feed(), chunk);
        intake.has_bank_alone();
        take(text, intake)
    }

    /// One number out of the database, once the writer is gone.
    fn number(&self, sql: &str) -> i64 {
        let bank = rusqlite::Connection::open(self.folder.path().join("bank.db")).unwrap();
        bank.query_row(sql, [], |r| r.get(0)).unwrap()
    }
}

fn take(text: &str, intake: Intake) -> Taken {
    try_take(text, intake).unwrap()
}

fn try_take(text: &str, mut intake: Intake) -> io::Result<Taken> {
    let format = formats::named("sacct").unwrap();
    let mut reader = (format.reader)(&Options::default()).unwrap();
    intake.place("day.sacct");
    let mut input = text.as_bytes();
    let mut sink = |record| intake.take(record);
    reader.file("day.sacct", &mut input, &mut sink)?;
    let extra = reader.finish(&mut |record| intake.take(record))?;
    intake.end(extra)
}

const HEAD: &str = "JobID|Cluster|User|Account|State|ExitCode|Submit|Start|End|NNodes|NCPUS\n";

fn line(id: usize, account: &str, start: &str, end: &str) -> String {
    format!(
        "{id}|colony|amy|{account}|COMPLETED|0:0|2025-12-01T00:00:00|2025-12-01T{start}|2025-12-01T{end}|1|4\n"
    )
}

/// Amended records, within a chunk and in later ones, some as separate commands: exclusive access
/// has the same result.
#[test]
fn whoever_has_the_bank_alone_comes_to_the_same() {
    for mode in [Mode::Strict, Mode::Track] {
        let mut text = HEAD.to_owned();
        for id in 0..40 {
            text.push_str(&line(id % 23, "chem", "01:00:00", "02:00:00"));
            let end = format!("0{}:30:00", 2 + id % 7);
            text.push_str(&line(id % 11, "chem", "01:00:00", &end));
        }
        let answers = [false, true].map(|alone| {
            let site = site(mode);
            let taken = if alone {
                site.import_alone(&text, 4)
            } else {
                site.import(&text, 4)
            };
            site.writer.stop();
            let Site { folder, thread, .. } = site;
            thread.join().unwrap();
            let path = folder.path().join("bank.db");
            let bank = rusqlite::Connection::open(&path).unwrap();
            let sql = "SELECT group_concat(object_id || ' ' || end_at || ' ' || became || ' ' ||
                           revision || ' ' || coalesce(amount, '') || ' ' || place, char(10))
                       FROM (SELECT * FROM usage_identity ORDER BY object_id)";
            let rows: String = bank.query_row(sql, [], |r| r.get(0)).unwrap();
            assert_eq!(rows.lines().count(), 23);
            assert_eq!(verify::run(&path).unwrap().lines(), [""; 0]);
            (taken.outcomes, rows)
        });
        assert_eq!(answers[0], answers[1], "{mode:?}");
    }
}

/// If a portion fails, later portions of the import are already queued: none of them is imported,
/// and a second run imports the missing ones.
#[test]
fn behind_a_portion_that_failed_nothing_is_taken_in() {
    for (mode, failing) in [(Mode::Strict, 12), (Mode::Track, 12), (Mode::Track, 3)] {
        let site = site(mode);
        let bank = rusqlite::Connection::open(site.folder.path().join("bank.db")).unwrap();
        let trigger = format!(
            "CREATE TRIGGER full BEFORE INSERT ON usage_identity WHEN NEW.object_id = '{failing}'
             BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
        );
        bank.execute_batch(&trigger).unwrap();
        let mut text = HEAD.to_owned();
        for id in 0..60 {
            text.push_str(&line(id, "chem", "01:00:00", "02:00:00"));
        }
        let mut intake = Intake::new(site.writer.clone(), feed(), 10);
        intake.has_bank_alone();
        assert!(try_take(&text, intake).is_err());
        bank.execute_batch("DROP TRIGGER full").unwrap();
        // All earlier queue entries are done when this one is.
        site.writer.settled().unwrap();
        let there = site.number("SELECT count(*) FROM usage_identity");
        assert_eq!(there, i64::from(failing / 10 * 10), "{mode:?}");
        let last = "SELECT coalesce(max(CAST(object_id AS INTEGER)), -1) FROM usage_identity";
        assert_eq!(site.number(last), there - 1, "{mode:?}");
        let again = site.import_alone(&text, 10);
        let known = u64::try_from(there).unwrap();
        assert_eq!(again.outcomes.get("duplicate").copied().unwrap_or(0), known);
        assert_eq!(again.outcomes.values().sum::<u64>(), 60);
        assert_eq!(site.number("SELECT count(*) FROM usage_identity"), 60);
        site.writer.stop();
        let Site { folder, thread, .. } = site;
        thread.join().unwrap();
        let answers = verify::run(&folder.path().join("bank.db")).unwrap();
        assert_eq!(answers.lines(), [""; 0]);
    }
}

/// Unreadable records are as large as others: they do not wait for a chunk of lines.
/// Other commands wait for a portion, not for all tasks of a line.
#[test]
fn the_tasks_of_an_array_are_several_portions() {
    let site = site(Mode::Track);
    let array = line(7, "chem", "01:00:00", "02:00:00").replacen('7', "7_[0-24]", 1);
    let text = format!("{HEAD}{array}{}", line(8, "chem", "01:00:00", "02:00:00"));
    let before = site.writer.counters().commits;
    let taken = site.import(&text, 10);
    let commits = site.writer.counters().commits - before;
    assert_eq!(commits, 3, "{:?}", taken.outcomes);
    assert_eq!(taken.outcomes.values().sum::<u64>(), 26);
    let again = site.import(&text, 10);
    assert_eq!(again.outcomes.get("duplicate"), Some(&26), "{again:?}");
    site.writer.stop();
    site.thread.join().unwrap();
}

#[test]
fn lines_for_the_quarantine_do_not_pile_up() {
    let site = site(Mode::Track);
    let long = vec![b'x'; 64 << 10];
    let mut intake = Intake::new(site.writer.clone(), feed(), CHUNK_ONLINE);
    intake.place("day.sacct");
    for number in 1..=600 {
        let found = Found::Malformed("no record".to_owned());
        let record = Record::new(number, &long, found);
        intake.take(record).unwrap();
        assert!(intake.waiting.quarantine.len() * long.len() < LINES_MAX);
    }
    assert_eq!(intake.end(Vec::new()).unwrap().quarantined, 600);
}

/// The row of a use names the allocation of its amount: the entries of that allocation match.
#[test]
fn verify_finds_a_figure_that_differs_from_its_row() {
    let site = site(Mode::Track);
    site.import(
        &format!("{HEAD}{}", line(1, "chem", "01:00:00", "02:00:00")),
        10,
    );
    site.writer.stop();
    let Site { folder, thread, .. } = site;
    thread.join().unwrap();
    let path = folder.path().join("bank.db");
    assert_eq!(verify::run(&path).unwrap().lines(), [""; 0]);
    let bank = rusqlite::Connection::open(&path).unwrap();
    // The row belongs to another transaction, so only the allocation differs.
    let change = "UPDATE usage_identity SET amount = 5, allocation = 7, tx = NULL";
    assert_eq!(bank.execute(change, []).unwrap(), 1);
    drop(bank);
    let findings = verify::run(&path).unwrap().lines().join("\n");
    for expected in [
        "usage_identity 1: its row was changed, its seal is broken",
        "allocation 7: the sum of its finished uses is 5, that of its entries 0",
    ] {
        assert!(findings.contains(expected), "{findings}");
    }
}

/// Rows that differ in every way from the previous one: other, missing, longer and shorter values;
/// every fifth id is repeated, unchanged or amended.
fn mixed() -> String {
    let mut text = HEAD.to_owned();
    let mut seed = 7_usize;
    for n in 0..300_usize {
        seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12_345) % (1 << 31);
        let pick = |of: usize| seed / 64 % of;
        let id = match n % 5 {
            4 => n / 2,
            _ => n * 37 % 1_009,
        };
        let user = ["amy", "", "bob", "a longer name"][pick(4)];
        let account = ["chem", "", "bio"][pick(3)];
        let state = ["COMPLETED", "FAILED", "CANCELLED by 7"][pick(3)];
        let exit = ["0:0", "", "1:0", "0:9"][pick(4)];
        let submit = ["2025-12-01T00:00:00", "Unknown"][pick(2)];
        let (hour, cpus) = (2 + pick(5), ["4", "", "128"][pick(3)]);
        let _ = writeln!(
            text,
            "{id}|colony|{user}|{account}|{state}|{exit}|{submit}|2025-12-01T01:00:00|2025-12-01T0{hour}:00:00|1|{cpus}"
        );
    }
    text
}

/// All columns except the origin of a row, and the rows that wait for a project.
fn rows(site: &Site) -> Vec<String> {
    let bank = rusqlite::Connection::open(site.folder.path().join("bank.db")).unwrap();
    let sql = "SELECT concat_ws('|', object_id, start_at, quote(end_at), quote(submit_at), machine,
            object_type, account, login, project, user, group_name, queue, qos, state,
            quote(exit_code), flags, quote(millis), quote(nodes), quote(gpus), quote(memory_bytes),
            quote(wall_us), quote(cpu_us), quote(requested_s), revision, became, policy, counted,
            quote(amount), quote(allocation), quote(refusal), hex(digest),
            id IN (SELECT identity FROM unmapped))
        FROM usage_identity ORDER BY object_id, start_at";
    let mut statement = bank.prepare(sql).unwrap();
    let rows = statement.query_map([], |r| r.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn chunks_of_any_size_make_the_same_rows() {
    let text = mixed();
    let one = site(Mode::Track);
    let answers = one.import(&text, 1);
    let alone = rows(&one);
    assert!(alone.len() > 200, "{}", alone.len());
    assert!(answers.outcomes["adjusted"] > 0, "{answers:?}");
    assert!(alone.iter().all(|row| row.ends_with("|1")), "{alone:?}");
    for chunk in [7, 100, 1_000] {
        let site = site(Mode::Track);
        assert_eq!(
            site.import(&text, chunk).outcomes,
            answers.outcomes,
            "{chunk}"
        );
        assert_eq!(rows(&site), alone, "{chunk}");
    }
}

/// Many identities are read at once: existing ones are found among new ones, in any order of ids.
#[test]
fn what_is_known_is_found_among_what_is_new() {
    let site = site(Mode::Track);
    let ids: Vec<usize> = (0..500).map(|n| n * 7_919 % 100_003).collect();
    let lines = |every: usize| {
        let some = ids.iter().step_by(every);
        let lines: String = some
            .map(|id| line(*id, "chem", "01:00:00", "02:00:00"))
            .collect();
        HEAD.to_owned() + &lines
    };
    site.import(&lines(3), 1_000);
    let again = site.import(&lines(1), 150);
    let outcomes = [("notional".to_owned(), 333), ("duplicate".to_owned(), 167)];
    assert_eq!(again.outcomes, outcomes.into());
}
