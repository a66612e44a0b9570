//! Owners and modes of the bank's files. `bankd doctor` reports them, and `bankd serve` checks them at the
//! start: it refuses secrets that others can read, and logs a warning about anything else.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use bankd_config::data_dir::DataDir;
use bankd_config::{Config, path_in};
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
fn named(data: &DataDir, config: &Config) -> BTreeSet<PathBuf> {
    let tls = &config.auditor.tls;
    let fixed = [&config.checkpoint.key, &tls.cert, &tls.key, &tls.ca];
    let told = config.deliver.iter().flat_map(|d| [&d.secret, &d.ca]);
    let all = fixed.into_iter().chain(told);
    let path = |setting: &String| path_in(data.path(), setting);
    let mut named: BTreeSet<PathBuf> = all.filter_map(path).collect();
    named.insert(checkpoint::default_key(&data.keys()));
    named
}

/// Looks at each file in `keys/`.
///
/// # Errors
/// If the folder cannot be read.
pub(super) fn secrets(data: &DataDir, config: &Config) -> io::Result<Secrets> {
    let folder = data.keys();
    let mut secrets = Secrets::default();
    secrets.open.extend(open_to_others(&folder, 0o700));
    // The key of checkpoints is no caller's, and its public half is for everybody, as certificates are.
    let named = named(data, config);
    let tls = &config.auditor.tls;
    let certificates = config.deliver.iter().map(|d| &d.ca);
    let certificates = certificates.chain([&tls.cert, &tls.ca]);
    let mut public: BTreeSet<PathBuf> = certificates
        .filter_map(|setting| path_in(data.path(), setting))
        .collect();
    public.extend(named.iter().map(|key| checkpoint::public_of(key)));
    for entry in fs::read_dir(&folder)?.flatten() {
        if public.contains(&entry.path()) {
            continue;
        }
        secrets.open.extend(open_to_others(&entry.path(), 0o600));
        let foreign = belongs_to_others(&entry.path(), &folder);
        secrets.foreign.extend(foreign);
        if named.contains(&entry.path()) {
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
pub(crate) fn exposed(data: &DataDir, config: &Config) -> Exposed {
    let Secrets { open, foreign, .. } = secrets(data, config).unwrap_or_default();
    Exposed {
        secrets: open,
        rest: [of_directory(data), foreign].concat(),
    }
}
