//! The pages that connect a scheduler, followed step by step: every shell block and every file
//! between `<!-- steps -->` and `<!-- /steps -->`, word by word, with the folder of the test in
//! front of the paths.
//!
//! What a test does in place of a page: it does not build, and it starts what ends with `&` as its
//! own child and waits until that is ready.

mod import;
mod maui;
mod migrate;
mod moab;
mod requests;

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::harness::{Ran, programs, workspace};

/// The folders that the pages name; a path that begins with one of them is inside of the test's.
const FOLDERS: [&str; 6] = [
    "/var/lib/bankd",
    "/var/spool/bank",
    "/usr/libexec/bank",
    "/etc/bank",
    "/opt/moab",
    "/opt/maui",
];

/// A step of a page.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// Commands for a shell.
    Shell(String),
    /// A file, whole: its path stands in its first line.
    File(PathBuf, String),
}

/// A site that a page makes, in a folder of its own.
struct Site {
    folder: TempDir,
    daemon: Option<Child>,
    /// What the daemon said when it started.
    listens: Vec<String>,
    /// What all commands printed.
    printed: String,
}

impl Site {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("how-").tempdir().unwrap();
        let root = folder.path();
        for path in [
            "var/lib",
            "var/spool",
            "usr/libexec",
            "etc/bank",
            "opt/moab/etc",
            "opt/maui",
        ] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        let dist = root.join("target/dist");
        std::fs::create_dir_all(&dist).unwrap();
        for program in [programs().bankd(), programs().bank(), programs().scripts()] {
            symlink(&program, dist.join(program.file_name().unwrap())).unwrap();
        }
        Self {
            folder,
            daemon: None,
            listens: Vec::new(),
            printed: String::new(),
        }
    }

    /// A path of the page in this site.
    fn path(&self, path: &str) -> PathBuf {
        Path::new(&self.here(path)).to_owned()
    }

    /// A text of the page with this site's paths, and any free port.
    fn here(&self, text: &str) -> String {
        let root = self.folder.path().display();
        let mut text = text.replace("\"127.0.0.1:7112\"", "\"127.0.0.1:0\"");
        for folder in FOLDERS {
            text = text.replace(folder, &format!("{root}{folder}"));
        }
        text
    }

    /// Follows a page to its end.
    fn follow(&mut self, page: &str) {
        let text = std::fs::read_to_string(workspace().join("docs/how-to").join(page)).unwrap();
        let steps = steps(&text);
        assert!(steps.len() > 3, "{page} has no steps");
        for step in steps {
            match step {
                Step::File(path, text) => {
                    std::fs::write(self.path(path.to_str().unwrap()), self.here(&text)).unwrap();
                }
                Step::Shell(script) => self.run_all(&script),
            }
        }
    }

    /// Runs a block; what it starts in the background stays.
    fn run_all(&mut self, script: &str) {
        let mut rest = String::new();
        for line in script.lines().filter(|line| !line.starts_with("cargo ")) {
            if let Some(command) = line.strip_suffix(" &") {
                self.run(&std::mem::take(&mut rest));
                self.start(command);
            } else {
                rest.push_str(line);
                rest.push('\n');
            }
        }
        self.run(&rest);
    }

    fn shell(&self, script: &str) -> Command {
        let dist = self.folder.path().join("target/dist");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let socket = self.path("/var/lib/bankd/bankd.sock");
        let mut shell = Command::new("bash");
        shell
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", format!("{}:{}", dist.display(), path.display()))
            .env("HOME", self.folder.path())
            .env("TZ", "UTC")
            .env("BANK_SERVER", format!("unix:{}", socket.display()))
            .env("BANKD_HTTP_LISTEN", "127.0.0.1:0")
            .args(["-c", &format!("set -euo pipefail\n{}", self.here(script))]);
        shell
    }

    /// Runs commands, which must all succeed.
    #[track_caller]
    fn run(&mut self, script: &str) -> String {
        let ran = Ran::of(&mut self.shell(script), b"");
        assert_eq!(ran.exit, 0, "{script}\n{}\n{}", ran.stdout, ran.stderr);
        self.printed.push_str(&ran.stdout);
        ran.stdout
    }

    /// Starts the daemon and waits until it has said where it listens.
    fn start(&mut self, command: &str) {
        assert!(self.daemon.is_none(), "a second daemon: {command}");
        let mut shell = self.shell(&format!("exec {command}"));
        let mut child = shell
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        self.daemon = Some(child);
        let settings = self.path("/var/lib/bankd/bankd.toml");
        let settings = std::fs::read_to_string(settings).unwrap();
        let has_gateway = settings.contains("[gold]\nlisten = \"127");
        let last = if has_gateway {
            "listening gold:"
        } else {
            "listening unix:"
        };
        for line in lines.map(Result::unwrap) {
            let is_last = line.starts_with(last);
            self.listens.push(line);
            if is_last {
                return;
            }
        }
        panic!("the daemon ended: {command}");
    }

    /// Ends the daemon in good order and verifies the ledger.
    fn verify(&mut self) {
        let mut daemon = self.daemon.take().unwrap();
        let pid = daemon.id();
        self.run(&format!("kill {pid}"));
        assert!(daemon.wait().unwrap().success());
        let output = self.run("bankd verify --data /var/lib/bankd");
        assert!(output.starts_with("ok: "), "{output}");
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(daemon) = &mut self.daemon {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// The blocks of a page's steps.
fn steps(page: &str) -> Vec<Step> {
    let (_, rest) = page
        .split_once("<!-- steps -->")
        .expect("the page marks its steps");
    let (part, _) = rest
        .split_once("<!-- /steps -->")
        .expect("the steps have an end");
    let mut steps = Vec::new();
    let mut rest = part;
    while let Some((_, block)) = rest.split_once("```") {
        let (language, block) = block.split_once('\n').unwrap();
        let (text, after) = block.split_once("```").expect("a block has an end");
        rest = after;
        if language == "sh" {
            steps.push(Step::Shell(text.to_owned()));
        } else {
            let path = text.lines().next().and_then(|line| line.strip_prefix("# "));
            let path = path.unwrap_or_else(|| panic!("a file without its path: {text}"));
            steps.push(Step::File(path.into(), text.to_owned()));
        }
    }
    steps
}

#[test]
fn steps_are_the_blocks_between_the_marks() {
    let page = "```sh\nno\n```\n<!-- steps -->\nx\n```sh\na\n```\n```ini\n# /etc/x\nk=v\n```\n\
                <!-- /steps -->\n```sh\nno\n```\n";
    let expected = [
        Step::Shell("a\n".to_owned()),
        Step::File("/etc/x".into(), "# /etc/x\nk=v\n".to_owned()),
    ];
    assert_eq!(steps(page), expected);
}
