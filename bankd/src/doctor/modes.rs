//! Owners and modes of the bank's files. `bankd doctor` reports them, and `bankd serve` checks them at the
//! start: it refuses secrets that others can read, and logs a warning about anything else.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use bankd_config::data_dir::DataDir;
use bankd_config::{AuditorTls, Checkpoint, Deliver, path_in};
use bankd_safekeeping::checkpoint;

/// The secrets in `keys/`.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    /// Commands that close the secrets which others can read.
    pub(super) open: Vec<String>,
    /// Commands that give secrets of other owners to the owner of the folder.
    pub(super) foreign: Vec<String>,
    /// The files that are secrets of callers' keys.
    pub(super) there: BTreeSet<String>,
}

/// The command that closes a path which is open to others.
fn open_to_others(path: &Path, most: u32) -> Option<String> {
    let found = fs::metadata(path).ok()?.mode() & 0o777;
    let more = found & !most;
    (more != 0).then(|| format!("chmod {most:o} {} (it is {found:o})", path.display()))
}

/// The command that gives a file of another owner to the owner of its folder.
fn belongs_to_others(path: &Path, folder: &Path) -> Option<String> {
    let owner = |path: &Path| fs::metadata(path).map(|of| of.uid()).ok();
    let (own, right) = (owner(path)?, owner(folder)?);
    (own != right).then(|| format!("chown {right} {} (it is of {own})", path.display()))
}

/// Commands that close the data directory, its database and its settings.
pub(super) fn of_directory(data: &DataDir) -> Vec<String> {
    let (database, config) = (data.database(), data.config());
    let log = database.with_extension("db-wal");
    let all = [
        (data.path(), 0o751),
        (&database, 0o600),
        (&log, 0o600),
        (&config, 0o640),
    ];
    let open = all.into_iter();
    open.filter_map(|(path, most)| open_to_others(path, most))
        .collect()
}

/// Files in `keys/` that the settings name: they are no secrets of callers' keys.
#[derive(Debug)]
pub(crate) struct Named {
    all: BTreeSet<PathBuf>,
    /// Those that everybody may read: certificates, and public halves of keys.
    public: BTreeSet<PathBuf>,
}

impl Named {
    /// The files of these settings.
    pub(crate) fn new(
        data: &DataDir,
        checkpoint: &Checkpoint,
        tls: &AuditorTls,
        targets: &[Deliver],
    ) -> Self {
        let path = |setting: &String| path_in(data.path(), setting);
        let fixed = [&checkpoint.key, &tls.cert, &tls.key, &tls.ca];
        let of_targets = targets
            .iter()
            .flat_map(|target| [&target.secret, &target.ca]);
        let named = fixed.into_iter().chain(of_targets);
        let mut all: BTreeSet<PathBuf> = named.filter_map(path).collect();
        all.insert(checkpoint::default_key(&data.keys()));
        let certificates = targets.iter().map(|target| &target.ca);
        let certificates = certificates.chain([&tls.cert, &tls.ca]);
        let mut public: BTreeSet<PathBuf> = certificates.filter_map(path).collect();
        public.extend(all.iter().map(|key| checkpoint::public_of(key)));
        Self { all, public }
    }
}

/// Looks at each file in `keys/`.
///
/// # Errors
/// If the folder cannot be read.
pub(super) fn secrets(data: &DataDir, named: &Named) -> io::Result<Secrets> {
    let folder = data.keys();
    let mut secrets = Secrets::default();
    secrets.open.extend(open_to_others(&folder, 0o700));
    for entry in fs::read_dir(&folder)?.flatten() {
        if named.public.contains(&entry.path()) {
            continue;
        }
        let is_folder = entry.file_type().is_ok_and(|of| of.is_dir());
        let most = if is_folder { 0o700 } else { 0o600 };
        secrets.open.extend(open_to_others(&entry.path(), most));
        let foreign = belongs_to_others(&entry.path(), &folder);
        secrets.foreign.extend(foreign);
        if named.all.contains(&entry.path()) {
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        secrets.there.insert(name);
    }
    Ok(secrets)
}

/// Commands that close files which others can read, as found at the start of the daemon.
#[derive(Debug, Default)]
pub(crate) struct Exposed {
    /// For the secrets of keys. The daemon does not serve before they are closed.
    pub(crate) secrets: Vec<String>,
    /// For the data directory, the database, the settings, and owners of secrets.
    pub(crate) rest: Vec<String>,
}

/// Looks at modes and owners of a data directory. A folder of keys that is not there, or cannot be read,
/// exposes nothing.
pub(crate) fn exposed(data: &DataDir, named: &Named) -> Exposed {
    let Secrets { open, foreign, .. } = secrets(data, named).unwrap_or_default();
    Exposed {
        secrets: open,
        rest: [of_directory(data), foreign].concat(),
    }
}
