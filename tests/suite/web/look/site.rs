//! A daemon with the year of `bankd demo --web`, or with an empty bank, and people whom a proxy identifies.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::json;

use super::super::browser::HEADER;
use crate::harness::{Page, Ran, programs};

/// The people of the demo, those with the most rights first. Each answers for one of the six roles.
pub(super) const PEOPLE: [&str; 6] = ["grace", "mona", "otto", "ada", "hartmann", "amy"];

/// A daemon; it ends with this.
pub(super) struct Site {
    child: Child,
    address: String,
    _output: BufReader<ChildStdout>,
    folder: tempfile::TempDir,
}

impl Site {
    /// With the year of the demo.
    pub(super) fn demo() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("bank");
        let mut child = bankd(&["demo", "--web", "--data"], &data).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        wait_for(&mut output, "  admin ");
        stop(&mut child);
        Self::of(folder, &data, "\n[web.header]\n")
    }

    /// With nothing in it.
    pub(super) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("bank");
        let ran = Ran::of(&mut bankd(&["init", "--data"], &data), b"");
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        // The sample ends with the table `[web.header]`.
        Self::of(folder, &data, "")
    }

    fn of(folder: tempfile::TempDir, data: &Path, table: &str) -> Self {
        let settings = data.join("bankd.toml");
        let text = fs::read_to_string(&settings).unwrap();
        let header = format!("{text}{table}name = \"{HEADER}\"\nproxies = [\"127.0.0.1\"]\n");
        fs::write(settings, header).unwrap();
        let mut child = bankd(&["serve", "--data"], data)
            .env("BANKD_HTTP_LISTEN", "127.0.0.1:0")
            .env("BANKD_WEB_LISTEN", "127.0.0.1:0")
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let line = wait_for(&mut output, "listening web http://");
        let address = line.trim().split(' ').next_back().unwrap().to_owned();
        Self {
            child,
            address,
            _output: output,
            folder,
        }
    }

    /// Host and port of the pages.
    pub(super) fn host(&self) -> &str {
        self.address.trim_start_matches("http://")
    }

    /// Opens an address as a person.
    pub(super) fn open(&self, page: &mut Page<'_>, name: &str, target: &str) {
        page.fields(&json!({HEADER: name}));
        page.go(&format!("{}{target}", self.address));
    }

    /// Opens an address as whoever is signed in.
    pub(super) fn go(&self, page: &mut Page<'_>, target: &str) {
        page.go(&format!("{}{target}", self.address));
    }

    /// Opens an address as the founder of the bank, by a link for signing in.
    pub(super) fn open_as_founder(&self, page: &mut Page<'_>, target: &str) {
        let socket = self.data().join("bankd.sock");
        let mut login = Command::new(programs().bank());
        login
            .args(["web", "login"])
            .env("BANK_SERVER", format!("unix:{}", socket.display()));
        let ran = Ran::of(&mut login, b"");
        let link = ran.stdout.lines().next().unwrap_or_default();
        assert!(link.starts_with("http://"), "{}{}", ran.stdout, ran.stderr);
        page.fields(&json!({}));
        page.go(link);
        page.navigates(|page| page.click("main button"));
        page.go(&format!("{}{target}", self.address));
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("bank")
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn bankd(words: &[&str], data: &Path) -> Command {
    let mut command = Command::new(programs().bankd());
    command
        .args(words)
        .arg(data)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// The line with a text, once it is printed.
fn wait_for(output: &mut BufReader<ChildStdout>, text: &str) -> String {
    let mut printed = String::new();
    loop {
        let mut line = String::new();
        assert!(output.read_line(&mut line).unwrap() > 0, "{printed}");
        if line.contains(text) {
            return line;
        }
        printed += &line;
    }
}

fn stop(child: &mut Child) {
    let pid = child.id().to_string();
    let killed = Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    assert!(killed.success());
    assert!(child.wait().unwrap().success());
}
