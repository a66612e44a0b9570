//! Documents through the script: exit 31, never a crash, never more than 32 MiB.

use std::time::Duration;

use crate::harness::{Bank, reading};

/// The script's whole address space, in KiB: what it uses cannot be more.
const SCRIPT_KIB: &str = "32768";
/// What all of it together may add to the daemon, in KiB.
const DAEMON_KIB: i64 = 32 * 1024;
/// How long the parser may take over one document.
const PARSER: Duration = Duration::from_millis(50);
/// The largest document.
const LIMIT: usize = 1 << 20;

/// A job around some elements.
fn job(inner: &str) -> Vec<u8> {
    format!(
        "<Job><ObjectID>Moab.666</ObjectID><User>amy</User><Account>chemistry</Account>{inner}\
         <WallDuration>60</WallDuration><ChargeDuration>60</ChargeDuration></Job>"
    )
    .into_bytes()
}

/// A document filled up to a length with a piece.
fn filled(piece: &str, length: usize) -> Vec<u8> {
    let bare = job("<Processors>1</Processors>").len();
    let pieces = (length - bare) / piece.len();
    let mut body = job(&format!(
        "<Processors>1</Processors>{}",
        piece.repeat(pieces)
    ));
    let tail = body.split_off(body.len() - "</Job>".len());
    let room = length - body.len() - tail.len();
    body.extend(std::iter::repeat_n(b' ', room));
    body.extend(tail);
    assert_eq!(body.len(), length);
    body
}

fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    let number = |text: &str| job(&format!("<Processors>{text}</Processors>"));
    let deep = |depth: usize| {
        let inside = format!("{}{}", "<x>".repeat(depth), "</x>".repeat(depth));
        job(&format!("<Processors>1</Processors>{inside}"))
    };
    let doctype = [b"<!DOCTYPE Job [<!ENTITY a 'b'>]>".to_vec(), number("1")].concat();
    let late = [b"<Job/>".to_vec(), b"<!DOCTYPE Job>".to_vec(), number("1")].concat();
    let mut latin = number("1");
    latin[30] = 0xff;
    let overlong = job("<Processors>1</Processors><Var name=\"x\">\u{1}</Var>");
    let cut = filled("<Odd>x</Odd>", LIMIT - 100)[..LIMIT / 2].to_vec();
    vec![
        ("a DOCTYPE", doctype),
        ("a DOCTYPE between", late),
        (
            "an entity of nobody",
            job("<Processors>&nobody;</Processors>"),
        ),
        ("too deep", deep(17)),
        ("100000 deep", deep(100_000)),
        ("16 digits", number("1234567890123456")),
        ("100000 digits", number(&"9".repeat(100_000))),
        ("an exponent", number("1e3")),
        ("hexadecimal", number("0x10")),
        ("a sign", number("+1")),
        ("below zero", number("-1")),
        ("infinity", number("Infinity")),
        ("other digits", number("١٢")),
        (
            "a duration of ages",
            job("<Processors>1</Processors><EndTime>99999999999999999</EndTime>"),
        ),
        (
            "NUL in an id",
            job("<Processors>1</Processors><Queue>a&#0;b</Queue>"),
        ),
        (
            "a line feed in a name",
            job("<Processors>1</Processors><Queue>a&#10;b</Queue>"),
        ),
        (
            "an escape in a name",
            job("<Processors>1</Processors><Queue>a&#27;[2Jb</Queue>"),
        ),
        ("a control character", overlong),
        ("no UTF-8", latin),
        (
            "two machines",
            job("<Processors>1</Processors><Machine>a</Machine><Machine>b</Machine>"),
        ),
        ("another root", b"<Envelope/>".to_vec()),
        ("no XML", vec![0; 4096]),
        ("2001 elements", filled("<Odd>x</Odd>", 40_000)),
        ("1 MiB of elements", filled("<a/>", LIMIT)),
        (
            "1 MiB of attributes",
            filled("<a b='c' d='e' f='g' h='i'/>", LIMIT),
        ),
        ("half of 1 MiB", cut),
        ("1 MiB and one byte", filled("<a/>", LIMIT + 1)),
        ("4 MiB", filled("<Odd>0123456789</Odd>", 4 * LIMIT)),
    ]
}

#[test]
fn hostile_documents_are_refused_at_little_cost() {
    let mut bank = Bank::new();
    let before = bank.transactions();
    bank.script("charge", b"<Job").expect(31, "");
    let memory = bank.memory_kib();
    let documents = hostile();
    for (index, (what, body)) in documents.iter().enumerate() {
        let limited = ["sh", "-c", "ulimit -v \"$0\" && exec \"$1\"", SCRIPT_KIB];
        let ran = bank.call("charge").through(&limited).body(body).run();
        assert_eq!(
            (ran.exit, ran.stdout.as_str()),
            (31, ""),
            "{what}: {}",
            ran.stderr
        );
        ran.expect(31, "").expect_stderr(&["bad document"]);
        assert_eq!(
            (bank.quarantined(), bank.spooled()),
            (index + 2, 0),
            "{what}"
        );
        assert!(!bank.is_gone(), "{what}");
    }
    let grown = bank.memory_kib() - memory;
    assert!(grown < DAEMON_KIB, "the daemon grew by {grown} KiB");
    assert_eq!((bank.transactions(), bank.jobs().len()), (before, 0));
    bank.verify();
}

#[test]
fn the_parser_is_done_quickly() {
    let small = |(_, body): &(&str, Vec<u8>)| body.len() <= LIMIT;
    for (what, body) in hostile().into_iter().filter(small) {
        // Some are refused by what the event needs, not by the reader.
        // The best of five: what else the machine does is no work of the parser's.
        let took = (0..5).map(|_| reading(&body).1).min().unwrap();
        assert!(took < PARSER, "{what}: {took:?}");
    }
}

#[test]
fn what_is_large_and_sound_is_taken() {
    let mut bank = Bank::new();
    let variable = "<Var name=\"n\">0123456789012345678901234567890123456789</Var>";
    for (piece, length) in [
        (variable, 60_000),
        ("<!-- nothing -->", LIMIT),
        (" ", LIMIT),
    ] {
        bank.script("charge", &filled(piece, length)).expect(0, "");
    }
    let chemistry = ("chemistry".to_owned(), 60);
    assert_eq!(
        bank.debits(),
        [chemistry.clone(), chemistry.clone(), chemistry]
    );
    bank.verify();
}

#[test]
fn nothing_on_any_channel_is_31() {
    let mut bank = Bank::new();
    for event in ["quote", "create", "reserve", "charge", "delete"] {
        for body in [&b""[..], b" \n\t "] {
            bank.script(event, body)
                .expect(31, "")
                .expect_stderr(&["bad document"]);
        }
    }
    bank.verify();
}
