//! The screen of the daemon's state.

use bank_api::v1::{AttentionStatus, LastBackup, Limited, MachineStatus, NextCycle, TargetStatus};

use super::*;
use crate::out::{assert_fits, filled};

#[test]
fn the_screen() {
    let machine = |name: &str, mode: &str, last: Option<&str>| MachineStatus {
        name: name.into(),
        mode: mode.into(),
        last_contact: last.map(str::to_owned),
        source: None,
        test: name == "nomad",
    };
    let status = Status {
        version: "0.3.1".into(),
        healthy: true,
        uptime_s: 12 * 86_400,
        unit: "SU".into(),
        precision: 3,
        sqlite_version: "3.54.1".into(),
        journal_entries: 10_412_003,
        database_bytes: Some(3_328_599_655),
        open_liens: Some(212),
        queue_capacity: 4096,
        commits: 1000,
        commands: 50_000,
        unbilled: Some(Unbilled {
            count: 0,
            amount: "0.000".into(),
        }),
        mode: "strict".into(),
        machines: vec![
            machine("ia64", "strict", Some("2026-11-20T21:40:46Z")),
            machine("nomad", "track", None),
        ],
        at: "2026-11-20T21:41:00Z".into(),
        next_boundary: Some("2026-11-20T21:43:00Z".into()),
        next_cycle: Some(NextCycle {
            name: "monthly".into(),
            at: "2026-11-23T21:41:00Z".into(),
        }),
        ..Status::default()
    };
    let now = when::read("2026-11-20T21:41:00Z").unwrap();
    let want = "\
bankd 0.3.1  healthy  up 12 days   sqlite 3.54.1  journal 10,412,003 entries (3.1 GiB)
modes          ia64 strict   nomad track (test)   default strict
open liens 212   queue 0/4096   commands 50,000 in 1,000 commits   unbilled 0
clock ok   next boundary in 2 min   next cycle monthly in 3 days
last document  ia64 14 s ago
not reported   nomad: no request of a scheduler and no usage of a collector yet
unit SU, 3 decimals
";
    assert_eq!(screen(&status, now), want);
    let sink = |name: &str, behind, error: Option<&str>| SinkStatus {
        name: name.into(),
        path: format!("/var/{name}.txt"),
        behind,
        error: error.map(str::to_owned),
        ..SinkStatus::default()
    };
    let status = Status {
        sinks: vec![
            sink("file", 0, None),
            sink("site", 7, None),
            sink("ggf", 1200, Some("no space")),
        ],
        ..Status::default()
    };
    let want = "\
records        file ok   site behind by 7   ggf behind by 1,200 !
record file ggf (/var/ggf.txt): no space !
";
    let answer = sinks(&status);
    assert_eq!(strip_str(&answer).to_string(), want);
    let disputed = Status {
        disputed: Some(3),
        ..status
    };
    assert!(screen(&disputed, now).contains("disputed 3 !"));
    let quiet = Status {
        silent_sources: vec!["sge:colony".to_owned(), "pbs:moon".to_owned()],
        ..Status::default()
    };
    assert!(screen(&quiet, now).contains("silent         sge:colony   pbs:moon:"));
    let one = |name: &str, dead, error: Option<&str>| TargetStatus {
        name: name.into(),
        active: true,
        waiting: 2,
        dead,
        error: error.map(str::to_owned),
    };
    let watched = Status {
        attention: Some(AttentionStatus {
            on: true,
            open: 3,
            targets: vec![one("ops", 0, None), one("mail", 1, Some("answered 500"))],
            off: vec!["bio".to_owned()],
        }),
        ..Status::default()
    };
    let want = "\
alerts         3 raised: `bank attention ls` !
notices        ops: 2 waiting
notices        mail: 2 waiting, 1 abandoned: answered 500 !
not watched    bio
";
    let message = attention(&watched);
    assert_eq!(strip_str(&message).to_string(), want);
    assert_eq!(attention(&Status::default()), "");
    let safe = Status {
        last_backup: Some(LastBackup {
            path: "/backup/bank-1".into(),
            made_at: "2026-11-20T03:00:00Z".into(),
            proof: "journal".into(),
            ..LastBackup::default()
        }),
        wal_bytes: Some(3 << 30),
        limited: Limited {
            rate: 1200,
            concurrent: 0,
            body: 1,
        },
        ..Status::default()
    };
    let want = "\
last backup    18 h ago, verified, /backup/bank-1
write-ahead log 3.0 GiB
refused        1,200 too often   0 too many at once   1 too large
";
    assert_eq!(safety(&safe, now), want);
    assert_eq!([size(512), size(1536)], ["512 bytes", "1.5 KiB"]);
}

#[test]
fn the_widest_state_fits_a_terminal() {
    let now = when::read("2026-11-20T21:41:00Z").unwrap();
    for mut status in filled::<Status>() {
        for state in ["ok", "held", "behind"] {
            status.clock.state = state.to_owned();
            assert_fits(&fitted(&screen(&status, now), 80, values));
            status.healthy = !status.healthy;
        }
        status
            .machines
            .iter_mut()
            .for_each(|m| m.last_contact = None);
        assert_fits(&fitted(&screen(&status, now), 80, values));
    }
}
