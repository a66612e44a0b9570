//! Every page in headless Chromium: it says nothing, asks nobody, and is read on a telephone, on a
//! wide screen, by night and on paper.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{month, typed};
use crate::harness::{Ran, python, skip, tool, workspace};

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
        assert!(
            view["drawings"].as_i64().unwrap() > 0,
            "no picture is seen: {view}"
        );
    }
    if view["view"].as_str().unwrap().starts_with("paper") {
        assert!(view["paper"].as_i64().unwrap() > 1000, "{view}");
    }
}

/// The golden pages: every kind of chart, nasty names, two periods, nothing at all.
#[test]
fn golden_pages_are_read_everywhere() {
    let folder = workspace().join("bank-cli/src/picture/tests/golden");
    let golden = std::fs::read_dir(&folder).unwrap();
    let mut files: Vec<PathBuf> = golden.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "html" || e == "svg"));
    files.sort();
    assert!(files.len() >= 4, "{files:?}");
    for view in looked_at(&files).unwrap_or_default() {
        good(&view);
    }
}

/// The pages that the daemon's figures make.
#[test]
fn pages_of_a_bank_are_read_everywhere() {
    let mut bank = month();
    let folder = bank.folder().join("pages");
    std::fs::create_dir(&folder).unwrap();
    let write = |name: &str, words: &[&str]| {
        let path = folder.join(name);
        std::fs::write(&path, typed(&bank, words)).unwrap();
        path
    };
    let files = [
        write(
            "statement.html",
            &["statement", "chem", "--month", "2026-01", "-O", "html"],
        ),
        write(
            "user.html",
            &["statement", "-u", "amy", "--month", "2026-01", "-O", "html"],
        ),
        write("forecast.html", &["report", "forecast", "-O", "html"]),
        write("expiring.html", &["report", "expiring", "-O", "html"]),
        write(
            "forecast.svg",
            &["report", "forecast", "-A", "chem", "-O", "svg"],
        ),
    ];
    for view in looked_at(&files).unwrap_or_default() {
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
        let asked = view["requests"].to_string();
        assert!(
            asked.contains(Path::new("missing.png").to_str().unwrap()),
            "{view}"
        );
        assert!(view["over"].as_i64().unwrap() > 0, "{view}");
        assert!(view["contrast"].as_f64().unwrap() < CONTRAST, "{view}");
    }
}
