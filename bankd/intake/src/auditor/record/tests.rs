use super::*;

fn record(fields: &str) -> String {
    format!(r#"{{"record_id":"a","components":[],"start_time":"2024-01-01T00:00:00Z"{fields}}}"#)
}

#[test]
fn records_are_kept_as_they_are_answered() {
    for (body, head) in [
        (
            record(""),
            r#"{"record_id":"a","meta":null,"components":[],"start_time":"2024-01-01T00:00:00Z""#,
        ),
        (
            record(r#","meta":{}"#),
            r#"{"record_id":"a","meta":{},"components":[],"start_time":"2024-01-01T00:00:00Z""#,
        ),
        (
            record(r#","meta":{"b":[],"a":["y","x","y"]},"runtime":"not ours""#),
            r#"{"record_id":"a","meta":{"a":["y","x","y"],"b":[]},"components":[],"start_time":"2024-01-01T00:00:00Z""#,
        ),
        (
            r#"{"start_time":"2024-01-01T01:00:00.5+01:00","components":[
                {"name":"C","amount":9223372036854775807,"scores":[{"name":"H","value":3},{"name":"H","value":1.50}]},
                {"name":"C","amount":0,"scores":[]}],"record_id":" a/b \"<>\\ "}"#.to_owned(),
            r#"{"record_id":" a/b \"<>\u005c ","meta":null,"components":[{"name":"C","amount":9223372036854775807,"scores":[{"name":"H","value":3.0},{"name":"H","value":1.5}]},{"name":"C","amount":0,"scores":[]}],"start_time":"2024-01-01T00:00:00.500Z""#,
        ),
    ] {
        let added = add(body.as_bytes()).unwrap();
        assert_eq!(added.head, head, "{body}");
        assert_eq!((added.stop, added.runtime), (None, None));
    }
}

#[test]
fn the_runtime_is_counted_from_what_was_sent() {
    for (stop, kept) in [
        (
            r#""2024-01-01T00:00:01.9999999Z""#,
            Some((1_704_067_201_999_999, 1)),
        ),
        (
            r#""2023-12-31T23:59:58.1Z""#,
            Some((1_704_067_198_100_000, -1)),
        ),
        (
            r#""2024-01-01T00:00:00Z""#,
            Some((1_704_067_200_000_000, 0)),
        ),
        ("null", None),
    ] {
        let added = add(record(&format!(r#","stop_time":{stop}"#)).as_bytes()).unwrap();
        assert_eq!(added.stop.zip(added.runtime), kept, "{stop}");
    }
}

#[test]
fn names_have_up_to_256_characters() {
    // A family of four is one character of seven code points.
    let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466}";
    for (name, why) in [
        ("a".repeat(256), None),
        ("a".repeat(257), Some("longer than 256 characters")),
        ("ä".repeat(256), None),
        ("e\u{301}".repeat(256), None),
        ("e\u{301}".repeat(257), Some("longer than 256 characters")),
        (family.repeat(256), None),
        (family.repeat(257), Some("longer than 256 characters")),
        (" a ".to_owned(), None),
        ("/ ( ) \" < > \\ { }".to_owned(), None),
        ("a\nb".to_owned(), None),
        (String::new(), Some("empty")),
        (" \t\u{a0}".to_owned(), Some("empty")),
        ("a\0b".to_owned(), Some("holds U+0000")),
    ] {
        assert_eq!(fault(&name), why, "{name:?}");
    }
}

#[test]
fn mistakes_are_reported_with_their_place() {
    let nul = record(r#","meta":{"k":["a\u0000"]}"#);
    for (body, written) in [
        (String::new(), "EOF while parsing"),
        ("{} x".to_owned(), "missing field"),
        (format!("{} x", record("")), "trailing characters"),
        ("[]".to_owned(), "invalid length 0"),
        (record(r#","record_id":"b""#), "duplicate field `record_id`"),
        (record(r#","meta":{"":["a"]}"#), "meta: empty"),
        (record(r#","meta":{"k":["a"," "]}"#), "meta.k: empty"),
        (nul, "meta.k: holds U+0000"),
        (record(r#","stop_time":5"#), "invalid type: integer"),
        (
            record(r#","stop_time":"""#),
            "stop_time: \"\" is not a time with a zone",
        ),
        (
            record(r#","stop_time":"2024-01-01T00:00:00""#),
            "is not a time with a zone",
        ),
        (
            record("").replace("[]", r#"[{"name":"c","amount":-1,"scores":[]}]"#),
            "components[0].amount: below zero",
        ),
        (
            record("").replace("[]", r#"[{"name":"","amount":1,"scores":[]}]"#),
            "components[0].name: empty",
        ),
        (
            record("").replace(
                "[]",
                r#"[{"name":"c","amount":1,"scores":[{"name":"s","value":-0.1}]}]"#,
            ),
            "components[0].scores[0].value: not a number of 0 or above",
        ),
        (
            record("").replace(
                "[]",
                r#"[{"name":"c","amount":1,"scores":[{"name":"s","value":"1"}]}]"#,
            ),
            "components[0].scores[0].value",
        ),
        (
            record("").replace(
                "[]",
                r#"[{"name":"c","amount":1,"scores":[{"name":" ","value":1}]}]"#,
            ),
            "components[0].scores[0].name: empty",
        ),
    ] {
        let refused = add(body.as_bytes()).unwrap_err();
        assert!(refused.why.contains(written), "{body}: {}", refused.why);
    }
    let bad = [
        b"{\"x\":\"\xff\",".as_slice(),
        record("").as_bytes().split_at(1).1,
    ]
    .concat();
    assert!(add(&bad).unwrap_err().why.contains("utf-8"));
}

#[test]
fn one_bad_record_of_many_is_named() {
    let two = format!("[{},{}]", record(""), record("").replace("\"a\"", "\" \""));
    let refused = add_many(two.as_bytes(), usize::MAX).unwrap_err();
    assert_eq!(refused.why, "[1].record_id: empty");
    assert_eq!(refused.record_id.as_deref(), Some(" "));
    assert_eq!(add_many(b"[]", 0).unwrap(), []);
}

#[test]
fn an_update_needs_components_and_an_end() {
    let body = |more: &str| format!(r#"{{"record_id":"a","components":[]{more}}}"#);
    let stop = r#","stop_time":"2024-01-01T00:00:01.25Z""#;
    for more in [
        "",
        r#","start_time":null"#,
        r#","start_time":7,"meta":null,"runtime":1"#,
    ] {
        let updated = update(body(&format!("{stop}{more}")).as_bytes()).unwrap();
        assert_eq!(updated.stop.micros(), 1_704_067_201_250_000, "{more}");
    }
    for (more, written) in [
        ("", "missing field `stop_time`"),
        (r#","stop_time":null"#, "invalid type: null"),
        (
            r#","stop_time":"soon""#,
            "stop_time: \"soon\" is not a time",
        ),
    ] {
        assert!(
            update(body(more).as_bytes())
                .unwrap_err()
                .why
                .contains(written),
            "{more}"
        );
    }
    let without = format!(r#"{{"record_id":"a"{stop}}}"#);
    assert!(
        update(without.as_bytes())
            .unwrap_err()
            .why
            .contains("missing field `components`")
    );
    let meta = body(&format!(r#"{stop},"meta":{{"":["x"]}}"#));
    assert!(
        update(meta.as_bytes())
            .unwrap_err()
            .why
            .contains("meta: empty")
    );
}

#[test]
fn a_refused_record_is_named_where_its_name_can_be_read() {
    let of = |body: &str| add(body.as_bytes()).unwrap_err().record_id;
    for (body, name) in [
        (
            r#"{"record_id":"a","start_time":"2024-01-01T00:00:00Z"}"#,
            Some("a"),
        ),
        (r#"{"components":null,"record_id":"a"}"#, Some("a")),
        (
            &record("").replace("[]", r#"[{"name":"C","amount":-1,"scores":[]}]"#),
            Some("a"),
        ),
        (r#"{"record_id":"a","record_id":"b"}"#, None),
        (r#"{"record_id":7}"#, None),
        (r#"{"record_id":"a""#, None),
        ("[]", None),
    ] {
        assert_eq!(of(body).as_deref(), name, "{body}");
    }
    let end = update(br#"{"record_id":"a","components":[]}"#).unwrap_err();
    assert_eq!(end.record_id.as_deref(), Some("a"));
}

/// A list is cut off while it is read, so that a long one takes no memory.
#[test]
fn a_list_has_a_largest_number_of_records() {
    let one = r#"{"record_id":"N","components":[],"start_time":"2026-01-01T00:00:00Z"}"#;
    let list = |many: usize| {
        let all: Vec<_> = (0..many)
            .map(|n| one.replace('N', &n.to_string()))
            .collect();
        format!("[{}]", all.join(","))
    };
    assert_eq!(add_many(list(3).as_bytes(), 3).unwrap().len(), 3);
    let refused = add_many(list(4).as_bytes(), 3).unwrap_err();
    assert!(
        refused.why.starts_with("more than 3 records in one list"),
        "{refused:?}"
    );
    let broken = list(3).replace(']', "");
    assert!(add_many(format!("{broken} ,").as_bytes(), 3).is_err());
    assert!(add_many(format!("{} x", list(2)).as_bytes(), 3).is_err());
}
