//! The documents of a replay: which files they are, and which event each belongs to.
//!
//! The scripts name a captured document `EVENT-MICROS-PID.xml` (`capture_dir` in `nami.conf`). For
//! any other file the event must be given.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

/// Documents of one replay at most.
const MAX_DOCUMENTS: usize = 100_000;

/// A document to be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Captured {
    /// Its file.
    pub(super) path: PathBuf,
    /// Its event, such as `charge`.
    pub(super) event: String,
    /// Time of the event, µs since 1970 UTC; none if unknown.
    pub(super) at_us: Option<i64>,
}

/// The documents of files and folders: those with a time first, in time order, then the others in
/// the order of the arguments. Of a folder, only captured documents are included.
///
/// # Errors
/// If a file is not there, or its event is unknown.
pub(super) fn find(
    named: &[PathBuf],
    event: Option<&str>,
    at_us: Option<i64>,
) -> Result<Vec<Captured>> {
    let mut found = Vec::new();
    for path in named {
        let bad = || path.display().to_string();
        let meta = std::fs::metadata(path).with_context(bad)?;
        if meta.is_dir() {
            let before = found.len();
            for item in std::fs::read_dir(path).with_context(bad)? {
                let path = item.with_context(bad)?.path();
                found.extend(captured(&path));
                ensure!(
                    found.len() <= MAX_DOCUMENTS,
                    "more than {MAX_DOCUMENTS} documents: replay them in parts"
                );
            }
            ensure!(
                found.len() > before,
                "{}: no captured documents (EVENT-MICROS-PID.xml) in it",
                path.display()
            );
            continue;
        }
        let known = captured(path).filter(|_| event.is_none());
        match (known, event) {
            (Some(captured), _) => found.push(captured),
            (None, Some(event)) => found.push(Captured {
                path: path.clone(),
                event: event.to_owned(),
                at_us,
            }),
            (None, None) => bail!(
                "{}: its name contains no event: add --event charge, reserve, …",
                path.display()
            ),
        }
    }
    // A stable sort: documents without a time keep their order behind the others.
    found.sort_by_cached_key(|one| match one.at_us {
        Some(at) if event.is_none() => (0, at, one.path.clone()),
        _ => (1, 0, PathBuf::new()),
    });
    Ok(found)
}

/// A file with a name that the scripts gave it.
fn captured(path: &Path) -> Option<Captured> {
    let name = path.file_name()?.to_str()?.strip_suffix(".xml")?;
    let (rest, pid) = name.rsplit_once('-')?;
    let (event, micros) = rest.rsplit_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let fits = is_event(event) && is_number(pid) && is_number(micros);
    Some(Captured {
        path: path.to_owned(),
        event: event.to_owned(),
        at_us: Some(micros.parse().ok().filter(|_| fits)?),
    })
}

/// Whether a word can be an event: it becomes the last part of a route.
pub(super) fn is_event(word: &str) -> bool {
    (1..=32).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_event_and_time() {
        for (name, expected) in [
            (
                "charge-1767225600000000-17.xml",
                Some(("charge", 1_767_225_600_000_000)),
            ),
            ("end-5-1.xml", Some(("end", 5))),
            ("charge-17.xml", None),
            ("charge-x-17.xml", None),
            ("Charge-5-17.xml", None),
            ("04-charge-interim.xml", None),
            ("charge-5-17.doc", None),
            ("charge-99999999999999999999-1.xml", None),
        ] {
            let found = captured(Path::new(name));
            let found = found.as_ref().map(|one| (one.event.as_str(), one.at_us));
            assert_eq!(
                found,
                expected.map(|(event, at)| (event, Some(at))),
                "{name}"
            );
        }
    }

    #[test]
    fn captured_documents_come_in_the_order_of_their_events() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "charge-20-1.xml",
            "reserve-10-9.xml",
            "delete-20-2.xml",
            "note.txt",
        ] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let all = [folder.path().to_owned()];
        let found = find(&all, None, None).unwrap();
        let events: Vec<&str> = found.iter().map(|one| one.event.as_str()).collect();
        assert_eq!(events, ["reserve", "charge", "delete"]);
        let plain = [
            folder.path().join("note.txt"),
            folder.path().join("charge-20-1.xml"),
        ];
        assert!(find(&plain, None, None).is_err());
        let found = find(&plain, Some("quote"), Some(7)).unwrap();
        assert_eq!(
            (found[0].event.as_str(), found[0].at_us),
            ("quote", Some(7))
        );
        assert_eq!(found[1].path, plain[1]);
        assert!(find(&[folder.path().join("none")], None, None).is_err());
    }
}
