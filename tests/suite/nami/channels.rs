//! How the scheduler may call the scripts, what a site may set, and what becomes of documents that
//! wait (`nami.md` 2).

use std::os::unix::fs::symlink;

use crate::harness::{Bank, Documents, T0, programs};

fn text(number: u32) -> String {
    String::from_utf8(Documents::own().get(number)).unwrap()
}

#[test]
fn a_document_comes_by_any_of_three_channels() {
    let mut bank = Bank::new();
    let file = bank.folder().join("document.xml");
    std::fs::write(&file, text(1)).unwrap();
    let path = file.to_str().unwrap();
    let quote = || bank.call("quote");
    quote().body(text(1).as_bytes()).run().expect(0, "57600\n");
    quote().argument(text(1)).run().expect(0, "57600\n");
    quote().argument(path).run().expect(0, "57600\n");
    // Standard input comes first, and only the last argument counts.
    let other = text(1).replace(">16<", ">1<");
    quote()
        .body(other.as_bytes())
        .argument(path)
        .run()
        .expect(0, "3600\n");
    quote()
        .argument("something")
        .argument(path)
        .run()
        .expect(0, "57600\n");
    quote().argument("/no/such/file").run().expect(31, "");
    quote()
        .run()
        .expect(31, "")
        .expect_stderr(&["bad document"]);
    bank.verify();
}

#[test]
fn the_name_or_an_argument_determines_the_event() {
    let mut bank = Bank::new();
    for name in ["quote.pl", "quote.sh"] {
        let script = bank.folder().join(format!("nami/bank.{name}"));
        symlink(programs().scripts(), script).unwrap();
    }
    let body = text(1);
    for name in ["quote.pl", "quote.sh"] {
        bank.script(name, body.as_bytes()).expect(0, "57600\n");
    }
    let overridden = bank.call("charge").argument("--event").argument("quote");
    overridden.body(body.as_bytes()).run().expect(0, "57600\n");
    let answer = bank.script("query", body.as_bytes());
    answer
        .expect(71, "")
        .expect_stderr(&["query", "not supported"]);
    assert_eq!(bank.debits(), []);
    bank.verify();
}

#[test]
fn a_site_maps_exit_codes_and_captures_documents() {
    let mut bank = Bank::new();
    let captured = bank.folder().join("captured");
    std::fs::create_dir(&captured).unwrap();
    let dear = text(3).replace(">16<", ">1600<");
    let call = bank.call("reserve").set("exit.funds=5");
    let call = call.set(format!("capture_dir={}", captured.display()));
    call.body(dear.as_bytes())
        .run()
        .expect(5, "")
        .expect_stderr(&["insufficient funds"]);
    let entry = std::fs::read_dir(&captured)
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    assert_eq!(std::fs::read_to_string(entry.path()).unwrap(), dear);
    let misspelled = bank
        .call("quote")
        .set("serverr=x")
        .body(text(1).as_bytes())
        .run();
    misspelled
        .expect(99, "")
        .expect_stderr(&["nami-", ".conf:"]);
    bank.verify();
}

#[test]
fn every_refusal_has_a_line_of_its_own() {
    let mut bank = Bank::new();
    for (from, to, exit, parts) in [
        ("chemistry", "nosuch", 74, &["unknown", "nosuch"][..]),
        ("amy", "nobody", 74, &["unknown", "nobody"]),
        ("amy", "bob", 74, &["member", "bob"]),
        (
            ">16<",
            ">1600<",
            78,
            &["insufficient funds", "need 5760000", "have 100000"],
        ),
        ("</Job>", "", 31, &["bad document"]),
    ] {
        let body = text(3).replace(from, to);
        bank.script("reserve", body.as_bytes())
            .expect(exit, "")
            .expect_stderr(parts);
    }
    bank.stop();
    bank.script("reserve", text(3).as_bytes())
        .expect(22, "")
        .expect_stderr(&["bank unreachable"]);
    bank.start();
    bank.verify();
}

#[test]
fn a_reserve_waits_too_where_a_site_fails_open() {
    let mut bank = Bank::new();
    bank.stop();
    let call = bank.call("reserve").set("fail_open=yes");
    call.body(text(3).as_bytes())
        .run()
        .expect(0, "")
        .expect_stderr(&["spool"]);
    assert_eq!(bank.spooled(), 1);
    bank.start();
    bank.script("charge", text(4).as_bytes()).expect(0, "");
    assert_eq!(bank.spooled(), 0);
    assert_eq!(bank.held(), [("chemistry".to_owned(), 28_800)]);
    bank.verify();
}

#[test]
fn what_waits_keeps_its_order_and_its_times() {
    let mut bank = Bank::new();
    bank.script("reserve", text(3).as_bytes()).expect(0, "");
    bank.stop();
    for (at, event, number) in [
        (1800, "charge", 4),
        (2234, "charge", 5),
        (2300, "delete", 6),
    ] {
        bank.set_clock(T0 + at);
        bank.script(event, text(number).as_bytes())
            .expect(0, "")
            .expect_stderr(&["spool"]);
    }
    assert_eq!(bank.spooled(), 3);
    bank.set_clock(T0 + 3000);
    bank.start();
    // Any call drains first.
    bank.script("quote", text(1).as_bytes())
        .expect(0, "57600\n");
    assert_eq!((bank.spooled(), bank.quarantined()), (0, 0));
    let times: Vec<_> = bank
        .journal("charge")
        .iter()
        .map(|row| row["at_effective"].clone())
        .collect();
    assert_eq!(times, ["2026-01-01T00:30:00Z", "2026-01-01T00:37:14Z"]);
    let job = bank.job("Moab.1024");
    assert_eq!(
        (&job["state"], &job["closed"]),
        (&"closed".into(), &"2026-01-01T00:38:20Z".into())
    );
    bank.verify();
}

#[test]
fn what_can_never_be_accepted_blocks_nothing() {
    let mut bank = Bank::new();
    bank.stop();
    bank.script("charge", text(37).as_bytes()).expect(0, "");
    bank.script("charge", text(4).as_bytes()).expect(0, "");
    assert_eq!(bank.spooled(), 2);
    bank.start();
    bank.script("drain", b"").expect(0, "");
    assert_eq!((bank.spooled(), bank.quarantined()), (0, 1));
    let folder = bank.spool().join("quarantine");
    let names = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let reasons = names.filter(|name| name.to_string_lossy().ends_with(".reason"));
    assert_eq!(reasons.count(), 1);
    assert_eq!(bank.debits(), [("chemistry".to_owned(), 28_800)]);
    bank.verify();
}

#[test]
fn calls_at_once_drain_each_document_once() {
    let mut bank = Bank::new();
    bank.bank_ok(&["deposit", "chemistry", "1000000"]);
    bank.stop();
    for number in 0..20 {
        let body = text(4).replace("Moab.1024", &format!("Moab.{number}"));
        bank.script("charge", body.as_bytes()).expect(0, "");
    }
    assert_eq!(bank.spooled(), 20);
    bank.start();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(bank.script("drain", b"").exit, 0));
        }
    });
    bank.script("drain", b"").expect(0, "");
    assert_eq!((bank.spooled(), bank.quarantined()), (0, 0));
    assert_eq!(bank.debits(), vec![("chemistry".to_owned(), 28_800); 20]);
    bank.verify();
}
