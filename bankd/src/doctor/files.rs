//! Checks of permissions, and of files that other programs write or read.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use bank_api::text::{counted, format_rfc3339};
use bankd_config::data_dir::DataDir;
use bankd_config::{Checkpoint, Follow, Sink, path_in};
use bankd_ledger::keys;
use bankd_safekeeping::checkpoint;
use bankd_services::spool;
use bankd_store::Checkup;
use bankd_store::partner::Waiting;
use rustix::fs::{Access, StatVfsMountFlags, access};

use super::modes::{self, Named};
use super::{Found, State};

/// A data directory that this user may not enter, or in which nobody can write: no check of what is in it would be right.
pub(super) fn closed(data: &DataDir) -> Option<Found> {
    let mount = rustix::fs::statvfs(data.path()).map(|of| of.f_flag);
    if mount.is_ok_and(|flags| flags.contains(StatVfsMountFlags::RDONLY)) {
        let message = format!("the file system of {} is read-only", data.path().display());
        let todo = "look for its errors in the kernel's log, and mount it for writing";
        return Some(Found::of("directory", State::Fail, message, todo));
    }
    let error = data.database().try_exists().err()?;
    let message = format!("cannot enter {}: {error}", data.path().display());
    let todo = "run it as the user of the daemon";
    Some(Found::of("directory", State::Fail, message, todo))
}

/// Owner and modes of the data directory.
pub(super) fn directory(data: &DataDir) -> Found {
    const NAME: &str = "directory";
    let folder = data.path();
    let Ok(of) = fs::metadata(folder) else {
        let message = format!("{} is not there, or not to be read", folder.display());
        return Found::of(NAME, State::Fail, message, "name another with --data");
    };
    let database = data.database();
    let open = modes::of_directory(data);
    if !open.is_empty() {
        let message = format!(
            "others may do more in {} than they should",
            folder.display()
        );
        return Found::of(NAME, State::Fail, message, open.join(", "));
    }
    let foreign = fs::metadata(&database).is_ok_and(|file| file.uid() != of.uid());
    if foreign {
        let message = format!(
            "{} belongs to another user than its folder",
            database.display()
        );
        let todo = "chown it to the user that runs the daemon";
        return Found::of(NAME, State::Fail, message, todo);
    }
    Found::ok(NAME, format!("{} is closed to others", folder.display()))
}

/// Each key has a secret that only its owner may read.
pub(super) fn keys(data: &DataDir, named: &Named, checkup: Option<&Checkup>) -> Found {
    const NAME: &str = "keys";
    let folder = data.keys();
    let Ok(secrets) = modes::secrets(data, named) else {
        let message = format!("{} is not there, or not to be read", folder.display());
        return Found::of(NAME, State::Fail, message, "put it back from a backup");
    };
    let there = secrets.there;
    let others = "others may read secrets";
    let foreign = "secrets are of another user than keys/, so that the daemon may not read them";
    for (message, commands) in [(others, secrets.open), (foreign, secrets.foreign)] {
        if !commands.is_empty() {
            return Found::of(NAME, State::Fail, message, commands.join(", "));
        }
    }
    let Some(checkup) = checkup else {
        return Found::ok(NAME, format!("{} secrets, closed to others", there.len()));
    };
    let live = checkup
        .keys
        .iter()
        .filter(|(_, off)| !off)
        .map(|(id, _)| id);
    let of_partners = checkup.partners.iter();
    let of_partners: Vec<(String, bool)> = of_partners
        .map(|(name, sends)| (keys::of_partner(name), *sends))
        .collect();
    let needed = of_partners.iter().filter(|(_, sends)| *sends);
    let broken: Vec<&str> = live
        .chain(needed.map(|(id, _)| id))
        .filter(|id| keys::read_secret(&folder, id).is_err())
        .map(String::as_str)
        .collect();
    if !broken.is_empty() {
        let message = format!("no usable secret: {}", broken.join(", "));
        let todo = "put the files back into keys/, or switch these keys off; partner-NAME is the secret \
                    that the partner bank NAME gave to this bank";
        return Found::of(NAME, State::Warn, message, todo);
    }
    let known: BTreeSet<&str> = checkup.keys.iter().map(|(id, _)| id.as_str()).collect();
    let strange: Vec<&str> = there
        .iter()
        .map(String::as_str)
        .filter(|id| !known.contains(id) && !of_partners.iter().any(|(own, _)| own == id))
        .collect();
    if !strange.is_empty() {
        let message = format!("secrets of no key: {}", strange.join(", "));
        return Found::of(NAME, State::Warn, message, "remove the unused ones");
    }
    Found::ok(
        NAME,
        format!(
            "{} key{}, each with its secret, closed to others",
            known.len(),
            if known.len() == 1 { "" } else { "s" }
        ),
    )
}

/// The key of the checkpoints is there, if the daemon makes some.
pub(super) fn checkpoint(data: &DataDir, settings: &Checkpoint) -> Option<Found> {
    const NAME: &str = "checkpoint";
    let key = path_in(data.path(), &settings.key).filter(|_| settings.every_s > 0)?;
    let shown = key.display();
    if key.exists() {
        return Some(Found::ok(NAME, format!("signed with {shown}")));
    }
    let message = format!("no key {shown}: the daemon makes no checkpoint");
    let own = key != checkpoint::default_key(&data.keys());
    let other = if own {
        format!(" --key {shown}")
    } else {
        String::new()
    };
    let todo = format!(
        "`bankd checkpoint-key new --data {}{other}` creates one",
        data.path().display()
    );
    Some(Found::of(NAME, State::Fail, message, todo))
}

/// Messages to partner banks arrive, if there are partners.
pub(super) fn partners(checkup: Option<&Checkup>) -> Option<Found> {
    const NAME: &str = "partners";
    let checkup = checkup?;
    let shown = |one: &Waiting| {
        let since = format_rfc3339(one.since.0);
        let messages = counted(one.count, "message");
        format!("{}: {messages} waiting since {since}", one.partner)
    };
    let waiting: Vec<String> = checkup.waiting.iter().map(shown).collect();
    if !waiting.is_empty() {
        let todo = "`bank status` shows the cause; docs/how-to/partners.md";
        return Some(Found::of(NAME, State::Warn, waiting.join("; "), todo));
    }
    let count = checkup.partners.len();
    (count > 0).then(|| Found::ok(NAME, format!("{count} partner banks, no message waits")))
}

/// The folders of record files can be written.
pub(super) fn sinks(data: &DataDir, sinks: &[Sink]) -> Vec<Found> {
    let found = |one: &Sink| Some(sink(&one.name, &path_in(data.path(), &one.path)?));
    sinks.iter().filter_map(found).collect()
}

fn sink(name: &str, path: &Path) -> Found {
    const NAME: &str = "records";
    let shown = path.display();
    let place = if path.exists() {
        path
    } else {
        path.parent().unwrap_or(path)
    };
    match fs::metadata(place) {
        Err(error) => Found::of(
            NAME,
            State::Fail,
            format!("{name}: {}: {error}", place.display()),
            "make the folder, for the user that runs the daemon: records wait until then",
        ),
        Ok(of) if of.permissions().readonly() => Found::of(
            NAME,
            State::Fail,
            format!("{name}: {} cannot be written", place.display()),
            "give it to the user that runs the daemon: records wait until then",
        ),
        Ok(_) => match access(place, Access::WRITE_OK) {
            Ok(()) => Found::ok(NAME, format!("{name}: {shown}")),
            Err(error) => Found::of(
                NAME,
                State::Fail,
                format!(
                    "{name}: {} cannot be written: {}",
                    place.display(),
                    io::Error::from(error)
                ),
                "make it writable for the user that runs the daemon: records wait until then",
            ),
        },
    }
}

/// The folders of followed files can be read.
pub(super) fn followed(files: &[Follow]) -> Vec<Found> {
    files
        .iter()
        .map(|one| follow(&one.source, Path::new(&one.path)))
        .collect()
}

fn follow(source: &str, path: &Path) -> Found {
    const NAME: &str = "follow";
    // Where there is none yet, it is waited for.
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return Found::of(
            NAME,
            State::Fail,
            format!("{source}: {} is not a regular file", path.display()),
            "name a file that grows: only such a file can be followed",
        );
    }
    let folder = path.parent().unwrap_or(path);
    match fs::read_dir(folder) {
        Ok(_) => Found::ok(NAME, format!("{source}: {}", path.display())),
        Err(error) => Found::of(
            NAME,
            State::Warn,
            format!("{source}: {}: {error}", folder.display()),
            "let the user that runs the daemon read it",
        ),
    }
}

/// Documents that wait in the scripts' spool of this machine, where there is one. The default folder beside it is of
/// interest only if documents wait there.
pub(super) fn spool() -> Vec<Found> {
    let folders = spool::folders().into_iter().enumerate();
    let found = folders.filter_map(|(at, folder)| Some((at, waiting(&folder)?)));
    let found = found.filter(|(at, found)| *at == 0 || found.state != State::Ok);
    found.map(|(_, found)| found).collect()
}

fn waiting(folder: &Path) -> Option<Found> {
    const NAME: &str = "spool";
    let [waiting, refused] = spool::counted(folder)?;
    let message = format!(
        "{}: {} waiting, {refused} in quarantine",
        folder.display(),
        counted(waiting, "document")
    );
    Some(match (waiting, refused) {
        (0, 0) => Found::ok(NAME, message),
        (_, 0) => Found::of(
            NAME,
            State::Warn,
            message,
            "`bank nami spool retry` delivers them",
        ),
        _ => Found::of(
            NAME,
            State::Warn,
            message,
            "quarantine/ contains each document with its reason",
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_documents_are_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(waiting(folder.path()).unwrap().state, State::Ok);
        fs::write(folder.path().join("1-a-b.doc"), "").unwrap();
        let found = waiting(folder.path()).unwrap();
        assert_eq!(found.state, State::Warn);
        assert!(found.todo.contains("bank nami spool retry"), "{found:?}");
        assert_eq!(waiting(&folder.path().join("none")), None);
    }
}
