use super::*;

const HEAD: &str = "POST /SSSRMAP3 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";

/// The result of bytes that arrive in pieces of a given size.
fn taken(bytes: &[u8], piece: usize) -> Result<(Step, Vec<u8>), Fault> {
    let mut frame = Frame::default();
    let mut step = Step::Head;
    for part in bytes.chunks(piece) {
        step = frame.take(part)?;
        assert!(frame.payload.len() <= MOST_PAYLOAD && frame.line.len() <= MOST_HEAD);
    }
    Ok((step, frame.into_payload()))
}

/// Head, following bytes, and the message; `None` if it is incomplete.
#[test]
fn messages_end_where_their_dialect_ends_them() {
    let xml = "<Envelope></Envelope>";
    let glued = "POST /SSSRMAP3 HTTP/1.1 HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n";
    let maui = "POST /SSSRMAP3 HTTP/1.1\r\nContent-Type: text/xml; charset=\"utf-8\"\r\n\
                Transfer-Encoding: chunked;\r\n\r\n";
    let sized = "POST /SSSRMAP3 HTTP/1.1\r\ncontent-length:  21 \r\n\r\n";
    let odd = "POST /SSSRMAP HTTP/1.1\r\ntransfer-ENCODING: x, Chunked\r\n\r\n";
    for (head, rest, expected) in [
        (maui, format!("15\r\n{xml}\r\n\0"), Some(xml)),
        (maui, format!("15\r\n{xml}"), Some(xml)),
        (glued, format!("15\r\n{xml}0\r\n"), Some(xml)),
        (
            HEAD,
            format!("16\r\n{xml}\n\r\n0\r\n"),
            Some("<Envelope></Envelope>\n"),
        ),
        (
            HEAD,
            format!("15;more=less\r\n{xml}\r\n0\r\n\r\n"),
            Some(xml),
        ),
        (HEAD, format!(" 0015 \r\n{xml}"), Some(xml)),
        (HEAD, format!("15\n{xml}"), Some(xml)),
        (
            HEAD,
            "a\r\n<Envelope>\r\nB\r\n</Envelope>".to_owned(),
            Some(xml),
        ),
        (
            HEAD,
            "A\r\n<Envelope>b\r\n</Envelope>".to_owned(),
            Some(xml),
        ),
        (
            HEAD,
            "A\r\n<Envelope>\r\n0\r\n".to_owned(),
            Some("<Envelope>"),
        ),
        (HEAD, "0\r\n".to_owned(), Some("")),
        (odd, format!("15\r\n{xml}"), Some(xml)),
        (sized, format!("{xml}and more"), Some(xml)),
        (sized, "<Envelope></Envelope".to_owned(), None),
        (HEAD, format!("16\r\n{xml}"), None),
        (HEAD, "15".to_owned(), None),
        (HEAD, String::new(), None),
        ("POST /SSSRMAP3 HTTP/1.1\r\n\r", String::new(), None),
    ] {
        let bytes = [head.as_bytes(), rest.as_bytes()].concat();
        for piece in [1, 2, 7, bytes.len()] {
            let (step, payload) = taken(&bytes, piece).unwrap();
            let whole = (step == Step::Whole).then_some(payload);
            let expected = expected.map(|text| text.as_bytes().to_vec());
            assert_eq!(whole, expected, "{head}{rest} by {piece}");
        }
    }
}

#[test]
fn invalid_messages_are_rejected_as_soon_as_they_are_seen() {
    let with = |header: &str| format!("POST /SSSRMAP3 HTTP/1.1\r\n{header}\r\n\r\n");
    for (bytes, expected) in [
        ("GET".to_owned(), Fault::NotOurs),
        ("\u{16}\u{3}\u{1}".to_owned(), Fault::NotOurs),
        ("POST /gold".to_owned(), Fault::NotOurs),
        ("post /SSSRMAP3".to_owned(), Fault::NotOurs),
        ("\r\n\r\n".to_owned(), Fault::NotOurs),
        (with("Host: gold"), Fault::NoLength),
        (with("Transfer-Encoding: gzip"), Fault::NoLength),
        (
            with("Content-Length: 5\r\nTransfer-Encoding: chunked;"),
            Fault::TwoLengths,
        ),
        (
            with("transfer-encoding: chunked\r\ncontent-length: 5"),
            Fault::TwoLengths,
        ),
        (with("Content-Length: -1"), Fault::BadLength),
        (with("Content-Length: 1 1"), Fault::BadLength),
        (with("Content-Length:"), Fault::BadLength),
        (with("Content-Length: 65537"), Fault::LongPayload),
        (
            with(&format!("Content-Length: {}", "9".repeat(40))),
            Fault::LongPayload,
        ),
        (format!("{HEAD}x\r\n"), Fault::BadLength),
        (format!("{HEAD}-1\r\n"), Fault::BadLength),
        (format!("{HEAD};\r\n"), Fault::BadLength),
        (format!("{HEAD}10001\r\n"), Fault::LongPayload),
        (format!("{HEAD}{}\r\n", "f".repeat(40)), Fault::LongPayload),
        (format!("{HEAD}{}", "0".repeat(300)), Fault::BadLength),
        (
            format!("{HEAD}8000\r\n{}\r\n8001\r\n", "x".repeat(0x8000)),
            Fault::LongPayload,
        ),
        (
            format!("POST /SSSRMAP3 HTTP/1.1\r\n{}", "a".repeat(9000)),
            Fault::LongHead,
        ),
    ] {
        for piece in [1, 4096] {
            let error = taken(bytes.as_bytes(), piece).err();
            assert_eq!(
                error,
                Some(expected),
                "{} by {piece}",
                &bytes[..bytes.len().min(80)]
            );
        }
    }
}

/// A message in chunks of one byte is looked through once, not once for each of them.
#[test]
fn small_chunks_are_cheap() {
    let filler = "1\r\nx\r\n".repeat(MOST_PAYLOAD - END.len());
    let letters = END
        .iter()
        .map(|letter| [b"1\r\n", &[*letter][..], b"\r\n"].concat());
    let end = String::from_utf8(letters.collect::<Vec<_>>().concat()).unwrap();
    let message = format!("{HEAD}{filler}{end}");
    let since = std::time::Instant::now();
    let (step, payload) = taken(message.as_bytes(), 4096).unwrap();
    assert_eq!((step, payload.len()), (Step::Whole, MOST_PAYLOAD));
    assert!(since.elapsed().as_secs() < 5, "{:?}", since.elapsed());
}

#[test]
fn a_length_that_is_only_announced_takes_no_memory() {
    let mut frame = Frame::default();
    frame.take(format!("{HEAD}FFFF\r\nx").as_bytes()).unwrap();
    assert!(frame.memory() < 1024, "{}", frame.memory());
    let mut longest = Frame::default();
    longest.take(format!("{HEAD}10000\r\n").as_bytes()).unwrap();
    assert_eq!(longest.take(&vec![b'x'; MOST_PAYLOAD]), Ok(Step::Payload));
    assert_eq!(longest.take(b"0\r\n"), Ok(Step::Whole));
}
