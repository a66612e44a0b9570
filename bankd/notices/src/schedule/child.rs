//! The program `bank`, run without a shell: bounded in its time and its text, and stopped with the daemon.

use std::io::Read;
use std::path::Path;
use std::process::{self, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use bankd_ledger::clock::Stopwatch;

/// Between two looks whether it is over, or the daemon stops.
const LOOK: Duration = Duration::from_millis(50);
/// Bytes of its complaints that are kept.
const COMPLAINT_MAX: usize = 4096;

/// A program to run.
pub(super) struct Child<'a> {
    pub(super) program: &'a Path,
    pub(super) words: &'a [String],
    /// The zone in which it shows times.
    pub(super) zone: &'a str,
    pub(super) limit: Duration,
    /// Bytes of its text.
    pub(super) most: usize,
}

/// Why there is no text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The daemon stops.
    Stopped,
    /// It could not begin, complained, or took too much of something.
    Failed(String),
}

impl Child<'_> {
    /// Runs the program to its end, and returns its output.
    pub(super) fn run(&self, stop: &AtomicBool) -> Result<Vec<u8>, Trouble> {
        let program = self.program.display();
        let cannot = |error: std::io::Error| Trouble::Failed(format!("{program}: {error}"));
        let mut child = Command::new(self.program)
            .args(self.words)
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", self.zone)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(cannot)?;
        let text = read(child.stdout.take(), self.most.saturating_add(1));
        let complaint = read(child.stderr.take(), COMPLAINT_MAX);
        let ended = self.wait(&mut child, stop, &text);
        if ended.is_err() {
            let _ = child.kill();
            let _ = child.wait();
        }
        let (status, text) = ended?;
        if text.len() > self.most {
            let mib = self.most >> 20;
            return Err(Trouble::Failed(format!(
                "its output is longer than {mib} MiB"
            )));
        }
        if !status.success() {
            let complaint_text = complaint.recv_timeout(LOOK).unwrap_or_default();
            let complaint_text = String::from_utf8_lossy(&complaint_text).into_owned();
            let first = complaint_text.lines().find(|line| !line.trim().is_empty());
            let first = first.unwrap_or("it printed no error");
            let first = first.strip_prefix("bank: ").unwrap_or(first);
            return Err(Trouble::Failed(format!("{first} ({status})")));
        }
        Ok(text)
    }

    /// Waits until it has ended and its text is there.
    fn wait(
        &self,
        child: &mut process::Child,
        stop: &AtomicBool,
        text: &Receiver<Vec<u8>>,
    ) -> Result<(process::ExitStatus, Vec<u8>), Trouble> {
        let since = Stopwatch::start();
        let mut whole = None;
        loop {
            if stop.load(Ordering::Acquire) {
                return Err(Trouble::Stopped);
            }
            match text.recv_timeout(LOOK) {
                Ok(text) => whole = Some(text),
                Err(RecvTimeoutError::Timeout) => {}
                // It has its text, and does not end.
                Err(RecvTimeoutError::Disconnected) => std::thread::park_timeout(LOOK),
            }
            let ended = child.try_wait();
            let ended = ended.map_err(|error| Trouble::Failed(error.to_string()))?;
            if let (Some(status), Some(text)) = (ended, &mut whole) {
                return Ok((status, std::mem::take(text)));
            }
            if since.elapsed() >= self.limit {
                let seconds = self.limit.as_secs();
                return Err(Trouble::Failed(format!(
                    "it took longer than {seconds} s and was stopped"
                )));
            }
        }
    }
}

/// Reads up to a limit and discards the rest, in a thread of its own.
fn read(from: Option<impl Read + Send + 'static>, most: usize) -> Receiver<Vec<u8>> {
    let (give, take) = channel();
    let Some(mut from) = from else {
        return take;
    };
    let work = move || {
        let mut text = Vec::new();
        let bound = u64::try_from(most).unwrap_or(u64::MAX);
        // Unreadable output counts as missing: the exit status is more useful.
        let _ = from.by_ref().take(bound).read_to_end(&mut text);
        let _ = std::io::copy(&mut from, &mut std::io::sink());
        let _ = give.send(text);
    };
    // Without a thread no output arrives, and the time limit ends the wait.
    let _ = std::thread::Builder::new()
        .name("report text".to_owned())
        .spawn(work);
    take
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration, most: usize, stop: bool) -> Result<Vec<u8>, Trouble> {
        let words = ["-c".to_owned(), script.to_owned()];
        let child = Child {
            program: Path::new("/bin/sh"),
            words: &words,
            zone: "Asia/Tokyo",
            limit,
            most,
        };
        child.run(&AtomicBool::new(stop))
    }

    #[test]
    fn its_text_is_its_output_and_its_failure_is_its_complaint() {
        let long = Duration::from_mins(1);
        let run = |script: &str| shell(script, long, 1 << 20, false);
        assert_eq!(
            run("echo $TZ $HOME; echo x >&2"),
            Ok(b"Asia/Tokyo\n".to_vec())
        );
        let failed = |script: &str| match run(script) {
            Err(Trouble::Failed(why)) => why,
            other => panic!("{other:?}"),
        };
        let complaint_text = failed("echo 'bank: no project \"x\"' >&2; echo hint >&2; exit 4");
        assert_eq!(complaint_text, "no project \"x\" (exit status: 4)");
        assert_eq!(failed("exit 1"), "it printed no error (exit status: 1)");
        // Error output larger than a pipe buffer does not block the program.
        let many = failed("yes bank: no | head -c 300000 >&2; exit 2");
        assert_eq!(many, "no (exit status: 2)");
    }

    #[test]
    fn too_much_of_anything_is_a_failure() {
        let long = Duration::from_mins(1);
        let large = shell("head -c 2097153 /dev/zero", long, 1 << 21, false);
        assert_eq!(
            large,
            Err(Trouble::Failed(
                "its output is longer than 2 MiB".to_owned()
            ))
        );
        let fits = shell("head -c 2097152 /dev/zero", long, 1 << 21, false).unwrap();
        assert_eq!(fits.len(), 1 << 21);
        let slow = shell("exec sleep 600", Duration::from_secs(1), 1, false);
        let why = "it took longer than 1 s and was stopped".to_owned();
        assert_eq!(slow, Err(Trouble::Failed(why)));
        // One program closes its output and keeps running; in the other case the daemon stops.
        let quiet = shell("exec >&-; exec sleep 600", Duration::from_secs(1), 1, false);
        assert!(quiet.is_err(), "{quiet:?}");
        assert_eq!(
            shell("exec sleep 600", long, 1, true),
            Err(Trouble::Stopped)
        );
    }
}
