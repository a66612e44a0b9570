use super::fixture::{Bank, record};

const NO_ROUTE: &str = "The requested resource was not found. 404 Not Found";

#[tokio::test(flavor = "multi_thread")]
async fn every_route_answers_as_documented() {
    let bank = Bank::open().await;
    let json = "content-type: application/json\r\n";
    let one = record("a b/c#1", "01T00:00:00", Some("01T01:00:00.5"), "");
    let open = record("open", "01T00:00:00", None, "");
    let end = r#"{"record_id":"open","components":[],"stop_time":"2024-02-01T00:00:10Z"}"#;
    let nobody = r#"{"record_id":"nobody","components":[],"stop_time":"2024-02-01T00:00:10Z"}"#;
    let two = format!(
        "[{},{}]",
        record("x", "01T00:00:00", None, ""),
        record("y", "01T00:00:00", None, "")
    );
    let again = format!(
        "[{},{}]",
        record("z", "01T00:00:00", None, ""),
        record("y", "01T00:00:00", None, "")
    );
    let inside = format!(
        "[{},{}]",
        record("z", "01T00:00:00", None, ""),
        record("z", "01T00:00:00", None, "")
    );
    let bad = format!("[{},{{}}]", record("z", "01T00:00:00", None, ""));
    let stored = r#"{"record_id":"a b/c#1","meta":{"group_id":["physics"],"site_id":["hpc"],"user_id":["amy"]},"components":[{"name":"Cores","amount":2,"scores":[]}],"start_time":"2024-02-01T00:00:00Z","stop_time":"2024-02-01T01:00:00.500Z","runtime":3600}"#;
    for (method, target, headers, body, status, expected) in [
        ("GET", "/health_check", "", "", 200, ""),
        ("HEAD", "/health_check", "", "", 200, ""),
        ("POST", "/record", json, one.as_str(), 200, ""),
        ("POST", "/record", json, &one, 500, "RECORD_EXISTS"),
        ("POST", "/record", json, &open, 200, ""),
        ("PUT", "/record", json, end, 200, ""),
        (
            "PUT",
            "/record",
            json,
            nobody,
            404,
            "Updating unknown record nobody not possible.",
        ),
        ("POST", "/records", json, "[]", 200, ""),
        ("POST", "/records", json, &two, 200, ""),
        ("POST", "/records", json, &again, 500, "RECORD_EXISTS"),
        ("POST", "/records", json, &inside, 500, "RECORD_EXISTS"),
        (
            "GET",
            "/record/z",
            "",
            "",
            404,
            r#"{"error":"no record of that id"}"#,
        ),
        ("GET", "/record/a%20b%2Fc%231", "", "", 200, stored),
        ("GET", "/record/a%20b/c%231", "", "", 200, stored),
        (
            "GET",
            "/record/",
            "",
            "",
            404,
            r#"{"error":"no record of that id"}"#,
        ),
        (
            "GET",
            "/record/%ff",
            "",
            "",
            404,
            r#"{"error":"no record of that id"}"#,
        ),
        (
            "POST",
            "/records",
            json,
            &bad,
            400,
            "Json deserialize error: missing field `record_id` at line 1 column",
        ),
        (
            "POST",
            "/record",
            json,
            "{",
            400,
            "Json deserialize error: EOF",
        ),
        (
            "POST",
            "/record",
            json,
            "",
            400,
            "Json deserialize error: EOF",
        ),
        (
            "POST",
            "/record",
            "content-type: text/plain\r\n",
            &one,
            400,
            "Content type error",
        ),
        ("POST", "/record", "", &one, 400, "Content type error"),
        (
            "GET",
            "/records?limit=x",
            "",
            "",
            400,
            r#"{"error":"limit: a number from 0 to 2^64-1 expected"}"#,
        ),
        ("GET", "/records?limit=0", "", "", 200, ""),
        ("GET", "/record", "", "", 405, ""),
        ("DELETE", "/record", "", "", 405, ""),
        ("PUT", "/records", json, "[]", 405, ""),
        ("OPTIONS", "/records", "", "", 405, ""),
        ("GET", "/records/", "", "", 404, NO_ROUTE),
        ("GET", "/", "", "", 404, NO_ROUTE),
        ("POST", "/health_check", "", "", 404, NO_ROUTE),
        ("DELETE", "/record/open", "", "", 404, NO_ROUTE),
        ("POST", "/metrics", "", "", 404, NO_ROUTE),
        ("OPTIONS", "/metrics", "", "", 404, NO_ROUTE),
        ("POST", "/add", json, &one, 404, NO_ROUTE),
        ("GET", "/get", "", "", 404, NO_ROUTE),
    ] {
        let reply = bank.ask(method, target, headers, body).await;
        assert_eq!(reply.status, status, "{method} {target} {body}: {reply:?}");
        let fits = if expected.is_empty() {
            reply.body.is_empty()
        } else {
            reply.body.starts_with(expected)
        };
        assert!(fits, "{method} {target} {body}: {reply:?}");
    }
    // A refused list stores no records.
    assert_eq!(
        bank.ids("sort_by[asc]=record_id").await,
        ["a b/c#1", "open", "x", "y"]
    );
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_are_as_clients_know_them() {
    let bank = Bank::open().await;
    let json = "content-type: application/vnd.x+json; charset=utf-8\r\n";
    for (method, target, body, media, length) in [
        ("GET", "/health_check", String::new(), None, Some("0")),
        (
            "POST",
            "/record",
            record("a", "01T00:00:00", None, ""),
            None,
            Some("0"),
        ),
        (
            "POST",
            "/record",
            record("a", "01T00:00:00", None, ""),
            None,
            Some("13"),
        ),
        (
            "POST",
            "/record",
            "{".to_owned(),
            Some("text/plain; charset=utf-8"),
            Some("70"),
        ),
        (
            "GET",
            "/record/b",
            String::new(),
            Some("application/json"),
            Some("32"),
        ),
        (
            "GET",
            "/records",
            String::new(),
            Some("application/json"),
            None,
        ),
        (
            "GET",
            "/records?limit=0",
            String::new(),
            Some("application/json"),
            None,
        ),
        (
            "GET",
            "/metrics",
            String::new(),
            Some("text/plain; version=0.0.4; charset=utf-8"),
            None,
        ),
    ] {
        let reply = bank.ask(method, target, json, &body).await;
        assert_eq!(
            reply.header("content-type"),
            media,
            "{method} {target}: {reply:?}"
        );
        if let Some(length) = length.filter(|_| target != "/metrics") {
            assert_eq!(
                reply.header("content-length"),
                Some(length),
                "{method} {target}: {reply:?}"
            );
        }
        if target.starts_with("/records") {
            assert_eq!(
                reply.header("transfer-encoding"),
                Some("chunked"),
                "{target}"
            );
        }
    }
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_there_already_may_be_passed_over() {
    let bank = Bank::with(
        |config| config.auditor.ignore_record_exists_error = true,
        false,
    )
    .await;
    let one = record("a", "01T00:00:00", None, "");
    assert_eq!(bank.send("POST", "/record", &one).await.body, "");
    let again = bank.send("POST", "/record", &one).await;
    let warning = r#"{"warning":"Record already exists, but the error was ignored due to AUDITOR configuration."}"#;
    assert_eq!((again.status, again.body.as_str()), (200, warning));
    let more = format!(
        "[{one},{},{}]",
        record("b", "01T00:00:00", None, ""),
        record("b", "01T00:00:00", None, "")
    );
    let again = bank.send("POST", "/records", &more).await;
    let warning = r#"{"warning":"One or more records already exist, but the error was ignored due to AUDITOR configuration."}"#;
    assert_eq!((again.status, again.body.as_str()), (200, warning));
    // Unlike AUDITOR, the new records are stored.
    assert_eq!(bank.ids("sort_by[asc]=record_id").await, ["a", "b"]);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_may_be_moved_again_and_again() {
    let bank = Bank::open().await;
    bank.send("POST", "/record", &record("a", "02T00:00:00.5", None, ""))
        .await;
    for (stop, runtime) in [
        ("02T00:00:10", 9),
        ("01T00:00:00", -86_400),
        ("03T00:00:00.5", 86_400),
    ] {
        let end = format!(
            r#"{{"record_id":"a","meta":{{"x":["y"]}},"components":[],"start_time":null,"stop_time":"2024-02-{stop}Z"}}"#
        );
        assert_eq!(bank.send("PUT", "/record", &end).await.status, 200);
        let reply = bank.get("/record/a").await;
        assert!(
            reply.body.ends_with(&format!(r#""runtime":{runtime}}}"#)),
            "{reply:?}"
        );
        assert!(reply.body.contains(r#""user_id":["amy"]"#));
        // A record is found by its present values.
        assert_eq!(
            bank.ids("meta[group_id][c][]=physics&runtime[lt]=100000")
                .await,
            ["a"]
        );
        assert_eq!(
            bank.ids(&format!(
                "meta[site_id][c][]=hpc&stop_time[equals]=2024-02-{stop}Z"
            ))
            .await,
            ["a"]
        );
    }
    assert_eq!(bank.number("SELECT count(*) FROM auditor_value").await, 3);
    bank.close().await;
}
