//! Reports about who used the clusters beside who paid for them, and priorities by what was used:
//! through the real daemon and command line, against the worked figures of reports.md.

mod amended;
mod collected;
mod contribution;
mod downtime;
mod gusage;
mod journalled;
mod late_money;
mod metrics;
mod months;
mod named;
mod parts;
mod personal;
mod priority;
pub(crate) mod sampled;
mod scheduled;
mod screens;
mod started;
mod tables;
mod undone;
mod used;
mod zones;

use serde_json::Value;

use crate::harness::{shared_folder, skip};

/// A file of vectors; none where there is no folder of them, which is said.
fn vectors(name: &str) -> Option<Value> {
    let Some(folder) = shared_folder() else {
        skip("shared", "no folder with vectors of reports (BANK_SHARED)");
        return None;
    };
    let path = folder.join("data/reports").join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}

fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap()
}
