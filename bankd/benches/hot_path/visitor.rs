//! People with a browser, signed in by the header of a trusted proxy.

use anyhow::{Context, Result, ensure};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// Settings with which the bench is that proxy.
pub(crate) const SETTINGS: &str = "\
[http]
listen = \"127.0.0.1:0\"

[web]
listen = \"127.0.0.1:0\"
sign_in_per_minute = 1000

[web.header]
name = \"X-Remote-User\"
proxies = [\"127.0.0.1\"]
";

/// A session.
pub(crate) struct Visitor {
    port: u16,
    name: String,
    cookie: String,
}

impl Visitor {
    /// Signs somebody in.
    pub(crate) fn sign_in(port: u16, name: &str) -> Result<Self> {
        let mut visitor = Self {
            port,
            name: name.to_owned(),
            cookie: String::new(),
        };
        let answer = visitor.answer("/login")?;
        let cookie = answer.lines().find_map(|line| {
            let (field, value) = line.split_once(": ")?;
            field.eq_ignore_ascii_case("set-cookie").then_some(value)
        });
        let cookie = cookie.and_then(|value| value.split(';').next());
        let cookie = cookie.with_context(|| answer.clone())?;
        cookie.clone_into(&mut visitor.cookie);
        Ok(visitor)
    }

    /// Opens a page: its status, and its bytes with the head.
    pub(crate) fn open(&self, path: &str) -> Result<(u16, usize)> {
        let answer = self.answer(path)?;
        let status = answer.split(' ').nth(1).and_then(|word| word.parse().ok());
        Ok((status.context("no status")?, answer.len()))
    }

    fn answer(&self, path: &str) -> Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        let (port, name, cookie) = (self.port, &self.name, &self.cookie);
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Remote-User: {name}\r\n\
             Cookie: {cookie}\r\nConnection: close\r\n\r\n"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        ensure!(!answer.is_empty(), "no answer to {path}");
        Ok(answer)
    }
}
