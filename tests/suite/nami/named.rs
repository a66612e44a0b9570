//! Names that mean something in a text of the bank's: what is quoted and reserved is charged too.

use crate::harness::{Bank, T0};

/// A job with a resource of this name.
fn document(job: &str, resource: &str, more: &str) -> Vec<u8> {
    format!(
        "<Job><ObjectID>{job}</ObjectID><User>amy</User><Account>chemistry</Account>\
         <Processors>1</Processors><GRes name=\"{resource}\">2</GRes>{more}</Job>"
    )
    .into_bytes()
}

#[test]
fn a_resource_of_any_name_is_charged_as_it_was_quoted() {
    let mut bank = Bank::new();
    for name in ["a/b", "g"] {
        bank.bank_ok(&["rate", "set", "VBR", name, "3"]);
    }
    // A rate by an instance is about a value, so no rate names a resource with an equals sign.
    let names = [
        ("gpu=a100", 100),
        ("=", 100),
        ("a==b", 100),
        ("n=2", 100),
        ("a/b", 700),
        ("\u{e9}=\u{2603}", 100),
        ("g", 700),
        ("x=1=2", 100),
    ];
    let wall = "<WallDuration>100</WallDuration>";
    for (number, (name, price)) in names.iter().enumerate() {
        let job = format!("Moab.{number}");
        let quoted = bank.script("quote", &document(&job, name, wall));
        quoted.expect(0, &format!("{price}\n"));
        bank.script("reserve", &document(&job, name, wall))
            .expect(0, "");
    }
    bank.set_clock(T0 + 100);
    let half = "<WallDuration>100</WallDuration><ChargeDuration>50</ChargeDuration>";
    for (number, (name, _)) in names.iter().enumerate() {
        let job = format!("Moab.{number}");
        bank.script("charge", &document(&job, name, half))
            .expect(0, "");
        bank.script("end", &document(&job, name, half))
            .expect(0, "");
        assert_eq!(bank.spooled(), 0, "{name}");
    }
    let left = 100_000 - names.iter().map(|(_, price)| price).sum::<i64>();
    assert_eq!(bank.figures("chemistry"), (left, 0, left));
    bank.bank_ok(&["explain", "Moab.0"]);
    bank.verify();
}
