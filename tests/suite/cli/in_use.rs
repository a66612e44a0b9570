//! Objects that others need by name are not removed.

use crate::harness::Setup;

#[test]
fn what_others_need_is_not_removed() {
    let mut bank = Setup::new().chemistry(10).start();
    for line in [
        "machine add blue",
        "account add standby --users ANY",
        "project add services",
        "machine set blue --fallback standby --reservation-account services",
        "account add spare --users ANY",
        "account add chemistry_over --users ANY",
        "account set chemistry --fallback +_over",
    ] {
        bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
    }
    let before = bank.transactions();
    for (line, by) in [
        ("account rm standby", "machine blue as its fallback"),
        ("account rm standby --force", "machine blue as its fallback"),
        ("account rm services", "machine blue for its reservations"),
        ("project rm services", "account services"),
        (
            "account rm chemistry_over",
            "account chemistry as its fallback",
        ),
    ] {
        let words: Vec<&str> = line.split(' ').chain(["--yes"]).collect();
        let ran = bank.bank(&words);
        assert_eq!(ran.exit, 1, "{line}: {}{}", ran.stdout, ran.stderr);
        ran.expect_stderr(&["in use", by]);
    }
    assert_eq!(bank.transactions(), before, "nothing is written");
    for line in [
        "machine rm blue --yes",
        "account rm standby --yes",
        "account rm services --yes",
        "project rm services --yes",
    ] {
        bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
    }
    bank.verify();
}

#[test]
fn a_refused_name_comes_with_its_rule() {
    let bank = Setup::new().chemistry(10).start();
    for (line, rule) in [
        (
            "attr add 9lives",
            "letter, then letters, digits, _, - and ., at most 64 bytes",
        ),
        ("project add #own", "no # in front"),
        (
            "project add ANY",
            "lists of accounts use ANY and MEMBERS as words",
        ),
        ("kind add balance", "names of commands of `bank`"),
        (
            "contributor add unassigned",
            "projects without a contributor",
        ),
    ] {
        let ran = bank.bank(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.exit, 1, "{line}: {}{}", ran.stdout, ran.stderr);
        ran.expect_stderr(&["cannot be a name", rule]);
    }
}
