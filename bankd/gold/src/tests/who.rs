use bank_core::model::Key;
use bank_core::time::{Timestamp, Window};
use bankd_config::NoFundsWord;
use tokio::io::AsyncWriteExt as _;

use super::fixture::{BODY, Site, answer, framed, good, signature, summary};
use crate::connection::Place;

async fn answered(site: &Site, from: &str, message: &[u8]) -> String {
    let (mut client, _served) = site.call_from(from, Place::Seated);
    client.write_all(message).await.unwrap();
    summary(&answer(&mut client).await)
}

/// Address, request, and expected answer.
#[tokio::test]
async fn only_peers_at_their_addresses_with_their_keys_are_heard() {
    let site = Site::new();
    let envelope = |inside: &str| framed(&format!("<Envelope>{inside}</Envelope>"));
    let own = signature("sss", BODY);
    let maui = framed(&format!("<Envelope name=\"maui\">{own}{BODY}</Envelope>"));
    let short = "<Body><Get name='Id'/></Body>";
    let long = "<Body><Get name='Id'></Get></Body>";
    let no_digest = "not authenticated: digest does not match body";
    let no_match = "not authenticated: signature does not match";
    let with = |digest: &str, value: &str| {
        envelope(&format!(
            "{BODY}<Signature><DigestValue>{digest}</DigestValue>\
             <SignatureValue>{value}</SignatureValue></Signature>"
        ))
    };
    for (from, message, expected) in [
        (
            "127.0.0.1",
            good("sss"),
            "000 maui maui=false signed".to_owned(),
        ),
        ("127.0.0.1", maui, "000 maui maui=true signed".to_owned()),
        (
            "127.0.0.1",
            good("opensesame"),
            "000 slurm maui=false".to_owned(),
        ),
        (
            "127.9.9.9",
            good("opensesame"),
            "000 slurm maui=false".to_owned(),
        ),
        (
            "10.1.2.3",
            good("faraway"),
            "000 far maui=false signed".to_owned(),
        ),
        ("127.0.0.1", good("faraway"), format!("422 {no_match}")),
        ("127.9.9.9", good("sss"), format!("422 {no_match}")),
        (
            "203.0.113.1",
            good("sss"),
            "422 not authenticated".to_owned(),
        ),
        (
            "192.0.2.1",
            good("ghostly"),
            "422 not authenticated".to_owned(),
        ),
        (
            "127.0.0.1",
            good("clerical"),
            "444 not allowed: no role of the key allows this".to_owned(),
        ),
        (
            "127.0.0.1",
            envelope(&format!("<Body>{own}</Body>")),
            "422 not authenticated: no signature".to_owned(),
        ),
        (
            "127.0.0.1",
            envelope(&format!("<Body>x</Body>{own}")),
            format!("422 {no_digest}"),
        ),
        ("127.0.0.1", with("", ""), format!("422 {no_digest}")),
        (
            "127.0.0.1",
            envelope(&format!("{short}{}", signature("sss", short))),
            "000 maui maui=false signed".to_owned(),
        ),
        (
            "127.0.0.1",
            envelope(&format!("{short}{}", signature("sss", long))),
            "000 maui maui=false signed".to_owned(),
        ),
        (
            "127.0.0.1",
            envelope("<Nobody/>"),
            "313 not a well-formed message".to_owned(),
        ),
    ] {
        let text = String::from_utf8_lossy(&message).into_owned();
        assert_eq!(
            answered(&site, from, &message).await,
            expected,
            "{from} {text}"
        );
    }
    // The received bytes, independent of the digest.
    let seen = site.double.seen.lock().unwrap();
    let bodies = seen
        .iter()
        .filter(|request| request.body == short.as_bytes());
    assert_eq!(bodies.count(), 2);
    let slurm = seen
        .iter()
        .find(|request| request.peer.name == "slurm")
        .unwrap();
    assert_eq!(slurm.peer.client, "slurm.1-client");
    assert_eq!(
        (slurm.peer.key_id.as_str(), slurm.peer.no_funds),
        ("slurm.1", NoFundsWord::Gold)
    );
}

#[tokio::test]
async fn a_key_that_is_switched_off_is_none_from_then_on() {
    let mut site = Site::new();
    let off = |change: fn(&mut Key)| {
        move |site: &mut Site| {
            let mut key = site.directory.key("maui").unwrap().clone();
            change(&mut key);
            site.directory.put_key(key);
            site.keys.reload(&site.directory);
        }
    };
    let good = good("sss");
    let no_match = "422 not authenticated: signature does not match";
    off(|key| key.disabled = true)(&mut site);
    assert_eq!(answered(&site, "127.0.0.1", &good).await, no_match);
    off(|key| key.disabled = false)(&mut site);
    assert_eq!(
        answered(&site, "127.0.0.1", &good).await,
        "000 maui maui=false signed"
    );
    off(|key| {
        key.window = Window {
            start: None,
            end: Some(Timestamp::from_seconds(1_000_000)),
        };
    })(&mut site);
    assert_eq!(answered(&site, "127.0.0.1", &good).await, no_match);
}
