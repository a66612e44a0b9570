//! Keys of charges that were sent lately: the same document again gets the same key, so that the bank
//! recognises the repeat.
//!
//! The folder `recent` of the spool has one folder for each stretch of time, and in it one symbolic
//! link for each document: its name is the digest of event, query and body, its target
//! `KEY@MICROSECONDS`. The target is never followed. A link is created in one atomic step and needs
//! no data block, so that a call stays fast; it survives the end of the process, not a loss of
//! power. Later calls empty old folders, a bounded number of links each.

use std::fs::DirBuilder;
use std::io::{ErrorKind, Result};
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use bank_api::sign::content_digest;

/// Folder of the links.
const FOLDER: &str = "recent";
/// Links that one call removes at most.
const MAX_REMOVED: usize = 64;
/// Microseconds of a second.
const SECOND: i64 = 1_000_000;

/// A document as it is remembered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent<'a> {
    /// Its identity: event, query and body.
    pub(crate) identity: &'a [u8],
    /// The key that it gets if it is new.
    pub(crate) key: &'a str,
    /// The event time, in µs since 1970 UTC.
    pub(crate) time_us: i64,
    /// How long the same document is a repeat, in seconds.
    pub(crate) repeat_s: i64,
    /// The flush interval in seconds, at least `repeat_s`.
    pub(crate) interval_s: i64,
}

/// A remembered document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Remembered {
    /// The key of its first sending.
    pub(crate) key: String,
    link: PathBuf,
}

impl Remembered {
    /// Forgets the document: the bank refused it, so that the next try is a new one.
    pub(crate) fn forget(self) {
        // Another call may have removed it.
        let _ = std::fs::remove_file(self.link);
    }
}

/// The key of a document: that of the same document if it was sent a short time ago.
pub(super) fn remember(spool: &Path, sent: &Sent<'_>) -> Result<Remembered> {
    let name = name_of(sent.identity);
    let stretch = sent.time_us.div_euclid(sent.interval_s.max(1) * SECOND);
    let root = spool.join(FOLDER);
    let link_in = |number: i64| root.join(folder_name(number)).join(&name);
    let known = [stretch, stretch - 1].map(link_in);
    for link in &known {
        if let Some(key) = key_in(link, sent) {
            let link = link.clone();
            return Ok(Remembered { key, link });
        }
    }
    let [link, _] = known;
    let target = format!("{}@{}", sent.key, sent.time_us);
    loop {
        match symlink(&target, &link) {
            Ok(()) => break,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let mut builder = DirBuilder::new();
                builder.recursive(true).mode(0o700);
                builder.create(root.join(folder_name(stretch)))?;
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                // Another call was faster, or the existing key has expired.
                if let Some(key) = key_in(&link, sent) {
                    return Ok(Remembered { key, link });
                }
                let removed = std::fs::remove_file(&link);
                removed.or_else(|e| {
                    if e.kind() == ErrorKind::NotFound {
                        Ok(())
                    } else {
                        Err(e)
                    }
                })?;
            }
            Err(error) => return Err(error),
        }
    }
    // The next call removes leftovers.
    let _ = prune(&root, stretch);
    let key = sent.key.to_owned();
    Ok(Remembered { key, link })
}

/// The digest as the name of a file.
fn name_of(identity: &[u8]) -> String {
    let digest = content_digest(identity);
    let plain = digest.trim_start_matches("sha-256=");
    let safe = |letter: char| match letter {
        '+' => Some('-'),
        '/' => Some('_'),
        letter => letter.is_ascii_alphanumeric().then_some(letter),
    };
    plain.chars().filter_map(safe).collect()
}

fn folder_name(stretch: i64) -> String {
    format!("{stretch:020}")
}

/// The key in a link, if the document is a repeat of it.
fn key_in(link: &Path, sent: &Sent<'_>) -> Option<String> {
    let target = std::fs::read_link(link).ok()?;
    let (key, time) = target.to_str()?.split_once('@')?;
    let age = sent.time_us.checked_sub(time.parse().ok()?)?;
    let is_visible = key.bytes().all(|byte| byte.is_ascii_graphic());
    let is_repeat = (0..sent.repeat_s.saturating_mul(SECOND)).contains(&age);
    (is_visible && is_repeat && (1..=255).contains(&key.len())).then(|| key.to_owned())
}

/// Removes links of other stretches than this one and the one before.
fn prune(root: &Path, stretch: i64) -> Result<()> {
    let mut left = MAX_REMOVED;
    for folder in std::fs::read_dir(root)? {
        let folder = folder?;
        let name = folder.file_name();
        let number = name.to_str().and_then(|name| name.parse::<i64>().ok());
        if number.is_some_and(|number| (stretch - 1..=stretch).contains(&number)) {
            continue;
        }
        for link in std::fs::read_dir(folder.path())? {
            if left == 0 {
                return Ok(());
            }
            left -= 1;
            std::fs::remove_file(link?.path())?;
        }
        std::fs::remove_dir(folder.path())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(key: &str, seconds: i64) -> Sent<'_> {
        Sent {
            identity: b"end\n\n<Job/>",
            key,
            time_us: seconds * SECOND,
            repeat_s: 100,
            interval_s: 100,
        }
    }

    fn key(folder: &Path, new: &str, seconds: i64) -> String {
        remember(folder, &sent(new, seconds)).unwrap().key
    }

    #[test]
    fn a_repeat_gets_the_key_of_the_first() {
        let spool = tempfile::tempdir().unwrap();
        assert_eq!(key(spool.path(), "a", 190), "a");
        for (new, seconds, expected) in [
            ("b", 190, "a"),
            // In the next stretch of time, still within the interval.
            ("c", 289, "a"),
            ("d", 290, "d"),
            ("e", 299, "d"),
            // The clock went back: no repeat.
            ("f", 189, "f"),
        ] {
            assert_eq!(key(spool.path(), new, seconds), expected, "{seconds}");
        }
        let other = Sent {
            identity: b"charge\n\n<Job/>",
            ..sent("g", 281)
        };
        assert_eq!(remember(spool.path(), &other).unwrap().key, "g");
    }

    #[test]
    fn a_refused_document_is_forgotten() {
        let spool = tempfile::tempdir().unwrap();
        remember(spool.path(), &sent("a", 0)).unwrap().forget();
        assert_eq!(key(spool.path(), "b", 1), "b");
    }

    #[test]
    fn old_links_are_removed() {
        let spool = tempfile::tempdir().unwrap();
        let links = || {
            let folders = std::fs::read_dir(spool.path().join(FOLDER)).unwrap();
            let count = |path: PathBuf| std::fs::read_dir(path).unwrap().count();
            folders.map(|f| count(f.unwrap().path())).sum::<usize>()
        };
        for number in 0..200 {
            let identity = format!("end\n\n{number}");
            let identity = identity.as_bytes();
            remember(
                spool.path(),
                &Sent {
                    identity,
                    ..sent("a", 0)
                },
            )
            .unwrap();
        }
        assert_eq!(links(), 200);
        for seconds in [1000, 2000, 3000, 4000] {
            key(spool.path(), "b", seconds);
        }
        assert!(links() <= 2, "{}", links());
    }
}
