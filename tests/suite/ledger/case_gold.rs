//! What the gateway asks of the ledger beyond a scheduler's documents (gold-wire.md 4, 5): charges
//! about the newest use of an id, for the named project only, an idle time of their own, and repeats.

use super::ask::{Ask, c, ci, job, r};
use super::bench::{Bench, on_both};
use super::fixture::time;
use bank_core::command::{Command, Repeat, SetMember};
use bank_core::time::Seconds;

/// A charge about the newest use of its id.
fn newest(id: &str, seconds: i64) -> Ask {
    c(id, seconds).charge(|charge| charge.terms.newest = true)
}

fn repeat(id: &str) -> Ask {
    let repeat = Repeat {
        key: job("colony", id),
        of: "gold:00".to_owned(),
    };
    Command::Repeat(repeat).into()
}

#[test]
fn a_charge_in_order_is_about_the_newest_use_whatever_its_clock() {
    on_both(|t| {
        t.given("F{a=10000}");
        t.after([r("j", 100), c("j", 10)]);
        t.at("T0+60");
        t.after([r("j", 100)]);
        // By its time alone it would be a late charge of the first use.
        t.expect(
            newest("j", 20).at("T0+30"),
            "charged 20, balance 9970",
            "charge a -20/-20, lien_release a 0/-80 (T0+30)",
        );
        t.expect_job("j", "closed, used 20 s, billed 20, no lien");
        // Long after the close there is no newer use: it is late.
        t.at("T0+90000");
        t.expect(
            newest("j", 5),
            "charged 5, late, balance 9965",
            "late_charge a -5",
        );
    });
}

/// A lien on another project's account than the one that the charge will name.
fn held_elsewhere(t: &mut Bench<'_>) {
    t.project("Q", None);
    t.given("F{a=10000}, G{b=1000; -p Q}");
    t.admin(Command::SetMember(SetMember {
        project: "Q".to_owned(),
        user: "amy".to_owned(),
        active: Some(true),
        role: None,
    }));
    t.after([r("j", 100)]);
}

#[test]
fn a_charge_that_names_another_project_is_marked_in_the_journal() {
    on_both(|t| {
        held_elsewhere(t);
        t.expect(
            ci("j", 30).project("Q"),
            "charged 30, balance 9900",
            "charge a -30/-30",
        );
        let last = t.ground.journal(0).pop().unwrap();
        assert_eq!(last.reason, "project_was=P", "{}", t.ground.name());
        // The second one names what the instance is for by now.
        t.after([ci("j", 1).project("Q")]);
        let last = t.ground.journal(0).pop().unwrap();
        assert_eq!(last.reason, "", "{}", t.ground.name());
    });
}

#[test]
fn where_only_the_named_project_pays_the_lien_of_another_is_given_back() {
    on_both(|t| {
        held_elsewhere(t);
        let strict = ci("j", 30).charge(|charge| charge.terms.named_only = true);
        t.expect(
            strict.clone(),
            "charged 30, balance 9900",
            "charge a -30/-30",
        );
        t.expect(
            strict.project("Q"),
            "charged 30, balance 970",
            "lien_release a 0/-70, charge b -30",
        );
        t.expect_balance("F", "amount 9970 held 0 balance 9970 available 9970");
    });
}

#[test]
fn an_instance_without_a_lien_waits_as_long_as_its_charges_say() {
    on_both(|t| {
        t.given("F{a=10000}");
        let short = ci("maint", 10).charge(|charge| charge.terms.idle = Some(Seconds(3600)));
        t.after([short.clone()]);
        t.at("T0+3599");
        t.after([short]);
        t.at("T0+7198");
        t.expect(ci("x", 1), "charged 1, balance 9979", "charge a -1");
        t.expect_job("maint", "open, used 20 s, billed 20, no lien");
        t.at("T0+7199");
        t.after([ci("x", 1)]);
        t.expect_job("maint", "closed, used 20 s, billed 20, no lien");
        t.expect_job("x", "open, used 2 s, billed 2, no lien");
    });
}

#[test]
fn a_repeat_is_journalled_and_moves_nothing() {
    on_both(|t| {
        t.given("F{a=10000}");
        t.after([c("j", 10)]);
        t.expect(repeat("j"), "came again", "");
        let last = t.ground.journal(0).pop().unwrap();
        assert_eq!(last.reason, "repeat_of=gold:00", "{}", t.ground.name());
        t.expect_balance("F", "amount 9990 held 0 balance 9990 available 9990");
        t.expect(repeat("unheard"), "refused not_found, exit 4", "");
    });
}

/// A charge of a scheduler over Gold's protocol that states its times, such as `T0` and `T0+100`.
fn golds(id: &str, seconds: i64, start: &str, end: &str) -> Ask {
    let (start, end) = (time(start), time(end));
    newest(id, seconds).charge(|charge| {
        charge.is_checked = true;
        charge.terms.source = Some("gold".to_owned());
        charge.request.event_time = Some(end);
        (charge.request.facts.start, charge.request.facts.end) = (Some(start), Some(end));
    })
}

#[test]
fn a_use_that_is_billed_to_its_end_is_not_billed_again() {
    on_both(|t| {
        t.given("F{a=100000}");
        t.at("T0+1000");
        let used = || golds("j", 600, "T0", "T0+1000");
        t.expect(used(), "charged 600, balance 99400", "charge a -600");
        // It was suspended for 400 s, so its billed time ends before it does.
        t.expect(
            used().at("T0+1000"),
            "charged 0, late, balance 99400",
            "late_charge a 0",
        );
        // A later end is news, with no more than its time.
        t.at("T0+1100");
        t.expect(
            golds("j", 9000, "T0", "T0+1100"),
            "charged 500, late, balance 98900",
            "late_charge a -500, disputed 0",
        );
    });
}

#[test]
fn a_use_that_starts_after_the_close_of_another_has_its_own_ceiling() {
    on_both(|t| {
        t.given("F{a=100000}");
        t.at("T0+100000");
        t.after([golds("j", 100, "T0", "T0+100")]);
        t.expect(
            golds("j", 9000, "T0+200", "T0+300"),
            "charged 3700, balance 96200",
            "charge a -3700, disputed 0 (T0+300)",
        );
        t.expect_job("j", "closed, used 3700 s, billed 3700, no lien");
    });
}
