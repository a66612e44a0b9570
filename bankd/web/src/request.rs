//! Requests as they arrive: the peer, the sender of a form, and its fields.

use axum::extract::ConnectInfo;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, header};
use bankd_config::is_loopback;
use bankd_http::auth::Peer;

use super::visit::Fields;

/// Whether a form was sent by a page of this site, as far as the browser reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// By a page of this site.
    Own,
    /// The browser does not report it.
    Unreported,
    /// By another site.
    Other,
}

/// The sender of a form, by `Sec-Fetch-Site` and `Origin`.
pub(crate) fn sender(origin: &str, fields: &HeaderMap) -> Sender {
    let text = |name: &HeaderName| fields.get(name).map(|value| value.to_str().unwrap_or("?"));
    let site = text(&HeaderName::from_static("sec-fetch-site"));
    let from = text(&header::ORIGIN);
    let is_own = |from: &str| {
        let host = text(&header::HOST).unwrap_or_default();
        from == origin || is_loopback(host) && from == format!("http://{host}")
    };
    match (site, from) {
        (Some(site), _) if site != "same-origin" && site != "none" => Sender::Other,
        (_, Some(from)) if !is_own(from) => Sender::Other,
        (None, None) => Sender::Unreported,
        _ => Sender::Own,
    }
}

/// The peer of a request's connection.
pub(crate) fn peer(parts: &Parts) -> Peer {
    let info = parts.extensions.get::<ConnectInfo<Peer>>();
    info.map_or(Peer::Nobody, |info| info.0)
}

/// Fields with their percent-encoding undone.
pub(crate) fn fields(text: &str) -> Option<Fields> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name)?, decoded(value)?))
        })
        .collect()
}

/// The segments of a path with their percent-encoding undone: a name can contain a `/`.
pub(crate) fn segments(path: &str) -> Option<Vec<String>> {
    let plain = |segment: &str| decoded(&segment.replace('+', "%2B"));
    path.split('/').map(plain).collect()
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => {
                let high = char::from(bytes.next()?).to_digit(16)?;
                let low = char::from(bytes.next()?).to_digit(16)?;
                u8::try_from(high * 16 + low).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_other_sites_are_recognised() {
        let own = "https://bank.example.org";
        let of = |lines: &[(&'static str, &str)]| {
            let mut fields = HeaderMap::new();
            for (name, value) in lines {
                fields.insert(*name, value.parse().unwrap());
            }
            sender(own, &fields)
        };
        assert_eq!(of(&[]), Sender::Unreported);
        assert_eq!(of(&[("origin", own)]), Sender::Own);
        assert_eq!(
            of(&[("sec-fetch-site", "same-origin"), ("origin", own)]),
            Sender::Own
        );
        for lines in [
            [("sec-fetch-site", "cross-site"), ("origin", own)],
            [("sec-fetch-site", "same-site"), ("origin", own)],
            [("sec-fetch-site", "same-origin"), ("origin", "null")],
            [
                ("host", "bank.example.org"),
                ("origin", "https://evil.example"),
            ],
            [("host", "evil.example"), ("origin", "http://evil.example")],
        ] {
            assert_eq!(of(&lines), Sender::Other, "{lines:?}");
        }
        let local = [
            ("host", "localhost:8443"),
            ("origin", "http://localhost:8443"),
        ];
        assert_eq!(of(&local), Sender::Own);
    }

    #[test]
    fn fields_of_a_form() {
        let found = fields("a=1&b=x+y%26%C3%A9&c=&d").unwrap();
        let pairs: Vec<_> = found
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .collect();
        assert_eq!(pairs, [("a", "1"), ("b", "x y&é"), ("c", ""), ("d", "")]);
        assert!(fields("a=%").is_none() && fields("a=%f").is_none() && fields("%ff=1").is_none());
    }
}
