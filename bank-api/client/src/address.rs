//! Addresses of the daemon as users write them.

use crate::error::Error;

/// Most servers of a list.
const SERVERS_MAX: usize = 16;

/// Divides a list of addresses at its commas. One address is a list of one.
///
/// ```
/// let servers = bank_client::list("http://bank1:7113, http://bank2:7113");
/// assert_eq!(servers, ["http://bank1:7113", "http://bank2:7113"]);
/// ```
pub fn list(text: &str) -> Vec<String> {
    let parts = text.split(',').map(str::trim);
    parts.map(str::to_owned).collect()
}

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// The path of a Unix socket.
    Socket(String),
    /// `http://host:port` or `https://host:port`.
    Tcp(String),
}

impl Address {
    pub(crate) fn parse(server: &str) -> Result<Self, Error> {
        match socket(server) {
            Some("") => Err(wrong(server, "the path of the socket is missing")),
            Some(path) => Ok(Self::Socket(path.to_owned())),
            None => tcp(server).map(Self::Tcp),
        }
    }

    /// Whether nobody on the way can read: a socket, TLS, or an address of this host.
    pub(crate) fn is_private(&self) -> bool {
        match self {
            Self::Socket(_) => true,
            Self::Tcp(base) => base.starts_with("https://") || is_here(base),
        }
    }
}

/// Checks the number of servers.
pub(crate) fn counted(servers: &[String]) -> Result<(), Error> {
    if servers.is_empty() || servers.len() > SERVERS_MAX {
        let found = servers.len();
        let what = format!("{found} server addresses; a list has 1 to {SERVERS_MAX}");
        return Err(Error::settings(what));
    }
    Ok(())
}

fn wrong(server: &str, why: &str) -> Error {
    let hint = "write unix:/path/to/bankd.sock, http://host:port or https://host:port, or a list with commas between";
    Error::hinted(format!("server address {server:?}: {why}"), hint)
}

/// `unix:PATH` or an absolute path.
fn socket(server: &str) -> Option<&str> {
    server
        .strip_prefix("unix:")
        .or_else(|| server.starts_with('/').then_some(server))
}

/// The base of all addresses on a host: `http://host:port`.
fn tcp(server: &str) -> Result<String, Error> {
    let (scheme, host) = match server.split_once("://") {
        Some((scheme @ ("http" | "https"), host)) => (scheme, host),
        Some(_) => return Err(wrong(server, "unknown scheme")),
        None => ("http", server),
    };
    let host = host.trim_end_matches('/');
    if host.is_empty() || host.contains(['/', '?', '#', '@', ' ']) {
        return Err(wrong(server, "not a host and port"));
    }
    Ok(format!("{scheme}://{host}"))
}

/// Whether a base is this host's own: nobody in between reads what is sent there.
fn is_here(base: &str) -> bool {
    let place = base.strip_prefix("http://").unwrap_or(base);
    let host = match place.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => place.split(':').next().unwrap_or_default(),
    };
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_stays_on_this_host() {
        for (base, here) in [
            ("http://127.0.0.1:7113", true),
            ("http://localhost:7113", true),
            ("http://[::1]:7113", true),
            ("http://bank.site:7113", false),
            ("http://10.0.0.1:7113", false),
            ("http://127.0.0.1.evil.site:7113", false),
            ("http://[fd00::1]:7113", false),
            ("https://bank.site", true),
            ("unix:/a", true),
        ] {
            let address = Address::parse(base).unwrap();
            assert_eq!(address.is_private(), here, "{base}");
        }
    }

    #[test]
    fn addresses() {
        let tcp = |base: &str| Some(Address::Tcp(base.to_owned()));
        let cases = [
            ("unix:/a/b.sock", Some(Address::Socket("/a/b.sock".into()))),
            ("/a/b.sock", Some(Address::Socket("/a/b.sock".into()))),
            ("http://127.0.0.1:7113", tcp("http://127.0.0.1:7113")),
            ("http://h:1/", tcp("http://h:1")),
            ("bank.site:7113", tcp("http://bank.site:7113")),
            ("https://h", tcp("https://h")),
            ("unix:./a.sock", Some(Address::Socket("./a.sock".into()))),
            ("unix:", None),
            ("gopher://h", None),
            ("http://h/x", None),
            ("", None),
        ];
        for (server, expected) in cases {
            assert_eq!(Address::parse(server).ok(), expected, "{server}");
        }
    }

    #[test]
    fn lists_are_bounded() {
        assert_eq!(list("a"), ["a"]);
        assert_eq!(list("a , b"), ["a", "b"]);
        assert!(counted(&list("a,b")).is_ok());
        assert!(counted(&[]).is_err());
        assert!(counted(&vec!["a".to_owned(); 17]).is_err());
    }
}
