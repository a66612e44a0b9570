//! `bank collect`: usage is fetched where it is, kept in a durable queue, and sent to the bank.
//!
//! Start reading at `round` (what happens in which order, and why nothing is lost), then `queue`. A
//! source fetches and understands as little as it can: what its bytes mean is known to the daemon's
//! readers alone. This room must never decide what a record is or whether it is charged.

mod kubernetes;
mod nomad;
pub(crate) mod program;
mod prometheus;
pub(crate) mod queue;
pub(crate) mod round;
mod slurm;

use crate::client::fetch::{Server, Token};
use crate::config::collect::Collect;
use crate::fail::Failure;

use self::round::Source;

/// The source that settings name. `clock` gives µs since 1970 UTC.
pub(crate) fn source(settings: &Collect, clock: fn() -> i64) -> Result<Box<dyn Source>, Failure> {
    if let Some(slurm) = &settings.slurm {
        return Ok(Box::new(slurm::Slurm::new(slurm.clone())));
    }
    let http = settings.http.as_ref();
    let http = http.ok_or_else(|| Failure::usage("settings: [http] is missing"))?;
    if let Some(nomad) = &settings.nomad {
        let server = Server::new(http, Token::Nomad)?;
        return Ok(Box::new(nomad::Nomad::new(nomad.clone(), server, clock)));
    }
    let server = Server::new(http, Token::Bearer)?;
    if let Some(prometheus) = &settings.prometheus {
        let prometheus = prometheus.clone();
        return Ok(Box::new(prometheus::Prometheus::new(prometheus, server)));
    }
    if let Some(kubernetes) = &settings.kubernetes {
        let kubernetes = kubernetes.clone();
        return Ok(Box::new(kubernetes::Kubernetes::new(kubernetes, server)));
    }
    Err(Failure::usage("settings: no collector is named"))
}
