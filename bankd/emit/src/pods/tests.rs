//! Service units, their rounding and their order, against figures worked by hand.

use proptest::prelude::*;

use super::*;

/// A run of an hour in January 2026.
fn run(cpu: &str, memory: i64, gpu: Option<(&str, &str, &str)>) -> Run {
    let start = 1_767_225_600_000_000;
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    Run {
        namespace: "chem".to_owned(),
        pod: "p".to_owned(),
        start,
        end: start + 3_600_000_000,
        cpu: Decimal::parse(cpu).unwrap(),
        memory,
        gpus: gpu.map(|(count, _, _)| Decimal::parse(count).unwrap()),
        gpu_type: gpu.and_then(|(_, kind, _)| text(kind)),
        gpu_resource: gpu.and_then(|(_, _, resource)| text(resource)),
        ..Run::default()
    }
}

const GIBI: i64 = 1 << 30;

#[test]
fn service_units_are_those_of_the_largest_share() {
    let v100 = "Tesla-V100-PCIE-32GB";
    let whole = "nvidia.com/gpu";
    let mig = "nvidia.com/mig-1g.5gb";
    for (cpu, memory, gpu, kind, count, by) in [
        ("8", 4 * GIBI, None, Kind::Cpu, "8", "CPU"),
        ("0.25", 4 * GIBI, None, Kind::Cpu, "1", "RAM"),
        ("1", 4 * GIBI, None, Kind::Cpu, "1", "CPU"),
        ("0.01", 100 << 20, None, Kind::Cpu, "0.0244140625", "RAM"),
        ("0", GIBI, None, Kind::Unknown, "0", "CPU"),
        ("1", 0, None, Kind::Unknown, "0", "CPU"),
        (
            "48",
            192 * GIBI,
            Some(("1", v100, whole)),
            Kind::V100,
            "1",
            "GPU",
        ),
        (
            "49",
            192 * GIBI,
            Some(("1", v100, whole)),
            Kind::V100,
            "2",
            "CPU",
        ),
        (
            "1",
            193 * GIBI,
            Some(("1", v100, whole)),
            Kind::V100,
            "2",
            "RAM",
        ),
        (
            "31",
            240 * GIBI,
            Some(("1", A100_SXM4, whole)),
            Kind::A100Sxm4,
            "1",
            "GPU",
        ),
        (
            "24",
            75 * GIBI,
            Some(("1", "NVIDIA-A100-40GB", whole)),
            Kind::A100,
            "2",
            "RAM",
        ),
        (
            "24",
            GIBI,
            Some(("2", "H100", whole)),
            Kind::UnknownGpu,
            "3",
            "CPU",
        ),
        (
            "1",
            GIBI,
            Some(("4", A100_SXM4, mig)),
            Kind::UnknownMig,
            "4",
            "GPU",
        ),
        (
            "1",
            GIBI,
            Some(("4", v100, mig)),
            Kind::UnknownGpu,
            "0",
            "GPU",
        ),
        (
            "1",
            GIBI,
            Some(("0", v100, whole)),
            Kind::UnknownGpu,
            "0",
            "GPU",
        ),
        ("1", GIBI, Some(("0", "", "")), Kind::Cpu, "1", "CPU"),
    ] {
        let units = run(cpu, memory, gpu).units().unwrap();
        let found = (units.kind, units.count.text(), units.by);
        assert_eq!(
            found,
            (kind, count.to_owned(), by),
            "{cpu} {memory} {gpu:?}"
        );
    }
}

#[test]
fn counts_have_28_digits_and_no_more() {
    for (over, under, expected) in [
        (1, 3, "0.3333333333333333333333333333"),
        (2, 3, "0.6666666666666666666666666667"),
        (200, 3, "66.66666666666666666666666667"),
        (i128::from(u64::MAX), 1, "18446744073709551615"),
        (
            29_999_999_999_999_999_999_999_999_999,
            10_000_000_000_000_000_000_000_000_000,
            "3",
        ),
    ] {
        assert_eq!(Count { over, under }.text(), expected, "{over}/{under}");
    }
}

#[test]
fn a_node_names_the_gpu_that_its_labels_do_not() {
    let nodes = BTreeMap::from([("wrk-88".to_owned(), "V".to_owned())]);
    for (node, gpu, expected) in [
        ("wrk-88", Some(("1", "", "nvidia.com/gpu")), Some("V")),
        (
            "wrk-1",
            Some(("1", "", "nvidia.com/gpu")),
            Some(UNKNOWN_TYPE),
        ),
        ("wrk-88", Some(("1", "own", "nvidia.com/gpu")), Some("own")),
        ("wrk-88", None, None),
    ] {
        let mut run = run("1", GIBI, gpu);
        run.node = Some(node.to_owned());
        run.name_gpu(&nodes);
        assert_eq!(run.gpu_type.as_deref(), expected);
    }
}

#[test]
fn runs_are_put_together_and_cut() {
    let at = |pod: &str, start: i64, end: i64, cpu: &str| Run {
        pod: pod.to_owned(),
        start,
        end,
        ..run(cpu, GIBI, None)
    };
    let runs = vec![
        at("b", 10, 20, "1"),
        at("a", 0, 30, "1"),
        at("b", 20, 40, "1"),
        at("b", 35, 50, "1"),
        at("b", 50, 60, "2"),
        at("b", 70, 99, "2"),
    ];
    let rows = in_order(runs, (5, 80));
    let rows: Vec<_> = rows
        .iter()
        .map(|r| (r.pod.as_str(), r.start, r.end))
        .collect();
    assert_eq!(
        rows,
        [("b", 10, 50), ("b", 50, 60), ("b", 70, 80), ("a", 5, 30)]
    );
}

fn rows(runs: &[Run], round_up: bool, rates: &[&str]) -> Result<Vec<String>, Option<Kind>> {
    let rates: Vec<String> = rates.iter().map(|rate| (*rate).to_owned()).collect();
    let mut invoice = Invoice::default();
    for run in runs {
        assert!(invoice.add(&run.namespace, run));
    }
    let about = |_: &str| Line::default();
    invoice.rows(
        "2026-01",
        &Rates::read(&rates).unwrap(),
        round_up,
        false,
        about,
    )
}

/// One minute is an hour only on request; its cost is rounded half up, once.
#[test]
fn hours_are_rounded_up_only_where_that_is_wanted() {
    let mut short = run("1", GIBI, None);
    short.end = short.start + 60_000_000;
    let rate = ["OpenShift CPU=0.3"];
    let found = rows(&[short.clone()], false, &rate).unwrap();
    assert_eq!(
        found,
        ["2026-01,chem,chem,,,,,,0.0167,OpenShift CPU,0.3,0.01\n"]
    );
    let found = rows(&[short.clone()], true, &rate).unwrap();
    assert_eq!(found, ["2026-01,chem,chem,,,,,,1,OpenShift CPU,0.3,0.30\n"]);
    // 0.25 h × 0.02 is half a cent: up. A billionth less is none.
    short.end = short.start + 900_000_000;
    for (rate, cost) in [("0.02", "0.01"), ("0.019999999", "0.00")] {
        let rate = format!("OpenShift CPU={rate}");
        let found = rows(&[short.clone()], false, &[&rate]).unwrap();
        assert!(found[0].ends_with(&format!(",{cost}\n")), "{found:?}");
    }
}

#[test]
fn rates_hold_from_their_month_on() {
    let settings = [
        "OpenShift CPU=1",
        "2025-12 OpenShift CPU = 2",
        "2026-02 OpenShift CPU=3",
        "2026-01 OpenShift GPUV100=4",
    ];
    let rates = Rates::read(&settings.map(ToOwned::to_owned)).unwrap();
    let of = |kind, month: &str| rates.of(kind, month).map(|rate| rate.to_string());
    for (kind, month, rate) in [
        (Kind::Cpu, "2025-11", Some("1")),
        (Kind::Cpu, "2025-12", Some("2")),
        (Kind::Cpu, "2026-01", Some("2")),
        (Kind::Cpu, "2027-01", Some("3")),
        (Kind::V100, "2025-12", None),
        (Kind::V100, "2026-01", Some("4")),
        (Kind::A100, "2026-01", None),
        (Kind::UnknownGpu, "2026-01", Some("0")),
    ] {
        assert_eq!(of(kind, month).as_deref(), rate, "{kind:?} {month}");
    }
    for bad in [
        "OpenShift CPU",
        "OpenShift CPU=x",
        "OpenShift CPU=-1",
        "OpenShift TPU=1",
        "2026-13 OpenShift CPU=1",
        "26-1 OpenShift CPU=1",
    ] {
        assert!(Rates::read(&[bad.to_owned()]).is_err(), "{bad}");
    }
    let twice = ["OpenShift CPU=1", "OpenShift CPU=2"].map(ToOwned::to_owned);
    assert!(Rates::read(&twice).unwrap_err().contains("already"));
    let one = run("1", GIBI, Some(("1", A100_SXM4, "nvidia.com/gpu")));
    assert_eq!(rows(&[one], false, &[]), Err(Some(Kind::A100Sxm4)));
}

/// Malicious names in both files.
#[test]
fn nasty_names_stay_in_their_cells() {
    let mut one = run("1", GIBI, None);
    one.namespace = "a,b\"c\nd & < > % = | : %%".to_owned();
    one.pod = "=äöü".to_owned();
    let row = one.row(true).unwrap();
    assert!(
        row.starts_with("\"a,b\"\"c\nd & < > % = | : %%\",2026-01-01T00:00:00,"),
        "{row}"
    );
    assert!(row.contains(",'=äöü,"), "{row}");
    assert!(one.row(false).unwrap().contains(",=äöü,"));
    let found = rows(&[one], false, &["OpenShift CPU=1"]).unwrap();
    assert!(found[0].starts_with("2026-01,\"a,b\"\"c\nd"), "{found:?}");
}

proptest! {
    /// However the runs of a month are cut, it costs the same.
    #[test]
    fn parts_cost_what_the_whole_costs(
        millis in 1_i64..200_000,
        memory in 1_i64..(1 << 42),
        minutes in 2_i64..40_000,
        at in 1_i64..40_000,
    ) {
        let cpu = Decimal::from_billionths(i128::from(millis) * 1_000_000);
        let whole = Run { cpu, memory, ..run("1", 1, None) };
        let whole = Run { end: whole.start + minutes * 60_000_000, ..whole };
        let middle = whole.start + at.min(minutes) * 60_000_000;
        let parts = [
            Run { end: middle, ..whole.clone() },
            Run { start: middle, ..whole.clone() },
        ];
        let rate = ["OpenShift CPU=0.013"];
        prop_assert_eq!(rows(&[whole], false, &rate), rows(&parts, false, &rate));
    }
}
