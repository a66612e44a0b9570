//! Clients of the Gold gateway as they are: what each sends byte for byte, and how each reads what
//! it gets (`gold-wire.md` 1.1). Their signatures are computed here, not by the product.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::{Digest as _, Sha1};

/// How long an answer may take that is sure to come.
const PATIENCE: Duration = Duration::from_mins(2);
/// Maui's buffer for the head of an answer.
const MAUI_HEAD: usize = 1024;
/// What old Slurm takes for the head of an answer.
const SLURM_HEAD: usize = 87;

/// A client that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Maui,
    Slurm,
    Hod,
    CLibrary,
    Textbook,
}

/// Digest and signature of a body, as they are written.
pub(crate) fn proof(key: &str, body: &str) -> (String, String) {
    let digest = Sha1::digest(body.as_bytes());
    let mut mac = Hmac::<Sha1>::new_from_slice(key.as_bytes()).unwrap();
    mac.update(&digest);
    (
        STANDARD.encode(digest),
        STANDARD.encode(mac.finalize().into_bytes()),
    )
}

impl Dialect {
    /// All of them.
    pub(crate) const ALL: [Dialect; 5] = [
        Dialect::Maui,
        Dialect::Slurm,
        Dialect::Hod,
        Dialect::CLibrary,
        Dialect::Textbook,
    ];

    /// A request with a body, signed with a key, as this client sends it.
    pub(crate) fn message(self, key: &str, body: &str) -> Vec<u8> {
        let (digest, value) = proof(key, body);
        let values =
            format!("<DigestValue>{digest}</DigestValue><SignatureValue>{value}</SignatureValue>");
        self.framed(&match self {
            Dialect::Maui => format!(
                "<Envelope component=\"ClusterScheduler\" count=\"1\" name=\"maui\" \
                 version=\"3.3.2\"><Signature>{values}</Signature>{body}</Envelope>"
            ),
            Dialect::Slurm | Dialect::Hod => format!(
                "<?xml version='1.0' encoding='UTF-8'?><Envelope>{body}<Signature>{values}\
                 <SecurityToken type='Symmetric'></SecurityToken></Signature></Envelope>"
            ),
            Dialect::CLibrary => format!(
                "<?xml version=\"1.0\"?>\n<Envelope>{body}<Signature>{values}\
                 <SecurityToken type=\"Symmetric\"/></Signature></Envelope>\n"
            ),
            Dialect::Textbook => format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Envelope>{body}<Signature>{values}\
                 <SecurityToken type=\"Symmetric\"></SecurityToken></Signature></Envelope>"
            ),
        })
    }

    /// A payload as this client frames it.
    pub(crate) fn framed(self, payload: &str) -> Vec<u8> {
        let (version, host, coding, end) = match self {
            Dialect::Maui => ("HTTP/1.1", "", "chunked;", "\r\n\0"),
            Dialect::Slurm => ("HTTP/1.1", "", "chunked", "0\r\n"),
            Dialect::Hod => ("HTTP/1.1 HTTP/1.0", "", "chunked", "0\r\n"),
            Dialect::CLibrary => ("HTTP/1.1", "", "chunked", "\r\n0\r\n"),
            Dialect::Textbook => ("HTTP/1.1", "Host: gold\r\n", "chunked", "\r\n0\r\n\r\n"),
        };
        let size = payload.len();
        format!(
            "POST /SSSRMAP3 {version}\r\n{host}Content-Type: text/xml; charset=\"utf-8\"\r\n\
             Transfer-Encoding: {coding}\r\n\r\n{size:X}\r\n{payload}{end}"
        )
        .into_bytes()
    }

    /// Sends bytes, and reads the answer as this client does, its own side left open; the XML that
    /// it finds.
    pub(crate) fn ask(self, address: &str, message: &[u8]) -> Result<String> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(message)?;
        let read = match self {
            Dialect::Maui => as_maui(&mut stream)?,
            Dialect::Slurm => as_slurm(&mut stream)?,
            Dialect::Hod => as_hod(&mut stream)?,
            Dialect::CLibrary | Dialect::Textbook => in_full(&mut stream)?,
        };
        String::from_utf8(read).map_err(|_| broken("not UTF-8"))
    }
}

/// The head into 1,024 bytes, then a chunk of the size told.
fn as_maui(stream: &mut TcpStream) -> Result<Vec<u8>> {
    let head = upto(stream, b"\r\n\r\n", MAUI_HEAD)?;
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    if !head.contains("transfer-encoding: chunked") {
        return Err(broken("cannot determine packet size"));
    }
    let size = upto(stream, b"\r\n", 16)?;
    exactly(stream, hex(&size)?)
}

/// 87 bytes whatever they are, then a number as `strtol` reads it, then so many bytes.
fn as_slurm(stream: &mut TcpStream) -> Result<Vec<u8>> {
    exactly(stream, SLURM_HEAD)?;
    let number = upto(stream, b"\r\n", 16)?;
    exactly(stream, hex(&number)?)
}

/// Everything; then the third line of what follows the head.
fn as_hod(stream: &mut TcpStream) -> Result<Vec<u8>> {
    let mut all = String::new();
    stream.read_to_string(&mut all)?;
    let (_, rest) = all
        .split_once("\r\n\r\n")
        .ok_or_else(|| broken("no head"))?;
    let third = rest.split('\n').nth(2);
    let third = third.ok_or_else(|| broken("no third line"))?;
    Ok(third.as_bytes().to_vec())
}

/// All chunks to the last, and nothing behind it.
fn in_full(stream: &mut TcpStream) -> Result<Vec<u8>> {
    upto(stream, b"\r\n\r\n", MAUI_HEAD)?;
    let mut payload = Vec::new();
    loop {
        let size = hex(&upto(stream, b"\r\n", 16)?)?;
        payload.extend(exactly(stream, size)?);
        if exactly(stream, 2)? != b"\r\n" {
            return Err(broken("a chunk without its end"));
        }
        if size == 0 {
            break;
        }
    }
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest)?;
    if rest.is_empty() {
        return Ok(payload);
    }
    Err(broken("more than an answer"))
}

fn upto(stream: &mut TcpStream, end: &[u8], most: usize) -> Result<Vec<u8>> {
    let mut read = Vec::new();
    while !read.ends_with(end) {
        if read.len() == most {
            return Err(broken("too long"));
        }
        read.extend(exactly(stream, 1)?);
    }
    Ok(read)
}

fn exactly(stream: &mut TcpStream, size: usize) -> Result<Vec<u8>> {
    let mut read = vec![0; size];
    stream.read_exact(&mut read)?;
    Ok(read)
}

fn hex(text: &[u8]) -> Result<usize> {
    let text = std::str::from_utf8(text.trim_ascii()).map_err(|_| broken("no number"))?;
    usize::from_str_radix(text, 16).map_err(|_| broken("no number"))
}

fn broken(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, what.to_owned())
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(from)?;
    rest.split_once(to).map(|(found, _)| found)
}

/// Value, code and message of an answer: `Failure 315 not supported`.
pub(crate) fn summary(xml: &str) -> String {
    let part = |name: &str| {
        let found = between(xml, &format!("<{name}>"), &format!("</{name}>"));
        found.unwrap_or_default().to_owned()
    };
    let parts = [part("Value"), part("Code"), part("Message")];
    parts.join(" ").trim_end().to_owned()
}

/// Whether an answer carries the signature of a key over its body; `None` where it carries none.
pub(crate) fn carries(xml: &str, key: &str) -> Option<bool> {
    let digest = between(xml, "<DigestValue>", "</DigestValue>")?;
    let value = between(xml, "<SignatureValue>", "</SignatureValue>")?;
    let inside = between(xml, "<Body>", "</Body>").unwrap_or_default();
    let own = proof(key, &format!("<Body>{inside}</Body>"));
    Some(own == (digest.to_owned(), value.to_owned()))
}
