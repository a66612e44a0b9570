//! What must hold of all prices: a job costs the same in however many parts, and a window costs the
//! sum of its parts at every boundary of a calendar.

use super::given::{Site, T0, calendar, priced_usage, set_rate, usage};
use bank_core::amount::Precision;
use bank_core::directory::{Bank, Directory, Policy};
use bank_core::exact::Rounding;
use bank_core::price::price;
use bank_core::rate::Rate;
use bank_core::rules::propose;
use bank_core::time::{Seconds, Timestamp};
use proptest::prelude::*;

fn directory() -> Directory {
    let bank = Bank {
        uuid: String::new(),
        precision: Precision::new(3).unwrap(),
        unit: "credits".to_owned(),
    };
    Directory::new(bank, Policy::default())
}

fn rates(lines: &[String]) -> Vec<Rate> {
    let directory = directory();
    let numbered = (1..).zip(lines).map(|(id, line)| {
        let mut rate = propose(&set_rate(line), &directory).unwrap();
        rate.id.0 = id;
        rate
    });
    numbered.collect()
}

fn metered(rates: &[Rate], from: Timestamp, seconds: i64) -> i128 {
    let used = usage("Processors=7 Memory=2048 QualityOfService=high");
    let priced = priced_usage(&used, from, Seconds(seconds));
    price(&priced, rates).unwrap().metered
}

const HOURS: [&str; 5] = [
    "20:00-08:00",
    "Mon-Fri 08:00-20:00 Europe/Berlin",
    "Sat,Sun 00:00-24:00 America/New_York",
    "Fri 22:15-06:45; Mon 00:00-12:00 Asia/Kolkata",
    "00:00-00:30 Australia/Lord_Howe",
];

proptest! {
    /// With rates per second the parts are exact, so that their sum is the whole to the last digit.
    #[test]
    fn a_window_costs_the_sum_of_its_parts(
        start in 0i64..40_000_000,
        parts in prop::collection::vec(1i64..200_000, 1..12),
        hours in 0usize..5,
        factor in 0u32..9,
    ) {
        let rates = rates(&[
            "VBR Processors 1".to_owned(),
            "VBR Memory 0.001".to_owned(),
            format!("VBR Processors 0.5 second @{}", HOURS[hours]),
            format!("NBM QualityOfService=high 0.{factor} second @{}", HOURS[(hours + 1) % 5]),
        ]);
        let from = T0.plus(Seconds(start));
        let whole: i64 = parts.iter().sum();
        let (mut now, mut sum) = (from, 0);
        for part in &parts {
            sum += metered(&rates, now, *part);
            now = now.plus(Seconds(*part));
        }
        prop_assert_eq!(sum, metered(&rates, from, whole));
    }

    /// What is billed in increments is what the whole would cost.
    #[test]
    fn increments_cost_what_the_whole_would(
        parts in prop::collection::vec(1i64..20_000, 1..12),
        places in 0u8..=6,
        rounding in prop::sample::select(vec![Rounding::HalfEven, Rounding::HalfUp, Rounding::Ceil]),
    ) {
        let mut site = Site::new(places, rounding);
        for rate in [
            "VBR Processors 1.37 second @Mon-Fri 08:00-20:00 Europe/Berlin",
            "VBR Processors 0.004",
            "NBF Zone=Asia 3.21",
            "MIN Charge 10",
        ] {
            site.rate(rate);
        }
        let used = || usage("Processors=3 Zone=Asia");
        let whole: i64 = parts.iter().sum();
        for part in &parts {
            site.now = site.now.plus(Seconds(*part));
            site.charge("j", used(), Seconds(*part));
        }
        let billed = site.billed();
        // The whole window, of another job, at the same end.
        prop_assert_eq!(site.quote(used(), Seconds(whole)), billed);
    }
}

#[test]
fn a_long_window_is_priced_soon() {
    let rates = rates(&[
        "VBR Processors 1".to_owned(),
        format!("VBR Processors 0.5 second @{}", HOURS[1]),
    ]);
    let ten_years = 315_360_000;
    let half = metered(&rates, T0, ten_years / 2);
    let rest = metered(&rates, T0.plus(Seconds(ten_years / 2)), ten_years / 2);
    assert_eq!(metered(&rates, T0, ten_years), half + rest);
}

/// What ended long ago is not looked at, however much of it there is.
#[test]
fn old_versions_are_passed_over() {
    let mut site = Site::new(0, Rounding::HalfEven);
    for version in 1..=100 {
        site.rate(&format!("VBR Processors {version}"));
        site.now = site.now.plus(Seconds(10));
    }
    let directory = site.book.reference();
    assert_eq!(directory.rates.len(), 100);
    assert_eq!(directory.rates_at(site.now).len(), 1);
    // Rates are set long before the present of the site.
    let first = T0.minus(Seconds(400_000_000));
    assert_eq!(directory.rates_at(first.plus(Seconds(5))).len(), 100);
    // The version of the begin of the window counts.
    let used = usage("Processors=1");
    let at = priced_usage(&used, first.plus(Seconds(15)), Seconds(10));
    let old = price(&at, directory.rates_at(at.at)).unwrap();
    assert_eq!(old.total(), Some(20_000_000_000_000));
}

#[test]
fn hours_are_reported_by_their_text() {
    let one = calendar("Mon-Fri  08:00-20:00   Europe/Berlin");
    assert_eq!(one.text, "Mon-Fri 08:00-20:00 Europe/Berlin");
}
