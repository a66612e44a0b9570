use std::fs;

use super::{KEY, NOT_SERVED, UNSERVED, gateway};
use crate::harness::{Dialect, carries, shared_folder, skip, summary};

/// `gold-wire.md` 1.1: each client sends as it does, and finds the answer where it looks for it.
#[test]
fn each_known_client_reads_its_answer() {
    let mut bank = gateway("");
    for dialect in Dialect::ALL {
        for _ in 0..3 {
            let message = dialect.message(KEY, UNSERVED);
            let xml = dialect.ask(&bank.gold(), &message).unwrap();
            assert!(summary(&xml).starts_with(NOT_SERVED), "{dialect:?}: {xml}");
            assert_eq!(carries(&xml, KEY), Some(true), "{dialect:?}: {xml}");
        }
    }
    bank.verify();
}

/// The message is over when its envelope is, whatever was announced and never comes.
#[test]
fn nobody_waits_for_what_a_client_never_sends() {
    let mut bank = gateway("");
    let message = Dialect::Maui.message(KEY, UNSERVED);
    let bare = message.strip_suffix(b"\r\n\0").unwrap();
    let text = String::from_utf8(bare.to_vec()).unwrap();
    let (head, payload) = text.split_once("\r\n\r\n").unwrap();
    let payload = payload.split_once("\r\n").unwrap().1;
    let sized = format!(
        "POST /SSSRMAP3 HTTP/1.0\r\ncontent-length: {}\r\n\r\n{payload}",
        payload.len()
    );
    let (first, second) = payload.split_at(100);
    let chunks = format!(
        "{head}\r\n\r\n64;x=y\r\n{first}\r\n{:x}\r\n{second}",
        second.len()
    );
    for message in [text, sized, chunks] {
        let xml = Dialect::Maui.ask(&bank.gold(), message.as_bytes()).unwrap();
        assert!(summary(&xml).starts_with(NOT_SERVED), "{message}: {xml}");
    }
    bank.verify();
}

#[test]
fn answers_to_a_peer_may_go_unsigned() {
    let mut bank = gateway("sign_answers = false\n");
    for dialect in Dialect::ALL {
        let xml = dialect
            .ask(&bank.gold(), &dialect.message(KEY, UNSERVED))
            .unwrap();
        assert!(summary(&xml).starts_with(NOT_SERVED), "{dialect:?}: {xml}");
        assert_eq!(carries(&xml, KEY), None, "{dialect:?}: {xml}");
    }
    bank.verify();
}

/// Every message that was captured from a client, or rebuilt from its source, is understood as far
/// as the gateway goes: none is told of its framing, its form or its signature.
#[test]
fn captured_messages_come_through() {
    let Some(shared) = shared_folder() else {
        return skip("shared", "no folder of captured messages");
    };
    let mut bank = gateway("");
    let captures = shared.join("spec/gold-captures");
    let mut seen = 0;
    for folder in fs::read_dir(captures).unwrap().map(Result::unwrap) {
        let name = folder.file_name().into_string().unwrap();
        let refused = ["13-unsigned-client", "broken-sha1-64bit", "wrong-key"];
        if !folder.path().is_dir() || refused.contains(&name.as_str()) {
            continue;
        }
        for file in fs::read_dir(folder.path()).unwrap().map(Result::unwrap) {
            let request = file.file_name().into_string().unwrap();
            if !request.ends_with(".request") {
                continue;
            }
            let dialect = match request.split('-').next().unwrap() {
                "slurm" => Dialect::Slurm,
                "hod" => Dialect::Hod,
                "clib" => Dialect::CLibrary,
                "strict" => Dialect::Textbook,
                _ => Dialect::Maui,
            };
            let message = fs::read(file.path()).unwrap();
            let xml = dialect.ask(&bank.gold(), &message).unwrap();
            let code = summary(&xml).split(' ').nth(1).unwrap().to_owned();
            let transport = ["242", "313", "422", "432", "720"];
            assert!(
                !transport.contains(&code.as_str()),
                "{name}/{request}: {xml}"
            );
            assert_eq!(carries(&xml, KEY), Some(true), "{name}/{request}: {xml}");
            seen += 1;
        }
    }
    assert!(seen >= 30, "{seen} messages");
    bank.verify();
}
