use super::super::bank::NewBank;
use super::super::{SourceSeen, verify};
use super::*;
use bank_core::directory::Policy;

fn store(folder: &tempfile::TempDir) -> SqliteStore {
    let new = NewBank::of_test();
    let path = folder.path().join("bank.db");
    let store = SqliteStore::create(&path, &new, Policy::default()).unwrap();
    let seen = SourceSeen {
        name: "nomad".to_owned(),
        ..SourceSeen::default()
    };
    store.saw(&seen, Timestamp(1)).unwrap();
    store
}

fn count(user: &str, running: u64, queued: u64) -> Count {
    Count {
        machine: "cloud".to_owned(),
        account: "space".to_owned(),
        project: "space".to_owned(),
        login: user.to_owned(),
        user: user.to_owned(),
        running,
        queued,
        ..Count::default()
    }
}

fn snapshot(at: i64, counts: &[Count]) -> Snapshot {
    Snapshot {
        at: Timestamp(at),
        counts: counts.to_vec(),
    }
}

/// Stored rows: moment, user, running and queued.
fn stored(store: &SqliteStore) -> Vec<(i64, String, u64, u64)> {
    let users = "SELECT id, user FROM snapshot_key";
    let mut users = store.connection.prepare(users).unwrap();
    let users = users.query_map([], |r| Ok((r.get(0)?, r.get(1)?))).unwrap();
    let users: BTreeMap<i64, String> = users.map(Result::unwrap).collect();
    let all = "SELECT at, counts FROM snapshot ORDER BY at";
    let mut all = store.connection.prepare(all).unwrap();
    let all = all.query_map([], |r| Ok((r.get(0)?, r.get::<_, Vec<u8>>(1)?)));
    let mut found = Vec::new();
    for row in all.unwrap() {
        let (at, bytes) = row.unwrap();
        each(&bytes, |seen| {
            found.push((at, users[&seen.key].clone(), seen.running, seen.queued));
        })
        .unwrap();
    }
    found
}

fn of(at: i64, user: &str, running: u64, queued: u64) -> (i64, String, u64, u64) {
    (at, user.to_owned(), running, queued)
}

#[test]
fn a_snapshot_that_comes_again_takes_the_place_of_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let first = [count("amy", 2, 0), count("bob", 0, 1), count("carl", 0, 0)];
    store.count("nomad", &snapshot(10, &first)).unwrap();
    store.count("nomad", &snapshot(10, &first)).unwrap();
    store.count("nomad", &snapshot(20, &[])).unwrap();
    assert_eq!(stored(&store), [of(10, "amy", 2, 0), of(10, "bob", 0, 1)]);
    // Names that are the same to the bank are one.
    let again = [count("bob", 1, 0), count("bob", 2, 3)];
    store.count("nomad", &snapshot(10, &again)).unwrap();
    assert_eq!(stored(&store), [of(10, "bob", 3, 3)]);
    let snapshots = "SELECT count(*), max(id) FROM snapshot";
    let rows = |r: &rusqlite::Row<'_>| Ok((r.get::<_, i64>(0)?, r.get::<_, i64>(1)?));
    let found = store.connection.query_row(snapshots, [], rows).unwrap();
    assert_eq!(found, (2, 2));
    let report = verify::run(&folder.path().join("bank.db")).unwrap();
    assert!(report.is_sound(), "{:?}", report.lines());
}

/// Manual changes, additions, removals and inventions are detected.
#[test]
fn verify_finds_what_was_changed() {
    for (sql, found) in [
        ("UPDATE snapshot SET counts = x'02060a'", "seal"),
        ("UPDATE snapshot SET at = at + 1", "seal"),
        ("UPDATE snapshot_key SET project = 'other'", "seal"),
        ("DELETE FROM snapshot", "rows were added or removed"),
        ("UPDATE snapshot SET counts = x'0206'", "cannot be read"),
        (
            "UPDATE snapshot SET counts = x'0e0600'",
            "a user that its collector did not name",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let counts = [count("amy", 2, 0)];
        store.count("nomad", &snapshot(10, &counts)).unwrap();
        let path = folder.path().join("bank.db");
        drop(store);
        let other = Connection::open(&path).unwrap();
        assert_eq!(other.execute(sql, []).unwrap(), 1, "{sql}");
        drop(other);
        let lines = verify::run(&path).unwrap().lines();
        assert!(
            lines.iter().any(|line| line.contains(found)),
            "{sql}: {lines:?}"
        );
    }
}

#[test]
fn counts_read_back_or_are_refused() {
    let all = [
        Seen {
            key: 1,
            running: 3,
            queued: 0,
        },
        Seen {
            key: 7,
            running: 0,
            queued: u64::try_from(i64::MAX).unwrap(),
        },
        Seen {
            key: 5_000_000_000,
            running: 12,
            queued: 4,
        },
    ];
    let bytes = pack(all.iter());
    let mut back = Vec::new();
    each(&bytes, |seen| back.push(seen)).unwrap();
    assert_eq!(back, all);
    for length in 1..bytes.len() {
        // Cut short it is an error or fewer, and never a panic.
        let mut fewer = 0;
        let read = each(&bytes[..length], |_| fewer += 1);
        assert!(read.is_err() || fewer < all.len());
    }
    // The same key twice, a step back, fewer than none.
    for bytes in [&[2_u8, 2, 0, 0, 2, 0][..], &[2, 2, 0, 1, 2, 0], &[2, 1, 0]] {
        assert!(each(bytes, |_| {}).is_err(), "{bytes:?}");
    }
}
