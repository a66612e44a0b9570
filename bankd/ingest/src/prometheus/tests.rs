//! Several metrics of one source, and their labels.

use super::*;

fn series(labels: &str, first: i64, step: i64, values: &[&str]) -> String {
    let at = |number: usize| first + step * i64::try_from(number).unwrap();
    let samples = values.iter().enumerate();
    let samples: Vec<String> = samples
        .map(|(number, value)| format!("[{},\"{value}\"]", at(number)))
        .collect();
    format!(
        "{{\"metric\":{{{labels}}},\"values\":[{}]}}",
        samples.join(",")
    )
}

fn read(files: &[(&str, Vec<String>)]) -> (Vec<Job>, Vec<String>) {
    let (mut jobs, mut others) = (Vec::new(), Vec::new());
    let mut reader = Prometheus::default();
    let mut sink = |record: Record| {
        match record.found {
            Found::Jobs(found) => jobs.extend(found),
            Found::Skipped(label) => others.push(format!("{label} {}", record.counts)),
            Found::Malformed(why) => others.push(format!("!{why}")),
            Found::Counts(counts) => others.push(format!("{counts:?}")),
        }
        Ok(())
    };
    for (name, series) in files {
        let text = format!("[{}]", series.join(","));
        reader.file(name, &mut text.as_bytes(), &mut sink).unwrap();
    }
    reader.finish(&mut sink).unwrap();
    (jobs, others)
}

fn quantities(job: &Job) -> String {
    let each = job
        .quantities
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    each.collect::<Vec<_>>().join(" ")
}

const POD: &str = r#""namespace":"chem","pod":"p""#;

#[test]
fn metrics_of_one_pod_are_put_together() {
    let with = |labels: &str| format!("{POD},{labels}");
    let (jobs, others) = read(&[
        (
            "all.json",
            vec![
                series(
                    &with(r#""resource":"cpu","unit":"core""#),
                    0,
                    900,
                    &["0.5", "1.5"],
                ),
                series(&with(r#""resource":"memory""#), 0, 900, &["1024", "NaN"]),
                series(
                    &with(r#""resource":"nvidia_com_gpu","label_nvidia_com_gpu_product":"A100""#),
                    900,
                    900,
                    &["2", "-1"],
                ),
            ],
        ),
        (
            "notes.json",
            vec![
                series(
                    r#""__name__":"kube_namespace_annotations","namespace":"chem","annotation_cf_pi":"amy","annotation_cf_project_id":"p1""#,
                    0,
                    900,
                    &["1", "1"],
                ),
                series(
                    &with(r#""__name__":"kube_pod_labels","label_class":"c1""#),
                    0,
                    900,
                    &["1"],
                ),
            ],
        ),
    ]);
    assert_eq!(others, ["no_value 1", "no_value 1", "labels 2", "labels 1"]);
    let [job] = jobs.as_slice() else {
        panic!("{jobs:?}");
    };
    // One sample of memory and one of GPUs: those without a value show how long each lasts.
    assert_eq!(
        quantities(job),
        "core_s=1800 byte_s=921600 gpu_s=1800 wall_s=1800"
    );
    let one = Some(Number::whole(1));
    assert_eq!((job.procs, job.gpus), (one, one));
    assert_eq!(job.memory_bytes, Some(Number::whole(512)));
    let texts = [&job.user, &job.group, &job.account, &job.gpu_type];
    let texts = texts.map(|text| text.as_deref().unwrap_or("none"));
    assert_eq!(texts, ["amy", "p1", "chem", "A100"]);
    assert_eq!(
        job.attributes.get("label_class").map(String::as_str),
        Some("c1")
    );
}

/// The others do not last longer because of them.
#[test]
fn samples_without_a_value_are_skipped() {
    for (value, sums, expected) in [
        ("0", "value_s=360 wall_s=360", &[][..]),
        ("NaN", "value_s=360 wall_s=180", &["no_value 3"]),
        ("+Inf", "value_s=360 wall_s=180", &["no_value 3"]),
        ("-2", "value_s=360 wall_s=180", &["no_value 3"]),
    ] {
        let values = ["2", value, "2", value, "2", value];
        let (jobs, others) = read(&[("cpu", vec![series(POD, 0, 60, &values)])]);
        assert_eq!(quantities(&jobs[0]), sums, "{value}");
        assert_eq!(others, expected, "{value}");
    }
    let (jobs, others) = read(&[("cpu", vec![series(POD, 0, 60, &["NaN", "NaN"])])]);
    assert!(jobs.is_empty());
    assert_eq!(others, ["no_value 2"]);
}

#[test]
fn of_requests_usage_and_limits_the_requests_count() {
    let (jobs, _) = read(&[
        ("pod-limit-cpu-cores", vec![series(POD, 0, 60, &["8", "8"])]),
        ("pod-usage-cpu-cores", vec![series(POD, 0, 60, &["3", "3"])]),
        (
            "pod-request-cpu-cores",
            vec![series(POD, 0, 60, &["2", "2"])],
        ),
    ]);
    assert_eq!(quantities(&jobs[0]), "core_s=240 wall_s=120");
    assert_eq!(jobs[0].procs, Some(Number::whole(2)));
}

#[test]
fn each_hour_is_a_use_of_its_own() {
    let (jobs, others) = read(&[("cpu", vec![series(POD, 3_480, 60, &["1", "1", "1", "1"])])]);
    assert!(others.is_empty());
    let results = jobs.iter().map(|job| {
        let (start, end) = (job.start_us / 1_000_000, job.end_us / 1_000_000);
        format!("{} {start} {end} {}", job.id, quantities(job))
    });
    assert_eq!(
        results.collect::<Vec<_>>(),
        [
            "chem/p 3480 3600 value_s=120 wall_s=120",
            "chem/p 3600 3720 value_s=120 wall_s=120",
        ]
    );
}

/// Cores, GPUs, bytes, run time and core-seconds of each job.
fn figures(jobs: &[Job]) -> Vec<String> {
    let number = |number: Option<Number>| number.unwrap_or_default().to_string();
    let all = jobs.iter().map(|job| {
        let means = [job.procs, job.gpus, job.memory_bytes].map(number);
        format!("{} {}: {}", means.join(" "), job.wall, quantities(job))
    });
    all.collect()
}

/// The means are those over the time of the job: each time counts once, whatever was measured in it.
#[test]
fn several_series_do_not_prolong_a_job() {
    let series = |container: &str, resource: &str, first: usize, values: &[&str]| {
        let labels = format!("{POD},\"container\":\"{container}\",\"resource\":\"{resource}\"");
        series(&labels, i64::try_from(first).unwrap() * 900, 900, values)
    };
    let hour = |container, resource, value| series(container, resource, 0, &[value; 4]);
    for (all, expected) in [
        (
            vec![
                hour("app", "cpu", "1"),
                hour("sidecar", "cpu", "0.5"),
                hour("app", "nvidia_com_gpu", "1"),
                hour("app", "memory", "1024"),
            ],
            "1.5 1 1024 3600: core_s=5400 byte_s=3686400 gpu_s=3600 wall_s=3600",
        ),
        (
            vec![
                hour("app", "cpu", "1"),
                series("app", "nvidia_com_gpu", 2, &["2", "2"]),
            ],
            "1 1 0 3600: core_s=3600 gpu_s=3600 wall_s=3600",
        ),
        (
            vec![
                series("app", "cpu", 0, &["1", "1"]),
                hour("app", "memory", "1024"),
            ],
            "0.5 0 1024 3600: core_s=1800 byte_s=3686400 wall_s=3600",
        ),
        (
            vec![
                series("init", "cpu", 0, &["1", "1"]),
                series("app", "cpu", 2, &["2", "2"]),
            ],
            "1.5 0 0 3600: value_s=5400 wall_s=3600",
        ),
    ] {
        let (jobs, others) = read(&[("all.json", all)]);
        assert_eq!(figures(&jobs), [expected]);
        assert!(others.is_empty());
    }
}

/// Windows of several files may overlap, also with another grid.
#[test]
fn a_time_of_several_windows_counts_once() {
    let window = |first, values: &[&str]| vec![series(POD, first, 900, values)];
    for (files, expected) in [
        (
            vec![("1", window(0, &["1"; 4])), ("2", window(1_800, &["1"; 4]))],
            vec![
                "0 0 0 3600: value_s=3600 wall_s=3600",
                "0 0 0 1800: value_s=1800 wall_s=1800",
            ],
        ),
        (
            vec![("1", window(0, &["1"; 3])), ("2", window(450, &["1"; 3]))],
            vec!["0 0 0 3150: value_s=3150 wall_s=3150"],
        ),
        (
            vec![("1", window(1_800, &["1"; 2])), ("2", window(0, &["3"; 4]))],
            vec!["0 0 0 3600: value_s=7200 wall_s=3600"],
        ),
    ] {
        let (jobs, others) = read(&files);
        assert_eq!(figures(&jobs), expected, "{files:?}");
        assert!(others.is_empty());
    }
}
