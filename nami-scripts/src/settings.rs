//! `nami.conf` and its environment variables (decisions.md 27, `nami.md` 2.2).
//!
//! One `key=value` per line; `#` begins a comment line. The environment variable `NAMI_<KEY>`
//! (capitals, `_` for `.`) overrides a key, and the file accepts this spelling too. A mistake never
//! loses a charge: reading continues after the first mistake, so that the spool is found, and the
//! mistake is reported.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::outcome::Condition;

pub(crate) use slurm::Slurm;

mod slurm;

/// Default path of the settings if `$NAMI_CONF` is not set.
const DEFAULT_FILE: &str = "/etc/bank/nami.conf";
/// Largest settings file, in bytes.
const MAX_FILE: u64 = 64 * 1024;
/// Longest path of it that is kept with documents.
const NAME_MAX: usize = 1024;
/// The spool if the settings name none, or cannot be read.
pub(crate) const DEFAULT_SPOOL: &str = "/var/spool/bank/nami";

/// Every key but those of the exit map.
const KEYS: [&str; 17] = [
    "server",
    "key_id",
    "key_file",
    "machine",
    "spool_dir",
    "fail_open",
    "capture_dir",
    "flush_interval_s",
    "timeout_s",
    "print_tid",
    "latin1_fallback",
    "slurm_bank_down",
    "slurm_fallback",
    "slurm_submit_ms",
    "slurm_unlimited_s",
    "slurm_scontrol",
    "slurm_conf",
];

/// Where the daemon listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Server {
    /// A Unix socket: the kernel identifies both sides, nothing is signed.
    Unix(PathBuf),
    /// HTTP without TLS: requests are signed, and answers must be.
    Tcp { host: String, port: u16 },
}

/// Most servers of a list.
const SERVERS_MAX: usize = 16;

impl Server {
    /// One address, or the nodes of a cluster with commas between.
    fn parse_list(text: &str) -> Option<Vec<Self>> {
        let servers: Option<Vec<Self>> =
            text.split(',').map(|one| Self::parse(one.trim())).collect();
        servers.filter(|servers| servers.len() <= SERVERS_MAX)
    }

    fn parse(text: &str) -> Option<Self> {
        if let Some(path) = text.strip_prefix("unix:") {
            return path
                .starts_with('/')
                .then(|| Self::Unix(PathBuf::from(path)));
        }
        let authority = text.strip_prefix("http://")?;
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
            _ => (authority, 80),
        };
        let plain = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host);
        let clean = plain
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".-:_".contains(&byte));
        (clean && !plain.is_empty()).then(|| Self::Tcp {
            host: plain.to_owned(),
            port,
        })
    }

    /// The value of the `Host` header.
    pub(crate) fn authority(&self) -> String {
        match self {
            Self::Unix(_) => "localhost".to_owned(),
            Self::Tcp { host, port } if host.contains(':') => format!("[{host}]:{port}"),
            Self::Tcp { host, port } => format!("{host}:{port}"),
        }
    }

    /// For messages.
    pub(crate) fn display(&self) -> String {
        match self {
            Self::Unix(path) => format!("unix:{}", path.display()),
            Self::Tcp { .. } => format!("http://{}", self.authority()),
        }
    }
}

/// The settings of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The path of their file, also of one that cannot be read; empty if it is long, has a blank or is not ASCII.
    pub(crate) file: String,
    /// In the order of trying; at least one.
    pub(crate) servers: Vec<Server>,
    /// Key id and file with the secret; needed over TCP.
    pub(crate) key_id: Option<String>,
    pub(crate) key_file: Option<PathBuf>,
    /// The machine of documents that name none.
    pub(crate) machine: Option<String>,
    pub(crate) spool_dir: PathBuf,
    /// Whether a reserve during an outage is kept and answered with success.
    pub(crate) fail_open: bool,
    /// Where a copy of every document goes.
    pub(crate) capture_dir: Option<PathBuf>,
    /// The flush interval, in seconds: how long the same charge is a repeat. 0 for never.
    pub(crate) flush_interval_s: i64,
    /// The whole call, in seconds, 1 to 60.
    pub(crate) timeout_s: u64,
    pub(crate) print_tid: bool,
    pub(crate) latin1_fallback: bool,
    /// The site's exit codes of conditions; the others keep their own code.
    pub(crate) exits: Vec<(Condition, u8)>,
    pub(crate) slurm: Slurm,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            file: String::new(),
            servers: vec![Server::Unix(PathBuf::from("/var/lib/bankd/bankd.sock"))],
            key_id: None,
            key_file: None,
            machine: None,
            spool_dir: PathBuf::from(DEFAULT_SPOOL),
            fail_open: false,
            capture_dir: None,
            flush_interval_s: 3600,
            timeout_s: 8,
            print_tid: false,
            latin1_fallback: false,
            exits: Vec::new(),
            slurm: Slurm::default(),
        }
    }
}

/// The settings as far as they could be read, and the first mistake.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) settings: Settings,
    pub(crate) mistake: Option<String>,
}

/// Public part of the scripts' settings (`bank moab check`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The whole call, in seconds, 1 to 60.
    pub timeout_s: u64,
    /// Whether quotes print `cost:TID`.
    pub print_tid: bool,
    /// Whether a reserve during an outage succeeds.
    pub fail_open: bool,
    /// The machine of documents that name none.
    pub machine: Option<String>,
}

impl Facts {
    /// Reads this file, else the one that the scripts read.
    ///
    /// # Errors
    /// The first mistake: file, line and why.
    pub fn load(conf: Option<&std::path::Path>) -> Result<Self, String> {
        let loaded = conf.map_or_else(Settings::load, Settings::load_file);
        if let Some(mistake) = loaded.mistake {
            return Err(mistake);
        }
        let settings = loaded.settings;
        Ok(Self {
            timeout_s: settings.timeout_s,
            print_tid: settings.print_tid,
            fail_open: settings.fail_open,
            machine: settings.machine,
        })
    }
}

impl Settings {
    /// Reads the file and the environment of this process.
    pub(crate) fn load() -> Loaded {
        Self::load_with(|name| std::env::var_os(name))
    }

    /// Reads this file in place of the usual one, and the environment of this process.
    pub(crate) fn load_file(path: &std::path::Path) -> Loaded {
        Self::load_with(|name| match name {
            "NAMI_CONF" => Some(path.into()),
            other => std::env::var_os(other),
        })
    }

    /// Reads one file and nothing of the environment.
    #[cfg(test)]
    pub(crate) fn load_file_alone(path: &std::path::Path) -> Loaded {
        Self::load_with(|name| (name == "NAMI_CONF").then(|| path.into()))
    }

    fn load_with(environment: impl Fn(&str) -> Option<OsString>) -> Loaded {
        let named = environment("NAMI_CONF")
            .filter(|path| !path.is_empty())
            .map(PathBuf::from);
        let path = named.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_FILE));
        let mut loaded = match read_limited(&path) {
            Ok(text) => Self::parse(&text, &path.display().to_string()),
            // The default file may be absent: then the defaults hold.
            Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
                Loaded {
                    settings: Self::default(),
                    mistake: None,
                }
            }
            Err(error) => Loaded {
                settings: Self::default(),
                mistake: Some(format!("{}: {error}", path.display())),
            },
        };
        let name = path.to_str().unwrap_or_default();
        if name.len() <= NAME_MAX && name.bytes().all(|byte| byte.is_ascii_graphic()) {
            name.clone_into(&mut loaded.settings.file);
        }
        let exits = Condition::MAPPED
            .iter()
            .map(|(_, word)| format!("exit.{word}"));
        for key in KEYS.iter().map(|key| (*key).to_owned()).chain(exits) {
            let variable = format!("NAMI_{}", key.to_uppercase().replace('.', "_"));
            let Some(value) = environment(&variable).filter(|value| !value.is_empty()) else {
                continue;
            };
            let set = value
                .to_str()
                .ok_or("not UTF-8")
                .and_then(|v| loaded.settings.set(&key, v));
            if let Err(why) = set {
                loaded
                    .mistake
                    .get_or_insert_with(|| format!("{variable}: {why}"));
            }
        }
        loaded
    }

    /// Reads the text of a settings file; `name` is the file's, for messages.
    fn parse(text: &str, name: &str) -> Loaded {
        let mut loaded = Loaded {
            settings: Self::default(),
            mistake: None,
        };
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let set = line
                .split_once('=')
                .ok_or("not of the form key=value")
                .and_then(|(key, value)| loaded.settings.set(key.trim_end(), value.trim_start()));
            if let Err(why) = set {
                let number = number + 1;
                loaded
                    .mistake
                    .get_or_insert_with(|| format!("{name}:{number}: {why}"));
            }
        }
        loaded
    }

    /// Sets one key, written as in the file or as its environment variable.
    fn set(&mut self, key: &str, value: &str) -> Result<(), &'static str> {
        let variable = key.strip_prefix("NAMI_").map(str::to_lowercase);
        let key = variable.as_deref().unwrap_or(key);
        let text = || (!value.is_empty()).then(|| value.to_owned());
        match key {
            "server" => {
                self.servers = Server::parse_list(value).ok_or(
                    "server is unix:/path/of/socket or http://host:port, or up to 16 of them with commas between",
                )?;
            }
            "key_id" => self.key_id = text(),
            "key_file" => self.key_file = text().map(PathBuf::from),
            "machine" => self.machine = text(),
            "spool_dir" if value.starts_with('/') => self.spool_dir = PathBuf::from(value),
            "spool_dir" => return Err("spool_dir is an absolute path"),
            "fail_open" => self.fail_open = switch(value)?,
            "capture_dir" => self.capture_dir = text().map(PathBuf::from),
            "flush_interval_s" => {
                self.flush_interval_s = value
                    .parse()
                    .ok()
                    .filter(|seconds| (0..=86_400).contains(seconds))
                    .ok_or("flush_interval_s is 0 to 86400")?;
            }
            "timeout_s" => {
                self.timeout_s = value
                    .parse()
                    .ok()
                    .filter(|seconds| (1..=60).contains(seconds))
                    .ok_or("timeout_s is 1 to 60")?;
            }
            _ if key.starts_with("slurm_") => self.slurm.set(key, value)?,
            "print_tid" => self.print_tid = switch(value)?,
            "latin1_fallback" => self.latin1_fallback = switch(value)?,
            _ => {
                let word = key
                    .strip_prefix("exit.")
                    .or_else(|| key.strip_prefix("exit_"));
                let condition = word.and_then(Condition::mapped).ok_or("unknown key")?;
                let code = value
                    .parse()
                    .ok()
                    .filter(|code| *code <= 125)
                    .ok_or("an exit code is 0 to 125")?;
                self.exits.retain(|(other, _)| *other != condition);
                self.exits.push((condition, code));
            }
        }
        Ok(())
    }

    /// The exit code of a condition: the site's, else its own.
    pub(crate) fn exit(&self, condition: Condition) -> u8 {
        let mapped = self.exits.iter().find(|(known, _)| *known == condition);
        mapped.map_or_else(|| condition.exit(), |(_, code)| *code)
    }

    /// Time limit for communication with the bank: the whole budget less the time for writing a
    /// document to the spool.
    pub(crate) fn talk_time(&self) -> Duration {
        Duration::from_secs(self.timeout_s) * 15 / 16
    }
}

fn switch(value: &str) -> Result<bool, &'static str> {
    match value.to_ascii_lowercase().as_str() {
        "yes" | "true" | "on" | "1" => Ok(true),
        "no" | "false" | "off" | "0" => Ok(false),
        _ => Err("a switch is yes or no"),
    }
}

/// A variable of the environment, such as those of a script of Slurm.
pub(crate) fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?.into_string().ok();
    value.filter(|value| !value.is_empty())
}

/// The whole file. The first part of a larger one could lack the key that names the spool.
fn read_limited(path: &std::path::Path) -> std::io::Result<String> {
    use std::io::{Error, Read as _};
    let mut bytes = Vec::new();
    std::fs::File::open(path)?
        .take(MAX_FILE + 1)
        .read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_FILE) {
        return Err(Error::other("larger than 64 KiB"));
    }
    String::from_utf8(bytes).map_err(|_| Error::other("not UTF-8"))
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
