use std::io::Read as _;

use super::*;
use crate::client::fetch::{Token, tests::Site};
use crate::config::collect::Collect;

const T0: i64 = 1_767_225_600;

fn settings(more: &str) -> Settings {
    let text = format!(
        "folder = \"/x\"\n[http]\nurl = \"http://h\"\n[prometheus]\nsource = \"p\"\nstart = \"2026-01-01\"\n\
         step = \"60s\"\nwindow = \"10m\"\ndelay = \"5m\"\n{more}"
    );
    let settings: Collect = toml::from_str(&text).unwrap();
    settings.prometheus.unwrap()
}

struct World {
    queue: Queue,
    prometheus: Prometheus,
    site: Site,
    _folder: tempfile::TempDir,
}

impl World {
    fn new(more: &str, answer: impl Fn(&str) -> String + Send + 'static) -> Self {
        let site = Site::new(move |target, _| (200, answer(target)));
        let folder = tempfile::tempdir().unwrap();
        let queue = Queue::open(folder.path(), 1 << 30).unwrap().unwrap();
        let server = Server::new(&site.http(), Token::Bearer).unwrap();
        Self {
            queue,
            prometheus: Prometheus::new(settings(more), server),
            site,
            _folder: folder,
        }
    }

    fn fetch(
        &mut self,
        stream: &str,
        position_s: Option<i64>,
        now_s: i64,
    ) -> Result<Next, Failure> {
        let position = position_s.map(|s| s * SECOND_US);
        self.prometheus
            .fetch(&self.queue, stream, position, now_s * SECOND_US)
    }

    fn documents(&self) -> Vec<(CollectBatch, Value)> {
        let waiting = self.queue.list().unwrap();
        let read = |batch| {
            let mut text = String::new();
            self.queue
                .body(batch)
                .unwrap()
                .read_to_string(&mut text)
                .unwrap();
            serde_json::from_str(&text).unwrap()
        };
        waiting
            .iter()
            .map(|one| (one.head.clone(), read(one)))
            .collect()
    }
}

fn answer(series: &str) -> String {
    format!(r#"{{"status":"success","data":{{"resultType":"matrix","result":[{series}]}}}}"#)
}

const QUERIES: &str = "queries = [{ name = \"cpu\", query = 'sum by (pod) (x{a=\"b\"})' }]\n";

#[test]
fn windows_touch_whatever_the_time_of_the_rounds() {
    let world = World::new("", |_| answer(""));
    let window = |position: Option<i64>, now: i64| {
        let found = world
            .prometheus
            .window(position.map(|s| s * SECOND_US), now * SECOND_US);
        found.map(|window| (window.from - T0, window.to - T0))
    };
    assert_eq!(window(None, T0 + 600), None, "its last samples may be late");
    assert_eq!(window(None, T0 + 899), None);
    assert_eq!(window(None, T0 + 900), Some((0, 600)));
    assert_eq!(window(Some(T0 + 600), T0 + 1499), None);
    assert_eq!(window(Some(T0 + 600), T0 + 99_999), Some((600, 1200)));
    // From a position between two samples to the next multiple of the window.
    assert_eq!(window(Some(T0 + 630), T0 + 99_999), Some((660, 1200)));
    assert_eq!(window(Some(T0 - 1), T0 + 99_999), Some((0, 600)));
}

#[test]
fn a_query_of_ones_own_asks_for_each_sample_once() {
    let series =
        r#"{"metric":{"namespace":"a","pod":"b"},"values":[[1767225600,"0.1000000000000000001"]]}"#;
    let mut world = World::new(QUERIES, move |_| answer(series));
    assert!(matches!(
        world.fetch("cpu", None, T0 + 2000),
        Ok(Next::Batch(_))
    ));
    world.fetch("cpu", Some(T0 + 600), T0 + 2000).unwrap();
    assert_eq!(
        world.fetch("cpu", Some(T0 + 1200), T0 + 2000).unwrap(),
        Next::UpToDate
    );
    let query = "/api/v1/query_range?query=sum%20by%20%28pod%29%20%28x%7Ba%3D%22b%22%7D%29";
    assert_eq!(
        world.site.requests(),
        [
            format!("{query}&start={T0}&end={}&step=60", T0 + 540),
            format!("{query}&start={}&end={}&step=60", T0 + 600, T0 + 1140),
        ]
    );
    let (head, document) = world.documents().remove(0);
    assert_eq!(
        (head.source.as_str(), head.format.as_str()),
        ("p.cpu", "prometheus")
    );
    assert_eq!(head.until, "2026-01-01T00:10:00Z");
    assert_eq!(document["step_s"], 60);
    // Not a digit of a value is lost.
    assert_eq!(
        document["data"]["result"][0]["values"][0][1],
        "0.1000000000000000001"
    );
}

#[test]
fn requests_of_pods_are_one_document_with_what_is_known_of_node_and_namespace() {
    let more = "namespaces = \"kube_namespace_annotations\"\n";
    let mut world = World::new(more, |target| {
        let pod = |labels: &str| {
            answer(&format!(
                r#"{{"metric":{{"namespace":"ns","pod":"p","node":"n1"{labels}}},"values":[[1767225600,"2"]]}}"#
            ))
        };
        if target.contains("kube_node_labels") {
            answer(
                r#"{"metric":{"node":"n1","label_nvidia_com_gpu_product":"A100","label_nvidia_com_gpu_machine":"M"},"values":[]},
                   {"metric":{"node":"n2","label_nvidia_com_gpu_product":"V100"},"values":[]}"#,
            )
        } else if target.contains("kube_namespace_annotations") {
            answer(
                r#"{"metric":{"namespace":"ns","annotation_cf_pi":"amy","annotation_cf_project_id":"7","job":"x"},"values":[]}"#,
            )
        } else if target.contains("nvidia.com") {
            pod(r#","resource":"nvidia_com_gpu""#)
        } else if target.contains("kube_deployment_status_replicas") {
            answer(r#"{"metric":{"namespace":"ns","deployment":"d"},"values":[[1767225600,"3"]]}"#)
        } else {
            pod("")
        }
    });
    world.fetch(REQUESTS, None, T0 + 2000).unwrap();
    assert_eq!(world.site.requests().len(), 8);
    let (head, document) = world.documents().remove(0);
    assert_eq!(
        (head.source.as_str(), head.format.as_str()),
        ("p", "openshift")
    );
    assert_eq!(
        (&document["start_date"], &document["end_date"]),
        (
            &Value::from("2026-01-01T00:00:00Z"),
            &Value::from("2026-01-01T00:10:00Z"),
        )
    );
    let labels = |key: &str| document[key][0]["metric"].clone();
    assert_eq!(
        labels("gpu_metrics")["label_nvidia_com_gpu_product"],
        "A100"
    );
    assert_eq!(labels("gpu_metrics")["label_nvidia_com_gpu_machine"], "M");
    for key in ["cpu_metrics", "memory_metrics", "gpu_metrics"] {
        assert_eq!(labels(key)["annotation_cf_pi"], "amy", "{key}");
        assert_eq!(labels(key)["annotation_cf_project_id"], "7", "{key}");
        assert_eq!(labels(key).get("job"), None, "{key}");
        assert_eq!(document[key][0]["values"][0][1], "2", "{key}");
    }
    assert_eq!(
        labels("cpu_metrics").get("label_nvidia_com_gpu_product"),
        None
    );
    for key in ["cpu_limit_metrics", "memory_limit_metrics"] {
        assert_eq!(labels(key)["pod"], "p", "{key}");
    }
    assert_eq!(document["replica_metrics"][0]["values"][0][1], "3");
}

#[test]
fn no_gpus_need_no_nodes() {
    let mut world = World::new("", |_| answer(""));
    world.fetch(REQUESTS, None, T0 + 2000).unwrap();
    let requests = world.site.requests();
    assert_eq!(requests.len(), 6, "{requests:?}");
    let (_, document) = world.documents().remove(0);
    assert_eq!(document["gpu_metrics"], Value::Array(Vec::new()));
}

#[test]
fn what_is_no_whole_answer_is_not_taken() {
    for (body, wanted) in [
        (
            r#"{"status":"error","errorType":"execution","error":"boom"}"#.to_owned(),
            "boom",
        ),
        (
            r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#.to_owned(),
            "matrix",
        ),
        (
            r#"{"status":"success","data":{"resultType":"matrix"}}"#.to_owned(),
            "no data.result",
        ),
        (
            answer("").replace("}}", r#"},"warnings":["a store is away"]}"#),
            "a store is away",
        ),
        (answer("")[..40].to_owned(), "EOF"),
        (String::new(), "EOF"),
    ] {
        let reply = body.clone();
        let mut world = World::new(QUERIES, move |_| reply.clone());
        let failure = world.fetch("cpu", None, T0 + 2000).unwrap_err();
        assert!(failure.what.contains(wanted), "{body}: {}", failure.what);
        assert!(world.documents().is_empty());
    }
    let more = format!("accept_warnings = true\n{QUERIES}");
    let mut world = World::new(&more, |_| {
        answer("").replace("}}", r#"},"warnings":["x"]}"#)
    });
    world.fetch("cpu", None, T0 + 2000).unwrap();
    assert_eq!(world.documents().len(), 1);
}
