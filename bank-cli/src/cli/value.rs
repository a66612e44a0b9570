//! Parsers of option values. They check the form only: the daemon decides what is allowed.

pub(crate) use bank_picture::figure::amount;

/// `NAME=VALUE`, or `NAME:VALUE` as schedulers write it.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once(['=', ':']) {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

/// 1 to 255 visible ASCII characters without `#` (http-auth.md 3).
pub(super) fn idempotency_key(text: &str) -> Result<String, String> {
    let good = text
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'#');
    if good && (1..=255).contains(&text.len()) {
        Ok(text.to_owned())
    } else {
        Err("1 to 255 visible ASCII characters, no #".to_owned())
    }
}
