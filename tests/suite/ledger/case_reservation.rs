//! Reservations whose scheduler reports all of their time: they pay for the processors that none of their own
//! jobs used (decision 0171).

use super::ask::{Ask, rate};
use super::ask_after::{refund, undo};
use super::bench::{Bench, on_both, on_both_with};
use super::fixture::time;
use bank_core::command::{Charge, Command, Request};
use bank_core::decimal::Decimal;
use bank_core::directory::Policy;
use bank_core::model::{InstanceKey, ObjectType};
use bank_core::terms::{Shortfall, Terms};
use bank_core::time::Seconds;
use bank_core::usage::kept::RESERVATION;

/// A document about time that ended at an instant, with so many processors.
#[derive(Clone, Debug)]
pub(super) struct Doc {
    pub(super) request: Request,
    pub(super) seconds: i64,
    pub(super) total: bool,
}

/// A document about the reservation `r` of project P on colony.
pub(super) fn reserved(processors: i64, seconds: i64, end: &str) -> Doc {
    let mut doc = job("r", processors, seconds, end);
    doc.request.object_type = ObjectType::Reservation;
    doc.request.facts.other.clear();
    doc
}

/// A document about a job in the reservation `r`.
pub(super) fn job(id: &str, processors: i64, seconds: i64, end: &str) -> Doc {
    let Ok(Command::Charge(charge)) = super::ask::ci(id, seconds).command else {
        panic!("ci() makes charges");
    };
    let mut request = charge.request;
    request.event_time = Some(time(end));
    request.facts.usage.processors = Some(Decimal::whole(processors));
    request.facts.other = vec![(RESERVATION.to_owned(), "r".to_owned())];
    Doc {
        request,
        seconds,
        total: false,
    }
}

impl Doc {
    pub(super) fn on(mut self, machine: &str) -> Doc {
        machine.clone_into(&mut self.request.whose.machine);
        self
    }

    pub(super) fn of(mut self, reservation: &str) -> Doc {
        self.request.facts.other = vec![(RESERVATION.to_owned(), reservation.to_owned())];
        self
    }

    pub(super) fn total(mut self) -> Doc {
        self.total = true;
        self
    }

    /// As a scheduler's charge; the last one of a use closes it.
    pub(super) fn ask(self, closes: bool) -> Ask {
        Command::Charge(Charge {
            request: self.request,
            duration: Some(Seconds(self.seconds)),
            closes,
            is_checked: self.total,
            terms: Terms {
                total: self.total,
                source: Some("nami".to_owned()),
                ..Terms::default()
            },
            ..Charge::default()
        })
        .into()
    }
}

pub(super) fn reported(t: &mut Bench<'_>) {
    let values = [("reservation_charge", "reported".into())];
    t.admin(Command::set_record("machine", "colony", &values));
}

fn key() -> InstanceKey {
    InstanceKey {
        machine: "colony".to_owned(),
        object_type: ObjectType::Reservation,
        object_id: "r".to_owned(),
    }
}

/// The amount that all uses of the reservation pay.
pub(super) fn billed(t: &mut Bench<'_>) -> i64 {
    let uses = t.ground.instances(&key());
    uses.iter().map(|i| i.billed.0 + i.shadow_billed.0).sum()
}

pub(super) fn world(t: &mut Bench<'_>) {
    t.given("F{a=1000000}");
    reported(t);
    t.at("T0+86400");
}

#[test]
fn the_reservation_pays_for_idle_processors_whichever_charge_comes_first() {
    for is_first in [true, false] {
        on_both(|t| {
            world(t);
            let mut docs = [
                (
                    reserved(16, 3600, "T0+3600").ask(true),
                    "charged 57600",
                    "charged 50400",
                ),
                (
                    job("j", 4, 1800, "T0+2700").ask(true),
                    "charged 7200",
                    "charged 7200",
                ),
            ];
            let journal = if is_first {
                [
                    "charge a -57600 (T0+3600)",
                    "charge a -7200 (T0+2700); refund a +7200",
                ]
            } else {
                docs.reverse();
                ["charge a -7200 (T0+2700)", "charge a -50400 (T0+3600)"]
            };
            for ((ask, alone, beside), journal) in docs.into_iter().zip(journal) {
                let amount = if is_first { alone } else { beside };
                let reply = t.run(ask);
                assert!(reply.starts_with(amount), "{reply}");
                t.expect_journal(journal);
            }
            assert_eq!(billed(t), 50_400);
            t.expect_balance("F", "amount 942400 held 0 balance 942400 available 942400");
        });
    }
}

#[test]
fn a_correction_names_the_charge_that_it_follows() {
    on_both(|t| {
        world(t);
        t.after([reserved(16, 3600, "T0+3600").ask(true)]);
        t.after([job("j", 4, 1800, "T0+2700").ask(true)]);
        let journal = t.ground.journal(0);
        let [.., charge, correction] = journal.as_slice() else {
            panic!("{journal:?}");
        };
        let ops = (charge.op.as_str(), correction.op.as_str());
        assert_eq!(ops, ("charge", "adjust"));
        assert_eq!(
            correction.reason,
            "idle_time effective=2026-06-01T01:00:00Z"
        );
        let charge = charge.id;
        if let Some(reader) = t.ground.reader() {
            let sql = "SELECT corrects FROM tx ORDER BY id DESC LIMIT 1";
            let corrects: i64 = reader.query_row(sql, [], |r| r.get(0)).unwrap();
            assert_eq!(corrects, charge);
        }
        let correction = t.tx("adjust", 0);
        t.expect(undo(correction), "refused not_reversible, exit 1", "");
    });
}

#[test]
fn only_its_own_jobs_and_only_the_overlap_count() {
    for (doc, idle) in [
        // Before it began, and after it ended.
        (job("j", 4, 1800, "T0+600"), 3000),
        (job("j", 4, 1800, "T0+4800"), 3000),
        (job("j", 4, 1800, "T0"), 3600),
        (job("j", 4, 1800, "T0+5400"), 3600),
        (job("j", 4, 9000, "T0+5400"), 0),
        (job("j", 4, 1800, "T0+1800").on("blue"), 3600),
        (job("j", 4, 1800, "T0+1800").of("other"), 3600),
    ] {
        on_both(|t| {
            world(t);
            t.after([reserved(16, 3600, "T0+3600").ask(true)]);
            t.after([doc.clone().ask(true)]);
            let own = if doc.request.whose.machine == "blue" || idle == 3600 {
                16 * 3600
            } else {
                12 * 3600 + 4 * idle
            };
            assert_eq!(billed(t), own, "{doc:?}");
        });
    }
}

#[test]
fn more_processors_than_the_reservation_has_cost_it_nothing() {
    on_both(|t| {
        world(t);
        t.after([
            job("j", 12, 3600, "T0+3600").ask(true),
            job("k", 12, 1800, "T0+1800").ask(true),
        ]);
        t.expect(
            reserved(16, 3600, "T0+3600").ask(true),
            "charged 7200, balance 928000",
            "charge a -7200 (T0+3600)",
        );
    });
}

#[test]
fn processors_of_a_reservation_vary() {
    on_both(|t| {
        world(t);
        t.after([
            reserved(128, 3600, "T0+3600").ask(false),
            reserved(37, 3600, "T0+7200").ask(true),
        ]);
        t.after([job("j", 40, 3600, "T0+5400").ask(true)]);
        assert_eq!(billed(t), 128 * 3600 - 40 * 1800 + 37 * 1800);
    });
}

#[test]
fn undo_and_redo_of_a_job_are_followed_and_a_refund_is_not() {
    on_both(|t| {
        world(t);
        t.after([reserved(16, 3600, "T0+3600").ask(true)]);
        t.after([job("j", 4, 1800, "T0+2700").ask(true)]);
        let charge = t.tx("charge", 0);
        t.after([refund("j", 100)]);
        assert_eq!(billed(t), 50_400);
        t.expect(undo(charge), "refused has_refunds, exit 1: 1 of them", "");
        let refund = t.tx("refund", 0);
        t.after([undo(refund)]);
        t.expect(
            undo(charge),
            "undid charge",
            "reverse a +7200; late_charge a -7200 (T0+3600)",
        );
        assert_eq!(billed(t), 57_600);
        let undone = t.tx("undo", 0);
        t.expect(
            undo(undone),
            "undid undo",
            "reverse a -7200; refund a +7200",
        );
        assert_eq!(billed(t), 50_400);
    });
}

#[test]
fn undo_of_the_reservation_leaves_nothing_billed() {
    on_both(|t| {
        world(t);
        t.after([job("j", 4, 1800, "T0+2700").ask(true)]);
        let of_job = t.tx("charge", 0);
        t.after([reserved(16, 3600, "T0+3600").ask(true)]);
        let own = t.tx("charge", 0);
        // The idle part grows after the charge: its undo gives that back too.
        t.after([undo(of_job)]);
        assert_eq!(billed(t), 57_600);
        t.after([undo(own)]);
        assert_eq!(billed(t), 0);
        t.expect_balance(
            "F",
            "amount 1000000 held 0 balance 1000000 available 1000000",
        );
        let undone = t.tx("undo", 0);
        t.after([undo(undone)]);
        assert_eq!(billed(t), 57_600);
    });
}

#[test]
fn an_undo_of_a_charge_that_was_corrected_names_the_correction() {
    on_both(|t| {
        world(t);
        t.after([reserved(16, 3600, "T0+3600").ask(true)]);
        let own = t.tx("charge", 0);
        t.after([job("j", 4, 1800, "T0+2700").ask(true)]);
        t.expect(undo(own), "refused has_refunds, exit 1: 1 of them", "");
        // A refund gives back the rest, and a later job no more than that.
        t.after([refund("r", 0)]);
        t.expect_balance("F", "amount 992800 held 0 balance 992800 available 992800");
        t.after([job("k", 1, 60, "T0+60").ask(true)]);
        t.expect_balance("F", "amount 992740 held 0 balance 992740 available 992740");
    });
}

#[test]
fn totals_replace_the_time_of_their_object() {
    on_both(|t| {
        world(t);
        t.after([
            reserved(16, 1800, "T0+1800").total().ask(false),
            job("j", 4, 600, "T0+1800").total().ask(false),
            job("j", 4, 1200, "T0+2400").total().ask(false),
            reserved(16, 3600, "T0+3600").total().ask(true),
            // A repeat of an older total.
            reserved(16, 1800, "T0+1800").total().ask(false),
        ]);
        assert_eq!(billed(t), 16 * 3600 - 4 * 1200);
    });
}

#[test]
fn seconds_count_at_the_rates_of_their_time() {
    on_both(|t| {
        world(t);
        t.at("T0+1800");
        t.after([rate("VBR Processors 2")]);
        t.at("T0+86400");
        t.after([reserved(16, 3600, "T0+3600").ask(true)]);
        t.after([job("j", 4, 1200, "T0+2400").ask(true)]);
        assert_eq!(billed(t), 16 * (1800 + 2 * 1800) - 4 * (600 + 2 * 600));
    });
}

#[test]
fn other_quantities_count_in_proportion_and_fees_once() {
    on_both(|t| {
        t.rate("VBR storage 1");
        t.rate("VBF Processors 100");
        world(t);
        let mut own = reserved(16, 100, "T0+100");
        own.request.facts.usage.gres = vec![("storage".to_owned(), Decimal::whole(8))];
        t.after([own.ask(true)]);
        assert_eq!(billed(t), (16 + 8) * 100 + 1600);
        t.after([job("j", 4, 50, "T0+50").ask(true)]);
        assert_eq!(billed(t), (16 + 8) * 50 + (12 + 6) * 50 + 1600);
    });
}

#[test]
fn a_later_use_of_the_id_has_its_own_time() {
    on_both(|t| {
        world(t);
        t.after([
            reserved(16, 3600, "T0+3600").ask(true),
            reserved(8, 3600, "T0+36000").ask(true),
        ]);
        let uses = t.ground.instances(&key());
        assert_eq!(uses.len(), 2);
        t.after([
            job("j", 4, 3600, "T0+3600").ask(true),
            job("k", 8, 3600, "T0+36000").ask(true),
        ]);
        let uses: Vec<i64> = t
            .ground
            .instances(&key())
            .iter()
            .map(|i| i.billed.0)
            .collect();
        assert_eq!(uses, [0, 12 * 3600]);
    });
}

#[test]
fn the_other_setting_prices_each_document_alone() {
    on_both(|t| {
        t.given("F{a=1000000}");
        t.at("T0+86400");
        t.after([
            job("j", 4, 1800, "T0+2700").ask(true),
            reserved(16, 3600, "T0+3600").ask(false),
        ]);
        assert_eq!(billed(t), 57_600);
        reported(t);
        t.after([
            reserved(16, 3600, "T0+7200").ask(true),
            job("k", 4, 3600, "T0+5400").ask(true),
        ]);
        assert_eq!(billed(t), 57_600 + 57_600 - 4 * 1800);
    });
}

#[test]
fn a_window_that_ended_gets_its_money_back_and_pays_its_own() {
    on_both(|t| {
        t.given("F{a=100000 [2026,T0+7200), b=100000 [T0+7200,2027)}");
        t.at("T0+3600");
        reported(t);
        t.after([reserved(16, 3600, "T0+3600").ask(true)]);
        t.at("T0+10000");
        t.after([job("j", 4, 1800, "T0+2700").ask(true)]);
        assert_eq!(billed(t), 50_400);
        t.expect_allocation("b", "100000 held 0, deposited 100000, active");
        t.expect_allocation("a", "42400 held 0, deposited 100000, expired");
    });
}

#[test]
fn no_policy_for_a_shortfall_refuses_what_an_undo_leaves_to_pay() {
    let policy = Policy {
        shortfall: Shortfall::Reject,
        ..Policy::default()
    };
    on_both_with(policy, |t| {
        t.project("Q", None);
        t.given("F{a=57600}, G{b=7200; -p Q -u ANY}");
        t.at("T0+86400");
        reported(t);
        t.after([job("j", 4, 1800, "T0+2700")
            .ask(true)
            .project("Q")
            .user("bob")]);
        let charge = t.tx("charge", 0);
        t.after([reserved(16, 3600, "T0+3600").ask(true)]);
        t.after([super::ask::withdraw("F", 7200)]);
        t.after([undo(charge)]);
        assert_eq!(billed(t), 57_600);
        t.expect_balance("F", "amount -7200 held 0 balance -7200 available -7200");
    });
}
