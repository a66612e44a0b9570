//! Live files that are followed: `[[follow]]`, any number of them up to a limit.

pub mod names;

use std::collections::HashSet;
use std::path::Path;

use bank_api::text::{Moment, parse_time};
use bankd_ingest::{Options, formats};
use chrono::Utc;
use serde::{Deserialize, Serialize};

use super::Config;
use names::Names;

/// Files that are followed at most: each has a thread.
pub const FOLLOWS_MAX: usize = 64;

/// The largest mapping file, in bytes.
const MAPPING_MAX: u64 = 1 << 20;

/// `[[follow]]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Follow {
    /// The collector's name, such as `slurm:colony`: part of each record's identity.
    pub source: String,
    /// The file, absolute; its name may hold `%Y`, `%m`, `%d` and their like.
    pub path: String,
    /// The format of the file: a line-based format of `bank import`.
    pub format: String,
    /// The machine of the records; empty: the one in the records, else the only one.
    pub machine: String,
    /// The columns of a file without a header line, by name.
    pub layout: String,
    /// The columns, one by one.
    pub columns: Vec<String>,
    /// The column separator; empty for the format's own.
    pub delimiter: String,
    /// The zone of times that name none.
    pub tz: String,
    /// The mapping file of `csv`.
    pub mapping: String,
    /// Grid Engine's complex of GPUs counts for each slot.
    pub gpus_per_slot: bool,
    /// Skip jobs that ended before this time; empty: none.
    pub since: String,
    /// Seconds between two looks at the file, 1 to 3,600.
    pub poll_s: u64,
    /// Seconds without a new line after which the last record counts as whole, 1 to 86,400.
    pub settle_s: i64,
    /// Keep the raw lines.
    pub raw: bool,
}

impl Default for Follow {
    fn default() -> Self {
        Self {
            source: String::new(),
            path: String::new(),
            format: String::new(),
            machine: String::new(),
            layout: String::new(),
            columns: Vec::new(),
            delimiter: String::new(),
            tz: "UTC".to_owned(),
            mapping: String::new(),
            gpus_per_slot: false,
            since: String::new(),
            poll_s: 1,
            settle_s: 30,
            raw: true,
        }
    }
}

impl Follow {
    /// Its name in error messages.
    fn called(&self) -> String {
        format!("follow {}", self.source)
    }

    fn check(&self, number: usize) -> Result<(), String> {
        let length = self.source.len();
        if !(1..=256).contains(&length) || self.source.chars().any(char::is_control) {
            return Err(format!(
                "follow {number}: source: 1 to 256 bytes without control characters, such as \
                 \"slurm:colony\""
            ));
        }
        let name = self.called();
        let mistake = |key: &str, why: String| format!("{name}: {key}: {why}");
        Names::read(&self.path).map_err(|why| mistake("path", why))?;
        if formats::named(&self.format).is_none() {
            let why = format!(
                "no format {:?}; `bank import --help` lists them",
                self.format
            );
            return Err(mistake("format", why));
        }
        if shape(&self.format) == Shape::Document {
            let why = format!(
                "{} is one document, which nobody can read before its end; \
                 `bank import` takes it when it is there",
                self.format
            );
            return Err(mistake("format", why));
        }
        if !self.mapping.is_empty() && self.format != "csv" {
            return Err(mistake(
                "mapping",
                format!("{} has none, only csv", self.format),
            ));
        }
        if self.mapping.is_empty() && self.format == "csv" {
            let why = "csv needs the file with the names of its columns".to_owned();
            return Err(mistake("mapping", why));
        }
        self.since_us().map_err(|why| mistake("since", why))?;
        let poll_s = i64::try_from(self.poll_s).unwrap_or(i64::MAX);
        for (key, value, most) in [
            ("poll_s", poll_s, 3600),
            ("settle_s", self.settle_s, 86_400),
        ] {
            if !(1..=most).contains(&value) {
                return Err(mistake(key, format!("{value} is not in 1 to {most}")));
            }
        }
        // The mapping file is read when the daemon starts; everything else is checked now.
        let options = self.options(None).map_err(|why| format!("{name}: {why}"))?;
        match formats::named(&self.format).filter(|_| self.format != "csv") {
            Some(format) => (format.reader)(&options).map_err(|why| format!("{name}: {why}"))?,
            None => return Ok(()),
        };
        Ok(())
    }

    /// The time before which everything is left out, µs since 1970.
    ///
    /// # Errors
    /// If it is no date or time.
    pub fn since_us(&self) -> Result<Option<i64>, String> {
        if self.since.is_empty() {
            return Ok(None);
        }
        // Nothing relative: the settings mean the same at every start.
        match parse_time(&self.since, 0, &Utc) {
            Some(Moment::At(us)) if self.since.starts_with(|c: char| c.is_ascii_digit()) => {
                Ok(Some(us))
            }
            _ => Err(format!("{:?} is not a time such as 2026-10-01", self.since)),
        }
    }

    /// How the file is to be read, with the text of its mapping.
    ///
    /// # Errors
    /// If the zone is none.
    pub fn options(&self, mapping: Option<String>) -> Result<Options, String> {
        let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let zone = self
            .tz
            .parse()
            .map_err(|_| format!("tz: {:?} is not a time zone such as Europe/Berlin", self.tz))?;
        Ok(Options {
            layout: some(&self.layout),
            columns: self.columns.clone(),
            delimiter: some(&self.delimiter),
            zone,
            mapping,
            gpus_per_slot: self.gpus_per_slot,
        })
    }

    /// The same with the mapping file read, which must be one.
    ///
    /// # Errors
    /// If it cannot be read, or is no mapping.
    pub fn read_options(&self, data: &Path) -> Result<Options, String> {
        let name = self.called();
        let mapping = match super::path_in(data, &self.mapping) {
            Some(path) => Some(text(&path).map_err(|why| format!("{name}: mapping: {why}"))?),
            None => None,
        };
        let options = self.options(mapping)?;
        if let Some(format) = formats::named(&self.format) {
            (format.reader)(&options).map_err(|why| format!("{name}: {why}"))?;
        }
        Ok(options)
    }
}

/// Structure of a format's files, for reading them while they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Records of one line or several; each part of the file can be read by itself.
    Lines,
    /// The same behind a beginning that a reader must have seen.
    Headed,
    /// One document, or a folder of them: not readable before its end.
    Document,
}

/// The structure of a format. A format not listed here cannot be followed.
pub fn shape(format: &str) -> Shape {
    match format {
        "sacct" | "csv" | "swf" => Shape::Headed,
        "sacct-keyvalue" | "slurm-scontrol" | "slurm-jobcomp" | "sge" | "gridware-json" | "pbs"
        | "lsf" | "htcondor" | "htcondor-apel" | "maui" | "moab-events" => Shape::Lines,
        _ => Shape::Document,
    }
}

fn text(path: &Path) -> Result<String, String> {
    let failed = |e: std::io::Error| format!("{}: {e}", path.display());
    if std::fs::metadata(path).map_err(failed)?.len() > MAPPING_MAX {
        return Err(format!(
            "{}: larger than {MAPPING_MAX} bytes",
            path.display()
        ));
    }
    std::fs::read_to_string(path).map_err(failed)
}

impl Config {
    /// The followed files: no two are the same.
    pub(super) fn check_follows(&self) -> Result<(), String> {
        if self.follow.len() > FOLLOWS_MAX {
            let there = self.follow.len();
            return Err(format!("follow: {there} of them, {FOLLOWS_MAX} at most"));
        }
        let mut paths = HashSet::new();
        for (number, follow) in (1..).zip(&self.follow) {
            follow.check(number)?;
            if !paths.insert(&follow.path) {
                let Follow { source, path, .. } = follow;
                return Err(format!("follow {source}: path: {path} is followed already"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follow() -> Follow {
        Follow {
            source: "sge:colony".to_owned(),
            path: "/var/spool/sge/accounting".to_owned(),
            format: "sge".to_owned(),
            ..Follow::default()
        }
    }

    fn refused(change: impl FnOnce(&mut Follow)) -> String {
        let mut follow = follow();
        change(&mut follow);
        follow.check(1).unwrap_err()
    }

    #[test]
    fn a_followed_file_reports_missing_settings() {
        type Change = fn(&mut Follow);
        assert_eq!(follow().check(1), Ok(()));
        let cases: [(Change, &str); 11] = [
            (|f| f.source.clear(), "follow 1: source: 1 to 256"),
            (
                |f| f.path = "accounting".into(),
                "path: \"accounting\" does not begin",
            ),
            (|f| f.format = "sga".into(), "format: no format \"sga\""),
            (
                |f| f.format = "nomad".into(),
                "format: nomad is one document",
            ),
            (|f| f.format = "slurm-json".into(), "is one document"),
            (|f| f.mapping = "m.toml".into(), "mapping: sge has none"),
            (|f| f.since = "-3d".into(), "since: \"-3d\" is not a time"),
            (|f| f.poll_s = 0, "poll_s: 0 is not in 1 to 3600"),
            (|f| f.settle_s = 86_401, "settle_s: 86401 is not in"),
            (
                |f| f.tz = "Nowhere".into(),
                "tz: \"Nowhere\" is not a time zone",
            ),
            (
                |f| {
                    f.format = "sacct".into();
                    f.layout = "xdmod27".into();
                },
                "layout \"xdmod27\"",
            ),
        ];
        for (change, expected) in cases {
            let why = refused(change);
            assert!(why.contains(expected), "{why}");
        }
    }

    #[test]
    fn no_file_is_followed_twice() {
        let mut config = Config {
            follow: vec![follow(), follow()],
            ..Config::default()
        };
        let why = config.check_follows().unwrap_err();
        assert!(why.contains("is followed already"), "{why}");
        config.follow[1].path.push('2');
        assert_eq!(config.check_follows(), Ok(()));
        config.follow = vec![follow(); FOLLOWS_MAX + 1];
        assert!(config.check_follows().unwrap_err().contains("64 at most"));
    }

    #[test]
    fn a_time_to_begin_at_is_a_date() {
        let mut follow = follow();
        assert_eq!(follow.since_us(), Ok(None));
        follow.since = "2026-10-01".to_owned();
        assert_eq!(follow.since_us(), Ok(Some(1_790_812_800_000_000)));
    }

    #[test]
    fn the_mapping_is_read_at_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let mut follow = follow();
        follow.format = "csv".to_owned();
        follow.mapping = "map.toml".to_owned();
        let why = follow.read_options(folder.path()).unwrap_err();
        assert!(why.contains("map.toml"), "{why}");
        std::fs::write(folder.path().join("map.toml"), "nonsense = 1").unwrap();
        assert!(follow.read_options(folder.path()).is_err());
        let good = "header = true\n[fields]\nid = \"id\"\n\
                    start = { column = \"s\", format = \"epoch_s\" }\n\
                    end = { column = \"e\", format = \"epoch_s\" }\n";
        std::fs::write(folder.path().join("map.toml"), good).unwrap();
        assert!(follow.read_options(folder.path()).is_ok());
    }
}
