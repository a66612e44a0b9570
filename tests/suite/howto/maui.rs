//! `docs/how-to/connect-maui.md`: a site from nothing, and one job's life as Maui tells it to the
//! gateway.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::{Digest as _, Sha1};

use super::Site;
use crate::harness::{skip, workspace};

/// A call as Maui makes it: no `Host`, a chunk without an end, the signature over the digest.
fn call(address: &str, key: &str, action: &str, more: &str) -> String {
    let body = format!(
        "<Body actor=\"root\"><Request action=\"{action}\" actor=\"root\"><Object>Job</Object><Data>\
         <Job><JobId>job1</JobId><UserId>amy</UserId><ProjectId>chemistry</ProjectId>\
         <MachineName>cluster1</MachineName><Processors>4</Processors>{more}</Job></Data></Request>\
         </Body>"
    );
    let digest = Sha1::digest(body.as_bytes());
    let mut mac = Hmac::<Sha1>::new_from_slice(key.as_bytes()).unwrap();
    mac.update(&digest);
    let (digest, value) = (
        STANDARD.encode(digest),
        STANDARD.encode(mac.finalize().into_bytes()),
    );
    let envelope = format!(
        "<Envelope component=\"ClusterScheduler\" count=\"1\" name=\"maui\" version=\"3.3.2\">\
         <Signature><DigestValue>{digest}</DigestValue><SignatureValue>{value}</SignatureValue>\
         </Signature>{body}</Envelope>"
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let head = "POST /SSSRMAP3 HTTP/1.1\r\nContent-Type: text/xml; charset=\"utf-8\"\r\n\
                Transfer-Encoding: chunked;\r\n\r\n";
    write!(stream, "{head}{:X}\r\n{envelope}\r\n\0", envelope.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn connecting_maui_by_the_page() {
    let sample = std::fs::read_to_string(workspace().join("etc/bankd.toml")).unwrap();
    if !sample.lines().any(|line| line == "[gold]") {
        skip("gold", "this daemon has no Gold gateway");
        return;
    }
    let mut site = Site::new();
    site.follow("connect-maui.md");
    assert!(
        site.printed.contains("nothing here defeats the bank\n"),
        "{}",
        site.printed
    );
    let gateway = site
        .listens
        .iter()
        .find_map(|line| line.strip_prefix("listening gold://"));
    let gateway = gateway
        .expect("the daemon says where the gateway is")
        .to_owned();
    let key = std::fs::read_to_string(site.path("/etc/bank/maui.key")).unwrap();
    let key = key.trim();

    let said = call(&gateway, key, "Reserve", "<WallDuration>600</WallDuration>");
    assert!(said.contains("<Code>000</Code>"), "{said}");
    let balance = site.run("bank balance chemistry -P -n");
    assert!(
        balance.starts_with("chemistry|1000000|0|2400|997600|"),
        "{balance}"
    );
    let end = "<WallDuration>4</WallDuration><StartTime>1795216020</StartTime>\
               <EndTime>1795216024</EndTime><Type>job</Type>";
    let said = call(&gateway, key, "Charge", end);
    assert!(said.contains("<Code>000</Code>"), "{said}");
    let balance = site.run("bank balance chemistry -P -n");
    assert!(
        balance.starts_with("chemistry|1000000|16|0|999984|"),
        "{balance}"
    );
    let said = call(
        &gateway,
        "another",
        "Reserve",
        "<WallDuration>600</WallDuration>",
    );
    assert!(said.contains("<Code>422</Code>"), "{said}");
    site.verify();
}
