//! Pieces on their way from requests to the reader: a bounded channel on one side, files to read from
//! on the other.
//!
//! A file ends where the next one begins. A disconnected sender is an error, never the end of a
//! file: a partial line must not count as a whole one.

use std::cell::RefCell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bankd_ingest::open;
use hyper::body::Bytes;
use tokio::sync::mpsc::Receiver;

/// Pieces that wait between a request and the reader; each has at most `http.body_limit` bytes.
pub(super) const WAITING: usize = 4;

/// Bytes read at once.
const BUFFER: usize = 256 << 10;

/// A message to a reader.
#[derive(Debug)]
pub(super) enum Piece {
    /// A file begins; the one before it is over.
    Begin(String),
    /// Bytes of it.
    Bytes(Bytes),
    /// The last file is over.
    End,
}

/// The next item.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// This file.
    File(String),
    /// Nothing more.
    End,
}

/// The reader's end of the channel.
#[derive(Debug)]
pub(super) struct Inbox {
    pieces: Receiver<Piece>,
    /// The rest of the current piece.
    bytes: Bytes,
    /// The beginning of the next file, or the end, that ended the file at hand.
    next: Option<Next>,
    given_up: GivenUp,
}

/// Whether an import is given up. Its reader looks between any two blocks: a few compressed bytes can be a
/// long file.
#[derive(Clone, Debug, Default)]
pub(super) struct GivenUp(Arc<AtomicBool>);

impl GivenUp {
    /// The reader stops.
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// # Errors
    /// `ConnectionAborted`, if it is.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::Relaxed) {
            return Err(gone());
        }
        Ok(())
    }
}

/// An inbox that the file being read shares with whoever asks for the next one.
pub(super) type Shared = Rc<RefCell<Inbox>>;

impl Inbox {
    pub(super) fn new(pieces: Receiver<Piece>, given_up: GivenUp) -> Shared {
        Rc::new(RefCell::new(Self {
            pieces,
            bytes: Bytes::new(),
            next: None,
            given_up,
        }))
    }

    /// Waits for the next file, and skips the unread rest of the previous one.
    ///
    /// # Errors
    /// `ConnectionAborted`, if the sender has gone away.
    pub(super) fn next_file(&mut self) -> io::Result<Next> {
        while self.fill()? {
            self.bytes.clear();
        }
        self.next.take().ok_or_else(gone)
    }

    /// Makes sure that there are bytes of the file at hand; false at its end.
    fn fill(&mut self) -> io::Result<bool> {
        self.given_up.check()?;
        while self.bytes.is_empty() && self.next.is_none() {
            match self.pieces.blocking_recv() {
                Some(Piece::Bytes(bytes)) => self.bytes = bytes,
                Some(Piece::Begin(name)) => self.next = Some(Next::File(name)),
                Some(Piece::End) => self.next = Some(Next::End),
                None => return Err(gone()),
            }
        }
        Ok(!self.bytes.is_empty())
    }
}

fn gone() -> io::Error {
    io::Error::new(
        io::ErrorKind::ConnectionAborted,
        "the import was abandoned before its end",
    )
}

/// The file at hand: at its end where the next one begins.
struct Arriving(Shared);

impl Read for Arriving {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut inbox = self.0.borrow_mut();
        if !inbox.fill()? {
            return Ok(0);
        }
        let many = buffer.len().min(inbox.bytes.len());
        let bytes = inbox.bytes.split_to(many);
        Ok(copy(&bytes, buffer))
    }
}

/// Copies as much as fits, and returns the length.
fn copy(from: &[u8], to: &mut [u8]) -> usize {
    let many = from.len().min(to.len());
    if let (Some(from), Some(to)) = (from.get(..many), to.get_mut(..many)) {
        to.copy_from_slice(from);
    }
    many
}

/// The file at hand, without its compression, and no longer than `limit` bytes.
///
/// # Errors
/// If the sender has gone away, or the beginning is no beginning of compressed bytes.
pub(super) fn file(inbox: &Shared, limit: u64) -> io::Result<impl BufRead + use<>> {
    let given_up = inbox.borrow().given_up.clone();
    let arriving = BufReader::with_capacity(BUFFER, Arriving(Rc::clone(inbox)));
    Ok(Bounded {
        inner: open::plain(arriving)?,
        left: limit,
        limit,
        given_up,
    })
}

/// An input that fails after a number of bytes: the uncompressed size of data is unknown.
struct Bounded {
    inner: Box<dyn BufRead>,
    left: u64,
    limit: u64,
    given_up: GivenUp,
}

impl Bounded {
    fn check(&mut self) -> io::Result<()> {
        self.given_up.check()?;
        if self.left > 0 || self.inner.fill_buf()?.is_empty() {
            return Ok(());
        }
        let limit = self.limit;
        let why = format!("larger than {limit} bytes uncompressed");
        Err(io::Error::new(io::ErrorKind::FileTooLarge, why))
    }
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let many = copy(self.fill_buf()?, buffer);
        self.consume(many);
        Ok(many)
    }
}

impl BufRead for Bounded {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.check()?;
        let most = usize::try_from(self.left).unwrap_or(usize::MAX);
        let ready = self.inner.fill_buf()?;
        Ok(ready.get(..most).unwrap_or(ready))
    }

    fn consume(&mut self, many: usize) {
        let taken = u64::try_from(many).unwrap_or(u64::MAX);
        self.left = self.left.saturating_sub(taken);
        self.inner.consume(many);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use tokio::sync::mpsc::channel;

    use super::*;

    fn inbox(pieces: Vec<Piece>) -> Shared {
        let (sender, receiver) = channel(pieces.len().max(1));
        for piece in pieces {
            sender.try_send(piece).unwrap();
        }
        Inbox::new(receiver, GivenUp::default())
    }

    fn bytes(text: &'static str) -> Piece {
        Piece::Bytes(Bytes::from_static(text.as_bytes()))
    }

    fn begin(name: &str) -> Piece {
        Piece::Begin(name.to_owned())
    }

    fn next(inbox: &Shared) -> Result<Next, io::ErrorKind> {
        inbox.borrow_mut().next_file().map_err(|e| e.kind())
    }

    fn whole(inbox: &Shared, limit: u64) -> Result<String, io::ErrorKind> {
        let mut text = String::new();
        let read = file(inbox, limit).and_then(|mut file| file.read_to_string(&mut text));
        read.map(|_| text).map_err(|e| e.kind())
    }

    #[test]
    fn a_file_ends_where_the_next_one_begins() {
        let pieces = vec![
            begin("a"),
            bytes("one "),
            bytes("two"),
            begin("empty"),
            begin("b"),
            bytes("three"),
            Piece::End,
        ];
        let inbox = inbox(pieces);
        assert_eq!(next(&inbox), Ok(Next::File("a".to_owned())));
        assert_eq!(whole(&inbox, 100), Ok("one two".to_owned()));
        assert_eq!(next(&inbox), Ok(Next::File("empty".to_owned())));
        assert_eq!(whole(&inbox, 100), Ok(String::new()));
        assert_eq!(next(&inbox), Ok(Next::File("b".to_owned())));
        assert_eq!(whole(&inbox, 100), Ok("three".to_owned()));
        assert_eq!(next(&inbox), Ok(Next::End));
    }

    #[test]
    fn what_a_reader_leaves_of_a_file_is_passed_over() {
        let pieces = vec![
            begin("a"),
            bytes("one"),
            bytes("two"),
            begin("b"),
            Piece::End,
        ];
        let inbox = inbox(pieces);
        assert_eq!(next(&inbox), Ok(Next::File("a".to_owned())));
        assert_eq!(next(&inbox), Ok(Next::File("b".to_owned())));
        assert_eq!(next(&inbox), Ok(Next::End));
    }

    #[test]
    fn a_sender_that_goes_away_is_no_end_of_a_file() {
        let inbox = inbox(vec![begin("a"), bytes("half a li")]);
        assert_eq!(next(&inbox), Ok(Next::File("a".to_owned())));
        assert_eq!(
            whole(&inbox, 100),
            Err(io::ErrorKind::ConnectionAborted),
            "half a line must not become a whole one"
        );
        assert_eq!(next(&inbox), Err(io::ErrorKind::ConnectionAborted));
    }

    /// All of its bytes are there: it would not look for more for a long time.
    #[test]
    fn a_reader_stops_inside_a_file_that_is_given_up() {
        let packed = zstd::encode_all(vec![b'x'; 8 << 20].as_slice(), 3).unwrap();
        let inbox = inbox(vec![begin("a"), Piece::Bytes(packed.into()), Piece::End]);
        next(&inbox).unwrap();
        let mut file = file(&inbox, 1 << 30).unwrap();
        let mut block = vec![0; 1 << 20];
        file.read_exact(&mut block).unwrap();
        inbox.borrow().given_up.set();
        let error = file.read_exact(&mut block).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionAborted);
        drop(file);
        assert_eq!(next(&inbox), Err(io::ErrorKind::ConnectionAborted));
    }

    #[test]
    fn compressed_input_is_bounded_by_its_uncompressed_size() {
        let zeros = vec![b'x'; 1 << 20];
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(&zeros).unwrap();
        let gzip = gzip.finish().unwrap();
        let zstd = zstd::encode_all(zeros.as_slice(), 3).unwrap();
        for packed in [gzip, zstd] {
            assert!(packed.len() < 10_000);
            let pieces = || vec![begin("a"), Piece::Bytes(packed.clone().into()), Piece::End];
            let fits = inbox(pieces());
            next(&fits).unwrap();
            assert_eq!(whole(&fits, 1 << 20).unwrap().len(), 1 << 20);
            let small = inbox(pieces());
            next(&small).unwrap();
            let most = (1 << 20) - 1;
            assert_eq!(whole(&small, most), Err(io::ErrorKind::FileTooLarge));
        }
    }
}
