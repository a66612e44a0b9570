use std::cell::RefCell;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use super::*;
use crate::clock::Deadline;
use crate::event::Event;
use crate::outcome::{Condition, Outcome};

const T0: i64 = 1_767_225_600_000_000;

pub(super) struct Bench {
    #[expect(dead_code, reason = "removes the folder when dropped")]
    home: tempfile::TempDir,
    pub(super) spool: Spool,
}

pub(super) fn bench() -> Bench {
    let home = tempfile::tempdir().unwrap();
    let spool = Spool::open_or_make(&home.path().join("a/spool")).unwrap();
    Bench { home, spool }
}

pub(super) fn entry(key: &str, object: &str) -> Entry {
    Entry {
        key: key.into(),
        event: Event::Charge,
        time_us: T0,
        query: String::new(),
        file: String::new(),
        body: format!("<Job><ObjectID>{object}</ObjectID></Job>").into_bytes(),
    }
}

pub(super) fn far() -> Deadline {
    Deadline::after(Duration::from_mins(1))
}

/// Drains with a bank that answers by key; returns the keys in the order they were sent.
pub(super) fn run(spool: &Spool, answer: impl Fn(&str) -> Outcome) -> (Report, Vec<String>) {
    let sent = RefCell::new(Vec::new());
    let report = drain(spool, far(), |entry| {
        sent.borrow_mut().push(entry.key.clone());
        answer(&entry.key)
    })
    .unwrap();
    (report, sent.into_inner())
}

pub(super) fn done() -> Outcome {
    Outcome::new(Condition::Done, "")
}

pub(super) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|item| item.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn delivered_once_in_the_order_of_the_events() {
    let Bench { spool, .. } = &bench();
    // Documents of one moment in the order of arrival; one whose call ended late at its own place.
    for (key, time_us) in [
        ("k2", T0),
        ("k3", T0),
        ("k5", T0 + 1_000_000),
        ("k4", T0 + 1),
        ("k1", T0 - 5_000_000),
    ] {
        let entry = Entry {
            time_us,
            ..entry(key, "x")
        };
        spool.put(&entry).unwrap();
    }
    let (report, sent) = run(spool, |_| done());
    assert_eq!(sent, ["k1", "k2", "k3", "k4", "k5"]);
    assert_eq!(
        report,
        Report {
            delivered: 5,
            ..Report::default()
        }
    );
    assert_eq!(run(spool, |_| done()), (Report::default(), vec![]));
}

#[test]
fn an_outage_ends_the_drain_and_loses_nothing() {
    for outage in [
        Outcome::unreachable("x"),
        Outcome::timed_out(),
        Outcome::new(Condition::Auth, "x"),
        Outcome::of_answer(Event::Charge, 503, b"refused busy: \n"),
    ] {
        let Bench { spool, .. } = &bench();
        for key in ["k1", "k2", "k3"] {
            spool.put(&entry(key, key)).unwrap();
        }
        let (report, sent) = run(
            spool,
            |key| if key == "k1" { done() } else { outage.clone() },
        );
        assert_eq!(sent, ["k1", "k2"]);
        assert_eq!(
            (report.delivered, report.left, report.outage),
            (1, 2, Some(outage))
        );
        assert_eq!(run(spool, |_| done()).1, ["k2", "k3"]);
    }
}

#[test]
fn a_document_that_stays_holds_back_its_own_object_only() {
    let Bench { spool, .. } = &bench();
    for (key, object) in [("k1", "a"), ("k2", "b"), ("k3", "a"), ("k4", "c")] {
        spool.put(&entry(key, object)).unwrap();
    }
    let both = b"<Job><ObjectID>a</ObjectID></Job><Job><ObjectID>d</ObjectID></Job>".to_vec();
    spool
        .put(&Entry {
            body: both,
            ..entry("k5", "")
        })
        .unwrap();
    spool.put(&entry("k6", "d")).unwrap();
    let denied = Outcome::new(Condition::Denied, "not allowed");
    let (report, sent) = run(
        spool,
        |key| if key == "k1" { denied.clone() } else { done() },
    );
    assert_eq!(sent, ["k1", "k2", "k4"]);
    assert_eq!(
        (report.delivered, report.left, report.kept),
        (2, 4, Some(denied))
    );
    assert_eq!(run(spool, |_| done()).1, ["k1", "k3", "k5", "k6"]);
}

#[test]
fn documents_that_break_the_bank_do_not_stop_the_others() {
    let Bench { spool, .. } = &bench();
    let bad: Vec<String> = (0..5).map(|number| format!("bad{number}")).collect();
    for key in bad.iter().map(String::as_str).chain(["good1", "good2"]) {
        spool.put(&entry(key, key)).unwrap();
    }
    let broken = Outcome::new(Condition::Internal, "internal error");
    let (report, sent) = run(spool, |key| {
        if key.starts_with("bad") {
            broken.clone()
        } else {
            done()
        }
    });
    assert_eq!(
        (sent.len(), report.delivered, report.left, report.outage),
        (7, 2, 5, None)
    );
    let remark = report.kept.map(|kept| kept.text);
    assert_eq!(remark.as_deref(), Some("internal error"));
}

#[test]
fn a_bank_that_is_broken_ends_the_drain() {
    let Bench { spool, .. } = &bench();
    for number in 0..30 {
        let key = format!("k{number}");
        spool.put(&entry(&key, &key)).unwrap();
    }
    let broken = Outcome::new(Condition::Internal, "internal error");
    let (report, sent) = run(spool, |_| broken.clone());
    assert_eq!((sent.len(), report.left), (25, 30));
    assert_eq!(
        report.waiting().as_deref(),
        Some("30 wait in the spool: internal error")
    );
    assert_eq!(report.counts(), "0 delivered, 30 left");
}

#[test]
fn final_refusals_go_aside_with_their_reason() {
    let Bench { spool, .. } = &bench();
    for (key, answer) in [
        ("k1", "refused insufficient_funds: need 5, have 2\n"),
        ("k2", "refused project_unknown: nosuch\n"),
        ("k3", "error bad_number: Processors\n"),
        ("k4", "refused key_reused: k4\n"),
    ] {
        spool.put(&entry(key, "same")).unwrap();
        let (report, _) = run(spool, |_| {
            Outcome::of_answer(Event::Charge, 409, answer.as_bytes())
        });
        assert_eq!((report.quarantined, report.left), (1, 0), "{answer}");
    }
    spool.put(&entry("k5", "same")).unwrap();
    assert_eq!(run(spool, |_| done()).1, ["k5"]);
    let aside = spool.folder.join(QUARANTINE);
    let found = names(&aside);
    assert_eq!(found.len(), 8);
    let content = std::fs::read(aside.join(&found[0])).unwrap();
    assert_eq!(Entry::decode(&content).unwrap().key, "k1");
    let reason = std::fs::read_to_string(aside.join(&found[1])).unwrap();
    assert_eq!(
        (found[1].ends_with("-k1.reason"), reason.as_str()),
        (true, "insufficient funds: need 5, have 2\n")
    );
}

#[test]
fn half_written_files_are_never_seen() {
    let Bench { spool, .. } = &bench();
    let whole = entry("k1", "x");
    // Leftovers of a dead process: all or part of the content, without its name.
    let name = name_of(&whole, 1);
    let content = whole.encode();
    std::fs::write(
        spool.folder.join(format!(".new-{name}")),
        &content[..content.len() / 2],
    )
    .unwrap();
    std::fs::write(spool.folder.join("notes.txt"), "by hand").unwrap();
    assert_eq!(run(spool, |_| done()), (Report::default(), vec![]));
    // Leftover of a faulty disk: a name with half its content.
    std::fs::write(spool.folder.join(&name), &content[..content.len() / 2]).unwrap();
    spool.put(&entry("k2", "x")).unwrap();
    let (report, sent) = run(spool, |_| done());
    assert_eq!((report.quarantined, sent), (1, vec!["k2".to_owned()]));
}

#[test]
fn one_process_drains_at_a_time() {
    let Bench { spool, .. } = &bench();
    spool.put(&entry("k1", "x")).unwrap();
    let lock = spool.lock().unwrap().unwrap();
    let (report, sent) = run(spool, |_| done());
    assert_eq!((report.busy, report.left, sent.len()), (true, 1, 0));
    drop(lock);
    assert_eq!(run(spool, |_| done()).1, ["k1"]);
}

#[test]
fn no_time_left_sends_nothing() {
    let Bench { spool, .. } = &bench();
    spool.put(&entry("k1", "x")).unwrap();
    let report = drain(spool, Deadline::after(Duration::ZERO), |_| panic!("sent")).unwrap();
    assert_eq!(
        (report.left, report.outage),
        (1, Some(Outcome::timed_out()))
    );
}

#[test]
fn waiting_objects_are_found() {
    let Bench { spool, .. } = &bench();
    let both = b"<Job><ObjectID>a</ObjectID></Job><Job><ObjectID>b</ObjectID></Job>";
    spool.put(&entry("k1", "x")).unwrap();
    spool
        .put(&Entry {
            body: both.to_vec(),
            ..entry("k2", "")
        })
        .unwrap();
    for (object, expected) in [("x", true), ("a", true), ("b", true), ("c", false)] {
        assert_eq!(
            spool.holds(&entry("k", object).body).unwrap(),
            expected,
            "{object}"
        );
    }
    assert!(!spool.holds(b"<Job/>").unwrap());
}

#[test]
fn folders_that_are_not_ours_alone_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let open = home.path().join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755)).unwrap();
    let link = home.path().join("link");
    std::os::unix::fs::symlink(&open, &link).unwrap();
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    for folder in [&open, &link, &file] {
        assert!(Spool::open_or_make(folder).is_err(), "{}", folder.display());
    }
    assert!(Spool::open(&home.path().join("none")).unwrap().is_none());
    let made = Spool::open_or_make(&home.path().join("made")).unwrap();
    assert_eq!(
        std::fs::metadata(&made.folder).unwrap().mode() & 0o777,
        0o700
    );
    made.put(&entry("k1", "x")).unwrap();
    let name = names(&made.folder).remove(0);
    assert_eq!(
        std::fs::metadata(made.folder.join(&name)).unwrap().mode() & 0o777,
        0o600
    );
    // A link in the place of a document is not followed.
    std::fs::rename(made.folder.join(&name), home.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(home.path().join("elsewhere"), made.folder.join(&name)).unwrap();
    let report = drain(&made, far(), |_| panic!("sent")).unwrap();
    let why = report.kept.map(|kept| kept.text).unwrap();
    assert!(why.contains("it is a symbolic link"), "{why}");
    assert_eq!(report.left, 1);
}

/// The bank's internal error for one document, repeatedly, while it accepts others: after the limit
/// the document is quarantined with its reason, and later ones are sent.
#[test]
fn a_document_that_always_fails_is_set_aside() {
    let Bench { spool, .. } = &bench();
    let failed = || Outcome::new(Condition::Internal, "internal error: x");
    for (key, object) in [("k1", "a"), ("k2", "a")] {
        spool.put(&entry(key, object)).unwrap();
    }
    for round in 1..drain::MAX_TRIES {
        let other = format!("o{round}");
        spool.put(&entry(&other, &other)).unwrap();
        let (report, sent) = run(spool, |key| if key == "k1" { failed() } else { done() });
        assert_eq!(sent, ["k1", other.as_str()]);
        assert_eq!((report.quarantined, report.left), (0, 2), "{round}");
        assert_eq!(report.gave_up, None);
    }
    let (report, sent) = run(spool, |_| failed());
    assert_eq!(sent, ["k1"]);
    assert_eq!((report.quarantined, report.left), (1, 1));
    let why = report.waiting().unwrap();
    assert!(why.starts_with("1 document moved to quarantine after 10 tries: internal error: x"));
    let folder = spool.quarantine_folder().unwrap();
    let reason = names(&folder).into_iter().find(|n| n.ends_with(".reason"));
    let reason = std::fs::read_to_string(folder.join(reason.unwrap())).unwrap();
    assert_eq!(
        reason,
        "moved to quarantine after 10 tries: internal error: x\n"
    );
    assert!(names(&spool.folder).iter().all(|n| !n.contains("tries")));
    assert_eq!(run(spool, |_| done()).1, ["k2"]);
}

/// An error that all documents meet is the bank's: none of them is set aside for it, and none where
/// there is no bank.
#[test]
fn what_all_documents_meet_sets_none_aside() {
    let Bench { spool, .. } = &bench();
    for key in ["k1", "k2"] {
        spool.put(&entry(key, key)).unwrap();
    }
    for _ in 0..3 * drain::MAX_TRIES {
        let (report, _) = run(spool, |_| Outcome::new(Condition::Internal, "x"));
        assert_eq!((report.quarantined, report.left), (0, 2));
        let (report, _) = run(spool, |_| Outcome::unreachable("x"));
        assert_eq!((report.quarantined, report.left), (0, 2));
    }
    assert_eq!(run(spool, |_| done()).1, ["k1", "k2"]);
}

/// Two documents of different objects that always fail, while the calls' own documents are taken: the
/// calls show that the bank works.
#[test]
fn a_call_whose_document_is_taken_shows_that_the_bank_works() {
    let Bench { spool, .. } = &bench();
    for key in ["k1", "k2"] {
        spool.put(&entry(key, key)).unwrap();
    }
    for round in 1..=drain::MAX_TRIES {
        let (mut report, _) = run(spool, |_| Outcome::new(Condition::Other, "odd"));
        assert_eq!((report.quarantined, report.failing.len()), (0, 2));
        spool.count_failing(&mut report).unwrap();
        let aside = if round == drain::MAX_TRIES { 2 } else { 0 };
        assert_eq!((report.quarantined, report.left), (aside, 2 - aside));
    }
    assert!(run(spool, |_| done()).1.is_empty());
}

/// A full disk, and a bank that goes away after an error, count no try.
#[test]
fn an_outage_counts_no_try() {
    let Bench { spool, .. } = &bench();
    for key in ["k1", "k2"] {
        spool.put(&entry(key, key)).unwrap();
    }
    let failed = || Outcome::new(Condition::Internal, "x");
    let full = || Outcome {
        code: "disk_full".to_owned(),
        ..failed()
    };
    let gone = || Outcome::unreachable("x");
    for _ in 0..2 * drain::MAX_TRIES {
        let (report, _) = run(spool, |_| full());
        assert_eq!((report.quarantined, report.left), (0, 2));
        let (report, _) = run(spool, |key| if key == "k1" { failed() } else { gone() });
        assert_eq!((report.quarantined, report.left), (0, 2));
    }
    assert_eq!(run(spool, |_| done()).1, ["k1", "k2"]);
}
