//! The cases of ledger.md 11 about refunds, removals, changes of allocations and undoing, as an
//! operator types them.

use super::play::play;
use crate::export::sums::agree;
use crate::harness::{Bank, Setup, T0};

/// Case 60: the lien lies on an allocation that is over when the job is charged.
const OVER: &str = "+ deposit P 5000 --start 2026-01-01 --end 2026-06-01T00:00:04Z
    + account add G --projects P
    + deposit G 300
    + R j 1000
    @ 8
    + C j 900
    = P 0 0 0
    = G 300 0 300";

#[test]
fn ledger_case_062_a_refund_to_what_has_expired_through_bank() {
    play(&format!(
        "{OVER}
         + refund j
         ~ expired
         > refund P 900
         = P 0 0 0
         = G 300 0 300
         + allocation show {{P.1}}
         ~ 5,000"
    ));
}

#[test]
fn ledger_case_063_a_refund_that_can_be_spent_through_bank() {
    play(&format!(
        "{OVER}
         + refund j --reissue-until 2027-01-01
         > refund P 900
         = P 900 0 900
         + allocation show {{P.2}}
         ~ 2027-01-01"
    ));
}

#[test]
fn ledger_case_081_a_refund_in_proportion_through_bank() {
    play(
        "+ account add X --projects P
         + account add Y --projects P
         + deposit X 30
         + deposit Y 100
         + C j 50
         = X 0 0 0
         = Y 80 0 80
         + refund j 25
         = X 15 0 15
         = Y 90 0 90
         + refund j 25
         = X 30 0 30
         = Y 100 0 100
         > refund X 15, Y 10, X 15, Y 10",
    );
}

#[test]
fn ledger_case_082_a_refund_of_one_of_two_jobs_through_bank() {
    let charge = "charge j -A P -u amy --procs 1 --duration 10 -m";
    play(&format!(
        "+ deposit P 1000
         + {charge} colony
         + {charge} blue
         1 refund j
         ~ colony
         ~ blue
         + refund j -m blue
         = P 990 0 990"
    ));
}

#[test]
fn ledger_case_084_an_account_with_liens_through_bank() {
    play(
        "+ deposit P 1000
         + R d 300
         1 account rm P --yes
         ~ live liens
         = P 1000 300 700
         + account rm P --force --yes
         > lien_release P 0/-300
         > lien #unbilled 0/300
         > delete P -1000/0 active -1000
         4 account show P",
    );
}

#[test]
fn ledger_case_085_an_account_comes_back_through_bank() {
    play(
        "+ deposit P 1000
         + R d 300
         + account rm P --force --yes
         + undo {3}
         = P 1000 300 700
         > reverse P 1000",
    );
}

#[test]
fn ledger_case_087_an_end_that_has_passed_through_bank() {
    play(
        "+ deposit P 150
         + C j 150
         + allocation set {P.1} --end 2026-05-31T23:59:59Z
         = P 0 0 0
         > modify P 0
         > expire P 0",
    );
}

#[test]
fn ledger_case_088_an_end_before_that_of_a_lien_through_bank() {
    play(
        "+ deposit P 1000
         + R j 300
         + allocation set {P.1} --end 2026-06-01T00:01:40Z
         ~ outlives_allocation: lien 1 of job j on colony ends after it
         > modify P 0",
    );
}

#[test]
fn ledger_case_090_a_deposit_that_was_spent_through_bank() {
    play(
        "+ deposit P 500
         + C j 490
         + deposit P 5
         1 undo {1}
         = P 15 0 15
         + undo {1} --allow-debt
         = P -485 0 -485
         > reverse P -500",
    );
}

#[test]
fn ledger_case_091_undoing_is_undone_through_bank() {
    play(
        "+ deposit P 1000
         + deposit P 500
         + undo {2}
         + undo {3}
         = P 1500 0 1500
         > reverse P -500, P 500",
    );
}

#[test]
fn ledger_case_092_a_transfer_that_was_spent_through_bank() {
    play(
        "+ project add G
         + deposit P 100
         + transfer P G 100
         + withdraw G 60
         1 undo {3}
         + undo {3} --allow-debt
         = P 100 0 100
         = G -60 0 -60
         > reverse G -100, P 100",
    );
}

#[test]
fn ledger_case_119_a_refund_after_the_end_through_bank() {
    let before = "+ deposit P 20 --start 2026-01-01 --end 2026-06-01T00:00:10Z
        + C j 20
        @ 20";
    play(&format!(
        "{before}\n+ refund j\n~ expired\n= P 0 0 0\n> refund P 20\n> expire P 0"
    ));
    play(&format!(
        "{before}
         + refund j --reissue-until 2027-01-01
         = P 20 0 20
         > refund P 20"
    ));
}

#[test]
fn a_refund_after_the_end_pays_the_ended_debt_before_it_reissues_through_bank() {
    let deposit = "+ deposit P 1000 --start 2026-01-01 --end 2026-06-01T00:00:10Z";
    play(&format!(
        "{deposit}
         + C j 5000
         @ 20
         + refund j --reissue-until 2027-01-01
         = P 1000 0 1000
         ~ ended debt
         > refund P 1000, P 3000, P 1000
         1 refund j"
    ));
    // Parts of it: the debt first, then money, and without a new end nothing can be spent.
    play(&format!(
        "{deposit}
         + C j 5000
         @ 20
         + refund j 3500 --reissue-until 2027-01-01
         = P 0 0 0
         + refund j 700 --reissue-until 2027-01-01
         = P 200 0 200
         + refund j
         ~ expired
         = P 200 0 200
         > refund P 700, P 2800, P 140, P 360, P 200, P 160, P 640"
    ));
    // A refund before the end lowered the debt, so less than the second job's debt was forgiven.
    play(&format!(
        "{deposit}
         + C j 1000
         + C k 4000
         + refund j
         @ 20
         + refund k --reissue-until 2027-01-01
         = P 1000 0 1000
         > refund P 1000, P 3000, P 1000"
    ));
    // Whichever of two jobs comes first, both together give back what was deposited.
    for (first, second) in [("j", "k"), ("k", "j")] {
        play(&format!(
            "{deposit}
             + C j 1000
             + C k 4000
             @ 20
             + refund {first} --reissue-until 2027-01-01
             + refund {second} --reissue-until 2027-01-01
             = P 1000 0 1000"
        ));
    }
}

#[test]
fn ledger_case_120_a_charge_with_refunds_is_undone_last_through_bank() {
    play(
        "+ account add X --projects P
         + account add Y --projects P
         + account add Z --projects P
         + deposit X 100
         + deposit Y 100
         + deposit Z 100
         + R j 150
         + C j 150
         + refund j 20
         + refund j 20
         + refund j 20
         > refund X 13, Y 7, X 13, Y 7, X 13, Y 7
         1 undo {8}
         + undo {11}
         + undo {10}
         + undo {9}
         + undo {8}
         = X 100 0 100
         = Y 100 0 100
         = Z 100 0 100
         > reverse X 100, Y 50",
    );
}

/// A reissued refund is new money: the new allocation was not used.
#[test]
fn a_reissued_refund_lowers_no_use_of_its_allocation() {
    let mut bank = Setup::new().start();
    let run = |bank: &Bank, line: &str| bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
    for line in [
        "project add bio --members amy",
        "deposit bio 5000 --start 2026-01-01 --end 2026-01-02",
        "charge j -A bio -u amy -m colony --procs 1 --duration 2000",
    ] {
        run(&bank, line);
    }
    bank.set_clock(T0 + 2 * 86_400);
    run(&bank, "refund j --reissue-until 2027-01-01");
    let used = |bank: &Bank| {
        let list = bank.json(&["balance", "bio"]);
        let row = &list["items"][0];
        ["amount", "used", "allocated", "used_percent"]
            .map(|name| row[name].as_str().unwrap_or("").to_owned())
    };
    assert_eq!(used(&bank), ["2000", "0", "2000", "0.00"]);
    run(
        &bank,
        "charge k -A bio -u amy -m colony --procs 1 --duration 500",
    );
    assert_eq!(used(&bank), ["1500", "500", "2000", "25.00"]);
    // The undo of the refund and its redo.
    let refund = &bank.query("SELECT id FROM tx WHERE op = 'refund'")[0][0];
    run(&bank, &format!("undo {refund} --allow-debt"));
    assert_eq!(used(&bank), ["-500", "500", "0", ""]);
    let undo = &bank.query("SELECT id FROM tx WHERE op = 'undo'")[0][0];
    run(&bank, &format!("undo {undo}"));
    assert_eq!(used(&bank), ["1500", "500", "2000", "25.00"]);
    agree(&bank);
    bank.verify();
}
