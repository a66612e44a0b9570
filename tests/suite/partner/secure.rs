//! A partner behind a TLS server: the address `https://`, the CAs of the settings.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::world::{World, job, name};
use crate::auditor::authority::Authority;
use crate::harness::{T0, until};

/// The port of a TLS server with a certificate, which gives each request to an address.
fn secured(authority: &Authority, name: &str, to: String) -> u16 {
    let chain: Vec<_> = CertificateDer::pem_file_iter(authority.path(&format!("{name}.pem")))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let key = PrivateKeyDer::from_pem_file(authority.path(&format!("{name}.key"))).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (config, to) = (Arc::clone(&config), to.clone());
            std::thread::spawn(move || {
                let session = rustls::ServerConnection::new(config).unwrap();
                carry(rustls::StreamOwned::new(session, stream), &to)
            });
        }
    });
    port
}

/// Carries one request and its answer.
fn carry(
    mut secure: rustls::StreamOwned<rustls::ServerConnection, TcpStream>,
    to: &str,
) -> std::io::Result<()> {
    let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
    while !is_whole(&request) {
        let read = secure.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        request.extend_from_slice(&buffer[..read]);
    }
    let mut there = TcpStream::connect(to)?;
    there.write_all(&request)?;
    let mut answer = Vec::new();
    there.read_to_end(&mut answer)?;
    secure.write_all(&answer)?;
    secure.conn.send_close_notify();
    secure.flush()
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "));
    length.is_none_or(|length| body.len() >= length.parse::<usize>().unwrap())
}

#[test]
fn a_partner_is_reached_over_tls() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let other = Authority::new().unwrap();
    let mut world = World::new(2, &[]);
    let (project, partner) = (format!("chemistry@{}", name(1)), name(1));
    let port = secured(&authority, "server", world.banks[1].tcp());
    let ca = world.banks[0].folder().join("partners.pem");
    // First the CA of somebody else.
    fs::copy(other.path("ca.pem"), &ca).unwrap();
    let bank = &mut world.banks[0];
    bank.set_clock(T0 + 1000);
    bank.stop();
    let file = ca.to_str().unwrap();
    assert!(
        bank.start_with(&[("BANKD_PARTNERS_CA", file)]),
        "{}",
        bank.log()
    );
    let url = format!("https://localhost:{port}");
    let set = ["partner", "set", &partner, "--url"];
    let ran = bank.bank(&[&set[..], &["https://localhost"]].concat());
    assert_ne!(ran.exit, 0);
    assert!(ran.stderr.contains("https://HOST:PORT"), "{}", ran.stderr);
    bank.bank_ok(&[&set[..], &[&url]].concat());
    let reserve = |id: &'static str| {
        let own = ["reserve", id, "--wall", "100", "--procs", "1", "-u", "amy"];
        [&own[..], &["-m", "colony", "-A", &project]].concat()
    };
    let ran = bank.bank(&reserve("Moab.1"));
    assert_ne!(ran.exit, 0, "{}", ran.stdout);
    assert!(ran.stderr.contains("cannot be reached"), "{}", ran.stderr);
    assert!(bank.log().contains("certificate"), "{}", bank.log());
    assert_eq!(world.in_flight(0), 0);
    // The daemon has another port since its restart.
    world.open_all();
    // The right CA: the file is read again without a restart.
    fs::copy(authority.path("ca.pem"), &ca).unwrap();
    until("the reserve is accepted", || {
        (world.banks[0].bank(&reserve("Moab.2")).exit == 0).then_some(())
    });
    world.banks[0]
        .script("charge", &job("Moab.2", &project, 100))
        .expect(0, "");
    world.settle();
}

/// A certificate that is over or of another host, and a server without TLS: no question and no charge goes out.
#[test]
fn a_partner_without_a_good_certificate_is_not_asked() {
    let Some(authority) = Authority::new() else {
        return;
    };
    authority.issue_for("over", "/CN=localhost", -1);
    authority.issue_at("other", "/CN=other", 30, "DNS:other.example");
    let mut world = World::new(2, &[]);
    let (project, partner) = (format!("chemistry@{}", name(1)), name(1));
    let there = world.banks[1].tcp();
    let port = |name: &str| secured(&authority, name, there.clone());
    let (over, other, good) = (port("over"), port("other"), port("server"));
    let (_, plain) = there.rsplit_once(':').unwrap();
    let ca = authority.path("ca.pem");
    let bank = &mut world.banks[0];
    bank.stop();
    let file = ca.to_str().unwrap();
    assert!(bank.start_with(&[("BANKD_PARTNERS_CA", file)]));
    world.open_all();
    let bank = &world.banks[0];
    let reserve = |id: &str| {
        let own = ["reserve", id, "--wall", "100", "--procs", "1", "-u", "amy"];
        bank.bank(&[&own[..], &["-m", "colony", "-A", &project]].concat())
    };
    let at = |port: &str| {
        let url = format!("https://localhost:{port}");
        bank.bank_ok(&["partner", "set", &partner, "--url", &url]);
    };
    let before = world.banks[1].transactions();
    for port in [&over.to_string(), &other.to_string(), plain] {
        at(port);
        let ran = reserve(&format!("Moab.{port}"));
        assert_ne!(ran.exit, 0, "{port}: {}", ran.stdout);
        assert!(ran.stderr.contains("cannot be reached"), "{}", ran.stderr);
    }
    assert_eq!(world.banks[1].transactions(), before);
    assert!(world.banks[1].held().is_empty());
    at(&good.to_string());
    until("the reserve is accepted", || {
        (reserve("Moab.good").exit == 0).then_some(())
    });
    world.banks[0].set_clock(T0 + 1000);
    world.banks[0]
        .script("charge", &job("Moab.good", &project, 100))
        .expect(0, "");
    world.settle();
}
