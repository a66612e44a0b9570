//! A program with the package, in a process of its own.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use super::{command, interpreter};

/// The program; killed when dropped.
pub(crate) struct Peer {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts it with the folder of its queue. `None` without a Python.
    pub(crate) fn start(address: &str, folder: &Path) -> Option<Self> {
        Self::with(address, folder, None)
    }

    /// The same with a signing key: its id, and the file with its secret.
    pub(crate) fn with(address: &str, folder: &Path, key: Option<(&str, &Path)>) -> Option<Self> {
        let settings =
            key.map(|(id, file)| [("BANK_KEY_ID", Path::new(id)), ("BANK_KEY_FILE", file)]);
        Self::under(address, folder, settings.iter().flatten().copied())
    }

    /// The same with an API token.
    pub(crate) fn with_token(address: &str, folder: &Path, token: &str) -> Option<Self> {
        Self::under(address, folder, [("BANK_TOKEN", Path::new(token))])
    }

    fn under<'s>(
        address: &str,
        folder: &Path,
        settings: impl IntoIterator<Item = (&'s str, &'s Path)>,
    ) -> Option<Self> {
        let mut child = command(&interpreter()?, address)
            .envs(settings)
            .arg(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/peers/client_python.py"
            ))
            .arg(folder)
            .arg("1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let from = BufReader::new(from);
        let mut peer = Self { child, to, from };
        assert_eq!(peer.answer(), "ready");
        Some(peer)
    }

    /// Gives it a command and waits for its answer.
    pub(crate) fn ask(&mut self, words: &str) -> String {
        self.order(words);
        self.answer()
    }

    /// Gives it a command.
    pub(crate) fn order(&mut self, words: &str) {
        writeln!(self.to, "{words}").unwrap();
    }

    /// Its next answer.
    pub(crate) fn answer(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    /// Ends it as `kill -9` does.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
