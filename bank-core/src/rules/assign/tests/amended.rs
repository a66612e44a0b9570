//! Records that name another project, machine or time after other changes: their charge exists once, at the
//! right place.

use super::*;
use crate::kind::Value;

/// Projects chem and bio with 1000 each, on a machine in a mode.
fn ground(mode: Mode) -> Ground {
    let mut t = Ground::new(mode);
    t.now = 20_000;
    t.project("chem", 1000, Window::ALWAYS);
    t.project("bio", 1000, Window::ALWAYS);
    t
}

fn chunk(report: &UsageReport) -> Command {
    Command::Import(Box::new(Chunk {
        source: report.source.clone(),
        reports: std::iter::once(Arc::new(report.clone())).collect(),
        ..Chunk::default()
    }))
}

fn set(t: &mut Ground, mode: Option<Mode>, source: Option<&str>) {
    let mode = mode.map(|mode| ("mode", Value::from(mode.word())));
    let source = source.map(|source| ("source", Value::from(source)));
    let values: Vec<(&str, Value)> = mode.into_iter().chain(source).collect();
    t.done(Command::set_record("machine", "colony", &values));
}

fn both(t: &Ground) -> [(i64, i64); 2] {
    [t.figures("chem"), t.figures("bio")]
}

#[test]
fn what_a_chunk_counted_stays_in_shadow_when_money_moves() {
    for (account, seconds, expected) in [
        ("bio", 100, [(1000, 0), (1000, -100)]),
        ("bio", 130, [(1000, 0), (1000, -130)]),
        ("chem", 130, [(1000, -130), (1000, 0)]),
        ("chem", 60, [(1000, -60), (1000, 0)]),
    ] {
        let mut t = ground(Mode::Track);
        t.done(chunk(&job("1", "chem", 1, 100)));
        assert_eq!(both(&t), [(1000, -100), (1000, 0)]);
        set(&mut t, Some(Mode::Strict), None);
        let mut amended = job("1", account, 1, 100);
        amended.request.facts.end = Some(Timestamp::from_seconds(9_900 + seconds));
        amended.request.facts.group = "g".into();
        t.done(usage(&amended));
        assert_eq!(both(&t), expected, "{account} {seconds}");
        // And once more: nothing of the first is left behind.
        let last = job("1", "bio", 2, 100);
        t.done(usage(&last));
        assert_eq!(both(&t), [(1000, 0), (1000, -200)], "{account} {seconds}");
    }
}

#[test]
fn what_a_chunk_counted_is_counted_once_after_it_was_kept_for_another_source() {
    for command in [chunk, usage] {
        let mut t = ground(Mode::Track);
        t.done(chunk(&job("1", "chem", 1, 100)));
        set(&mut t, None, Some("nami"));
        let amended = job("1", "bio", 2, 100);
        t.done(command(&amended));
        assert_eq!(both(&t), [(1000, -100), (1000, 0)]);
        set(&mut t, None, Some("slurm:colony"));
        t.done(command(&amended));
        assert_eq!(both(&t), [(1000, 0), (1000, -200)]);
    }
}

#[test]
fn an_amended_record_of_a_chunk_leaves_its_first_machine() {
    let mut t = ground(Mode::Track);
    t.done(Command::add_record("machine", "blue", &[]));
    t.done(chunk(&job("1", "chem", 1, 100)));
    let mut amended = job("1", "chem", 1, 100);
    amended.request.whose.machine = "blue".into();
    t.done(chunk(&amended));
    let entries = t.book.journal.iter().flat_map(|tx| &tx.entries);
    let of_colony = entries.filter(|entry| entry.machine == "colony");
    assert_eq!(of_colony.map(|entry| entry.delta.shadow).sum::<i64>(), 0);
    assert_eq!(both(&t), [(1000, -100), (1000, 0)]);
}

#[test]
fn a_record_that_moved_to_another_project_can_be_undone_and_done_again() {
    let mut t = ground(Mode::Strict);
    t.done(usage(&job("1", "chem", 1, 100)));
    let before = both(&t);
    t.done(usage(&job("1", "bio", 2, 100)));
    let after = both(&t);
    assert_eq!(after, [(1000, 0), (800, 0)]);
    for expected in [before, after, before] {
        t.done(Command::After(After::Reverse(Reverse {
            transaction: t.book.journal.last().unwrap().id,
            allow_debt: false,
            note: String::new(),
        })));
        assert_eq!(both(&t), expected);
    }
    t.done(usage(&job("1", "chem", 3, 100)));
    assert_eq!(both(&t), [(700, 0), (1000, 0)]);
}

#[test]
fn money_that_was_charged_for_real_stays_real_in_a_shadow_mode() {
    let mut t = ground(Mode::Strict);
    t.done(usage(&job("1", "chem", 1, 100)));
    set(&mut t, Some(Mode::Track), None);
    t.done(usage(&job("1", "chem", 2, 100)));
    assert_eq!(both(&t), [(800, 0), (1000, 0)]);
    t.done(usage(&job("1", "bio", 3, 100)));
    assert_eq!(both(&t), [(1000, 0), (700, 0)]);
    // A separate use is in the mode of the machine.
    t.done(usage(&job("2", "bio", 3, 100)));
    assert_eq!(both(&t), [(1000, 0), (700, -300)]);
}

/// A record that had a project, and then names one that is unknown, waits for a project again.
#[test]
fn what_lost_its_project_is_assigned_again() {
    for mode in [Mode::Strict, Mode::Track] {
        for is_first_assigned in [false, true] {
            let what = format!("{mode:?} {is_first_assigned}");
            let mut t = ground(mode);
            if is_first_assigned {
                t.done(usage(&job("1", "ghost", 1, 100)));
                assert!(
                    t.assign(&job("1", "ghost", 1, 100), "chem")
                        .unwrap()
                        .changed
                );
            } else {
                t.done(usage(&job("1", "chem", 1, 100)));
            }
            let chem = both(&t)[0];
            assert_eq!(chem.0 + chem.1, 900, "{what}");
            if is_first_assigned {
                // The name that it was assigned with moves it nowhere.
                t.done(usage(&job("1", "ghost", 2, 100)));
                assert_eq!(both(&t)[0].0 + both(&t)[0].1, 800, "{what}");
            }
            for (n, unknown) in ["spook", "wisp"].into_iter().enumerate() {
                let processors = 2 + i64::try_from(n).unwrap();
                let amended = job("1", unknown, processors, 100);
                t.done(usage(&amended));
                assert_eq!(both(&t), [(1000, 0), (1000, 0)], "{what}");
                let assigned = t.assign(&amended, "bio").unwrap();
                assert!(assigned.changed, "{what} {unknown}");
                let (chem, bio) = (t.figures("chem"), t.figures("bio"));
                assert_eq!(chem, (1000, 0), "{what}");
                assert_eq!(bio.0 + bio.1, 1000 - processors * 100, "{what} {unknown}");
                assert!(!t.assign(&amended, "chem").unwrap().changed, "{what}");
            }
        }
    }
}
