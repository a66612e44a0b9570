use super::*;

const SIGNED: &str = "<Signature><DigestValue>D</DigestValue>\
                      <SignatureValue>S</SignatureValue></Signature>";

/// The result as text: body, digest and signature, whether the client is maui, whether the token is another
/// one; or the error.
fn opened(payload: &str) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match open(payload.as_bytes()) {
        Err(broken) => format!("{broken:?}"),
        Ok(envelope) => {
            let values = envelope.signature.map_or_else(String::new, |signature| {
                format!(" {},{}", text(signature.digest), text(signature.value))
            });
            let maui = if envelope.is_maui { " maui" } else { "" };
            let token = if envelope.other_token { " token" } else { "" };
            format!("{}{values}{maui}{token}", text(envelope.body))
        }
    }
}

#[test]
fn parts_are_found_by_name_in_any_order_and_quoting() {
    let body = "<Body actor=\"root\">x</Body>";
    for (payload, expected) in [
        (
            format!("<Envelope count=\"1\" name=\"maui\">{SIGNED}{body}</Envelope>"),
            format!("{body} D,S maui"),
        ),
        (
            format!("<Envelope name='maui' a=\"name='x'\">{body}{SIGNED}</Envelope>"),
            format!("{body} D,S maui"),
        ),
        (
            format!(
                "<?xml version='1.0'?>\n<Envelope  name = \"maui\" >{body}{SIGNED}</Envelope>\n"
            ),
            format!("{body} D,S maui"),
        ),
        (
            format!("<Envelope nickname=\"maui\">{body}{SIGNED}</Envelope>"),
            format!("{body} D,S"),
        ),
        (
            format!("<Envelope x=\"a > b name='maui'\">{body}{SIGNED}</Envelope>"),
            format!("{body} D,S"),
        ),
        (format!("<Envelope>{body}</Envelope>"), body.to_owned()),
        (
            format!("<Envelope>{body}<Signature/></Envelope>"),
            body.to_owned(),
        ),
        (
            format!(
                "<Envelope>{body}<Signature><DigestValue>D</DigestValue></Signature></Envelope>"
            ),
            body.to_owned(),
        ),
        (
            format!(
                "<Envelope>{body}<Signature>\n <SignatureValue>\n S </SignatureValue>\n \
                 <DigestValue>D\n</DigestValue><SecurityToken type='Symmetric'/>\
                 </Signature></Envelope>"
            ),
            format!("{body} D,S"),
        ),
        (
            format!(
                "<Envelope>{body}<Signature><SecurityToken type=\"Password\"></SecurityToken>\
                 <DigestValue>D</DigestValue><SignatureValue>S</SignatureValue></Signature></Envelope>"
            ),
            format!("{body} D,S token"),
        ),
        // A signature in the body is the caller's text.
        (
            format!("<Envelope><Body>{SIGNED}</Body></Envelope>"),
            format!("<Body>{SIGNED}</Body>"),
        ),
        (
            format!("<Envelope><Bodyguard/><Body/>{SIGNED}</Envelope>"),
            "<Body/> D,S".to_owned(),
        ),
        (
            "<Envelope><EncryptedData>x</EncryptedData></Envelope>".to_owned(),
            "Encrypted".to_owned(),
        ),
        (
            format!("<!DOCTYPE Envelope><Envelope>{body}{SIGNED}</Envelope>"),
            "Malformed".to_owned(),
        ),
        (
            format!("<Envelope>{body}<!DOCTYPE x [<!ENTITY y 'z'>]>{SIGNED}</Envelope>"),
            "Malformed".to_owned(),
        ),
        ("<Envelope></Envelope>".to_owned(), "Malformed".to_owned()),
        ("<Envelope/>".to_owned(), "Malformed".to_owned()),
        (
            "<Envelope><Body></Envelope>".to_owned(),
            "Malformed".to_owned(),
        ),
        (
            "<Envelope name=\"maui><Body/></Envelope>".to_owned(),
            "Malformed".to_owned(),
        ),
        (format!("<Envelope>{body}"), "Malformed".to_owned()),
        (body.to_owned(), "Malformed".to_owned()),
        ("<".to_owned(), "Malformed".to_owned()),
        (String::new(), "Malformed".to_owned()),
    ] {
        assert_eq!(opened(&payload), expected, "{payload}");
    }
}

#[test]
fn empty_elements_are_written_with_two_tags() {
    for (body, expected) in [
        (
            "<Body><Get name=\"Id\"/></Body>",
            Some("<Body><Get name=\"Id\"></Get></Body>"),
        ),
        ("<Body><x /></Body>", Some("<Body><x></x></Body>")),
        ("<Body/>", Some("<Body></Body>")),
        ("<Body a=\"/>\">/></Body>", None),
        ("<Body><x></x></Body>", None),
        ("<Body><x", None),
        ("", None),
    ] {
        let found = expanded(body.as_bytes()).map(|body| String::from_utf8(body).unwrap());
        assert_eq!(found.as_deref(), expected, "{body}");
    }
}
