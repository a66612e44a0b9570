//! The files of `auditor.tls`, and the handshake: who is let in, and by what name.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use bankd_auditor::access::Identity;
use bankd_auditor::tls::Tls;
use bankd_config::AuditorTls;
use bankd_ledger::clock::auth_now_s;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use tokio_rustls::TlsConnector;

use super::authority::{Authority, put};

const YEAR_S: i64 = 366 * 86_400;

fn settings() -> AuditorTls {
    AuditorTls {
        cert: "server.pem".to_owned(),
        key: "server.key".to_owned(),
        ca: "ca.pem".to_owned(),
        ..AuditorTls::default()
    }
}

fn load(authority: &Authority) -> Tls {
    Tls::load(&settings(), authority.path("").as_path(), auth_now_s()).unwrap()
}

/// What came of a handshake: how the daemon calls the caller, and what was agreed, or why not.
fn shake(tls: &Tls, caller: ClientConfig) -> Result<(Identity, String), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (near, far) = duplex(1 << 16);
        let caller = async {
            let name = ServerName::try_from("localhost").unwrap();
            let mut stream = TlsConnector::from(Arc::new(caller))
                .connect(name, near)
                .await?;
            // In TLS 1.3 a caller hears of its refusal only now.
            stream.write_all(b"?").await?;
            let mut answer = [0];
            stream.read_exact(&mut answer).await?;
            let (_, session) = stream.get_ref();
            let protocol = session.alpn_protocol().map(String::from_utf8_lossy);
            let version = session.protocol_version();
            std::io::Result::Ok(format!("{version:?} {}", protocol.unwrap_or_default()))
        };
        let daemon = async {
            let (mut stream, who) = tls.handshake(far).await?;
            let mut question = [0];
            stream.read_exact(&mut question).await?;
            stream.write_all(b"!").await?;
            stream.flush().await?;
            std::io::Result::Ok(who)
        };
        let (agreed, who) = tokio::join!(caller, daemon);
        match (who, agreed) {
            (Ok(who), Ok(agreed)) => Ok((who, agreed)),
            (Err(why), _) | (_, Err(why)) => Err(why.to_string()),
        }
    })
}

#[test]
fn a_caller_is_who_its_certificate_names() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let tls = load(&authority);
    for (file, subject, name) in [
        (
            "plain",
            "/CN=htcondor.collector",
            Some("htcondor.collector"),
        ),
        ("long", "/O=Example/OU=Grid/CN=ärger", Some("ärger")),
        ("two", "/CN=admin/CN=nobody", None),
        ("none", "/O=admin", None),
    ] {
        authority.issue(file, subject);
        let (who, _) = shake(&tls, authority.caller(Some(file))).unwrap();
        let expected = name.map_or(Identity::Unnamed, |name| Identity::Named(name.to_owned()));
        assert_eq!(who, expected, "{subject}");
    }
}

#[test]
fn both_versions_and_http_1_1_are_agreed_on() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let tls = load(&authority);
    authority.issue("a", "/CN=a");
    for (version, error) in [
        (&rustls::version::TLS12, "Some(TLSv1_2)"),
        (&rustls::version::TLS13, "Some(TLSv1_3)"),
    ] {
        for (offered, agreed) in [(vec![], ""), (vec![&b"h2"[..], b"http/1.1"], "http/1.1")] {
            let mut caller = authority.caller_by(Some("a"), &[version]);
            caller.alpn_protocols = offered.iter().map(|name| name.to_vec()).collect();
            let (_, found) = shake(&tls, caller).unwrap();
            assert_eq!(found, format!("{error} {agreed}"));
        }
    }
    let mut caller = authority.caller(Some("a"));
    caller.alpn_protocols = vec![b"h2".to_vec()];
    assert!(shake(&tls, caller).is_err());
}

#[test]
fn strangers_are_not_let_in() {
    let (Some(authority), Some(other)) = (Authority::new(), Authority::new()) else {
        return;
    };
    let tls = load(&authority);
    let error = shake(&tls, authority.caller(None)).unwrap_err();
    assert!(error.contains("certificate"), "{error}");

    // Signed by somebody else with the same name.
    other.issue("a", "/CN=a");
    authority.issue("a", "/CN=a");
    put(
        &other,
        &[("a.pem", "foreign.pem"), ("a.key", "foreign.key")],
        &authority.path(""),
    );
    let error = shake(&tls, authority.caller(Some("foreign"))).unwrap_err();
    assert!(error.contains("certificate"), "{error}");

    authority.issue_for("old", "/CN=a", -1);
    let error = shake(&tls, authority.caller(Some("old"))).unwrap_err();
    assert!(error.to_lowercase().contains("expired"), "{error}");

    shake(&tls, authority.caller(Some("a"))).unwrap();
}

#[test]
fn every_connection_shows_its_certificate() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let tls = load(&authority);
    authority.issue("a", "/CN=a");
    // The same configuration twice: one that could resume would.
    let caller = authority.caller(Some("a"));
    for _ in 0..2 {
        let (who, _) = shake(&tls, caller.clone()).unwrap();
        assert_eq!(who, Identity::Named("a".to_owned()));
    }
    // Once the CA is another, nothing of the former sessions helps.
    let other = Authority::new().unwrap();
    put(&other, &[("ca.pem", "ca.pem")], &authority.path(""));
    tls.reload(auth_now_s()).unwrap();
    assert!(shake(&tls, caller).is_err());
}

#[test]
fn a_handshake_that_dawdles_is_over() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let tls = load(&authority);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let (_silent, far) = duplex(64);
        let ended = tls.handshake(far).await.map(drop).unwrap_err();
        assert_eq!(ended.kind(), std::io::ErrorKind::TimedOut);
    });
}

#[test]
fn keys_are_read_in_every_form() {
    let Some(authority) = Authority::new() else {
        return;
    };
    authority.issue("a", "/CN=a");
    for forms in [
        "ec -in server.key -out other.key",
        "pkcs8 -topk8 -nocrypt -in server.key -out other.key",
    ] {
        authority.openssl(forms);
        fs::rename(authority.path("other.key"), authority.path("server.key")).unwrap();
        shake(&load(&authority), authority.caller(Some("a"))).unwrap();
    }
    authority.openssl("genrsa -out rsa.key 2048");
    authority.openssl("req -new -key rsa.key -out server.csr -subj /CN=localhost");
    authority.openssl(
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 \
         -extfile extensions -out server.pem",
    );
    authority.openssl("rsa -in rsa.key -traditional -out server.key");
    let key = fs::read_to_string(authority.path("server.key")).unwrap();
    assert!(key.starts_with("-----BEGIN RSA PRIVATE KEY-----"), "{key}");
    shake(&load(&authority), authority.caller(Some("a"))).unwrap();
}

/// One change of a folder that was good, and what is said of it.
type Fault = (fn(&Authority), &'static str, &'static str);

const FAULTS: [Fault; 11] = [
    (
        |a| fs::remove_file(a.path("server.pem")).unwrap(),
        "auditor.tls.cert",
        "No such file",
    ),
    (
        |a| fs::remove_file(a.path("server.key")).unwrap(),
        "auditor.tls.key",
        "No such file",
    ),
    (
        |a| fs::remove_file(a.path("ca.pem")).unwrap(),
        "auditor.tls.ca",
        "No such file",
    ),
    (
        |a| {
            a.issue("a", "/CN=a");
            put(a, &[("a.key", "server.key")], &a.path(""));
        },
        "auditor.tls.key",
        "is not the key of",
    ),
    (
        |a| put(a, &[("server.pem", "server.key")], &a.path("")),
        "auditor.tls.key",
        "no key in it",
    ),
    (
        |a| {
            a.openssl("pkcs8 -topk8 -in server.key -passout pass:abcd -out other.key");
            put(a, &[("other.key", "server.key")], &a.path(""));
        },
        "auditor.tls.key",
        "encrypted",
    ),
    (
        |a| {
            let open = fs::Permissions::from_mode(0o644);
            fs::set_permissions(a.path("server.key"), open).unwrap();
        },
        "auditor.tls.key",
        "everybody may use it",
    ),
    (
        |a| put(a, &[("server.key", "server.pem")], &a.path("")),
        "auditor.tls.cert",
        "no certificate in it",
    ),
    (
        |a| {
            a.issue_for("server", "/CN=localhost", -1);
        },
        "auditor.tls.cert",
        "expired at 20",
    ),
    (
        |a| fs::write(a.path("ca.pem"), "").unwrap(),
        "auditor.tls.ca",
        "no certificate in it",
    ),
    (
        |a| fs::write(a.path("ca.pem"), vec![b' '; (1 << 20) + 1]).unwrap(),
        "auditor.tls.ca",
        "larger than 1048576 bytes",
    ),
];

#[test]
fn mistakes_in_a_file_are_reported_in_one_line() {
    for (change, setting, error) in FAULTS {
        let Some(authority) = Authority::new() else {
            return;
        };
        let tls = load(&authority);
        change(&authority);
        let folder = authority.path("");
        let fault = Tls::load(&settings(), &folder, auth_now_s()).unwrap_err();
        assert!(fault.starts_with(setting), "{fault}");
        assert!(fault.contains(error), "{fault}");
        assert!(fault.contains(folder.to_str().unwrap()), "{fault}");
        assert!(!fault.contains('\n'), "{fault}");
        // A daemon that runs goes on with what it has.
        assert_eq!(tls.reload(auth_now_s()).unwrap_err(), fault);
    }
}

#[test]
fn time_is_looked_at() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let at = |now_s| Tls::load(&settings(), Path::new(&authority.path("")), now_s);
    let error = at(auth_now_s() - YEAR_S).unwrap_err();
    assert!(error.starts_with("auditor.tls.cert: "), "{error}");
    assert!(error.contains(": holds from 20"), "{error}");
    let error = at(auth_now_s() + YEAR_S).unwrap_err();
    assert!(error.contains(": expired at 20"), "{error}");

    // A CA that is over is no CA; one beside it still is.
    authority.openssl("req -new -key ca.key -out x.csr -subj /CN=former");
    authority.openssl("x509 -req -in x.csr -signkey ca.key -days -1 -out x.pem");
    let (good, over) = (authority.path("ca.pem"), authority.path("x.pem"));
    let both = [fs::read(&over).unwrap(), fs::read(&good).unwrap()].concat();
    fs::write(&good, both).unwrap();
    at(auth_now_s()).unwrap();
    fs::copy(over, good).unwrap();
    let error = at(auth_now_s()).unwrap_err();
    assert!(error.starts_with("auditor.tls.ca: "), "{error}");
    assert!(error.contains(": expired at 20"), "{error}");
}
