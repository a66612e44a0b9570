//! Several objects in one call: each is a transaction of its own, and what is wrong with one is its
//! own.

use crate::harness::{Bank, Documents, Request, Setup};

/// A charge of one minute and one processor.
fn charge(id: &str, more: &str) -> String {
    format!(
        "<Job><ObjectID>{id}</ObjectID><User>amy</User><Account>chemistry</Account>\
         <Processors>1</Processors>{more}</Job>"
    )
}

const MINUTE: &str = "<ChargeDuration>60</ChargeDuration>";

fn send(bank: &Bank, key: &str, body: &[u8]) -> (u16, String) {
    let answer = bank.over_socket(&Request::nami("charge", key, body));
    (answer.status, answer.text())
}

#[test]
fn a_key_of_one_object_is_not_one_of_several() {
    let mut bank = Bank::new();
    let one = charge("Moab.1", MINUTE);
    let two = format!("{}{}", charge("Moab.2", MINUTE), charge("Moab.3", MINUTE));
    let reused = |(status, text): (u16, String), lines: usize| {
        assert_eq!(status, 409, "{text}");
        let all = text
            .lines()
            .filter(|line| line.starts_with("refused key_reused"));
        assert_eq!(all.count(), lines, "{text}");
    };
    assert_eq!(send(&bank, "first-one", one.as_bytes()).0, 200);
    reused(send(&bank, "first-one", two.as_bytes()), 2);
    let taken = send(&bank, "first-two", two.as_bytes());
    assert_eq!(taken.0, 200);
    reused(send(&bank, "first-two", one.as_bytes()), 1);
    assert_eq!(send(&bank, "first-two", two.as_bytes()), taken);
    let other = two.replace("Moab.3", "Moab.4");
    reused(send(&bank, "first-two", other.as_bytes()), 2);
    assert_eq!(bank.debits().len(), 3);
    bank.verify();
}

#[test]
fn what_is_wrong_with_one_object_is_its_own() {
    for broken in [
        charge("Moab.2", ""),
        charge("Moab.2", "<ChargeDuration>-1</ChargeDuration>"),
        charge("Moab.2", &format!("{MINUTE}<User>bob</User>")),
        charge("Moab.2&#10;x", MINUTE),
        "<Thing><ObjectID>1</ObjectID><Deep><Deeper/></Deep></Thing>".to_owned(),
    ] {
        let mut bank = Bank::new();
        let (first, last) = (charge("Moab.1", MINUTE), charge("Moab.3", MINUTE));
        let body = format!("<Data>{first}{broken}{last}</Data>");
        let ran = bank.script("charge", body.as_bytes());
        ran.expect(31, "").expect_stderr(&["object 2"]);
        assert_eq!(bank.figures("chemistry").0, 100_000 - 120, "{broken}");
        assert_eq!((bank.spooled(), bank.quarantined()), (0, 1), "{broken}");
        let (status, text) = send(&bank, "again", body.as_bytes());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((status, lines.len()), (400, 3), "{text}");
        assert!(lines[1].starts_with("error "), "{text}");
        bank.verify();
    }
}

#[test]
fn a_body_that_is_broken_is_not_used_at_all() {
    let mut bank = Bank::new();
    let first = charge("Moab.1", MINUTE);
    for body in [
        format!("{first}<Job><ObjectID>2"),
        format!("<!DOCTYPE Job>{first}{first}"),
        format!("{first}<Job><User>&x;</User></Job>"),
        format!("{first} text"),
    ] {
        bank.script("charge", body.as_bytes()).expect(31, "");
    }
    assert_eq!((bank.debits().len(), bank.quarantined()), (0, 4));
    bank.verify();
}

#[test]
fn one_that_may_be_taken_yet_is_not_lost_with_one_that_never_will_be() {
    let setup = Setup::new().chemistry(1_000_000);
    let mut bank = setup.env("BANKD_NAMI_EXCESS", "refuse").start();
    bank.bank_ok(&["machine", "add", "ia64"]);
    bank.script("start", &Documents::own().get(12))
        .expect(0, "");
    // The first is refused for good, the second as long as the key does not speak for its machine.
    let never = String::from_utf8(Documents::own().get(31)).unwrap();
    let yet = charge("Moab.2", &format!("{MINUTE}<Machine>ia64</Machine>"));
    let body = format!("{never}{yet}");
    let call = || bank.call("charge").over_tcp(&bank.tcp());
    call()
        .body(body.as_bytes())
        .run()
        .expect(0, "")
        .expect_stderr(&["stored in the spool"]);
    let drain = || bank.call("drain").over_tcp(&bank.tcp()).run();
    drain();
    assert_eq!((bank.spooled(), bank.quarantined()), (1, 0));
    bank.bank_ok(&["key", "set", "moab", "--machine", "colony,ia64"]);
    drain();
    assert_eq!((bank.spooled(), bank.quarantined()), (0, 1));
    assert_eq!(bank.debits(), [("chemistry".to_owned(), 60)]);
    bank.verify();
}
