//! Reload on SIGHUP, and its log messages about settings that need a restart.
//!
//! The reload is atomic for settings: either all are usable and the changeable ones take effect, or
//! nothing changes. Secrets, certificates and record files are always checked, because they are
//! outside the settings.

use bankd_auditor::Gate;
use bankd_auditor::access::Access;
use bankd_config::{Config, is_live};
use bankd_ledger::{clock, obs};
use bankd_services::Services;
use std::path::Path;
use toml::{Table, Value};

/// All settings: those of the start, and those that were read last. Only a reload compares them.
pub(crate) struct Reload {
    at_start: Config,
    latest: Config,
}

impl Reload {
    /// With the settings of the start.
    pub(crate) fn new(config: Config) -> Self {
        Self {
            at_start: config.clone(),
            latest: config,
        }
    }

    /// Reloads everything that can change while the daemon runs.
    pub(crate) async fn run(&mut self, services: &Services, gate: &Gate) {
        {
            let _changing = services.keys.changing().await;
            services.keys.reload(&services.writer.directory());
        }
        services.records.reopen();
        services.follow.wake();
        tracing::info!("keys reloaded, record files reopened, followed files checked");
        if let Some(tls) = &gate.tls {
            match tls.reload(clock::auth_now_s()) {
                Ok(()) => tracing::info!("certificates reloaded"),
                Err(error) => tracing::error!(error, "the certificates stay as they were"),
            }
        }
        self.settings(services, gate);
    }

    /// Applies changed settings that can be reloaded, and names the others.
    fn settings(&mut self, services: &Services, gate: &Gate) {
        let file = services.backups.data().config();
        let config = match reread(&file) {
            Ok(config) => config,
            Err(error) => {
                tracing::error!(error, "the settings stay as they were");
                return;
            }
        };
        let changes = Changes::between(&self.latest, &config);
        for setting in &changes.live {
            tracing::info!(setting = %setting, "a setting changed");
        }
        // Logged at each reload until the daemon is restarted.
        for setting in Changes::between(&self.at_start, &config).waiting {
            tracing::warn!(setting = %setting, "a changed setting needs a restart");
        }
        obs::set_level(config.log.level);
        services.people.set(config.access.clone());
        gate.access.set(Access::from(&config.auditor.access));
        services.limits.set(config.limits.clone());
        services.backups.set(config.backup.clone());
        let in_force = self.at_start.reloaded(&config);
        services.settings.set(in_force.list(&config, &file));
        self.latest = config;
    }
}

/// The settings of a file that is there and has text. Without one every default holds, which at a start is meant, and in
/// a running daemon is a file that was lost or is being written.
fn reread(file: &Path) -> Result<Config, String> {
    match std::fs::read_to_string(file) {
        Err(error) => Err(format!("{}: {error}", file.display())),
        Ok(text) if text.trim().is_empty() => Err(format!("{} is empty", file.display())),
        Ok(text) => Config::of_text(&text, &file.display().to_string()),
    }
}

/// Differences between two settings, by `section.key`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Changes {
    /// Those that change while the daemon serves.
    live: Vec<String>,
    /// Those that wait for the next start.
    waiting: Vec<String>,
}

impl Changes {
    fn between(old: &Config, new: &Config) -> Self {
        let (old, new) = (table(old), table(new));
        let mut changes = Self::default();
        let mut sections: Vec<&String> = old.keys().chain(new.keys()).collect();
        sections.sort();
        sections.dedup();
        for section in sections {
            for name in differing(section, old.get(section), new.get(section)) {
                if is_live(&name) {
                    changes.live.push(name);
                } else {
                    changes.waiting.push(name);
                }
            }
        }
        changes
    }
}

/// Names of the differing keys of a section; the section name if it has no keys.
fn differing(section: &str, old: Option<&Value>, new: Option<&Value>) -> Vec<String> {
    if old == new {
        return Vec::new();
    }
    let (Some(Value::Table(old)), Some(Value::Table(new))) = (old, new) else {
        return vec![section.to_owned()];
    };
    let mut keys: Vec<&String> = old.keys().chain(new.keys()).collect();
    keys.sort();
    keys.dedup();
    let differ = keys
        .into_iter()
        .filter(|key| old.get(*key) != new.get(*key));
    differ.map(|key| format!("{section}.{key}")).collect()
}

fn table(config: &Config) -> Table {
    // Settings that were read can be written.
    Table::try_from(config).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankd_config::{ClientLimits, Follow, Level};

    #[test]
    fn changeable_settings_are_distinguished_from_others() {
        let old = Config::default();
        assert_eq!(Changes::between(&old, &old), Changes::default());
        let mut new = old.clone();
        new.log.level = Level::Debug;
        new.log.format = bankd_config::LogFormat::Json;
        new.access.admin_group = "wheel".to_owned();
        new.auditor.access.read = vec!["apel".to_owned()];
        new.auditor.body_limit += 1;
        new.limits
            .client
            .insert("x".to_owned(), ClientLimits::default());
        new.backup.every_h = 24;
        new.http.timeout_s = 5;
        new.follow.push(Follow::default());
        let changes = Changes::between(&old, &new);
        let live = [
            "access.admin_group",
            "auditor.access",
            "backup.every_h",
            "limits.client",
            "log.level",
        ];
        assert_eq!(changes.live, live);
        let waiting = [
            "auditor.body_limit",
            "follow",
            "http.timeout_s",
            "log.format",
        ];
        assert_eq!(changes.waiting, waiting);
    }
}
