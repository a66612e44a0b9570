//! Settings: flag, then environment, then `~/.config/bank/bank.toml`, then `/etc/bank/bank.toml`,
//! then the default (ux.md 2.2). The environment is read here and nowhere else.

pub(crate) mod collect;

use std::path::{Path, PathBuf};

use serde::Deserialize;

use bank_api::text::own_words;
use bank_picture::{Terminal, Zone};

use crate::{cli::Global, fail::Failure, terminal};

/// Default address of the daemon.
pub(crate) use bank_client::DEFAULT_SERVER;

const SYSTEM_FILE: &str = "/etc/bank/bank.toml";
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// What one source says; absent means "ask the next one".
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// `unix:/path`, `http://host:port` or `https://host:port`; several nodes of one bank have commas between.
    pub(crate) server: Option<String>,
    /// Id of the signing key; TCP only.
    pub(crate) key_id: Option<String>,
    /// File with its secret; TCP only.
    pub(crate) key_file: Option<PathBuf>,
    /// File with the authorities of https servers, in PEM form.
    pub(crate) ca_file: Option<PathBuf>,
    /// An API token, shown in place of a signature; it comes before a key.
    pub(crate) token: Option<Token>,
    /// `table`, `parsable`, `parsable2`, `csv`, `json` or `jsonl`.
    pub(crate) format: Option<String>,
    /// The project of a quote that names none.
    pub(crate) project: Option<String>,
}

/// The text of an API token; its debug form tells nothing.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct Token(pub(crate) String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

impl Settings {
    /// `self` where it speaks, `next` where it is silent.
    fn or(self, next: Self) -> Self {
        Self {
            server: self.server.or(next.server),
            key_id: self.key_id.or(next.key_id),
            key_file: self.key_file.or(next.key_file),
            ca_file: self.ca_file.or(next.ca_file),
            token: self.token.or(next.token),
            format: self.format.or(next.format),
            project: self.project.or(next.project),
        }
    }

    /// The address of the daemon.
    pub(crate) fn server(&self) -> &str {
        self.server.as_deref().unwrap_or(DEFAULT_SERVER)
    }
}

/// A variable of the environment; empty counts as absent.
#[expect(clippy::disallowed_methods, reason = "settings are read here only")]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The name of the machine's time zone, such as `Europe/Berlin`: that of `TZ`, else where
/// `/etc/localtime` leads to; none where neither tells it.
pub(crate) fn zone_name() -> Option<String> {
    // `CET-1` is a rule and no name: names have an area, or a file among those of the zones.
    let is_name = |name: &String| {
        let plain = !name.starts_with(['/', ':']) && !name.contains([',', '.']);
        let known = || Path::new("/usr/share/zoneinfo").join(name).is_file();
        plain && (name == "UTC" || name.contains('/') || known())
    };
    if let Some(named) = environment("TZ") {
        return Some(named).filter(is_name);
    }
    let place = std::fs::read_link("/etc/localtime").ok()?;
    let (_, name) = place.to_str()?.split_once("zoneinfo/")?;
    Some(name.to_owned())
}

/// The value of `TZ` if no time zone has that name: the clocks of this program are in UTC then.
pub(crate) fn unknown_zone() -> Option<String> {
    let named = environment("TZ")?;
    let name = named.strip_prefix(':').unwrap_or(&named);
    // `CET-1CEST` is a rule, and has digits; a name has an area, or none.
    let is_rule = !name.contains('/') && name.contains(|c: char| c.is_ascii_digit());
    let is_known = name.starts_with('/')
        || is_rule
        || Zone::named(name).is_some()
        || Path::new("/usr/share/zoneinfo").join(name).is_file();
    (!is_known).then(|| named.clone())
}

/// The terminal that the caller sits at: as wide as `COLUMNS` or the terminal itself says, else 80, and
/// with more than ASCII where the locale has it.
pub(crate) fn terminal() -> Terminal {
    terminal::of(
        &environment,
        terminal_size::terminal_size().map(|(w, _)| w.0),
    )
}

/// The name under which the caller logged in, where the environment tells it.
pub(crate) fn login() -> Option<String> {
    environment("LOGNAME").or_else(|| environment("USER"))
}

/// The kill point that a test has armed.
#[cfg(feature = "test-hooks")]
pub(crate) fn kill_at() -> Option<String> {
    environment("BANK_KILL_AT")
}

/// The file that has the time of a test, in seconds since 1970.
#[cfg(feature = "test-hooks")]
pub(crate) fn test_clock() -> Option<String> {
    environment("BANK_TEST_CLOCK")
}

/// The settings of this call.
pub(crate) fn load(flags: &Global) -> Result<Settings, Failure> {
    resolve(flags, &environment, &read_file)
}

/// [`load`] with its two inputs given. `read` answers `None` for a file that does not exist.
fn resolve(
    flags: &Global,
    env: &dyn Fn(&str) -> Option<String>,
    read: &dyn Fn(&Path) -> Result<Option<String>, Failure>,
) -> Result<Settings, Failure> {
    let given = Settings {
        server: flags.server.clone(),
        key_id: flags.key_id.clone(),
        key_file: flags.key_file.clone(),
        ca_file: None,
        // Not as a flag: everybody on the machine sees those.
        token: None,
        format: flags.format_name()?.map(str::to_owned),
        project: None,
    };
    let environment = Settings {
        server: env("BANK_SERVER"),
        key_id: env("BANK_KEY_ID"),
        key_file: env("BANK_KEY_FILE").map(PathBuf::from),
        ca_file: env("BANK_CA_FILE").map(PathBuf::from),
        token: env("BANK_TOKEN").map(Token),
        format: env("BANK_FORMAT"),
        project: env("BANK_PROJECT"),
    };
    let named = flags
        .config
        .clone()
        .or_else(|| env("BANK_CONFIG").map(PathBuf::from));
    let files = if let Some(path) = named {
        let text = read(&path)?;
        let text = text.ok_or_else(|| {
            Failure::usage(format!(
                "cannot read settings: {} does not exist",
                path.display()
            ))
        })?;
        parse(&path, &text)?
    } else {
        let user = user_file(env).map_or(Ok(Settings::default()), |path| optional(&path, read))?;
        user.or(optional(Path::new(SYSTEM_FILE), read)?)
    };
    Ok(given.or(environment).or(files))
}

fn user_file(env: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let base = env("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| env("HOME").map(|home| Path::new(&home).join(".config")))?;
    Some(base.join("bank/bank.toml"))
}

fn optional(
    path: &Path,
    read: &dyn Fn(&Path) -> Result<Option<String>, Failure>,
) -> Result<Settings, Failure> {
    read(path)?.map_or(Ok(Settings::default()), |text| parse(path, &text))
}

fn parse(path: &Path, text: &str) -> Result<Settings, Failure> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| {
            text.get(..span.start)
                .map_or(1, |before| before.matches('\n').count() + 1)
        });
        let why = own_words(error.message());
        Failure::usage(format!(
            "cannot read settings: {} line {line}: {why}",
            path.display()
        ))
    })
}

fn read_file(path: &Path) -> Result<Option<String>, Failure> {
    match bounded(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::usage(format!(
            "cannot read settings: {}: {error}",
            path.display()
        ))),
    }
}

/// A file of at most 64 KiB as text.
pub(crate) fn bounded(path: &Path) -> std::io::Result<String> {
    use std::io::Read as _;
    let mut text = String::new();
    std::fs::File::open(path)?
        .take(MAX_FILE_BYTES)
        .read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests;
