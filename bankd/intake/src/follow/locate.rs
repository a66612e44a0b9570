//! Finding a file again that was read before: where it was, beside it under the name that rotation gave
//! it, or as a copy, compressed or not.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::DirEntryExt;
use std::path::{Path, PathBuf};

use bankd_config::follow::names::{Names, entries};

use super::input::{Input, Look, Node, look_at, named};
use super::open::{Mark, Open};

/// Copies that are looked into for one that begins as the file did.
const COPIES_MAX: usize = 64;

/// The file of a mark, at its position; `None` if it is missing, or if no byte of it was read.
/// Without read bytes it cannot be recognised, and its inode may belong to another file by now.
///
/// # Errors
/// If a folder or a file cannot be read.
pub(super) fn again(names: &Names, mark: &Mark, now_us: i64) -> io::Result<Option<Open>> {
    if mark.offset == 0 {
        return Ok(None);
    }
    let own = match names {
        Names::Plain(path) => path,
        Names::Dated { .. } => &mark.file,
    };
    for path in [&mark.file, own] {
        if let Some((node, _)) = look_at(path)?
            && node == mark.node
            && let Some(open) = opened(path, mark, now_us)?
        {
            return Ok(Some(open));
        }
    }
    for folder in folders(names, mark) {
        for path in of_inode(&folder, mark.node.inode)? {
            let node = look_at(&path)?.map(|(node, _)| node);
            if node == Some(mark.node)
                && let Some(open) = opened(&path, mark, now_us)?
            {
                return Ok(Some(open));
            }
        }
    }
    // Restored, or on a device that has another number since the machine was started.
    match opened(own, mark, now_us)? {
        Some(open) => Ok(Some(open)),
        None => copy(names, mark, now_us),
    }
}

/// A copy of the file of a mark among those that rotation leaves, the youngest first.
///
/// # Errors
/// If a folder or a file cannot be read.
pub(super) fn copy(names: &Names, mark: &Mark, now_us: i64) -> io::Result<Option<Open>> {
    if mark.offset == 0 {
        return Ok(None);
    }
    let mut copies = rotated(names)?;
    copies.sort_by_key(|(_, look, _)| std::cmp::Reverse(look.written));
    for (path, _, node) in copies.into_iter().take(COPIES_MAX) {
        if node != mark.node
            && let Some(open) = opened(&path, mark, now_us)?
        {
            return Ok(Some(open));
        }
    }
    Ok(None)
}

/// The file that begins with all bytes of another, up to its mark: that with its own name, else one that
/// rotation left and that is longer, so that no two copies continue each other.
///
/// # Errors
/// If a folder or a file cannot be read.
pub(super) fn continuing(
    names: &Names,
    own: &Path,
    whole: &Mark,
    now_us: i64,
) -> io::Result<Option<PathBuf>> {
    if opened(own, whole, now_us)?.is_some() {
        return Ok(Some(own.to_owned()));
    }
    let Some(mut copy) = copy(names, whole, now_us)? else {
        return Ok(None);
    };
    let is_longer = !copy.input.window(whole.offset, 1)?.is_empty();
    Ok(is_longer.then_some(copy.input.path))
}

/// The next file after one with a day in its name: that of the next day, else the same.
///
/// # Errors
/// If a folder cannot be read.
pub(super) fn next_day(names: &Names, done: &Path) -> io::Result<PathBuf> {
    let later = names.after(names.day(done))?;
    Ok(later.into_iter().next().unwrap_or_else(|| done.to_owned()))
}

/// The next file if one with a day in its name is missing: the same day in any form, else the next
/// day.
///
/// # Errors
/// If a folder cannot be read.
pub(super) fn same_day(names: &Names, gone: &Path) -> io::Result<Option<PathBuf>> {
    let earlier = names.day(gone).and_then(|day| day.pred_opt());
    Ok(names.after(earlier)?.into_iter().next())
}

/// Whether a name leads to another file than this; not if it leads nowhere.
///
/// # Errors
/// If it cannot be looked at.
pub(super) fn is_another(path: &Path, node: Node) -> io::Result<bool> {
    Ok(look_at(path)?.is_some_and(|(now, _)| now != node))
}

/// A file at the place of a mark, if it is as it was.
pub(super) fn opened(path: &Path, mark: &Mark, now_us: i64) -> io::Result<Option<Open>> {
    let Some(mut input) = Input::open(path)? else {
        return Ok(None);
    };
    let trace = match input.trace(mark.offset) {
        Ok(trace) => trace,
        // An incomplete compressed file, still being written or broken: it cannot be recognised.
        Err(_) if input.is_packed() => None,
        Err(e) => return Err(named(path, &e)),
    };
    let trace = trace.filter(|trace| trace.fingerprint() == mark.print);
    Ok(trace.map(|trace| Open::new(input, trace, mark.line, now_us)))
}

/// Files that have the name of one that was rotated away. Of a file and its compressed copy only the
/// plain one.
pub(super) fn rotated(names: &Names) -> io::Result<Vec<(PathBuf, Look, Node)>> {
    let mut found = Vec::new();
    let folder = names.folder();
    let all = entries(folder, |path| names.is_rotated(path)).map_err(|e| named(folder, &e))?;
    let all: BTreeSet<PathBuf> = all.into_iter().collect();
    for path in &all {
        let plain = path.with_extension("");
        if bankd_config::follow::names::packing(path.as_os_str()).is_some() && all.contains(&plain)
        {
            continue;
        }
        if let Some((node, look)) = look_at(path)? {
            found.push((path.clone(), look, node));
        }
    }
    Ok(found)
}

fn folders(names: &Names, mark: &Mark) -> Vec<PathBuf> {
    let mut folders = vec![names.folder().to_owned()];
    if let Some(folder) = mark.file.parent()
        && folder != names.folder()
    {
        folders.push(folder.to_owned());
    }
    folders
}

/// The entries of a folder with an inode, without a look at each.
fn of_inode(folder: &Path, inode: u64) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(named(folder, &e)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.ino() == inode {
            found.push(entry.path());
        }
    }
    Ok(found)
}
