//! What was before a project, an account or a machine was removed is found by its name.

use crate::harness::{Bank, Setup, T0};

/// A bank whose project, account, user and machine of one charge are removed.
fn removed() -> Bank {
    let bank = Setup::new().chemistry(1000).start();
    bank.set_clock(T0 + 3600);
    for words in [
        "machine add red",
        "user add zoe",
        "project add bio --members zoe",
        "deposit bio 500",
        "charge j1 -A bio -u zoe -m red --procs 1 --duration 100",
        "withdraw bio 400",
        "machine rm red --yes",
        "user rm zoe --yes",
        "account rm bio --yes",
        "project rm bio --yes",
    ] {
        bank.bank_ok(&words.split(' ').collect::<Vec<_>>());
    }
    bank
}

#[test]
fn the_past_of_removed_objects_is_found_by_name() {
    let mut bank = removed();
    for words in [
        "journal -A bio --kind charge,charge_debt",
        "journal -a bio --kind charge,charge_debt",
        "journal -u zoe --kind charge,charge_debt",
        "journal -m red --kind charge,charge_debt",
        "jobs -A bio",
        "jobs -m red",
        "usage -A bio --from 2025-01-01 --to 2027-01-01",
        "usage -a bio --from 2025-01-01 --to 2027-01-01",
        "usage -m red --from 2025-01-01 --to 2027-01-01",
        "statement bio --from 2025-01-01 --to 2027-01-01",
        "statement -a bio --from 2025-01-01 --to 2027-01-01",
        "statement -u zoe --from 2025-01-01 --to 2027-01-01",
        "statement -m red --from 2025-01-01 --to 2027-01-01",
        "export csv -A bio",
        "explain j1 -m red",
    ] {
        let found = bank.bank_ok(&words.split(' ').collect::<Vec<_>>());
        let has_charge = ["100.000", "100", "0.028"]
            .iter()
            .any(|text| found.contains(text));
        assert!(has_charge, "bank {words}\n{found}");
    }
    for words in [
        "reconcile -m red --from 2025-01-01",
        "what-if -A bio",
        "what-if --enforce-from 2025-01-01 -m red",
        "report contribution -A bio",
    ] {
        bank.bank_ok(&words.split(' ').collect::<Vec<_>>());
    }
    // Nothing new is done with them.
    for (words, why) in [
        ("deposit bio 1", "no account or project \"bio\""),
        ("project set bio --description x", "no project \"bio\""),
        ("machine set red --mode track", "no machine \"red\""),
    ] {
        let ran = bank.bank(&words.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.exit, 4, "bank {words}: {}", ran.stderr);
        assert!(ran.stderr.contains(why), "bank {words}: {}", ran.stderr);
    }
    bank.verify();
}
