//! Parsers of option values. They check the form only: the daemon decides what is allowed.

/// A decimal number with an optional sign. The bank checks the number of digits.
pub(crate) fn amount(text: &str) -> Result<String, String> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if number(whole) && number(fraction) && !(whole.is_empty() && fraction.is_empty()) {
        Ok(text.strip_prefix('+').unwrap_or(text).to_owned())
    } else {
        Err("not a number; write digits and at most one point, such as 250000 or 12.5".to_owned())
    }
}

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
