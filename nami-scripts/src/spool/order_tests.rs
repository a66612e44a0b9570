use std::os::unix::fs::{chown, symlink};

use super::tests::{bench, done, entry, far, names, run};
use super::*;
use crate::outcome::{Condition, Outcome};

/// Files that cannot be read, each in the place of a document of the object `x`.
fn spoil(folder: &Path, kind: &str) -> Result<()> {
    let path = folder.join(name_of(&entry(kind, "x"), 7));
    match kind {
        "folder" => std::fs::create_dir(path),
        "link" => symlink("/dev/null", path),
        "fifo" => {
            let made = std::process::Command::new("mkfifo").arg(path).status()?;
            assert!(made.success());
            Ok(())
        }
        _ => {
            std::fs::write(&path, entry("foreign", "x").encode())?;
            // Only root can.
            chown(&path, Some(12_345), None)
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_holds_back_its_own_object_only() {
    for (kind, why) in [
        (
            "folder",
            "document 7 cannot be read: it is not a regular file",
        ),
        ("link", "document 7 cannot be read: it is a symbolic link"),
        (
            "fifo",
            "document 7 cannot be read: it is not a regular file",
        ),
        (
            "foreign",
            "document 7 cannot be read: its owner is another user",
        ),
    ] {
        let bench = bench();
        let spool = &bench.spool;
        if spoil(&spool.folder, kind).is_err() {
            continue;
        }
        for (key, object) in [("k1", "x"), ("k2", "y")] {
            spool.put(&entry(key, object)).unwrap();
        }
        let (report, sent) = run(spool, |_| done());
        assert_eq!((sent, report.left), (vec!["k2".to_owned()], 2), "{kind}");
        let waiting = report.waiting().unwrap();
        assert!(waiting.contains(why), "{kind}: {waiting}");
        assert!(waiting.len() < 160, "{waiting}");
        assert!(spool.holds(&entry("k", "x").body).unwrap());
    }
}

#[test]
fn a_quarantine_that_cannot_be_used_stops_no_other_document() {
    let bench = bench();
    let spool = &bench.spool;
    std::fs::write(spool.folder.join(QUARANTINE), "a file").unwrap();
    for key in ["bad", "k2"] {
        spool.put(&entry(key, key)).unwrap();
    }
    let refused = Outcome::new(Condition::Refused, "no");
    let (report, sent) = run(spool, |key| {
        if key == "bad" {
            refused.clone()
        } else {
            done()
        }
    });
    assert_eq!((sent.len(), report.delivered, report.left), (2, 1, 1));
    let why = report.waiting().unwrap();
    assert!(why.contains("cannot be moved"), "{why}");
    // If none can be moved, the folder is at fault.
    for number in 0..30 {
        let key = format!("bad{number}");
        spool.put(&entry(&key, &key)).unwrap();
    }
    assert!(drain(spool, far(), |_| refused.clone()).is_err());
}

/// Writes many documents at once, each of its own object.
fn fill(spool: &Spool, count: usize) {
    for number in 0..count {
        let key = format!("bad{number}");
        let entry = entry(&key, &key);
        let name = name_of(&entry, u64::try_from(number).unwrap());
        std::fs::write(spool.folder.join(name), entry.encode()).unwrap();
    }
}

#[test]
fn refused_documents_do_not_starve_the_others() {
    let bench = bench();
    let spool = &bench.spool;
    fill(spool, MAX_BATCH + 200);
    spool.put(&entry("good", "good")).unwrap();
    spool.put(&entry("last", "bad0")).unwrap();
    let denied = |key: &str| match key {
        "good" => done(),
        _ => Outcome::new(Condition::Denied, "not allowed"),
    };
    let (report, sent) = run(spool, denied);
    assert_eq!((sent.len(), report.delivered), (MAX_BATCH, 0));
    assert!(report.more);
    let (report, sent) = run(spool, denied);
    assert_eq!(
        (sent[0].as_str(), sent[200].as_str()),
        ("bad5000", "good"),
        "goes on behind the last"
    );
    assert_eq!(report.delivered, 1);
    // The object of the first document waits for it.
    assert!(!sent.contains(&"last".to_owned()));
    assert!(sent.contains(&"bad0".to_owned()));
    // In the end all of them are accepted, each object in its order.
    let mut sent = Vec::new();
    for _ in 0..4 {
        sent.extend(run(spool, |_| done()).1);
    }
    let place = |key: &str| sent.iter().position(|sent| sent == key);
    assert!(place("bad0") < place("last"));
    assert_eq!(sent.len(), MAX_BATCH + 201);
    assert_eq!(spool.count().unwrap(), 0);
    assert!(names(&spool.folder).iter().all(|name| name != ".mark"));
}

/// The time of a drain ends although the bank answers: that is no outage, and the next one goes on.
#[test]
fn a_drain_without_time_goes_on_behind_its_last_document() {
    let bench = bench();
    let spool = &bench.spool;
    fill(spool, 4);
    let denied = Outcome::new(Condition::Denied, "not allowed");
    let soon = Deadline::after(Duration::from_millis(500));
    let slow = |_: &Entry| {
        soon.pause(Duration::from_mins(1));
        denied.clone()
    };
    let report = drain(spool, soon, slow).unwrap();
    assert_eq!((report.left, report.outage.clone()), (4, None));
    assert_eq!(
        report.waiting().as_deref(),
        Some("4 wait in the spool: not allowed")
    );
    let (_, sent) = run(spool, |_| denied.clone());
    assert_eq!(sent, ["bad1", "bad2", "bad3", "bad0"]);
    assert_eq!(run(spool, |_| done()).1.first().unwrap(), "bad0");
}

#[test]
fn many_documents_that_break_the_bank_do_not_starve_the_others() {
    let bench = bench();
    let spool = &bench.spool;
    fill(spool, 40);
    spool.put(&entry("good", "good")).unwrap();
    let broken = |key: &str| match key {
        "good" => done(),
        _ => Outcome::new(Condition::Internal, "internal error"),
    };
    assert_eq!(run(spool, broken).1.len(), 25);
    let (report, sent) = run(spool, broken);
    assert_eq!((sent[0].as_str(), sent[15].as_str()), ("bad25", "good"));
    assert_eq!(report.delivered, 1);
}

#[test]
fn a_mark_that_cannot_be_read_is_replaced() {
    let bench = bench();
    let spool = &bench.spool;
    symlink("/nowhere", spool.folder.join(".mark")).unwrap();
    fill(spool, 2);
    spool.set_mark(Some(&name_of(&entry("bad0", "bad0"), 0)));
    assert_eq!(run(spool, |_| done()).1, ["bad1", "bad0"]);
}
