//! Reservations that a scheduler reports, on a machine whose jobs come from a collector: each is charged once, in
//! every order (decision 0194).

use super::reserved::{BILLED, bank, end, job, number, reservation};
use crate::export::sums::agree_exactly;
use crate::harness::Bank;

/// A line of `sacct` about job 412: 4 processors from 900 to 2700 seconds after T0.
fn records(bank: &Bank, name: &str, reservation: &str) -> String {
    let path = bank.folder().join(name);
    let text = format!(
        "JobID|Cluster|User|Account|State|ExitCode|Submit|Start|End|NNodes|NCPUS|Reservation\n\
         412|colony|amy|chemistry|COMPLETED|0:0|2026-01-01T00:00:00|2026-01-01T00:15:00|\
         2026-01-01T00:45:00|1|4|{reservation}\n"
    );
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn import(bank: &Bank, file: &str) -> String {
    bank.bank_ok(&["import", "sacct", file, "--source", "slurm:colony"])
}

const IDLE: i64 = 16 * 3600 - 4 * 1800;
const ALL: i64 = 16 * 3600;

/// The sums of journal, usage, reports and exports.
fn agree(bank: &Bank, (hours, amount): (i64, i64)) {
    assert_eq!(
        agree_exactly(bank),
        (i128::from(hours) * 1000, i128::from(amount) * 1000)
    );
    let used = "SELECT sum(amount) FROM usage";
    assert_eq!(number(bank, used), amount);
    assert_eq!(bank.figures("chemistry").0, 1_000_000 - amount);
}

#[test]
fn a_collector_charges_jobs_and_documents_charge_reservations() {
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let mut bank = bank();
        bank.bank_ok(&["machine", "set", "colony", "--source", "slurm:colony"]);
        let file = records(&bank, "day.sacct", "class.1");
        for step in order {
            match step {
                0 => end(&bank, &reservation(16, 0, 3600)),
                // The document about the job waits for the record of the collector.
                1 => end(&bank, &job("412", "Reservation", (4, 900, 2700))),
                _ => {
                    import(&bank, &file);
                }
            }
        }
        assert_eq!(number(&bank, BILLED), IDLE, "{order:?}");
        agree(&bank, (ALL, ALL));
        import(&bank, &file);
        agree(&bank, (ALL, ALL));
        bank.verify();
    }
}

/// A scheduler that charged nothing but reservations leaves the jobs to the first collector.
#[test]
fn a_charged_reservation_leaves_the_jobs_of_the_machine_to_a_collector() {
    let mut bank = bank();
    end(&bank, &reservation(16, 0, 3600));
    let printed = import(&bank, &records(&bank, "day.sacct", "class.1"));
    assert!(printed.contains(": 1 charged"), "{printed}");
    assert_eq!(number(&bank, BILLED), IDLE);
    agree(&bank, (ALL, ALL));
    bank.verify();
}

#[test]
fn a_record_that_differs_in_the_name_of_its_reservation_is_amended() {
    let mut bank = bank();
    end(&bank, &reservation(16, 0, 3600));
    let without = records(&bank, "without.sacct", "");
    import(&bank, &without);
    assert_eq!(number(&bank, BILLED), ALL);
    agree(&bank, (ALL + 7200, ALL + 7200));
    let with = records(&bank, "with.sacct", "class.1");
    let printed = import(&bank, &with);
    assert!(printed.contains(": 1 adjusted"), "{printed}");
    assert_eq!(number(&bank, BILLED), IDLE);
    agree(&bank, (ALL, ALL));
    // The same again changes nothing, nor does a record that names no reservation.
    let transactions = bank.transactions();
    for file in [&with, &without] {
        let printed = import(&bank, file);
        assert!(printed.contains(": 1 duplicate"), "{printed}");
    }
    assert_eq!(bank.transactions(), transactions);
    import(&bank, &records(&bank, "other.sacct", "class.2"));
    assert_eq!(number(&bank, BILLED), ALL);
    agree(&bank, (ALL + 7200, ALL + 7200));
    bank.verify();
}

/// Records of a machine in mode `track` come in chunks without instances; those in a reservation have one.
#[test]
fn idle_hours_follow_records_that_move_no_money() {
    for is_first in [true, false] {
        let mut bank = bank();
        bank.bank_ok(&["machine", "set", "colony", "--mode", "track"]);
        bank.bank_ok(&["machine", "set", "colony", "--source", "slurm:colony"]);
        let file = records(&bank, "day.sacct", "class.1");
        if is_first {
            import(&bank, &file);
        }
        end(&bank, &reservation(16, 0, 3600));
        import(&bank, &file);
        assert_eq!(agree_exactly(&bank).0, i128::from(ALL) * 1000);
        bank.verify();
    }
}
