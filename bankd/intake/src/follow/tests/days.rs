//! Files with a day in their names that get lines after the follower has gone on.

use super::*;

fn follower() -> Follower {
    Follower::new("%Y%m%d", "pbs", Options::default())
}

#[test]
fn later_lines_of_an_earlier_day_are_read() {
    for restarts in [false, true] {
        let mut f = follower();
        f.append("20261128", &jobs(0..2));
        f.look().unwrap();
        f.append("20261129", &jobs(2..4));
        f.settle();
        f.append("20261130", &job(4));
        f.settle();
        assert_eq!(f.ids(), expected(0..5));
        f.append("20261128", &jobs(5..7));
        f.append("20261129", &job(7));
        f.append("20261130", &job(8));
        if restarts {
            f.restart();
        }
        for _ in 0..4 {
            f.settle();
        }
        // Each once, and the open file is read on.
        let ids = f.ids();
        let mut sorted = ids.clone();
        sorted.sort();
        assert_eq!(sorted, expected(0..9), "{ids:?}");
        assert!(f.left_out().is_empty());
        f.append("20261130", &job(9));
        f.settle();
        assert_eq!(f.ids().last().unwrap(), "9.s");
        assert_eq!(f.ids().len(), 10);
    }
}

/// A share that was away brings a whole day late.
#[test]
fn a_day_that_comes_late_is_read() {
    let mut f = follower();
    f.append("20261127", &job(0));
    f.look().unwrap();
    f.append("20261129", &job(1));
    f.settle();
    f.append("20261128", &jobs(2..4));
    f.settle();
    f.settle();
    assert_eq!(f.ids(), expected(0..4));
    // Compressed meanwhile: nothing of it is new.
    f.pack("20261128", "20261128.gz");
    f.append("20261129", &job(4));
    f.settle();
    f.settle();
    assert_eq!(f.ids(), expected(0..5));
    // Days before the first one are none that were passed.
    f.append("20261120", &job(9));
    f.settle();
    assert_eq!(f.ids(), expected(0..5));
}

#[test]
fn an_earlier_day_that_cannot_be_read_is_listed() {
    let mut f = follower();
    f.append("20261127", &job(0));
    f.look().unwrap();
    f.append("20261129", &job(1));
    f.settle();
    fs::create_dir(f.path("20261128")).unwrap();
    f.append("20261129", &job(2));
    f.settle();
    assert_eq!(f.left_out(), [("20261128".to_owned(), Why::Broken)]);
    let is_left_out = |finding: &&Finding| matches!(finding, Finding::LeftOut { .. });
    assert_eq!(f.findings.iter().filter(is_left_out).count(), 1);
    fs::remove_dir(f.path("20261128")).unwrap();
    f.append("20261128", &job(3));
    f.settle();
    f.settle();
    assert_eq!(f.ids(), expected(0..4));
    assert!(f.left_out().is_empty());
}

#[test]
fn the_list_of_days_is_bounded() {
    let mut f = follower();
    let days = (1..=28).map(|day| format!("202601{day:02}"));
    let days = days.chain((1..=28).map(|day| format!("202602{day:02}")));
    let days: Vec<_> = days
        .chain((1..=28).map(|day| format!("202603{day:02}")))
        .collect();
    for (number, day) in days.iter().enumerate() {
        f.append(day, &job(number));
    }
    for _ in 0..=days.len() {
        f.settle();
    }
    assert_eq!(f.ids(), expected(0..days.len()));
    assert!(f.tracker.shelf().unwrap().rows().len() <= 64);
    f.append(&days[0], &job(900));
    f.append(&days[80], &job(901));
    for _ in 0..8 {
        f.settle();
    }
    assert_eq!(f.ids().len(), days.len() + 1);
    assert_eq!(f.ids().last().unwrap(), "901.s");
}
