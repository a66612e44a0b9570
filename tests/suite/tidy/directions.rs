//! The directions in which crates depend on each other.

use super::none_of;
use super::source::{product, read, rust};

/// Every crate by its folder, with those of ours that it may use. What stands in none is not ours to use. A
/// crate in the folder of another comes before it.
const CRATES: [(&str, &[&str]); 13] = [
    ("bank-core/figures", &["bank-core"]),
    ("bank-core/values", &[]),
    ("bank-core", &["bank-core-values"]),
    ("bank-api/files", &[]),
    ("bank-api/client", &["bank-api", "bank-files"]),
    ("bank-api/picture", &["bank-api"]),
    ("bank-api", &["bank-core"]),
    ("bankd", BELOW_THE_DAEMON),
    ("bank-cli/gold", &["bank-api", "bank-picture"]),
    (
        "bank-cli/migrate",
        &["bank-api", "bank-core-values", "bank-picture"],
    ),
    (
        "bank-cli",
        &[
            "bank-core",
            "bank-api",
            "bank-cli-gold",
            "bank-cli-migrate",
            "bank-client",
            "bank-files",
            "bank-picture",
            "nami-scripts",
        ],
    ),
    ("nami-scripts", &["bank-api", "bank-files"]),
    (
        "tests",
        &[
            "bank-core",
            "bank-core-figures",
            "bank-api",
            "bank-client",
            "bank-picture",
            "bankd",
        ],
    ),
];

/// The crates outside of `bankd` that its crates may use.
const BELOW_THE_DAEMON: &[&str] = &[
    "bank-core",
    "bank-core-figures",
    "bank-api",
    "bank-files",
    "bank-picture",
];

/// The crates of the daemon, the lowest first, each with those that it uses. None uses one above it.
const DAEMON: &[(&str, &[&str])] = &[
    ("testing", &[]),
    ("ingest", &[]),
    ("emit", &[]),
    ("nami", &[]),
    ("cluster", &[]),
    ("changes", &[]),
    ("config", &["ingest", "emit"]),
    ("store", &["changes"]),
    ("query", &["store"]),
    ("ledger", &["cluster", "config", "store", "query"]),
    ("records", &["emit", "config", "store", "ledger"]),
    ("intake", &["ingest", "config", "store", "ledger"]),
    ("notices", &["config", "store", "ledger"]),
    ("partners", &["store", "ledger"]),
    ("safekeeping", &["config", "store", "ledger", "records"]),
    ("listen", &["ledger"]),
    (
        "services",
        &[
            "cluster",
            "config",
            "store",
            "ledger",
            "records",
            "intake",
            "notices",
            "partners",
            "safekeeping",
        ],
    ),
    (
        "gold",
        &[
            "nami", "config", "store", "query", "ledger", "listen", "services",
        ],
    ),
    (
        "http",
        &[
            "ingest",
            "emit",
            "gold",
            "nami",
            "config",
            "store",
            "query",
            "ledger",
            "records",
            "intake",
            "notices",
            "partners",
            "safekeeping",
            "listen",
            "services",
        ],
    ),
    ("web", &["config", "ledger", "services", "http"]),
    (
        "auditor",
        &["config", "store", "ledger", "intake", "listen", "services"],
    ),
];

/// The only crate with `unsafe` code (decision 0201). It has the lints of the workspace as its own, but for that.
const UNSAFE: &str = "changes";

fn has_lints(manifest: &str) -> bool {
    manifest.contains("[lints]\nworkspace = true")
}

/// The names of the crates of `CRATES` that others may use.
fn ours() -> Vec<String> {
    let folders = CRATES.iter().map(|(folder, _)| *folder);
    let used = folders.filter(|folder| *folder != "tests");
    used.map(package).collect()
}

/// The name of the crate in a folder, from its manifest.
fn package(folder: &str) -> String {
    let manifest = read(&format!("{folder}/Cargo.toml"));
    let name = manifest
        .lines()
        .find_map(|line| line.strip_prefix("name = "));
    name.unwrap().trim_matches('"').to_owned()
}

/// The names in a section of a manifest.
fn dependencies(manifest: &str, section: &str) -> Vec<String> {
    let header = format!("[{section}]");
    let lines = manifest.lines().skip_while(|line| *line != header).skip(1);
    let own = lines.take_while(|line| !line.starts_with('['));
    let entries = own.filter(|line| !line.starts_with('#') && line.contains('='));
    let name = |line: &str| {
        let end = line.find(['.', ' ', '=']).unwrap();
        line[..end].to_owned()
    };
    entries.map(name).collect()
}

#[test]
fn crates_depend_in_one_direction() {
    let mut findings = Vec::new();
    let ours = ours();
    for (name, allowed) in CRATES {
        let manifest = read(&format!("{name}/Cargo.toml"));
        for dependency in dependencies(&manifest, "dependencies") {
            if ours.contains(&dependency) && !allowed.contains(&dependency.as_str()) {
                findings.push(format!("{name} must not depend on {dependency}"));
            }
        }
    }
    for source in product() {
        let Some((folder, allowed)) = CRATES
            .iter()
            .find(|(name, _)| source.is_in(&format!("{name}/")))
        else {
            continue;
        };
        for other in &ours {
            let used = source.lines_with(&format!("{}::", other.replace('-', "_")));
            let own = *other == package(folder);
            if let (Some(line), false) = (used.first(), own || allowed.contains(&other.as_str())) {
                findings.push(format!("{}:{line}: must not use {other}", source.path));
            }
        }
    }
    none_of(&findings);
}

/// Each crate of the daemon uses those below it only, and no more than its row of the table has; tests may
/// use others, as long as they are below it too.
#[test]
fn crates_of_the_daemon_depend_in_one_direction() {
    let mut findings = Vec::new();
    let ours = ours();
    let place = |name: &str| DAEMON.iter().position(|(other, _)| *other == name);
    for (number, (name, uses)) in DAEMON.iter().enumerate() {
        let manifest = read(&format!("bankd/{name}/Cargo.toml"));
        if !has_lints(&manifest) && *name != UNSAFE {
            findings.push(format!("bankd-{name}: [lints] workspace = true is missing"));
        }
        let below = |other: &str| place(other).is_some_and(|place| place < number);
        for dependency in dependencies(&manifest, "dependencies") {
            let Some(other) = dependency.strip_prefix("bankd-") else {
                let below = BELOW_THE_DAEMON.contains(&dependency.as_str());
                if ours.contains(&dependency) && !below {
                    findings.push(format!("bankd-{name} must not depend on {dependency}"));
                }
                continue;
            };
            if !uses.contains(&other) || !below(other) {
                findings.push(format!("bankd-{name} must not depend on bankd-{other}"));
            }
        }
        for dependency in dependencies(&manifest, "dev-dependencies") {
            let other = dependency.strip_prefix("bankd-");
            if dependency == "bankd" || other.is_some_and(|other| !below(other)) {
                findings.push(format!(
                    "tests of bankd-{name} must not depend on {dependency}"
                ));
            }
        }
    }
    none_of(&findings);
}

#[test]
fn the_core_depends_on_its_values_only() {
    let manifest = read("bank-core/Cargo.toml");
    let found = dependencies(&manifest, "dependencies");
    assert_eq!(found, ["bank-core-values"]);
    let manifest = read("bank-core/values/Cargo.toml");
    assert_eq!(dependencies(&manifest, "dependencies"), [""; 0]);
}

/// Charts and pages take numbers, texts and times: no requests, JSON, words of the command line or terminals.
#[test]
fn pictures_depend_on_texts_and_times_only() {
    let manifest = read("bank-api/picture/Cargo.toml");
    let found = dependencies(&manifest, "dependencies");
    assert_eq!(found, ["bank-api", "chrono", "chrono-tz"]);
}

#[test]
fn the_scripts_stay_small() {
    let manifest = read("nami-scripts/Cargo.toml");
    let heavy = ["clap", "tokio", "serde", "serde_json", "ureq", "regex"];
    let found = dependencies(&manifest, "dependencies");
    assert!(
        found.iter().all(|d| !heavy.contains(&d.as_str())),
        "{found:?}"
    );
}

#[test]
fn test_hooks_are_in_no_release() {
    let mut findings = Vec::new();
    for (name, _) in CRATES {
        let manifest = read(&format!("{name}/Cargo.toml"));
        let default = manifest.lines().find(|line| line.starts_with("default ="));
        if default.is_some_and(|line| line.contains("test-hooks")) {
            findings.push(format!("{name}: test-hooks is a default feature"));
        }
        let sections = manifest.split("\n[");
        for section in sections.filter(|section| section.starts_with("dependencies]")) {
            if section.contains("test-hooks") {
                findings.push(format!("{name}: a dependency switches test-hooks on"));
            }
        }
    }
    let all = read("Cargo.toml");
    if !all.contains("default-members = [\"bankd\", \"bank-cli\", \"nami-scripts\"]") {
        findings.push("Cargo.toml: the tests must not be a default member".into());
    }
    none_of(&findings);
}

/// Libraries with the crates of the daemon that may use them; `bankd` is the program itself.
const LIBRARIES: [(&str, &[&str]); 5] = [
    ("axum", &["http", "web"]),
    ("clap", &[]),
    ("rustls", &["auditor", "cluster", "ledger"]),
    ("tokio-postgres", &["cluster"]),
    ("tracing-subscriber", &["ledger"]),
];

#[test]
fn libraries_stay_in_their_crates() {
    let mut findings = Vec::new();
    for (name, _) in DAEMON {
        let manifest = read(&format!("bankd/{name}/Cargo.toml"));
        let used = dependencies(&manifest, "dependencies");
        for (library, crates) in LIBRARIES {
            if used.iter().any(|one| one == library) && !crates.contains(name) {
                findings.push(format!("bankd-{name} must not use {library}"));
            }
        }
    }
    none_of(&findings);
}

#[test]
fn every_crate_obeys_the_lints_of_the_workspace() {
    let mut findings = Vec::new();
    for (name, _) in CRATES {
        let manifest = read(&format!("{name}/Cargo.toml"));
        if !has_lints(&manifest) {
            findings.push(format!("{name}: [lints] workspace = true is missing"));
        }
    }
    let (all, own) = (
        read("Cargo.toml"),
        read(&format!("bankd/{UNSAFE}/Cargo.toml")),
    );
    for lint in [
        "unsafe_code = \"forbid\"",
        "unreachable_pub = \"warn\"",
        "unused_qualifications = \"warn\"",
        "rust_2018_idioms = { level = \"warn\"",
        "all = { level = \"warn\"",
        "pedantic = { level = \"warn\"",
        "unwrap_used = \"deny\"",
        "expect_used = \"deny\"",
        "panic = \"deny\"",
        "indexing_slicing = \"deny\"",
        "dbg_macro = \"deny\"",
        "todo = \"deny\"",
    ] {
        if !all.contains(lint) {
            findings.push(format!("Cargo.toml: {lint} is missing"));
        }
        if !own.contains(lint) && !lint.contains("unsafe") {
            findings.push(format!("bankd/{UNSAFE}/Cargo.toml: {lint} is missing"));
        }
    }
    for path in [
        "bank-core/src/lib.rs",
        "bank-core/values/src/lib.rs",
        "bank-core/figures/src/lib.rs",
    ] {
        let core = read(path);
        for lint in [
            "arithmetic_side_effects",
            "float_arithmetic",
            "cast_possible_truncation",
            "cast_sign_loss",
            "missing_docs",
        ] {
            if !core.contains(lint) {
                findings.push(format!("{path}: {lint} is missing"));
            }
        }
    }
    let clippy = read("clippy.toml");
    for method in [
        "SystemTime::now",
        "Utc::now",
        "Local::now",
        "thread::sleep",
        "env::var",
    ] {
        if !clippy.contains(method) {
            findings.push(format!("clippy.toml: {method} is allowed"));
        }
    }
    none_of(&findings);
}

/// An exception to a lint gives its reason; a whole file or crate has none.
#[test]
fn exceptions_to_lints_have_reasons() {
    let mut findings = Vec::new();
    for source in rust() {
        for attribute in ["#[allow(", "#[expect(", "#![allow(", "#![expect("] {
            for (at, _) in source.code.match_indices(attribute) {
                let end = source.code[at..]
                    .find(']')
                    .map_or(source.code.len(), |e| at + e);
                let line = source.code[..at].matches('\n').count() + 1;
                let has_reason = source.code[at..end].contains("reason")
                    || source.text.lines().nth(line - 1).unwrap().contains("// ");
                if !has_reason {
                    findings.push(format!("{}:{line}: no reason", source.path));
                }
            }
        }
    }
    none_of(&findings);
}
