//! Documents and files of the spool that cannot be sent hold back nothing but their own object.

use std::os::unix::fs::{chown, symlink};
use std::path::PathBuf;
use std::process::Command;

use super::conf;
use crate::harness::{Bank, Ran, Setup};

fn document(id: &str, more: &str) -> Vec<u8> {
    format!(
        "<Job><ObjectID>{id}</ObjectID><User>amy</User><Account>chemistry</Account>\
         <Processors>1</Processors><ChargeDuration>100</ChargeDuration>{more}</Job>"
    )
    .into_bytes()
}

fn nami(bank: &Bank, words: &[&str]) -> Ran {
    let conf = conf(bank, "");
    bank.bank(&[&["nami"], words, &["--conf", conf.to_str().unwrap()]].concat())
}

/// The documents of the spool.
fn files(bank: &Bank) -> Vec<PathBuf> {
    let files = std::fs::read_dir(bank.spool()).unwrap();
    let files = files.map(|file| file.unwrap().path());
    files
        .filter(|path| path.extension() == Some("doc".as_ref()))
        .collect()
}

#[test]
fn files_that_cannot_be_read_stop_no_other_document() {
    let mut bank = Setup::new().chemistry(1_000_000).start();
    bank.stop();
    bank.script("charge", &document("s.1", "")).expect(0, "");
    let place = |number: u64| bank.spool().join(format!("{number:020}-none-aaaa.doc"));
    let whole = files(&bank).remove(0);
    let mut count = 3;
    symlink(&whole, place(1)).unwrap();
    std::fs::create_dir(place(2)).unwrap();
    let made = Command::new("mkfifo").arg(place(3)).status().unwrap();
    assert!(made.success());
    std::fs::copy(&whole, place(4)).unwrap();
    if chown(place(4), Some(12_345), None).is_ok() {
        count += 1;
    } else {
        std::fs::remove_file(place(4)).unwrap();
    }
    bank.start();
    // The call sends the waiting document and its own, and names the first of the others.
    let ran = bank.script("charge", &document("s.2", ""));
    ran.expect(0, "").expect_stderr(&[
        &format!("{count} wait in the spool"),
        "document 1 cannot be read: it is a symbolic link",
    ]);
    assert!(ran.took.as_secs() < 8, "{:?}", ran.took);
    assert_eq!(bank.figures("chemistry").0, 1_000_000 - 200);
    bank.script("drain", b"")
        .expect(99, "")
        .expect_stderr(&["0 delivered", "bank nami spool ls"]);
    let ran = nami(&bank, &["spool", "ls"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    // The table breaks the rest of the reason.
    assert!(
        ran.stdout.contains("cannot be read: it is not a"),
        "{}",
        ran.stdout
    );
    let ran = nami(&bank, &["spool", "show", "3"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let ran = nami(&bank, &["spool", "retry"]);
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    let numbers: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    let ran = nami(
        &bank,
        &[&["spool", "drop"], &numbers[..], &["--yes"]].concat(),
    );
    assert_eq!((ran.exit, bank.spooled()), (0, 0), "{}", ran.stderr);
    bank.script("drain", b"").expect(0, "");
    assert_eq!(bank.journal("charge").len(), 2);
    bank.verify();
}

/// Documents of a machine out of the scope of the key (44), more than one call has time for.
#[test]
fn refused_documents_starve_no_other_one() {
    const COUNT: usize = 2500;
    let mut bank = Setup::new().chemistry(1_000_000).start();
    let tcp = bank.tcp();
    let run = |event, body: &[u8]| {
        let call = bank.call(event).over_tcp(&tcp).set("timeout_s=1");
        call.body(body).run()
    };
    run("charge", &document("s.1000", "<Machine>saturn</Machine>")).expect(0, "");
    let pattern = std::fs::read_to_string(&files(&bank)[0]).unwrap();
    let (_, key) = pattern.split_once("key: ").unwrap();
    let (key, _) = key.split_once('\n').unwrap();
    let put = |place: usize, id: &str, machine: &str| {
        let new_key = format!("{place:036}");
        let text = pattern.replace(key, &new_key).replace("s.1000", id);
        let name = format!("{place:020}-none-{new_key}.doc");
        std::fs::write(
            bank.spool().join(name),
            text.replace(">saturn<", &format!(">{machine}<")),
        )
        .unwrap();
    };
    for number in 1..COUNT {
        put(number, &format!("s.{}", 1000 + number), "saturn");
    }
    // A document of another object behind them. The lengths are those of the pattern.
    put(COUNT, "good01", "colony");
    let text = document("good02", "");
    // The own document of a call waits for nothing.
    run("charge", &text)
        .expect(0, "")
        .expect_stderr(&["wait in the spool"]);
    assert_eq!(bank.journal("charge").len(), 1);
    assert_eq!(bank.spooled(), COUNT + 1);
    for _ in 0..200 {
        if bank.spooled() == COUNT {
            break;
        }
        run("drain", b"");
    }
    assert_eq!((bank.spooled(), bank.quarantined()), (COUNT, 0));
    assert_eq!(bank.journal("charge").len(), 2);
    bank.verify();
}
