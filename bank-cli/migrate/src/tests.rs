//! Old banks as files, and what becomes of them: the plan as text, the request as JSON.

mod broken;
mod gold;
mod mam;
mod plain;
mod slurm;
mod tables;

use std::fs;
use std::path::{Path, PathBuf};

use bank_picture::Zone;
use serde_json::Value;
use tempfile::TempDir;

use crate::{Fault, Plan, Reading, Settings, Source};

/// 2026-11-24T01:00:00Z.
const NOW: i64 = 1_795_482_000_000_000;

/// A folder with files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn settings(source: &str) -> Settings {
    Settings {
        source: source.to_owned(),
        at: NOW,
        now: NOW,
        precision: 3,
        since: None,
    }
}

fn reading() -> Reading {
    Reading {
        reservations: true,
        history: true,
        now_us: NOW,
        zone: Zone::named("UTC").unwrap(),
    }
}

fn plan_of(source: &Source, name: &str, listed: Option<&Path>) -> Result<Plan, Fault> {
    crate::plan(source, &reading(), listed, &settings(name))
}

/// The request as lines: kind, id, body.
fn items(plan: &Plan) -> Vec<String> {
    let items = plan.request().items.iter();
    let line = |body: &Value| body.to_string().replace('"', "");
    items
        .map(|item| format!("{} {}", item.id, line(&item.body)))
        .collect()
}

/// The expected balances as lines.
fn expected(plan: &Plan) -> Vec<String> {
    let rows = plan.expected().iter();
    rows.map(|own| {
        let (account, amount) = (&own.account, &own.amount);
        format!("{account} {amount} {} {}", own.held, own.credit_limit)
    })
    .collect()
}

/// What is not moved, as lines.
fn skipped(plan: &Plan) -> Vec<String> {
    let all = plan.skipped().iter();
    all.map(|(reason, things)| format!("{reason}: {}", things.join(", ")))
        .collect()
}

/// The finished uses as lines.
fn history(plan: &Plan) -> Vec<String> {
    let records = plan.history().iter();
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    records
        .map(|own| {
            let start = text(&own.start);
            let (end, charge) = (text(&own.end), text(&own.charged_before));
            format!(
                "{} {} {} {} {start} {end} {charge}",
                own.id,
                text(&own.project),
                text(&own.user),
                text(&own.machine)
            )
        })
        .collect()
}

/// The folder of the shared data, if it is here.
fn shared(below: &str) -> Option<PathBuf> {
    // The tests of other crates read the variable in the same way.
    let folder = option_env!("BANK_SHARED").unwrap_or("../../../shared");
    let folder = PathBuf::from(folder).join(below);
    folder.is_dir().then_some(folder)
}
