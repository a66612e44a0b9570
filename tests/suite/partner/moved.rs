//! Records of a use that name another project of the partner, or another user: at both banks the same owners have the
//! amount and the hours.

use super::world::{World, name};
use crate::harness::{T0, text};
use serde_json::Value;
use std::fs;

/// A record of a job of this many minutes on two processors, for an owner at the partner.
fn record(world: &World, (project, user): (&str, &str), minutes: i64) {
    let bank = &world.banks[0];
    let file = bank.folder().join("in.sacct");
    let partner = name(1);
    let lines = format!(
        "JobID|Cluster|User|Account|State|ExitCode|Submit|Start|End|NNodes|NCPUS\n\
         7|colony|{user}|{project}@{partner}|COMPLETED|0:0|2026-01-01T00:00:00|2026-01-01T01:00:00|\
         2026-01-01T01:{minutes:02}:00|1|2\n"
    );
    fs::write(&file, lines).unwrap();
    bank.bank_ok(&[
        "import",
        "sacct",
        file.to_str().unwrap(),
        "--source",
        "slurm-colony",
    ]);
    world.deliver();
}

/// Seconds on a processor by project and user at a bank, for those with any.
fn hours(world: &World, bank: usize) -> Vec<(String, i64)> {
    let words = "usage --from 2025-12-01 --to 2026-03-01 --by project,user";
    let usage = world.banks[bank].json(&words.split(' ').collect::<Vec<_>>());
    let rows = usage["rows"].as_array().unwrap().iter();
    let seconds = |row: &Value| {
        text(row, "core_seconds")
            .split('.')
            .next()
            .unwrap()
            .parse()
            .unwrap()
    };
    let rows = rows.map(|row| {
        let keys = &row["keys"];
        let owner = format!("{} {}", text(keys, "project"), text(keys, "user"));
        (owner, seconds(row))
    });
    rows.filter(|(_, seconds)| *seconds != 0).collect()
}

#[test]
fn a_use_moves_between_projects_and_users_of_the_partner() {
    let mut world = World::new(2, &[]);
    let there = &world.banks[1];
    there.bank_ok(&["project", "members", "add", "chemistry", "bob"]);
    there.bank_ok(&["project", "add", "biology", "--members", "amy,bob"]);
    there.bank_ok(&["deposit", "biology", "100000"]);
    for bank in &world.banks {
        bank.set_clock(T0 + 86_400);
    }
    let owners = [
        ("chemistry", "amy"),
        ("chemistry", "bob"),
        ("biology", "amy"),
        ("biology", "bob"),
    ];
    // In each order, longer and shorter than before.
    for (owner, of) in [(0, 10), (1, 10), (2, 20), (0, 5), (3, 30), (1, 15), (2, 10)] {
        record(&world, owners[owner], of);
        let (project, user) = owners[owner];
        let here = format!("{project}@{} {user}", name(1));
        assert_eq!(hours(&world, 0), [(here, 120 * of)], "{owner}");
        assert_eq!(
            hours(&world, 1),
            [(format!("{project} {user}"), 120 * of)],
            "{owner}"
        );
        for (project, of_project) in [("chemistry", owner < 2), ("biology", owner >= 2)] {
            let paid = if of_project { 2 * of * 60 } else { 0 };
            assert_eq!(world.banks[1].figures(project).0, 100_000 - paid, "{owner}");
        }
    }
    world.settle();
}
