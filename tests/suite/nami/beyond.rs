//! What the scheduler's specification asks for beside its numbered cases: prices, promises, amounts
//! and durations as sites mean them, and who pays where a document names nobody.

use crate::harness::{Bank, Documents, Setup, T0, amount, text};

fn chemistry(sum: i64) -> [(String, i64); 1] {
    [("chemistry".to_owned(), sum)]
}

fn document(number: u32, changes: &[(&str, &str)]) -> Vec<u8> {
    Documents::own().with(number, changes)
}

/// A TID that stands alone, or behind a cost.
fn tid(printed: &str) -> String {
    let line = printed.strip_suffix('\n').unwrap();
    let tid = line.rsplit(':').next().unwrap();
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let fits = (1..=32).contains(&tid.len()) && tid.bytes().all(allowed);
    assert!(fits, "{printed:?}");
    tid.to_owned()
}

#[test]
fn a_promised_price_holds_for_the_whole_job() {
    let mut bank = Setup::new().chemistry(1_000_000).start();
    let quote = bank.call("quote").set("print_tid=true");
    let quoted = quote.body(&Documents::own().get(1)).run();
    assert!(quoted.stdout.starts_with("57600:"), "{quoted:?}");
    bank.bank_ok(&["rate", "set", "VBR", "Processors", "2"]);
    bank.set_clock(T0 + 60);
    let promised = tid(&quoted.stdout);
    let with_tid = |number| document(number, &[("q1001", promised.as_str())]);
    bank.script("reserve", &with_tid(3)).expect(0, "");
    assert_eq!(bank.held(), chemistry(57_600));
    bank.script("charge", &with_tid(4)).expect(0, "");
    // A later document need not name it: the job is bound to its price.
    bank.script("charge", &Documents::own().get(5))
        .expect(0, "");
    assert_eq!(bank.debits(), [chemistry(28_800), chemistry(6944)].concat());
    bank.verify();
}

#[test]
fn a_create_answers_a_tid_only_where_it_is_wanted() {
    let mut bank = Bank::new();
    let create = || bank.call("create").set("print_tid=true");
    bank.script("create", &Documents::own().get(2))
        .expect(0, "");
    assert_eq!(bank.query("SELECT tid FROM quote").len(), 0);
    let created = create().body(&Documents::own().get(2)).run();
    assert_eq!((created.exit, created.stderr.as_str()), (0, ""));
    let first = tid(&created.stdout);
    assert_eq!(bank.figures("chemistry"), (100_000, 0, 100_000));
    // A document that carries it keeps it.
    let var = format!("<Var name=\"BILLTID\">{first}</Var></Job>");
    let again = document(2, &[("</Job>", var.as_str())]);
    let repeated = create().body(&again).run();
    assert_eq!(tid(&repeated.stdout), first);
    bank.bank_ok(&["rate", "set", "VBR", "Processors", "3"]);
    bank.set_clock(T0 + 60);
    let reserve = document(3, &[("q1001", first.as_str())]);
    bank.script("reserve", &reserve).expect(0, "");
    assert_eq!(bank.held(), chemistry(57_600));
    bank.verify();
}

#[test]
fn qualities_classes_and_resources_have_prices() {
    let mut bank = Bank::new();
    bank.bank_ok(&["rate", "set", "NBM", "QualityOfService", "premium", "2"]);
    bank.bank_ok(&["rate", "set", "NBM", "Class", "short", "0.5"]);
    bank.bank_ok(&["rate", "set", "VBR", "gpu", "10"]);
    let body = |more: &str| document(1, &[("</Job>", &format!("{more}</Job>"))]);
    for (more, cost) in [
        ("<QualityOfService>premium</QualityOfService>", "115200\n"),
        ("<Class>short</Class>", "28800\n"),
        ("<QOS>premium</QOS><Queue>short</Queue>", "57600\n"),
        ("<QOS>other</QOS>", "57600\n"),
        ("<GRes name=\"gpu\">0.5</GRes>", "75600\n"),
        (
            "<GRes name=\"gpu\">1</GRes><GRes name=\"gpu\">0.5</GRes><QOS>premium</QOS>",
            "223200\n",
        ),
    ] {
        let ran = bank.script("quote", &body(more));
        let expected = match cost.trim().parse::<i64>().unwrap() {
            dear if dear > 100_000 => (78, ""),
            _ => (0, cost),
        };
        assert_eq!((ran.exit, ran.stdout.as_str()), expected, "{more}");
        let needed = format!("need {}", cost.trim());
        assert!(ran.exit == 0 || ran.stderr.contains(&needed), "{ran:?}");
    }
    bank.verify();
}

/// An account that is open to everybody stands beside the project's own: with or without money in
/// it, usage by somebody unknown, by nobody or by no member bills the project that was named.
#[test]
fn an_open_account_takes_no_charge_from_the_project() {
    let mut bank = Setup::new().chemistry(1_000_000).start();
    bank.bank_ok(&["account", "add", "gift"]);
    let by = |id: &str, user: &str| {
        let (id, user) = (format!("Moab.{id}"), user.to_owned());
        let known = ("Moab.1024", id.as_str());
        document(4, &[known, ("<User>amy</User>", user.as_str())])
    };
    let charge = |bank: &Bank, id, user| {
        let ran = bank.script("charge", &by(id, user));
        ran.expect(0, "");
        assert_eq!(ran.stderr, "", "{id}");
    };
    charge(&bank, "1", "");
    charge(&bank, "2", "<User>eve</User>");
    charge(&bank, "3", "<User>bob</User>");
    bank.bank_ok(&["deposit", "gift", "100000"]);
    charge(&bank, "4", "");
    charge(&bank, "5", "<User>eve</User>");
    assert_eq!(bank.debits(), vec![("chemistry".to_owned(), 28_800); 5]);
    bank.verify();
}

#[test]
fn an_account_may_carry_the_name_of_its_machine() {
    let mut bank = Setup::new().chemistry(1_000_000).start();
    bank.bank_ok(&["machine", "add", "ia64"]);
    let on = |number, account: &str| {
        let named = format!("<Account>{account}</Account>");
        document(number, &[("<Account>chemistry</Account>", named.as_str())])
    };
    for (account, exit) in [
        ("chemistry@ia64", 0),
        ("chemistry@colony", 0),
        ("chemistry@nowhere", 74),
        ("nosuch@colony", 74),
        ("chemistry@", 74),
    ] {
        bank.script("reserve", &on(3, account)).expect(exit, "");
    }
    let machines = bank.liens();
    let machines: Vec<&str> = machines.iter().map(|lien| text(lien, "machine")).collect();
    assert_eq!(machines, ["colony", "ia64"]);
    bank.script("charge", &on(4, "chemistry@ia64"))
        .expect(0, "");
    bank.script("delete", &on(6, "chemistry@ia64"))
        .expect(0, "");
    assert_eq!(bank.debits(), chemistry(28_800));
    assert_eq!(bank.held(), chemistry(57_600));
    // A project whose own name has the form is meant as it stands.
    bank.bank_ok(&["project", "add", "chemistry@nowhere", "--members", "amy"]);
    bank.bank_ok(&["deposit", "chemistry@nowhere", "100000"]);
    let own = [
        (
            "<Account>chemistry</Account>",
            "<Account>chemistry@nowhere</Account>",
        ),
        ("Moab.1024", "Moab.1"),
    ];
    bank.script("reserve", &document(3, &own)).expect(0, "");
    assert_eq!(bank.figures("chemistry@nowhere").1, 57_600);
    bank.verify();
}

#[test]
fn an_asserted_amount_is_journalled_and_billed_only_where_it_is_trusted() {
    for (trusted, held, billed) in [(false, 57_600, 28_800), (true, 12, 12)] {
        let setup = Setup::new().env("BANKD_NAMI_TRUST_ASSERTED_AMOUNT", &trusted.to_string());
        let mut bank = setup.start();
        let with = |number, amount: &str| document(number, &[("</Job>", amount)]);
        let amount = "<Amount>12.5</Amount></Job>";
        bank.script("reserve", &with(3, amount)).expect(0, "");
        assert_eq!(bank.held(), chemistry(held));
        bank.script("charge", &with(4, amount)).expect(0, "");
        assert_eq!(bank.debits(), chemistry(billed));
        for kind in ["lien", "charge"] {
            let rows = bank.journal(kind);
            let reason = text(&rows[0], "reason");
            assert!(reason.contains("asserted=12.5"), "{kind}: {reason}");
        }
        // What is no amount is kept, and the rates bill.
        let word = with(5, "<Charge>True</Charge></Job>");
        bank.script("charge", &word).expect(0, "");
        assert_eq!(bank.debits().last(), Some(&("chemistry".to_owned(), 6944)));
        bank.verify();
    }
}

#[test]
fn a_scheduler_that_counts_all_seconds_is_billed_the_difference() {
    for by_machine in [false, true] {
        let by_site = if by_machine {
            "incremental"
        } else {
            "cumulative"
        };
        let setup = Setup::new().chemistry(1_000_000);
        let mut bank = setup.env("BANKD_NAMI_CHARGE_DURATION", by_site).start();
        if by_machine {
            bank.bank_ok(&[
                "machine",
                "set",
                "colony",
                "--charge-duration",
                "cumulative",
            ]);
        }
        let total = |number, seconds: &str| {
            let (interim, last) = ("<ChargeDuration>1800<", "<ChargeDuration>1200<");
            let from = if number == 17 { last } else { interim };
            document(number, &[(from, &format!("<ChargeDuration>{seconds}<"))])
        };
        bank.script("reserve", &Documents::own().get(3))
            .expect(0, "");
        for (after, seconds) in [(1800, "1800"), (3600, "3600"), (4000, "3600")] {
            bank.set_clock(T0 + after);
            bank.script("update", &total(4, seconds)).expect(0, "");
        }
        let debits: Vec<i64> = bank.debits().iter().map(|(_, sum)| *sum).collect();
        assert_eq!(debits, [28_800, 28_800, 0]);
        bank.set_clock(T0 + 4001);
        let corrected = total(4, "3500");
        bank.script("end", &corrected).expect(0, "");
        assert_eq!(bank.entries("refund"), chemistry(1600));
        assert_eq!(amount(&bank.job("Moab.1024"), "charged"), 16 * 3500);
        bank.verify();
    }
}

#[test]
fn a_total_that_waited_does_not_take_back_a_newer_one() {
    let mut bank = Setup::new().chemistry(1_000_000).start();
    bank.bank_ok(&[
        "machine",
        "set",
        "colony",
        "--charge-duration",
        "cumulative",
    ]);
    bank.script("reserve", &Documents::own().get(3))
        .expect(0, "");
    bank.set_clock(T0 + 1800);
    bank.stop();
    let first = document(4, &[]);
    bank.script("charge", &first).expect(0, "");
    assert_eq!(bank.spooled(), 1);
    // The newer total reaches the bank by another way, before the spool does.
    bank.set_clock(T0 + 3600);
    bank.start();
    let newer = document(4, &[("<ChargeDuration>1800<", "<ChargeDuration>3600<")]);
    let elsewhere = bank.folder().join("elsewhere");
    let call = bank
        .call("charge")
        .set(format!("spool_dir={}", elsewhere.display()));
    call.body(&newer).run().expect(0, "");
    bank.call("drain").run().expect(0, "");
    assert_eq!(bank.spooled(), 0);
    let debits: Vec<i64> = bank.debits().iter().map(|(_, sum)| *sum).collect();
    assert_eq!(debits, [57_600, 0]);
    bank.verify();
}

#[test]
fn excess_is_clipped_accepted_or_refused() {
    for (policy, exit, billed, disputed) in [
        ("clip", 0, 230_400, 1),
        ("accept", 0, 460_800, 1),
        ("refuse", 74, 0, 0),
    ] {
        let setup = Setup::new().chemistry(1_000_000);
        let mut bank = setup.env("BANKD_NAMI_EXCESS", policy).start();
        bank.script("start", &document(12, &[])).expect(0, "");
        let ran = bank.script("charge", &document(31, &[]));
        ran.expect(exit, "")
            .expect_stderr(&["3600", "7200", "3600"][usize::from(exit != 0)..][..1]);
        assert_eq!(bank.figures("chemistry").0, 1_000_000 - billed, "{policy}");
        assert_eq!(bank.journal("disputed").len(), disputed, "{policy}");
        assert_eq!((bank.spooled(), bank.quarantined()), (0, 0), "{policy}");
        bank.verify();
    }
}

#[test]
fn the_ceiling_rises_with_the_time_and_with_the_flush_interval() {
    let mut bank = Setup::new().chemistry(10_000_000).start();
    bank.bank_ok(&["machine", "set", "colony", "--flush-interval", "60"]);
    bank.script("start", &document(12, &[])).expect(0, "");
    // 60 s at the start, an hour more an hour later.
    for (after, seconds) in [(0, 60), (3600, 3600), (3600, 0), (7200, 3600)] {
        bank.set_clock(T0 + after);
        bank.script("charge", &document(31, &[])).expect(0, "");
        let last = bank.debits().last().unwrap().1;
        assert_eq!(last, 64 * seconds, "after {after} s");
    }
    // Where neither a reserve nor a start is known, the first charge states the start.
    let unknown = document(31, &[("Moab.2048", "Moab.9")]);
    bank.script("charge", &unknown).expect(0, "");
    assert_eq!(bank.debits().last().unwrap().1, 64 * 7200);
    let screen = bank.bank_ok(&["jobs", "Moab.2048"]);
    assert!(screen.contains("disputed: "), "{screen}");
    assert!(bank.bank_ok(&["status"]).contains("disputed 1"));
    bank.verify();
}

#[test]
fn a_modify_keeps_its_values_and_is_journalled() {
    let mut bank = Bank::new();
    bank.script("create", &document(2, &[])).expect(0, "");
    let fewer = document(
        2,
        &[(">16<", ">8<"), ("<User>amy</User>", "<User>nobody</User>")],
    );
    bank.script("modify", &fewer).expect(0, "");
    assert_eq!(bank.journal("modify").len(), 1);
    let again = document(2, &[(">16<", ">4<")]);
    bank.script("modify", &again).expect(0, "");
    let silent = document(4, &[("<Processors>16</Processors>", "")]);
    bank.script("charge", &silent).expect(0, "");
    assert_eq!(bank.debits(), chemistry(4 * 1800));
    assert_eq!(bank.jobs().len(), 1);
    bank.verify();
}

#[test]
fn a_reservation_of_nobody_has_its_machine_s_account() {
    let mut bank = Bank::new();
    let refused = bank.bank(&[
        "machine",
        "set",
        "colony",
        "--reservation-account",
        "nosuch",
    ]);
    assert_eq!(refused.exit, 4, "{}", refused.stderr);
    bank.script("quote", &document(7, &[])).expect(74, "");
    bank.bank_ok(&[
        "machine",
        "set",
        "colony",
        "--reservation-account",
        "physics",
    ]);
    bank.script("quote", &document(7, &[]))
        .expect(0, "691200\n");
    let nobody = |number, more: &[(&str, &str)]| {
        let none = [
            ("  <User>ops</User>\n", ""),
            ("  <Account>physics</Account>\n", ""),
        ];
        document(number, &[&none, more].concat())
    };
    bank.script("reserve", &nobody(9, &[])).expect(0, "");
    assert_eq!(bank.held(), [("physics".to_owned(), 691_192)]);
    // Only what is idle is charged, and that varies.
    let hour = ("<ChargeDuration>86399<", "<ChargeDuration>3600<");
    for (after, processors) in [(3600, 8), (7200, 3), (10_800, 0)] {
        bank.set_clock(T0 + after);
        let idle = format!("<Processors>{processors}<");
        let body = nobody(9, &[hour, ("<Processors>8<", idle.as_str())]);
        bank.script("charge", &body).expect(0, "");
    }
    let debits: Vec<i64> = bank.debits().iter().map(|(_, sum)| *sum).collect();
    assert_eq!(debits, [28_800, 10_800, 0]);
    bank.script("delete", &nobody(11, &[])).expect(0, "");
    assert_eq!(bank.figures("physics"), (960_400, 0, 960_400));
    // A job without an account is nobody's still, and so is a reservation elsewhere.
    bank.script("reserve", &document(23, &[])).expect(74, "");
    bank.bank_ok(&["machine", "set", "colony", "--reservation-account", ""]);
    bank.script("quote", &document(7, &[])).expect(74, "");
    bank.verify();
}

#[test]
fn a_machine_under_test_is_only_watched() {
    let mut bank = Setup::new().chemistry(0).start();
    let status = bank.bank_ok(&["status"]);
    assert!(status.contains("not reported   colony"), "{status}");
    bank.bank_ok(&["machine", "set", "colony", "--test", "yes"]);
    bank.script("start", &document(12, &[])).expect(0, "");
    bank.set_clock(T0 + 8400);
    bank.script("end", &document(17, &[])).expect(0, "");
    assert_eq!(bank.figures("chemistry"), (0, 0, 0));
    assert_eq!(bank.journal("would_refuse").len(), 1);
    assert_eq!(bank.debits(), []);
    let status = bank.bank_ok(&["status"]);
    assert!(status.contains("colony track (test)"), "{status}");
    assert!(!status.contains("not reported"), "{status}");
    bank.bank_ok(&["machine", "set", "colony", "--test", "no"]);
    bank.script("start", &document(12, &[("Moab.2048", "Moab.1")]))
        .expect(78, "");
    bank.verify();
}
