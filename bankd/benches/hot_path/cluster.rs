//! The daemon as the writer of a cluster with its log in `PostgreSQL` on the same machine, and how far two followers are
//! behind it.

use crate::daemon::Server;
use crate::place::{BANKD, Place, on_core};
use crate::postgresql;
use anyhow::{Result, bail};
use bankd_ledger::clock::Stopwatch;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The log and the followers run where the system places them.
pub(crate) const ANY_CORE: &str = "0,1";
/// Between two looks at the position of a node.
const LOOK: Duration = Duration::from_millis(5);
/// The longest time for a node to start in its role.
const START: Duration = Duration::from_secs(20);

/// Nodes over one log; the first writes.
pub(crate) struct Nodes {
    pub(crate) servers: Vec<Server>,
    /// The data of the writer.
    pub(crate) data: PathBuf,
    /// Goes last.
    _log: postgresql::Server,
}

impl Nodes {
    /// A bank and so many followers of it; none where `PostgreSQL` is missing.
    pub(crate) fn start(place: &Place, template: &Path, followers: u64) -> Result<Option<Nodes>> {
        let Some(programs) = postgresql::programs() else {
            eprintln!("  the cluster is left out: PostgreSQL is missing");
            return Ok(None);
        };
        let log = postgresql::Server::start(place, programs, ANY_CORE)?;
        let data = place.copy_of(template, "n0")?;
        let settings = |node: u64| {
            let [log, name, address] = log.node(&format!("n{node}"));
            // One client asks as fast as it can.
            [log, name, address, ("BANKD_LIMITS_RATE", "0".to_owned())]
        };
        bankd(&data, &["init"], &settings(0))?;
        let copies = (1..=followers).map(|node| place.copy_of(&data, &format!("n{node}")));
        let copies: Vec<PathBuf> = copies.collect::<Result<_>>()?;
        let mut servers = vec![Server::node(
            &data,
            crate::place::SERVER_CORE,
            &settings(0),
        )?];
        for server in &servers {
            until_role(server, "writer")?;
        }
        for (node, copy) in (1..).zip(&copies) {
            bankd(copy, &["join", "--restored"], &settings(node))?;
            let server = Server::node(copy, ANY_CORE, &settings(node))?;
            until_role(&server, "follower")?;
            servers.push(server);
        }
        Ok(Some(Nodes {
            servers,
            data,
            _log: log,
        }))
    }

    /// Ends the followers, then the writer.
    pub(crate) fn stop(mut self) -> Result<()> {
        while let Some(server) = self.servers.pop() {
            server.stop()?;
        }
        Ok(())
    }
}

/// Between two looks.
#[expect(
    clippy::disallowed_methods,
    reason = "nothing announces a position: it is looked at in a pace"
)]
fn pause() {
    std::thread::sleep(LOOK);
}

fn bankd(data: &Path, words: &[&str], settings: &[(&str, String)]) -> Result<()> {
    let mut command = on_core(ANY_CORE, Path::new(BANKD));
    command.arg("cluster").args(words).arg("--data").arg(data);
    command.envs(settings.iter().map(|(name, value)| (name, value)));
    postgresql::ran(&mut command).map(drop)
}

fn until_role(server: &Server, role: &str) -> Result<()> {
    let since = Stopwatch::start();
    while since.elapsed() < START {
        if server
            .status()?
            .pointer("/cluster/role")
            .is_some_and(|is| is == role)
        {
            return Ok(());
        }
        pause();
    }
    bail!("no node became a {role} within {} s", START.as_secs())
}

/// How long a follower took to contain what the writer had, sorted, in nanoseconds: looks at both until `ends`.
pub(crate) fn lags(writer: &Server, follower: &Server, ends: &AtomicBool) -> Result<Vec<u64>> {
    let since = Stopwatch::start();
    let (mut wrote, mut applied) = (Vec::new(), Vec::new());
    while !ends.load(Ordering::Acquire) {
        for (server, seen) in [(writer, &mut wrote), (follower, &mut applied)] {
            let status = server.status()?;
            let position = status.pointer("/cluster/position");
            let position = position.and_then(serde_json::Value::as_i64).unwrap_or(0);
            seen.push((since.elapsed(), position));
        }
        pause();
    }
    let mut at = 0;
    let lag = |(when, position): &(Duration, i64)| {
        while applied
            .get(at)
            .is_some_and(|(then, has)| then < when || has < position)
        {
            at += 1;
        }
        let (then, _) = applied.get(at)?;
        u64::try_from(then.saturating_sub(*when).as_nanos()).ok()
    };
    let mut lags: Vec<u64> = wrote.iter().filter_map(lag).collect();
    lags.sort_unstable();
    Ok(lags)
}
