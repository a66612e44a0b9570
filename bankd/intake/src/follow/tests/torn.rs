//! A file that ends in the middle of a line when a copy with the same bytes takes its place.

use super::*;

/// Replaces a file by a copy under another inode.
fn replace(f: &Follower, name: &str) {
    fs::copy(f.path(name), f.path("new")).unwrap();
    f.rename("new", name);
    f.date(name);
}

/// The ways in which the copy comes, and the file that is left of the old one.
fn swap(f: &Follower, way: &str) {
    match way {
        "over it" => replace(f, "acct"),
        "behind it" => {
            f.rename("acct", "acct.1");
            fs::copy(f.path("acct.1"), f.path("acct")).unwrap();
            f.date("acct");
        }
        "behind it and packed" => {
            swap(f, "behind it");
            f.pack("acct.1", "acct.1.gz");
        }
        "beside it" => {
            fs::copy(f.path("acct"), f.path("acct.1")).unwrap();
            f.date("acct.1");
        }
        _ => {
            replace(f, "acct");
            f.append("acct", &job(1)[50..]);
            f.append("acct", &job(2)[..20]);
            f.rename("acct", "acct.1");
            f.append("acct", "");
        }
    }
}

/// The rest of the line comes when the file has been quiet for long. The line is one line, wherever it
/// was split and however the copy was made.
#[test]
fn the_rest_of_a_line_comes_in_the_copy() {
    let ways = ["over it", "behind it", "behind it and packed", "beside it"];
    for (way, before, at, restarts) in ways.into_iter().flat_map(|way| {
        let cuts = [(0, 50), (1, 1), (1, 50), (1, job(1).len() - 1), (40, 50)];
        let both = cuts.map(|(before, at)| [false, true].map(|r| (way, before, at, r)));
        both.into_iter().flatten().collect::<Vec<_>>()
    }) {
        let case = format!("{way}, {before} lines before, split at {at}, restart {restarts}");
        let mut f = Follower::new("acct", "pbs", Options::default());
        let line = job(before);
        f.append("acct", &(jobs(0..before) + &line[..at]));
        f.settle();
        swap(&f, way);
        if restarts {
            f.restart();
        }
        (0..3).for_each(|_| f.settle());
        assert_eq!(f.ids(), expected(0..before), "{case}");
        f.append("acct", &(line[at..].to_owned() + &job(before + 1)));
        (0..3).for_each(|_| f.settle());
        f.append("acct", &job(before + 2));
        f.look().unwrap();
        let ids = f.ids();
        let counts = counts(&ids);
        assert_eq!(counts.len(), before + 3, "{case}: {ids:?}");
        assert!(ids.iter().all(|id| !id.starts_with('(')), "{case}: {ids:?}");
        if !restarts {
            assert_eq!(ids, expected(0..before + 3), "{case}");
        }
        assert_eq!(f.left_out(), [], "{case}");
    }
}

/// The copy was completed, and rotated away in the middle of a later line, before the next look.
#[test]
fn a_copy_that_was_rotated_away_is_the_continuation() {
    let mut f = Follower::new("acct", "pbs", Options::default());
    f.append("acct", &(job(0) + &job(1)[..50]));
    f.settle();
    swap(&f, "over it and rotated");
    f.append("acct", &job(3));
    (0..3).for_each(|_| f.settle());
    // A rotated file has no rest: its half line is a line by itself.
    assert_eq!(f.ids(), ["0.s", "1.s", "(malformed)", "3.s"]);
}

/// A new file that begins otherwise ends the old one, half a line or not.
#[test]
fn half_a_line_before_another_file_is_a_line() {
    let mut f = Follower::new("acct", "pbs", Options::default());
    f.append("acct", &(job(0) + &job(1)[..50]));
    f.settle();
    f.rename("acct", "acct.1");
    f.append("acct", &job(0)[..40]);
    (0..3).for_each(|_| f.settle());
    assert_eq!(f.ids(), ["0.s", "(never_started)"]);
    f.append("acct", &(job(0)[40..].to_owned() + &job(2)));
    f.look().unwrap();
    assert_eq!(f.ids(), ["0.s", "(never_started)", "0.s", "2.s"]);
}

/// Names with a day: the copy takes the name of the open file.
#[test]
fn a_day_that_is_replaced_by_a_copy_goes_on() {
    for (at, next_day) in [(0, false), (50, false), (0, true), (50, true)] {
        let mut f = Follower::new("%Y%m%d", "pbs", Options::default());
        let line = job(1);
        f.append("20261101", &(job(0) + &line[..at]));
        f.settle();
        assert_eq!(f.ids(), ["0.s"]);
        replace(&f, "20261101");
        f.append("20261101", &line[at..at.max(30)]);
        f.settle();
        f.append("20261101", &line[at.max(30)..]);
        if next_day {
            f.append("20261102", &job(2));
        }
        (0..3).for_each(|_| f.settle());
        let last = if next_day { 3 } else { 2 };
        assert_eq!(f.ids(), expected(0..last), "{at}, {next_day}");
    }
}
