//! Pods, and the quantities of their containers.

use super::*;

#[test]
fn gpus_labels_and_annotations_are_kept() {
    let text = r#"{"items":[{"metadata":{"namespace":"chem","name":"p","uid":"u",
        "annotations":{"cf_pi":"amy","kubectl/x":""},"labels":{"app.kubernetes.io/name":"a"}},
        "spec":{"containers":[{"name":"c","resources":{"limits":
            {"cpu":"1","nvidia.com/gpu":"2","nvidia.com/mig-1g.5gb":1}}}]},
        "status":{"phase":"Succeeded","startTime":"2026-01-01T00:00:00Z","containerStatuses":
            [{"name":"c","state":{"terminated":{"startedAt":"2026-01-01T00:00:00Z",
            "finishedAt":"2026-01-01T00:01:00Z"}}}]}}]}"#;
    let mut jobs = Vec::new();
    let mut sink = |record: Record| {
        match record.found {
            Found::Jobs(found) => jobs.extend(found),
            other => panic!("{other:?}"),
        }
        Ok(())
    };
    Kubernetes
        .file("pods", &mut text.as_bytes(), &mut sink)
        .unwrap();
    assert_eq!(jobs[0].gpus, Some(Number::whole(3)));
    let gpu_s = jobs[0].quantities.iter().find(|(name, _)| name == "gpu_s");
    assert_eq!(gpu_s.map(|(_, value)| *value), Some(Number::whole(180)));
    let attributes: Vec<_> = jobs[0].attributes.iter().collect();
    let names = attributes
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["annotation_cf_pi=amy", "label_app_kubernetes_io_name=a"]
    );
}

/// One container runs for an hour and one for half of it; the pod lives five seconds longer than either.
#[test]
fn processors_are_the_mean_over_the_life_of_the_pod() {
    let text = r#"{"items":[{"metadata":{"namespace":"chem","name":"p","uid":"u"},
        "spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"1500m"}}},
            {"name":"b","resources":{"limits":{"cpu":"0.25"}}}]},
        "status":{"phase":"Succeeded","startTime":"2026-01-01T00:00:00Z","containerStatuses":
            [{"name":"a","state":{"terminated":{"startedAt":"2026-01-01T00:00:05Z",
            "finishedAt":"2026-01-01T01:00:05Z"}}},
            {"name":"b","state":{"terminated":{"startedAt":"2026-01-01T00:00:05Z",
            "finishedAt":"2026-01-01T00:30:05Z"}}}]}}]}"#;
    let mut found = Vec::new();
    let mut sink = |record: Record| {
        found.push(record.found);
        Ok(())
    };
    let input = &mut text.as_bytes();
    Kubernetes.file("pods", input, &mut sink).unwrap();
    let [Found::Jobs(jobs)] = &found[..] else {
        panic!("{found:?}");
    };
    let procs = jobs[0].procs.unwrap();
    assert_eq!(procs.to_string(), "1.622746185852981969");
    assert_eq!(jobs[0].wall, Number::whole(3605));
    let core = jobs[0].quantities.iter().find(|(name, _)| name == "core_s");
    assert_eq!(core.map(|(_, value)| *value), Some(Number::whole(5850)));
}

/// A container that was restarted ran before: 30 minutes, and 29 after the restart.
#[test]
fn a_restarted_container_counts_the_run_before() {
    let pod = |before: &str| {
        format!(
            r#"{{"items":[{{"metadata":{{"namespace":"chem","name":"p","uid":"u"}},
            "spec":{{"containers":[{{"name":"c","resources":{{"limits":{{"cpu":"2"}}}}}}]}},
            "status":{{"phase":"Succeeded","startTime":"2026-11-01T00:00:00Z","containerStatuses":
                [{{"name":"c","restartCount":1,"lastState":{before},"state":{{"terminated":
                {{"startedAt":"2026-11-01T00:31:00Z","finishedAt":"2026-11-01T01:00:00Z"}}}}}}]}}}}]}}"#
        )
    };
    let ended = |start: &str, end: &str| {
        format!(r#"{{"terminated":{{"startedAt":"{start}","finishedAt":"{end}"}}}}"#)
    };
    for (before, core_s) in [
        (ended("2026-11-01T00:00:00Z", "2026-11-01T00:30:00Z"), 7080),
        ("{}".to_owned(), 3480),
        // The same run again, and a run without a start.
        (ended("2026-11-01T00:31:00Z", "2026-11-01T01:00:00Z"), 3480),
        (r#"{"terminated":{"startedAt":null}}"#.to_owned(), 3480),
    ] {
        let text = pod(&before);
        let mut found = Vec::new();
        let mut sink = |record: Record| {
            found.push(record.found);
            Ok(())
        };
        Kubernetes
            .file("pods", &mut text.as_bytes(), &mut sink)
            .unwrap();
        let [Found::Jobs(jobs)] = &found[..] else {
            panic!("{found:?}");
        };
        let core = jobs[0].quantities.iter().find(|(name, _)| name == "core_s");
        assert_eq!(
            core.map(|(_, value)| *value),
            Some(Number::whole(core_s)),
            "{before}"
        );
    }
}

#[test]
fn quantities_have_suffixes() {
    for (text, value) in [
        ("0.5", Some("0.5")),
        ("250m", Some("0.25")),
        ("1e3", Some("1000")),
        ("1E3", Some("1000")),
        ("64Mi", Some("67108864")),
        ("100M", Some("100000000")),
        ("1E", Some("1000000000000000000")),
        ("500000u", Some("0.5")),
        ("250000000n", Some("0.25")),
        ("+2", Some("2")),
        ("-2", Some("-2")),
        ("+-2", None),
        ("++2", None),
        ("1x", None),
        ("", None),
    ] {
        let read = quantity(text).map(|n| n.to_string());
        assert_eq!(read.as_deref(), value, "{text}");
    }
}

/// A pod without a limit or a request of processors has none, and is counted for a warning.
#[test]
fn a_pod_without_limits_has_no_processors() {
    for (containers, procs, flags) in [
        (r#"{"name":"c"}"#, "0", &["no-cpu-limit", "no-cores"][..]),
        (
            r#"{"name":"c","resources":{"limits":{"cpu":"0"}}}"#,
            "0",
            &["no-cores"],
        ),
        (
            r#"{"name":"c","resources":{"requests":{"cpu":"100m"}}}"#,
            "0.1",
            &[],
        ),
        (
            r#"{"name":"c"},{"name":"d"},{"name":"e","resources":{"limits":{"cpu":"2"}}}"#,
            "2",
            &["no-cpu-limit"],
        ),
    ] {
        let status = |name: &str| {
            format!(
                r#"{{"name":"{name}","state":{{"terminated":{{"startedAt":"2026-01-01T00:00:00Z",
                "finishedAt":"2026-01-01T01:00:00Z"}}}}}}"#
            )
        };
        let text = format!(
            r#"{{"items":[{{"metadata":{{"namespace":"chem","name":"p","uid":"u"}},"spec":{{"containers":[{containers}]}},
            "status":{{"phase":"Succeeded","startTime":"2026-01-01T00:00:00Z","containerStatuses":[{}]}}}}]}}"#,
            ["c", "d", "e"].map(status).join(",")
        );
        let mut jobs = Vec::new();
        let mut summary = crate::Summary::default();
        let mut sink = |record: Record| {
            summary.take(&record)?;
            match record.found {
                Found::Jobs(found) => jobs.extend(found),
                other => panic!("{other:?}"),
            }
            Ok(())
        };
        Kubernetes
            .file("pods", &mut text.as_bytes(), &mut sink)
            .unwrap();
        assert_eq!(jobs[0].procs.unwrap().to_string(), procs, "{containers}");
        assert_eq!(jobs[0].flags, flags, "{containers}");
        let warned = crate::screen::people(&summary, 1, false);
        assert_eq!(
            warned.contains("warning: 1 pod with containers without a CPU limit or request"),
            flags.contains(&NO_CPU_LIMIT),
            "{warned}"
        );
    }
}

/// Init containers run before the others, and sidecars beside them: each counts while it runs. Of memory and GPUs the
/// most that is needed at once counts.
#[test]
fn init_containers_and_sidecars_count_while_they_run() {
    let container = |name: &str, cpus: &str, more: &str| {
        format!(
            r#"{{"name":"{name}","resources":{{"limits":{{"cpu":"{cpus}","memory":"{cpus}"}}}}{more}}}"#
        )
    };
    let ended = |name: &str, from: &str, to: &str| {
        format!(
            r#"{{"name":"{name}","state":{{"terminated":{{"startedAt":"2026-01-01T{from}:00Z",
            "finishedAt":"2026-01-01T{to}:00Z"}}}}}}"#
        )
    };
    let always = r#","restartPolicy":"Always""#;
    let waits = r#"{"name":"j","state":{"waiting":{"reason":"PodInitializing"}}}"#;
    let (first, second) = (container("i", "8", ""), container("j", "4", ""));
    let sidecar = container("s", "1", always);
    let whole = ended("s", "01:00", "02:00");
    let half = ended("i", "01:00", "01:30");
    for (init, statuses, start, core_s, memory) in [
        (first.clone(), half.clone(), "01:30", 18_000, 8),
        (sidecar.clone(), whole.clone(), "01:00", 10_800, 3),
        // The second one needs the sidecar beside it, and the first one does not.
        (
            [first.clone(), sidecar, second.clone()].join(","),
            [
                ended("i", "01:00", "01:10"),
                ended("s", "01:10", "02:00"),
                ended("j", "01:10", "01:20"),
            ]
            .join(","),
            "01:20",
            15_000,
            8,
        ),
        // One that never ran.
        (
            format!("{first},{second}"),
            format!("{half},{waits}"),
            "01:30",
            18_000,
            8,
        ),
    ] {
        let text = format!(
            r#"{{"items":[{{"metadata":{{"namespace":"chem","name":"p","uid":"u"}},
            "spec":{{"initContainers":[{init}],"containers":[{}]}},
            "status":{{"phase":"Succeeded","startTime":"2026-01-01T01:00:00Z",
            "initContainerStatuses":[{statuses}],"containerStatuses":[{}]}}}}]}}"#,
            container("a", "2", ""),
            ended("a", start, "02:00"),
        );
        let mut found = Vec::new();
        let mut sink = |record: Record| {
            found.push(record.found);
            Ok(())
        };
        let input = &mut text.as_bytes();
        Kubernetes.file("pods", input, &mut sink).unwrap();
        let [Found::Jobs(jobs)] = &found[..] else {
            panic!("{found:?}");
        };
        let core = jobs[0].quantities.iter().find(|(name, _)| name == "core_s");
        let core = core.map(|(_, value)| *value);
        assert_eq!(core, Some(Number::whole(core_s)), "{text}");
        let bytes = jobs[0].memory_bytes;
        assert_eq!(bytes, Some(Number::whole(memory)), "{text}");
        assert_eq!(jobs[0].wall, Number::whole(3600), "{text}");
    }
}
