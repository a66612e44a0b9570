//! Files that are whole or are not there: they are written beside the one that is wanted, and take its
//! name when all of it is on the disk. What was there before stays whole until then.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
};

use crate::fail::Failure;

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct Fresh {
    path: PathBuf,
    beside: PathBuf,
    output: BufWriter<File>,
    is_done: bool,
}

impl Fresh {
    /// Begins a file. A device or a directory must not be replaced by one: that is refused.
    pub(crate) fn begin(path: &Path) -> Result<Self, Failure> {
        let beside = beside(path)?;
        let file = File::create_new(&beside);
        let file = file.map_err(|e| cannot(&path.display().to_string(), &e))?;
        Ok(Self {
            path: path.to_owned(),
            beside,
            output: BufWriter::new(file),
            is_done: false,
        })
    }

    /// Adds a text, without what would only colour a terminal.
    pub(crate) fn put(&mut self, text: &str) -> Result<(), Failure> {
        let plain = anstream::adapter::strip_str(text).to_string();
        let written = self.output.write_all(plain.as_bytes());
        written.map_err(|e| self.failed(&e))
    }

    /// Gives it its name.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        let flushed = self.output.flush();
        let synced = flushed.and_then(|()| self.output.get_ref().sync_all());
        synced.map_err(|e| self.failed(&e))?;
        let renamed = fs::rename(&self.beside, &self.path);
        renamed.map_err(|e| cannot(&self.path.display().to_string(), &e))?;
        self.is_done = true;
        sync_folder(&self.path)
    }

    fn failed(&self, error: &io::Error) -> Failure {
        cannot(&self.path.display().to_string(), error)
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if !self.is_done {
            // What is left of it is of no use to anybody.
            let _ = fs::remove_file(&self.beside);
        }
    }
}

/// A whole file by what writes it; the outer error is the daemon's, the inner one that of the output.
pub(crate) fn into_file<T>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<io::Result<T>, Failure>,
) -> Result<T, Failure> {
    let mut file = Fresh::begin(path)?;
    let made = write(&mut file.output)?.map_err(|e| file.failed(&e))?;
    file.finish()?;
    Ok(made)
}

/// Where `-o` leads: none for `-`, which is the screen.
pub(crate) fn destination(output: Option<&PathBuf>) -> Option<&Path> {
    let path = output.map(PathBuf::as_path);
    path.filter(|path| *path != Path::new("-"))
}

/// The name of a file is on the disk when its folder is.
pub(crate) fn sync_folder(path: &Path) -> Result<(), Failure> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|e| cannot(&folder.display().to_string(), &e))
}

/// `.NAME.PROCESS` in the same directory.
pub(crate) fn beside(path: &Path) -> Result<PathBuf, Failure> {
    let name = path
        .file_name()
        .filter(|_| path.is_file() || !path.exists());
    let name = name.ok_or_else(|| {
        Failure::usage(format!("{} is not a regular file", path.display()))
            .hint("without -o, or with -o -, it goes to standard output")
    })?;
    let name = format!(".{}.{}", name.to_string_lossy(), std::process::id());
    Ok(path.with_file_name(name))
}

/// A file that cannot be written: exit 2.
pub(crate) fn cannot(what: &str, error: &io::Error) -> Failure {
    Failure::usage(format!("cannot write {what}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_was_there_stays_until_the_new_one_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        fs::write(&path, "old").unwrap();
        let mut file = Fresh::begin(&path).unwrap();
        file.put("new \u{1b}[33m! few\u{1b}[0m").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        file.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new ! few");
        // One that is given up leaves nothing behind.
        let mut file = Fresh::begin(&path).unwrap();
        file.put("half").unwrap();
        drop(file);
        let failed = into_file(&path, |_| -> Result<io::Result<()>, Failure> {
            Err(Failure::usage("the daemon is gone"))
        });
        assert_eq!(failed.unwrap_err().what, "the daemon is gone");
        assert_eq!(fs::read_to_string(&path).unwrap(), "new ! few");
        assert_eq!(names(folder.path()), ["page.html"]);
    }
}
