//! A run of the load generator in a process of its own, on the other core than the server.

use crate::daemon::Server;
use crate::document::Spread;
use crate::figure::Figure;
use crate::place::{LOAD_CORE, Report, run_part};
use anyhow::Result;
use std::path::Path;
use std::time::Duration;

/// Connections of the load.
const CONNECTIONS: u64 = 64;

/// A run of the load generator.
pub(crate) struct Load<'a> {
    pub(crate) kind: &'a str,
    pub(crate) core: &'a str,
    pub(crate) port: u16,
    pub(crate) data: &'a Path,
    pub(crate) spread: Spread,
    pub(crate) from: u64,
    pub(crate) count: u64,
    pub(crate) warm: u64,
    pub(crate) connections: u64,
    /// Requests that begin in a second; 0: as soon as a connection is free.
    pub(crate) per_s: u64,
    pub(crate) limit: Duration,
}

impl<'a> Load<'a> {
    pub(crate) fn of(server: &Server, data: &'a Path) -> Self {
        Self {
            kind: "real",
            core: LOAD_CORE,
            port: server.port,
            data,
            spread: Spread::Many,
            from: 0,
            count: 0,
            warm: 0,
            connections: CONNECTIONS,
            per_s: 0,
            limit: Duration::from_secs(30),
        }
    }

    pub(crate) fn run(&self) -> Result<Report> {
        let options = [
            ("kind", self.kind.to_owned()),
            ("port", self.port.to_string()),
            ("data", text(self.data)),
            ("spread", self.spread.word().to_owned()),
            ("from", self.from.to_string()),
            ("count", self.count.to_string()),
            ("warm", self.warm.to_string()),
            ("connections", self.connections.to_string()),
            ("per_s", self.per_s.to_string()),
            ("limit_s", self.limit.as_secs().to_string()),
        ];
        run_part(self.core, "load", &options)
    }
}

pub(crate) fn rate(report: &Report) -> Result<Figure> {
    let time = Duration::from_nanos(report.number("nanos")?);
    Ok(Figure::per_second(report.number("commands")?, time))
}

pub(crate) fn text(path: &Path) -> String {
    path.display().to_string()
}
