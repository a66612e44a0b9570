//! Every entry of `data/expected.json` of the shared samples, through the real daemon: what `bank
//! import --json` prints is equal to it, key by key and digit by digit.

use serde_json::Value;

use super::watching;
use crate::harness::{shared_folder, skip};
use crate::ingest::expected::format_of;

#[test]
fn every_sample_gives_the_same_totals_through_the_daemon() {
    let Some(shared) = shared_folder() else {
        skip("shared", "no folder of shared samples (BANK_SHARED)");
        return;
    };
    let data = shared.join("data");
    let text = std::fs::read_to_string(data.join("expected.json")).unwrap();
    let Value::Object(entries) = serde_json::from_str(&text).unwrap() else {
        panic!("expected.json is no object");
    };
    let mapping = concat!(env!("CARGO_MANIFEST_DIR"), "/../etc/import/aws-lsf.toml");
    let mut bank = watching(&[]);
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for (key, entry) in &entries {
        let (format, options) = format_of(key);
        let path = data.join(key);
        let mut arguments = vec!["import", format, path.to_str().unwrap()];
        arguments.extend(["--source", key, "--json"]);
        if let Some(layout) = &options.layout {
            arguments.extend(["--layout", layout]);
        }
        if options.mapping.is_some() {
            arguments.extend(["--mapping", mapping]);
        }
        let ran = bank.bank(&arguments);
        assert_eq!(ran.exit, 0, "{key}: {}", ran.stderr);
        let found: Value = serde_json::from_str(&ran.stdout).unwrap();
        compared += 1;
        if *entry != found {
            wrong.push(format!("{key}: {entry}\nfound {found}"));
        }
        let rejected = &entry["skipped"]["malformed"];
        let aside = bank.json(&["quarantine", "ls", "--source", key, "--limit", "1000"]);
        let aside = aside["items"].as_array().unwrap().len();
        if rejected.as_u64().unwrap_or(0) > aside.try_into().unwrap() {
            wrong.push(format!("{key}: {rejected} rejected, {aside} in quarantine"));
        }
    }
    assert!(compared > 50, "{compared} entries");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    bank.verify();
}
