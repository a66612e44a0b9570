//! What may be done where: the invariants of ARCHITECTURE.md that a look at the sources can check.

use super::none_of;
use super::source::{Source, product};

/// Every line of the product with one of these words outside of these places.
fn outside(words: &[&str], places: &[&str], findings: &mut Vec<String>) {
    for source in product() {
        if source.is_in_any(places) {
            continue;
        }
        for word in words {
            for line in source.lines_with(word) {
                findings.push(format!(
                    "{}:{line}: {word} has no business here",
                    source.path
                ));
            }
        }
    }
}

fn core() -> Vec<&'static Source> {
    let mut core = product();
    core.retain(|source| source.is_in("bank-core/"));
    assert!(core.len() > 20, "the core is somewhere else");
    core
}

#[test]
fn the_core_has_no_input_output_clock_or_chance() {
    let banned = [
        "std::fs",
        "std::net",
        "std::io",
        "std::env",
        "std::process",
        "std::thread",
        "std::os",
        "fs::",
        "SystemTime",
        "Instant",
        "async",
        "await",
        "rand",
        "getrandom",
        "Mutex",
        "RwLock",
        "RefCell",
        "Cell",
        "unsafe",
        "extern",
        "println",
        "eprintln",
    ];
    let mut findings = Vec::new();
    for source in core() {
        for word in banned {
            for line in source.lines_with(word) {
                findings.push(format!("{}:{line}: {word}", source.path));
            }
        }
    }
    none_of(&findings);
}

/// These macros panic if standard output or standard error cannot be written, as on a full disk or without a reader.
#[test]
fn programs_do_not_panic_where_they_print() {
    let mut findings = Vec::new();
    for source in product() {
        // What a build script prints is read by cargo, and what helpers of tests print by a person.
        let mut is_read = ["/examples/", "bankd/testing/"].iter();
        if source.path.ends_with("build.rs") || is_read.any(|own| source.path.contains(own)) {
            continue;
        }
        for (line, code) in source.code.lines().enumerate() {
            if ["println!(", "print!("]
                .iter()
                .any(|print| code.contains(print))
            {
                findings.push(format!("{}:{}: {code}", source.path, line + 1));
            }
        }
    }
    none_of(&findings);
}

/// The order of a hashed collection differs from run to run: nothing may be taken from one in its
/// order, only looked up.
#[test]
fn the_core_never_goes_through_a_hashed_collection() {
    let mut findings = Vec::new();
    for source in core() {
        let hashed: Vec<&str> = source
            .code
            .lines()
            .filter(|line| line.contains(": HashMap<") || line.contains(": HashSet<"))
            .filter_map(|line| line.trim().split(':').next())
            .collect();
        for name in hashed {
            for way in ["iter(", "values(", "keys(", "into_iter(", "drain("] {
                let through = format!("{name}.{way}");
                for line in source.lines_with(&through) {
                    // What is sorted right after it has an order again.
                    let mut next = source.code.lines().skip(line).take(12);
                    if !next.any(|line| line.contains(".sort")) {
                        findings.push(format!("{}:{line}: {through})", source.path));
                    }
                }
            }
        }
    }
    none_of(&findings);
}

#[test]
fn no_floating_point_touches_money() {
    let places = [
        "bank-core/",
        "bank-api/",
        "bankd/",
        "bank-cli/",
        "nami-scripts/",
    ];
    let mut findings = Vec::new();
    for source in product().into_iter().filter(|s| s.is_in_any(&places)) {
        for word in ["f32", "f64"] {
            for line in source.lines_with(word) {
                findings.push(format!("{}:{line}: {word}", source.path));
            }
        }
    }
    none_of(&findings);
}

/// Whether a text is a statement for the database.
fn is_sql(literal: &str) -> bool {
    let begins = [
        "SELECT ",
        "INSERT ",
        "UPDATE ",
        "DELETE ",
        "REPLACE ",
        "WITH ",
        "CREATE ",
        "DROP ",
        "ALTER ",
        "PRAGMA ",
        "BEGIN",
        "COMMIT",
        "ROLLBACK",
        "SAVEPOINT ",
        "VACUUM",
    ];
    let text = literal.trim_start();
    begins.iter().any(|word| text.starts_with(word))
}

#[test]
fn sql_is_written_in_the_store_only() {
    let mut findings = Vec::new();
    // A connection may be handed to the store's own functions.
    let passed = ["rusqlite::Connection", "rusqlite::version()"];
    for source in product() {
        // The script for the client program of another bank's database; the tables of the replicated log.
        let places = [
            "bankd/store/src",
            "bankd/query/src",
            "bank-cli/migrate/src/database",
            "bankd/cluster/src/postgresql",
            "bankd/changes/src",
        ];
        if source.is_in_any(&places) {
            continue;
        }
        for line in source.lines_with("rusqlite") {
            let text = source.code.lines().nth(line - 1).unwrap();
            if !passed.iter().any(|way| text.contains(way)) {
                findings.push(format!("{}:{line}: rusqlite", source.path));
            }
        }
        for literal in source.literals.iter().filter(|text| is_sql(text)) {
            let start: String = literal.chars().take(40).collect();
            findings.push(format!("{}: {start:?} is SQL", source.path));
        }
    }
    none_of(&findings);
}

#[test]
fn xml_is_read_and_written_in_its_rooms_only() {
    let mut findings = Vec::new();
    outside(
        &["quick_xml"],
        &[
            "bankd/nami/src",
            "bankd/emit/src",
            "bankd/gold/src/talk/xml",
            "bankd/ingest/src/moab/xml",
            "bank-api/src/records",
            "bank-cli/gold/src/xml",
            "bankd/web/src/atom",
        ],
        &mut findings,
    );
    none_of(&findings);
}

#[test]
fn json_shapes_are_made_in_bank_api_only() {
    // Settings have their shape where they are read, a query string where its route is.
    let answers = ["bank-api/", "bankd/config/src", "bankd/http/src/health"];
    let questions = [
        "bank-api/",
        "bankd/config/src",
        "bankd/http/src",
        "bank-cli/src/config",
    ];
    let mut findings = Vec::new();
    for source in product() {
        for (word, places) in [("Serialize", &answers[..]), ("Deserialize", &questions[..])] {
            for line in source.lines_with(word) {
                let text = source.code.lines().nth(line - 1).unwrap();
                if text.contains("derive(") && !source.is_in_any(places) {
                    findings.push(format!("{}:{line}: {word}", source.path));
                }
            }
        }
    }
    none_of(&findings);
}

/// A status as a number: the table of `bank-api`, the answers' own room, and in the two clients the
/// one that comes unsigned.
#[test]
fn http_statuses_come_from_the_one_table() {
    let mut findings = Vec::new();
    // AUDITOR's answers are another program's: its clients know them byte by byte.
    let answers = [
        "bankd/http/src",
        "bankd/auditor/src/answer",
        "bankd/web/src/failed",
    ];
    outside(&["StatusCode"], &answers, &mut findings);
    let numbers = [
        "400", "401", "402", "403", "404", "405", "408", "409", "413", "422", "429", "500", "501",
        "502", "503", "504",
    ];
    let places = [
        "bank-api/src/error",
        "bankd/http/src",
        "nami-scripts/src/client",
        "nami-scripts/src/outcome",
        "bank-api/client/src",
        "bank-cli/src/client",
    ];
    for source in product() {
        if source.is_in_any(&places) {
            continue;
        }
        for number in numbers {
            let lines = source.lines_with(number);
            let code: Vec<&str> = source.code.lines().collect();
            let about = lines
                .into_iter()
                .filter(|line| code[line - 1].contains("status"));
            for line in about {
                findings.push(format!("{}:{line}: status {number}", source.path));
            }
        }
    }
    none_of(&findings);
}

/// The time of day is asked for in one place of each program. How long something took is no time of
/// day.
#[test]
fn clocks_are_read_in_one_place_of_each_program() {
    let places = [
        "bankd/ledger/src/clock.rs",
        "bank-api/client/src/clock.rs",
        "nami-scripts/src/clock.rs",
    ];
    let mut findings = Vec::new();
    outside(
        &["SystemTime", "Utc::now", "Local::now", "now_v7", "now_v1"],
        &places,
        &mut findings,
    );
    none_of(&findings);
}

#[test]
fn the_environment_is_read_in_the_settings_only() {
    let places = [
        "bankd/config/src",
        "bankd/testing/src",
        "bank-cli/src/config",
        "nami-scripts/src/settings",
        "nami-scripts/src/clock",
        "bankd/changes/build",
    ];
    let mut findings = Vec::new();
    outside(
        &["env::var", "env::var_os", "env::vars"],
        &places,
        &mut findings,
    );
    none_of(&findings);
}

/// Handlers and the crates below them get the sections that they read. The whole settings are for the commands
/// of the program, for the place that makes the services, and for a reload, which compares old and new ones.
#[test]
fn the_whole_settings_stay_where_the_daemon_is_composed() {
    let places = [
        "bankd/config/src",
        // The configuration of the client of PostgreSQL; this crate uses no other crate of ours.
        "bankd/cluster/src/postgresql",
        "bankd/services/src/start.rs",
        "bankd/src/app.rs",
        "bankd/src/cli.rs",
        "bankd/src/doctor.rs",
        "bankd/src/demo",
        // The connections of all listeners.
        "bankd/src/handles.rs",
        "bankd/src/import/offline.rs",
        "bankd/src/reload.rs",
        "bankd/src/replay.rs",
        "bankd/src/serve.rs",
        "bankd/src/settings.rs",
    ];
    let mut findings = Vec::new();
    for source in product() {
        if !source.is_in("bankd/") || source.is_in_any(&places) {
            continue;
        }
        for line in source.lines_with("Config") {
            let path = &source.path;
            findings.push(format!("{path}:{line}: take the section that is read"));
        }
    }
    none_of(&findings);
}

/// One function writes what an allocation holds, beside the entry that explains it.
#[test]
fn balances_are_written_in_one_file() {
    let mut findings = Vec::new();
    let mut seen = 0;
    for source in product() {
        for literal in &source.literals {
            let text: String = literal.split_whitespace().collect::<Vec<_>>().join(" ");
            let writes = [
                "UPDATE allocation ",
                "DELETE FROM allocation ",
                "REPLACE INTO allocation ",
            ];
            let inserts = text.contains("INSERT INTO allocation ");
            if !inserts && !writes.iter().any(|way| text.contains(way)) {
                continue;
            }
            seen += 1;
            // `bank.rs` makes the suspense account's empty allocation with the bank itself.
            let born = inserts && source.is_in("bankd/store/src/bank.rs");
            if !born && !source.is_in("bankd/store/src/append.rs") {
                findings.push(format!("{}: writes an allocation", source.path));
            }
        }
    }
    assert!(seen >= 3, "the statements are somewhere else");
    none_of(&findings);
}

/// An entry is made by `Postings`, together with the change that it explains.
#[test]
fn entries_are_made_in_one_file_of_the_core() {
    let mut findings = Vec::new();
    for source in core() {
        if source.is_in_any(&["bank-core/src/postings", "bank-core/src/effects"]) {
            continue;
        }
        for (number, line) in (1..).zip(source.code.lines()) {
            let makes = line.contains("Entry {") && !line.contains("struct");
            if makes {
                findings.push(format!("{}:{number}: makes an entry", source.path));
            }
        }
    }
    none_of(&findings);
}

/// Quotes print on standard output; everything else goes to standard error or over the wire.
#[test]
fn the_daemon_and_the_scripts_do_not_print_by_the_way() {
    let mut findings = Vec::new();
    for source in product().iter().filter(|s| s.is_in("nami-scripts/")) {
        for word in ["println", "print", "eprintln", "eprint"] {
            for line in source.lines_with(&format!("{word}!")) {
                findings.push(format!("{}:{line}: {word}!", source.path));
            }
        }
    }
    none_of(&findings);
}
