//! `[web]`: the web pages, on a listener of their own.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{WebOidc, is_loopback};

/// Sites in a list, at most.
const SITES_MAX: usize = 32;

/// `[web]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Web {
    /// Address and port; empty for no pages; port 0 picks a free one.
    pub listen: String,
    /// The origin under which people reach the pages, such as `https://bank.example.org`. Empty:
    /// `http://` and the address of the listener, which must then be on loopback.
    pub url: String,
    /// Seconds without a request after which a session ends, 60 to 604,800.
    pub idle_s: i64,
    /// Seconds after which every session ends, 60 to 2,592,000.
    pub session_s: i64,
    /// Attempts to sign in that one address may make in a minute, 1 to 1000.
    pub sign_in_per_minute: u32,
    /// Largest form in bytes, 1 KiB to 1 MiB.
    pub body_limit: usize,
    /// Questions of pages to the API at once, 1 to 4096; the scheduler's requests have other slots.
    pub concurrency: usize,
    /// Origins of other web sites that may show pictures of the bank, such as `https://www.example.org`, at most 32;
    /// empty for none.
    pub embed_sites: Vec<String>,
    /// Origins of the pages of all nodes of a cluster, such as `https://bank1.example.org`, at most 32; a page names
    /// the others when its own node does not answer. Empty for none.
    pub nodes: Vec<String>,
    /// People whom a reverse proxy has identified.
    pub header: WebHeader,
    /// People whom an OpenID Connect provider has identified.
    pub oidc: WebOidc,
}

/// `[web.header]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WebHeader {
    /// The header field with the person's name; empty for off.
    pub name: String,
    /// Addresses of the proxies that may set it.
    pub proxies: Vec<IpAddr>,
}

impl Default for Web {
    fn default() -> Self {
        Self {
            listen: String::new(),
            url: String::new(),
            idle_s: 3600,
            session_s: 43_200,
            sign_in_per_minute: 10,
            body_limit: 65_536,
            concurrency: 64,
            embed_sites: Vec::new(),
            nodes: Vec::new(),
            header: WebHeader::default(),
            oidc: WebOidc::default(),
        }
    }
}

impl Web {
    /// Whether people use TLS.
    pub fn is_secure(&self) -> bool {
        self.url.starts_with("https://")
    }

    /// With paths that no longer depend on the data directory.
    #[must_use]
    pub fn in_data(&self, data: &Path) -> Self {
        Self {
            oidc: self.oidc.in_data(data),
            ..self.clone()
        }
    }

    /// Ranges, and that nobody's session travels in the clear.
    pub(super) fn check(&self) -> Result<(), String> {
        let count = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        for (key, value, least, most) in [
            ("web.idle_s", self.idle_s, 60, 604_800),
            ("web.session_s", self.session_s, 60, 2_592_000),
            (
                "web.sign_in_per_minute",
                i64::from(self.sign_in_per_minute),
                1,
                1000,
            ),
            ("web.body_limit", count(self.body_limit), 1024, 1 << 20),
            ("web.concurrency", count(self.concurrency), 1, 4096),
        ] {
            super::in_range(key, value, least, most)?;
        }
        self.check_origin()?;
        check_sites("web.embed_sites", &self.embed_sites)?;
        check_sites("web.nodes", &self.nodes)?;
        self.header.check()?;
        self.oidc.check()
    }

    fn check_origin(&self) -> Result<(), String> {
        let listen = &self.listen;
        let address: Option<SocketAddr> = listen.parse().ok();
        if !listen.is_empty() && address.is_none() {
            return Err(format!("web.listen: {listen:?} is not ADDRESS:PORT"));
        }
        let url = &self.url;
        if url.is_empty() {
            if address.is_some_and(|address| !address.ip().is_loopback()) {
                return Err(format!(
                    "web.url: required, because {listen} is not on loopback: the https:// address of \
                     the reverse proxy"
                ));
            }
            return Ok(());
        }
        let Some((scheme, host)) = origin(url) else {
            return Err(format!(
                "web.url: {url:?} is not an origin such as https://bank.example.org, without a path"
            ));
        };
        if scheme == "http" && !is_loopback(host) {
            return Err(format!(
                "web.url: {url:?} has no TLS, and is not on loopback: use https:// with a reverse proxy"
            ));
        }
        Ok(())
    }
}

/// A list of origins.
fn check_sites(key: &str, sites: &[String]) -> Result<(), String> {
    if sites.len() > SITES_MAX {
        return Err(format!("{key}: at most {SITES_MAX} sites"));
    }
    match sites.iter().find(|site| origin(site).is_none()) {
        Some(site) => Err(format!(
            "{key}: {site:?} is not an origin such as https://www.example.org, without a path"
        )),
        None => Ok(()),
    }
}

/// Scheme and host of an origin; none if it is none.
fn origin(url: &str) -> Option<(&str, &str)> {
    let (scheme, host) = url.split_once("://")?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    let is_origin =
        !host.is_empty() && host.bytes().all(fits) && ["http", "https"].contains(&scheme);
    is_origin.then_some((scheme, host))
}

impl WebHeader {
    fn check(&self) -> Result<(), String> {
        let name = &self.name;
        if name.is_empty() {
            return Ok(());
        }
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if name.len() > 64 || !name.bytes().all(is_token) {
            return Err(format!(
                "web.header.name: {name:?} is not a field name of letters, digits and hyphens"
            ));
        }
        let taken = [
            "cookie",
            "host",
            "origin",
            "authorization",
            "x-forwarded-for",
        ];
        if taken.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(format!("web.header.name: {name} has another meaning"));
        }
        if self.proxies.is_empty() || self.proxies.len() > 64 {
            return Err(
                "web.header.proxies: 1 to 64 addresses, because others could set the header"
                    .to_owned(),
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_never_travel_in_the_clear() {
        let web = |listen: &str, url: &str| {
            let web = Web {
                listen: listen.to_owned(),
                url: url.to_owned(),
                ..Web::default()
            };
            web.check().is_ok()
        };
        assert!(web("", "") && web("127.0.0.1:0", "") && web("[::1]:8443", ""));
        assert!(web("0.0.0.0:8443", "https://bank.example.org"));
        assert!(web("127.0.0.1:8443", "http://localhost:8443"));
        assert!(web("127.0.0.1:8443", "http://[::1]:8443"));
        assert!(!web("8443", "") && !web("0.0.0.0:8443", ""));
        assert!(!web("127.0.0.1:8443", "http://bank.example.org"));
        assert!(!web("127.0.0.1:8443", "https://bank.example.org/pages"));
        assert!(!web("127.0.0.1:8443", "bank.example.org"));
        assert!(!web("127.0.0.1:8443", "http://127.0.0.1.evil.example"));
    }

    #[test]
    fn a_header_needs_its_proxies() {
        let header = |name: &str, proxies: &[&str]| WebHeader {
            name: name.to_owned(),
            proxies: proxies.iter().map(|one| one.parse().unwrap()).collect(),
        };
        assert!(header("", &[]).check().is_ok());
        assert!(header("X-Remote-User", &["127.0.0.1"]).check().is_ok());
        assert!(header("X-Remote-User", &[]).check().is_err());
        assert!(header("X Remote", &["::1"]).check().is_err());
        assert!(header("Cookie", &["::1"]).check().is_err());
    }
}
