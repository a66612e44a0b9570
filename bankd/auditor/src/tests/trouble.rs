use std::io::{Read, Write};
use std::net::TcpStream;

use super::fixture::{Bank, record};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_is_kept_aside() {
    let bank = Bank::with(|config| config.auditor.body_limit = 2048, false).await;
    let json = "content-type: application/json\r\n";
    let long = record(
        "long",
        "01T00:00:00",
        None,
        &format!(",\"x\":\"{}\"", "y".repeat(3000)),
    );
    let nameless = record(" ", "01T00:00:00", None, "");
    for (method, target, headers, body, status, place, reason, kept) in [
        (
            "POST",
            "/record",
            json,
            "{\"record_id\"",
            400,
            "POST /record",
            "EOF while parsing",
            12,
        ),
        (
            "POST",
            "/record",
            json,
            &nameless,
            400,
            "POST /record",
            "record_id: empty",
            nameless.len(),
        ),
        (
            "POST",
            "/record",
            "",
            "x",
            400,
            "POST /record",
            "the content type",
            1,
        ),
        (
            "POST",
            "/records",
            json,
            "{}",
            400,
            "POST /records",
            "invalid type: map",
            2,
        ),
        (
            "PUT",
            "/record",
            json,
            "{}",
            400,
            "PUT /record",
            "missing field",
            2,
        ),
        (
            "POST",
            "/record",
            json,
            &long,
            413,
            "POST /record",
            "more than auditor.body_limit",
            2048,
        ),
    ] {
        let reply = bank.ask(method, target, headers, body).await;
        assert_eq!(reply.status, status, "{reply:?}");
        let sql = "SELECT place || '|' || reason || '|' || bytes || '|' || length(body) || '|' || source FROM quarantine ORDER BY id DESC LIMIT 1";
        let query = bank
            .services
            .readers
            .run(move |c| Ok(c.query_row(sql, [], |r| r.get::<_, String>(0))?));
        let row = query.await.unwrap();
        let start = format!("{place}|");
        let end = format!("|{kept}|{kept}|auditor");
        assert!(
            row.starts_with(&start) && row.contains(reason) && row.ends_with(&end),
            "{row}"
        );
        if status == 413 {
            let length = long.len();
            let expected = format!(
                "JSON payload ({length} bytes) is larger than allowed (limit: 2048 bytes)."
            );
            assert_eq!(reply.body, expected);
        }
    }
    assert_eq!(bank.house.tally.meter.all(), [6, 0, 0, 0]);
    assert_eq!(bank.ids("").await, [""; 0]);
    bank.close().await;
}

/// A long text in a record is repeated nowhere: not in the answer, not in the reason that is kept.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_text_is_cut_everywhere() {
    let bank = Bank::with(|config| config.sources.quarantine_body_kib = 64, false).await;
    let long = "y".repeat(2 << 20);
    for body in [
        record("a", "01T00:00:00", None, "")
            .replace("\"components\":[", &format!("\"components\":[\"{long}\",")),
        record(&long, "01T00:00:00", None, ""),
        record("b", &long, None, ""),
        // One character, with very many marks.
        record(
            &format!("c{}", "\u{301}".repeat(1 << 20)),
            "01T00:00:00",
            None,
            "",
        ),
    ] {
        let reply = bank.send("POST", "/record", &body).await;
        assert_eq!(reply.status, 400);
        assert!(reply.body.len() < 1500, "{} bytes", reply.body.len());
        let sql = "SELECT length(reason), bytes, length(body), reason FROM quarantine ORDER BY id DESC LIMIT 1";
        let answer = bank.services.readers.run(move |c| {
            Ok(c.query_row(sql, [], |r| {
                Ok((
                    r.get::<_, i64>(0)?,
                    r.get::<_, i64>(1)?,
                    r.get::<_, i64>(2)?,
                    r.get::<_, String>(3)?,
                ))
            })?)
        });
        let (reason, bytes, kept, text) = answer.await.unwrap();
        assert!(reason <= 300, "{reason}");
        assert_eq!((bytes, kept), (64 << 10, 64 << 10));
        assert!(text.starts_with("only 65536 of "), "{text}");
    }
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_later_try_would_cure_has_no_answer() {
    let bank = Bank::open().await;
    let open = record("a", "01T00:00:00", None, "");
    assert_eq!(bank.send("POST", "/record", &open).await.status, 200);
    // The writer ends: a daemon that is going down.
    let services = std::sync::Arc::clone(&bank.services);
    services.writer.stop();
    let ended = tokio::task::spawn_blocking(move || services.writer_thread.wait());
    assert!(ended.await.unwrap());
    let json = "content-type: application/json\r\n";
    let end = r#"{"record_id":"a","components":[],"stop_time":"2024-02-01T00:00:10Z"}"#;
    let other = record("b", "01T00:00:00", None, "");
    let list = format!("[{other}]");
    for (method, target, body) in [
        ("POST", "/record", other.as_str()),
        ("POST", "/records", &list),
        ("PUT", "/record", end),
        // A body that is refused for good, and cannot be kept aside.
        ("POST", "/record", "{"),
    ] {
        let reply = bank.raw(method, target, json, body.as_bytes()).await;
        assert!(reply.is_none(), "{method} {target}: {reply:?}");
    }
    assert_eq!(bank.house.tally.meter.all()[2], 4);
    // Read requests are answered. Records are refused with the reason.
    assert_eq!(bank.get("/record/a").await.status, 200);
    assert_eq!(bank.get("/health_check").await.status, 500);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_requests_come_over_one_connection() {
    let bank = Bank::open().await;
    let address = bank.address;
    let exchange = tokio::task::spawn_blocking(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        let mut received = String::new();
        for number in 0..5 {
            let body = record(&format!("job-{number}"), "01T00:00:00", None, "");
            let head = format!(
                "POST /record HTTP/1.1\r\nhost: bank\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream
                .write_all(format!("{head}{body}").as_bytes())
                .unwrap();
            let mut answer = [0; 512];
            let read = stream.read(&mut answer).unwrap();
            received.push_str(std::str::from_utf8(&answer[..read]).unwrap());
        }
        received
    });
    assert_eq!(
        exchange.await.unwrap().matches("HTTP/1.1 200 OK").count(),
        5
    );
    assert_eq!(bank.ids("").await.len(), 5);
    bank.close().await;
}
