//! Mail: what is urgent at once to all, the rest once a day to each.

use super::*;

/// A sendmail that keeps each mail as a file, and fails where a file says so.
const SENDMAIL: &str = "#!/bin/sh\nDIR=$(dirname \"$0\")\n[ -e \"$DIR/down\" ] && exit 75\n\
    N=$(ls \"$DIR\" | grep -c '^mail')\necho \"$@\" > \"$DIR/words\"\ncat > \"$DIR/mail$N\"\n";

const MAIL: &str = "\n[[deliver]]\nname = \"mail\"\nby = \"sendmail\"\n\
    command = [\"FOLDER/sendmail\"]\nfrom = \"bank@hpc.example\"\nstaff = [\"ops@hpc.example\"]\n\
    retry_s = 1\nretry_max_s = 1\n";

fn mailing() -> Bank {
    let bank = watching(&[], MAIL);
    program(&bank, "sendmail", SENDMAIL);
    bank.bank_ok(&["user", "set", "amy", "--email", "amy@uni.example"]);
    bank
}

fn mails(bank: &Bank, count: usize) -> Vec<String> {
    until(&format!("{count} mails"), || {
        let read = |n| fs::read_to_string(bank.folder().join(format!("mail{n}"))).ok();
        let all: Option<Vec<String>> = (0..count).map(read).collect();
        // A mail that is being written has no end yet.
        all.filter(|all| all.iter().all(|mail| mail.ends_with("switch this off.\n")))
    })
}

#[test]
fn a_digest_a_day_for_each_and_what_is_urgent_at_once() {
    let mut bank = mailing();
    charge(&bank, "1", 55_000);
    until_raised(&bank, &["used 50"]);
    // T0 is midnight: digests are made at six.
    bank.set_clock(T0 + 3 * 3600);
    charge(&bank, "2", 30_000);
    until_raised(&bank, &["used 50", "used 80"]);
    charge(&bank, "3", 35_000);
    // 120 % used, and below zero: both urgent.
    let urgent = mails(&bank, 2);
    for mail in &urgent {
        let (head, body) = mail.split_once("\n\n").unwrap();
        assert!(head.contains("To: undisclosed-recipients:;"), "{mail}");
        assert!(
            head.contains("Bcc: amy@uni.example,\n ops@hpc.example"),
            "{mail}"
        );
        assert!(head.contains("\nSubject: [bank] chemistry: "), "{mail}");
        assert!(body.starts_with("chemistry: "), "{mail}");
    }
    let words = fs::read_to_string(bank.folder().join("words")).unwrap();
    assert_eq!(words.trim(), "-t -i");
    bank.set_clock(T0 + 7 * 3600);
    let all = mails(&bank, 4);
    let mut to: Vec<&str> = all[2..]
        .iter()
        .map(|mail| mail.lines().find(|line| line.starts_with("To: ")).unwrap())
        .collect();
    to.sort_unstable();
    assert_eq!(to, ["To: amy@uni.example", "To: ops@hpc.example"]);
    for mail in &all[2..] {
        assert!(mail.contains("Subject: [bank] 2 alerts"), "{mail}");
        assert!(
            mail.contains("55.00 % used") && mail.contains("85.00 % used"),
            "{mail}"
        );
        assert!(!mail.contains("below zero"), "told at once: {mail}");
        assert!(!mail.contains("Bcc"), "{mail}");
    }
    // The next day nothing is new, and nobody is told.
    bank.set_clock(T0 + DAY + 7 * 3600);
    until("the digest of that day was looked after", || {
        let at = bank.query("SELECT digest_at FROM target");
        let six = (T0 + DAY + 6 * 3600) * 1_000_000;
        (at == [[six.to_string()]]).then_some(())
    });
    assert_eq!(bank.query("SELECT count(*) FROM notice"), [["4"]]);
    bank.verify();
}

#[test]
fn mail_waits_while_sendmail_is_down() {
    let mut bank = mailing();
    fs::write(bank.folder().join("down"), "").unwrap();
    // An address that would be two is none.
    let two = bank.bank(&["user", "set", "amy", "--email", "amy@uni.example,root@x"]);
    assert_eq!(two.exit, 1, "{}", two.stdout);
    bank.bank_ok(&["user", "set", "amy", "--email", ""]);
    charge(&bank, "1", 120_000);
    until("it was tried", || {
        let tried = bank.query("SELECT count(*) FROM notice WHERE attempts > 0");
        (tried == [["1"]]).then_some(())
    });
    bank.kill();
    fs::remove_file(bank.folder().join("down")).unwrap();
    bank.start();
    let mail = &mails(&bank, 2)[0];
    assert!(mail.contains("\nTo: ops@hpc.example\n"), "{mail}");
    bank.verify();
}

#[test]
fn a_notice_without_an_address_is_logged() {
    let mut bank = watching(&[], &MAIL.replace("\"ops@hpc.example\"", ""));
    program(&bank, "sendmail", SENDMAIL);
    charge(&bank, "1", 120_000);
    until("the warning", || {
        let log = bank.log();
        let warned = log.contains("a notice is sent to nobody") && log.contains("chemistry");
        warned.then_some(())
    });
    assert!(!bank.folder().join("mail0").exists());
    bank.verify();
}
