//! Bring in a year of accounting files.

use super::Site;

#[test]
fn accounting_files_are_imported_as_documented() {
    let mut site = Site::new();
    site.follow("import.md");
    let printed = &site.printed;
    for message in [
        "read 3 records: 2 jobs, 0 skipped, 1 rejected\n",
        "\nwould be in the bank, from slurm:colony: 2 ",
        "\nin the bank, from slurm:colony: 2 duplicate\n",
        "\nin the quarantine: 1\n",
        "1: 1 job: 1 ",
        "nothing in the quarantine",
    ] {
        assert!(printed.contains(message), "no {message:?} in: {printed}");
    }
    let summary = std::fs::read_to_string(site.folder.path().join("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["records"], 3);
    assert_eq!(summary["totals"]["core_s"], (2 * 3600 * 16) + 1800 * 64);
    site.verify();
}
