//! Namespaces of `OpenShift` with the annotations `cf_pi` and `cf_project_id`: mappings make PI and project of
//! them, reports by PI use it, and `bank export xdmod --layout openshift` has a row for each sample.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use super::{export, path};
use crate::harness::{Bank, Request, Setup};

/// 2026-01-31T23:00:00Z, a multiple of 15 minutes.
const BEGIN: i64 = 1_769_900_400;
const STEP: i64 = 900;
const GIB: i64 = 1 << 30;

/// Samples of a pod: the number of each and its requested cores.
type Samples<'a> = &'a [(i64, &'a str)];

/// A series with the values of samples.
fn series(labels: &Value, samples: Samples<'_>) -> Value {
    let value = |(n, value): &(i64, &str)| json!([BEGIN + n * STEP, value]);
    let values: Vec<Value> = samples.iter().map(value).collect();
    json!({"metric": labels, "values": values})
}

/// The labels of a pod.
fn pod(namespace: &str, name: &str) -> Value {
    json!({"namespace": namespace, "pod": name, "node": "wrk-1"})
}

/// The annotations of `chem-1`; `bare-2` has none.
fn annotated(pi: &str) -> Value {
    let labels =
        json!({"namespace": "chem-1", "annotation_cf_pi": pi, "annotation_cf_project_id": "101"});
    series(&labels, &[(0, "1")])
}

/// A folder with one document: a pod of a deployment in `chem-1`, and one without anything in `bare-2`.
fn metrics(bank: &Bank, name: &str, pi: &str, (web, solo): (Samples<'_>, Samples<'_>)) -> String {
    let (one, other) = (pod("chem-1", "web-5d8f-x|1"), pod("bare-2", "solo"));
    let same = |samples: Samples<'_>, value: String| {
        let all = samples
            .iter()
            .map(|(n, _)| json!([BEGIN + n * STEP, value]));
        all.collect::<Vec<Value>>()
    };
    let document = json!({
        "step_s": STEP,
        "cpu_metrics": [series(&one, web), series(&other, solo)],
        "memory_metrics": [
            {"metric": one, "values": same(web, GIB.to_string())},
            {"metric": other, "values": same(solo, (GIB / 2).to_string())},
        ],
        "cpu_limit_metrics": [{"metric": one, "values": same(web, "2".to_owned())}],
        "memory_limit_metrics": [{"metric": one, "values": same(web, (4 * GIB).to_string())}],
        "replica_metrics": [series(&json!({"namespace": "chem-1", "deployment": "web"}), &[(0, "3")])],
        "namespace_metrics": [annotated(pi)],
    });
    let (folder, _) = path(bank, name);
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("metrics-2026-01-31.json"), document.to_string()).unwrap();
    folder.to_str().unwrap().to_owned()
}

fn import(bank: &Bank, folder: &str) -> String {
    let words = [
        "import",
        "openshift",
        folder,
        "--source",
        "ocp",
        "-m",
        "ocp",
    ];
    bank.bank_ok(&words)
}

/// A bank with the machine `ocp` in a mode, projects by `cf_project_id`, and mappings for PI and project.
fn bank(mode: &str) -> Bank {
    let bank = Setup::new().start();
    bank.set_clock(BEGIN + 7 * 86_400);
    bank.bank_ok(&["machine", "add", "ocp"]);
    bank.bank_ok(&["machine", "set", "ocp", "--mode", mode]);
    bank.bank_ok(&["user", "set", "amy", "--aliases", "amy@example.edu"]);
    for project in ["p-101", "p-bare-2"] {
        bank.bank_ok(&["project", "add", project]);
        bank.bank_ok(&["deposit", project, "1000000"]);
    }
    bank.bank_ok(&["mapping", "add", "attr.cf_pi=*", "--pi", "{attr.cf_pi}"]);
    let project = ["attr.cf_project_id=*", "-A", "p-{attr.cf_project_id}"];
    bank.bank_ok(&[&["mapping", "add"][..], &project].concat());
    bank
}

/// Core-seconds by PI, without the zeros behind them.
fn by_pi(bank: &Bank) -> BTreeMap<String, String> {
    let report = bank.json(&["usage", "--by", "pi", "--from", "2026-01-01", "-m", "ocp"]);
    let row = |row: &Value| {
        let pi = row["keys"]["pi"].as_str().unwrap();
        let used = row["core_seconds"].as_str().unwrap();
        let used = used.strip_suffix(".000000").unwrap_or(used);
        (pi.to_owned(), used.to_owned())
    };
    report["rows"].as_array().unwrap().iter().map(row).collect()
}

/// Core-seconds of exported rows by account, in thousandths.
fn summed(rows: &str) -> BTreeMap<String, i64> {
    let mut sums = BTreeMap::new();
    for row in rows.lines() {
        let fields: Vec<&str> = row.splitn(26, '|').collect();
        assert_eq!(fields.len(), 26, "{row}");
        let (whole, part) = fields[18].split_once('.').unwrap_or((fields[18], "0"));
        let millis = format!("{whole}{part:0<3}").parse::<i64>().unwrap();
        assert_eq!(fields[14], "00:15:00", "{row}");
        *sums.entry(fields[5].to_owned()).or_default() += millis * STEP;
    }
    sums
}

const WEB: Samples<'_> = &[
    (0, "0.5"),
    (1, "0.5"),
    (2, "1.25"),
    (3, "1.25"),
    (5, "1.25"),
];
const SOLO: Samples<'_> = &[(0, "1"), (1, "1"), (2, "1")];

#[test]
fn each_sample_is_a_row_and_the_rows_add_up_to_the_usage_by_pi() {
    for mode in ["track", "fast"] {
        let mut bank = bank(mode);
        let folder = metrics(&bank, "one", "amy@example.edu", (WEB, SOLO));
        import(&bank, &folder);
        let rows = export(&bank, &["xdmod", "--layout", "openshift"]);
        let all: Vec<&str> = rows.lines().collect();
        assert_eq!(all.len(), WEB.len() + SOLO.len(), "{rows}");
        let fields: Vec<&str> = all[1].splitn(26, '|').collect();
        let tres = "cpu=2,mem=4G,node=3";
        let (id, run) = (fields[0], fields[1]);
        assert_eq!(id, format!("{run}_1"), "{rows}");
        let expected = [
            id,
            run,
            "ocp",
            "",
            "",
            "amy",
            "101",
            "",
            "chem-1",
            "",
            "2026-01-31T23:15:00",
            "2026-01-31T23:15:00",
            "2026-01-31T23:15:00",
            "2026-01-31T23:30:00",
            "00:15:00",
            "",
            "RUNNING",
            "3",
            "0.5",
            "2",
            "4G",
            tres,
            tres,
            "00:15:00",
            "",
            "web-5d8f-x|1",
        ];
        assert_eq!(fields, expected, "{mode}");
        // Without annotations and limits: the namespace, and the requests.
        let bare: Vec<&str> = all
            .iter()
            .copied()
            .filter(|row| row.contains("|solo"))
            .collect();
        assert!(
            bare[0].contains("|bare-2|bare-2||bare-2||2026-01-31T23:00:00|"),
            "{rows}"
        );
        assert!(
            bare[0].contains("|RUNNING|1|1|1|512M|cpu=1,mem=512M,node=1|"),
            "{rows}"
        );
        let ids: std::collections::BTreeSet<_> =
            all.iter().map(|row| row.split('|').next()).collect();
        assert_eq!(ids.len(), all.len(), "{rows}");
        // The gap after the fourth sample has no row.
        assert!(!rows.contains("2026-02-01T00:00:00|2026-02-01T00:00:00|2026-02-01T00:00:00|2026-02-01T00:15:00|00:15:00||RUNNING|3"), "{rows}");
        let usage = by_pi(&bank);
        let expected = [("amy", "4275"), ("bare-2", "2700")];
        let expected = expected.map(|(pi, used)| (pi.to_owned(), used.to_owned()));
        assert_eq!(usage, expected.into(), "{mode}");
        for (pi, millis) in summed(&rows) {
            assert_eq!(usage[&pi], (millis / 1000).to_string(), "{pi} {mode}");
        }
        // Again, and after the same file again: the same rows under the same ids.
        assert_eq!(export(&bank, &["xdmod", "--layout", "openshift"]), rows);
        import(&bank, &folder);
        assert_eq!(export(&bank, &["xdmod", "--layout", "openshift"]), rows);
        bank.verify();
    }
}

/// A pod that requests memory only has no cores: none in hours, none in the export, and none in its charge.
#[test]
fn a_sample_of_memory_alone_claims_no_cores() {
    let mut bank = bank("fast");
    let (folder, _) = path(&bank, "memory");
    fs::create_dir(&folder).unwrap();
    let pod = pod("bare-2", "solo");
    let values = [
        json!([BEGIN, GIB.to_string()]),
        json!([BEGIN + STEP, GIB.to_string()]),
    ];
    let document = json!({"step_s": STEP, "memory_metrics": [{"metric": pod, "values": values}]});
    fs::write(folder.join("metrics-2026-01-31.json"), document.to_string()).unwrap();
    let imported = import(&bank, folder.to_str().unwrap());
    assert!(imported.contains(": 1 charged"), "{imported}");
    assert_eq!(by_pi(&bank), [("bare-2".to_owned(), "0".to_owned())].into());
    let rows = export(&bank, &["xdmod", "--layout", "openshift"]);
    assert_eq!(summed(&rows), [("bare-2".to_owned(), 0)].into());
    assert!(
        rows.contains("|RUNNING|1|0|0|1G|cpu=0,mem=1G,node=1|"),
        "{rows}"
    );
    assert_eq!(bank.figures("p-bare-2").0, 1_000_000);
    bank.verify();
}

/// Blanks and control characters are no part of a name, and without a usable name the namespace is the PI.
#[test]
fn the_export_has_the_pi_of_reports_whatever_the_annotation_contains() {
    let long = "x".repeat(257);
    for (annotation, pi) in [
        (" amy ", "amy"),
        ("a\tmy", "amy"),
        ("\n", "chem-1"),
        ("(null)", "chem-1"),
        (long.as_str(), "chem-1"),
    ] {
        let mut bank = bank("track");
        import(&bank, &metrics(&bank, "one", annotation, (WEB, &[])));
        let rows = export(&bank, &["xdmod", "--layout", "openshift"]);
        let expected: BTreeMap<_, _> = [(pi.to_owned(), 4_275_000)].into();
        assert_eq!(summed(&rows), expected, "{annotation:?}");
        let usage = by_pi(&bank);
        assert_eq!(usage, [(pi.to_owned(), "4275".to_owned())].into());
        bank.verify();
    }
}

#[test]
fn an_export_along_a_cursor_has_each_row_once() {
    let mut bank = bank("track");
    import(
        &bank,
        &metrics(&bank, "one", "amy", (&WEB[..2], &SOLO[..1])),
    );
    let (_, output) = path(&bank, "rows.log");
    let (_, state) = path(&bank, "rows.state");
    let along = |bank: &Bank| {
        bank.bank_ok(&[
            "export",
            "xdmod",
            "--layout",
            "openshift",
            "--state",
            &state,
            "-o",
            &output,
        ]);
        fs::read_to_string(&output).unwrap()
    };
    assert_eq!(along(&bank).lines().count(), 3);
    assert_eq!(along(&bank).lines().count(), 3);
    // The runs become longer, twice before the next export: only new samples are new rows.
    import(
        &bank,
        &metrics(&bank, "two", "amy", (&WEB[..3], &SOLO[..2])),
    );
    import(&bank, &metrics(&bank, "three", "amy", (WEB, SOLO)));
    let rows = along(&bank);
    let mut sorted: Vec<&str> = rows.lines().collect();
    sorted.sort_unstable();
    let whole = export(&bank, &["xdmod", "--layout", "openshift"]);
    let mut expected: Vec<&str> = whole.lines().collect();
    expected.sort_unstable();
    assert_eq!(sorted, expected);
    // Another PI is another row of the same sample, under the same id.
    import(&bank, &metrics(&bank, "four", "bob", (WEB, SOLO)));
    let rows = along(&bank);
    let changed = rows.lines().filter(|row| row.contains("|bob|101|")).count();
    assert_eq!(changed, WEB.len(), "{rows}");
    assert_eq!(by_pi(&bank)["bob"], "4275");
    assert_eq!(by_pi(&bank).get("amy"), None);
    // Pages of any size give the same rows.
    let (mut paged, mut since) = (String::new(), String::new());
    loop {
        let target = format!("/api/v1/export/xdmod?layout=openshift&limit=1{since}");
        let page: Value =
            serde_json::from_str(&bank.over_socket(&Request::get(&target)).text()).unwrap();
        paged.push_str(page["text"].as_str().unwrap());
        since = format!("&since={}", page["next"].as_str().unwrap());
        if page["more"] == false {
            break;
        }
    }
    assert_eq!(paged, export(&bank, &["xdmod", "--layout", "openshift"]));
    // By the end of each sample.
    let one = [
        "--from",
        "2026-01-31T23:15:00Z",
        "--to",
        "2026-01-31T23:30:00Z",
    ];
    let rows = export(
        &bank,
        &[&["xdmod", "--layout", "openshift"][..], &one].concat(),
    );
    assert_eq!(rows.lines().count(), 2, "{rows}");
    for (target, wanted) in [
        ("csv?layout=openshift", "only xdmod has layouts"),
        ("xdmod?layout=nomad", "slurm or openshift"),
        ("xdmod?layout=openshift&since=x-1-2", "in the same layout"),
        (
            "xdmod?layout=openshift&explain_loss=true",
            "nothing with layout openshift",
        ),
    ] {
        let answer = bank.over_socket(&Request::get(&format!("/api/v1/export/{target}")));
        assert_eq!(answer.status, 422, "{target}: {}", answer.text());
        assert!(
            answer.text().contains(wanted),
            "{target}: {}",
            answer.text()
        );
    }
    bank.verify();
}

#[test]
fn mappings_give_a_pi_independent_of_project_and_user() {
    let mut bank = bank("track");
    bank.bank_ok(&[
        "mapping",
        "add",
        "account=bare-2",
        "--pi",
        "carol",
        "--priority",
        "5",
    ]);
    let tested = bank.json(&[
        "mapping",
        "test",
        "account=chem-1",
        "attr.cf_pi=amy@example.edu",
        "attr.cf_project_id=101",
    ]);
    for (field, value) in [
        ("project", json!("p-101")),
        ("pi", json!("amy")),
        ("pi_by", json!(1)),
        ("pi_known", json!(true)),
        ("user", Value::Null),
    ] {
        assert_eq!(tested[field], value, "{field}: {tested}");
    }
    for (arguments, wanted) in [
        (
            &["mapping", "add", "account=x"][..],
            "a project, a user or a PI",
        ),
        (
            &["mapping", "add", "account=x", "--pi", "{account.1}"],
            "no star",
        ),
        (
            &["mapping", "add", "account=x", "--pi", "{"],
            "a name, with places",
        ),
        (
            &["mapping", "add", "attr.cf_pi=*", "--pi", "{attr.cf_pi}"],
            "exists",
        ),
    ] {
        let ran = bank.bank(arguments);
        assert_ne!(ran.exit, 0, "{arguments:?}");
        assert!(ran.stderr.contains(wanted), "{arguments:?}: {}", ran.stderr);
    }
    import(&bank, &metrics(&bank, "one", "amy", (WEB, SOLO)));
    assert_eq!(by_pi(&bank)["carol"], "2700");
    // A mapping of today changes nothing of yesterday, and the stored PI is in records and queries.
    bank.bank_ok(&["mapping", "rm", "3", "--yes"]);
    assert_eq!(by_pi(&bank)["carol"], "2700");
    let lines = export(&bank, &["jsonl", "-m", "ocp"]);
    assert_eq!(lines.matches("\"pi\":\"carol\"").count(), 1, "{lines}");
    let found = bank.bank_ok(&["query", "Usage", "Query", "Pi==carol", "Show:=Pi,Account"]);
    assert!(found.contains("bare-2"), "{found}");
    // Usage that names no PI counts for the project's own.
    bank.bank_ok(&["project", "members", "add", "p-101", "bob"]);
    bank.bank_ok(&["project", "members", "role", "p-101", "bob", "pi"]);
    assert_eq!(by_pi(&bank)["amy"], "4275");
    bank.bank_ok(&["mapping", "rm", "1", "--yes"]);
    import(&bank, &metrics(&bank, "two", "dan", (WEB, SOLO)));
    assert_eq!(by_pi(&bank)["bob"], "4275");
    bank.verify();
}

#[test]
fn waiting_usage_gets_a_pi_with_its_project() {
    for mode in ["track", "fast"] {
        let mut bank = Setup::new().start();
        bank.set_clock(BEGIN + 7 * 86_400);
        bank.bank_ok(&["machine", "add", "ocp"]);
        bank.bank_ok(&["machine", "set", "ocp", "--mode", mode]);
        let folder = metrics(&bank, "one", "amy", (WEB, SOLO));
        import(&bank, &folder);
        assert_eq!(
            by_pi(&bank),
            BTreeMap::from([(String::new(), "6975".to_owned())])
        );
        let assign = [
            "unmapped",
            "assign",
            "account=chem-1",
            "chemistry",
            "--pi",
            "carol",
            "--yes",
        ];
        bank.bank_ok(&assign);
        assert_eq!(by_pi(&bank)["carol"], "4275", "{mode}");
        let rows = export(&bank, &["xdmod", "--layout", "openshift"]);
        assert_eq!(
            rows.matches("|carol|101|").count(),
            WEB.len(),
            "{mode}: {rows}"
        );
        let lines = export(&bank, &["jsonl", "-m", "ocp"]);
        assert!(lines.contains("\"pi\":\"carol\""), "{mode}: {lines}");
        // The mapping that it added gives the same to later usage.
        assert_eq!(bank.items(&["mapping", "ls"])[0]["pi"], "carol");
        bank.bank_ok(&assign);
        import(&bank, &folder);
        assert_eq!(by_pi(&bank)["carol"], "4275", "{mode}");
        bank.verify();
    }
}
