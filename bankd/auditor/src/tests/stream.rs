use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::fixture::{Bank, record};

/// Records of three groups with different orders of ends, starts and lengths.
async fn filled() -> Bank {
    let bank = Bank::open().await;
    let with = |id: &str, start: &str, stop: Option<&str>, meta: &str, components: &str| {
        let stop = stop.map_or("null".to_owned(), |stop| format!("\"2024-02-{stop}Z\""));
        format!(
            r#"{{"record_id":"{id}","meta":{meta},"components":{components},"start_time":"2024-02-{start}Z","stop_time":{stop}}}"#
        )
    };
    let cores = |n: i64| {
        format!(
            r#"[{{"name":"Memory","amount":5,"scores":[]}},{{"name":"Cores","amount":{n},"scores":[]}},{{"name":"Cores","amount":1,"scores":[]}}]"#
        )
    };
    let list = [
        with(
            "d",
            "01T00:00:00",
            Some("01T10:00:00"),
            r#"{"g":["a","b"],"s":["x"]}"#,
            &cores(8),
        ),
        with(
            "c",
            "02T00:00:00",
            Some("02T01:00:00"),
            r#"{"g":["a"]}"#,
            &cores(12),
        ),
        with("b", "03T00:00:00", None, r#"{"g":["b"],"s":["y"]}"#, "[]"),
        with(
            "a",
            "01T12:00:00",
            Some("02T01:00:00"),
            r"{}",
            &cores(4_294_967_296),
        ),
        with("e", "01T06:00:00", Some("01T05:00:00"), "null", &cores(16)),
        with("f", "04T00:00:00", None, r#"{"g":[]}"#, "[]"),
    ];
    let reply = bank
        .send("POST", "/records", &format!("[{}]", list.join(",")))
        .await;
    assert_eq!(reply.status, 200, "{reply:?}");
    bank
}

#[tokio::test(flavor = "multi_thread")]
async fn records_are_returned_as_requested() {
    let bank = filled().await;
    for (query, ids) in [
        // By end; ties in order of arrival; open records last.
        ("", "edcabf"),
        ("sort_by[asc]=stop_time", "edcabf"),
        ("sort_by[desc]=stop_time", "bfcade"),
        ("sort_by[asc]=start_time", "deacbf"),
        ("sort_by[desc]=start_time", "fbcaed"),
        ("sort_by[asc]=runtime", "ecdabf"),
        ("sort_by[desc]=runtime", "bfadce"),
        ("sort_by[asc]=record_id", "abcdef"),
        ("sort_by[desc]=record_id", "fedcba"),
        ("limit=2", "ed"),
        ("limit=0", ""),
        ("sort_by[desc]=stop_time&limit=3", "bfc"),
        ("record_id=c", "c"),
        ("record_id=C", ""),
        ("start_time[gte]=2024-02-02T00:00:00Z", "cbf"),
        ("start_time[gt]=2024-02-02T00:00:00Z", "bf"),
        ("start_time[lt]=2024-02-01T06:00:00Z", "d"),
        (
            "start_time[lte]=2024-02-01T06:00:00Z&sort_by[desc]=start_time",
            "ed",
        ),
        (
            "start_time[gte]=2024-02-01T06:00:00Z&sort_by[desc]=runtime&limit=3",
            "bfa",
        ),
        ("start_time[equals]=2024-02-01T12:00:00Z", "a"),
        // An open record has no end and no length.
        ("stop_time[gt]=2024-01-01T00:00:00Z", "edca"),
        ("stop_time[lte]=9999-12-31T23:59:59.999999Z", "edca"),
        (
            "stop_time[gte]=2024-02-02T01:00:00Z&stop_time[lt]=2024-02-03T00:00:00Z",
            "ca",
        ),
        (
            "stop_time[gte]=2024-02-02T01:00:00Z&sort_by[desc]=record_id",
            "ca",
        ),
        (
            "stop_time[equals]=2024-02-02T01:00:00Z&sort_by[desc]=stop_time",
            "ca",
        ),
        ("runtime[gte]=0", "dca"),
        ("runtime[lt]=0", "e"),
        ("runtime[equals]=3600", "c"),
        ("runtime[gt]=3600&runtime[gte]=0", "da"),
        ("runtime[lt]=18446744073709551615", "edca"),
        ("runtime[gt]=9223372036854775807", ""),
        ("meta[g][c][0]=a", "dc"),
        ("meta[g][c][0]=a&meta[g][c][1]=b", "d"),
        ("meta[g][c][]=b&meta[g][c][]=a&sort_by[asc]=start_time", "d"),
        ("meta[g][c][0]=b&sort_by[desc]=stop_time&limit=1", "b"),
        ("meta[g][c][0]=b&meta[s][c][0]=x", "d"),
        (
            "meta[s][c][0]=y&meta[g][c][0]=b&sort_by[asc]=record_id&limit=9",
            "b",
        ),
        ("meta[g][c][0]=a&sort_by[desc]=start_time&limit=1", "c"),
        ("meta[g][c][0]=b&stop_time[gt]=2024-01-01T00:00:00Z", "d"),
        ("meta[g][c][0]=A", ""),
        // The key must be there, and may be empty.
        ("meta[g][dnc][0]=b", "cf"),
        ("meta[g][dnc][0]=b&meta[g][dnc][1]=a", "f"),
        ("meta[g][c][0]=a&meta[g][dnc][0]=b", "c"),
        ("meta[nobody][dnc][0]=b", ""),
        // Any component of that name, and of 64 bits.
        ("component[Cores][gt]=10", "eca"),
        ("component[Cores][gt]=8&component[Cores][lte]=12", "c"),
        (
            "component[Cores][equals]=4294967296&component[Memory][equals]=5",
            "a",
        ),
        ("component[Cores][lt]=2", "edca"),
        ("component[cores][gt]=0", ""),
    ] {
        assert_eq!(bank.ids(query).await.concat(), ids, "{query}");
    }
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_common_value_is_searched_in_the_requested_order() {
    let bank = filled().await;
    let cases = [
        ("meta[g][c][0]=a&sort_by[desc]=start_time&limit=1", "c"),
        ("meta[g][c][0]=a&sort_by[asc]=start_time&limit=5", "dc"),
        (
            "meta[g][c][0]=b&meta[g][c][1]=a&sort_by[asc]=record_id&limit=5",
            "d",
        ),
        ("meta[g][c][0]=a&sort_by[desc]=runtime&limit=1", "d"),
        ("meta[g][c][0]=a&limit=1", "d"),
    ];
    for (query, ids) in cases {
        assert_eq!(bank.ids(query).await.concat(), ids, "{query}");
    }
    // As if 20,000 more had it.
    let many = rusqlite::Connection::open(&bank.database).unwrap();
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
               INSERT INTO auditor_value SELECT ?1, i, 1000 + i FROM n";
    let pair = bankd_store::read::auditor::pair;
    for value in ["a", "b"] {
        many.execute(sql, [pair("g", value)]).unwrap();
    }
    for (query, ids) in cases {
        assert_eq!(bank.ids(query).await.concat(), ids, "{query}");
    }
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_array_is_returned_only_if_requested_by_name() {
    let bank = filled().await;
    for (accept, is_array) in [
        ("", false),
        ("accept: */*\r\n", false),
        ("accept: application/x-ndjson\r\n", false),
        ("accept: application/json\r\n", true),
        ("accept: text/plain, application/json;q=0.9\r\n", true),
    ] {
        for (query, count) in [("", 6), ("?limit=1", 1), ("?limit=0", 0)] {
            let reply = bank
                .ask("GET", &format!("/records{query}"), accept, "")
                .await;
            assert_eq!(reply.header("content-type"), Some("application/json"));
            let records: Vec<serde_json::Value> = if is_array {
                serde_json::from_str(&reply.body).unwrap()
            } else {
                assert!(
                    reply.body.is_empty() || reply.body.ends_with("}\n"),
                    "{}",
                    reply.body
                );
                let records = serde_json::Deserializer::from_str(&reply.body).into_iter();
                records.collect::<Result<_, _>>().unwrap()
            };
            assert_eq!(records.len(), count, "{accept} {query}");
        }
    }
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_answer_comes_whole() {
    let bank = Bank::open().await;
    let mut sent = Vec::new();
    for number in 0..3000 {
        let start = format!("01T{:02}:{:02}:00", number / 60 % 24, number % 60);
        sent.push(record(
            &format!("job-{number}"),
            &start,
            Some("02T00:00:00"),
            "",
        ));
    }
    let reply = bank
        .send("POST", "/records", &format!("[{}]", sent.join(",")))
        .await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let ids = bank.ids("").await;
    let wanted: Vec<String> = (0..3000).map(|number| format!("job-{number}")).collect();
    assert_eq!(ids, wanted);
    assert_eq!(
        bank.ids("meta[user_id][c][]=amy&limit=2999").await.len(),
        2999
    );
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_stops_taking_holds_up_nobody() {
    let bank = Bank::open().await;
    let mut sent = Vec::new();
    let long = format!(r#","x":0,"meta":{{"k":["{}"]}}"#, "v".repeat(200));
    for number in 0..2000 {
        sent.push(format!(r#"{{"record_id":"{number}","components":[],"start_time":"2024-02-01T00:00:00Z"{long}}}"#));
    }
    assert_eq!(
        bank.send("POST", "/records", &format!("[{}]", sent.join(",")))
            .await
            .status,
        200
    );
    let mut idle = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect(bank.address).unwrap();
        stream
            .write_all(b"GET /records HTTP/1.1\r\nhost: bank\r\n\r\n")
            .unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        idle.push(stream);
    }
    assert_eq!(bank.get("/record/7").await.status, 200);
    assert_eq!(
        bank.send("POST", "/record", &record("a", "01T00:00:00", None, ""))
            .await
            .status,
        200
    );
    drop(idle);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_answers_leave_room_for_ends_and_short_questions() {
    let bank = Bank::open().await;
    let open = record("a", "01T00:00:00", None, "");
    assert_eq!(bank.send("POST", "/record", &open).await.status, 200);
    let mut slow = Vec::new();
    while let Some(lease) = bank.house.readers.lend(Duration::ZERO).await {
        slow.push(lease);
    }
    assert_eq!(slow.len(), 8);
    let end = r#"{"record_id":"a","components":[],"stop_time":"2024-02-01T00:00:10Z"}"#;
    assert_eq!(bank.send("PUT", "/record", end).await.status, 200);
    for target in ["/record/a", "/health_check", "/metrics"] {
        assert_eq!(bank.get(target).await.status, 200, "{target}");
    }
    drop(slow);
    assert_eq!(bank.ids("").await, ["a"]);
    bank.close().await;
}
