//! Gold's tables as files: the plan, the move, the proof, repeats and interruptions.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::{NOW, balances, folder, gold_folder, links, moved, new_bank};
use crate::harness::{Bank, Setup, shared_folder, skip};

/// The figures of the small Gold.
const BALANCES: [&str; 4] = [
    "bio 0.000 0.000 0.000",
    "chem 97550.000 120.500 100.000",
    "chem-2 -50.500 0.000 20.000",
    "closed 0.300 0.000 0.000",
];

#[test]
fn a_dry_run_shows_the_plan_and_writes_nothing() {
    let mut bank = new_bank();
    let before = bank.transactions();
    let folder = gold_folder(&bank);
    let plan = moved(&bank.bank(&["migrate", "gold", &folder, "--dry-run"]));
    for part in [
        "gold closes and this bank opens at 2026-11-24T01:00:00Z.\n",
        "\nchem      97550  120.5           100\n",
        "account \"2 chem\" becomes chem-2",
        "quotations: ask for a new quote (1):",
        "dry run, nothing written: gold closes",
        "balances of 4 accounts equal those of gold",
    ] {
        assert!(plan.contains(part), "{part} in {plan}");
    }
    assert_eq!(bank.transactions(), before);
    // Without a terminal, nothing is done that is not confirmed.
    let ran = bank.bank(&["migrate", "gold", &folder]);
    assert_eq!(ran.exit, 2, "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("not confirmed: open this bank with the contents of gold"),
        "{}",
        ran.stderr
    );
    assert_eq!(bank.transactions(), before);
    bank.verify();
}

#[test]
fn a_bank_moves_in_once() {
    let mut bank = new_bank();
    let folder = gold_folder(&bank);
    let done = moved(&bank.bank(&["migrate", "gold", &folder, "--yes"]));
    assert!(
        done.contains("finished jobs: 4, charged 2306 (4 charged)"),
        "{done}"
    );
    assert_eq!(balances(&bank), BALANCES);
    let usage = bank.json(&["usage", "--from", "2020-01-01", "--to", "2030-01-01"]);
    let charged = usage["total"]["shadow_charged"].as_str().unwrap();
    assert!(charged.starts_with("2306"), "{usage}");
    let journal = bank.json(&["journal", "--since", "2026-11-01", "--limit", "100"]);
    let opening = "gold closes and this bank opens at 2026-11-24T01:00:00Z";
    assert!(journal.to_string().contains(opening), "{journal}");
    // Nobody may spend where Gold's lists matched nothing; the excluded user may not either.
    for (user, project, account) in [("amy", "bio", "bio"), ("bob", "chem", "chem")] {
        let quote = [
            "quote", "--procs", "1", "--wall", "10", "-u", user, "-A", project, "-m", "colony",
        ];
        let ran = bank.bank(&quote);
        assert_ne!(ran.exit, 0, "{user} spends from {account}: {}", ran.stdout);
    }
    let before = bank.transactions();
    let again = moved(&bank.bank(&["migrate", "gold", &folder, "--yes"]));
    assert!(again.contains(": 0 objects added, "), "{again}");
    assert!(again.contains("(4 duplicate)"), "{again}");
    assert_eq!(bank.transactions(), before);
    // The job of the reservation ends here: its charge settles the lien.
    bank.set_clock(NOW + 60);
    let charge = [
        "charge", "j1", "-m", "colony", "-A", "chem", "-u", "amy", "--amount", "100",
    ];
    bank.bank_ok(&charge);
    assert_eq!(balances(&bank)[1], "chem 97450.000 0.000 100.000");
    // A repeat after use changes nothing either.
    let used = moved(&bank.bank(&["migrate", "gold", &folder, "--yes"]));
    assert!(
        used.contains("this bank has been used since") && used.contains("(4 duplicate)"),
        "{used}"
    );
    bank.verify();
}

#[test]
fn an_old_bank_that_has_changed_is_refused() {
    let mut bank = new_bank();
    let folder = gold_folder(&bank);
    moved(&bank.bank(&["migrate", "gold", &folder, "--yes"]));
    let before = bank.transactions();
    let path = Path::new(&folder).join("g_allocation.csv");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("97550", "97549")).unwrap();
    let ran = bank.bank(&["migrate", "gold", &folder, "--yes"]);
    assert_eq!(ran.exit, 7, "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("allocation 1: it was moved in before with other contents"),
        "{}",
        ran.stderr
    );
    assert_eq!(bank.transactions(), before);
    bank.verify();
}

#[test]
fn money_that_is_there_already_stops_the_migration() {
    let mut bank = new_bank();
    bank.bank_ok(&["project", "add", "chem"]);
    bank.bank_ok(&["deposit", "chem", "1"]);
    let before = bank.transactions();
    let folder = gold_folder(&bank);
    let ran = bank.bank(&["migrate", "gold", &folder, "--yes"]);
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("chem: expected amount 97550")
            && ran.stderr.contains("found amount 97551"),
        "{}",
        ran.stderr
    );
    assert_eq!(bank.transactions(), before);
    bank.verify();
}

#[test]
fn only_an_administrator_moves_a_bank_in() {
    let mut bank = Setup::new().start();
    let folder = folder(&bank, "set", &[("accounts.csv", "name\nspare\n")]);
    bank.bank_ok(&[
        "key",
        "add",
        "reader",
        "--role",
        "auditor",
        "--secret-file",
        bank.key_file().to_str().unwrap(),
    ]);
    let server = format!("http://{}", bank.tcp());
    let key = bank.key_file();
    let as_reader = [
        ("BANK_SERVER", server.as_str()),
        ("BANK_KEY_ID", "reader"),
        ("BANK_KEY_FILE", key.to_str().unwrap()),
    ];
    let ran = bank.bank_as(&as_reader, &["migrate", "csv", &folder, "--yes"]);
    assert_eq!(ran.exit, 6, "{}", ran.stderr);
    bank.verify();
}

#[test]
fn a_kill_in_the_middle_leaves_all_or_nothing() {
    let mut bank = new_bank();
    let folder = gold_folder(&bank);
    let before = bank.transactions();
    bank.stop();
    // The dry run of the plan passes the point for each step too.
    assert!(bank.start_with(&[("BANKD_KILL_AT", "opening:30")]));
    let ran = bank.bank(&["migrate", "gold", &folder, "--yes"]);
    assert_eq!(ran.exit, 5, "{}{}", ran.stdout, ran.stderr);
    bank.kill();
    bank.start();
    assert_eq!(bank.transactions(), before);
    moved(&bank.bank(&["migrate", "gold", &folder, "--yes"]));
    assert_eq!(balances(&bank), BALANCES);
    bank.verify();
}

/// What Gold printed: figures by account name.
fn listed(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut rows = BTreeMap::new();
    for line in text
        .lines()
        .skip(2)
        .take_while(|line| !line.starts_with("Id "))
    {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        rows.insert(words[1].clone(), words[2..].to_vec());
    }
    rows
}

#[test]
fn the_shared_bank_prints_what_gold_listed() {
    let Some(shared) = shared_folder() else {
        skip("the_shared_bank_prints_what_gold_listed", "no shared data");
        return;
    };
    let folder = shared.join("data/gold");
    let file = folder.join("listed.txt");
    let (folder, file) = (folder.to_str().unwrap(), file.to_str().unwrap());
    let mut bank = new_bank();
    let done = moved(&bank.bank(&["migrate", "gold", folder, "--listed", file, "--yes"]));
    assert!(
        done.contains("59 figures of the list agree with the old bank."),
        "{done}"
    );
    assert!(done.contains("(36 charged)"), "{done}");
    let latin: Vec<char> = fs::read(file)
        .unwrap()
        .into_iter()
        .map(char::from)
        .collect();
    let wanted = listed(&latin.into_iter().collect::<String>());
    let links = links(&bank);
    let printed = bank.typed(&links.join("gbalance"), &[]).stdout;
    let found = listed(&printed);
    // Gold printed whole credits: 312998 for 312998.125.
    let whole = |text: &String| text.split('.').next().unwrap().to_owned();
    for (name, figures) in &wanted {
        let own: Vec<String> = found[name].iter().map(whole).collect();
        assert_eq!(&own, figures, "{name} in {printed}");
    }
    let allocations = bank.typed(
        &links.join("glsalloc"),
        &["--raw", "--quiet", "--show", "Amount,CreditLimit,Deposited"],
    );
    let mut rows: Vec<String> = allocations
        .stdout
        .lines()
        .map(|line| line.replace(".000", ""))
        .collect();
    rows.sort_unstable();
    let mut wanted: Vec<&str> = vec![
        "0|0|0",
        "97550|100|100000",
        "0|0|0",
        "0|0|0",
        "70000.125|1000|70000.125",
        "1000|0|1000",
        "0|0|0",
        "121795|0|250000",
        "242998|0|500000",
    ];
    wanted.sort_unstable();
    assert_eq!(rows, wanted);
    // Later, the reservation is over: the same list agrees with the time when it was made.
    let mut later = Bank::initialized(Vec::new(), NOW + 4 * 86_400, &["--precision", "3"]);
    later.start();
    let done = moved(&later.bank(&["migrate", "gold", folder, "--listed", file, "--yes"]));
    assert!(done.contains("differs now because time went on"), "{done}");
    assert!(
        done.contains("account 4 phys: Reserved is 288000 in the list, 0 in the tables"),
        "{done}"
    );
    bank.verify();
    later.verify();
}
