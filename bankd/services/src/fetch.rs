//! A copy of another node's database for a node that has none (decision 0208): requests signed with the secret of the
//! cluster, as all between nodes, and a digest over the whole.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use bank_api::cluster::{Copy, CopyPart, Passed};
use bank_api::error::Problem;
use bank_api::sign::SigningKey;
use bankd_cluster::NodeRow;
use bankd_config::data_dir::DataDir;
use bankd_safekeeping::copy::Receiver;
use hyper::body::Bytes;

use super::passage::ask;

/// Longest wait for a node to make a copy of its database.
const MAKE: Duration = Duration::from_mins(30);
/// Longest wait for a piece.
const PIECE: Duration = Duration::from_mins(1);
/// How often a piece is asked for.
const TRIES: u32 = 3;

/// A node that can give a copy, and how requests to it are signed.
#[derive(Debug)]
pub struct Source<'a> {
    /// The secret of the cluster.
    pub key: &'a SigningKey,
    /// The name of the new node.
    pub own: &'a str,
    /// The other node.
    pub node: &'a NodeRow,
}

impl Source<'_> {
    async fn ask(&self, part: CopyPart, limit: Duration) -> Result<Bytes> {
        let (name, address) = (&self.node.node, &self.node.address);
        let names = (self.own, name.as_str());
        let asked = ask(self.key, names, address, Passed::Copy { part }, limit).await;
        let response = asked
            .map_err(anyhow::Error::msg)
            .with_context(|| format!("node {name} at {address}"))?;
        if response.status().is_success() {
            return Ok(response.into_body());
        }
        let problem: Option<Problem> = serde_json::from_slice(response.body()).ok();
        let detail = problem.and_then(|problem| problem.detail);
        let detail = detail.unwrap_or_else(|| "it runs another version of bankd".to_owned());
        bail!(
            "node {name} at {address}: {} {detail}",
            response.status().as_u16()
        );
    }

    /// Makes the node prepare a copy within a time.
    ///
    /// # Errors
    /// If it cannot be reached, or gives none now.
    pub async fn prepare(&self, limit: Duration) -> Result<Copy> {
        let body = self.ask(CopyPart::Make, limit.min(MAKE)).await?;
        let copy: Copy = serde_json::from_slice(&body)
            .with_context(|| format!("the answer of node {}", self.node.node))?;
        Ok(copy)
    }

    /// Fetches a copy within a time, and checks it. `progress` gets the bytes that are here, and all.
    ///
    /// # Errors
    /// If the node stops answering, the time is over, nothing can be written, or the copy is damaged. Nothing of it has
    /// the name of a bank.
    pub async fn fetch(
        &self,
        data: &DataDir,
        copy: Copy,
        limit: Duration,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<()> {
        let started = Instant::now();
        let id = copy.copy.clone();
        let done = async {
            let mut receiver = Receiver::begin(data, copy)?;
            while receiver.bytes() < receiver.size() {
                ensure!(
                    started.elapsed() < limit,
                    "the copy is not complete after {} s: give it more time with --timeout",
                    limit.as_secs()
                );
                let piece = self.piece(&id, receiver.bytes()).await?;
                receiver.add(&piece)?;
                progress(receiver.bytes(), receiver.size());
            }
            receiver.finish()
        };
        let done = done.await;
        // The node removes it by itself, if this fails.
        let _ = self.ask(CopyPart::Remove { copy: id }, PIECE).await;
        done.map(|_| ())
    }

    async fn piece(&self, copy: &str, from: u64) -> Result<Bytes> {
        let mut tries = 1;
        loop {
            let part = CopyPart::Piece {
                copy: copy.to_owned(),
                from,
            };
            match self.ask(part, PIECE).await {
                Err(_) if tries < TRIES => tries += 1,
                other => return other,
            }
        }
    }
}
