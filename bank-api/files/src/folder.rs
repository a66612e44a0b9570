//! The usage files below a folder.

use std::fs::FileType;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Names of entries that are printed; the others are counted.
const NAMED_MAX: usize = 10;

/// Linux's number of the error for a link that leads to itself.
const ELOOP: i32 = 40;

/// The contents of a folder.
#[derive(Debug, Default)]
pub struct Listed {
    /// All files below it, sorted by file name. Names of snapshots are their times, in any folder.
    pub files: Vec<PathBuf>,
    /// Entries that are neither files nor folders, with their kinds. They are not opened: a FIFO would wait for ever.
    pub left_out: Vec<(PathBuf, &'static str)>,
}

/// A folder that is to be read, with the numbers of those above it.
struct Folder {
    path: PathBuf,
    above: Vec<(u64, u64)>,
}

impl Listed {
    /// Lists a folder.
    ///
    /// # Errors
    /// If it, or one below it, cannot be read.
    pub fn below(path: &Path) -> io::Result<Self> {
        let mut listed = Self::default();
        let above = Vec::new();
        let mut folders = vec![Folder {
            path: path.to_owned(),
            above,
        }];
        while let Some(Folder { path, mut above }) = folders.pop() {
            let about = path.metadata()?;
            above.push((about.dev(), about.ino()));
            for entry in std::fs::read_dir(&path)? {
                let path = entry?.path();
                let about = match path.metadata() {
                    Err(error) if error.raw_os_error() == Some(ELOOP) => None,
                    // A file that is gone is an error where it is opened.
                    about => {
                        Some(about.map(|about| (about.file_type(), (about.dev(), about.ino()))))
                    }
                };
                match about {
                    Some(Ok((kind, number))) if kind.is_dir() && !above.contains(&number) => {
                        let above = above.clone();
                        folders.push(Folder { path, above });
                    }
                    Some(Ok((kind, _))) if kind.is_dir() => listed.left_out.push((path, LOOP)),
                    Some(Ok((kind, _))) if !kind.is_file() => {
                        listed.left_out.push((path, special(kind)));
                    }
                    Some(_) => listed.files.push(path),
                    None => listed.left_out.push((path, LOOP)),
                }
            }
        }
        let name = |path: &PathBuf| path.file_name().map(ToOwned::to_owned);
        let files = &mut listed.files;
        files.sort_by(|one, other| (name(one), one).cmp(&(name(other), other)));
        listed.left_out.sort();
        Ok(listed)
    }

    /// The entries that are left out, in words.
    pub fn remark(&self) -> Option<String> {
        let count = self.left_out.len();
        let named = self.left_out.iter().take(NAMED_MAX);
        let named = named.map(|(path, kind)| format!("{} ({kind})", path.display()));
        let mut named: Vec<String> = named.collect();
        if let Some(more) = count.checked_sub(NAMED_MAX).filter(|more| *more > 0) {
            named.push(format!("and {more} more"));
        }
        let plural = if count == 1 { "entry" } else { "entries" };
        // A name may hold what a terminal obeys.
        let named = named.join(", ").replace(char::is_control, "?");
        (count > 0).then(|| format!("skipped {count} {plural}: {named}"))
    }
}

/// The kind of a link that leads back to a folder above it, or to itself.
const LOOP: &str = "loop of links";

fn special(kind: FileType) -> &'static str {
    if kind.is_fifo() {
        return "FIFO";
    }
    if kind.is_socket() {
        return "socket";
    }
    "device"
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn special_files_and_loops_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["b/1", "a/2", "a/c/0", "3"] {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, name).unwrap();
        }
        let _socket = UnixListener::bind(root.join("a/socket")).unwrap();
        for (target, link) in [
            ("/dev/null", "null"),
            ("..", "a/c/up"),
            ("self", "self"),
            ("../b", "a/to-b"),
            ("../a", "b/to-a"),
            ("3", "4"),
            ("nowhere", "5"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        let listed = Listed::below(root).unwrap();
        let names = listed.files.iter();
        let names: Vec<_> = names
            .map(|f| f.file_name().unwrap().to_string_lossy())
            .collect();
        assert_eq!(names, ["0", "0", "1", "1", "2", "2", "3", "4", "5"]);
        let remark = listed
            .remark()
            .unwrap()
            .replace(&format!("{}/", root.display()), "");
        assert_eq!(
            remark,
            "skipped 8 entries: a/c/up (loop of links), a/socket (socket), a/to-b/to-a (loop of links), \
             b/to-a/c/up (loop of links), b/to-a/socket (socket), b/to-a/to-b (loop of links), null (device), \
             self (loop of links)"
        );
    }
}
