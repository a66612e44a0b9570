//! Usage from Kubernetes: the pods that have ended (`collectors.md` j).
//!
//! Each round lists all of them, page by page; what was listed before is known by its identity. A pod
//! stays until it is removed or the cluster tidies up (`--terminated-pod-gc-threshold`), so a round every
//! few minutes sees what ends. Pods that are removed while they run are never seen.

use bank_api::text::{format_rfc3339, percent_encode};
use bank_api::v1::CollectBatch;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

use super::prometheus::put;
use super::queue::Queue;
use super::round::{Next, Source};
use crate::client::fetch::Server;
use crate::config::collect::Kubernetes as Settings;
use crate::fail::Failure;

/// The stream where no namespaces are named.
const ALL: &str = "pods";
/// Pods of one page.
const PAGE: u32 = 500;
/// Pages of one list; more is no list that ends.
const PAGES_MAX: u32 = 10_000;
/// Bytes of one batch; the reader takes documents of 256 MiB.
const BATCH_MAX: usize = 200 << 20;

/// The API server.
pub(super) struct Kubernetes {
    settings: Settings,
    server: Server,
}

impl Kubernetes {
    pub(super) fn new(settings: Settings, server: Server) -> Self {
        Self { settings, server }
    }

    /// The pods that have ended, as one list. The token of a page expires after minutes, on a slow server before the
    /// last page; then the list is read again, once.
    fn pods(&self, namespace: &str) -> Result<Vec<u8>, Failure> {
        for _ in 0..2 {
            if let Some(pods) = self.list(namespace)? {
                return Ok(pods);
            }
        }
        Err(Failure::unreachable(format!(
            "{namespace}: the list of pods expired twice before its last page"
        )))
    }

    /// The same once, of one namespace where the settings name some; none if the token of a page has expired (410).
    fn list(&self, namespace: &str) -> Result<Option<Vec<u8>>, Failure> {
        let path = if self.settings.namespaces.is_empty() {
            "/api/v1/pods".to_owned()
        } else {
            let mut path = "/api/v1/namespaces/".to_owned();
            percent_encode(namespace, &mut path);
            path.push_str("/pods");
            path
        };
        let mut query = format!("?limit={PAGE}&fieldSelector=");
        percent_encode("status.phase!=Pending,status.phase!=Running", &mut query);
        if !self.settings.label_selector.is_empty() {
            query.push_str("&labelSelector=");
            percent_encode(&self.settings.label_selector, &mut query);
        }
        let mut all = Vec::from(*b"{\"kind\":\"PodList\",\"items\":[");
        let (mut token, mut is_first) = (String::new(), true);
        for _ in 0..PAGES_MAX {
            let mut target = format!("{path}{query}");
            let body = if token.is_empty() {
                self.server.must(&target)?
            } else {
                target.push_str("&continue=");
                percent_encode(&token, &mut target);
                let Some(body) = self.server.get(&target)? else {
                    return Ok(None);
                };
                body
            };
            let (items, next) = page(&body)?;
            for item in items {
                if !is_first {
                    all.push(b',');
                }
                is_first = false;
                all.push(b'\n');
                all.extend_from_slice(item.get().as_bytes());
            }
            if all.len() > BATCH_MAX {
                return Err(Failure::unreachable(format!(
                    "{namespace}: more than {BATCH_MAX} bytes of pods that have ended"
                ))
                .hint(
                    "name `namespaces` one by one, or let the cluster remove such pods earlier",
                ));
            }
            if next.is_empty() {
                all.extend_from_slice(b"\n]}\n");
                return Ok(Some(all));
            }
            token = next;
        }
        Err(Failure::unreachable(format!(
            "{namespace}: the list of pods has no end"
        )))
    }
}

impl Source for Kubernetes {
    fn streams(&self) -> Vec<String> {
        if self.settings.namespaces.is_empty() {
            return vec![ALL.to_owned()];
        }
        self.settings.namespaces.clone()
    }

    fn fetch(
        &mut self,
        queue: &Queue,
        stream: &str,
        position: Option<i64>,
        now_us: i64,
    ) -> Result<Next, Failure> {
        if position.is_some_and(|last| last >= now_us) {
            return Ok(Next::UpToDate);
        }
        let body = self.pods(stream)?;
        let time = format_rfc3339(now_us);
        let head = CollectBatch {
            stream: stream.to_owned(),
            source: self.settings.source.clone(),
            format: "kubernetes".to_owned(),
            machine: self.settings.machine.clone(),
            file: format!("{stream}-{time}.json"),
            delimiter: None,
            from: position.map_or_else(|| time.clone(), format_rfc3339),
            until: time,
        };
        put(queue, &head, &body).map(Next::Batch)
    }
}

/// The pods of a page, and the token of the next one; empty on the last.
fn page(body: &[u8]) -> Result<(Vec<Box<RawValue>>, String), Failure> {
    let wrong = |why: String| Failure::unreachable(format!("the list of pods: {why}"));
    let mut top: BTreeMap<String, Box<RawValue>> =
        serde_json::from_slice(body).map_err(|error| wrong(error.to_string()))?;
    let items = top.remove("items");
    let items = items.ok_or_else(|| wrong("no items".to_owned()))?;
    let items = serde_json::from_str(items.get()).map_err(|error| wrong(error.to_string()))?;
    let meta = top.remove("metadata");
    let meta: serde_json::Value = meta
        .and_then(|meta| serde_json::from_str(meta.get()).ok())
        .unwrap_or_default();
    let next = meta.get("continue").and_then(serde_json::Value::as_str);
    Ok((items, next.unwrap_or_default().to_owned()))
}

#[cfg(test)]
mod tests;
