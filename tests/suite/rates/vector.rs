//! The vectors of tests/cases/rate-vectors.json, each through the ledger: a quote for a price, and
//! charges of one instance for increments.

use super::given::{Site, property};
use bank_core::exact::Rounding;
use bank_core::time::Seconds;
use bank_core::usage::Usage;
use serde_json::Value;

const FILE: &str = include_str!("../../cases/rate-vectors.json");

macro_rules! vectors {
    ($($name:ident = $number:literal;)*) => {$(
        #[test]
        fn $name() {
            vector($number);
        }
    )*};
}

vectors! {
    rate_vector_01 = 1;
    rate_vector_02 = 2;
    rate_vector_03 = 3;
    rate_vector_04 = 4;
    rate_vector_05 = 5;
    rate_vector_06 = 6;
    rate_vector_07 = 7;
    rate_vector_08 = 8;
    rate_vector_09 = 9;
    rate_vector_10 = 10;
    rate_vector_11 = 11;
    rate_vector_12 = 12;
    rate_vector_13 = 13;
    rate_vector_14 = 14;
    rate_vector_15 = 15;
    rate_vector_16 = 16;
    rate_vector_17 = 17;
    rate_vector_18 = 18;
    rate_vector_19 = 19;
    rate_vector_20 = 20;
    rate_vector_21 = 21;
    rate_vector_22 = 22;
    rate_vector_23 = 23;
    rate_vector_24 = 24;
    rate_vector_25 = 25;
    rate_vector_26 = 26;
    rate_vector_27 = 27;
    rate_vector_28 = 28;
}

#[test]
fn every_vector_of_the_file_has_its_test() {
    assert_eq!(all().len(), 28);
}

/// What one vector asks.
enum Vector {
    /// A price at a precision by a rounding.
    Price {
        rates: Value,
        precision: u8,
        rounding: Rounding,
        of: Value,
        cost: String,
    },
    /// Charges of one instance.
    Increments(Value),
}

fn all() -> Vec<Vec<Vector>> {
    let file: Value = serde_json::from_str(FILE).unwrap();
    let mut found: Vec<Vec<Vector>> = Vec::new();
    let price = |group: &Value, of: &Value, precision: u8, rounding, cost: &str| Vector::Price {
        rates: group["rates"].clone(),
        precision,
        rounding,
        of: of.clone(),
        cost: of[cost].as_str().unwrap().to_owned(),
    };
    let even = Rounding::HalfEven;
    for (group, precision) in [(&file, 0), (&file["tie_vectors"], 0)] {
        for of in group["vectors"].as_array().unwrap() {
            found.push(vec![price(group, of, precision, even, "cost")]);
        }
    }
    let group = &file["precision2"];
    for of in group["vectors"].as_array().unwrap() {
        found.push(vec![
            price(group, of, 2, even, "half_even"),
            price(group, of, 2, Rounding::HalfUp, "half_up"),
        ]);
    }
    let group = &file["per_hour"];
    for of in group["vectors"].as_array().unwrap() {
        found.push(vec![price(group, of, 2, even, "cost")]);
    }
    for of in file["increments"]["vectors"].as_array().unwrap() {
        found.push(vec![Vector::Increments(of.clone())]);
    }
    found
}

fn vector(number: usize) {
    for vector in all().remove(number - 1) {
        match vector {
            Vector::Price {
                rates,
                precision,
                rounding,
                of,
                cost,
            } => {
                let mut site = Site::new(precision, rounding);
                for rate in rates.as_array().unwrap() {
                    site.rate(&line(rate));
                }
                let mut usage = Usage::default();
                for (name, value) in of["usage"].as_object().unwrap() {
                    property(&mut usage, name, value.as_str().unwrap());
                }
                let duration = Seconds(of["duration"].as_i64().unwrap());
                assert_eq!(site.quote(usage, duration), cost, "{of} {rounding:?}");
            }
            Vector::Increments(of) => increments(&of),
        }
    }
}

fn increments(of: &Value) {
    let text = |name: &str| of[name].as_str().unwrap().to_owned();
    let precision = u8::try_from(of["precision"].as_i64().unwrap()).unwrap();
    let mut site = Site::new(precision, Rounding::HalfEven);
    let per = per(of["per_seconds"].as_i64().unwrap());
    site.rate(&format!("VBR Processors {} {per}", text("rate")));
    site.rate(&format!("NBF Zone=Asia {}", text("fee_nbf")));
    let mut usage = Usage::default();
    property(&mut usage, "Processors", &text("processors"));
    property(&mut usage, "Zone", "Asia");
    let durations = of["durations"].as_array().unwrap();
    let billed = of["billed"].as_array().unwrap();
    for (duration, billed) in durations.iter().zip(billed) {
        let duration = Seconds(duration.as_i64().unwrap());
        let got = site.charge("j", usage.clone(), duration);
        assert_eq!(got, billed.as_str().unwrap(), "{of}");
    }
    assert_eq!(site.billed(), text("total"), "{of}");
}

/// A rate of the file in the notation of these tests.
fn line(rate: &Value) -> String {
    let text = |name: &str| rate[name].as_str().unwrap_or_default();
    let instance = match text("instance") {
        "" => String::new(),
        instance => format!("={instance}"),
    };
    let per = per(rate["per_seconds"].as_i64().unwrap_or(1));
    let per = if per == "second" { "" } else { per };
    format!(
        "{} {}{instance} {} {per}",
        text("type"),
        text("name"),
        text("rate")
    )
    .trim_end()
    .to_owned()
}

fn per(seconds: i64) -> &'static str {
    match seconds {
        3600 => "hour",
        _ => "second",
    }
}
