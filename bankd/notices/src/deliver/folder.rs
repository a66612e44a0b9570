//! Files in a folder: each takes its name when it is whole and on the disk, and old ones go.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use bank_core::calendar::Zone;
use bank_core_figures::rollup::due::named;
use bank_core_figures::rollup::grid::EVERY;
use bankd_store::ReportRun;
use sha2::{Digest as _, Sha256};

use super::Attempt;

/// Extensions of the files that bankd writes.
const ENDINGS: [&str; 4] = ["html", "csv", "json", "txt"];
/// The longest name of a folder, in bytes; file systems have 255.
const NAME_MAX: usize = 200;

/// A folder of reports.
pub(super) struct Folder {
    pub(super) path: PathBuf,
    /// The mode of files.
    pub(super) mode: u32,
    /// The newest files of each report that stay; 0 for all.
    pub(super) keep: usize,
}

impl Folder {
    /// Puts a report there, in place of one of the same period; the page of a person into a folder of
    /// its own below it.
    pub(super) fn put(&self, run: &ReportRun, body: &[u8]) -> Attempt {
        if run.person.is_empty() {
            return self.put_here(run, body);
        }
        let own = Folder {
            path: self.path.join(folder_of(&run.person)),
            mode: self.mode,
            keep: self.keep,
        };
        match own.open() {
            Ok(()) => own.put_here(run, body),
            Err(error) => Attempt::Again(format!("{}: {error}", own.path.display())),
        }
    }

    /// Creates the folder, unless it is there. Whoever may read its files may open it.
    fn open(&self) -> io::Result<()> {
        match fs::symlink_metadata(&self.path) {
            Ok(there) if there.is_dir() => return Ok(()),
            Ok(_) => return Err(io::Error::other("this is not a folder")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        fs::create_dir(&self.path)?;
        let enter = (self.mode & 0o444) >> 2;
        fs::set_permissions(
            &self.path,
            Permissions::from_mode(0o700 | self.mode | enter),
        )
    }

    fn put_here(&self, run: &ReportRun, body: &[u8]) -> Attempt {
        match self.write(&run.file, body) {
            Ok(()) => {}
            Err(error) => return Attempt::Again(format!("{}: {error}", self.path.display())),
        }
        if let Err(error) = self.retire(&run.schedule) {
            // The report itself exists: that decides success.
            let folder = self.path.display();
            tracing::warn!(%folder, %error, "old reports are not removed");
        }
        Attempt::Delivered
    }

    /// Writes under a temporary name until the file is complete. The name is the same for every
    /// attempt: the next attempt overwrites a leftover.
    fn write(&self, name: &str, body: &[u8]) -> io::Result<()> {
        let partial = self.path.join(format!(".{name}.partial"));
        match fs::remove_file(&partial) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // A new file: nothing is written through a link that somebody put there.
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let mut file = options.open(&partial)?;
        file.write_all(body)?;
        // Independent of the daemon's umask.
        file.set_permissions(Permissions::from_mode(self.mode))?;
        file.sync_all()?;
        drop(file);
        fs::rename(&partial, self.path.join(name))?;
        File::open(&self.path)?.sync_all()
    }

    /// Removes the oldest periods of a report. Files with other names are not touched.
    fn retire(&self, report: &str) -> io::Result<()> {
        if self.keep == 0 {
            return Ok(());
        }
        let mut own = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name();
            let began = name.to_str().and_then(|name| began(name, report));
            if let Some(began) = began.filter(|_| entry.file_type().is_ok_and(|of| of.is_file())) {
                own.push((began, name));
            }
        }
        own.sort();
        let most = own.len().saturating_sub(self.keep);
        for (_, name) in own.into_iter().take(most) {
            fs::remove_file(self.path.join(name))?;
        }
        Ok(())
    }
}

/// The name of a person's folder: it never leaves the folder of the reports, and no two people share one.
fn folder_of(person: &str) -> String {
    let mut name = String::new();
    for (at, byte) in person.bytes().enumerate() {
        let is_plain = byte.is_ascii_alphanumeric() || b"_-+@".contains(&byte);
        if is_plain || byte == b'.' && at > 0 {
            name.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(name, "%{byte:02X}");
        }
    }
    if name.len() > NAME_MAX {
        // `%` and a small letter: no other name has both.
        let digest = Sha256::digest(person.as_bytes());
        name = digest.iter().fold("%x".to_owned(), |mut name, byte| {
            let _ = write!(name, "{byte:02x}");
            name
        });
    }
    name
}

/// Start of the period of a report file; none if the file does not belong to this report.
fn began(file: &str, report: &str) -> Option<i64> {
    let rest = file.strip_prefix(report)?.strip_prefix('-')?;
    let (period, ending) = rest.rsplit_once('.')?;
    let utc = Zone::default();
    let mut lengths = EVERY.iter();
    let period = lengths.find_map(|(every, _)| named(period, *every, &utc))?;
    ENDINGS.contains(&ending).then_some(period.from.0)
}

/// Whether files can be made in a folder.
pub fn is_writable(path: &Path) -> io::Result<()> {
    let probe = path.join(".bankd.probe");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(&probe)?;
    fs::remove_file(&probe)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &Path) -> Vec<String> {
        let entries = fs::read_dir(path).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn reports_take_their_name_when_they_are_whole_and_old_ones_go() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder {
            path: place.path().to_owned(),
            mode: 0o644,
            keep: 2,
        };
        for other in [
            "a-b-2026-01.html",
            "a-notes.txt",
            "a-2026-01.pdf",
            "b-2025.html",
        ] {
            fs::write(place.path().join(other), "x").unwrap();
        }
        // Left behind by a power cut.
        fs::write(place.path().join(".a-2026-03.html.partial"), "half").unwrap();
        let put = |period: &str| {
            let run = ReportRun {
                schedule: "a".to_owned(),
                file: format!("a-{period}.html"),
                ..ReportRun::default()
            };
            assert_eq!(folder.put(&run, period.as_bytes()), Attempt::Delivered);
        };
        for period in ["2026-01", "2026-02", "2026-03", "2026-03"] {
            put(period);
        }
        assert_eq!(
            names(place.path()),
            [
                "a-2026-01.pdf",
                "a-2026-02.html",
                "a-2026-03.html",
                "a-b-2026-01.html",
                "a-notes.txt",
                "b-2025.html"
            ]
        );
        let path = place.path().join("a-2026-03.html");
        assert_eq!(fs::read_to_string(&path).unwrap(), "2026-03");
        assert_eq!(
            fs::metadata(path).unwrap().permissions().mode() & 0o777,
            0o644
        );
    }

    #[test]
    fn a_person_has_a_folder_of_their_own_below_it() {
        for (person, expected) in [
            ("amy.smith", "amy.smith"),
            ("..", "%2E."),
            ("../../etc", "%2E.%2F..%2Fetc"),
            (".ssh", "%2Essh"),
            ("a%2Fb", "a%252Fb"),
            ("ü", "%C3%BC"),
        ] {
            assert_eq!(folder_of(person), expected, "{person}");
        }
        let long = folder_of(&"/".repeat(256));
        assert!(long.len() <= NAME_MAX && long != folder_of(&"/".repeat(255)));
        let place = tempfile::tempdir().unwrap();
        let folder = Folder {
            path: place.path().join("out"),
            mode: 0o640,
            keep: 1,
        };
        let run = |period: &str, person: &str| ReportRun {
            schedule: "a".to_owned(),
            file: format!("a-{period}.html"),
            person: person.to_owned(),
            ..ReportRun::default()
        };
        let put = |period: &str, person: &str| folder.put(&run(period, person), b"x");
        assert!(matches!(put("2026-01", "amy"), Attempt::Again(_)));
        fs::create_dir(&folder.path).unwrap();
        for period in ["2026-01", "2026-02"] {
            assert_eq!(put(period, "amy"), Attempt::Delivered);
            assert_eq!(put(period, "../bob"), Attempt::Delivered);
        }
        assert_eq!(names(&folder.path), ["%2E.%2Fbob", "amy"]);
        assert_eq!(names(&folder.path.join("amy")), ["a-2026-02.html"]);
        assert_eq!(names(place.path()), ["out"]);
        let mode = fs::metadata(folder.path.join("amy")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o750);
        // Nothing is written through links of the person who owns the folder, or beside it.
        let other = place.path().join("other");
        fs::write(&other, "kept").unwrap();
        let link = std::os::unix::fs::symlink::<&Path, PathBuf>;
        let partial = folder.path.join("amy").join(".a-2026-03.html.partial");
        link(&other, partial).unwrap();
        assert_eq!(put("2026-03", "amy"), Attempt::Delivered);
        link(place.path(), folder.path.join("eve")).unwrap();
        assert!(matches!(put("2026-03", "eve"), Attempt::Again(_)));
        assert_eq!(fs::read_to_string(&other).unwrap(), "kept");
    }

    #[test]
    fn a_folder_that_is_not_there_is_tried_again() {
        let folder = Folder {
            path: PathBuf::from("/nonexistent/reports"),
            mode: 0o640,
            keep: 0,
        };
        let Attempt::Again(why) = folder.put(&ReportRun::default(), b"x") else {
            panic!("it was delivered, or never will be");
        };
        assert!(why.starts_with("/nonexistent/reports: "), "{why}");
    }
}
