//! The daemon dies while it takes what it read: nothing is lost, nothing counts twice, and neither the
//! collector's figures nor the quarantine say otherwise.

use super::*;

/// One life of the daemon after the other, each of which ends at the point.
fn killed_at(point: &str) {
    let mut bank = following("");
    let mut written = 0;
    for round in 0..4 {
        bank.stop_or_kill();
        append(&bank, &jobs(written..written + 7));
        append(&bank, "a line that nobody can read\n");
        written += 7;
        // The first time is that of the file's first mark, where there is none yet.
        let count = if round == 0 { 2 } else { 1 };
        let trap = format!("{point}:{count}");
        if bank.start_with(&[("BANKD_KILL_AT", &trap)]) {
            until("the daemon is gone", || bank.is_gone().then_some(()));
        }
        bank.stop_or_kill();
        append(&bank, &jobs(written..written + 3));
        written += 3;
        bank.start();
        taken(&bank, i64::try_from(written).unwrap());
        let shown = source(&bank);
        assert_eq!(shown["records"], written + round + 1, "{shown}");
        assert_eq!(shown["quarantined"], round + 1, "{shown}");
    }
    let all = written.to_string();
    let count = |what: &str| bank.query(&format!("SELECT count(*) FROM {what}"));
    assert_eq!(count("usage_identity"), [[all.clone()]]);
    assert_eq!(count("usage"), [[all.clone()]]);
    assert_eq!(bank.query("SELECT sum(lines) FROM raw_block"), [[all]]);
    bank.verify();
}

#[test]
fn killed_before_what_was_read_is_taken() {
    killed_at("follow_taking");
}

#[test]
fn killed_after_what_was_read_is_taken() {
    killed_at("follow_taken");
}

#[test]
fn killed_from_outside_while_a_long_file_is_read() {
    let mut bank = following("");
    let mut written = 0;
    for _ in 0..5 {
        append(&bank, &jobs(written..written + 3000));
        written += 3000;
        let some = i64::try_from(written).unwrap() - 3000;
        until("some of it is taken, or nothing yet", || {
            jobs_taken(&bank)
                .is_none_or(|jobs| jobs >= some)
                .then_some(())
        });
        bank.kill();
        bank.start();
    }
    taken(&bank, i64::try_from(written).unwrap());
    let all = written.to_string();
    assert_eq!(bank.query("SELECT count(*) FROM usage_identity"), [[all]]);
    bank.verify();
}
