//! Running a program whose output may be huge, may never end, or may stop half way.
//!
//! Its output goes to a writer as it comes, in constant memory; the time it may take is bounded. A
//! program that is given up is killed; what it leaves behind may go on for a moment, and then finds
//! nobody who reads.

use std::io::{self, ErrorKind, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Bytes of standard error that are kept.
const OUTPUT_MAX: usize = 16 * 1024;
/// Bytes of the beginning of the output that are kept.
const HEAD_MAX: usize = 4096;
/// Between two looks whether the program has ended.
const LOOK: Duration = Duration::from_millis(5);

/// Why there is no whole output.
#[derive(Debug)]
pub(crate) enum Broken {
    /// It cannot be started.
    Start(io::Error),
    /// It took longer than it may.
    TooLong,
    /// The writer took no more: the output is larger than it may be, or there is no room.
    Unwritten(io::Error),
    /// It ended with an error: how, and what it said.
    Failed(String),
}

/// What a program that ended well left.
#[derive(Debug)]
pub(crate) struct Output<W> {
    /// The writer, with all of its output.
    pub(crate) writer: W,
    /// The first 4 KiB of it.
    pub(crate) head: Vec<u8>,
    /// What it said on standard error.
    pub(crate) complaint: String,
}

/// Runs a program to its end, its output into `writer`.
pub(crate) fn run<W: Write + Send + 'static>(
    command: &mut Command,
    mut writer: W,
    timeout: Duration,
) -> Result<Output<W>, Broken> {
    let deadline = Instant::now().checked_add(timeout);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(Broken::Start)?;
    let is_given_up = Arc::new(AtomicBool::new(false));
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    let (done, copied) = channel();
    let given_up = Arc::clone(&is_given_up);
    std::thread::spawn(move || {
        let mut head = Vec::new();
        let result = output.map_or(Ok(()), |output| {
            copy(output, &mut writer, &mut head, &given_up)
        });
        // Nobody listens any more where the program was given up.
        let _ = done.send(result.map(|()| (writer, head)));
    });
    let (say, complaint) = channel();
    std::thread::spawn(move || {
        let _ = say.send(errors.map(listen).unwrap_or_default());
    });
    let ended = wait(&mut child, &copied, deadline);
    if ended.is_err() {
        is_given_up.store(true, Ordering::Relaxed);
        // It may have ended by itself; then there is nothing to kill.
        let _ = child.kill();
        let _ = child.wait();
    }
    let (status, (writer, head)) = ended?;
    let complaint = complaint
        .recv_timeout(left(deadline).unwrap_or_default())
        .unwrap_or_default();
    if !status.success() {
        return Err(Broken::Failed(format!("{status}: {}", line(&complaint))));
    }
    Ok(Output {
        writer,
        head,
        complaint,
    })
}

/// The first line that says something.
pub(crate) fn line(complaint: &str) -> String {
    let line = complaint
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty());
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let line = line.unwrap_or("no output").chars().map(clean);
    line.take(300).collect()
}

type Copied<W> = io::Result<(W, Vec<u8>)>;

/// Waits for the end of the output, then of the program.
fn wait<W>(
    child: &mut Child,
    copied: &Receiver<Copied<W>>,
    deadline: Option<Instant>,
) -> Result<(std::process::ExitStatus, (W, Vec<u8>)), Broken> {
    let output = match copied.recv_timeout(left(deadline).ok_or(Broken::TooLong)?) {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(Broken::Unwritten(error)),
        Err(RecvTimeoutError::Timeout) => return Err(Broken::TooLong),
        Err(RecvTimeoutError::Disconnected) => {
            return Err(Broken::Failed("its output was lost".to_owned()));
        }
    };
    loop {
        if let Some(status) = child.try_wait().map_err(Broken::Start)? {
            return Ok((status, output));
        }
        let left = left(deadline).ok_or(Broken::TooLong)?;
        std::thread::park_timeout(LOOK.min(left));
    }
}

/// The time that is left; `None` if none is.
fn left(deadline: Option<Instant>) -> Option<Duration> {
    let left = deadline?.saturating_duration_since(Instant::now());
    (!left.is_zero()).then_some(left)
}

fn copy(
    mut from: impl Read,
    to: &mut impl Write,
    head: &mut Vec<u8>,
    is_given_up: &AtomicBool,
) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => return to.flush(),
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if is_given_up.load(Ordering::Relaxed) {
            return Err(io::Error::other("given up"));
        }
        let bytes = buffer.get(..read).unwrap_or_default();
        let room = HEAD_MAX.saturating_sub(head.len());
        head.extend_from_slice(bytes.get(..room.min(read)).unwrap_or_default());
        to.write_all(bytes)?;
    }
}

/// Reads all that is said, so that nobody waits to say it, and keeps its beginning.
fn listen(mut from: impl Read) -> String {
    let mut kept = Vec::new();
    let mut buffer = vec![0; 4096];
    while let Ok(read) = from.read(&mut buffer) {
        if read == 0 {
            break;
        }
        let room = OUTPUT_MAX.saturating_sub(kept.len());
        kept.extend_from_slice(buffer.get(..room.min(read)).unwrap_or_default());
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, timeout: Duration) -> Result<Output<Vec<u8>>, Broken> {
        run(
            Command::new("/bin/sh").args(["-c", script]),
            Vec::new(),
            timeout,
        )
    }

    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn output_and_words_are_kept_apart() {
        let output = shell("echo out; echo err >&2", LONG).unwrap();
        assert_eq!(output.writer, b"out\n");
        assert_eq!(output.head, b"out\n");
        assert_eq!(output.complaint, "err\n");
        let lots = shell(
            "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2",
            LONG,
        )
        .unwrap();
        assert_eq!((lots.writer.len(), lots.head.len()), (300_000, HEAD_MAX));
        assert_eq!(lots.complaint.len(), OUTPUT_MAX);
    }

    #[test]
    fn a_failed_program_gives_its_reason() {
        let failed = shell("echo half; echo 'no database' >&2; exit 3", LONG);
        let Err(Broken::Failed(why)) = failed else {
            panic!("{failed:?}");
        };
        assert_eq!(why, "exit status: 3: no database");
        let gone = run(&mut Command::new("/no/such/program"), Vec::new(), LONG);
        assert!(matches!(gone, Err(Broken::Start(_))), "{gone:?}");
    }

    #[test]
    fn what_does_not_end_is_given_up() {
        for script in ["while :; do :; done", "exec >&-; while :; do :; done"] {
            let since = Instant::now();
            let never = shell(script, Duration::from_millis(50));
            assert!(matches!(never, Err(Broken::TooLong)), "{never:?}");
            assert!(since.elapsed() < LONG);
        }
    }

    #[test]
    fn a_writer_that_takes_no_more_ends_it() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::Error::from(ErrorKind::FileTooLarge))
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut endless = Command::new("/bin/sh");
        endless.args(["-c", "while :; do echo x; done"]);
        let full = run(&mut endless, Full, LONG).map(|output| output.head);
        let Err(Broken::Unwritten(error)) = full else {
            panic!("{full:?}");
        };
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    }
}
