//! Addresses of the daemon as users write them.

use crate::fail::Failure;

/// `unix:/path` or an absolute path.
pub(super) fn socket(server: &str) -> Option<&str> {
    server
        .strip_prefix("unix:")
        .or_else(|| server.starts_with('/').then_some(server))
}

/// The base of all addresses on a host: `http://host:port`.
pub(super) fn tcp(server: &str) -> Result<String, Failure> {
    let wrong = |why: &str| {
        Err(Failure::usage(format!("server address {server:?}: {why}"))
            .hint("write unix:/path/to/bankd.sock or http://host:port"))
    };
    let host = match server.split_once("://") {
        Some(("http", host)) => host,
        Some(("https", _)) => return wrong("this program speaks plain HTTP (signed both ways)"),
        Some(_) => return wrong("unknown scheme"),
        None => server,
    };
    let host = host.trim_end_matches('/');
    if host.is_empty() || host.contains(['/', '?', '#', '@', ' ']) {
        return wrong("not a host and port");
    }
    Ok(format!("http://{host}"))
}

/// Whether a base is this host's own: nobody in between reads what is sent there.
pub(super) fn is_here(base: &str) -> bool {
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
        ] {
            assert_eq!(is_here(base), here, "{base}");
        }
    }

    #[test]
    fn addresses() {
        assert_eq!(socket("unix:/a/b.sock"), Some("/a/b.sock"));
        assert_eq!(socket("/a/b.sock"), Some("/a/b.sock"));
        assert_eq!(socket("http://h:1"), None);
        let cases = [
            ("http://127.0.0.1:7113", Ok("http://127.0.0.1:7113")),
            ("http://h:1/", Ok("http://h:1")),
            ("bank.site:7113", Ok("http://bank.site:7113")),
            ("https://h", Err(2)),
            ("gopher://h", Err(2)),
            ("http://h/x", Err(2)),
            ("", Err(2)),
        ];
        for (server, expected) in cases {
            let got = tcp(server).map_err(|failure| failure.exit);
            assert_eq!(got.as_deref(), expected.as_ref().copied(), "{server}");
        }
    }
}
