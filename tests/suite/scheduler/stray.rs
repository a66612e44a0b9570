//! Charges that were stored while `nami.conf` could not be read arrive later: in order, with the machine of the
//! settings, from the default folder too.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{Bank, Documents, Ran, skip};

/// A settings file that is too large: above 64 KiB.
const LARGE: usize = 64 * 1024;

/// The flags of `unshare` that give a process mounts of its own; none if this machine refuses them.
fn flags() -> Option<&'static str> {
    let works = |flags: &&str| {
        let call = Command::new("unshare").args([flags, "true"]).output();
        call.is_ok_and(|ran| ran.status.success())
    };
    ["-m", "-rm"].into_iter().find(works)
}

/// A folder of the test in the place of `/var/spool`.
struct Var {
    flags: &'static str,
    folder: PathBuf,
}

impl Var {
    fn new(bank: &Bank) -> Option<Self> {
        let Some(flags) = flags() else {
            skip("unshare", "no mounts of a process allowed here");
            return None;
        };
        let folder = bank.folder().join("var");
        std::fs::create_dir(&folder).unwrap();
        Some(Self { flags, folder })
    }

    /// Runs the script of an event with this `/var/spool`, and a further line of `nami.conf`.
    fn run(&self, bank: &Bank, event: &str, body: &[u8], line: &str) -> Ran {
        let folder = self.folder.display();
        // One settings file of all calls, whose path their documents contain.
        let file = bank.folder().join("nami.conf");
        let file = file.display();
        let script = format!(
            "mount --bind '{folder}' /var/spool && cp \"$NAMI_CONF\" '{file}' && \
             NAMI_CONF='{file}' && export NAMI_CONF && exec \"$0\""
        );
        let wrapper = ["unshare", self.flags, "sh", "-c", &script];
        bank.call(event)
            .through(&wrapper)
            .body(body)
            .set(line)
            .run()
    }

    /// The documents of the default folder.
    fn documents(&self, place: &str) -> usize {
        count(&self.folder.join("bank/nami").join(place))
    }
}

fn count(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().ends_with(".doc"))
        .count()
}

#[test]
fn a_charge_of_an_unreadable_file_is_sent_with_the_next_call() {
    let documents = Documents::own();
    let mut bank = Bank::new();
    let Some(var) = Var::new(&bank) else { return };
    let large = "#".repeat(LARGE);
    let ran = var.run(&bank, "charge", &documents.get(4), &large);
    ran.expect(0, "").expect_stderr(&[
        "stored in the spool",
        "larger than 64 KiB",
        "/var/spool/bank/nami",
    ]);
    // One that can never be accepted is in the quarantine there.
    var.run(&bank, "charge", b"", &large).expect(31, "");
    assert_eq!((var.documents(""), var.documents("quarantine")), (1, 1));
    assert_eq!((bank.spooled(), bank.debits().len()), (0, 0));

    var.run(&bank, "drain", b"", "").expect(0, "");
    assert_eq!((var.documents(""), var.documents("quarantine")), (0, 0));
    assert_eq!((bank.spooled(), bank.quarantined()), (0, 1));
    assert_eq!(bank.debits(), [("chemistry".to_owned(), 28_800)]);
    bank.verify();
}

#[test]
fn the_document_of_an_event_sends_the_stored_ones_first() {
    let documents = Documents::own();
    let mut bank = Bank::new();
    let Some(var) = Var::new(&bank) else { return };
    let large = "#".repeat(LARGE);
    var.run(&bank, "charge", &documents.get(4), &large)
        .expect(0, "");
    let other = documents.with(4, &[("Moab.1024", "Moab.7")]);
    var.run(&bank, "charge", &other, "").expect(0, "");
    assert_eq!((var.documents(""), bank.spooled()), (0, 0));
    assert_eq!(bank.journal("charge").len(), 2);

    // While the bank is away they wait in the spool of the settings.
    bank.stop();
    let third = documents.with(4, &[("Moab.1024", "Moab.8")]);
    var.run(&bank, "charge", &third, &large).expect(0, "");
    var.run(&bank, "drain", b"", "")
        .expect_stderr(&["unreachable"]);
    assert_eq!((var.documents(""), bank.spooled()), (0, 1));
    bank.start();
    var.run(&bank, "drain", b"", "").expect(0, "");
    assert_eq!(bank.journal("charge").len(), 3);
    bank.verify();
}

/// A second scheduler of the same user has the default spool: its charge, which waits there for its own bank, stays.
#[test]
fn a_charge_of_another_settings_file_is_left() {
    let documents = Documents::own();
    let mut bank = Bank::new();
    let Some(var) = Var::new(&bank) else { return };
    let large = "#".repeat(LARGE);
    var.run(&bank, "charge", &documents.get(4), &large)
        .expect(0, "");
    let folder = var.folder.join("bank/nami");
    let mut found = std::fs::read_dir(&folder).unwrap().flatten();
    let own = found.find(|e| e.file_name().to_string_lossy().ends_with(".doc"));
    let path = own.unwrap().path();
    let text = String::from_utf8(std::fs::read(&path).unwrap()).unwrap();
    let (before, after) = text.split_once("settings: ").unwrap();
    let (own, after) = after.split_once('\n').unwrap();
    // As the call of the other scheduler writes it, and as an earlier version does.
    let other = format!("{before}settings: /etc/other.conf\n{after}");
    let unnamed = format!("{before}{after}");
    assert_eq!(Path::new(own), bank.folder().join("nami.conf"));
    std::fs::write(&path, other).unwrap();
    var.run(&bank, "drain", b"", "").expect(0, "");
    assert_eq!((var.documents(""), bank.journal("charge").len()), (1, 0));
    std::fs::write(&path, unnamed).unwrap();
    var.run(&bank, "drain", b"", "").expect(0, "");
    assert_eq!((var.documents(""), bank.journal("charge").len()), (0, 1));
    bank.verify();
}

#[test]
fn an_unknown_host_is_named() {
    let bank = Bank::new();
    let call = bank.call("quote").over_tcp("no-such-host.invalid:1");
    let ran = call.body(&Documents::own().get(3)).run();
    ran.expect_stderr(&["no address of host no-such-host.invalid"]);
}
