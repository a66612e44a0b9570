//! What the bank proves of itself at the end of a life.

use bankd_store::{rollup, verify};

use super::difference::Differences;
use super::house::House;

pub(super) fn compare(house: &House, found: &mut Differences) {
    let findings = verify::run(&house.database()).unwrap().lines();
    found.same("bankd verify", "", findings, Vec::new());
    let compared = rollup::compare(&house.journal).unwrap();
    found.same("bankd rollup verify", "", compared.examples, Vec::new());
}
