//! Gold's commands, through links made by `bank gen links`, against the real daemon.
//!
//! Each case is a command line, the printed text and the exit code. Blanks at the ends of lines are left out here:
//! Gold prints one behind every column, and the unit tests of `bank` check them.

use std::path::PathBuf;

use crate::harness::{Bank, Ran, T0, programs};

/// A bank of two projects and three accounts, and the folder of the links.
pub(super) fn bank() -> (Bank, PathBuf) {
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

/// Runs a line; `_` in a word is a blank.
pub(super) fn run((bank, links): &(Bank, PathBuf), line: &str) -> Ran {
    let mut words = line.split_whitespace().map(|word| word.replace('_', " "));
    let name = words.next().unwrap();
    let words: Vec<String> = words.collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    bank.typed(&links.join(name), &words)
}

/// A text without blanks at the ends of lines.
fn trimmed(text: &str) -> String {
    text.lines()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

#[track_caller]
pub(super) fn prints(bank: &(Bank, PathBuf), line: &str, expected: &str) {
    exits(bank, line, 0, expected);
}

#[track_caller]
pub(super) fn exits(bank: &(Bank, PathBuf), line: &str, exit: i32, expected: &str) {
    let ran = run(bank, line);
    let printed = (ran.exit, trimmed(&ran.stdout));
    assert_eq!(
        printed,
        (exit, expected.to_owned()),
        "{line}: {}",
        ran.stderr
    );
    assert_eq!(ran.stderr, "", "{line}");
}

#[track_caller]
pub(super) fn begins(bank: &(Bank, PathBuf), line: &str, expected: &str) {
    let ran = run(bank, line);
    assert_eq!(ran.exit, 0, "{line}: {}", ran.stderr);
    assert!(ran.stdout.starts_with(expected), "{line}: {}", ran.stdout);
}

#[test]
fn money_moves_in_golds_words() {
    let mut bank = bank();
    for (line, message) in [
        (
            "gdeposit -a 2 -z 100",
            "Successfully deposited 100.000 SU into account 2\n",
        ),
        (
            "gdeposit -a chem 7.5",
            "Successfully deposited 7.500 SU into account 3\n",
        ),
        (
            "gdeposit -p biology 1",
            "Successfully deposited 1.000 SU into account 2\n",
        ),
        (
            "gdeposit 4 7200 -s 2020-01-01 -e 2030-01-01",
            "Successfully deposited 7200.000 SU into account 4\n",
        ),
        (
            "gwithdraw 2 11",
            "Successfully withdrew 11.000 SU from account 2\n",
        ),
        ("gdeposit 2 1 --quiet", ""),
        (
            "gwithdraw -p biology -z 1",
            "Successfully withdrew 1.000 SU from project biology\n",
        ),
    ] {
        prints(&bank, line, message);
    }
    prints(
        &bank,
        "gbalance",
        "\
Id Name    Amount Reserved Balance CreditLimit Available
-- ------- ------ -------- ------- ----------- ---------
2  biology     90        0      90           0        90
3  chem       7.5        0     7.5           0       7.5
4  spare     7200        0    7200           0      7200
",
    );
    // Each column once.
    begins(
        &bank,
        "gbalance --available",
        "Id Name    Available Reserved Balance CreditLimit \n",
    );
    prints(
        &bank,
        "gbalance -p chem -u bob --raw --quiet --show Id,Available",
        "3|7.5\n",
    );
    prints(
        &bank,
        "gbalance -a spare -h --show Name,Amount,Percentage",
        "Name  Amount Percentage\n----- ------ ----------\nspare   2.00 100.00\n",
    );
    begins(
        &bank,
        "gbalance -p chem --total",
        "Balance \n------- \n 7207.5 \n",
    );
    prints(&bank, "gbalance -p chem --total -h --quiet", "   2.00\n");
    prints(
        &bank,
        "mybalance --show Name,Balance",
        "Name    Balance\n------- -------\nbiology      90\nchem        7.5\nspare      7200\n",
    );
    prints(
        &bank,
        "mybalance",
        "\
Project Machines Balance
------- -------- -------
biology ANY           90
chem    ANY          7.5
chem    colony      7200
",
    );
    let several = run(&bank, "gdeposit -p chem 5");
    assert_eq!(several.exit, 74);
    several.expect_stderr(&["has multiple accounts", "3  chem", "4  spare"]);
    bank.0.verify();
}

#[test]
fn lists_have_golds_columns() {
    let mut bank = bank();
    bank.0
        .bank_ok(&["deposit", "chem", "50", "--end", "2027-01-01"]);
    for (line, expected) in [
        (
            "glsproject",
            "\
Name    Active Users   Machines Description
------- ------ ------- -------- -----------
biology True   amy
chem    True   amy,bob colony
",
        ),
        (
            "glsproject -l --show Name,Users chem",
            "Name Users\n---- -----\nchem bob\n     amy\n",
        ),
        (
            "glsproject -p c* --raw",
            "Name|Active|Users|Machines|Description\nchem|True|amy,bob|colony|\n",
        ),
        (
            "glsaccount",
            "\
Id Name    Amount Projects Users        Machines Description
-- ------- ------ -------- ------------ -------- -----------
2  biology      0 biology  MEMBERS      ANY
3  chem        50 chem     MEMBERS      ANY
4  spare        0 chem     MEMBERS,-bob colony
",
        ),
        ("glsaccount -u bob --raw --quiet --show Id", "3\n"),
        ("glsaccount chem --raw --quiet --show Id,Name", "3|chem\n"),
        (
            "glsalloc -A --show Account,Active,StartTime,EndTime,Amount,CreditLimit,Deposited",
            "\
Account Active StartTime EndTime             Amount CreditLimit Deposited
------- ------ --------- ------------------- ------ ----------- ---------
3       True   -infinity 2027-01-01 01:00:00     50           0        50
",
        ),
        ("glsalloc -I", ""),
        (
            "glsmachine --show Name,Active",
            "Name   Active\n------ ------\ncolony True\n",
        ),
        (
            "glsuser amy --show Name,Active",
            "Name Active\n---- ------\namy  True\n",
        ),
        (
            "glsuser -u b* --show Name,Projects",
            "Name Projects\n---- --------\nbob  chem\n",
        ),
        ("glsquote", ""),
        ("glsres", ""),
        ("glsjob", ""),
    ] {
        prints(&bank, line, expected);
    }
    bank.0.verify();
}

#[test]
fn reservations_are_listed_and_expire() {
    let mut bank = bank();
    bank.0.bank_ok(&["deposit", "chem", "50"]);
    for job in ["a", "b", "c"] {
        let line = format!("greserve -J {job} -p chem -u amy -m colony -P 1 -t 600");
        begins(&bank, &line, "Successfully reserved ");
    }
    begins(
        &bank,
        "gcharge -J a -p chem -u amy -m colony -P 1 -t 60",
        "Successfully charged job a ",
    );
    prints(
        &bank,
        "glsres --raw --quiet --show Name,User,Accounts",
        "b|amy|3\nc|amy|3\n",
    );
    prints(&bank, "glsres -J b --raw --quiet --show Name", "b\n");
    bank.0.set_clock(T0 + 86_400);
    prints(&bank, "glsres -A --raw --quiet --show Name", "");
    prints(&bank, "glsres -I --raw --quiet --show Name", "b\nc\n");
    bank.0.verify();
}

#[test]
fn a_job_is_held_charged_and_refunded_in_golds_words() {
    let mut bank = bank();
    bank.0.bank_ok(&["deposit", "chem", "50"]);
    bank.0.bank_ok(&["deposit", "biology", "10"]);
    let job = "-p chem -u amy -m colony -P 4";
    prints(
        &bank,
        &format!("gquote {job} -t 3600"),
        "Successfully quoted 4.000 SU\n",
    );
    prints(&bank, &format!("gquote {job} -t 3600 --quiet"), "4.000\n");
    prints(
        &bank,
        "gquote -p biology -u amy -m colony -P 100 -t 3600 --costOnly",
        "Successfully quoted 100.000 SU\n",
    );
    begins(
        &bank,
        &format!("gquote {job} -t 1:00:00 --guarantee"),
        "Successfully quoted 4.000 SU with quote id 1",
    );
    begins(
        &bank,
        &format!("greserve -J PBS.1 {job} -t 3600 -q 1"),
        "Successfully reserved 4.000 SU for job PBS.1",
    );
    begins(
        &bank,
        &format!("gcharge -J PBS.1 {job} -t 1800 --incremental"),
        "Successfully charged job PBS.1 for 2.000 SU",
    );
    let left = "gbalance -a 3 --raw --quiet --show Amount,Reserved,Available";
    prints(&bank, left, "48|2|46\n");
    begins(
        &bank,
        &format!("gcharge -r 1 {job} -t 900"),
        "Successfully charged job PBS.1 for 1.000 SU",
    );
    prints(&bank, left, "47|0|47\n");
    prints(
        &bank,
        "glsjob -J PBS.1 --raw --quiet --show JobId,User,Project,Machine,Stage,Charge",
        "PBS.1|amy|chem|colony|Charge|3\n",
    );
    prints(
        &bank,
        "grefund -J PBS.1 -z 1.5 -d broken",
        "Successfully refunded 1.500 SU for job PBS.1\n",
    );
    // In the second of the charges: it is included.
    let usage = run(&bank, "gusage chem");
    assert!(
        usage.stdout.contains("# Usage Summary for project chem\n"),
        "{}",
        usage.stdout
    );
    prints(&bank, "gusage chem --quiet", "amy     1.5\n");
    prints(
        &bank,
        "glstxn -O Job -A Charge --raw --quiet --show Object,Action,JobId,Amount,User",
        "Job|Charge|PBS.1|2|amy\nJob|Charge|PBS.1|1|amy\n",
    );
    prints(
        &bank,
        "gtransfer --fromAccount chem --toAccount 2 -z 5 -d lent",
        "Successfully transferred 5.000 SU from account 3 to account 2\n",
    );
    let statement = run(&bank, "gstatement -a chem");
    for part in [
        "# Statement for account 3 (chem)\n",
        "Beginning Balance:                    0\n",
        "Total Credits:                     51.5\n",
        "Total Debits:                        -8\n",
        "Ending Balance:                    43.5\n",
        "Job     Charge   PBS.1 chem    amy  colony ",
    ] {
        assert!(
            statement.stdout.contains(part),
            "no {part:?}: {}",
            statement.stdout
        );
    }
    bank.0.verify();
}

/// The second reserve of a job names another project: the lien is for it, with the amount of one reserve.
#[test]
fn a_reserve_for_another_project_moves_the_lien_without_its_amount() {
    let mut bank = bank();
    for line in ["gdeposit -a 3 -z 1000", "gdeposit -a 2 -z 500"] {
        assert_eq!(run(&bank, line).exit, 0, "{line}");
    }
    for project in ["chem", "biology"] {
        let line = format!("greserve -J j -p {project} -u amy -m colony -P 4 -t 100");
        let ran = run(&bank, &line);
        assert_eq!(ran.exit, 0, "{line}: {}", ran.stderr);
    }
    prints(
        &bank,
        "glsres --raw --quiet --show Project,Amount",
        "biology|0.111\n",
    );
    bank.0.verify();
}

#[test]
fn failures_have_golds_exit_codes() {
    let mut bank = bank();
    let before = bank.0.transactions();
    for (line, exit, part) in [
        (
            "gwithdraw 2 5000",
            78,
            "Insufficient balance to perform requested withdrawal",
        ),
        (
            "gquote -p chem -u amy -P 4 -t 3600",
            78,
            "Insufficient balance",
        ),
        ("gdeposit -a 2 -z -5", 74, "amount"),
        ("gdeposit -a 2 -z 5 -s 2026-13-01", 31, "2026-13-01"),
        (
            "gdeposit -a 99 -z 5",
            74,
            "The specified account id (99) does not exist.",
        ),
        (
            "gdeposit -a nobody -z 5",
            74,
            "The specified account (nobody) does not exist.",
        ),
        ("gdeposit -p nobio -z 5", 74, "There are no accounts"),
        ("gdeposit -a 2 -z 0.0001", 74, "decimals"),
        ("gquote -p chem -u bob -m nowhere -P 4 -t 5", 74, "nowhere"),
        (
            "grefund -J nojob",
            74,
            "There are no jobs matching the specified job id",
        ),
        (
            "gcharge -r 9 -p chem -u amy -m colony -P 4 -t 5",
            74,
            "reservation (9)",
        ),
        (
            "greserve -J j -p chem -u amy -m colony -P 4 -t 3600",
            78,
            "Insufficient balance",
        ),
        (
            "greserve -J j -p chem -u amy -m colony -P 4",
            31,
            "A wall duration must be specified",
        ),
        (
            "greserve -J j -p chem -u dave -m colony -P 4 -t 5",
            74,
            "dave",
        ),
        (
            "gcharge -J j -p chem -u amy -m colony -P 4",
            31,
            "A wall duration must be specified",
        ),
        ("gmkuser amy", 74, "User already exists"),
    ] {
        let ran = run(&bank, line);
        assert_eq!(ran.exit, exit, "{line}: {}{}", ran.stdout, ran.stderr);
        ran.expect_stderr(&[part]);
        assert_eq!(ran.stdout, "", "{line}");
    }
    for (line, first) in [
        ("gbalance --nonsense", "Unknown option: nonsense"),
        (
            "gdeposit -a 2 -z abc",
            "Value \"abc\" invalid for option z (number expected)",
        ),
        ("gdeposit", "Usage: gdeposit"),
        ("gwithdraw 2", "Usage: gwithdraw"),
        ("gtransfer --fromAccount 2 -z 5", "Usage: gtransfer"),
        ("grefund", "Usage: grefund"),
    ] {
        let ran = run(&bank, line);
        assert_eq!(ran.exit, 2, "{line}: {}", ran.stderr);
        assert!(ran.stderr.starts_with(first), "{line}: {}", ran.stderr);
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

#[test]
fn generic_resources_are_priced_and_names_of_a_refund_agree() {
    let mut bank = bank();
    bank.0.bank_ok(&["deposit", "chem", "1000"]);
    bank.0.bank_ok(&["rate", "set", "VBR", "gpu", "10"]);
    bank.0.set_clock(T0 + 3600);
    let job = "-p chem -u bob -m colony -P 1 -t 10";
    begins(
        &bank,
        &format!("gquote {job} -X gres.gpu=2"),
        "Successfully quoted 200.003 SU",
    );
    begins(
        &bank,
        &format!("gcharge -J one {job} -X GRES.gpu=2"),
        "Successfully charged job one for 200.003 SU",
    );
    begins(
        &bank,
        &format!("gcharge -J two {job}"),
        "Successfully charged job two for 0.003 SU",
    );
    let number = &bank
        .0
        .query("SELECT id FROM instance WHERE object_id = 'two'")[0][0];
    let ran = run(&bank, &format!("grefund -J one -j {number}"));
    ran.expect_stderr(&[&format!("option JobId is not that of job {number}")]);
    assert_ne!(ran.exit, 0);
    begins(
        &bank,
        &format!("grefund -J two -j {number}"),
        "Successfully refunded",
    );
    bank.0.verify();
}
