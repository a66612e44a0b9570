use std::io::Read as _;

use super::*;
use crate::client::fetch::{Token, tests::Site};
use crate::config::collect::Collect;

const T0: i64 = 1_767_225_600_000_000;

fn clock() -> i64 {
    T0 + 1_500_000
}

/// Jobs, their allocations and one node, by their paths.
fn cluster(target: &str) -> (u16, String) {
    let body = match target {
        "/v1/jobs?namespace=%2A&meta=true" => json!([
            {"ID": "module/1", "Name": "module-1", "Namespace": "ai", "Meta": {"owner": "x@egi.eu"}},
            {"ID": "system", "Name": "traefik", "Namespace": "default"},
            {"ID": "waits", "Name": "tool-2", "Namespace": "ai"},
            {"ID": "gone", "Name": "module-3", "Namespace": "ai"},
        ]),
        "/v1/job/module%2F1?namespace=ai" => json!({
            "ID": "module/1", "Name": "module-1", "SubmitTime": 1_767_225_000_999_999_999_i64,
            "Meta": {"owner": "x@egi.eu", "title": "A title"}, "Datacenters": ["*"],
            "TaskGroups": [{"Name": "g", "Tasks": [
                {"Name": "prepare", "Lifecycle": {"Hook": "prestart"}},
                {"Name": "main", "Config": {"image": "img:1", "command": "run"}},
            ]}],
        }),
        "/v1/job/module%2F1/allocations?namespace=ai" => json!([
            {"ID": "new"}, {"ID": "old"}, {"ID": "purged"},
        ]),
        "/v1/allocation/new?namespace=ai" => allocation(
            "running",
            &json!({
                "prepare": {"StartedAt": "2025-12-31T23:00:00Z", "FinishedAt": "2025-12-31T23:00:05Z"},
                "main": {"StartedAt": "2025-12-31T23:00:06.5Z", "FinishedAt": NEVER},
            }),
        ),
        "/v1/allocation/old?namespace=ai" => allocation(
            "failed",
            &json!({
                "main": {"StartedAt": "2025-12-31T20:00:00.123456789Z", "FinishedAt": "2025-12-31T22:59:59Z"},
            }),
        ),
        "/v1/node/n1" => json!({"ID": "n1", "Datacenter": "dc-ifca"}),
        "/v1/job/waits?namespace=ai" => json!({
            "ID": "waits", "Name": "tool-2", "TaskGroups": [{"Name": "g",
                "EphemeralDisk": {"SizeMB": 300},
                "Tasks": [{"Name": "main", "Resources": {"Cores": 4, "MemoryMB": 512,
                    "Devices": [{"Name": "nvidia/gpu", "Count": 1}, {"Name": "intel/fpga", "Count": 1}]}}]}],
        }),
        "/v1/job/waits/allocations?namespace=ai" => json!([]),
        _ => return (404, "not found".to_owned()),
    };
    (200, body.to_string())
}

fn allocation(client_status: &str, states: &Value) -> Value {
    json!({
        "TaskGroup": "g", "NodeID": "n1", "ClientStatus": client_status, "TaskStates": states,
        "AllocatedResources": {
            "Tasks": {
                "main": {
                    "Cpu": {"CpuShares": 5200, "ReservedCores": [2, 3]}, "Memory": {"MemoryMB": 4000},
                    "Devices": [{"Type": "gpu", "DeviceIDs": ["a", "b"]}, {"Type": "fpga", "DeviceIDs": ["c"]}],
                },
                "prepare": {"Cpu": {"CpuShares": 100}, "Memory": {"MemoryMB": 96}, "Devices": null},
            },
            "Shared": {"DiskMB": 1000},
        },
    })
}

struct World {
    queue: Queue,
    nomad: Nomad,
    site: Site,
    _folder: tempfile::TempDir,
}

impl World {
    fn new(more: &str, answer: impl Fn(&str) -> (u16, String) + Send + 'static) -> Self {
        let site = Site::new(move |target, _| answer(target));
        let text = format!("folder = \"/x\"\n[nomad]\nsource = \"nomad:c\"\n{more}");
        let settings: Collect = toml::from_str(&text).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let queue = Queue::open(folder.path(), 1 << 30).unwrap().unwrap();
        let server = Server::new(&site.http(), Token::Nomad).unwrap();
        Self {
            queue,
            nomad: Nomad::new(settings.nomad.unwrap(), server, clock),
            site,
            _folder: folder,
        }
    }

    fn fetch(&mut self, position: Option<i64>) -> Result<Next, Failure> {
        self.nomad
            .fetch(&self.queue, STREAM, position, T0 + 1_000_000)
    }

    fn snapshot(&self) -> (CollectBatch, Value) {
        let batch = self.queue.list().unwrap().pop().unwrap();
        let mut text = String::new();
        self.queue
            .body(&batch)
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        (batch.head, serde_json::from_str(&text).unwrap())
    }
}

const SKIP: &str = "skip_namespaces = [\"default\"]\n";

#[test]
fn a_snapshot_has_every_allocation_with_what_it_really_has() {
    let mut world = World::new(SKIP, cluster);
    world.fetch(None).unwrap();
    let (head, snapshot) = world.snapshot();
    assert_eq!(
        (head.file.as_str(), head.format.as_str()),
        ("2026-01-01T00:00:01.json", "nomad")
    );
    assert_eq!(head.until, "2026-01-01T00:00:01Z");
    let all = snapshot["ai"].as_array().unwrap();
    assert_eq!(snapshot.as_object().unwrap().len(), 1, "namespaces");
    let lives: Vec<_> = all
        .iter()
        .map(|one| {
            let text_of = |key: &str| one[key].as_str().unwrap_or("-").to_owned();
            [
                text_of("job_ID"),
                text_of("alloc_ID"),
                text_of("status"),
                text_of("alloc_start"),
                text_of("alloc_end"),
            ]
        })
        .collect();
    assert_eq!(
        lives,
        [
            ["module/1", "new", "running", "2025-12-31T23:00:06.5Z", "-"],
            [
                "module/1",
                "old",
                "dead",
                "2025-12-31T20:00:00.123456789Z",
                "2025-12-31T22:59:59Z"
            ],
            ["waits", "-", "queued", "-", "-"],
        ]
    );
    let wanted =
        json!({"cpu_num": 2, "cpu_MHz": 5300, "gpu_num": 2, "memory_MB": 4096, "disk_MB": 1000});
    assert_eq!(all[0]["resources"], wanted);
    let wanted =
        json!({"cpu_num": 4, "cpu_MHz": 0, "gpu_num": 1, "memory_MB": 512, "disk_MB": 300});
    assert_eq!(all[2]["resources"], wanted);
    for (key, wanted) in [
        ("owner", "x@egi.eu"),
        ("title", "A title"),
        ("docker_image", "img:1"),
        ("docker_command", "run"),
        ("datacenter", "dc-ifca"),
        ("submit_time", "2025-12-31 23:50:00"),
    ] {
        assert_eq!(all[0][key], wanted, "{key}");
    }
    let nodes = world
        .site
        .requests()
        .into_iter()
        .filter(|target| target.contains("node"))
        .count();
    assert_eq!(nodes, 1, "a node is asked for once");
}

#[test]
fn namespaces_and_names_are_chosen() {
    for (more, wanted) in [
        ("", vec!["ai", "default"]),
        (SKIP, vec!["ai"]),
        ("namespaces = [\"default\"]\n", vec!["default"]),
        ("name_prefixes = [\"module\", \"tool\"]\n", vec!["ai"]),
        ("namespaces = [\"none\"]\n", vec![]),
    ] {
        let mut world = World::new(more, |target| match target {
            "/v1/job/system?namespace=default" => (200, json!({"ID": "system"}).to_string()),
            "/v1/job/system/allocations?namespace=default" => (200, "[]".to_owned()),
            other => cluster(other),
        });
        world.fetch(None).unwrap();
        let (_, snapshot) = world.snapshot();
        let spaces: Vec<&str> = snapshot
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(spaces, wanted, "{more}");
    }
}

#[test]
fn a_snapshot_is_whole_or_not_taken() {
    for broken in [
        "/v1/jobs",
        "/v1/job/module%2F1?",
        "/allocations",
        "/v1/allocation/old",
        "/v1/node",
    ] {
        let mut world = World::new(SKIP, move |target| {
            if target.contains(broken) {
                return (500, "trouble".to_owned());
            }
            cluster(target)
        });
        let failure = world.fetch(None).unwrap_err();
        assert!(
            failure.what.contains("answered 500"),
            "{broken}: {}",
            failure.what
        );
        assert!(world.queue.list().unwrap().is_empty(), "{broken}");
    }
    for body in ["", "{}", "[{\"ID\":"] {
        let mut world = World::new("", move |_| (200, body.to_owned()));
        assert!(world.fetch(None).is_err(), "{body}");
    }
}

#[test]
fn one_snapshot_a_round_and_none_twice_in_a_second() {
    let mut world = World::new(SKIP, cluster);
    assert_eq!(world.fetch(Some(T0 + 1_000_000)).unwrap(), Next::UpToDate);
    assert!(matches!(world.fetch(Some(T0)), Ok(Next::Batch(_))));
}

#[test]
fn lives_by_what_the_tasks_say() {
    let main = ["main".to_owned(), "side".to_owned()];
    let early = "2026-01-01T00:00:00Z";
    let late = "2026-01-01T00:00:00.5Z";
    let state = |start: &str, end: &str| json!({"StartedAt": start, "FinishedAt": end});
    for (client_status, states, wanted) in [
        // The task that started last: nothing is claimed that was there before a restart.
        (
            "running",
            json!({"main": state(early, NEVER), "side": state(late, NEVER)}),
            ("running", Some(late), None),
        ),
        (
            "running",
            json!({"main": state(NEVER, NEVER)}),
            ("running", None, None),
        ),
        (
            "running",
            json!({"main": {"StartedAt": null}}),
            ("running", None, None),
        ),
        (
            "pending",
            json!({"main": state(early, early)}),
            ("starting", None, None),
        ),
        (
            "unknown",
            json!({"main": state(early, NEVER)}),
            ("down", Some(early), None),
        ),
        (
            "complete",
            json!({"main": state(early, early), "side": state(early, late)}),
            ("dead", Some(early), Some(late)),
        ),
        (
            "lost",
            json!({"main": state(early, NEVER)}),
            ("dead", Some(early), None),
        ),
        ("failed", json!({}), ("failed", None, None)),
        ("complete", json!(null), ("complete", None, None)),
        (
            "",
            json!({"main": state(early, NEVER)}),
            ("error", None, None),
        ),
    ] {
        let allocation = json!({"ClientStatus": client_status, "TaskStates": states});
        let life = Life::of(&allocation, &main);
        let got = (life.status, life.start.as_deref(), life.end.as_deref());
        assert_eq!(got, wanted, "{allocation}");
    }
}
