//! Messages for APEL: files in a folder out of which its own program sends them (`usage-records.md` 3.7).
//! A file is made in a folder beside and comes in whole, for it may be read at any moment.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use super::state::StateFile;
use super::{feed, month};
use crate::{
    cli::{ExportApel, Message},
    context::Context,
    fail::Failure,
    file::{cannot, sync_folder},
};

/// Records in one message at most.
const RECORDS: usize = 1000;
/// What ends a record; no value holds it.
const END: &str = "%%\n";

/// `bank export apel`.
pub(super) fn apel(context: &Context, args: &ExportApel) -> Result<String, Failure> {
    let mut args = args.clone();
    let format = match args.message {
        Message::Jobs => "apel",
        Message::Summary => "apel-summary",
        Message::Sync => "apel-sync",
    };
    if let Some(month) = &args.month {
        let (from, to) = month::bounds(month)?;
        (args.feed.from, args.feed.to) = (Some(from), Some(to));
    }
    if args.message == Message::Summary && args.feed.from.is_none() {
        return Err(Failure::usage("which month? --month 2026-01"));
    }
    if args.message != Message::Jobs && args.feed.more.state.is_some() {
        return Err(Failure::usage(
            "sums and counts are computed each time, and have no cursor",
        ));
    }
    let Some(spool) = &args.spool else {
        return feed::run(context, format, &args.feed);
    };
    let mut export = feed::Export::new(context, format, &args.feed)?;
    export.query().limit = u32::try_from(RECORDS).ok();
    let (files, known) = match args.message {
        Message::Jobs => jobs(&mut export, &args, spool)?,
        Message::Summary | Message::Sync => whole(&mut export, &args, spool)?,
    };
    export.report();
    for old in known {
        // Of an earlier message of this month that was longer, and is not sent yet.
        let path = spool.join(old);
        fs::remove_file(&path).map_err(|e| cannot(&path.display().to_string(), &e))?;
    }
    let noun = if files == 1 { "message" } else { "messages" };
    let records = feed::records(export.count());
    Ok(format!(
        "{records} in {files} {noun} in {}\n",
        spool.display()
    ))
}

/// Messages of jobs, a page each; the cursor moves when all of them are in the folder.
fn jobs(
    export: &mut feed::Export<'_>,
    args: &ExportApel,
    spool: &Path,
) -> Result<(usize, Vec<String>), Failure> {
    let state = match &args.feed.more.state {
        Some(path) => Some(StateFile::open(path, export.what())?),
        None => None,
    };
    let (file, before) = state.map_or((None, None), |(file, before)| (Some(file), before));
    let mut now = before.unwrap_or_default();
    if file.is_some() {
        export.query().since.clone_from(&now.cursor);
    }
    let mut files = 0;
    loop {
        // A run after a crash makes the same names again.
        let place = export.query().since.clone();
        let place = place.unwrap_or_else(|| "begin".to_owned());
        let page = export.page()?;
        if !page.text.is_empty() {
            put(spool, &format!("jobs-{place}"), &(page.head + &page.text))?;
            files += 1;
        }
        now.cursor = export.next();
        if let Some(file) = &file {
            file.keep(&now)?;
        }
        if !page.more {
            return Ok((files, Vec::new()));
        }
    }
}

/// Messages of sums or counts in place of those before; gives the files that are left of these.
fn whole(
    export: &mut feed::Export<'_>,
    args: &ExportApel,
    spool: &Path,
) -> Result<(usize, Vec<String>), Failure> {
    let page = export.page()?;
    let records: Vec<&str> = page.text.split_inclusive(END).collect();
    let word = match args.message {
        Message::Sync => "sync",
        _ => "summary",
    };
    let from = args.feed.from.as_deref().unwrap_or("all");
    let month = args.month.as_deref().unwrap_or(from);
    let month: String = month.chars().filter(char::is_ascii_alphanumeric).collect();
    let stem = format!("{word}-{month}-");
    let mut made = Vec::new();
    for (n, some) in (1_usize..).zip(records.chunks(RECORDS)) {
        let name = format!("{stem}{n}");
        put(spool, &name, &(page.head.clone() + &some.concat()))?;
        made.push(name);
    }
    let failed = |e: io::Error| cannot(&spool.display().to_string(), &e);
    let mut old = Vec::new();
    if spool.is_dir() {
        for entry in fs::read_dir(spool).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let name = name.to_string_lossy().into_owned();
            let number = name.strip_prefix(&stem);
            let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
            if number.is_some_and(is_number) && !made.contains(&name) {
                old.push(name);
            }
        }
    }
    Ok((made.len(), old))
}

/// Puts a message into the folder, which is made where there is none.
fn put(spool: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let failed = |path: &Path, e: &io::Error| cannot(&path.display().to_string(), e);
    let beside = beside(spool)?;
    for folder in [spool, &beside] {
        fs::create_dir_all(folder).map_err(|e| failed(folder, &e))?;
    }
    let draft = beside.join(name);
    let made = File::create(&draft).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    made.map_err(|e| failed(&draft, &e))?;
    let path = spool.join(name);
    fs::rename(&draft, &path).map_err(|e| failed(&path, &e))?;
    // Left alone where another export is at work in it.
    let _ = fs::remove_dir(&beside);
    sync_folder(&path)
}

/// `FOLDER.new`, on the same file system.
fn beside(spool: &Path) -> Result<PathBuf, Failure> {
    let name = spool.file_name();
    let name =
        name.ok_or_else(|| Failure::usage(format!("{} is not a folder", spool.display())))?;
    let mut name = name.to_owned();
    name.push(".new");
    Ok(spool.with_file_name(name))
}
