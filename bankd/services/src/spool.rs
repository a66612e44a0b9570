//! Documents that wait in the spool of the scheduler's scripts, where this machine has one.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use bankd_config::scripts_file;

/// Longest settings of the scripts, in bytes.
const SETTINGS_MAX: u64 = 64 << 10;
/// Where the scripts' documents wait, unless their settings name another folder.
const SPOOL: &str = "/var/spool/bank/nami";

/// Documents that wait in the spools of the scripts and in their quarantines, where this host has one.
pub fn spooled() -> Option<[u64; 2]> {
    let all = folders();
    let counts = all.iter().filter_map(|folder| counted(folder));
    counts.reduce(|[waiting, refused], [more, other]| {
        [waiting.saturating_add(more), refused.saturating_add(other)]
    })
}

/// The same of a folder: none for a folder that cannot be looked into: it is somebody else's.
pub fn counted(folder: &Path) -> Option<[u64; 2]> {
    let count = |folder: &Path| {
        let entries = fs::read_dir(folder).ok()?.flatten();
        let documents = entries.filter(|e| e.file_name().to_string_lossy().ends_with(".doc"));
        u64::try_from(documents.count()).ok()
    };
    let refused = count(&folder.join("quarantine")).unwrap_or(0);
    Some([count(folder)?, refused])
}

/// The folder of the spool, then the default one, where documents wait that were stored while the scripts could not
/// read their settings.
pub fn folders() -> Vec<PathBuf> {
    let own = spool_of(&scripts_settings());
    let default = PathBuf::from(SPOOL);
    if own == default {
        vec![own]
    } else {
        vec![own, default]
    }
}

/// The settings of the scripts. Without a file, or with one that they refuse, they have their defaults.
fn scripts_settings() -> String {
    let mut settings = String::new();
    let Ok(file) = fs::File::open(scripts_file()) else {
        return settings;
    };
    match file.take(SETTINGS_MAX + 1).read_to_string(&mut settings) {
        Ok(length) if u64::try_from(length).is_ok_and(|length| length <= SETTINGS_MAX) => settings,
        _ => String::new(),
    }
}

/// The folder that settings of the scripts name; a later line wins.
fn spool_of(settings: &str) -> PathBuf {
    let mut named = settings.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        let ours = ["spool_dir", "NAMI_SPOOL_DIR"].contains(&key.trim());
        ours.then(|| PathBuf::from(value.trim()))
    });
    named.next_back().unwrap_or_else(|| PathBuf::from(SPOOL))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spool_is_where_the_scripts_keep_it() {
        assert_eq!(spool_of(""), Path::new(SPOOL));
        let text = "server=x\n#spool_dir=/no\nspool_dir = /a\nNAMI_SPOOL_DIR=/b\n";
        assert_eq!(spool_of(text), Path::new("/b"));
    }
}
