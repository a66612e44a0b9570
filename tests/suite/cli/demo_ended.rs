//! `bankd demo` that a signal ends early leaves no process and no directory behind.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::harness::{programs, until};

/// A demo in a temporary folder, ended with this.
struct Demo(Child);

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Demo {
    /// Sends a signal, and waits for the end.
    fn end(&mut self, signal: &str) -> ExitStatus {
        let words = [format!("-{signal}"), self.0.id().to_string()];
        let sent = Command::new("kill").args(words).status().unwrap();
        assert!(sent.success());
        self.0.wait().unwrap()
    }
}

fn start(folder: &Path, words: &[&str]) -> Demo {
    // Under `nohup` the tests ignore the signal, and the demo would too.
    let child = Command::new("env")
        .arg("--default-signal=HUP")
        .arg(programs().bankd())
        .arg("demo")
        .args(words)
        .env("TMPDIR", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Demo(child.unwrap())
}

/// The only entry of a folder.
fn inside(folder: &Path) -> Option<std::path::PathBuf> {
    let entry = fs::read_dir(folder).unwrap().next()?;
    Some(entry.unwrap().path())
}

/// Processes that work in a folder.
fn processes_in(folder: &Path) -> Vec<String> {
    let all = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let inside = all.filter(|entry| {
        let cwd = fs::read_link(entry.path().join("cwd"));
        cwd.is_ok_and(|cwd| cwd.starts_with(folder))
    });
    inside
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn a_demo_that_a_signal_ends_leaves_nothing_behind() {
    for (name, code) in [("HUP", 129), ("TERM", 143), ("INT", 130)] {
        let folder = tempfile::tempdir().unwrap();
        let mut demo = start(folder.path(), &[]);
        until("its daemon serves", || {
            let dir = inside(folder.path())?;
            dir.join("bank-data/bankd.sock").exists().then_some(())
        });
        let status = demo.end(name);
        assert_eq!(status.code(), Some(code), "SIG{name}");
        assert_eq!(inside(folder.path()), None, "SIG{name}");
        assert!(processes_in(folder.path()).is_empty(), "SIG{name}");
    }
}

#[test]
fn a_demo_of_the_web_that_a_signal_ends_leaves_nothing_behind() {
    for (name, code) in [("HUP", 129), ("TERM", 143)] {
        let folder = tempfile::tempdir().unwrap();
        let mut demo = start(folder.path(), &["--web"]);
        until("it fills its bank", || {
            let dir = inside(folder.path())?;
            dir.join("bankd.toml").exists().then_some(())
        });
        let status = demo.end(name);
        assert_eq!(status.code(), Some(code), "SIG{name}");
        assert_eq!(inside(folder.path()), None, "SIG{name}");
    }
}
