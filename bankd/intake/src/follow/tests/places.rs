//! Where the file goes, and how it is found again.

use super::*;

fn pbs() -> Follower {
    Follower::new("acct", "pbs", Options::default())
}

#[test]
fn half_a_line_waits_for_its_other_half() {
    let mut f = pbs();
    let line = job(1);
    f.append("acct", &(job(0) + &line[..40]));
    f.settle();
    assert_eq!(f.ids(), expected(0..1), "however long nobody writes");
    f.append("acct", &line[40..]);
    f.look().unwrap();
    assert_eq!(f.ids(), expected(0..2));
    assert_eq!(f.taken.records[1].line, 2);
}

#[test]
fn a_last_line_without_an_end_counts_once_nobody_can_end_it() {
    let mut f = pbs();
    let lines = jobs(0..2);
    f.append("acct", lines.trim_end());
    f.settle();
    assert_eq!(f.ids(), expected(0..1));
    f.rename("acct", "acct.1");
    f.append("acct", &job(2));
    f.settle();
    assert_eq!(f.ids(), expected(0..3));
}

#[test]
fn rotations_during_an_absence_are_read_in_their_order() {
    let mut f = pbs();
    f.append("acct", &jobs(0..5));
    f.look().unwrap();
    f.append("acct", &jobs(5..7));
    for first in [7, 9] {
        let _ = fs::rename(f.path("acct.1"), f.path("acct.2"));
        f.rename("acct", "acct.1");
        f.append("acct", &jobs(first..first + 2));
    }
    f.restart();
    f.settle();
    f.settle();
    assert_eq!(f.ids(), expected(0..11));
}

#[test]
fn what_was_compressed_meanwhile_is_read_on() {
    for ending in ["acct.1.gz", "acct-20261122.gz"] {
        let mut f = pbs();
        f.append("acct", &jobs(0..500));
        f.look().unwrap();
        f.append("acct", &jobs(500..900));
        f.pack("acct", ending);
        f.append("acct", &jobs(900..910));
        f.restart();
        f.settle();
        assert_eq!(f.ids(), expected(0..910), "{ending}");
        let lost = |f: &Finding| !matches!(f, Finding::Rotated { .. });
        assert!(!f.findings.iter().any(lost), "{:?}", f.findings);
    }
}

#[test]
fn half_a_compressed_file_is_tried_again() {
    let mut f = pbs();
    f.append("acct", &jobs(0..2000));
    f.look().unwrap();
    f.append("acct", &jobs(2000..4000));
    f.pack("acct", "acct.1.gz");
    f.append("acct", &jobs(4000..4001));
    let whole = fs::read(f.path("acct.1.gz")).unwrap();
    fs::write(f.path("acct.1.gz"), &whole[..whole.len() - 9]).unwrap();
    f.restart();
    assert!(f.look().is_err(), "its end is missing");
    fs::write(f.path("acct.1.gz"), &whole).unwrap();
    f.settle();
    assert_eq!(f.ids(), expected(0..4001));
}

/// `copytruncate`: the copy has the earlier data, and the file continues from zero.
#[test]
fn a_file_that_was_copied_and_emptied_goes_on() {
    for (restarts, regrown) in [(false, 1), (true, 1), (false, 300), (true, 300)] {
        let mut f = pbs();
        f.append("acct", &jobs(0..20));
        f.look().unwrap();
        f.append("acct", &jobs(20..25));
        fs::copy(f.path("acct"), f.path("acct.1")).unwrap();
        fs::write(f.path("acct"), "").unwrap();
        // It may be longer than before by the next look.
        f.append("acct", &jobs(25..25 + regrown));
        if restarts {
            f.restart();
        }
        f.settle();
        assert_eq!(f.ids(), expected(0..25 + regrown), "{restarts} {regrown}");
        f.append("acct", &jobs(700..702));
        f.look().unwrap();
        assert_eq!(f.ids().len(), 25 + regrown + 2);
    }
}

#[test]
fn a_file_that_was_emptied_without_a_copy_begins_anew() {
    let mut f = pbs();
    f.append("acct", &jobs(0..20));
    f.look().unwrap();
    fs::write(f.path("acct"), jobs(20..22)).unwrap();
    f.look().unwrap();
    assert_eq!(f.ids(), expected(0..22));
    let read = jobs(0..20).len() as u64;
    let file = f.path("acct");
    assert_eq!(f.findings, [Finding::Rewritten { file, read }]);
}

/// An editor, a restore or `cp` and `mv` make the same file under another inode: nothing is doubled.
#[test]
fn the_same_bytes_in_another_file_are_the_same_file() {
    let mut f = pbs();
    f.append("acct", &jobs(0..200));
    f.look().unwrap();
    fs::copy(f.path("acct"), f.path("new")).unwrap();
    f.rename("new", "acct");
    f.append("acct", &jobs(200..203));
    f.restart();
    f.settle();
    assert_eq!(f.ids(), expected(0..203));
    assert_eq!(f.findings, []);
}

/// A file with the same beginning, and with at least the read length, is another file anyway.
#[test]
fn an_equal_beginning_does_not_make_the_same_file() {
    let head: Vec<String> = (0..100)
        .map(|n| format!("# a comment that every file has {n}\n"))
        .collect();
    let head = head.concat();
    let mut f = Follower::new("acct", "swf", Options::default());
    let line = |id: usize| format!("{id} 0 0 60 4 -1 -1 4 -1 -1 1 7 1 -1 -1 -1 -1 -1\n");
    let head = head.replace('#', ";");
    f.append("acct", &head);
    (0..3).for_each(|id| f.append("acct", &line(id)));
    f.look().unwrap();
    let new: String = (10..20).map(line).collect();
    fs::write(f.path("new"), head + &new).unwrap();
    f.rename("new", "acct");
    f.settle();
    let all: Vec<String> = (0..3).chain(10..20).map(|id| id.to_string()).collect();
    assert_eq!(f.ids(), all);
}

#[test]
fn a_missing_file_is_reported_and_the_next_one_is_read() {
    let mut f = pbs();
    f.append("acct", &jobs(0..5));
    f.look().unwrap();
    fs::remove_file(f.path("acct")).unwrap();
    f.restart();
    assert_eq!(f.look().unwrap(), Step::Waiting);
    assert_eq!(f.findings, [], "it may come back");
    f.append("acct", &jobs(5..6));
    f.look().unwrap();
    assert_eq!(f.ids(), expected(0..6));
    let (file, read) = (f.path("acct"), jobs(0..5).len() as u64);
    assert_eq!(f.findings, [Finding::Lost { file, read }]);
}

#[test]
fn names_of_days_follow_each_other() {
    let mut f = Follower::new("%Y%m%d", "pbs", Options::default());
    assert_eq!(f.look().unwrap(), Step::Waiting);
    f.append("20261120", &jobs(0..2));
    f.append("20261121", &jobs(2..4));
    f.append("20261121.lock", "nothing of ours\n");
    f.settle();
    f.settle();
    assert_eq!(f.ids(), expected(0..4));
    f.append("20261121", &jobs(4..5));
    f.look().unwrap();
    f.append("20261122", &jobs(6..7));
    f.append("20261121", &jobs(5..6));
    f.pack("20261120", "20261120.gz");
    f.restart();
    f.settle();
    assert_eq!(f.ids(), expected(0..7));
    // Compressed before it was read to its end.
    f.append("20261122", &jobs(7..8));
    f.pack("20261122", "20261122.gz");
    f.append("20261123", &jobs(8..9));
    f.restart();
    f.settle();
    assert_eq!(f.ids(), expected(0..9));
}

/// The daemon is killed right after it went on to the next file.
#[test]
fn that_a_day_is_gone_is_kept_with_the_mark_of_the_next_one() {
    let mut f = Follower::new("%Y%m%d", "pbs", Options::default());
    f.append("20261120", &jobs(0..2));
    f.settle();
    fs::remove_file(f.path("20261120")).unwrap();
    f.append("20261121", &jobs(2..4));
    f.restart();
    f.tracker.look(f.now_us, &mut f.taken).unwrap();
    assert_eq!(f.taken.mark.as_ref().unwrap().file, f.path("20261121"));
    f.restart();
    f.settle();
    assert_eq!(f.ids(), expected(0..4));
    assert_eq!(f.left_out(), [("20261120".to_owned(), Why::Gone)]);
}

#[test]
fn days_before_the_first_one_wanted_are_left_out() {
    let mut f = Follower::new("%Y%m%d", "pbs", Options::default());
    f.plan.since = chrono::NaiveDate::from_ymd_opt(2026, 11, 21);
    f.restart();
    for (day, id) in [("20261119", 0), ("20261121", 1), ("20261122", 2)] {
        f.append(day, &job(id));
    }
    f.settle();
    f.settle();
    assert_eq!(f.ids(), expected(1..3));
}

#[test]
fn what_was_not_taken_is_read_again() {
    let mut f = pbs();
    f.append("acct", &jobs(0..5));
    f.look().unwrap();
    f.append("acct", &jobs(5..9));
    f.taken.is_broken = true;
    assert!(f.look().is_err());
    assert!(f.look().is_err());
    f.taken.is_broken = false;
    f.look().unwrap();
    assert_eq!(f.ids(), expected(0..9));
}
