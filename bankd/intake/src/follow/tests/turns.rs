//! Rotation around a killed daemon: files from before the first start are skipped and listed; all
//! later ones are read, even if they exist only briefly.

use super::*;

/// The ways of rotation.
const WAYS: [&str; 4] = ["rename", "rename and gzip", "copy", "copy and gzip"];

fn pbs() -> Follower {
    Follower::new("acct", "pbs", Options::default())
}

/// Rotates in one of [`WAYS`], and moves the numbers of older files up.
fn turn(f: &Follower, way: &str) {
    for number in (1..20).rev() {
        for ending in ["", ".gz"] {
            let old = format!("acct.{number}{ending}");
            if f.path(&old).exists() {
                f.rename(&old, &format!("acct.{}{ending}", number + 1));
            }
        }
    }
    if way.starts_with("copy") {
        fs::copy(f.path("acct"), f.path("acct.1")).unwrap();
        f.date("acct.1");
        fs::write(f.path("acct"), "").unwrap();
        f.date("acct");
    } else {
        f.rename("acct", "acct.1");
    }
    if way.ends_with("gzip") {
        f.pack("acct.1", "acct.1.gz");
        // Not every program keeps the time.
        f.date("acct.1.gz");
    }
}

fn settle_all(f: &mut Follower) {
    (0..4).for_each(|_| f.settle());
}

/// Several files live and are rotated away between two looks, while the daemon runs or is away.
#[test]
fn files_that_lived_for_less_than_a_look_are_read() {
    for way in WAYS {
        for restarts in [false, true] {
            let mut f = pbs();
            f.append("acct", &jobs(0..50));
            f.look().unwrap();
            f.append("acct", &jobs(50..53));
            for first in [53, 57, 61] {
                turn(&f, way);
                f.append("acct", &jobs(first..first + 4));
            }
            if restarts {
                f.restart();
            }
            settle_all(&mut f);
            let ids = f.ids();
            let counts = counts(&ids);
            assert_eq!((counts.len(), ids.len()), (65, 65), "{way}, {restarts}");
        }
    }
}

/// A file beside the followed one, which goes on being written: neither time shows which is newer.
#[test]
fn a_file_that_turns_up_beside_the_live_one_is_read() {
    let mut f = pbs();
    f.append("acct", &jobs(0..3));
    f.look().unwrap();
    f.append("acct.1", &jobs(3..6));
    f.date_at("acct.1", UNIX_EPOCH);
    f.append("acct", &jobs(6..8));
    settle_all(&mut f);
    f.append("acct", &jobs(8..9));
    f.look().unwrap();
    let ids = f.ids();
    assert_eq!((counts(&ids).len(), ids.len()), (9, 9), "{ids:?}");
}

/// Emptied before anything of it was read.
#[test]
fn a_copy_of_a_file_that_was_empty_at_the_last_look_is_read() {
    let mut f = pbs();
    f.append("acct", "");
    f.look().unwrap();
    f.append("acct", &jobs(0..4));
    turn(&f, "copy");
    f.append("acct", &jobs(4..5));
    settle_all(&mut f);
    let ids = f.ids();
    assert_eq!((counts(&ids).len(), ids.len()), (5, 5), "{ids:?}");
}

#[test]
fn what_was_there_at_the_first_start_is_listed_and_never_read() {
    let mut f = pbs();
    f.append("acct.2", &jobs(100..103));
    f.pack("acct.2", "acct.2.gz");
    f.append("acct.1", &jobs(103..106));
    f.append("acct", &jobs(0..2));
    f.look().unwrap();
    let earlier = |name: &str| (name.to_owned(), Why::Earlier);
    let mut left = f.left_out();
    left.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(left, [earlier("acct.1"), earlier("acct.2.gz")]);
    assert_eq!(f.findings.len(), 2);
    // Compressed and renamed later on, they are still the same.
    f.pack("acct.1", "acct.1.gz");
    f.date("acct.1.gz");
    turn(&f, "rename");
    f.append("acct", &jobs(2..4));
    f.restart();
    settle_all(&mut f);
    f.pack("acct.1", "acct.1.gz");
    settle_all(&mut f);
    assert_eq!(f.ids(), expected(0..4));
    assert_eq!(f.left_out().len(), 2, "{:?}", f.left_out());
    // Later writes to such a file are read.
    let mut g = pbs();
    g.append("acct.1", &jobs(100..103));
    g.append("acct", &jobs(0..1));
    g.look().unwrap();
    g.append("acct.1", &jobs(1..2));
    g.restart();
    g.append("acct.9", "");
    settle_all(&mut g);
    assert_eq!(g.ids(), expected(0..2));
}

/// The share that the files are on is not mounted for a while, or is another copy of the same files afterwards.
#[test]
fn files_of_before_the_first_start_stay_known_while_they_are_away() {
    for way in ["no folder", "empty folder", "other inodes"] {
        let mut f = pbs();
        for number in 1..=300 {
            f.append(
                &format!("acct.{number}"),
                &jobs(1000 + number..1001 + number),
            );
        }
        f.append("acct", &jobs(0..3));
        settle_all(&mut f);
        assert_eq!(f.left_out().len(), 300, "{way}");
        let place = f.folder.path().canonicalize().unwrap();
        let away = place.with_extension("away");
        fs::rename(&place, &away).unwrap();
        if way != "no folder" {
            fs::create_dir(&place).unwrap();
        }
        for _ in 0..4 {
            // That the folder is missing may be an error.
            let _ = f.look();
            f.now_us += SETTLE_US;
        }
        if way == "other inodes" {
            f.date_all_copies(&away);
        } else {
            let _ = fs::remove_dir(&place);
            fs::rename(&away, &place).unwrap();
        }
        settle_all(&mut f);
        assert_eq!(f.ids(), expected(0..3), "{way}");
        f.restart();
        f.append("acct", &jobs(3..4));
        settle_all(&mut f);
        assert_eq!(f.ids(), expected(0..4), "{way}");
    }
}

/// Old files are moved to an archive while the followed one remains, and are moved back.
#[test]
fn files_of_before_the_first_start_that_come_back_are_not_read() {
    let mut f = pbs();
    for number in 1..=100 {
        f.append(
            &format!("acct.{number}"),
            &jobs(1000 + number..1001 + number),
        );
    }
    f.append("acct", &jobs(0..3));
    settle_all(&mut f);
    let archive = tempfile::tempdir_in(f.folder.path()).unwrap();
    for number in 1..=100 {
        let name = format!("acct.{number}");
        fs::rename(f.path(&name), archive.path().join(&name)).unwrap();
    }
    settle_all(&mut f);
    f.restart();
    settle_all(&mut f);
    for number in 1..=100 {
        let name = format!("acct.{number}");
        fs::rename(archive.path().join(&name), f.path(&name)).unwrap();
    }
    settle_all(&mut f);
    assert_eq!(f.ids(), expected(0..3));
    assert_eq!(f.left_out().len(), 100);
}

#[test]
fn what_cannot_be_placed_is_listed() {
    let mut f = pbs();
    f.append("acct", &jobs(0..2));
    f.look().unwrap();
    f.append("acct.1.xz", "not for us");
    f.append("acct.2", &jobs(2..900));
    f.pack("acct.2", "acct.2.gz");
    let whole = fs::read(f.path("acct.2.gz")).unwrap();
    fs::write(f.path("acct.2.gz"), &whole[..whole.len() - 9]).unwrap();
    settle_all(&mut f);
    let mut left = f.left_out();
    left.sort_by(|a, b| a.0.cmp(&b.0));
    let listed = |name: &str, why| (name.to_owned(), why);
    let format = listed("acct.1.xz", Why::Format);
    assert_eq!(left, [format.clone(), listed("acct.2.gz", Why::Broken)]);
    f.append("acct", &jobs(900..901));
    f.look().unwrap();
    assert_eq!(f.ids().len(), 3, "the live file is read all the same");
    fs::write(f.path("acct.2.gz"), &whole).unwrap();
    f.now_us += 61_000_000;
    f.restart();
    settle_all(&mut f);
    assert_eq!(counts(&f.ids()).len(), 901);
    assert_eq!(f.left_out(), [format]);
    fs::write(f.path("acct"), job(901)).unwrap();
    settle_all(&mut f);
    let emptied = listed("acct", Why::Emptied);
    assert!(f.left_out().contains(&emptied), "{:?}", f.left_out());
}

/// A bank of an earlier version has a mark and no list: nothing is read again, and nothing is lost.
#[test]
fn a_mark_without_a_list_goes_on() {
    let mut f = pbs();
    f.append("acct", &jobs(0..3));
    f.look().unwrap();
    turn(&f, "rename");
    f.append("acct", &jobs(3..5));
    f.settle();
    turn(&f, "rename");
    f.append("acct", &jobs(5..6));
    f.taken.shelf = None;
    f.restart();
    settle_all(&mut f);
    assert_eq!(f.ids(), expected(0..6));
    assert_eq!(f.left_out(), []);
}
