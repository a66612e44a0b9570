//! Names of the followed file: one constant name, or one for each day; and possible names of a
//! rotated file.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use chrono::NaiveDate;
use chrono::format::{Item, StrftimeItems};

/// Endings of compressed files that can be read.
const PACKED: [&str; 3] = [".gz", ".zst", ".zstd"];

/// Endings of compressed files that cannot be read.
const UNSUPPORTED: [&str; 9] = [
    ".bz2", ".xz", ".lzma", ".lz", ".lz4", ".lzo", ".Z", ".zip", ".br",
];

/// The name of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// This; rotated files get another name.
    Plain(PathBuf),
    /// A name for each day, such as `%Y%m%d`, in one folder. The youngest is written.
    Dated {
        /// The folder.
        folder: PathBuf,
        /// The name, with the signs of strftime.
        pattern: String,
    },
}

impl Names {
    /// Reads the setting `path`, which is absolute.
    ///
    /// # Errors
    /// The reason why it is invalid.
    pub fn read(path: &str) -> Result<Self, String> {
        let whole = Path::new(path);
        let (Some(folder), Some(name)) = (whole.parent(), whole.file_name()) else {
            return Err(format!("{path:?} is not a file"));
        };
        if !whole.is_absolute() {
            return Err(format!("{path:?} does not begin with /"));
        }
        if packing(name).is_some() {
            return Err(format!(
                "{path:?} is compressed: no program writes on in such a file; \
                 `bank import` reads it"
            ));
        }
        if folder.as_os_str().to_string_lossy().contains('%') {
            return Err("only the name of the file may hold %Y, %m and %d, no folder".to_owned());
        }
        let name = name.to_string_lossy().into_owned();
        if !name.contains('%') {
            return Ok(Self::Plain(whole.to_owned()));
        }
        let day = NaiveDate::from_ymd_opt(2026, 11, 22).unwrap_or_default();
        if dated(&name, &written(day, &name).unwrap_or_default()) != Some(day) {
            return Err(format!(
                "{name:?} does not contain the day, as %Y%m%d or events.%a_%b_%d_%Y do"
            ));
        }
        Ok(Self::Dated {
            folder: folder.to_owned(),
            pattern: name,
        })
    }

    /// The folder of the file.
    pub fn folder(&self) -> &Path {
        match self {
            Self::Plain(path) => path.parent().unwrap_or(Path::new("/")),
            Self::Dated { folder, .. } => folder,
        }
    }

    /// The day of a file, by its name; `None` for one that is none of these.
    pub fn day(&self, path: &Path) -> Option<NaiveDate> {
        let Self::Dated { pattern, .. } = self else {
            return None;
        };
        let name = path.file_name()?.to_str()?;
        dated(pattern, unpacked(name))
    }

    /// The files of later days than this one, the oldest first.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn after(&self, day: Option<NaiveDate>) -> io::Result<Vec<PathBuf>> {
        let mut found: Vec<(NaiveDate, PathBuf)> = entries(self.folder(), |_| true)?
            .into_iter()
            .filter_map(|path| Some((self.day(&path)?, path)))
            .filter(|(other, _)| day.is_none_or(|day| *other > day))
            .collect();
        // Of a file and its compressed copy the plain one comes first, and is used.
        found.sort_by_key(|(day, path)| (*day, path.file_name().and_then(packing).is_some()));
        found.dedup_by_key(|(day, _)| *day);
        Ok(found.into_iter().map(|(_, path)| path).collect())
    }

    /// Whether a file can be an older one of these: `accounting.1`, `accounting-20261122.gz`,
    /// `sacct-20261122.log`.
    pub fn is_rotated(&self, path: &Path) -> bool {
        let Self::Plain(own) = self else {
            return self.day(path).is_some();
        };
        let text = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
        let (Some(own), Some(name)) = (text(own), text(path)) else {
            return false;
        };
        let name = unpacked(&name);
        if let Some(rest) = name.strip_prefix(own.as_str()) {
            return is_turn(rest);
        }
        let Some((stem, ending)) = own.rsplit_once('.') else {
            return false;
        };
        let middle = name.strip_prefix(stem);
        let middle = middle.and_then(|rest| rest.strip_suffix(ending)?.strip_suffix('.'));
        middle.is_some_and(is_turn)
    }

    /// Whether a file can be an older one of these that is compressed in a form that is not read.
    pub fn is_unsupported(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(OsStr::to_str);
        let bare = |ending: &&str| name.and_then(|name| name.strip_suffix(*ending));
        let bare = UNSUPPORTED.iter().find_map(bare);
        bare.is_some_and(|name| self.is_rotated(Path::new(name)))
    }
}

/// Suffixes of rotation: `.1`, `-20261122`, `.2026-11-22T00:00`, `.old`, `_3`.
fn is_turn(text: &str) -> bool {
    if [".old", ".bak", ".last"].contains(&text) {
        return true;
    }
    let Some(rest) = text.strip_prefix(['.', '-', '_']) else {
        return false;
    };
    let mut marks = rest.chars().filter(|c| !c.is_ascii_digit());
    rest.starts_with(|c: char| c.is_ascii_digit()) && marks.all(|c| "-_.:T".contains(c))
}

/// The name without the ending of a compression.
fn unpacked(name: &str) -> &str {
    let bare = |ending: &&str| name.strip_suffix(*ending);
    PACKED.iter().find_map(bare).unwrap_or(name)
}

/// The ending of a compression, if the name has one.
pub fn packing(name: &OsStr) -> Option<&'static str> {
    let name = name.to_str()?;
    PACKED.into_iter().find(|ending| name.ends_with(ending))
}

fn written(day: NaiveDate, pattern: &str) -> Option<String> {
    use std::fmt::Write as _;
    let items: Vec<Item<'_>> = StrftimeItems::new(pattern).collect();
    let mut text = String::new();
    let is_whole = !items.contains(&Item::Error)
        && write!(text, "{}", day.format_with_items(items.iter())).is_ok();
    is_whole.then_some(text)
}

/// The day in a name that matches a pattern exactly.
fn dated(pattern: &str, name: &str) -> Option<NaiveDate> {
    let day = NaiveDate::parse_from_str(name, pattern).ok()?;
    (written(day, pattern)? == name).then_some(day)
}

/// The files of a folder that pass the filter; none if there is no such folder.
///
/// # Errors
/// If it cannot be read.
pub fn entries(folder: &Path, is_wanted: impl Fn(&Path) -> bool) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if is_wanted(&path) {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_names_or_say_what_is_wrong() {
        let plain = Names::Plain(PathBuf::from("/var/log/accounting"));
        assert_eq!(Names::read("/var/log/accounting"), Ok(plain));
        let dated = Names::Dated {
            folder: PathBuf::from("/stats"),
            pattern: "events.%a_%b_%d_%Y".to_owned(),
        };
        assert_eq!(Names::read("/stats/events.%a_%b_%d_%Y"), Ok(dated));
        for (path, word) in [
            ("accounting", "begin with /"),
            ("/", "not a file"),
            ("/var/x.gz", "compressed"),
            ("/var/%Y/x", "no folder"),
            ("/var/%m%d", "the day"),
            ("/var/%Q", "the day"),
            ("/var/%Y%m%d%H", "the day"),
        ] {
            let why = Names::read(path).unwrap_err();
            assert!(why.contains(word), "{path}: {why}");
        }
    }

    #[test]
    fn days_are_read_to_the_letter() {
        let names = Names::read("/acct/%Y%m%d").unwrap();
        let day = |name: &str| names.day(Path::new(name)).map(|day| day.to_string());
        assert_eq!(day("/acct/20261122").as_deref(), Some("2026-11-22"));
        assert_eq!(day("/acct/20261122.gz").as_deref(), Some("2026-11-22"));
        for other in [
            "2026112",
            "20261332",
            "20261122x",
            "x20261122",
            "20261122.tmp",
        ] {
            assert_eq!(day(other), None, "{other}");
        }
        let events = Names::read("/stats/events.%a_%b_%d_%Y").unwrap();
        let day = |name: &str| events.day(Path::new(name)).map(|day| day.to_string());
        assert_eq!(day("events.Sun_Nov_22_2026").as_deref(), Some("2026-11-22"));
        assert_eq!(day("events.Mon_Nov_22_2026"), None, "it was a Sunday");
    }

    #[test]
    fn days_come_in_their_order_each_once() {
        let folder = tempfile::tempdir().unwrap();
        let all = [
            "20261103",
            "20261101.gz",
            "20261102.zst",
            "20261102",
            "lock",
        ];
        for name in all {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let names = Names::read(&format!("{}/%Y%m%d", folder.path().display())).unwrap();
        let after = |day: Option<NaiveDate>| {
            let found = names.after(day).unwrap();
            let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
            found.iter().map(name).collect::<Vec<_>>()
        };
        assert_eq!(after(None), ["20261101.gz", "20261102", "20261103"]);
        assert_eq!(after(NaiveDate::from_ymd_opt(2026, 11, 2)), ["20261103"]);
        let nowhere = Names::read("/nowhere/at/all/%Y%m%d").unwrap();
        assert!(nowhere.after(None).unwrap().is_empty());
    }

    #[test]
    fn rotated_files_are_known_by_their_names() {
        let names = Names::read("/a/sacct.log").unwrap();
        for name in [
            "sacct.log.1",
            "sacct.log.1.gz",
            "sacct.log-20261122.zst",
            "sacct.log.2026-11-22T10:00",
            "sacct.log.old",
            "sacct-20261122.log",
            "sacct.1.log.gz",
        ] {
            assert!(names.is_rotated(Path::new(name)), "{name}");
        }
        for name in ["sacct.log.1.bz2", "sacct.log-20261122.xz", "sacct.1.log.Z"] {
            assert!(names.is_unsupported(Path::new(name)), "{name}");
            assert!(!names.is_rotated(Path::new(name)), "{name}");
        }
        assert!(!names.is_unsupported(Path::new("other.log.1.xz")));
        for name in [
            "sacct.log",
            "sacct.log.gz",
            "sacct.log.tmp",
            "sacct.log~",
            "sacct-new.log",
            "other.log.1",
            "sacct.log.1.tmp",
        ] {
            assert!(!names.is_rotated(Path::new(name)), "{name}");
        }
    }
}
