//! What settings of a collector must hold beyond their types.

use std::collections::BTreeSet;
use std::fmt::Display;

use super::{Collect, Http, Nomad, Prometheus, Slurm};

/// Most points that Prometheus answers with for a series (`collectors.md` h.2).
const POINTS_MAX: i64 = 11_000;

impl Collect {
    /// What is wrong, if anything.
    pub(super) fn check(&self) -> Result<(), String> {
        let sections = [
            self.slurm.is_some(),
            self.prometheus.is_some(),
            self.nomad.is_some(),
            self.kubernetes.is_some(),
        ];
        if sections.into_iter().filter(|is| *is).count() != 1 {
            return Err(
                "there must be one of [slurm], [prometheus], [nomad] and [kubernetes]".to_owned(),
            );
        }
        if !self.folder.is_absolute() {
            return Err("folder: not an absolute path".to_owned());
        }
        within("queue_mib", self.queue_mib, 1, 1 << 20)?;
        within("interval", self.interval_s(), 1, 86_400)?;
        match (&self.http, self.slurm.is_some()) {
            (None, false) => return Err("[http] with its url is missing".to_owned()),
            (Some(_), true) => return Err("[http] is not for [slurm]".to_owned()),
            (Some(http), false) => http.check()?,
            (None, true) => {}
        }
        if let Some(slurm) = &self.slurm {
            slurm.check()?;
        }
        if let Some(prometheus) = &self.prometheus {
            prometheus.check()?;
        }
        if let Some(nomad) = &self.nomad {
            nomad.check(self.interval_s())?;
        }
        self.kubernetes
            .as_ref()
            .map_or(Ok(()), |kubernetes| named("source", &kubernetes.source))
    }
}

impl Http {
    fn check(&self) -> Result<(), String> {
        let rest = self.url.strip_prefix("http://");
        let rest = rest.or_else(|| self.url.strip_prefix("https://"));
        if rest.is_none_or(|rest| rest.is_empty() || rest.contains(['?', '#', '@', ' '])) {
            return Err("http.url: not http://host:port or https://host:port".to_owned());
        }
        if self.cert_file.is_some() != self.key_file.is_some() {
            return Err("http.cert_file and http.key_file: one without the other".to_owned());
        }
        within("http.timeout", self.timeout, 1, 3600)?;
        within("http.retries", self.retries, 0, 10)?;
        within("http.retry_wait", self.retry_wait, 0, 300)?;
        within("http.answer_mib", self.answer_mib, 1, 256)
    }
}

impl Slurm {
    fn check(&self) -> Result<(), String> {
        if self.clusters.is_empty() {
            return Err("slurm.clusters: there is none".to_owned());
        }
        let mut seen = BTreeSet::new();
        for cluster in &self.clusters {
            // It becomes an argument of `sacct`, where commas and dashes mean something.
            named("slurm.clusters.name", &cluster.name)?;
            if cluster.name.starts_with('-') || cluster.name.contains(',') {
                return Err(format!("slurm.clusters.name: {:?}", cluster.name));
            }
            if !seen.insert(&cluster.name) {
                return Err(format!("slurm.clusters: {} is listed twice", cluster.name));
            }
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || " _:.-=/,+[]()%".contains(c);
        if self.delimiter.is_empty() || self.delimiter.chars().any(plain) {
            return Err("slurm.delimiter: columns can contain it; use a rare character".to_owned());
        }
        within("slurm.window", self.window, 60, 366 * 86_400)?;
        within("slurm.overlap", self.overlap, 0, 366 * 86_400)?;
        within("slurm.timeout", self.timeout, 1, 86_400)?;
        within("slurm.batch_mib", self.batch_mib, 1, 4096)
    }
}

impl Prometheus {
    fn check(&self) -> Result<(), String> {
        named("prometheus.source", &self.source)?;
        within("prometheus.step", self.step, 1, 86_400)?;
        within("prometheus.window", self.window, self.step, 31 * 86_400)?;
        within("prometheus.delay", self.delay, 0, 31 * 86_400)?;
        if self.window.rem_euclid(self.step) != 0 {
            return Err("prometheus.window: no multiple of prometheus.step".to_owned());
        }
        if self.window.div_euclid(self.step) > POINTS_MAX {
            return Err(format!(
                "prometheus.window: more than {POINTS_MAX} steps, which Prometheus refuses"
            ));
        }
        let mut seen = BTreeSet::new();
        for query in &self.queries {
            named("prometheus.queries.name", &query.name)?;
            if !seen.insert(&query.name) {
                return Err(format!(
                    "prometheus.queries: {} is listed twice",
                    query.name
                ));
            }
            if query.query.trim().is_empty() {
                return Err(format!("prometheus.queries: {} has no query", query.name));
            }
        }
        if self.queries.is_empty() && (self.cpu.is_empty() || self.memory.is_empty()) {
            return Err("prometheus.cpu and prometheus.memory: one is empty".to_owned());
        }
        Ok(())
    }
}

impl Nomad {
    fn check(&self, interval_s: i64) -> Result<(), String> {
        named("nomad.source", &self.source)?;
        within("nomad.gc_threshold", self.gc_threshold, 1, 366 * 86_400)?;
        if interval_s.saturating_mul(2) > self.gc_threshold {
            return Err(format!(
                "interval: {interval_s} s is more than half of nomad.gc_threshold, {} s: what ends and is \
                 forgotten between two snapshots is never seen",
                self.gc_threshold
            ));
        }
        Ok(())
    }
}

fn within<T: PartialOrd + Display + Copy>(
    key: &str,
    value: T,
    least: T,
    most: T,
) -> Result<(), String> {
    if value < least || value > most {
        return Err(format!("{key}: {value} is not between {least} and {most}"));
    }
    Ok(())
}

/// A name that can be part of an identity: 1 to 200 visible characters.
fn named(key: &str, name: &str) -> Result<(), String> {
    let plain = |c: char| !c.is_control() && !c.is_whitespace();
    if name.is_empty() || name.len() > 200 || !name.chars().all(plain) {
        return Err(format!(
            "{key}: {name:?} is not 1 to 200 visible characters"
        ));
    }
    Ok(())
}
