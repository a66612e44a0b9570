//! The replicated log over a server of `PostgreSQL`.

use std::time::{Duration, Instant};

use bankd_cluster::{
    Appended, Entry, Log as _, LogError, NodeRow, PostgresLog, Settings, Settled, secure_last,
    settle,
};

use super::server::{PASSWORD, Server};
use crate::auditor::authority::Authority;
use crate::harness::{Link, postgresql, skip};

const TTL: Duration = Duration::from_millis(600);

fn entry(position: i64, batch: u8) -> Entry {
    Entry {
        position,
        epoch: 3,
        batch: [batch; 16],
        body: vec![batch; 1000],
        hash_before: vec![1; 32],
        hash_after: vec![2; 32],
        at_us: 1_700_000_000_000_123,
    }
}

fn server(test: &str) -> Option<Server> {
    let programs = postgresql();
    if programs.is_none() {
        skip(test, "no PostgreSQL server");
    }
    programs.map(Server::start)
}

/// A log with its tables.
fn created(port: u16) -> PostgresLog {
    let mut log = PostgresLog::new(&Server::settings(port)).unwrap();
    log.create().unwrap();
    log
}

fn text(error: &LogError) -> String {
    let text = format!("{error} {error:?}");
    assert!(!text.contains(PASSWORD), "{text}");
    text
}

#[test]
fn a_log_over_tls_trusts_its_authority_only() {
    let Some(server) = server("a_log_over_tls_trusts_its_authority_only") else {
        return;
    };
    let (Some(own), Some(foreign)) = (Authority::new(), Authority::new()) else {
        return;
    };
    server.secure(&own);
    let by = |authority: &Authority| Settings {
        ca: Some(authority.path("ca.pem")),
        ..Server::settings(server.port)
    };
    let mut log = PostgresLog::new(&by(&own)).unwrap();
    log.create().unwrap();
    assert_eq!(log.append(&entry(1, 1)), Ok(Appended::Done));
    let foreign = PostgresLog::connect(&by(&foreign)).err().unwrap();
    assert!(text(&foreign).contains("certificate"), "{foreign}");
    let plain = PostgresLog::connect(&Server::settings(server.port));
    let plain = plain.err().unwrap();
    assert!(text(&plain).contains("no encryption"), "{plain}");
}

#[test]
fn entries_are_appended_once_and_read_in_order() {
    let Some(server) = server("entries_are_appended_once_and_read_in_order") else {
        return;
    };
    let missing = PostgresLog::connect(&Server::settings(server.port))
        .err()
        .unwrap();
    assert!(matches!(missing, LogError::Wrong(_)), "{missing:?}");
    assert!(text(&missing).contains("bankd cluster init"), "{missing}");
    let mut log = created(server.port);
    log.create().unwrap();
    let mut other = PostgresLog::connect(&Server::settings(server.port)).unwrap();
    assert_eq!((log.last(), log.first()), (Ok(0), Ok(1)));
    assert_eq!(secure_last(&mut log), Ok(None));
    assert_eq!(log.append(&entry(1, 1)), Ok(Appended::Done));
    assert_eq!(other.append(&entry(1, 9)), Ok(Appended::Taken));
    assert_eq!(log.append(&entry(1, 1)), Ok(Appended::Done));
    let gap = other.append(&entry(3, 9)).unwrap_err();
    assert!(matches!(gap, LogError::Wrong(_)), "{gap:?}");
    for position in 2..=8 {
        assert_eq!(other.append(&entry(position, 2)), Ok(Appended::Done));
    }
    assert_eq!(
        log.append(&entry(1, 1)),
        Ok(Appended::Done),
        "a repeat below the last"
    );
    assert_eq!(log.find(1), Ok(Some(entry(1, 1))));
    assert_eq!(log.find(9), Ok(None));
    assert_eq!(log.read(7, 1 << 20).unwrap(), [entry(7, 2), entry(8, 2)]);
    assert_eq!(log.read(2, 1).unwrap().len(), 1);
    assert_eq!(log.read(2, 1001).unwrap().len(), 2);
    assert_eq!(log.read(9, 1), Ok(Vec::new()));
    assert_eq!(secure_last(&mut log), Ok(Some(entry(8, 2))));
    assert_eq!(log.trim(4), Ok(3));
    assert_eq!((log.first(), log.last()), (Ok(4), Ok(8)));
    assert!(matches!(log.read(2, 1), Err(LogError::Wrong(_))));
    assert_eq!(
        log.append(&entry(2, 7)),
        Ok(Appended::Taken),
        "a trimmed position"
    );
    assert_eq!(log.trim(100), Ok(4));
    assert_eq!(log.last(), Ok(8));
    let mut stranger = Server::settings(server.port);
    stranger.bank = "another".to_owned();
    assert_eq!(PostgresLog::connect(&stranger).unwrap().last(), Ok(0));
    let warnings = log.warnings().unwrap();
    assert!(
        warnings.iter().any(|one| one.contains("fsync is off")),
        "{warnings:?}"
    );
    assert!(
        warnings
            .iter()
            .any(|one| one.contains("synchronous_standby_names"))
    );
}

#[test]
fn the_lease_and_the_nodes_of_a_log() {
    let Some(server) = server("the_lease_and_the_nodes_of_a_log") else {
        return;
    };
    let mut a = created(server.port);
    let mut b = created(server.port);
    assert_eq!(a.lease(), Ok(None));
    let taken = a.take("a", "a:1", TTL).unwrap().unwrap();
    assert_eq!((taken.epoch, taken.durable), (1, 0));
    assert_eq!(b.take("b", "b:1", TTL), Ok(None));
    assert_eq!(a.renew("a", 1, 5), Ok(true));
    assert_eq!(a.renew("a", 1, 4), Ok(true));
    assert_eq!(b.renew("b", 1, 9), Ok(false));
    let since = Instant::now();
    let taken = loop {
        if let Some(taken) = b.take("b", "b:1", TTL).unwrap() {
            break taken;
        }
        assert!(since.elapsed() < Duration::from_secs(5));
    };
    assert!(since.elapsed() >= TTL / 2, "{:?}", since.elapsed());
    assert_eq!((taken.epoch, taken.durable), (2, 5));
    assert_eq!(a.renew("a", 1, 5), Ok(false));
    assert_eq!(b.hand_over("b", 2, Some("a")), Ok(true));
    assert_eq!(b.renew("b", 2, 5), Ok(false));
    let long = Duration::from_mins(1);
    assert_eq!(b.take("b", "b:1", long), Ok(None));
    assert_eq!(a.take("a", "a:1", long).unwrap().unwrap().epoch, 3);
    assert_eq!(a.hand_over("a", 3, None), Ok(true));
    assert_eq!(a.lease().unwrap().unwrap().node, "");
    assert_eq!(b.take("b", "b:1", long).unwrap().unwrap().epoch, 4);
    let mut row = NodeRow {
        node: "b".to_owned(),
        address: "b:1".to_owned(),
        applied: 7,
        version: "1.0".to_owned(),
        age_ms: 0,
    };
    b.report(&row).unwrap();
    row.applied = 8;
    b.report(&row).unwrap();
    let rows = a.nodes().unwrap();
    assert_eq!((rows.len(), rows[0].applied), (1, 8));
    assert!(rows[0].age_ms < 5000, "{rows:?}");
    a.leave("b").unwrap();
    assert_eq!(a.nodes(), Ok(Vec::new()));
}

#[test]
fn a_stopped_server_is_away_and_comes_back() {
    let Some(server) = server("a_stopped_server_is_away_and_comes_back") else {
        return;
    };
    let mut log = created(server.port);
    assert_eq!(log.append(&entry(1, 1)), Ok(Appended::Done));
    server.down();
    let away = log.append(&entry(2, 2)).unwrap_err();
    assert!(matches!(away, LogError::Away(_)), "{away:?}");
    assert!(text(&away).contains("127.0.0.1"), "{away}");
    server.up();
    assert_eq!(log.append(&entry(2, 2)), Ok(Appended::Done));
    // A restart between two calls is no error.
    server.down();
    server.up();
    assert_eq!(log.append(&entry(3, 3)), Ok(Appended::Done));
    let mut two = Server::settings(server.port);
    two.address = format!(
        "postgres://bank@127.0.0.1:1,127.0.0.1:{}/postgres",
        server.port
    );
    assert_eq!(PostgresLog::connect(&two).unwrap().last(), Ok(3));
}

#[test]
fn a_lost_commit_and_a_cancelled_standby_are_unknown() {
    let Some(server) = server("a_lost_commit_and_a_cancelled_standby_are_unknown") else {
        return;
    };
    let mut log = created(server.port);
    assert_eq!(log.append(&entry(1, 1)), Ok(Appended::Done));
    // The append waits for a lock, and its connection is ended.
    let lock = "BEGIN; LOCK bank_log; SELECT pg_sleep(0.6); \
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'; COMMIT";
    let mut locked = server
        .psql(&[lock])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let held = "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted \
        AND relation = 'bank_log'::regclass";
    while server.sql(&[held]).trim() != "1" {}
    let unknown = log.append(&entry(2, 2)).unwrap_err();
    locked.wait().unwrap();
    assert!(matches!(unknown, LogError::Unknown(_)), "{unknown:?}");
    text(&unknown);
    assert_eq!(settle(&mut log, &entry(2, 2)), Ok(Settled::Absent));
    assert_eq!(log.append(&entry(2, 2)), Ok(Appended::Done));
    // A standby that is not there: the wait for it is cancelled, and the row is visible.
    server.sql(&[
        "ALTER SYSTEM SET synchronous_standby_names = 'nobody'",
        "SELECT pg_reload_conf()",
    ]);
    let cancel = "DO $$ BEGIN FOR i IN 1..200 LOOP PERFORM pg_stat_clear_snapshot(); \
        PERFORM pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'; \
        EXIT WHEN FOUND; PERFORM pg_sleep(0.05); END LOOP; END $$";
    let mut cancelling = server.psql(&[cancel]).spawn().unwrap();
    let since = Instant::now();
    let unknown = loop {
        // The first ones may come before the new setting.
        match log.append(&entry(3, 3)) {
            Ok(_) => assert!(since.elapsed() < Duration::from_secs(9)),
            Err(error) => break error,
        }
    };
    cancelling.wait().unwrap();
    assert!(matches!(unknown, LogError::Unknown(_)), "{unknown:?}");
    assert!(text(&unknown).contains("may not be durable"), "{unknown}");
    assert_eq!(log.last(), Ok(3));
    // Nothing cancels it now: the call ends by its time limit.
    let again = settle(&mut log, &entry(3, 3)).unwrap_err();
    assert!(matches!(again, LogError::Unknown(_)), "{again:?}");
    assert!(text(&again).contains("no answer in time"), "{again}");
    server.sql(&[
        "ALTER SYSTEM RESET synchronous_standby_names",
        "SELECT pg_reload_conf()",
    ]);
    let settled = (0..3).map(|_| settle(&mut log, &entry(3, 3)));
    assert!(settled.into_iter().any(|one| one == Ok(Settled::Done)));
    assert_eq!(settle(&mut log, &entry(3, 4)), Ok(Settled::Taken));
}

#[test]
fn a_hanging_link_ends_within_seconds() {
    let Some(server) = server("a_hanging_link_ends_within_seconds") else {
        return;
    };
    let link = Link::to(&format!("127.0.0.1:{}", server.port));
    let mut log = created(link.address().port());
    assert_eq!(log.append(&entry(1, 1)), Ok(Appended::Done));
    link.hang();
    let since = Instant::now();
    let unknown = log.append(&entry(2, 2)).unwrap_err();
    assert!(matches!(unknown, LogError::Unknown(_)), "{unknown:?}");
    let away = log.append(&entry(2, 2)).unwrap_err();
    assert!(matches!(away, LogError::Away(_)), "{away:?}");
    assert!(
        since.elapsed() < Duration::from_secs(5),
        "{:?}",
        since.elapsed()
    );
    text(&away);
    // What the link held back is lost with its connections.
    link.cut();
    link.heal();
    assert_eq!(settle(&mut log, &entry(2, 2)), Ok(Settled::Absent));
    assert_eq!(log.append(&entry(2, 2)), Ok(Appended::Done));
}

#[test]
fn wrong_settings_are_named_without_the_password() {
    let Some(server) = server("wrong_settings_are_named_without_the_password") else {
        return;
    };
    let mut log = created(server.port);
    server.sql(&["UPDATE bank_log_format SET version = 2"]);
    let port = server.port;
    let refused = |settings: &Settings| {
        assert!(!format!("{settings:?}").contains(PASSWORD));
        let error = PostgresLog::connect(settings).err().unwrap();
        assert!(matches!(error, LogError::Wrong(_)), "{error:?}");
        text(&error)
    };
    assert!(refused(&Server::settings(port)).contains("format 2"));
    let again = log.create().unwrap_err();
    assert!(text(&again).contains("another format"), "{again}");
    let addresses = [
        (
            format!("postgres://bank:{PASSWORD}x@127.0.0.1:{port}/postgres"),
            "authentication",
        ),
        (
            format!("postgres://bank:{PASSWORD}@127.0.0.1:{port}/nothing"),
            "does not exist",
        ),
        (
            format!("host=127.0.0.1 password=a {PASSWORD}=b"),
            "connection string",
        ),
        (
            format!("postgres://bank:{PASSWORD}@127.0.0.1:{port}/postgres?sslmode=require"),
            "CAs",
        ),
    ];
    for (address, part) in addresses {
        let settings = Settings {
            address,
            password: None,
            ..Server::settings(port)
        };
        let found = refused(&settings);
        assert!(found.contains(part), "{found}");
    }
}
