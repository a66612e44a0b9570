//! Names that a spreadsheet would take for formulas, in what the command line prints for people.

use crate::harness::Bank;

const NAME: &str = "=HYPERLINK(1)";

#[test]
fn csv_holds_no_formula_unless_texts_are_wanted_as_they_are() {
    let bank = Bank::new();
    bank.bank_ok(&["user", "add", "@sum"]);
    bank.bank_ok(&["project", "add", NAME, "--members", "@sum"]);
    bank.bank_ok(&["deposit", NAME, "1000", "--limit", "5"]);
    let work = ["-A", NAME, "-u", "@sum", "-m", "colony", "--procs", "1"];
    bank.bank_ok(&[&["charge", "@job.1", "--duration", "10"][..], &work].concat());
    let lists: [&[&str]; 5] = [
        &["project", "ls", "--csv"],
        &["user", "ls", "--csv"],
        &["jobs", "--csv"],
        &[
            "usage",
            "--csv",
            "--by",
            "project",
            "--from",
            "2025-12-01",
            "--to",
            "2026-02-01",
        ],
        &["export", "csv"],
    ];
    for words in lists {
        let cells = |text: &str| -> Vec<String> {
            let cells = text.lines().flat_map(|line| line.split(','));
            cells.map(str::to_owned).collect()
        };
        let begins = |cell: &String| cell.starts_with(['=', '@']);
        let safe = cells(&bank.bank_ok(words));
        let found: Vec<&String> = safe.iter().filter(|cell| begins(cell)).collect();
        assert!(found.is_empty(), "{words:?}: {found:?}");
        let guarded = |cell: &String| {
            cell.strip_prefix('\'')
                .is_some_and(|c| begins(&c.to_owned()))
        };
        assert!(safe.iter().any(guarded), "{words:?}: {safe:?}");
        let raw = cells(&bank.bank_ok(&[words, &["--raw-text"]].concat()));
        assert!(raw.iter().any(begins), "{words:?}: {raw:?}");
        // Nothing else differs.
        let bare = |cell: &String| match cell.strip_prefix('\'') {
            Some(rest) if begins(&rest.to_owned()) => rest.to_owned(),
            _ => cell.clone(),
        };
        assert_eq!(safe.iter().map(bare).collect::<Vec<_>>(), raw, "{words:?}");
    }
    // Amounts stay numbers, and other forms are for programs.
    let journal = bank.bank_ok(&["journal", "--csv", "--kind", "charge"]);
    assert!(journal.contains(",-10,"), "{journal}");
    let bars = bank.bank_ok(&["project", "ls", "-P"]);
    assert!(bars.contains(&format!("\n{NAME}|")), "{bars}");
}
