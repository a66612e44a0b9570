//! HTTP/1.1 as little as it takes: a request, its status, and where its answer ends.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpStream;

use anyhow::{Context, Result, bail};

/// A keep-alive connection.
pub(crate) struct Connection(BufReader<TcpStream>);

impl Connection {
    /// Connects.
    pub(crate) fn open(port: u16) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::with_capacity(256 << 10, stream)))
    }

    /// Sends a request and takes its answer to the last byte into `body`; the answer must be 200.
    pub(crate) fn ask(&mut self, request: &[u8], body: &mut Vec<u8>) -> Result<()> {
        self.0.get_mut().write_all(request)?;
        body.clear();
        self.answer(|piece| body.extend_from_slice(piece))
    }

    /// The same, with each piece of the answer handed on as it comes.
    pub(crate) fn take(&mut self, request: &[u8], piece: impl FnMut(&[u8])) -> Result<()> {
        self.0.get_mut().write_all(request)?;
        self.answer(piece)
    }

    fn answer(&mut self, mut piece: impl FnMut(&[u8])) -> Result<()> {
        let mut line = String::new();
        self.line(&mut line)?;
        let is_good = line.get(9..12) == Some("200");
        let mut length = None;
        let status = line.trim().to_owned();
        loop {
            self.line(&mut line)?;
            let field = line.trim().to_ascii_lowercase();
            if field.is_empty() {
                break;
            }
            if let Some(value) = field.strip_prefix("content-length:") {
                length = Some(value.trim().parse()?);
            }
        }
        match length {
            Some(length) => self.pass(length, &mut piece)?,
            None => loop {
                self.line(&mut line)?;
                let chunk = usize::from_str_radix(line.trim(), 16).context("a chunk's size")?;
                self.pass(chunk, &mut piece)?;
                self.line(&mut line)?;
                if chunk == 0 {
                    break;
                }
            },
        }
        if !is_good {
            bail!("answered: {status}");
        }
        Ok(())
    }

    fn line(&mut self, line: &mut String) -> Result<()> {
        line.clear();
        if self.0.read_line(line)? == 0 {
            bail!("the daemon closed the connection");
        }
        Ok(())
    }

    fn pass(&mut self, mut left: usize, piece: &mut impl FnMut(&[u8])) -> Result<()> {
        while left > 0 {
            let got = self.0.fill_buf()?;
            let got = got.get(..left.min(got.len())).unwrap_or_default();
            if got.is_empty() {
                bail!("the answer broke off");
            }
            let taken = got.len();
            piece(got);
            self.0.consume(taken);
            left -= taken;
        }
        Ok(())
    }
}

/// A GET.
pub(crate) fn get(target: &str) -> Vec<u8> {
    format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n\r\n").into_bytes()
}

/// A POST of JSON.
pub(crate) fn post(target: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// Everything that comes over a stream that is closed after its answer.
pub(crate) fn whole(mut stream: impl Read + Write, request: &[u8]) -> Result<String> {
    stream.write_all(request)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
