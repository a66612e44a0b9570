//! Files that are on disk when a function returns, whole or not at all, numbered names, and the files below a folder.
#![warn(missing_docs)]

pub mod folder;

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, ErrorKind, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::Path,
};

/// Beginning of the name of a file that is not whole.
pub const DRAFT: &str = ".new-";
/// Digits of a number in a name.
const DIGITS: usize = 20;

/// Writes a file that is never visible in part under its name.
///
/// # Errors
/// Those of the file system.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!("{DRAFT}{name}"));
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&draft)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    path.parent().map_or(Ok(()), flush)
}

/// Writes the names in a folder to disk.
///
/// # Errors
/// Those of the file system.
pub fn flush(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Creates a folder of mode 0700 with its missing parents, each written to disk in its parent: what is first written there
/// must not vanish with the folder.
///
/// # Errors
/// Those of the file system.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    let missing = folder.ancestors().take_while(|level| !level.exists());
    let missing: Vec<&Path> = missing.collect();
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let holders = missing.iter().filter_map(|level| level.parent());
    let here = |holder: &Path| holder.as_os_str().is_empty();
    let named = holders.map(|holder| if here(holder) { Path::new(".") } else { holder });
    named.into_iter().try_for_each(flush)
}

/// Opens a file for a lock, and creates it if it is missing.
///
/// # Errors
/// Those of the file system.
pub fn lock_file(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
}

/// Removes files that were not whole when their process ended. The caller has the lock of the writers.
///
/// # Errors
/// Those of the file system.
pub fn sweep(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(DRAFT) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The name of a number.
pub fn numbered(number: u64, ending: &str) -> String {
    format!("{number:0DIGITS$}{ending}")
}

/// The number of a name; `None` if the name is none of [`numbered`].
pub fn number(name: &str, ending: &str) -> Option<u64> {
    let digits = name.strip_suffix(ending)?;
    let is_ours = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_ours)
}

/// Names and sizes in bytes of the numbered files in a folder, in the order of their numbers.
///
/// # Errors
/// Those of the file system.
pub fn names(folder: &Path, ending: &str) -> io::Result<Vec<(String, u64)>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| number(name, ending).is_some()) else {
            continue;
        };
        match entry.metadata() {
            Ok(meta) => names.push((name.to_owned(), meta.len())),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbers_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in [&numbered(12, ".x"), &numbered(7, ".x"), "7.x", "note.txt"] {
            write(&folder.path().join(name), b"abc").unwrap();
        }
        fs::write(folder.path().join(".new-1"), "half").unwrap();
        let found = names(folder.path(), ".x").unwrap();
        assert_eq!(found, [(numbered(7, ".x"), 3), (numbered(12, ".x"), 3)]);
        assert_eq!(number(&found[1].0, ".x"), Some(12));
        sweep(folder.path()).unwrap();
        assert!(!folder.path().join(".new-1").exists());
    }

    #[test]
    fn folders_are_private() {
        use std::os::unix::fs::MetadataExt as _;
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        make_folder(&deep).unwrap();
        make_folder(&deep).unwrap();
        assert_eq!(fs::metadata(&deep).unwrap().mode() & 0o777, 0o700);
    }
}
