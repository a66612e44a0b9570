//! The cookie of a session, and the token of its forms.

use axum::http::{HeaderMap, HeaderValue, header};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// The cookie's name. With TLS, browsers accept it from this host and with `Secure` only.
pub(crate) fn name(is_secure: bool) -> &'static str {
    if is_secure { "__Host-bank" } else { "bank" }
}

/// The name of the cookie of a sign-in at a provider.
pub(crate) fn oidc_name(is_secure: bool) -> &'static str {
    if is_secure {
        "__Host-bank-oidc"
    } else {
        "bank-oidc"
    }
}

/// The text in the session's cookie of a request.
pub(crate) fn of(fields: &HeaderMap, is_secure: bool) -> Option<&str> {
    named(fields, name(is_secure))
}

/// The text in a cookie; none if a request has two, because one of them is somebody else's.
pub(crate) fn named<'f>(fields: &'f HeaderMap, wanted: &str) -> Option<&'f str> {
    let lines = fields.get_all(header::COOKIE).into_iter();
    let pairs = lines.filter_map(|line| line.to_str().ok());
    let pairs = pairs.flat_map(|line| line.split(';'));
    let mut values = pairs.filter_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == wanted).then_some(value)
    });
    let value = values.next()?;
    values.next().is_none().then_some(value)
}

/// Sets the cookie; an empty text removes it.
pub(crate) fn set(text: &str, is_secure: bool, lasting_s: i64) -> Option<HeaderValue> {
    set_named(name(is_secure), text, is_secure, lasting_s)
}

/// The same for another cookie.
pub(crate) fn set_named(
    name: &str,
    text: &str,
    is_secure: bool,
    lasting_s: i64,
) -> Option<HeaderValue> {
    let secure = if is_secure { "; Secure" } else { "" };
    let lasting_s = if text.is_empty() { 0 } else { lasting_s };
    let cookie =
        format!("{name}={text}; Path=/; Max-Age={lasting_s}; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::try_from(cookie).ok()
}

/// The token of the forms of a session. It does not reveal the text of the cookie.
pub(crate) fn form_token(cookie: &str) -> String {
    let mut digest = Sha256::new();
    digest.update(b"form:");
    digest.update(cookie.as_bytes());
    URL_SAFE_NO_PAD.encode(digest.finalize())
}

/// Whether a form has the token of its session.
pub(crate) fn is_form_token(sent: &str, own: &str) -> bool {
    sent.as_bytes().ct_eq(own.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cookie_counts() {
        let found = |lines: &[&str], is_secure| {
            let mut fields = HeaderMap::new();
            for line in lines {
                fields.append(header::COOKIE, line.parse().unwrap());
            }
            of(&fields, is_secure).map(str::to_owned)
        };
        assert_eq!(found(&["a=b; bank=x"], false).as_deref(), Some("x"));
        assert_eq!(
            found(&["__Host-bank=y; bank=x"], true).as_deref(),
            Some("y")
        );
        assert_eq!(found(&["bank=x"], true), None);
        assert_eq!(found(&["bank=x", "bank=z"], false), None);
        assert_eq!(found(&[], false), None);
    }

    #[test]
    fn cookies_are_closed() {
        let cookie = set("bs_x", true, 60).unwrap();
        assert_eq!(
            cookie.to_str().unwrap(),
            "__Host-bank=bs_x; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure"
        );
        let gone = set("", false, 60).unwrap();
        assert_eq!(
            gone.to_str().unwrap(),
            "bank=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"
        );
    }
}
