//! ledger.md 2.7 d: liens extended, held again, and given back by hand.

use super::ask::{Ask, c, ci, extend, r, release};
use super::bench::on_both;
use bank_core::command::Command;
use bank_core::model::ObjectType;

#[test]
fn an_open_lien_gets_another_end() {
    on_both(|t| {
        t.given("F{a=1000 [2026,T0+5000)}");
        t.after([r("j", 300)]);
        t.expect(extend(1, "T0+2000"), "lien 300 until T0+2000", "");
        t.expect_job("j", "open, used 0 s, billed 0, lien 300 [T0,T0+2000)");
        let last = t.ground.journal(0).pop().unwrap();
        assert_eq!(
            (last.op.as_str(), last.reason.as_str()),
            ("lien_extend", "lien=1")
        );
        // It would have expired at T0+900.
        t.at("T0+1900");
        t.expect(
            ci("j", 100),
            "charged 100, balance 700",
            "charge a -100/-100",
        );
        t.expect(
            extend(1, "T0+6000"),
            "lien 200 until T0+6000, outlives_allocation",
            "",
        );
        t.expect(extend(1, "T0+1901"), "lien 200 until T0+1901", "");
        t.at("T0+1901");
        t.expect_balance("F", "amount 900 held 0 balance 900 available 900");
        t.expect_journal("lien_expire a 0/-200");
    });
}

#[test]
fn an_expired_lien_holds_again_what_it_held_if_there_is_money() {
    on_both(|t| {
        t.given("F{a=300}, G{b=1000}");
        t.after([r("j", 500), ci("j", 50)]);
        t.at("T0+1100");
        t.expect(
            r("k", 200),
            "lien 200",
            "lien_expire a 0/-250, lien_expire b 0/-200; lien a 0/+200",
        );
        t.expect(
            extend(1, "T0+3000"),
            "lien 450 until T0+3000, revived",
            "lien a 0/+50, lien b 0/+400",
        );
        t.expect_job("j", "open, used 50 s, billed 50, lien 450 [T0,T0+3000)");
        t.expect_balance("F", "amount 250 held 250 balance 0 available 0");
        t.at("T0+2000");
        t.expect(
            c("j", 10),
            "charged 10, balance 240",
            "lien_expire a 0/-200 (T0+1900); charge a -10/-10, lien_release a 0/-40, lien_release b 0/-400",
        );
        t.expect(extend(1, "T0+9000"), "refused lien_ended, exit 1", "");
    });
    on_both(|t| {
        t.given("F{a=300}");
        t.after([r("j", 200)]);
        t.at("T0+801");
        t.after([r("k", 200)]);
        t.expect(
            extend(1, "T0+3000"),
            "refused insufficient_funds, exit 3: needed 200, available 100",
            "",
        );
        // The grace is over: the job is closed, and a lien belongs to an open one.
        t.at("T0+1500");
        t.expect(extend(1, "T0+3000"), "refused lien_ended, exit 1", "");
    });
}

#[test]
fn a_lien_is_given_back_by_hand() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([r("j", 300)]);
        t.expect(
            release(1),
            "lien released, gave back 300",
            "lien_release a 0/-300",
        );
        t.expect_job("j", "open, used 0 s, billed 0, no lien");
        t.expect(release(1), "refused lien_ended, exit 1", "");
        t.expect(extend(1, "T0+9000"), "refused lien_ended, exit 1", "");
        t.expect(release(2), "refused not_found, exit 4", "");
        t.expect(extend(2, "T0+9000"), "refused not_found, exit 4", "");
        // The job goes on, and may get another one.
        t.expect(r("j", 200), "lien 200", "lien a 0/+200");
        t.expect(extend(2, "T0"), "refused window_in_past, exit 1", "");
    });
}

#[test]
fn an_end_by_hand_lies_after_the_start_and_ahead() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.at("T0+100");
        t.expect(r("j", 10).end("T0+100"), "refused bad_window, exit 1", "");
        t.expect(
            r("j", 10).start("T0").end("T0+100"),
            "refused window_in_past, exit 1",
            "",
        );
        t.expect(
            r("j", 10).start("T0+300").end("T0+200"),
            "refused bad_window, exit 1",
            "",
        );
        t.expect(r("j", 10).start("T0+300"), "lien 10", "lien a 0/+10");
        t.expect_job("j", "open, used 0 s, billed 0, lien 10 [T0+300,T0+910)");
        t.expect(extend(1, "T0+250"), "refused bad_window, exit 1", "");
    });
}

/// Moab's administrative reservations belong to root, who is no user of the bank (nami.md 3.2).
#[test]
fn a_reservation_of_root_holds_money_of_the_account_that_it_names() {
    on_both(|t| {
        t.given("F{a=1000}");
        let root = |mut ask: Ask, names_project: bool| {
            let request = match &mut ask.command {
                Ok(Command::Reserve(reserve)) => &mut reserve.request,
                Ok(Command::Charge(charge)) => &mut charge.request,
                other => panic!("{other:?}"),
            };
            request.object_type = ObjectType::Reservation;
            request.whose.for_reservation = true;
            request.whose.user = Some("root".to_owned());
            if !names_project {
                request.whose.project = None;
            }
            ask
        };
        t.expect(root(r("x", 100), true), "lien 100", "lien a 0/+100");
        t.expect(
            root(c("x", 60), true),
            "charged 60, balance 940",
            "charge a -60/-60, lien_release a 0/-40",
        );
        t.expect(root(r("y", 100), false), "refused user_unknown, exit 4", "");
        // A job of root needs an account that root may use.
        t.expect(r("z", 100).user("root"), "refused user_unknown, exit 4", "");
    });
}

#[test]
fn a_reservation_is_another_object_than_a_job_of_its_name() {
    on_both(|t| {
        t.given("F{a=1000}");
        let mut reservation = r("x", 100);
        if let Ok(Command::Reserve(reserve)) = &mut reservation.command {
            reserve.request.object_type = ObjectType::Reservation;
        }
        t.after([r("x", 300)]);
        t.expect(reservation, "lien 100", "lien a 0/+100");
        t.expect_balance("F", "amount 1000 held 400 balance 600 available 600");
    });
}
