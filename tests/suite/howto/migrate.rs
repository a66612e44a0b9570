//! Move in from another bank.

use super::Site;

#[test]
fn a_bank_moves_in_as_documented() {
    let mut site = Site::new();
    site.follow("migrate.md");
    let printed = &site.printed;
    for message in [
        "oldbank closes and this bank opens at ",
        "1 finished job, charged 124.5",
        "dry run, nothing written: ",
        "balances of 1 account equal those of oldbank",
        ": 0 objects added, ",
    ] {
        assert!(printed.contains(message), "no {message:?} in: {printed}");
    }
    site.verify();
}
