//! The effective settings as a list: each with its source, and whether a reload changes it. Secrets are files, whose
//! names are no secrets. The path of a webhook, the arguments of a command and the connection string of a database may
//! contain some, so the list has none of them.

use std::fs;
use std::path::Path;

use toml::{Table, Value};

use super::{Config, variable};

/// Settings that a reload changes: a section, or one key of it.
const LIVE: [&str; 5] = ["access", "auditor.access", "backup", "limits", "log.level"];

/// In place of what the list does not show.
const HIDDEN: &str = "…";

/// Where the value of a setting comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A variable of the environment.
    Environment,
    /// The file.
    File,
    /// Neither.
    Default,
}

impl Origin {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::File => "file",
            Self::Default => "default",
        }
    }
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// `section.key`; of the second webhook `deliver.2.url`.
    pub name: String,
    /// The value in force, as in the file; none if it waits for a restart.
    pub value: Option<String>,
    /// The value without file and environment; none for a setting of a list.
    pub default: Option<String>,
    /// The origin of the value.
    pub origin: Origin,
    /// Whether a reload changes it.
    pub is_live: bool,
    /// The value that waits for a restart, if there is one.
    pub pending: Option<String>,
}

/// Whether a reload changes a setting, by its name or that of its section.
pub fn is_live(name: &str) -> bool {
    LIVE.iter().any(|live| {
        let rest = name.strip_prefix(live);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

impl Config {
    /// The settings in force after a reload: those of `read` that a reload changes, and the others as they are here.
    #[must_use]
    pub fn reloaded(&self, read: &Config) -> Config {
        let mut config = self.clone();
        config.access.clone_from(&read.access);
        config.auditor.access.clone_from(&read.auditor.access);
        config.backup.clone_from(&read.backup);
        config.limits.clone_from(&read.limits);
        config.log.level = read.log.level;
        config
    }

    /// These settings as a list by name. `read` are those of the file and the environment as read last.
    pub fn list(&self, read: &Config, file: &Path) -> Vec<Setting> {
        let text = fs::read_to_string(file).unwrap_or_default();
        self.listed(read, &text, variable)
    }

    fn listed(
        &self,
        read: &Config,
        file: &str,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Vec<Setting> {
        let (own, read) = (values(self), values(read));
        let default = values(&Config::default());
        let file: Table = file.parse().unwrap_or_default();
        let mut file_values = Vec::new();
        flatten("", &Value::Table(file), &mut file_values);
        let of = |all: &[(String, Value)], name: &str| {
            let found = all.iter().find(|(own, _)| own == name);
            found.map(|(_, value)| value.clone())
        };
        let mut names: Vec<&String> = own.iter().chain(&read).map(|(name, _)| name).collect();
        names.sort();
        names.dedup();
        let setting = |name: &String| {
            let value = of(&own, name);
            let latest = of(&read, name);
            let upper = format!("BANKD_{}", name.replace('.', "_")).to_ascii_uppercase();
            let is_single = name.matches('.').count() == 1;
            let origin = if is_single && environment(&upper).is_some() {
                Origin::Environment
            } else if of(&file_values, name).is_some() {
                Origin::File
            } else {
                Origin::Default
            };
            let waiting = latest.filter(|latest| value.as_ref() != Some(latest));
            let [value, default, pending] = [value, of(&default, name), waiting]
                .map(|value| value.map(|value| shown(name, &value)));
            Setting {
                name: name.clone(),
                value,
                default,
                pending,
                origin,
                is_live: is_live(name),
            }
        };
        names.into_iter().map(setting).collect()
    }
}

/// Every value of some settings by its name.
fn values(config: &Config) -> Vec<(String, Value)> {
    let table = Table::try_from(config).unwrap_or_default();
    let mut found = Vec::new();
    flatten("", &Value::Table(table), &mut found);
    found
}

/// The values below a value. The tables of a list are counted from 1.
fn flatten(name: &str, value: &Value, found: &mut Vec<(String, Value)>) {
    let below = |own: &str| match name {
        "" => own.to_owned(),
        name => format!("{name}.{own}"),
    };
    match value {
        Value::Table(table) => {
            for (own, value) in table {
                flatten(&below(own), value, found);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_table) => {
            for (place, value) in items.iter().enumerate() {
                flatten(&below(&place.saturating_add(1).to_string()), value, found);
            }
        }
        value => found.push((name.to_owned(), value.clone())),
    }
}

/// A value as in the file, without what may be secret.
fn shown(name: &str, value: &Value) -> String {
    let key = name.rsplit('.').next().unwrap_or_default();
    let is_target = name.starts_with("deliver.");
    match value {
        Value::String(url) if is_target && key == "url" => {
            let host = url.split_once("://").map(|(scheme, rest)| {
                let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
                let host = host.rsplit('@').next().unwrap_or_default();
                format!("{scheme}://{host}/{HIDDEN}")
            });
            Value::String(host.unwrap_or_default()).to_string()
        }
        Value::String(text) if name == "cluster.log" && !text.is_empty() => {
            Value::String(HIDDEN.to_owned()).to_string()
        }
        Value::Array(items) if key == "command" && items.len() > 1 => {
            let program = items.first().cloned().into_iter();
            let all = program.chain([Value::String(HIDDEN.to_owned())]);
            Value::Array(all.collect()).to_string()
        }
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
[limits]
requests_per_minute = 77

[log]
level = "debug"

[[deliver]]
name = "chat"
by = "webhook"
url = "https://user:pass@hooks.example.org:443/T0/secret-path?token=x"
secret = "keys/hook"

[[deliver]]
name = "pager"
command = ["/usr/bin/page", "--token", "s3cret"]
"#;

    fn found<'a>(all: &'a [Setting], name: &str) -> &'a Setting {
        all.iter().find(|one| one.name == name).unwrap()
    }

    #[test]
    fn settings_have_their_sources_and_no_secrets() {
        let file = FILE.replace("requests_per_minute = 77\n", "");
        let config: Config = toml::from_str(&file).unwrap();
        let environment = |name: &str| (name == "BANKD_LEDGER_MODE").then(|| "strict".to_owned());
        let all = config.listed(&config, &file, environment);
        let origin = |name: &str| found(&all, name).origin;
        assert_eq!(origin("log.level"), Origin::File);
        assert_eq!(origin("ledger.mode"), Origin::Environment);
        assert_eq!(origin("http.timeout_s"), Origin::Default);
        assert_eq!(origin("deliver.1.name"), Origin::File);
        assert!(found(&all, "log.level").is_live && !found(&all, "log.format").is_live);
        assert!(all.iter().all(|one| one.pending.is_none()));
        let url = found(&all, "deliver.1.url").value.clone().unwrap();
        assert_eq!(url, "\"https://hooks.example.org:443/…\"");
        let text = format!("{all:?}");
        for secret in ["s3cret", "secret-path", "token=x", "pass@"] {
            assert!(!text.contains(secret), "{secret}");
        }
        assert_eq!(
            found(&all, "deliver.1.secret").value.as_deref(),
            Some("\"keys/hook\"")
        );
    }

    #[test]
    fn a_connection_string_is_hidden_and_its_change_is_not() {
        let [own, read] = ["first", "second"].map(|word| {
            let file = format!("[cluster]\nlog = \"host=pg1 user=bank password={word}\"");
            toml::from_str::<Config>(&file).unwrap()
        });
        for (own, read, value, pending) in [
            (&own, &own, "\"…\"", None),
            (&own, &read, "\"…\"", Some("\"…\"")),
            (&Config::default(), &read, "\"\"", Some("\"…\"")),
        ] {
            let all = own.listed(read, "", |_| None);
            let log = found(&all, "cluster.log");
            assert_eq!(log.value.as_deref(), Some(value));
            assert_eq!(log.pending.as_deref(), pending);
        }
    }

    #[test]
    fn a_reload_changes_some_and_others_wait() {
        let start = Config::default();
        let read: Config = toml::from_str(
            "[log]\nlevel = \"debug\"\n[ledger]\nbatch_max = 7\n[[deliver]]\nname = \"a\"\n",
        )
        .unwrap();
        let all = start.reloaded(&read).listed(&read, "", |_| None);
        assert_eq!(found(&all, "log.level").value.as_deref(), Some("\"debug\""));
        assert_eq!(found(&all, "log.level").pending, None);
        assert_eq!(
            found(&all, "ledger.batch_max").value.as_deref(),
            Some("256")
        );
        assert_eq!(
            found(&all, "ledger.batch_max").pending.as_deref(),
            Some("7")
        );
        let new = found(&all, "deliver.1.name");
        assert_eq!(
            (new.value.clone(), new.pending.as_deref()),
            (None, Some("\"a\""))
        );
        assert!(
            is_live("auditor.access")
                && is_live("auditor.access.rules")
                && !is_live("auditor.listen")
        );
    }
}
