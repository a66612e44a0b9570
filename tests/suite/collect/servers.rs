//! Prometheus, Nomad and Kubernetes: what comes out of them is what the bank's readers take.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::json;

use super::Collector;
use super::site::Site;
use crate::harness::{Bank, T0};

/// Two pods of one project, every minute: one with two cores all the time, one with a core for the
/// first 20 minutes and two more from then on. In the windows of 30 minutes that makes five records.
#[test]
fn requests_of_pods_are_charged_by_runs_that_touch() {
    let mut bank = Bank::new();
    bank.set_clock(T0 + 3600);
    let site = Site::new(|target| {
        let number = |name: &str| -> i64 {
            let rest = target.split(&format!("&{name}=")).nth(1).unwrap();
            rest.split('&').next().unwrap().parse().unwrap()
        };
        let (start, end, step) = (number("start"), number("end"), number("step"));
        assert_eq!((start - T0) % step, 0);
        let series = |pod: &str, value: &dyn Fn(i64) -> i64| {
            let times = (0..).map(|n| start + n * step).take_while(|at| *at <= end);
            let values: Vec<_> = times.map(|at| json!([at, value(at).to_string()])).collect();
            json!({"metric": {"namespace": "chemistry", "pod": pod, "annotation_cf_pi": "amy"}, "values": values})
        };
        let result = if target.contains("unit%3D%22cores") {
            let later = |at: i64| if at < T0 + 1200 { 1 } else { 3 };
            json!([series("a", &|_| 2), series("b", &later)])
        } else if target.contains("unit%3D%22bytes") {
            json!([series("a", &|_| 1000), series("b", &|_| 1000)])
        } else {
            json!([])
        };
        let body = json!({"status": "success", "data": {"resultType": "matrix", "result": result}});
        (200, body.to_string())
    });
    let settings = format!(
        "{}[prometheus]\nsource = \"openshift:colony\"\nmachine = \"colony\"\nstart = \"2026-01-01\"\n\
         step = \"60s\"\nwindow = \"30m\"\ndelay = \"0\"\n",
        site.http()
    );
    let prometheus = Collector::new(&bank, "prometheus", &settings);
    let round = prometheus.round(&bank);
    assert_eq!(
        (&round["fetched"], &round["sent"]),
        (&2.into(), &2.into()),
        "{round}"
    );
    assert_eq!(round["outcomes"]["charged"], 5, "{round}");
    // 2 cores for an hour; 1 for 20 minutes and 3 for 40.
    let used = 2 * 3600 + 1200 + 3 * 2400;
    assert_eq!(bank.figures("chemistry").0, 100_000 - used);
    assert_eq!(prometheus.round(&bank)["fetched"], 0);
    bank.set_clock(T0 + 5400);
    prometheus.round(&bank);
    assert_eq!(bank.figures("chemistry").0, 100_000 - used - 5 * 1800);
    bank.verify();
}

/// A snapshot every 15 minutes; the daemon is away for the second, and the allocation ends before the
/// third. Its use is exact to the second, not to the snapshot.
#[test]
fn an_allocation_is_charged_for_its_whole_life() {
    let mut bank = Bank::new();
    let now = Arc::new(AtomicI64::new(900));
    let clock = Arc::clone(&now);
    let site = Site::new(move |target| {
        let has_ended = clock.load(Ordering::SeqCst) >= 2700;
        let path = target.split('?').next().unwrap();
        let body = match path {
            "/v1/jobs" => json!([{"ID": "m/1", "Name": "module", "Namespace": "chemistry"}]),
            "/v1/job/m%2F1" => {
                json!({"Name": "module", "Meta": {"owner": "amy"}, "Datacenters": ["dc1"]})
            }
            "/v1/job/m%2F1/allocations" => json!([{"ID": "alloc"}]),
            "/v1/allocation/alloc" => json!({
                "ClientStatus": if has_ended { "failed" } else { "running" },
                "TaskStates": {"main": {
                    "StartedAt": "2026-01-01T00:05:00Z",
                    "FinishedAt": if has_ended { "2026-01-01T00:35:10Z" } else { "0001-01-01T00:00:00Z" },
                }},
                "AllocatedResources": {
                    "Tasks": {"main": {"Cpu": {"CpuShares": 5000, "ReservedCores": [0, 1]}, "Memory": {"MemoryMB": 1000}}},
                    "Shared": {"DiskMB": 300},
                },
            }),
            _ => return (404, String::new()),
        };
        (200, body.to_string())
    });
    let settings = format!(
        "{}[nomad]\nsource = \"nomad:colony\"\nmachine = \"colony\"\n",
        site.http()
    );
    let nomad = Collector::new(&bank, "nomad", &settings);
    bank.set_clock(T0 + 900);
    nomad.round(&bank);
    assert_eq!(bank.figures("chemistry").0, 100_000 - 2 * 600);
    bank.kill();
    now.store(1800, Ordering::SeqCst);
    bank.set_clock(T0 + 1800);
    assert_eq!(nomad.once(&bank, &[]).exit, 5);
    assert_eq!(nomad.waiting(), 1);
    now.store(2700, Ordering::SeqCst);
    bank.set_clock(T0 + 2700);
    bank.start();
    let round = nomad.round(&bank);
    assert_eq!(
        (&round["sent"], &round["waiting"]),
        (&2.into(), &0.into()),
        "{round}"
    );
    assert_eq!(bank.figures("chemistry").0, 100_000 - 2 * 1810);
    bank.set_clock(T0 + 3600);
    nomad.round(&bank);
    assert_eq!(bank.figures("chemistry").0, 100_000 - 2 * 1810);
    // It ran in the first two of four snapshots.
    let period = ["--from", "2026-01-01", "--to", "2026-01-02", "--tz", "UTC"];
    let words = ["usage", "chemistry", "--sampled", "--by", "user"];
    let seen = bank.json(&[&words[..], &period].concat());
    let amy = &seen["rows"][0];
    assert_eq!(amy["keys"]["user"], "amy", "{seen}");
    assert_eq!(amy["running_sampled_mean"], "0.500", "{seen}");
    assert_eq!(amy["running_sampled_max"], 1);
    assert_eq!(seen["sources"][0]["snapshots"], 4);
    bank.verify();
}

#[test]
fn pods_that_have_ended_are_charged_once() {
    let mut bank = Bank::new();
    bank.set_clock(T0 + 3600);
    let pod = |name: &str, end: &str| {
        json!({
            "metadata": {"name": name, "namespace": "chemistry", "uid": name, "annotations": {"cf_pi": "amy"}},
            "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "2", "memory": "1Gi"}}}]},
            "status": {"phase": "Succeeded", "startTime": "2026-01-01T00:00:00Z", "containerStatuses": [{
                "name": "c",
                "state": {"terminated": {"startedAt": "2026-01-01T00:00:00Z", "finishedAt": end}},
            }]},
        })
    };
    let (one, two) = (
        pod("a", "2026-01-01T00:10:00Z"),
        pod("b", "2026-01-01T00:20:00Z"),
    );
    let site = Site::new(move |target| {
        let body = if target.contains("&continue=next") {
            json!({"metadata": {}, "items": [two]})
        } else {
            json!({"metadata": {"continue": "next"}, "items": [one]})
        };
        (200, body.to_string())
    });
    let settings = format!(
        "{}[kubernetes]\nsource = \"k8s:colony\"\nmachine = \"colony\"\n",
        site.http()
    );
    let kubernetes = Collector::new(&bank, "kubernetes", &settings);
    let round = kubernetes.round(&bank);
    assert_eq!(round["outcomes"]["charged"], 2, "{round}");
    assert_eq!(bank.figures("chemistry").0, 100_000 - 2 * 600 - 2 * 1200);
    bank.set_clock(T0 + 3900);
    assert_eq!(kubernetes.round(&bank)["outcomes"]["duplicate"], 2);
    assert_eq!(bank.figures("chemistry").0, 100_000 - 2 * 600 - 2 * 1200);
    bank.verify();
}

#[test]
fn an_outage_of_a_server_is_reported() {
    for (status, exit, wanted) in [
        (0, 5, ""),
        (500, 5, "answered 500"),
        (401, 6, "answered 401"),
        (422, 2, "boom"),
    ] {
        let bank = Bank::new();
        bank.set_clock(T0 + 3600);
        let site = Site::new(move |_| (status, "{\"error\":\"boom\"}".to_owned()));
        let settings = format!(
            "{}[prometheus]\nsource = \"p\"\nstart = \"2026-01-01\"\nwindow = \"30m\"\n",
            site.http()
        );
        let prometheus = Collector::new(&bank, "prometheus", &settings);
        let ran = prometheus.once(&bank, &[]);
        assert_eq!(ran.exit, exit, "{status}: {}", ran.stderr);
        assert!(ran.stderr.contains(wanted), "{status}: {}", ran.stderr);
        assert_eq!(prometheus.waiting(), 0, "{status}");
    }
}
