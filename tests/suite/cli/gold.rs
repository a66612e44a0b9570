//! Gold's names, through links made by `bank gen links`, against the real daemon.

use std::path::PathBuf;

use crate::harness::{Bank, Ran, T0, programs};

/// A bank of one project and two accounts, and where the links are.
fn bank() -> (Bank, PathBuf) {
    let bank = Bank::site();
    let links = bank.folder().join("links");
    bank.bank_ok(&["gen", "links", links.to_str().unwrap()]);
    for words in [
        "machine add colony --mode strict",
        "user add amy",
        "user add bob",
        "project add biology --members amy",
        "project add chem --members amy,bob --machines colony",
        "account add spare --projects chem --users MEMBERS,-bob --machines colony",
    ] {
        bank.bank_ok(&words.split_whitespace().collect::<Vec<_>>());
    }
    (bank, links)
}

fn run((bank, links): &(Bank, PathBuf), line: &str) -> Ran {
    let (name, words) = line.split_once(' ').unwrap_or((line, ""));
    let words: Vec<&str> = words.split_whitespace().collect();
    bank.typed(&links.join(name), &words)
}

#[track_caller]
fn prints(bank: &(Bank, PathBuf), line: &str, expected: &str) {
    let ran = run(bank, line);
    assert_eq!(
        (ran.exit, ran.stdout.as_str()),
        (0, expected),
        "{line}: {}",
        ran.stderr
    );
    assert_eq!(ran.stderr, "", "{line}");
}

#[test]
fn money_moves_in_golds_words() {
    let mut bank = bank();
    prints(
        &bank,
        "gdeposit -a 2 -z 100",
        "Successfully deposited 100.000 SU into account 2\n",
    );
    prints(
        &bank,
        "gdeposit -p chem 7.5",
        "Successfully deposited 7.500 SU into account 3\n",
    );
    prints(
        &bank,
        "gdeposit 4 2 -h -s 2020-01-01 -e 2030-01-01",
        "Successfully deposited 7200.000 SU into account 4\n",
    );
    prints(
        &bank,
        "gwithdraw 2 10",
        "Successfully withdrew 10.000 SU from account 2\n",
    );
    prints(&bank, "gdeposit 2 1 --quiet", "");
    assert!(
        run(&bank, "gwithdraw 2 1 -v")
            .stdout
            .contains("\ntransaction ")
    );
    prints(
        &bank,
        "gbalance",
        "\
Id Name    Amount   Reserved Balance  CreditLimit Available
-- ------- -------- -------- -------- ----------- ---------
2  biology 90.000   0.000    90.000   0.000       90.000
3  chem    7.500    0.000    7.500    0.000       7.500
4  spare   7200.000 0.000    7200.000 0.000       7200.000
",
    );
    prints(
        &bank,
        "gbalance -p chem -u bob --raw --show Id,Available",
        "3|7.500\n",
    );
    prints(
        &bank,
        "gbalance -p chem --total",
        "Balance\n--------\n7207.500\n",
    );
    prints(
        &bank,
        "gbalance -p chem --total --available -h --quiet",
        "2.00\n",
    );
    prints(
        &bank,
        "mybalance --show Name,Balance",
        "\
Name    Balance
------- --------
biology 90.000
chem    7.500
spare   7200.000
",
    );
    bank.0.verify();
}

#[test]
fn lists_have_golds_columns() {
    let mut bank = bank();
    bank.0
        .bank_ok(&["deposit", "chem", "50", "--end", "2027-01-01"]);
    prints(
        &bank,
        "glsproject",
        "\
Name    Active Users   Machines Description
------- ------ ------- -------- -----------
biology True   amy
chem    True   amy,bob colony
",
    );
    prints(
        &bank,
        "glsproject -l --show Name,Users chem",
        "Name Users\n---- -----\nchem amy\n     bob\n",
    );
    prints(
        &bank,
        "glsaccount",
        "\
Id Name    Amount Projects Users        Machines Description
-- ------- ------ -------- ------------ -------- -----------
2  biology 0.000  biology  MEMBERS      ANY
3  chem    50.000 chem     MEMBERS      ANY
4  spare   0.000  chem     MEMBERS,-bob colony
",
    );
    prints(&bank, "glsaccount -u bob --raw --show Id", "3\n");
    prints(
        &bank,
        "glsalloc",
        "\
Id Account Active StartTime EndTime             Amount CreditLimit Deposited
-- ------- ------ --------- ------------------- ------ ----------- ---------
2  3       True   -infinity 2027-01-01 01:00:00 50.000 0.000       50.000
",
    );
    prints(
        &bank,
        "glsalloc -I",
        "\
Id Account Active StartTime EndTime Amount CreditLimit Deposited
-- ------- ------ --------- ------- ------ ----------- ---------
",
    );
    let wall = "<WallDuration>3600</WallDuration>";
    bank.0
        .call("reserve")
        .body(
            format!(
                "<Job><ObjectID>PBS.1</ObjectID><User>amy</User><Account>chem</Account>\
             <Processors>2</Processors>{wall}<ChargeDuration>3600</ChargeDuration></Job>"
            )
            .as_bytes(),
        )
        .run()
        .expect(0, "");
    prints(
        &bank,
        "glsres",
        "\
Id Name  Amount StartTime           EndTime             Job   User Project Machine Accounts Description
-- ----- ------ ------------------- ------------------- ----- ---- ------- ------- -------- -----------
1  PBS.1 2.000  2026-01-01 01:00:00 2026-01-01 04:10:00 PBS.1 amy  chem    colony  chem
",
    );
    prints(
        &bank,
        "gbalance -p chem --raw --show Id,Reserved,Balance -u bob",
        "3|2.000|48.000\n",
    );
    bank.0.verify();
}

#[test]
fn what_has_ended_is_no_reservation_any_more() {
    let mut bank = bank();
    bank.0.bank_ok(&["deposit", "chem", "50"]);
    for job in ["a", "b", "c"] {
        let line = format!("greserve -J {job} -p chem -u amy -m colony -P 1 -t 600");
        assert_eq!(run(&bank, &line).exit, 0);
    }
    let charged = run(&bank, "gcharge -J a -p chem -u amy -m colony -P 1 -t 60");
    assert_eq!(charged.exit, 0, "{}", charged.stderr);
    prints(&bank, "glsres --raw --show Name", "b\nc\n");
    bank.0.set_clock(T0 + 86_400);
    prints(&bank, "glsres --raw --show Name", "");
    prints(&bank, "glsres -I --raw --show Name", "b\nc\n");
    prints(&bank, "glsres -r 2 --raw --show Name", "b\n");
    assert_eq!(run(&bank, "glsres -r 1").exit, 74);
    bank.0.verify();
}

#[test]
fn a_job_is_held_charged_and_refunded_in_golds_words() {
    let mut bank = bank();
    bank.0.bank_ok(&["deposit", "chem", "50"]);
    bank.0.bank_ok(&["deposit", "biology", "10"]);
    prints(
        &bank,
        "gquote -p chem -u amy -m colony -P 4 -t 3600",
        "Successfully quoted 4.000 SU\n",
    );
    prints(
        &bank,
        "gquote -p chem -u amy -P 4 -t 3600 --quiet",
        "4.000\n",
    );
    prints(
        &bank,
        "gquote -p biology -u amy -m colony -P 100 -t 3600 --costOnly",
        "Successfully quoted 100.000 SU\n",
    );
    prints(
        &bank,
        "gquote -p chem -u amy -m colony -P 4 -t 3600 --guarantee",
        "Successfully quoted 4.000 SU with quote id 1\n",
    );
    prints(
        &bank,
        "greserve -J PBS.1 -p chem -u amy -m colony -P 4 -t 3600 -q 1",
        "Successfully reserved 4.000 SU for job PBS.1\n",
    );
    prints(
        &bank,
        "gcharge -J PBS.1 -p chem -u amy -m colony -P 4 -t 1800 --incremental",
        "Successfully charged job PBS.1 for 2.000 SU\n",
    );
    let left = "gbalance -a 3 --raw --show Amount,Reserved,Available";
    prints(&bank, left, "48.000|2.000|46.000\n");
    prints(
        &bank,
        "gcharge -r 1 -p chem -u amy -m colony -P 4 -t 900",
        "Successfully charged job PBS.1 for 1.000 SU\n",
    );
    prints(&bank, left, "47.000|0.000|47.000\n");
    let unpriced = "gcharge -J PBS.2 -p chem -u amy -m colony -M 512 -t 900";
    let ran = run(&bank, unpriced);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    ran.expect_stderr(&["gcharge: unpriced: no rate matches"]);
    assert_eq!(ran.stdout, "Successfully charged job PBS.2 for 0.000 SU\n");
    prints(
        &bank,
        "grefund -J PBS.1 -z 1.5 -d broken",
        "Successfully refunded 1.500 SU for job PBS.1\n",
    );
    prints(
        &bank,
        "grefund PBS.1 -m colony -a 3",
        "Successfully refunded 1.500 SU for job PBS.1\n",
    );
    prints(
        &bank,
        "gtransfer --fromProject chem --toAccount 2 -z 5 -d lent",
        "Successfully transferred 5.000 SU from account 3 to account 2\n",
    );
    let ran = run(&bank, "gtransfer --fromAccount 2 --toProject chem 1 -h -v");
    assert_eq!(ran.exit, 78, "3600 SU are not there: {}", ran.stderr);
    let ran = run(&bank, "gtransfer --fromAccount 2 --toAccount 3 1 -v");
    assert!(ran.stdout.contains("\ntransaction "), "{}", ran.stdout);
    prints(
        &bank,
        "gbalance --raw --show Name,Amount",
        "biology|14.000\nchem|46.000\nspare|0.000\n",
    );
    bank.0.verify();
}

#[test]
fn failures_have_golds_exit_codes_and_one_line() {
    let mut bank = bank();
    let before = bank.0.transactions();
    for (line, exit, part) in [
        ("gwithdraw 2 5000", 78, "Insufficient balance to withdraw"),
        (
            "gquote -p chem -u amy -P 4 -t 3600",
            78,
            "Insufficient balance to quote job",
        ),
        ("gdeposit -a 2 -z -5", 74, "bad amount"),
        ("gdeposit -a 99 -z 5", 74, "no account \"99\""),
        ("gdeposit -p nobio -z 5", 74, "nobio"),
        ("gdeposit -a 2 -z abc", 2, "not a number"),
        ("gdeposit -a 2 -z 0.0001", 74, "3 decimals"),
        ("gdeposit", 2, "account is missing"),
        ("gwithdraw 2", 2, "amount is missing"),
        ("gquote -p chem -P 4", 2, "wall duration is missing"),
        ("gquote -p chem -u bob -m nowhere -P 4 -t 5", 74, "nowhere"),
        ("gbalance -p nobio", 74, "nobio"),
        ("gbalance --show Nonsense", 2, "Nonsense"),
        ("glsres -r 17", 74, "no reservation 17"),
        ("grefund -j 4", 2, "-J"),
        ("grefund -J nojob", 74, "nojob"),
        ("grefund", 2, "the job is missing"),
        (
            "gtransfer --fromAccount 2 --toAccount 3 5000",
            78,
            "Insufficient balance to transfer",
        ),
        (
            "gtransfer --fromAccount 2 --toAccount 2 -z 5",
            74,
            "same account",
        ),
        (
            "gtransfer --fromAccount 2 --toProject nobio -z 5",
            74,
            "nobio",
        ),
        (
            "gtransfer --fromAccount 2 --toAccount 99 -z 5",
            74,
            "no account \"99\"",
        ),
        (
            "gtransfer --fromAccount 2 -z 5",
            2,
            "--toProject is missing",
        ),
        (
            "gtransfer --fromAccount 2 --toAccount 3",
            2,
            "amount is missing",
        ),
        (
            "greserve -J j -p chem -u amy -m colony -P 4 -t 3600",
            78,
            "Insufficient balance to reserve job j",
        ),
        (
            "greserve -J j -p chem -u dave -m colony -P 4 -t 5",
            74,
            "dave",
        ),
        (
            "greserve -J j -p chem -u amy -m colony -P 4",
            2,
            "wall duration is missing",
        ),
        (
            "greserve -J j -p chem -u amy -m colony -P 4 -t 5 -q 9",
            74,
            "9",
        ),
        (
            "gcharge -J j -p chem -u amy -m colony -P -4 -t 5",
            74,
            "zero",
        ),
        (
            "gcharge -J j -p chem -u amy -m colony -P 4",
            2,
            "how long it ran",
        ),
        (
            "gcharge -r 9 -p chem -u amy -m colony -P 4 -t 5",
            74,
            "no reservation 9",
        ),
        (
            "gcharge -J j -p chem -u amy -P 4 -t 5 -T task",
            31,
            "job or reservation",
        ),
        ("gbalance --nonsense", 2, "--nonsense"),
    ] {
        let ran = run(&bank, line);
        assert_eq!(ran.exit, exit, "{line}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{line}: {}", ran.stderr);
        ran.expect_stderr(&[part]);
        let name = line.split(' ').next().unwrap();
        assert!(
            ran.stderr.starts_with(&format!("{name}: ")),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.stdout, "", "{line}");
    }
    assert_eq!(bank.0.transactions(), before, "nothing of it is written");
    let help = run(&bank, "gdeposit -?");
    assert_eq!(help.exit, 0);
    assert!(help.stdout.contains("--creditLimit"), "{}", help.stdout);
    bank.0.stop();
    assert_eq!(run(&bank, "gbalance").exit, 22);
    assert!(programs().bank().is_file());
    bank.0.start();
    bank.0.verify();
}
