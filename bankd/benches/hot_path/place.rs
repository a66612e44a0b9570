//! Where the bench keeps its files, how it runs its parts on a core of their own, and what they
//! report.

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The daemon that was built with this bench.
pub(crate) const BANKD: &str = env!("CARGO_BIN_EXE_bankd");

/// The core of whatever serves.
pub(crate) const SERVER_CORE: &str = "0";

/// The core of whatever asks.
pub(crate) const LOAD_CORE: &str = "1";

/// A folder below the target directory: on a real disk, and removed at the end.
pub(crate) struct Place(PathBuf);

impl Place {
    /// An empty folder of this process.
    pub(crate) fn new() -> Result<Self> {
        let name = format!("hot_path-{}", std::process::id());
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&root).with_context(|| root.display().to_string())?;
        Ok(Self(root))
    }

    /// A new folder in it; one of the same name is removed.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.0.join(name);
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        fs::create_dir_all(&path)?;
        Ok(path)
    }

    /// A copy of a data directory, on the disk before anything is measured on it.
    pub(crate) fn copy_of(&self, data: &Path, name: &str) -> Result<PathBuf> {
        let path = self.folder(name)?;
        copy(data, &path)?;
        Ok(path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What cannot be removed lies in the target directory and harms nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir_all(&target)?;
            // The daemon refuses keys that others can read.
            fs::set_permissions(&target, entry.metadata()?.permissions())?;
            copy(&entry.path(), &target)?;
        } else if entry.file_type()?.is_file() {
            fs::copy(entry.path(), &target)?;
            fs::File::open(&target)?.sync_all()?;
        }
    }
    Ok(())
}

/// A command that runs on one core.
pub(crate) fn on_core(core: &str, program: &Path) -> Command {
    let mut command = Command::new("taskset");
    command.arg("-c").arg(core).arg(program);
    command
}

/// The bench itself in one of its parts, on one core.
pub(crate) fn part(core: &str, name: &str, options: &[(&str, String)]) -> Result<Command> {
    let own = std::env::current_exe().context("where is the bench")?;
    let mut command = on_core(core, &own);
    command.arg("part").arg(name);
    for (key, value) in options {
        command.arg(format!("{key}={value}"));
    }
    Ok(command)
}

/// Runs a part to its end and reads its report.
pub(crate) fn run_part(core: &str, name: &str, options: &[(&str, String)]) -> Result<Report> {
    let output = part(core, name, options)?
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("part {name}: is `taskset` there?"))?;
    if !output.status.success() {
        bail!("part {name} failed: {}", output.status);
    }
    Report::parse(&String::from_utf8_lossy(&output.stdout))
}

/// What a part found, as `key=number` words of one line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report(BTreeMap<String, u64>);

impl Report {
    fn parse(text: &str) -> Result<Self> {
        let line = text.lines().last().unwrap_or_default();
        let mut found = BTreeMap::new();
        for word in line.split_whitespace() {
            let (key, value) = word.split_once('=').context("a word of a report")?;
            found.insert(key.to_owned(), value.parse()?);
        }
        Ok(Self(found))
    }

    /// A number of it.
    pub(crate) fn number(&self, key: &str) -> Result<u64> {
        let found = self.0.get(key).copied();
        found.with_context(|| format!("the report has no {key}"))
    }
}

/// The `key=value` arguments of the bench or of a part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options(BTreeMap<String, String>);

impl Options {
    /// From the command line; what Cargo adds with dashes is none of ours.
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Self {
        let pairs = arguments.filter(|argument| !argument.starts_with('-'));
        let pairs = pairs.filter_map(|argument| {
            let (key, value) = argument.split_once('=')?;
            Some((key.to_owned(), value.to_owned()))
        });
        Self(pairs.collect())
    }

    /// An option that must be there.
    pub(crate) fn text(&self, key: &str) -> Result<&str> {
        let found = self.0.get(key).map(String::as_str);
        found.with_context(|| format!("{key}=… is missing"))
    }

    /// A number, or its default.
    pub(crate) fn number(&self, key: &str, default: u64) -> Result<u64> {
        match self.0.get(key) {
            Some(text) => text.parse().with_context(|| format!("{key}={text}")),
            None => Ok(default),
        }
    }

    /// Whether a word stands in a list; without the list, all do.
    pub(crate) fn lists(&self, key: &str, word: &str) -> bool {
        let list = self.0.get(key);
        list.is_none_or(|list| list.split(',').any(|w| w == word))
    }
}
