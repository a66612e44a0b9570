//! Names with a `/`, which addresses have in percent-encoding.

use super::browser::{Browser, bank};

#[test]
fn the_data_of_a_name_with_a_slash_is_found() {
    let mut bank = bank();
    bank.bank_ok(&["project", "add", "chem/gpu+1", "--members", "amy"]);
    bank.bank_ok(&["deposit", "chem/gpu+1", "1000"]);
    let job = [
        "charge",
        "ns/pod-1",
        "-A",
        "chem/gpu+1",
        "-u",
        "amy",
        "-m",
        "colony",
    ];
    bank.bank_ok(&[&job[..], &["--procs", "1", "--duration", "10"]].concat());
    let mut root = Browser::of_link(&bank);
    for (target, part) in [
        ("/data/projects/chem%2Fgpu%2B1/members?format=csv", "amy"),
        ("/data/projects/chem%2Fgpu+1/members", "amy"),
        ("/data/explanations/ns%2Fpod-1?machine=colony", "ns/pod-1"),
    ] {
        let answer = root.get(&bank, target);
        assert_eq!(answer.status, 200, "{target}: {}", answer.text());
        assert!(answer.text().contains(part), "{target}: {}", answer.text());
    }
    bank.verify();
}

/// The pages of the newest entries are joined in the order of the journal.
#[test]
fn a_file_of_the_newest_entries_has_the_oldest_first() {
    let mut bank = bank();
    for amount in ["1", "2", "3"] {
        bank.bank_ok(&["deposit", "chemistry", amount]);
    }
    let mut root = Browser::of_link(&bank);
    let csv = root
        .get(&bank, "/data/journal?newest=true&kind=deposit&format=csv")
        .text();
    let head = csv.lines().next().unwrap();
    let place = head
        .split(',')
        .position(|name| name == "transaction")
        .unwrap();
    let rows = csv.lines().skip(1);
    let numbers: Vec<u32> = rows
        .filter_map(|row| row.split(',').nth(place)?.parse().ok())
        .collect();
    assert!(numbers.len() > 3 && numbers.is_sorted(), "{numbers:?}");
    bank.verify();
}
