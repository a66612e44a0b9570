//! Every page in headless Chromium: it says nothing, asks nobody, and is read on a telephone, on a
//! wide screen, by night and on paper.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{billed, month, typed};
use crate::harness::{Bank, Ran, python, skip, tool, until, workspace};
use crate::reports::sampled::{deployment, look};

/// Letters smaller than this, in pixels, nobody reads.
const SMALLEST: f64 = 9.0;
/// The contrast of text that WCAG 2.1 asks for (AA).
const CONTRAST: f64 = 4.5;

/// What the browser found, view by view; none where there is no browser.
fn looked_at(files: &[PathBuf]) -> Option<Vec<Value>> {
    if !tool("chromium") {
        skip("chromium", "no chromium to open pages with");
        return None;
    }
    let Some(python) = python("json") else {
        skip("python3", "no Python to drive chromium with");
        return None;
    };
    let mut command = Command::new(python);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/peers/browser.py"));
    command.arg("chromium");
    if let Some(folder) = std::env::var_os("BANK_SHOTS").filter(|folder| !folder.is_empty()) {
        std::fs::create_dir_all(&folder).unwrap();
        command.arg("--shots").arg(folder);
    }
    let ran = Ran::of(command.args(files), b"");
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    let lines = ran.stdout.lines();
    let views: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(views.len(), files.len() * 4, "{}", ran.stdout);
    Some(views)
}

#[track_caller]
fn good(view: &Value) {
    assert_eq!(view["console"], Value::Array(Vec::new()), "{view}");
    assert_eq!(view["requests"], Value::Array(Vec::new()), "{view}");
    assert!(
        view["over"].as_i64().unwrap() <= 0,
        "wider than its window: {view}"
    );
    assert_eq!(view["outside"], Value::Array(Vec::new()), "{view}");
    assert_eq!(view["touching"], Value::Array(Vec::new()), "{view}");
    assert_eq!(view["named"], true, "{view}");
    let file = Path::new(view["file"].as_str().unwrap());
    let is_page = file.extension().is_some_and(|kind| kind == "html");
    if is_page {
        assert!(view["smallest"].as_f64().unwrap() >= SMALLEST, "{view}");
        assert!(view["contrast"].as_f64().unwrap() >= CONTRAST, "{view}");
        let text = std::fs::read_to_string(file).unwrap();
        let words = [
            "class=\"absent\"",
            "No capacity is declared for this period",
        ];
        let empty = words.iter().any(|words| text.contains(words));
        // Where there is nothing to draw, the page says so.
        assert!(
            empty || view["drawings"].as_i64().unwrap() > 0,
            "no picture is seen: {view}"
        );
    }
    // Two sections stand beside each other where there is room.
    let beside = match view["view"].as_str().unwrap() {
        "320" => Some(&Value::from(0)),
        "1440" | "1440-dark" => Some(&view["pairs"]),
        _ => None,
    };
    assert!(
        beside.is_none_or(|pairs| view["abreast"] == *pairs),
        "{view}"
    );
    if view["view"].as_str().unwrap().starts_with("paper") {
        assert!(view["paper"].as_i64().unwrap() > 1000, "{view}");
    } else {
        assert_eq!(view["broken"], Value::Array(Vec::new()), "{view}");
    }
}

/// The golden pages: every kind of chart, nasty names, two periods, nothing at all.
#[test]
fn golden_pages_are_read_everywhere() {
    let folder = workspace().join("bank-api/picture/src/tests/golden");
    let golden = std::fs::read_dir(&folder).unwrap();
    let mut files: Vec<PathBuf> = golden.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "html" || e == "svg"));
    files.sort();
    assert!(files.len() >= 4, "{files:?}");
    for view in looked_at(&files).unwrap_or_default() {
        good(&view);
    }
}

/// Everything that makes a page, or a picture by itself: the file, and the words.
const PAGES: [(&str, &str); 22] = [
    ("statement.html", "statement chem --month 2026-01 -O html"),
    (
        "summary.html",
        "statement chem --month 2026-01 --summary -O html",
    ),
    ("user.html", "statement -u amy --month 2026-01 -O html"),
    ("usage.html", "usage --month 2026-01 -O html"),
    (
        "usage-days.html",
        "usage --by project,day --month 2026-01 -O html",
    ),
    (
        "usage-hours.html",
        "usage --by user --resource cpu,gpu,memory --month 2026-01 -O html",
    ),
    (
        "sampled.html",
        "usage --sampled --by project,day --from 2026-01-01 --to 2026-01-08 -O html",
    ),
    ("monthly.html", "report monthly 2026-01 -O html"),
    (
        "top.html",
        "report top --from 2026-01-01 --to 2026-02-01 -O html",
    ),
    (
        "contribution.html",
        "report contribution --from 2026-01-01 --to 2026-02-01 -O html",
    ),
    (
        "beside.html",
        "report contribution --from 2026-01-16 --to 2026-02-01 --from2 2026-01-01 --to2 2026-02-01 -O html",
    ),
    (
        "utilization.html",
        "report utilization --from 2026-01-01 --to 2026-02-01 -O html",
    ),
    (
        "balance-sheet.html",
        "report balance-sheet --month 2026-01 -O html",
    ),
    (
        "efficiency.html",
        "report efficiency --from 2026-01-01 --to 2026-02-01 --watts 9.5 --co2 380 -O html",
    ),
    ("fallback.html", "report fallback -O html"),
    ("forecast.html", "report forecast -O html"),
    ("expiring.html", "report expiring -O html"),
    ("negative.html", "report negative -O html"),
    (
        "monitor.html",
        "monitor --since 2026-01-01 --until 2026-02-01 -O html",
    ),
    ("forecast.svg", "report forecast -A chem -O svg"),
    ("usage.svg", "usage --by user --month 2026-01 -O svg"),
    (
        "monitor.svg",
        "monitor --since 2026-01-01 --until 2026-02-01 -O svg",
    ),
];

/// Whoever can make a page stands in the table: the words of the command line before `-O`.
#[test]
fn whatever_makes_a_page_is_looked_at() {
    let folder = workspace().join("bank-cli/src/cmd");
    let mut makers = 0;
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            makers += text.matches("context.pictured(").count();
            makers += text.matches("Format::Html => itemised(").count();
        }
    }
    let whole = PAGES.iter().filter(|(_, words)| words.ends_with("-O html"));
    let mut words: Vec<String> = whole
        .map(|(_, words)| {
            let mut words = words.split(' ');
            match words.next() {
                Some("report") => format!("report {}", words.next().unwrap()),
                Some("usage") if words.next() == Some("--sampled") => "usage --sampled".to_owned(),
                first => first.unwrap().to_owned(),
            }
        })
        .collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), makers, "{words:?}");
}

/// A month with what more pages need: hardware, one who contributed, who strict would have refused, and a
/// snapshot.
fn richer() -> Bank {
    let bank = month();
    for line in [
        "hardware add xeon --processors 16 --nodes 12 -m ia64 --from 2025-06-01",
        "contributor add smith -A chem",
        "contributor add jones -A astro",
        "contribution add smith 64 --from 2025-06-01",
        "machine set ia64 --mode track",
        "machine add cloud",
        "machine set cloud --mode track",
    ] {
        typed(&bank, &line.split_whitespace().collect::<Vec<_>>());
    }
    billed(&bank, "poorer", ("astro", "bob"), 4_000);
    let seen = [("one", "running"), ("two", "queued")];
    let seen = seen.map(|(job, status)| deployment(job, "bob", status));
    look(&bank, "nomad", 7, &serde_json::json!({"astro": seen}));
    bank
}

/// The pages that the daemon's figures make, and one that it made by itself.
#[test]
fn pages_of_a_bank_are_read_everywhere() {
    let mut bank = richer();
    let folder = bank.folder().join("pages");
    std::fs::create_dir(&folder).unwrap();
    let mut files: Vec<PathBuf> = Vec::new();
    for (name, words) in PAGES {
        let words: Vec<&str> = words.split(' ').collect();
        let path = folder.join(name);
        std::fs::write(&path, typed(&bank, &words)).unwrap();
        files.push(path);
    }
    bank.stop();
    bank.settings(&format!(
        "\n[[deliver]]\nname = \"pages\"\nby = \"folder\"\nfolder = \"{}\"\n\
         [[scheduled_report]]\nname = \"made\"\nreport = \"monthly\"\nevery = \"daily\"\n\
         tz = \"Asia/Kolkata\"\ndeliver = [\"pages\"]\n",
        folder.display()
    ));
    bank.start();
    typed(&bank, &["report", "run", "made", "--period", "2026-01-20"]);
    let made = folder.join("made-2026-01-20.html");
    until("a page that was made", || made.is_file().then_some(()));
    files.push(made);
    for view in looked_at(&files).unwrap_or_default() {
        good(&view);
    }
    bank.verify();
}

/// Where no hardware is known, the page says so, and draws no empty frame.
#[test]
fn a_page_without_hardware_has_a_note() {
    let mut bank = month();
    let words = "report utilization --from 2026-01-01 --to 2026-02-01 -O html";
    let page = typed(&bank, &words.split(' ').collect::<Vec<_>>());
    assert!(
        page.contains("No capacity is declared for this period"),
        "{page}"
    );
    let path = bank.folder().join("none.html");
    std::fs::write(&path, page).unwrap();
    for view in looked_at(&[path]).unwrap_or_default() {
        good(&view);
    }
    bank.verify();
}

/// The browser would say it: a page with a script, a picture from elsewhere, and too wide.
#[test]
fn the_browser_complains_of_a_bad_page() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("bad.html");
    let text = "<!DOCTYPE html><meta http-equiv=\"Content-Security-Policy\" content=\"script-src 'none'\">\
        <style>body{background:#fff}</style><p style=\"width:3000px;color:#ccc\">x</p>\
        <script>1</script><img src=\"missing.png\">";
    std::fs::write(&page, text).unwrap();
    let Some(views) = looked_at(&[page]) else {
        return;
    };
    for view in views {
        assert!(!view["console"].as_array().unwrap().is_empty(), "{view}");
        let requests = view["requests"].to_string();
        assert!(
            requests.contains(Path::new("missing.png").to_str().unwrap()),
            "{view}"
        );
        assert!(view["over"].as_i64().unwrap() > 0, "{view}");
        assert!(view["contrast"].as_f64().unwrap() < CONTRAST, "{view}");
    }
}
