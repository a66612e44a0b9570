//! The content of one file: a line of JSON, then the body byte for byte.

use bank_api::v1::QueuedCall;
use ureq::http::Method;

use crate::call::Call;

/// Longest line of JSON, in bytes.
const HEAD_MAX: usize = 64 * 1024;
/// Longest idempotency key that the bank accepts, in bytes.
const KEY_MAX: usize = 255;
/// Media types of bodies.
const MEDIA: [&str; 3] = ["application/json", "text/xml", "application/octet-stream"];

/// The file of a call; an error if the call cannot wait.
pub(super) fn encode(call: &Call) -> Result<Vec<u8>, &'static str> {
    if call.method == Method::GET {
        return Err("it reads");
    }
    let key = call.key.as_deref().ok_or("it has no idempotency key")?;
    if !is_key(key) {
        return Err("its idempotency key is not 1 to 255 visible ASCII characters without #");
    }
    let head = QueuedCall {
        method: call.method.as_str().to_owned(),
        target: call.target.clone(),
        media: call.media.to_owned(),
        key: key.to_owned(),
        event_time: call.event_time.clone(),
        length: u64::try_from(call.body.len()).unwrap_or(u64::MAX),
    };
    let mut content = serde_json::to_vec(&head).map_err(|_| "it cannot be written as JSON")?;
    if content.len() > HEAD_MAX {
        return Err("its path has more than 64 KiB");
    }
    content.push(b'\n');
    content.extend_from_slice(&call.body);
    Ok(content)
}

/// The call in a file; `None` if the file is incomplete or contains something else.
pub(super) fn decode(content: &[u8]) -> Option<Call> {
    let end = content
        .iter()
        .take(HEAD_MAX.saturating_add(1))
        .position(|byte| *byte == b'\n')?;
    let head: QueuedCall = serde_json::from_slice(content.get(..end)?).ok()?;
    let body = content.get(end.checked_add(1)?..)?.to_vec();
    let is_whole = u64::try_from(body.len()).ok()? == head.length;
    let is_path = head.target.starts_with('/') && head.target.bytes().all(|b| b.is_ascii_graphic());
    let method = Method::from_bytes(head.method.as_bytes()).ok()?;
    let media = MEDIA.into_iter().find(|media| *media == head.media)?;
    (is_whole && is_path && is_key(&head.key) && method != Method::GET).then_some(Call {
        method,
        target: head.target,
        body,
        media,
        key: Some(head.key),
        event_time: head.event_time,
    })
}

fn is_key(key: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'#';
    (1..=KEY_MAX).contains(&key.len()) && key.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> Call {
        Call {
            event_time: Some("2026-01-01T00:00:00Z".into()),
            ..Call::xml(
                "/nami/v1/charge?machine=a".into(),
                "<Job>\n</Job>".into(),
                "k-1".into(),
            )
        }
    }

    #[test]
    fn read_back_as_written() {
        let content = encode(&call()).unwrap();
        let back = decode(&content).unwrap();
        assert_eq!(format!("{back:?}"), format!("{:?}", call()));
        for length in 0..content.len() {
            assert!(decode(&content[..length]).is_none(), "{length}");
        }
    }

    #[test]
    fn only_commands_with_a_key_can_wait() {
        let key = |key: Option<&str>| Call {
            key: key.map(str::to_owned),
            ..call()
        };
        let long = "k".repeat(256);
        for (call, why) in [
            (Call::get("/api/v1/jobs".into()), "it reads"),
            (key(None), "no idempotency key"),
            (key(Some("")), "visible ASCII"),
            (key(Some("a b")), "visible ASCII"),
            (key(Some("a#1")), "visible ASCII"),
            (key(Some(&long)), "visible ASCII"),
        ] {
            assert!(encode(&call).unwrap_err().contains(why), "{why}");
        }
    }

    #[test]
    fn files_of_others_are_no_commands() {
        let text = String::from_utf8(encode(&call()).unwrap()).unwrap();
        for (from, to) in [
            ("\"POST\"", "\"GET\""),
            ("\"POST\"", "\"P OST\""),
            ("/nami", "nami"),
            ("charge?", "charge ?"),
            ("text/xml", "text/html"),
            ("k-1", "k 1"),
            ("\"length\"", "\"size\""),
        ] {
            assert!(text.contains(from));
            assert!(decode(text.replace(from, to).as_bytes()).is_none(), "{to}");
        }
    }
}
