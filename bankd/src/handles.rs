//! File handles of the process: every connection and every open file has one. The usual soft limit of 1,024
//! is for old programs; the daemon takes up to its hard limit, and has no more connections than fit.

use bankd_config::Config;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Handles of the databases, record files, followed files and backups, of questions to others, and for the
/// connections of the system that are not yet counted.
const OTHERS: u64 = 256;

/// Connections of the Gold gateway.
const GOLD: u64 = 1024;

/// The most handles that it takes: programs that it starts inherit the limit, and some look at each.
const MOST: u64 = 1 << 20;

/// The fewest connections of a listener.
const FEWEST: u64 = 16;

/// Raises the soft limit of open files to the hard one, and lowers the connections of each listener to what
/// fits, so that no listener takes the last handles of another.
pub(crate) fn prepare(config: &mut Config) {
    let before = getrlimit(Resource::Nofile);
    let hard = before.maximum.unwrap_or(MOST);
    let soft = before.current.unwrap_or(MOST);
    let wanted = hard.min(MOST).max(soft);
    let raised = Rlimit {
        current: Some(wanted),
        maximum: before.maximum,
    };
    let soft = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => wanted,
        Err(error) => {
            tracing::warn!(%error, soft, hard, "the limit of open files stays as it is");
            soft
        }
    };
    tracing::debug!(soft, hard, "open files");
    let needed = needed(config);
    if needed <= soft {
        return;
    }
    let fits = fits(config, soft);
    tracing::warn!(
        soft,
        needed,
        max_connections = fits,
        "too few file handles for http.max_connections of all listeners: each has fewer connections; set \
         LimitNOFILE of the service, or lower http.max_connections"
    );
    let http = &mut config.http;
    http.max_connections = http.max_connections.min(fits);
    http.max_connections_each = http.max_connections_each.min(fits);
}

/// Listeners whose connections `http.max_connections` limits. A connection that waits has a handle too.
fn listeners(config: &Config) -> u64 {
    let addresses = [
        &config.http.listen,
        &config.auditor.listen,
        &config.auditor.tls.listen,
        &config.web.listen,
    ];
    let tcp = addresses.iter().filter(|listen| !listen.is_empty()).count();
    let tcp = u64::try_from(tcp).unwrap_or(u64::MAX);
    tcp.saturating_add(u64::from(config.http.socket)).max(1)
}

/// Handles that no listener of these takes.
fn others(config: &Config) -> u64 {
    let gold = if config.gold.listen.is_empty() {
        0
    } else {
        GOLD
    };
    OTHERS.saturating_add(gold)
}

fn needed(config: &Config) -> u64 {
    let each = u64::try_from(config.http.max_connections).unwrap_or(u64::MAX);
    let all = each.saturating_mul(2).saturating_mul(listeners(config));
    all.saturating_add(others(config))
}

/// Connections of each listener that so many handles have room for.
fn fits(config: &Config, handles: u64) -> usize {
    let left = handles.saturating_sub(others(config));
    let each = left / listeners(config).saturating_mul(2);
    usize::try_from(each.max(FEWEST)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_fit_into_the_handles() {
        let mut config = Config::default();
        config.http.listen = "127.0.0.1:1".to_owned();
        config.http.socket = true;
        assert_eq!((listeners(&config), needed(&config)), (2, 4352));
        assert_eq!(fits(&config, 1024), 192);
        assert_eq!(fits(&config, 4352), 1024);
        config.web.listen = "127.0.0.1:2".to_owned();
        config.gold.listen = "127.0.0.1:3".to_owned();
        assert_eq!((listeners(&config), needed(&config)), (3, 7424));
        // The gateway alone has as many: the others have the fewest that there can be.
        assert_eq!(fits(&config, 1024), 16);
        assert_eq!(fits(&config, 2048), 128);
    }

    #[test]
    fn the_soft_limit_becomes_the_hard_one() {
        let mut config = Config::default();
        config.http.max_connections = 16;
        config.http.max_connections_each = 8;
        prepare(&mut config);
        let limit = getrlimit(Resource::Nofile);
        let most = limit.maximum.unwrap_or(MOST).min(MOST);
        assert!(limit.current.unwrap_or(MOST) >= most, "{limit:?}");
    }
}
