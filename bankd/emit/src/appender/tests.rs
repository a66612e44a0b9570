//! Every row of the table of `usage-records.md` 4.6, at the start and between
//! writes. A crash is a value that is dropped, followed by an opening with the
//! last stored confirmation.

use std::io::Write as _;

use tempfile::TempDir;

use super::*;

const A: &str = "WITHDRAWAL A\n";
const B: &str = "WITHDRAWAL B\n";
const C: &str = "WITHDRAWAL C\n";

struct Bed {
    folder: TempDir,
}

impl Bed {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("alloc.txt")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    /// Appends a text as another process.
    fn foreign(&self, text: &str) {
        let mut file = OpenOptions::new().append(true).open(self.path()).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn open(&self, confirmed: Option<Confirmed>, pending: &[&str]) -> (Appender, usize) {
        Appender::open(&self.path(), confirmed, pending, Fsync::Batch).unwrap()
    }

    /// A run that confirms `first`, writes `then` without confirming it, and
    /// crashes.
    fn crashed_after(&self, first: &[&str], then: &[&str]) -> Confirmed {
        let (mut appender, _) = self.open(None, first);
        appender.confirm().unwrap();
        assert_eq!(appender.append(first).unwrap(), first.len());
        let confirmed = appender.confirm().unwrap();
        assert_eq!(appender.append(then).unwrap(), then.len());
        confirmed
    }
}

/// The loop of the module head.
fn drain(appender: &mut Appender, mut lines: &[&str]) -> Confirmed {
    while !lines.is_empty() {
        let done = appender.append(lines).unwrap();
        appender.confirm().unwrap();
        lines = &lines[done..];
    }
    appender.confirm().unwrap()
}

#[test]
fn nothing_happened() {
    let bed = Bed::new();
    let confirmed = bed.crashed_after(&[A], &[]);
    let (mut appender, done) = bed.open(Some(confirmed), &[B]);
    assert_eq!((done, appender.take_findings()), (0, vec![]));
    let confirmed = drain(&mut appender, &[B]);
    assert_eq!(confirmed.length, 26);
    assert_eq!(bed.text(), [A, B].concat());
}

#[test]
fn our_own_tail_is_cut_off_and_written_again() {
    // The bytes written after the last confirmation.
    for torn in [1, 12, 13, 14, 25, 26] {
        let bed = Bed::new();
        let confirmed = bed.crashed_after(&[A], &[B, C]);
        let file = OpenOptions::new().write(true).open(bed.path()).unwrap();
        file.set_len(13 + torn).unwrap();
        let (mut appender, done) = bed.open(Some(confirmed), &[B, C]);
        assert_eq!(done, 0);
        assert_eq!(appender.take_findings(), [Finding::OwnTail { bytes: torn }]);
        drain(&mut appender, &[B, C]);
        assert_eq!(bed.text(), [A, B, C].concat(), "{torn}");
    }
}

#[test]
fn another_process_wrote() {
    // The text behind the confirmed length, the number of this appender's lines in it, and whether it lacks a
    // line feed.
    for (found, done, torn) in [
        // Foreign lines alone.
        ("other\n", 0, false),
        ("other", 0, true),
        // Our whole lines among them count as written.
        ("other\nWITHDRAWAL B\n", 1, false),
        ("WITHDRAWAL B\nother\nWITHDRAWAL C\n", 2, false),
        ("WITHDRAWAL B\nother", 1, true),
        // Our torn line stays where it is and is written again as a whole.
        ("other\nWITHDRAWAL", 0, true),
        ("WITHDother\n", 0, false),
        // Lines that only look like ours.
        ("xWITHDRAWAL B\nWITHDRAWAL B \nWITHDRAWAL\n", 0, false),
    ] {
        let bed = Bed::new();
        let confirmed = bed.crashed_after(&[A], &[]);
        bed.foreign(found);
        let (mut appender, already) = bed.open(Some(confirmed), &[B, C]);
        assert_eq!(already, done, "{found:?}");
        let bytes = found.len() as u64;
        assert_eq!(
            appender.take_findings(),
            [Finding::Foreign { bytes }],
            "{found:?}"
        );
        drain(&mut appender, &[B, C][already..]);
        let feed = if torn { "\n" } else { "" };
        let expected = format!("{A}{found}{feed}{}", [B, C][already..].concat());
        assert_eq!(bed.text(), expected, "{found:?}");
    }
}

/// Rewritten in place, and longer than before: nothing was cut off.
#[test]
fn somebody_overwrote_it() {
    let bed = Bed::new();
    let confirmed = bed.crashed_after(&[A, C], &[]);
    let (from, other) = (confirmed.length, "other\n".repeat(9));
    fs::write(bed.path(), &other).unwrap();
    let (mut appender, done) = bed.open(Some(confirmed), &[B]);
    assert_eq!(done, 0);
    let to = u64::try_from(other.len()).unwrap();
    assert_eq!(appender.take_findings(), [Finding::Changed { from, to }]);
    drain(&mut appender, &[B]);
    assert_eq!(bed.text(), format!("{other}{B}"));
}

#[test]
fn somebody_made_it_shorter() {
    for (left, expected) in [
        (0, B.to_owned()),
        (13, [A, B].concat()),
        (5, format!("WITHD\n{B}")),
    ] {
        let bed = Bed::new();
        let confirmed = bed.crashed_after(&[A, C], &[]);
        let file = OpenOptions::new().write(true).open(bed.path()).unwrap();
        file.set_len(left).unwrap();
        let (mut appender, done) = bed.open(Some(confirmed), &[B]);
        assert_eq!(done, 0);
        assert_eq!(
            appender.take_findings(),
            [Finding::Shrunk { from: 26, to: left }]
        );
        // A crash after this confirmation finds nothing amiss.
        let settled = appender.confirm().unwrap();
        assert_eq!(appender.append(&[B]).unwrap(), 1);
        let (mut appender, done) = bed.open(Some(settled), &[B]);
        drain(&mut appender, &[B][done..]);
        assert_eq!(bed.text(), expected);
    }
}

#[test]
fn it_was_rotated_while_we_were_away() {
    let bed = Bed::new();
    let confirmed = bed.crashed_after(&[A], &[]);
    fs::rename(bed.path(), bed.folder.path().join("alloc.1")).unwrap();
    let (mut appender, done) = bed.open(Some(confirmed), &[B]);
    let earlier = Finding::Earlier { lines: 0, torn: 0 };
    assert_eq!(
        (done, appender.take_findings()),
        (0, vec![Finding::Rotated, earlier])
    );
    drain(&mut appender, &[B]);
    assert_eq!(bed.text(), B);
    assert_eq!(
        fs::read_to_string(bed.folder.path().join("alloc.1")).unwrap(),
        A
    );
}

/// Lines that were written and never confirmed are in the file that was renamed, copied or compressed
/// meanwhile: they are not written again, and half a line is.
#[test]
fn unconfirmed_lines_in_a_rotated_file_are_not_written_again() {
    let torn = 5;
    for way in ["rename", "gzip", "copy", "copy, then grown", "other device"] {
        for (kept, whole) in [(0, 0), (13, 1), (26, 2), (13 + torn, 1)] {
            let bed = Bed::new();
            let confirmed = bed.crashed_after(&[A], &[B, C]);
            let file = OpenOptions::new().write(true).open(bed.path()).unwrap();
            file.set_len(13 + kept).unwrap();
            let old = bed.folder.path().join("alloc.txt.1");
            let mut grown = "";
            match way {
                "rename" => fs::rename(bed.path(), &old).unwrap(),
                "gzip" => {
                    let bytes = fs::read(bed.path()).unwrap();
                    let file = File::create(old.with_extension("1.gz")).unwrap();
                    let mut packed =
                        flate2::write::GzEncoder::new(file, flate2::Compression::fast());
                    packed.write_all(&bytes).unwrap();
                    packed.finish().unwrap();
                    fs::remove_file(bed.path()).unwrap();
                }
                "other device" => {
                    fs::copy(bed.path(), &old).unwrap();
                    fs::remove_file(bed.path()).unwrap();
                }
                _ => {
                    fs::copy(bed.path(), &old).unwrap();
                    file.set_len(0).unwrap();
                    if way != "copy" {
                        grown = "somebody else wrote more than what was there before\n";
                        bed.foreign(grown);
                    }
                }
            }
            let (mut appender, done) = bed.open(Some(confirmed), &[B, C]);
            let found = appender.take_findings();
            assert_eq!(done, whole, "{way} {kept}: {found:?}");
            drain(&mut appender, &[B, C][done..]);
            let expected = grown.to_owned() + &[B, C][whole..].concat();
            assert_eq!(bed.text(), expected, "{way} {kept}");
            if old.exists() {
                let text = fs::read_to_string(&old).unwrap();
                assert_eq!(
                    text,
                    A.to_owned() + &[B, C][..whole].concat(),
                    "{way} {kept}"
                );
            }
        }
    }
}

/// A file that has its inode or its name, and none of its bytes, is another one.
#[test]
fn another_file_is_not_taken_for_the_rotated_one() {
    let bed = Bed::new();
    let confirmed = bed.crashed_after(&[A], &[B]);
    fs::write(bed.folder.path().join("alloc.txt.1"), [C, B].concat()).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::rename(bed.path(), elsewhere.path().join("alloc.txt")).unwrap();
    let (mut appender, done) = bed.open(Some(confirmed), &[B]);
    let missing = Finding::Missing { lines: 1 };
    assert_eq!(
        (done, appender.take_findings()),
        (0, vec![Finding::Rotated, missing])
    );
    drain(&mut appender, &[B]);
    assert_eq!(bed.text(), B);
}

#[test]
fn a_file_that_was_never_confirmed_is_somebody_elses() {
    let bed = Bed::new();
    fs::write(bed.path(), format!("{A}{B}torn")).unwrap();
    let (mut appender, done) = bed.open(None, &[A]);
    assert_eq!((done, appender.take_findings()), (0, vec![]));
    drain(&mut appender, &[A]);
    assert_eq!(bed.text(), format!("{A}{B}torn\n{A}"));
}

#[test]
fn between_writes_the_same_rows_hold() {
    let bed = Bed::new();
    let (mut appender, _) = bed.open(None, &[A]);
    drain(&mut appender, &[A]);

    bed.foreign("other");
    assert_eq!(
        appender.append(&[B]).unwrap(),
        0,
        "found first, written after confirming"
    );
    assert_eq!(appender.take_findings(), [Finding::Foreign { bytes: 5 }]);
    drain(&mut appender, &[B]);
    assert_eq!(bed.text(), format!("{A}other\n{B}"));

    bed.foreign("WITHDRA");
    assert_eq!(
        appender.append(&[C]).unwrap(),
        1,
        "a torn tail of ours is no news"
    );
    assert_eq!(appender.take_findings(), [Finding::OwnTail { bytes: 7 }]);
    assert_eq!(bed.text(), format!("{A}other\n{B}{C}"));

    OpenOptions::new()
        .write(true)
        .open(bed.path())
        .unwrap()
        .set_len(0)
        .unwrap();
    assert_eq!(appender.append(&[A]).unwrap(), 0);
    assert_eq!(
        appender.take_findings(),
        [Finding::Shrunk { from: 45, to: 0 }]
    );
    drain(&mut appender, &[A]);
    assert_eq!(bed.text(), A);

    fs::rename(bed.path(), bed.folder.path().join("alloc.1")).unwrap();
    assert_eq!(appender.append(&[B]).unwrap(), 0);
    assert_eq!(appender.take_findings(), [Finding::Rotated]);
    drain(&mut appender, &[B]);
    assert_eq!(bed.text(), B);

    fs::remove_file(bed.path()).unwrap();
    drain(&mut appender, &[C]);
    assert_eq!(bed.text(), C);
}

#[test]
fn equal_lines_are_written_as_often_as_they_are_given() {
    let bed = Bed::new();
    let confirmed = bed.crashed_after(&[A], &[A, A]);
    let (mut appender, done) = bed.open(Some(confirmed), &[A, A]);
    assert_eq!(done, 0);
    drain(&mut appender, &[A, A]);
    assert_eq!(bed.text(), A.repeat(3));

    let confirmed = appender.confirm().unwrap();
    bed.foreign(&format!("{A}other\n"));
    let (mut appender, done) = bed.open(Some(confirmed), &[A, A]);
    assert_eq!(done, 1);
    drain(&mut appender, &[A]);
    assert_eq!(bed.text(), format!("{}other\n{A}", A.repeat(4)));
}

#[test]
fn large_tails_are_read_in_pieces() {
    let bed = Bed::new();
    let confirmed = bed.crashed_after(&[A], &[]);
    let other = "y".repeat(40_000);
    bed.foreign(&format!("{other}\n{B}{other}"));
    let (mut appender, done) = bed.open(Some(confirmed), &[B, C]);
    assert_eq!(done, 1);
    drain(&mut appender, &[C]);
    assert_eq!(bed.text(), format!("{A}{other}\n{B}{other}\n{C}"));
}

#[test]
fn only_regular_files() {
    let folder = tempfile::tempdir().unwrap();
    let none: [&str; 0] = [];
    for path in [
        Path::new("/dev/null"),
        folder.path(),
        &folder.path().join("no/such/folder"),
    ] {
        assert!(
            Appender::open(path, None, &none, Fsync::Never).is_err(),
            "{}",
            path.display()
        );
    }
}

/// The moment between the last look and the write cannot be closed, but it is seen afterwards.
#[test]
fn what_another_process_wrote_meanwhile_is_seen() {
    for (theirs, is_whole) in [("other\n", true), ("half", false)] {
        let bed = Bed::new();
        let (mut appender, _) = bed.open(None, &[A]);
        drain(&mut appender, &[A]);
        assert_eq!(appender.look(&[B]).unwrap(), None);
        bed.foreign(theirs);
        assert_eq!(
            appender.write_line(B.as_bytes()).unwrap(),
            is_whole,
            "{theirs:?}"
        );
        let left: &[&str] = if is_whole { &[C] } else { &[B, C] };
        drain(&mut appender, left);
        let lines = [B, C].concat();
        let expected = if is_whole {
            format!("{A}{theirs}{lines}")
        } else {
            format!("{A}{theirs}{B}{lines}")
        };
        assert_eq!(bed.text(), expected);
    }
}
