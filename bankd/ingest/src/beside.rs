//! Figures of pods and namespaces beside the requests, in lists of their own: limits of pods, replicas of
//! deployments, and annotations of namespaces (`collectors.md` h.1). They make no samples.

use std::collections::BTreeMap;

use super::number::Number;
use super::samples::{Series, second};

const CPU_LIMITS: &str = "cpu_limit_metrics";
const MEMORY_LIMITS: &str = "memory_limit_metrics";
pub(super) const REPLICAS: &str = "replica_metrics";
const NAMESPACES: &str = "namespace_metrics";

/// The lists of a document.
pub(super) const KEYS: [&str; 4] = [CPU_LIMITS, MEMORY_LIMITS, REPLICAS, NAMESPACES];

/// Values by time.
type Line<V> = BTreeMap<i64, V>;

/// A namespace, and a pod or a deployment in it; empty for the whole namespace.
type Place = (String, String);

/// What is stated of a pod and its namespace at a time.
#[derive(Debug)]
pub(super) struct Stated {
    pub(super) cpu_limit: Option<Number>,
    pub(super) memory_limit: Option<Number>,
    pub(super) replicas: Option<Number>,
    /// The annotation `cf_pi`.
    pub(super) pi: Option<String>,
    /// The annotation `cf_project_id`.
    pub(super) project: Option<String>,
}

/// All that the documents of a source state.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// Limits, replicas: by list and place.
    numbers: BTreeMap<(&'static str, Place), Line<Number>>,
    /// PI and project by namespace.
    notes: BTreeMap<String, Line<[Option<String>; 2]>>,
}

impl Beside {
    /// Takes a series of a list. Returns the number of its samples.
    pub(super) fn take(&mut self, key: &'static str, series: &Series<'_>) -> Result<u64, String> {
        let namespace = series.label("namespace");
        let namespace = namespace.ok_or("a series without a namespace")?;
        let count = u64::try_from(series.samples.len()).unwrap_or(u64::MAX);
        let count = count.saturating_add(series.without_value);
        if key == NAMESPACES {
            let line = self.notes.entry(namespace).or_default();
            for (at, _) in &series.samples {
                line.insert(second(*at)?, [series.user(), series.group()]);
            }
            return Ok(count);
        }
        // The program that reports a deployment is a pod too.
        let name = match key {
            REPLICAS => series.label("deployment"),
            _ => Some(series.label("pod").ok_or("a series without a pod")?),
        };
        let place = (namespace, name.unwrap_or_default());
        let line = self.numbers.entry((key, place)).or_default();
        for (at, value) in &series.samples {
            line.insert(second(*at)?, *value);
        }
        Ok(count)
    }

    /// All of a pod at a time.
    pub(super) fn of(&self, namespace: &str, pod: &str, at: i64) -> Stated {
        let notes = self.notes.get(namespace).and_then(|line| then(line, at));
        let [pi, project] = notes.cloned().unwrap_or_default();
        Stated {
            cpu_limit: self.number(CPU_LIMITS, (namespace, pod), at),
            memory_limit: self.number(MEMORY_LIMITS, (namespace, pod), at),
            replicas: self.replicas(namespace, pod, at),
            pi,
            project,
        }
    }

    /// The replicas of its deployment, else those of the namespace.
    pub(super) fn replicas(&self, namespace: &str, pod: &str, at: i64) -> Option<Number> {
        let number = |name| self.number(REPLICAS, (namespace, name), at);
        let of_deployment = deployment(pod).and_then(number);
        of_deployment.or_else(|| number(""))
    }

    fn number(
        &self,
        key: &'static str,
        (namespace, name): (&str, &str),
        at: i64,
    ) -> Option<Number> {
        let place = (namespace.to_owned(), name.to_owned());
        then(self.numbers.get(&(key, place))?, at).copied()
    }
}

/// The value at a time: the last one until then, else the first one.
fn then<V>(line: &Line<V>, at: i64) -> Option<&V> {
    let last = line.range(..=at).next_back();
    last.or_else(|| line.first_key_value())
        .map(|(_, value)| value)
}

/// The deployment of a pod: pods are named DEPLOYMENT-HASH-SUFFIX.
fn deployment(pod: &str) -> Option<&str> {
    let (replica_set, _) = pod.rsplit_once('-')?;
    replica_set
        .rsplit_once('-')
        .map(|(deployment, _)| deployment)
}

#[cfg(test)]
mod tests {
    use super::super::openshift::OpenShift;
    use super::super::{Found, Job, Reader, Record};

    fn read(document: &str) -> (Vec<Job>, Vec<String>) {
        let (mut jobs, mut others) = (Vec::new(), Vec::new());
        let mut sink = |record: Record| {
            match record.found {
                Found::Jobs(found) => jobs.extend(found),
                Found::Skipped(label) => others.push(format!("{label} {}", record.counts)),
                Found::Malformed(why) => others.push(why),
                Found::Counts(_) => others.push("counts".to_owned()),
            }
            Ok(())
        };
        let mut reader = OpenShift::default();
        reader
            .file("x", &mut document.as_bytes(), &mut sink)
            .unwrap();
        reader.finish(&mut sink).unwrap();
        (jobs, others)
    }

    fn facts(job: &Job) -> String {
        let names = [
            "cf_pi",
            "cf_project_id",
            "cpu_limit",
            "memory_limit",
            "replicas",
            "sample_s",
        ];
        let value = |name| job.attributes.get(name).map_or("-", String::as_str);
        let (start, end) = (job.start_us / 1_000_000, job.end_us / 1_000_000);
        format!("{start} {end} {}", names.map(value).join(" "))
    }

    /// A run ends where any of them changes; between their own samples the last value holds.
    #[test]
    fn facts_beside_the_requests_are_of_their_time() {
        let (jobs, others) = read(
            r#"{"cpu_metrics":[
                {"metric":{"namespace":"a","pod":"web-7c-x1"},"values":[[0,"1"],[900,"1"],[1800,"1"],[2700,"1"]]},
                {"metric":{"namespace":"b","pod":"q"},"values":[[0,"1"],[900,"1"]]}],
              "cpu_limit_metrics":[
                {"metric":{"namespace":"a","pod":"web-7c-x1"},"values":[[0,"2"],[900,"2"],[1800,"2"]]},
                {"metric":{"namespace":"a","pod":"no-requests"},"values":[[0,"2"]]}],
              "memory_limit_metrics":[{"metric":{"namespace":"a","pod":"web-7c-x1"},"values":[[900,"1e9"]]}],
              "replica_metrics":[
                {"metric":{"namespace":"a","deployment":"web","pod":"kube-state-metrics-0"},"values":[[0,"3"],[2700,"4"]]},
                {"metric":{"namespace":"a","deployment":"other"},"values":[[0,"9"]]},
                {"metric":{"namespace":"b"},"values":[[0,"2"]]}],
              "namespace_metrics":[
                {"metric":{"namespace":"a","annotation_cf_pi":"amy","annotation_cf_project_id":"1"},"values":[[0,"1"],[900,"1"]]},
                {"metric":{"namespace":"a","annotation_cf_pi":"bob","annotation_cf_project_id":"1"},"values":[[1800,"1"]]},
                {"metric":{"annotation_cf_pi":"eve"},"values":[[0,"1"]]}]}"#,
        );
        let found: Vec<String> = jobs.iter().map(facts).collect();
        assert_eq!(
            found,
            [
                "0 1800 amy 1 2 1000000000 3 900",
                "1800 2700 bob 1 2 1000000000 3 900",
                "2700 3600 bob 1 2 1000000000 4 900",
                "0 1800 b b - - 2 900",
            ]
        );
        let users: Vec<_> = jobs.iter().map(|job| job.user.as_deref()).collect();
        assert_eq!(users, [Some("amy"), Some("bob"), Some("bob"), None]);
        assert_eq!(
            others
                .iter()
                .filter(|own| own.starts_with("labels"))
                .count(),
            8
        );
        assert!(others.contains(&"namespace_metrics: a series without a namespace".to_owned()));
    }
}
