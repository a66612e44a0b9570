//! Source of the document: standard input, the last argument, or the file that it names (`nami.md`
//! 2). It is not documented which one a scheduler uses, so all three work.
//!
//! Only the presence of a document is checked; the daemon interprets it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{IsTerminal as _, Read};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use crate::clock::Deadline;

/// Largest document, in bytes (`nami.md` 3.2).
pub(crate) const MAX_DOCUMENT: usize = 1024 * 1024;
/// How long standard input may take until its end.
const INPUT_TIME: Duration = Duration::from_secs(5);
/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;

/// Result of the search.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Document(Vec<u8>),
    /// No document, or an unusable one; `body` is the data so far, at most 1 MiB.
    Unusable {
        why: &'static str,
        body: Vec<u8>,
    },
}

/// Data from standard input.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Standard {
    /// At most one byte more than a document may have.
    pub(crate) bytes: Vec<u8>,
    /// Whether its end was reached, or the limit of size.
    pub(crate) ended: bool,
}

impl Input {
    /// Reads this process's standard input, then its last argument.
    pub(crate) fn read(argument: Option<&[u8]>) -> Self {
        Self::choose(read_standard(), argument, |path| {
            let file = File::open(path).ok()?;
            let plain = file.metadata().ok()?.is_file();
            plain.then(|| read_limited(file))
        })
    }

    /// The order of the channels. `read_file` gives the content of a readable file.
    fn choose(
        standard: Standard,
        argument: Option<&[u8]>,
        read_file: impl FnOnce(&Path) -> Option<Vec<u8>>,
    ) -> Self {
        if !is_blank(&standard.bytes) {
            if !standard.ended {
                let why = "standard input did not end within 5 s";
                return Self::Unusable {
                    why,
                    body: standard.bytes,
                };
            }
            return Self::sized(standard.bytes);
        }
        let Some(argument) = argument.filter(|argument| !is_blank(argument)) else {
            let why = "no document on standard input or as last argument";
            return Self::Unusable {
                why,
                body: standard.bytes,
            };
        };
        if argument.trim_ascii_start().starts_with(b"<") {
            return Self::sized(argument.to_vec());
        }
        let path = Path::new(OsStr::from_bytes(argument));
        match read_file(path) {
            Some(bytes) => Self::sized(bytes),
            None => Self::Unusable {
                why: "the last argument is neither a document nor a readable file",
                body: Vec::new(),
            },
        }
    }

    fn sized(mut bytes: Vec<u8>) -> Self {
        if bytes.len() <= MAX_DOCUMENT {
            return Self::Document(bytes);
        }
        bytes.truncate(MAX_DOCUMENT);
        Self::Unusable {
            why: "larger than 1 MiB",
            body: bytes,
        }
    }
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.trim_ascii().is_empty()
}

/// Standard input to its end, unless it is a terminal. A second thread reads a pipe, because only a
/// thread can be abandoned if the pipe is never closed.
fn read_standard() -> Standard {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Standard {
            bytes: Vec::new(),
            ended: true,
        };
    }
    let Ok(file) = stdin.as_fd().try_clone_to_owned().map(File::from) else {
        return Standard {
            bytes: Vec::new(),
            ended: true,
        };
    };
    let waits = file.metadata().is_ok_and(|meta| {
        let kind = meta.file_type();
        kind.is_fifo() || kind.is_socket()
    });
    if !waits {
        return Standard {
            bytes: read_limited(file),
            ended: true,
        };
    }
    let (chunks, arrived) = sync_channel(2);
    let reader = std::thread::Builder::new()
        .stack_size(CHUNK)
        .spawn(move || forward(file, &chunks));
    if reader.is_err() {
        return Standard::default();
    }
    gather(&arrived, Deadline::after(INPUT_TIME))
}

/// All data up to one byte above the limit; a read error counts as the end.
fn read_limited(file: File) -> Vec<u8> {
    // Room for an ordinary document, so that one read takes it whole.
    let mut bytes = Vec::with_capacity(8 * 1024);
    let limit = u64::try_from(MAX_DOCUMENT + 1).unwrap_or(u64::MAX);
    // After a read error the data so far remains; the daemon will find it incomplete.
    let _ = file.take(limit).read_to_end(&mut bytes);
    bytes
}

/// Sends the data, piece by piece, until the end or the limit.
fn forward(mut from: impl Read, chunks: &SyncSender<Vec<u8>>) {
    let mut room = MAX_DOCUMENT + 1;
    while room > 0 {
        let mut chunk = vec![0; room.min(CHUNK / 8)];
        match from.read(&mut chunk) {
            Ok(0) => return,
            Ok(count) => {
                chunk.truncate(count);
                room -= count;
                if chunks.send(chunk).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Collects the pieces until the sender is gone or the time is over.
fn gather(arrived: &std::sync::mpsc::Receiver<Vec<u8>>, deadline: Deadline) -> Standard {
    let mut standard = Standard::default();
    loop {
        match arrived.recv_timeout(deadline.remaining().unwrap_or_default()) {
            Ok(chunk) => standard.bytes.extend_from_slice(&chunk),
            Err(RecvTimeoutError::Disconnected) => {
                standard.ended = true;
                return standard;
            }
            Err(RecvTimeoutError::Timeout) => return standard,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(bytes: &[u8], ended: bool, argument: Option<&[u8]>) -> Input {
        Input::choose(
            Standard {
                bytes: bytes.to_vec(),
                ended,
            },
            argument,
            |path| (path == Path::new("/doc.xml")).then(|| b"<File/>".to_vec()),
        )
    }

    #[test]
    fn the_three_channels() {
        let document = |text: &str| Input::Document(text.as_bytes().to_vec());
        for (bytes, ended, argument, expected) in [
            ("<Job/>", true, None, document("<Job/>")),
            ("<Job/>", true, Some("<Arg/>"), document("<Job/>")),
            ("", true, Some(" <Arg/>"), document(" <Arg/>")),
            (" \n", true, Some("<Arg/>"), document("<Arg/>")),
            ("", false, Some("<Arg/>"), document("<Arg/>")),
            ("", true, Some("/doc.xml"), document("<File/>")),
        ] {
            let found = choose(bytes.as_bytes(), ended, argument.map(str::as_bytes));
            assert_eq!(found, expected, "{bytes:?} {argument:?}");
        }
        for (bytes, ended, argument) in [
            ("", true, None),
            ("", true, Some("")),
            ("", true, Some("/nosuch")),
            ("<Job>", false, None),
        ] {
            let found = choose(bytes.as_bytes(), ended, argument.map(str::as_bytes));
            assert!(
                matches!(found, Input::Unusable { .. }),
                "{bytes:?} {argument:?}"
            );
        }
    }

    #[test]
    fn one_byte_above_the_limit_is_cut() {
        assert!(matches!(
            choose(&vec![b'x'; MAX_DOCUMENT], true, None),
            Input::Document(_)
        ));
        let Input::Unusable { why, body } = choose(&vec![b'x'; MAX_DOCUMENT + 1], true, None)
        else {
            panic!("accepted");
        };
        assert_eq!((why, body.len()), ("larger than 1 MiB", MAX_DOCUMENT));
    }

    #[test]
    fn a_pipe_is_read_to_its_end_or_to_the_limit() {
        let pass = |bytes: &[u8]| {
            let (chunks, arrived) = sync_channel(64);
            let source = std::io::Cursor::new(bytes.to_vec());
            let reader = std::thread::spawn(move || forward(source, &chunks));
            let standard = gather(&arrived, Deadline::after(Duration::from_mins(1)));
            reader.join().unwrap();
            standard
        };
        assert_eq!(
            pass(b"<Job/>"),
            Standard {
                bytes: b"<Job/>".to_vec(),
                ended: true
            }
        );
        assert_eq!(
            pass(&vec![b'x'; 3 * MAX_DOCUMENT]).bytes.len(),
            MAX_DOCUMENT + 1
        );
    }

    #[test]
    fn a_pipe_that_nobody_closes_is_given_up() {
        let (chunks, arrived) = sync_channel(1);
        chunks.send(b"<Job>".to_vec()).unwrap();
        let standard = gather(&arrived, Deadline::after(Duration::ZERO));
        assert_eq!(
            standard,
            Standard {
                bytes: b"<Job>".to_vec(),
                ended: false
            }
        );
    }
}
