//! Reservations on machines whose jobs are charged from a collector: documents charge the reservations, and
//! records of jobs that name one use its time (decisions 0171 and 0194).

use super::ask::Ask;
use super::ask_after::undo;
use super::bench::{Bench, on_both};
use super::case_reservation::{billed, job, reserved, world};
use super::fixture::time;
use bank_core::command::{Chunk, Command, UsageReport};
use bank_core::policy::{Ended, Figures};
use bank_core::usage::kept::RESERVATION;
use std::sync::Arc;

/// A record of a collector about a job: 4 processors from T0+900 on, in a reservation or in none.
fn record(id: &str, end: &str, reservation: Option<&str>) -> UsageReport {
    let mut request = job(id, 4, 1800, "T0+2700").request;
    request.event_time = None;
    request.facts.other = Vec::new();
    request.facts.start = Some(time("T0+900"));
    request.facts.end = Some(time(end));
    UsageReport {
        source: "slurm:colony".to_owned(),
        request,
        figures: Figures {
            ended: Ended::Completed,
            ..Figures::default()
        },
        more: reservation.map(|name| format!("{RESERVATION}={name}")),
        ..UsageReport::default()
    }
}

fn used(record: UsageReport) -> Ask {
    Command::Usage(Box::new(record)).into()
}

fn sourced(t: &mut Bench<'_>) {
    let values = [("source", "slurm:colony".into())];
    t.admin(Command::set_record("machine", "colony", &values));
}

#[test]
fn a_record_that_differs_in_its_reservation_is_an_amendment() {
    on_both(|t| {
        world(t);
        sourced(t);
        t.after([reserved(16, 3600, "T0+3600").ask(true)]);
        t.after([used(record("j", "T0+2700", None))]);
        assert_eq!(billed(t), 57_600);
        let reply = t.run(used(record("j", "T0+2700", Some("r"))));
        assert!(reply.contains("adjusted"), "{reply}");
        assert_eq!(billed(t), 50_400);
        // The same again is a duplicate, and one that names no reservation leaves the job where it is.
        for again in [Some("r"), None] {
            let reply = t.run(used(record("j", "T0+2700", again)));
            assert!(reply.contains("duplicate"), "{reply}");
            assert_eq!(billed(t), 50_400);
        }
        let reply = t.run(used(record("j", "T0+2700", Some("other"))));
        assert!(reply.contains("adjusted"), "{reply}");
        assert_eq!(billed(t), 57_600);
        t.expect_balance("F", "amount 935200 held 0 balance 935200 available 935200");
    });
}

/// An amended record took back the time of the first one. The undo of the first charge takes it back no second time.
#[test]
fn the_undo_of_a_replaced_record_leaves_its_job_in_the_reservation() {
    on_both(|t| {
        world(t);
        sourced(t);
        t.after([reserved(16, 3600, "T0+3600").ask(true)]);
        t.after([used(record("j", "T0+1800", Some("r")))]);
        let first = t.tx("charge", 0);
        assert_eq!(billed(t), 54_000);
        t.after([used(record("j", "T0+2700", Some("r")))]);
        assert_eq!(billed(t), 50_400);
        t.after([undo(first)]);
        assert_eq!(billed(t), 50_400);
        let undone = t.tx("undo", 0);
        t.after([undo(undone)]);
        assert_eq!(billed(t), 50_400);
    });
}

#[test]
fn documents_charge_reservations_where_a_collector_charges_jobs() {
    for first in 0..3 {
        on_both(|t| {
            world(t);
            sourced(t);
            let mut asks = vec![
                reserved(16, 3600, "T0+3600").ask(true),
                // What the scheduler charges of a job waits for the collector.
                job("j", 4, 1800, "T0+2700").ask(true),
                used(record("j", "T0+2700", Some("r"))),
            ];
            asks.rotate_left(first);
            t.after(asks);
            assert_eq!(billed(t), 50_400, "{first}");
            t.expect_balance("F", "amount 942400 held 0 balance 942400 available 942400");
        });
    }
}

#[test]
fn charges_of_reservations_do_not_make_the_scheduler_the_source_of_jobs() {
    on_both(|t| {
        world(t);
        t.after([reserved(16, 3600, "T0+3600").ask(true)]);
        let reply = t.run(used(record("j", "T0+2700", Some("r"))));
        assert!(reply.contains("charged"), "{reply}");
        assert_eq!(billed(t), 50_400);
        t.expect_balance("F", "amount 942400 held 0 balance 942400 available 942400");
    });
}

#[test]
fn jobs_of_chunks_in_shadow_totals_use_their_reservation() {
    on_both(|t| {
        world(t);
        sourced(t);
        let values = [("mode", "track".into())];
        t.admin(Command::set_record("machine", "colony", &values));
        t.after([reserved(16, 3600, "T0+3600").ask(true)]);
        assert_eq!(billed(t), 57_600);
        let chunk = Chunk {
            source: "slurm:colony".to_owned(),
            reports: ["j", "k"]
                .into_iter()
                .zip([Some("r"), None])
                .map(|(id, name)| Arc::new(record(id, "T0+2700", name)))
                .collect(),
            ..Chunk::default()
        };
        // The record in the reservation needs a command of its own.
        t.after([Command::Import(Box::new(chunk)).into()]);
        assert_eq!(billed(t), 57_600);
        t.after([used(record("j", "T0+2700", Some("r")))]);
        assert_eq!(billed(t), 50_400);
    });
}

#[test]
fn finished_uses_name_their_reservation() {
    on_both(|t| {
        world(t);
        t.after([reserved(16, 3600, "T0+3600").ask(true)]);
        sourced(t);
        let report = |end: &str| used(record("j", end, Some("r")));
        t.after([report("T0+2700")]);
        assert_eq!(billed(t), 50_400);
        // An amended record has another end, a repeat changes nothing.
        t.after([report("T0+1800"), report("T0+1800")]);
        assert_eq!(billed(t), 57_600 - 4 * 900);
        let amended = t.tx("adjust", 1);
        t.after([undo(amended)]);
        assert_eq!(billed(t), 50_400);
        // For another project it is the same time.
        let Ok(Command::Usage(mut report)) = report("T0+2700").command else {
            panic!("report() makes finished uses");
        };
        report.request.whose.project = Some("Q".to_owned());
        t.after([Command::Usage(report).into()]);
        assert_eq!(billed(t), 50_400);
        assert_eq!(t.tx("adjust", 0), t.ground.journal(0).pop().unwrap().id);
    });
}
