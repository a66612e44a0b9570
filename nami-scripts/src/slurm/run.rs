//! The start of a run, in a file from the prolog to the epilog: at the epilog of a requeued job, Slurm has forgotten
//! when the run began. The file also suffices to charge the run if `scontrol` fails.
//!
//! One file for each running job, `slurm/NUMBER` in the folder of the spool.

use std::fmt::Write as _;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Error, ErrorKind, Read as _, Result, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

use super::facts::Facts;
use crate::settings::Settings;

const FOLDER: &str = "slurm";
const MAGIC: &str = "bank-slurm-run 1";
/// Largest file, in bytes.
const MAX_FILE: u64 = 16 * 1024;

/// The stored start of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    /// The facts at the prolog.
    pub(super) facts: Facts,
    /// Seconds since 1970.
    pub(super) start: i64,
    /// The limit in seconds.
    pub(super) wall_s: i64,
}

fn folder(settings: &Settings) -> PathBuf {
    settings.spool_dir.join(FOLDER)
}

impl Run {
    /// Stores it, in place of an older one.
    pub(super) fn store(&self, settings: &Settings) -> Result<()> {
        let folder = folder(settings);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)?;
        let new = folder.join(format!(".new-{}", self.facts.raw_id));
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(self.encode().as_bytes())?;
        file.sync_all()?;
        std::fs::rename(new, folder.join(&self.facts.raw_id))?;
        File::open(&folder)?.sync_all()
    }

    /// The run of a job; none if it is unknown.
    pub(super) fn load(settings: &Settings, raw_id: &str) -> Result<Option<Self>> {
        let mut text = String::new();
        match File::open(folder(settings).join(raw_id)) {
            Ok(file) => file.take(MAX_FILE).read_to_string(&mut text)?,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let run = Self::decode(&text).ok_or_else(|| Error::other("not a file of a run"))?;
        Ok(Some(run))
    }

    /// Removes the file of a job, if there is one.
    pub(super) fn remove(settings: &Settings, raw_id: &str) -> Result<()> {
        match std::fs::remove_file(folder(settings).join(raw_id)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn encode(&self) -> String {
        let facts = &self.facts;
        let mut text = format!(
            "{MAGIC}\nstart: {}\nwall: {}\nrestarts: {}\nsubmit: {}\n",
            self.start,
            self.wall_s,
            facts.restarts,
            facts.submit.unwrap_or(0)
        );
        for (name, value) in NAMES.iter().zip(texts(facts)) {
            let value: String = value
                .chars()
                .map(|c| if c.is_control() { ' ' } else { c })
                .collect();
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{name}: {value}");
        }
        text
    }

    fn decode(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()? != MAGIC {
            return None;
        }
        let mut value = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(": ");
        let start = value("start")?.parse().ok()?;
        let wall_s = value("wall")?.parse().ok()?;
        let restarts = value("restarts")?.parse().ok()?;
        let submit = value("submit")?.parse().ok().filter(|at| *at > 0);
        let [
            raw_id,
            id,
            held_id,
            user,
            group,
            account,
            cluster,
            partition,
            qos,
            name,
            reservation,
            tres,
        ] = NAMES;
        let mut take = |name: &str| value(name).map(str::to_owned);
        let facts = Facts {
            restarts,
            submit,
            raw_id: take(raw_id)?,
            id: take(id)?,
            held_id: take(held_id)?,
            user: take(user)?,
            group: take(group)?,
            account: take(account)?,
            cluster: take(cluster)?,
            partition: take(partition)?,
            qos: take(qos)?,
            name: take(name)?,
            reservation: take(reservation)?,
            tres: take(tres)?,
            ..Facts::default()
        };
        Some(Self {
            facts,
            start,
            wall_s,
        })
    }
}

const NAMES: [&str; 12] = [
    "job",
    "id",
    "held",
    "user",
    "group",
    "account",
    "cluster",
    "partition",
    "qos",
    "name",
    "reservation",
    "tres",
];

/// In the order of [`NAMES`].
fn texts(facts: &Facts) -> [&str; 12] {
    [
        &facts.raw_id,
        &facts.id,
        &facts.held_id,
        &facts.user,
        &facts.group,
        &facts.account,
        &facts.cluster,
        &facts.partition,
        &facts.qos,
        &facts.name,
        &facts.reservation,
        &facts.tres,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_read_back_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            spool_dir: folder.path().to_owned(),
            ..Settings::default()
        };
        let facts = Facts {
            raw_id: "17".into(),
            id: "16_1".into(),
            held_id: "16_1".into(),
            restarts: 2,
            user: "amy".into(),
            name: "two words".into(),
            tres: "cpu=1".into(),
            ..Facts::default()
        };
        let run = Run {
            facts,
            start: 1_767_225_600,
            wall_s: 600,
        };
        run.store(&settings).unwrap();
        assert_eq!(Run::load(&settings, "17").unwrap(), Some(run));
        Run::remove(&settings, "17").unwrap();
        Run::remove(&settings, "17").unwrap();
        assert_eq!(Run::load(&settings, "17").unwrap(), None);
        assert_eq!(Run::decode("bank-slurm-run 1\nstart: x\n"), None);
    }
}
