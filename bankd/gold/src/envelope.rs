//! The parts of a message, cut out of its bytes by name, with any order, quotes, and text between them
//! (`gold-wire.md` 2). Nothing is parsed and written again, because the signature covers the received
//! bytes. The content of the `Body` is not examined here.

use super::frame::find;

/// The parts of an envelope.
#[derive(Clone, Copy, Debug)]
pub(super) struct Envelope<'a> {
    /// From `<Body` to `</Body>`.
    pub(super) body: &'a [u8],
    /// Whether its name is `maui`.
    pub(super) is_maui: bool,
    /// The two values, if it is signed.
    pub(super) signature: Option<Signature<'a>>,
    /// Signed with something else than a shared key, such as a password.
    pub(super) other_token: bool,
}

/// The values of a signature, as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Signature<'a> {
    /// The digest, base64.
    pub(super) digest: &'a [u8],
    /// The signature, base64.
    pub(super) value: &'a [u8],
}

/// Reasons for missing parts of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// No envelope with a body in it, or a document type.
    Malformed,
    /// The body is encrypted.
    Encrypted,
}

/// Finds the parts of a message.
pub(super) fn open(payload: &[u8]) -> Result<Envelope<'_>, Broken> {
    let envelope = element(payload, "Envelope").ok_or(Broken::Malformed)?;
    let inside = envelope.inner;
    let Some(body) = element(inside, "Body") else {
        let encrypted = element(inside, "EncryptedData").is_some();
        return Err(if encrypted {
            Broken::Encrypted
        } else {
            Broken::Malformed
        });
    };
    // The body is the caller's text, so the signature is searched outside of it.
    let around = [body.before, body.after];
    let declares = |part: &&[u8]| find(part, b"<!DOCTYPE").is_some();
    if declares(&envelope.before) || declares(&envelope.after) || around.iter().any(declares) {
        return Err(Broken::Malformed);
    }
    let signature = around.iter().find_map(|part| element(part, "Signature"));
    let signature = signature.map_or(&[][..], |signature| signature.inner);
    let value = |name| element(signature, name).map(|found| found.inner.trim_ascii());
    let values = value("DigestValue").zip(value("SignatureValue"));
    let token = element(signature, "SecurityToken");
    let kind = token.and_then(|token| attribute(token.tag, "type"));
    Ok(Envelope {
        body: body.whole,
        is_maui: attribute(envelope.tag, "name") == Some(b"maui"),
        signature: values.map(|(digest, value)| Signature { digest, value }),
        other_token: kind.is_some_and(|kind| kind != b"Symmetric"),
    })
}

/// The body with `<x/>` written `<x></x>`, as Gold's own library does before it signs; `None` if
/// there is nothing to write otherwise.
pub(super) fn expanded(body: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    let mut changed = false;
    while let Some(start) = rest.iter().position(|byte| *byte == b'<') {
        let (text, from) = rest.split_at_checked(start)?;
        let (tag, after) = from.split_at_checked(tag_end(from)?)?;
        out.extend_from_slice(text);
        rest = after;
        match tag.strip_suffix(b"/>").filter(|_| !tag.starts_with(b"<!")) {
            Some(open) => {
                let name = open.strip_prefix(b"<")?;
                let name = name.split(u8::is_ascii_whitespace).next()?;
                out.extend_from_slice(open.trim_ascii_end());
                out.extend_from_slice(b"></");
                out.extend_from_slice(name);
                out.push(b'>');
                changed = true;
            }
            None => out.extend_from_slice(tag),
        }
    }
    out.extend_from_slice(rest);
    changed.then_some(out)
}

/// An element, the first of its name.
#[derive(Clone, Copy, Debug)]
struct Element<'a> {
    before: &'a [u8],
    /// From its first to its last byte.
    whole: &'a [u8],
    /// Its opening tag.
    tag: &'a [u8],
    /// Between its tags.
    inner: &'a [u8],
    after: &'a [u8],
}

/// The first element of a name, up to the first tag that closes one of that name.
fn element<'a>(bytes: &'a [u8], name: &str) -> Option<Element<'a>> {
    let start = opening(bytes, name)?;
    let (before, from) = bytes.split_at_checked(start)?;
    let (tag, rest) = from.split_at_checked(tag_end(from)?)?;
    if tag.ends_with(b"/>") {
        return Some(Element {
            before,
            whole: tag,
            tag,
            inner: &[],
            after: rest,
        });
    }
    let close = format!("</{name}>");
    let at = find(rest, close.as_bytes())?;
    let (whole, after) = from.split_at_checked(tag.len() + at + close.len())?;
    Some(Element {
        before,
        whole,
        tag,
        inner: rest.get(..at)?,
        after,
    })
}

/// The position of `<name`, not followed by more of a name.
fn opening(bytes: &[u8], name: &str) -> Option<usize> {
    let open = format!("<{name}");
    let mut from = 0;
    loop {
        let at = from + find(bytes.get(from..)?, open.as_bytes())?;
        from = at + open.len();
        match bytes.get(from)? {
            b'>' | b'/' => return Some(at),
            byte if byte.is_ascii_whitespace() => return Some(at),
            _ => {}
        }
    }
}

/// The length of the tag that begins here; a `>` in quotes does not end it.
fn tag_end(bytes: &[u8]) -> Option<usize> {
    let mut quote = None;
    let end = bytes.iter().position(|byte| {
        match quote {
            Some(open) if open == *byte => quote = None,
            None if *byte == b'"' || *byte == b'\'' => quote = Some(*byte),
            _ => {}
        }
        quote.is_none() && *byte == b'>'
    });
    end.map(|end| end + 1)
}

/// The value of an attribute in a tag, in either kind of quotes.
fn attribute<'a>(tag: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let space = tag.iter().position(u8::is_ascii_whitespace)?;
    let mut rest = tag.get(space..)?;
    loop {
        let equals = rest.iter().position(|byte| *byte == b'=')?;
        let (key, value) = rest.split_at_checked(equals)?;
        let value = value.get(1..)?.trim_ascii_start();
        let (quote, value) = value.split_first()?;
        let end = value.iter().position(|byte| byte == quote)?;
        if key.trim_ascii() == name.as_bytes() {
            return value.get(..end);
        }
        rest = value.get(end + 1..)?;
    }
}

#[cfg(test)]
mod tests;
