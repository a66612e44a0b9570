//! Who may do what over TLS, from outside: every refusal of its own, and that no header helps.

use rustls::ClientConfig;

use super::authority::Authority;
use super::wire::{Response, ask, plain, secure};
use super::{Site, secure_site};

/// A record of a site, open or closed.
fn record(name: &str, site: &str, closed: bool) -> String {
    let stop = if closed {
        "\"2026-01-01T01:00:00Z\""
    } else {
        "null"
    };
    format!(
        "{{\"record_id\":\"{name}\",\"meta\":{{\"site_id\":[\"{site}\"],\"group_id\":[\"g\"],\
         \"user_id\":[\"u\"]}},\"components\":[{{\"name\":\"Cores\",\"amount\":8,\"scores\":[]}}],\
         \"start_time\":\"2026-01-01T00:00:00Z\",\"stop_time\":{stop}}}"
    )
}

const RULES: &str = "\
read = [\"reader\", \"hpc\", \"both\"]
write = [\"writer\", \"other\"]
metrics = [\"watcher\", \"hpc\"]
[auditor.access.data.hpc]
site_id = [\"hpc\"]
[auditor.access.data.both]
site_id = [\"hpc\", \"htc\"]
group_id = [\"g\"]
";

/// A daemon with certificates for callers.
struct Door {
    authority: Authority,
    site: Site,
}

impl Door {
    fn new() -> Option<Self> {
        let authority = Authority::new()?;
        for name in [
            "reader", "hpc", "both", "writer", "other", "watcher", "stranger",
        ] {
            authority.issue(name, &format!("/O=Example/CN={name}"));
        }
        authority.issue("two", "/CN=writer/CN=reader");
        let site = secure_site(&authority, RULES);
        Some(Self { authority, site })
    }

    fn caller(&self, name: &str) -> ClientConfig {
        self.authority.caller(Some(name))
    }

    fn ask(&self, name: &str, method: &str, target: &str, body: &str) -> Response {
        self.ask_with(name, method, target, &[], body)
    }

    fn ask_with(
        &self,
        name: &str,
        method: &str,
        target: &str,
        fields: &[(&str, &str)],
        body: &str,
    ) -> Response {
        let stream = secure(&self.site.address, self.caller(name));
        ask(stream, method, target, fields, body).unwrap()
    }
}

#[test]
fn every_right_is_refused_to_everybody_else() {
    let Some(mut door) = Door::new() else { return };
    assert_eq!(
        door.ask("writer", "POST", "/record", &record("r", "hpc", true))
            .status,
        200
    );
    let fresh = record("fresh", "hpc", true);
    let many = format!("[{fresh}]");
    for (method, target, body, may) in [
        ("POST", "/record", fresh.as_str(), &["writer", "other"][..]),
        ("POST", "/records", &many, &["writer", "other"]),
        ("GET", "/records", "", &["reader", "hpc", "both"]),
        ("GET", "/records?limit=1", "", &["reader", "hpc", "both"]),
        ("GET", "/record/r", "", &["reader", "hpc", "both"]),
        ("GET", "/metrics", "", &["watcher", "hpc"]),
    ] {
        for name in [
            "reader", "hpc", "both", "writer", "other", "watcher", "stranger", "two",
        ] {
            let response = door.ask(name, method, target, body);
            if may.contains(&name) {
                assert_ne!(
                    response.status, 403,
                    "{name} {method} {target}: {}",
                    response.body
                );
                continue;
            }
            assert_eq!(
                response.status, 403,
                "{name} {method} {target}: {}",
                response.body
            );
            assert!(
                response.body.starts_with("Insufficient permissions"),
                "{}",
                response.body
            );
            let media = response.field("content-type");
            assert_eq!(media, Some("text/plain; charset=utf-8"));
        }
    }
    for name in ["reader", "stranger", "two"] {
        assert_eq!(door.ask(name, "GET", "/health_check", "").status, 200);
    }
    let log = door.site.bank.log();
    assert!(log.contains("stranger"), "{log}");
    door.site.bank.verify();
}

#[test]
fn headers_say_nothing_about_who_calls() {
    let Some(door) = Door::new() else { return };
    for fields in [
        ("X-Forwarded-Proto", "http"),
        ("X-Forwarded-Proto", "https"),
        ("X-Forwarded-For", "127.0.0.1"),
        ("X-Forwarded-Host", "127.0.0.1"),
        ("Forwarded", "for=127.0.0.1;proto=http;by=127.0.0.1"),
        ("X-Real-IP", "127.0.0.1"),
        ("X-SSL-Client-CN", "reader"),
        ("X-SSL-Client-S-DN", "CN=reader"),
        ("X-Client-Cert", "reader"),
        ("X-Remote-User", "reader"),
        ("Authorization", "Basic cmVhZGVyOg=="),
    ] {
        for (method, target) in [
            ("GET", "/records"),
            ("GET", "/metrics"),
            ("GET", "/record/r"),
        ] {
            let response = door.ask_with("stranger", method, target, &[fields], "");
            assert_eq!(
                response.status, 403,
                "{fields:?} {target}: {}",
                response.body
            );
        }
    }
}

#[test]
fn without_a_certificate_there_is_no_answer() {
    let Some(door) = Door::new() else { return };
    let nobody = secure(&door.site.address, door.authority.caller(None));
    assert!(ask(nobody, "GET", "/health_check", &[], "").is_err());
    let foreign = Authority::new().unwrap();
    foreign.issue("reader", "/CN=reader");
    for file in ["reader.pem", "reader.key"] {
        std::fs::copy(foreign.path(file), door.authority.path(file)).unwrap();
    }
    let foreign = secure(&door.site.address, door.caller("reader"));
    assert!(ask(foreign, "GET", "/records", &[], "").is_err());
    // Nor is there one without TLS.
    assert!(ask(plain(&door.site.address), "GET", "/health_check", &[], "").is_err());
}

#[test]
fn a_record_is_closed_by_who_created_it_only() {
    let Some(mut door) = Door::new() else { return };
    let (open, closed) = (record("r", "hpc", false), record("r", "hpc", true));
    assert_eq!(door.ask("writer", "POST", "/record", &open).status, 200);
    let response = door.ask("other", "PUT", "/record", &closed);
    assert_eq!(response.status, 403, "{}", response.body);
    assert!(
        response.body.starts_with("Insufficient permissions"),
        "{}",
        response.body
    );
    let response = door.ask("reader", "GET", "/record/r", "");
    assert!(
        response.body.contains("\"stop_time\":null"),
        "{}",
        response.body
    );
    // Who may not write at all hears nothing about records.
    for name in ["r", "unknown"] {
        let body = record(name, "hpc", true);
        assert_eq!(door.ask("reader", "PUT", "/record", &body).status, 403);
    }
    let unknown = record("unknown", "hpc", true);
    assert_eq!(door.ask("other", "PUT", "/record", &unknown).status, 404);
    assert_eq!(door.ask("writer", "PUT", "/record", &closed).status, 200);
    assert_eq!(door.ask("other", "PUT", "/record", &closed).status, 403);
    let response = door.ask("watcher", "GET", "/metrics", "");
    assert!(
        response.body.contains("\naccess_denied_total 4\n"),
        "{}",
        response.body
    );
    door.site.bank.verify();
}

#[test]
fn a_reader_sees_its_records_only() {
    let Some(door) = Door::new() else { return };
    for (name, site) in [("a", "hpc"), ("b", "htc"), ("c", "other")] {
        assert_eq!(
            door.ask("writer", "POST", "/record", &record(name, site, true))
                .status,
            200
        );
    }
    for (caller, target, seen) in [
        ("reader", "/records", &["a", "b", "c"][..]),
        ("hpc", "/records", &["a"]),
        ("hpc", "/records?", &["a"]),
        ("hpc", "/records?meta[site_id][c][0]=hpc", &["a"]),
        ("hpc", "/records?meta[site_id][c][0]=other", &[]),
        ("hpc", "/records?meta[site_id][dnc][0]=hpc", &[]),
        ("hpc", "/records?record_id=b", &[]),
        ("hpc", "/records?limit=1&sort_by[desc]=record_id", &["a"]),
        ("hpc", "/records?meta[user_id][c][0]=u", &["a"]),
        ("both", "/records", &["a", "b"]),
        (
            "both",
            "/records?limit=2&sort_by[desc]=record_id",
            &["b", "a"],
        ),
    ] {
        let response = door.ask(caller, "GET", target, "");
        assert_eq!(response.status, 200);
        assert_eq!(response.names(), seen, "{caller} {target}");
    }
    let unknown = door.ask("hpc", "GET", "/record/nothing", "");
    for (caller, name, status) in [
        ("reader", "c", 200),
        ("hpc", "a", 200),
        ("hpc", "b", 404),
        ("both", "b", 200),
        ("both", "c", 404),
    ] {
        let response = door.ask(caller, "GET", &format!("/record/{name}"), "");
        assert_eq!(response.status, status, "{caller} {name}");
        // One that it does not see is as one that is not there.
        assert!(status == 200 || (response.body == unknown.body && unknown.status == 404));
    }
    let gauges = |caller: &str| {
        let response = door.ask(caller, "GET", "/metrics", "").body;
        let lines = response
            .lines()
            .filter(|line| line.starts_with("num_records_database"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        gauges("hpc"),
        [
            "num_records_database 1",
            "num_records_database_per_site{site=\"hpc\"} 1",
            "num_records_database_per_group{group_id=\"g\"} 1",
            "num_records_database_per_user{user_id=\"u\"} 1",
        ]
    );
    assert_eq!(gauges("watcher")[0], "num_records_database 3");
}
