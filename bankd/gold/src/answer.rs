//! The answer, byte for byte (`gold-wire.md` 1.3, 4). Old clients read 87 bytes of head without a check,
//! and others take the third line as the message. The head is therefore constant, the declaration is a
//! separate line, and the envelope is one line.

use std::fmt::Write as _;

use bankd_ledger::keys::hmac64::{self, Hmac64};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Content, Value};

/// The head of every answer, also of a failure: 88 bytes.
const HEAD: &str = "HTTP/1.1 200 OK\r\n\
                    Content-Type: text/xml; charset=\"utf-8\"\r\n\
                    Transfer-Encoding: chunked\r\n\r\n";
/// Longest message in bytes: old clients keep a value in 256.
const MOST_MESSAGE: usize = 255;

/// The bytes of an answer, signed if there is a key.
pub(super) fn wire(content: &Content, key: Option<&Hmac64>) -> Vec<u8> {
    let body = body(content);
    let signature = key.map_or_else(String::new, |key| {
        let digest = hmac64::digest(body.as_bytes());
        format!(
            "<Signature><DigestValue>{}</DigestValue><SignatureValue>{}</SignatureValue>\
             <SecurityToken type=\"Symmetric\"></SecurityToken></Signature>",
            STANDARD.encode(digest),
            STANDARD.encode(key.sign(&digest)),
        )
    });
    let message = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Envelope>{body}{signature}</Envelope>\n"
    );
    format!("{HEAD}{:X}\r\n{message}\r\n0\r\n\r\n", message.len()).into_bytes()
}

fn body(content: &Content) -> String {
    format!("<Body>{}</Body>", response(content))
}

/// The answer without envelope and signature.
pub fn response(content: &Content) -> String {
    let value = match content.value {
        Value::Success => "Success",
        Value::Warning => "Warning",
        Value::Failure => "Failure",
    };
    let code = content.code;
    let mut text = format!("<Response><Status><Value>{value}</Value><Code>{code}</Code>");
    if let Some(message) = &content.message {
        let message = shown(message);
        let _ = write!(text, "<Message>{message}</Message>");
    }
    text.push_str("</Status>");
    if let Some(count) = &content.count {
        let _ = write!(text, "<Count>{count}</Count>");
    }
    // Maui takes a warning without data for a failure.
    let warns = content.value == Value::Warning;
    if let Some(data) = content.data.as_deref().or(warns.then_some("")) {
        let _ = write!(text, "<Data>{data}</Data>");
    }
    text.push_str("</Response>");
    text
}

/// A message as text of one line, escaped, and no longer than clients can hold.
fn shown(message: &str) -> String {
    let mut text = String::with_capacity(message.len());
    for letter in message.chars() {
        let mut own = [0; 4];
        let piece = match letter {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            // The answer stays one line; an XML reader gets the line feed back.
            '\n' => "&#10;",
            letter if letter.is_control() => " ",
            letter => letter.encode_utf8(&mut own),
        };
        if text.len() + piece.len() > MOST_MESSAGE {
            break;
        }
        text.push_str(piece);
    }
    text
}

#[cfg(test)]
mod tests {
    use bank_api::sign::Secret;

    use super::*;

    fn key() -> Hmac64 {
        Hmac64::new(&Secret::parse("sss").unwrap()).unwrap()
    }

    /// An answer that a real Maui accepted (`gold-captures/01-basic/001-Reserve-job1.response`).
    #[test]
    fn an_answer_is_what_maui_accepted_byte_for_byte() {
        let content = Content {
            value: Value::Success,
            code: "000",
            message: Some("Successfully reserved 2400 credits for job job1".to_owned()),
            count: Some("1".to_owned()),
            data: Some("<Reservation><Amount>2400</Amount></Reservation>".to_owned()),
        };
        let expected = "HTTP/1.1 200 OK\r\nContent-Type: text/xml; charset=\"utf-8\"\r\n\
            Transfer-Encoding: chunked\r\n\r\n1E0\r\n\
            <?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Envelope><Body><Response><Status>\
            <Value>Success</Value><Code>000</Code><Message>Successfully reserved 2400 credits for \
            job job1</Message></Status><Count>1</Count><Data><Reservation><Amount>2400</Amount>\
            </Reservation></Data></Response></Body><Signature><DigestValue>\
            Og/guygBimFomnlVG2OSNbNdUGU=</DigestValue><SignatureValue>\
            BVLIKCBNIXXdLyuNoSNN3LBrH7o=</SignatureValue><SecurityToken type=\"Symmetric\">\
            </SecurityToken></Signature></Envelope>\n\r\n0\r\n\r\n";
        let wire = String::from_utf8(wire(&content, Some(&key()))).unwrap();
        assert_eq!(wire, expected);
        assert_eq!(HEAD.len(), 88);
    }

    #[test]
    fn what_is_absent_is_left_out_and_empty_data_stays() {
        for (data, count, expected) in [
            (None, None, ""),
            (Some(""), None, "<Data></Data>"),
            (Some(""), Some("0"), "<Count>0</Count><Data></Data>"),
        ] {
            let content = Content {
                count: count.map(str::to_owned),
                data: data.map(str::to_owned),
                ..Content::failure("782", "no")
            };
            let wire = String::from_utf8(wire(&content, None)).unwrap();
            let body = format!(
                "<Envelope><Body><Response><Status><Value>Failure</Value><Code>782</Code>\
                 <Message>no</Message></Status>{expected}</Response></Body></Envelope>\n"
            );
            assert!(wire.contains(&body), "{wire}");
            let size = format!("\r\n\r\n{:X}\r\n<?xml", body.len() + 39);
            assert!(wire.contains(&size), "{wire}");
        }
    }

    #[test]
    fn a_warning_never_goes_without_data() {
        let content = Content {
            value: Value::Warning,
            ..Content::failure("100", "debt")
        };
        let wire = String::from_utf8(wire(&content, None)).unwrap();
        assert!(wire.contains("</Status><Data></Data></Response>"), "{wire}");
    }

    #[test]
    fn a_message_is_one_short_line_without_markup() {
        for (message, expected) in [
            ("a & b < c > d", "a &amp; b &lt; c &gt; d"),
            ("two\nlines\0", "two&#10;lines "),
            ("Zürich", "Zürich"),
        ] {
            assert_eq!(shown(message), expected);
        }
        assert_eq!(shown(&"&".repeat(300)), "&amp;".repeat(51));
        assert_eq!(shown(&"ü".repeat(300)).len(), 254);
    }
}
