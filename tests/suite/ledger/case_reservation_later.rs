//! Charges of reservations where idle time meets refunds, the time of charges, and later assignment
//! (decision 0171).

use super::ask::Ask;
use super::ask_after::{refund, undo};
use super::bench::{Bench, on_both};
use super::case_reservation::{billed, job, reported, reserved};
use super::fixture::time;
use bank_core::command::{Assign, Command, Identity, UsageReport};
use bank_core::policy::{Ended, Figures};

fn world(t: &mut Bench<'_>) {
    t.given("F{a=1000000}");
    reported(t);
    t.at("T0+86400");
}

/// What the project paid in all, less what it got back.
fn paid(t: &mut Bench<'_>) -> i64 {
    let entries = t.ground.journal(0).into_iter().flat_map(|tx| tx.entries);
    let of_uses = entries.filter(|entry| entry.kind != "deposit");
    of_uses.map(|entry| -entry.delta.amount).sum()
}

#[test]
fn time_that_was_refunded_is_not_billed_again() {
    // Of 57,600: all of it, and all but 600.
    for (refunded, with_job, after) in [(0, 7_200, 0), (57_000, 7_200, 600)] {
        on_both(|t| {
            world(t);
            t.after([reserved(16, 3600, "T0+3600").ask(true)]);
            t.after([refund("r", refunded)]);
            t.after([job("j", 4, 1800, "T0+2700").ask(true)]);
            assert_eq!(paid(t), with_job, "refunded {refunded}, with the job");
            let of_job = t.tx("charge", 0);
            t.after([undo(of_job)]);
            assert_eq!(paid(t), after, "refunded {refunded}, without the job");
        });
    }
}

#[test]
fn more_time_after_a_refund_counts_against_its_excess() {
    on_both(|t| {
        world(t);
        t.after([reserved(16, 3600, "T0+3600").ask(false)]);
        t.after([refund("r", 0)]);
        // 50,400 of the refunded 57,600 was idle time.
        t.after([job("j", 4, 1800, "T0+2700").ask(true)]);
        t.after([reserved(16, 900, "T0+4500").ask(true)]);
        assert_eq!(paid(t), 7_200 + 50_400 + 14_400 - 57_600);
        assert_eq!(billed(t), 50_400 + 14_400);
    });
}

#[test]
fn a_correction_counts_when_its_charge_counts() {
    on_both(|t| {
        world(t);
        // A document that comes a day after its time counts when it comes.
        let mut late = reserved(16, 3600, "T0+86400");
        late.request.facts.start = Some(time("T0"));
        late.request.facts.end = Some(time("T0+3600"));
        t.after([late.ask(true)]);
        t.after([job("j", 4, 1800, "T0+2700").ask(true)]);
        let of_job = t.tx("charge", 0);
        t.after([undo(of_job)]);
        let Some(reader) = t.ground.reader() else {
            return;
        };
        let sql = "SELECT sum(at = (SELECT at FROM usage WHERE id = 1)), count(*) FROM usage
                   WHERE instance = (SELECT instance FROM usage WHERE id = 1)";
        let found: (i64, i64) = reader
            .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        // The charge, the correction for the job, and that of its undo.
        assert_eq!(found, (3, 3));
    });
}

#[test]
fn a_finished_reservation_of_nobody_is_charged_to_its_project_later() {
    on_both(|t| {
        world(t);
        t.after([job("j", 4, 1800, "T0+2700").ask(true)]);
        let values = [("source", "slurm:colony".into())];
        t.admin(Command::set_record("machine", "colony", &values));
        let mut request = reserved(16, 3600, "T0+3600").request;
        request.event_time = None;
        request.facts.start = Some(time("T0"));
        request.facts.end = Some(time("T0+3600"));
        request.whose.project = Some("nobody".to_owned());
        let report = UsageReport {
            source: "slurm:colony".to_owned(),
            request,
            figures: Figures {
                ended: Ended::Completed,
                ..Figures::default()
            },
            ..UsageReport::default()
        };
        let identity = Identity {
            source: report.source.clone(),
            id: "r".to_owned(),
            start: report.incarnation(),
            record: String::new(),
            reservation: String::new(),
            is_present: false,
        };
        t.after([Ask::from(Command::Usage(Box::new(report)))]);
        assert_eq!(billed(t), 50_400);
        t.after([Ask::from(Command::Assign(Box::new(Assign {
            identity,
            project: "P".to_owned(),
            user: None,
            pi: None,
            ended: Some(time("T0+3600")),
            note: String::new(),
        })))]);
        assert_eq!(billed(t), 50_400);
        t.expect_balance("F", "amount 942400 held 0 balance 942400 available 942400");
        // Time of its jobs counts afterwards as before.
        let values = [("source", "nami".into())];
        t.admin(Command::set_record("machine", "colony", &values));
        t.after([job("k", 2, 1800, "T0+2700").ask(true)]);
        assert_eq!(billed(t), 50_400 - 3_600);
    });
}
