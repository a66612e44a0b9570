//! The worked examples of ledger.md 3.3, the forms of ledger.md 3.1, and their arithmetic as text.

use super::given::{Site, T0, priced_usage, usage};
use bank_core::exact::Rounding;
use bank_core::price::{Once, itemise};
use bank_core::time::Seconds;

/// The rates of ledger.md 3.3.
pub(crate) const RATES: [&str; 11] = [
    "VBR Processors 1",
    "VBR Memory 0.001",
    "VBR GPUs 8",
    "NBR License=Matlab 5",
    "VBU Power 0.001",
    "NBU Feature=GPU 200",
    "VBM Discount 1",
    "NBM QualityOfService=Premium 2",
    "NBM QualityOfService=BottomFeeder 0.5",
    "VBF Shipping 25",
    "NBF Zone=Asia 200",
];

/// What usage costs by some rates at precision 0.
fn cost(rates: &[&str], of: &str, seconds: i64) -> String {
    let mut site = Site::new(0, Rounding::HalfEven);
    for rate in rates {
        site.rate(rate);
    }
    site.quote(usage(of), Seconds(seconds))
}

#[test]
fn rate_example_01() {
    assert_eq!(cost(&RATES, "Processors=16", 1234), "19744");
}

#[test]
fn rate_example_02() {
    assert_eq!(
        cost(
            &RATES,
            "Processors=16 Memory=2048 QualityOfService=Premium",
            3600
        ),
        "129946"
    );
}

#[test]
fn rate_example_03() {
    assert_eq!(
        cost(&RATES, "Processors=16 QualityOfService=Unknown", 3600),
        "57600"
    );
}

#[test]
fn rate_example_04() {
    assert_eq!(cost(&RATES, "Processors=4 License=Matlab", 100), "900");
}

#[test]
fn rate_example_05() {
    assert_eq!(cost(&RATES, "Processors=4 Power=40000", 100), "440");
}

#[test]
fn rate_example_06() {
    assert_eq!(
        cost(
            &RATES,
            "Processors=4 Feature=GPU QualityOfService=BottomFeeder",
            100
        ),
        "300"
    );
}

#[test]
fn rate_example_07() {
    assert_eq!(
        cost(
            &RATES,
            "Processors=4 Discount=0.8 QualityOfService=Premium",
            100
        ),
        "640"
    );
}

#[test]
fn rate_example_08() {
    assert_eq!(
        cost(
            &RATES,
            "Processors=4 Shipping=4 Zone=Asia QualityOfService=Premium",
            100
        ),
        "1100"
    );
}

#[test]
fn rate_example_09() {
    assert_eq!(cost(&RATES, "Processors=4 GPUs=2", 3600), "72000");
}

#[test]
fn rate_example_10() {
    assert_eq!(
        cost(
            &RATES,
            "Processors=4 Memory=512 GPUs=1 QualityOfService=Premium License=Matlab Power=40000 Feature=GPU Discount=0.9 Shipping=1 Zone=Asia",
            600
        ),
        "19570"
    );
}

#[test]
fn rate_example_11() {
    assert_eq!(
        cost(&RATES, "Processors=4 ConsumptionRate=0.25", 100),
        "100"
    );
}

#[test]
fn rate_example_12() {
    assert_eq!(cost(&["VBR Nodes 24"], "Nodes=3", 600), "43200");
}

#[test]
fn rate_example_13() {
    let rates = ["MVBR Processors=Machine=colony 1.5"];
    assert_eq!(cost(&rates, "Processors=8", 100), "1200");
    let elsewhere = ["MVBR Processors=Machine=blue 1.5"];
    assert_eq!(cost(&elsewhere, "Processors=8", 100), "0");
}

/// Ten processors from 18:00 to 22:00: two hours of day, two of night.
#[test]
fn rate_example_14() {
    for night in [
        "VBR Processors 0.5 second @20:00-08:00",
        "NBM Machine 0.5 second @20:00-08:00",
    ] {
        let mut site = Site::new(0, Rounding::HalfEven);
        site.rate("VBR Processors 1");
        site.rate(night);
        site.now = T0.plus(Seconds(22 * 3600));
        // The job began at 18:00; a first document says so.
        let used = usage("Processors=10");
        assert_eq!(site.quote(used, Seconds(4 * 3600)), "108000", "{night}");
    }
}

#[test]
fn rate_example_15() {
    let mut site = Site::new(2, Rounding::HalfEven);
    site.rate("VBR Processors 0.04 hour");
    assert_eq!(site.quote(usage("Processors=12"), Seconds(5400)), "0.72");
}

#[test]
fn value_based_instances_are_values_ranges_and_bounds() {
    let rates = [
        "VBR Processors 1",
        "VBR Processors=<5 2",
        "VBR Processors=64-128,256 0.5",
        "VBR Processors=100 0.25",
        "VBR Processors=>1000 0.1",
    ];
    for (processors, expected) in [
        (4, "80"),
        (5, "50"),
        (64, "320"),
        (100, "250"),
        (128, "640"),
        (129, "1290"),
        (256, "1280"),
        (2000, "2000"),
    ] {
        let of = format!("Processors={processors}");
        assert_eq!(cost(&rates, &of, 10), expected, "{of}");
    }
}

#[test]
fn names_are_in_lists_with_a_default() {
    let rates = [
        "VBR Processors 1",
        "NBM QualityOfService=high,premium 2",
        "NBM QualityOfService=premium 3",
        "NBM QualityOfService 0.5",
    ];
    for (qos, expected) in [("high", "20"), ("premium", "30"), ("other", "5")] {
        let of = format!("Processors=1 QualityOfService={qos}");
        assert_eq!(cost(&rates, &of, 10), expected, "{qos}");
    }
}

#[test]
fn memory_has_its_contexts() {
    let rates = [
        "VBR UtilizedMemory 1",
        "VBR DedicatedMemory 2",
        "VBR Memory 4",
    ];
    for (of, expected) in [
        ("UtilizedMemory=3", "30"),
        ("DedicatedMemory=3", "60"),
        ("Memory=3", "120"),
        ("Memory=3 UtilizedMemory=1", "130"),
    ] {
        assert_eq!(cost(&rates, of, 10), expected, "{of}");
    }
}

#[test]
fn the_consumption_rate_is_one_where_it_is_none() {
    for given in ["0", "1", "x"] {
        let of = format!("Processors=4 ConsumptionRate={given}");
        assert_eq!(cost(&["VBR Processors 1"], &of, 100), "400", "{given}");
    }
}

/// Once per instance, and last of all.
#[test]
fn minimum_and_maximum_apply_once_with_increments() {
    let mut site = Site::new(0, Rounding::HalfEven);
    for rate in [
        "VBR Processors 1",
        "NBF Zone=Asia 5",
        "MIN Charge 30",
        "MAX Charge 100",
    ] {
        site.rate(rate);
    }
    let used = || usage("Processors=1 Zone=Asia");
    for (seconds, billed) in [
        (10, "30"),
        (10, "0"),
        (10, "5"),
        (50, "50"),
        (50, "15"),
        (50, "0"),
    ] {
        assert_eq!(site.charge("j", used(), Seconds(seconds)), billed);
    }
    assert_eq!(site.billed(), "100");
    // What is free stays free.
    assert_eq!(site.quote(usage("Processors=0"), Seconds(10)), "0");
}

#[test]
fn a_machine_has_a_minimum_of_its_own() {
    let mut site = Site::new(0, Rounding::HalfEven);
    for rate in [
        "VBR Processors 1",
        "MIN Charge 30",
        "MIN Charge 50 second colony",
    ] {
        site.rate(rate);
    }
    assert_eq!(site.quote(usage("Processors=1"), Seconds(10)), "50");
}

#[test]
fn roundings_are_chosen() {
    for (rounding, expected) in [
        (Rounding::HalfEven, ["0", "2", "1"]),
        (Rounding::HalfUp, ["1", "2", "1"]),
        (Rounding::Ceil, ["1", "2", "1"]),
    ] {
        let mut site = Site::new(0, rounding);
        site.rate("VBR Processors 0.5");
        let got = [1, 3, 2].map(|s| site.quote(usage("Processors=1"), Seconds(s)));
        assert_eq!(got, expected, "{rounding:?}");
    }
}

/// `MVBR` on the user counts, whatever the message calls the user (ledger.md 2.14).
#[test]
fn defect_d18_a_rate_by_user_matches_whoever_is_named() {
    for name in ["User", "UserId"] {
        let rate = format!("MVBR Disk={name}=amy 0.5");
        assert_eq!(cost(&[&rate], "Disk=10", 100), "500", "{name}");
        let other = format!("MVBR Disk={name}=bob 0.5");
        assert_eq!(cost(&[&other], "Disk=10", 100), "0", "{name}");
    }
    let project = ["NBF Project=P 7", "NBU Machine=colony 1", "NBF Class=big 2"];
    assert_eq!(cost(&project, "Class=big", 1), "10");
}

#[test]
fn the_arithmetic_is_that_of_gold() {
    let text = |rates: &[&str], of: &str, seconds: i64| {
        let mut site = Site::new(0, Rounding::HalfEven);
        let rates: Vec<_> = rates.iter().map(|rate| site.rate(rate)).collect();
        let used = usage(of);
        let priced = priced_usage(&used, T0.plus(Seconds(18 * 3600)), Seconds(seconds));
        itemise(&priced, &rates, Once::Whole).unwrap()
    };
    assert_eq!(
        text(&["VBR Processors 1"], "Processors=16", 1234),
        "( ( 16 [Processors] * 1 [ChargeRate{VBR}{Processors}] ) * 1234 [WallDuration] ) = 19744"
    );
    assert_eq!(
        text(
            &RATES,
            "Processors=4 Power=40000 Zone=Asia QualityOfService=Premium ConsumptionRate=0.5",
            100
        ),
        "( ( 4 [Processors] * 1 [ChargeRate{VBR}{Processors}] ) * 0.5 [ConsumptionRate] * 100 \
         [WallDuration] + 40000 [Power] * 0.001 [ChargeRate{VBU}{Power}] ) * 2 \
         [ChargeRate{NBM}{QualityOfService}{Premium}] + 200 [ChargeRate{NBF}{Zone}{Asia}] = 680"
    );
    assert_eq!(
        text(&["VBR Processors 1 hour"], "Processors=5", 1),
        "( ( 5 [Processors] * 1 / 3600 [ChargeRate{VBR}{Processors}] ) * 1 [WallDuration] ) \
         = 0.001388888889"
    );
    let night = ["VBR Processors 1", "VBR Processors 0.5 second @20:00-08:00"];
    assert_eq!(
        text(&night, "Processors=10", 4 * 3600),
        "( ( 10 [Processors] * 1 [ChargeRate{VBR}{Processors}] ) * 7200 [WallDuration] ) + ( ( 10 \
         [Processors] * 0.5 [ChargeRate{VBR}{Processors}] ) * 7200 [WallDuration] ) = 108000"
    );
    assert_eq!(text(&["VBR Nodes 1"], "Processors=1", 10), "0 = 0");
}
