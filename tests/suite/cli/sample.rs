//! The samples of the command line: the bank that they tell of is set up through the rules, and
//! the screens are compared word by word.

use std::time::UNIX_EPOCH;

use bank_api::text::parse_rfc3339;

use crate::harness::Bank;

const CHEM: (&str, &str) = ("chem", "amy");
const GPU: (&str, &str) = ("chem/gpu", "bob");
/// A hundred hours.
const LONG: i64 = 360_000;

fn clock(bank: &Bank, time: &str) {
    bank.set_clock(parse_rfc3339(time).unwrap() / 1_000_000);
}

/// What cannot be done without saying so.
#[track_caller]
fn done(bank: &Bank, words: &str) {
    let words: Vec<&str> = words.split_whitespace().collect();
    let ran = bank.typed(&crate::harness::programs().bank(), &words);
    assert_eq!(ran.exit, 0, "{words:?}: {}", ran.stderr);
}

/// Users, projects, the machine and the factors of the samples.
fn site() -> Bank {
    let bank = Bank::site();
    for words in [
        "rate set NBM QualityOfService high 1.5",
        "rate set NBM QualityOfService low 0.5",
        "machine add ia64 --mode strict",
        "user add amy",
        "user add bob",
        "project add chem --members amy",
        "project add chem/gpu --parent chem --members bob",
    ] {
        done(&bank, words);
    }
    bank
}

/// A job that was billed for so many processors and seconds, and is over.
fn billed(bank: &Bank, job: &str, whose: (&str, &str), size: (i64, i64)) {
    bank.job_event("charge", job, whose, size, "");
    bank.job_event("delete", job, whose, size, "");
}

fn held(bank: &Bank, job: &str, whose: (&str, &str), processors: i64) {
    let wall = format!("<WallDuration>{LONG}</WallDuration>");
    bank.job_event("reserve", job, whose, (processors, LONG), &wall);
}

/// chem and chem/gpu on the evening of 2026-11-20.
fn november() -> Bank {
    let bank = site();
    done(&bank, "deposit chem 1000000 --end 2027-04-01");
    done(&bank, "deposit chem/gpu 120000 --end 2027-01-01");
    clock(&bank, "2026-10-01T12:00:00Z");
    billed(&bank, "1", CHEM, (6475, LONG));
    billed(&bank, "2", GPU, (527, LONG));
    clock(&bank, "2026-11-10T12:00:00Z");
    billed(&bank, "3", GPU, (393, LONG));
    clock(&bank, "2026-11-20T21:41:00Z");
    held(&bank, "4", CHEM, 420);
    held(&bank, "5", GPU, 96);
    bank
}

#[test]
fn sample_1_the_balance() {
    let mut bank = november();
    assert_eq!(
        bank.screen(&["balance"]),
        "\
Project        Deposited       Used     Held  Available  Used  Until
chem           1,000,000    647,500   42,000    310,500   65%  2027-04-01
  chem/gpu       120,000     92,000    9,600     18,400   77%  2027-01-01  !
Whole SU (core-hours). Held = running jobs. Rows without sub-projects.
2026-11-20 22:41 +0100
! chem/gpu: ends in 42 days; at 1,310 SU/day it is empty on 2026-12-04
"
    );
    assert_eq!(
        bank.screen(&["balance", "chem", "--tree", "--total"]),
        "\
Project            Deposited     Used    Held  Available  Used  Until
chem               1,000,000  647,500  42,000    310,500   65%  2027-04-01
  chem/gpu           120,000   92,000   9,600     18,400   77%  2027-01-01  !
with sub-projects  1,120,000  739,500  51,600    328,900   66%
Whole SU (core-hours). Held = running jobs. Rows without sub-projects.
2026-11-20 22:41 +0100
! chem/gpu: ends in 42 days; at 1,310 SU/day it is empty on 2026-12-04
"
    );
    assert_eq!(
        bank.screen(&["balance", "chem", "--mam"]),
        "\
Id  Name  Balance  Reserved  Effective  CreditLimit  Available
 2  chem  352,500    42,000    310,500            0    310,500
Whole SU (core-hours). Held = running jobs. 2026-11-20 22:41 +0100
"
    );
    assert_eq!(
        bank.screen(&[
            "balance",
            "chem",
            "--available",
            "-P",
            "-n",
            "--units",
            "seconds"
        ]),
        "chem|1117800000\n"
    );
    let account = bank.screen(&[
        "account",
        "show",
        "chem",
        "--columns",
        "capacity,used,used_percent",
    ]);
    assert!(account.contains("1,000,000\n"), "{account}");
    assert!(account.contains("64.75\n"), "{account}");
    let row = &bank.json(&["balance", "chem"])["items"][0];
    for (field, value) in [
        ("allocated", "1000000.000"),
        ("capacity", "1000000.000"),
        ("used_percent", "64.75"),
        ("remaining_percent", "35.25"),
        ("unit_means", "core-hours"),
    ] {
        assert_eq!(row[field], value, "{field}");
    }
    bank.verify();
}

#[test]
fn sample_2_the_balance_for_programs_and_an_unknown_name() {
    let mut bank = november();
    assert_eq!(
        bank.screen(&["balance", "-P", "-n", "chem"]),
        "chem|1000000.000|647500.000|42000.000|310500.000|2027-04-01\n"
    );
    assert_eq!(
        bank.screen(&["balance", "nochem"]),
        "\
bank: no project \"nochem\"
hint: did you mean \"chem\"? `bank project ls` shows yours
4
"
    );
    bank.verify();
}

#[test]
fn sample_3_quotes() {
    let mut bank = november();
    done(&bank, "project add standby");
    let about = [
        "account",
        "set",
        "standby",
        "--users",
        "ANY",
        "--description",
        "QOS low",
    ];
    bank.bank_ok(&about);
    done(&bank, "machine set ia64 --fallback standby");
    let job = |line: &str| bank.screen(&line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(
        job("quote --procs 64 --wall 12:00:00 --qos high -A chem"),
        "\
64 procs × 12:00:00 =     768.000 core-hours
× qos high 1.5      =   1,152.000 SU
chem has            310,500.000 SU available: the job can start
                    (309,348.000 would remain)
"
    );
    assert_eq!(
        job("quote --procs 4096 --wall 96:00:00 -A chem/gpu"),
        "\
4,096 procs × 96:00:00 = 393,216.000 SU
bank: refused: insufficient funds: chem/gpu has 18,400.000 SU, short by 374,816.000
hint: the scheduler may run such a job under its fallback account \"standby\" (QOS low); this \
quote is for chem/gpu only
3
"
    );
    bank.verify();
}

#[test]
fn sample_5_a_deposit() {
    let mut bank = november();
    let words = [
        "deposit",
        "chem",
        "250000",
        "--start",
        "2027-01-01",
        "--end",
        "2028-01-01",
        "--note",
        "Q1 award, ticket 4411",
    ];
    let output = bank.screen(&words);
    let transaction = bank.transactions();
    assert_eq!(
        output,
        format!(
            "\
deposited 250,000.000 SU to chem as allocation 4 (from 2027-01-01 until 2028-01-01, exclusive), \
not yet active
transaction {transaction}   undo: bank undo {transaction}
"
        )
    );
    bank.verify();
}

#[test]
fn sample_7_a_job() {
    let mut bank = site();
    done(&bank, "deposit chem 1000000 --end 2027-04-01");
    let more = "<WallDuration>43200</WallDuration><QualityOfService>high</QualityOfService>";
    let event_of = |event: &str, seconds| bank.job_event(event, "1632", CHEM, (64, seconds), more);
    clock(&bank, "2026-11-19T07:00:12Z");
    event_of("reserve", 43_200);
    clock(&bank, "2026-11-19T11:00:00Z");
    event_of("charge", 14_388);
    clock(&bank, "2026-11-19T18:02:22Z");
    event_of("charge", 25_342);
    event_of("delete", 0);
    let output = bank.screen(&["jobs", "1632"]);
    assert_eq!(
        output.replace("allocation 2", "allocation 97"),
        "\
Job 1632  chem  amy  ia64  64 procs  ran 11:02:10 (requested 12:00:00)
lien     1,152.000  2026-11-19 08:00:12  92.533 released at the end
charge     383.680  2026-11-19 12:00:00  interim,  14,388 s
charge     675.787  2026-11-19 19:02:22  interim,  25,342 s, then end
total    1,059.467 = 64 × 39,730 s ÷ 3600 × 1.5 (qos high); each charge =
                    rounded sum − billed before
paid by  allocation 97 (until 2027-04-01)
"
    );
    bank.verify();
}

/// The second at which it is 22:40:03 today, in the zone of the terminals.
fn tonight(bank: &Bank) -> i64 {
    let probe = bank.folder().join("probe");
    std::fs::write(&probe, "").unwrap();
    let now = std::fs::metadata(&probe).unwrap().modified().unwrap();
    let now = now.duration_since(UNIX_EPOCH).unwrap().as_secs();
    let local = i64::try_from(now).unwrap() + 3600;
    local - local % 86_400 - 3600 + 22 * 3600 + 40 * 60 + 3
}

#[test]
fn sample_8_the_journal_of_today() {
    let mut bank = site();
    done(&bank, "deposit chem 352512.5");
    done(&bank, "deposit chem/gpu 28096");
    let tonight = tonight(&bank);
    bank.set_clock(tonight - 45_000);
    let wall = "<WallDuration>45000</WallDuration>";
    bank.job_event("reserve", "1650", CHEM, (1, 45_000), wall);
    bank.set_clock(tonight);
    bank.job_event("reserve", "1651", GPU, (96, 3600), wall);
    bank.job_event("charge", "1650", CHEM, (1, 45_000), "");
    bank.job_event("charge", "1651", GPU, (96, 3600), "");
    let output = bank.screen(&["journal", "--since", "today", "--kind", "charge"]);
    // The numbers of the transactions are this bank's own.
    let rows: Vec<&str> = output
        .lines()
        .map(|line| line.rsplit_once("  ").unwrap().0)
        .collect();
    assert_eq!(
        rows,
        [
            "time      kind    project   user  object       amount  amount after",
            "22:40:03  charge  chem      amy   job 1650    −12.500   352,500.000",
            "22:40:03  charge  chem/gpu  bob   job 1651    −96.000    28,000.000",
        ]
    );
    // The newest, the oldest of them first; columns by the names at their heads.
    let newest = [
        "journal",
        "--limit",
        "2",
        "-P",
        "--columns",
        "kind,object,txn",
    ];
    let last = bank.transactions();
    assert_eq!(
        bank.screen(&newest),
        format!(
            "kind|object|transaction\ncharge|job 1650|{}\ncharge|job 1651|{last}\n",
            last - 1
        )
    );
    let all = bank.json(&["journal"]);
    let all = all["items"].as_array().unwrap();
    let some = bank.json(&["journal", "--limit", "5"]);
    assert_eq!(some["items"].as_array().unwrap(), &all[all.len() - 5..]);
    let more = bank.json(&["journal", "--limit", "100000"]);
    assert_eq!(more["items"].as_array().unwrap(), all);
    let after = bank.json(&["journal", "--after", "1", "--limit", "3"]);
    assert_eq!(after["items"][0]["transaction"], 2);
    let odd = bank.screen(&["journal", "--columns", "nonsense"]);
    assert!(odd.contains("transaction (txn)"), "{odd}");
    bank.verify();
}
