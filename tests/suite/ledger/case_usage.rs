//! Finished usage without a scheduler's decision: charge policies, identity, amended records and
//! the one source that charges a machine (nami.md 4.3, collectors.md 0.1, decisions.md 19).

use super::ask::{Ask, ci, r};
use super::ask_after::undo;
use super::bench::{BEFORE, Bench, on_both, on_both_with};
use super::fixture::time;
use bank_core::command::{Command, UsageReport};
use bank_core::decimal::Decimal;
use bank_core::directory::Policy;
use bank_core::policy::{Ended, Figures};
use bank_core::time::Seconds;

const SOURCE: &str = "slurm:colony";

/// A job of amy on 16 processors that ended at T0, after so many seconds.
fn finished(id: &str, seconds: i64) -> UsageReport {
    let Ok(Command::Reserve(reserve)) = r(id, 5400).command else {
        panic!("r() makes reserves");
    };
    let mut request = reserve.request;
    request.facts.usage.processors = Some(Decimal::whole(16));
    request.facts.start = Some(time(&format!("T0-{seconds}")));
    request.facts.end = Some(time("T0"));
    UsageReport {
        source: SOURCE.to_owned(),
        request,
        figures: Figures {
            ended: Ended::Completed,
            cpu_s: Some(Decimal::whole(28_800)),
            ..Figures::default()
        },
        ..UsageReport::default()
    }
}

fn ask(report: UsageReport) -> Ask {
    Command::Usage(Box::new(report)).into()
}

fn policy(t: &mut Bench<'_>, word: &str) {
    t.admin(Command::set_record(
        "machine",
        "colony",
        &[("charge_policy", word.into())],
    ));
}

fn source(t: &mut Bench<'_>, name: &str) {
    t.admin(Command::set_record(
        "machine",
        "colony",
        &[("source", name.into())],
    ));
}

fn reason(t: &mut Bench<'_>) -> String {
    t.ground.journal(0).pop().unwrap().reason
}

#[test]
fn a_finished_use_is_charged_once_and_for_ever() {
    on_both(|t| {
        t.given("F{a=1000000}");
        t.expect(
            ask(finished("j", 3600)),
            "charged wc 57600: charged 57600, balance 942400",
            "charge a -57600",
        );
        let mut journal = t.ground.journal(0);
        let claim = journal.pop().unwrap();
        assert_eq!(
            (claim.op.as_str(), claim.reason.as_str()),
            ("machine_set", "machine=colony source=->slurm:colony")
        );
        assert_eq!(
            journal.pop().unwrap().reason,
            "policy=DEBITALLWC counted=wc:57600 lien_missing"
        );
        t.expect(ask(finished("j", 3600)), "duplicate wc 57600", "");
        t.at("2027-06-01");
        t.expect(ask(finished("j", 3600)), "duplicate wc 57600", "");
        t.expect_balance("F", "amount 942400 held 0 balance 942400 available 942400");
    });
}

#[test]
fn each_policy_counts_its_own_quantity() {
    for (word, reason_text, amount) in [
        ("DEBITALLWC", "wc 57600", 57_600),
        ("DEBITALLCPU", "cpu 28800", 28_800),
        ("DEBITALLBLOCKED", "blocked 144000", 144_000),
        ("DEBITSUCCESSFULNODE", "node 7200", 7200),
        ("DEBITREQUESTEDWC", "requested_wc 86400", 86_400),
    ] {
        on_both(|t| {
            t.given("F{a=1000000}");
            policy(t, word);
            let mut report = finished("j", 3600);
            report.request.facts.usage.nodes = Some(Decimal::whole(2));
            report.figures.blocked_processors = Some(Decimal::whole(40));
            let balance = 1_000_000 - amount;
            t.expect(
                ask(report),
                &format!("charged {reason_text}: charged {amount}, balance {balance}"),
                &format!("charge a -{amount}"),
            );
        });
    }
}

/// Without processors, or with 0, a use counts as one processor, whatever kind of rate counts them.
#[test]
fn a_use_without_processors_counts_as_one() {
    for (word, rate, counted, amount) in [
        ("DEBITALLWC", "", "wc 3600", 3600),
        ("DEBITALLNODE", "", "node 7200", 7200),
        ("DEBITALLCPU", "", "cpu 28800", 28_800),
        (
            "DEBITALLNODE",
            "MVBR Processors=Machine=colony 2",
            "node 7200",
            21_600,
        ),
        ("DEBITALLWC", "VBU Processors 5", "wc 3600", 3605),
        ("DEBITALLNODE", "VBM Processors 3", "node 7200", 21_600),
        ("DEBITALLNODE", "VBF Processors 7", "node 7200", 7207),
    ] {
        for processors in [None, Some(Decimal::ZERO)] {
            on_both(|t| {
                t.clock = BEFORE;
                if !rate.is_empty() {
                    t.rate(rate);
                }
                t.given("F{a=1000000}");
                policy(t, word);
                let mut report = finished("j", 3600);
                report.request.facts.usage.processors = processors;
                report.request.facts.usage.nodes = Some(Decimal::whole(2));
                let balance = 1_000_000 - amount;
                t.expect(
                    ask(report),
                    &format!("charged {counted}: charged {amount}, balance {balance}"),
                    &format!("charge a -{amount}"),
                );
            });
        }
    }
}

#[test]
fn a_quantity_that_no_decimal_holds_is_charged_exactly() {
    on_both(|t| {
        t.clock = BEFORE;
        t.rate("VBR Processors 3");
        t.given("F{a=1000000}");
        policy(t, "DEBITALLCPU");
        // 10 processor-seconds over 7 s: 10/7 processors, 30 credits and not 29.
        let mut report = finished("j", 7);
        report.figures.cpu_s = Some(Decimal::whole(10));
        t.expect(
            ask(report),
            "charged cpu 10: charged 30, balance 999970",
            "charge a -30",
        );
    });
}

#[test]
fn what_the_policy_does_not_charge_is_on_record_with_amount_0() {
    on_both(|t| {
        t.given("F{a=1000000}");
        policy(t, "DEBITSUCCESSFULWC");
        let with = |ended: Ended, seconds: i64| {
            let mut report = finished("j", seconds);
            report.figures.ended = ended;
            ask(report)
        };
        t.expect(
            with(Ended::Failed, 3600),
            "free not_successful: charged 0, balance 1000000",
            "charge a 0",
        );
        t.expect(
            with(Ended::Suspended, 3601),
            "free suspended: charged 0, balance 1000000",
            "charge a 0",
        );
        t.expect(
            with(Ended::Removed, 5400),
            "charged wc 86400: charged 86400, balance 913600",
            "charge a -86400",
        );
    });
}

#[test]
fn a_job_that_never_ran_gives_its_lien_back() {
    for ended in [Ended::Rejected, Ended::Waiting] {
        on_both(|t| {
            t.given("F{a=1000000}");
            t.after([r("j", 300)]);
            let mut report = finished("j", 60);
            report.figures.ended = ended;
            let why = if ended == Ended::Rejected {
                "rejected"
            } else {
                report.request.facts.start = None;
                "never_started"
            };
            t.expect(
                ask(report.clone()),
                &format!("unused {why}"),
                "lien_release a 0/-300",
            );
            t.expect(ask(report), &format!("duplicate {why}"), "");
        });
    }
}

#[test]
fn its_lien_pays_for_it_and_the_rest_comes_back() {
    on_both(|t| {
        t.given("F{a=1000}, G{b=1000}");
        t.at("T0-60");
        t.after([r("j", 300)]);
        t.at("T0");
        let mut report = finished("j", 60);
        report.request.facts.usage.processors = Some(Decimal::whole(2));
        t.expect(
            ask(report),
            "charged wc 120: charged 120, balance 880",
            "charge a -120/-120, lien_release a 0/-180",
        );
    });
}

#[test]
fn other_figures_charge_or_give_back_the_difference() {
    on_both(|t| {
        t.given("F{a=100000}");
        t.after([ask(finished("j", 3600))]);
        t.at("T0+5000");
        let mut more = finished("j", 3600);
        more.request.facts.end = Some(time("T0+100"));
        t.expect(
            ask(more.clone()),
            "adjusted wc 59200: charged 1600, late, balance 40800",
            "late_charge a -1600 (T0+100)",
        );
        assert_eq!(t.ground.journal(0).pop().unwrap().op, "adjust");
        t.expect(ask(more.clone()), "duplicate wc 59200", "");
        let mut less = finished("j", 3600);
        less.request.facts.usage.processors = Some(Decimal::whole(1));
        t.expect(
            ask(less),
            "adjusted wc 3600: charged -55600, late, balance 96400",
            "refund a +55600",
        );
        // The same start under another id, or another start under the same id, is another use.
        t.expect(
            ask(finished("k", 10)),
            "charged wc 160: charged 160, balance 96240",
            "charge a -160 (T0)",
        );
        t.expect(
            ask(finished("j", 10)),
            "charged wc 160: charged 160, balance 96080",
            "charge a -160 (T0)",
        );
    });
}

#[test]
fn an_amendment_is_undone_like_a_charge() {
    on_both(|t| {
        t.given("F{a=100000}");
        t.after([ask(finished("j", 3600))]);
        let until = |seconds: i64| {
            let mut amended = finished("j", 3600);
            amended.request.facts.end = Some(time(&format!("T0+{seconds}")));
            ask(amended)
        };
        t.at("T0+5000");
        t.after([until(100)]);
        let amendment = t.tx("adjust", 0);
        t.expect(undo(amendment), "undid adjust", "reverse a +1600");
        // The next total is held against what is left: 57600.
        t.expect(
            until(200),
            "adjusted wc 60800: charged 3200, late, balance 39200",
            "late_charge a -3200 (T0+200)",
        );
    });
}

#[test]
fn an_amended_record_may_become_free() {
    on_both(|t| {
        t.given("F{a=100000}");
        policy(t, "DEBITSUCCESSFULWC");
        t.after([ask(finished("j", 3600))]);
        let mut failed = finished("j", 3600);
        failed.figures.ended = Ended::Failed;
        t.expect(
            ask(failed),
            "free not_successful: charged -57600, late, balance 100000",
            "refund a +57600",
        );
        // The first record again changes nothing: it was replaced.
        t.expect(ask(finished("j", 3600)), "duplicate not_successful", "");
        let mut completed = finished("j", 3600);
        completed.request.facts.group = "g".into();
        t.expect(
            ask(completed),
            "adjusted wc 57600: charged 57600, late, balance 42400",
            "late_charge a -57600",
        );
    });
}

/// A record that replaces another has only what it states itself, beside what the scheduler's documents stated.
#[test]
fn an_amended_record_drops_what_it_does_not_state() {
    on_both(|t| {
        t.given("F{a=1000000}");
        t.rate("NBM QualityOfService=high 2");
        t.rate("NBM Class=large 3");
        t.at("T0+4000");
        let with = |id: &str, qos: Option<&str>, class: Option<&str>, group: &str| {
            let mut report = finished(id, 3600);
            report.request.facts.start = Some(time("T0+1"));
            report.request.facts.end = Some(time("T0+3601"));
            report.request.facts.usage.qos = qos.map(str::to_owned);
            report.request.facts.usage.class = class.map(str::to_owned);
            report.request.facts.group = group.to_owned();
            ask(report)
        };
        t.after([with("j", Some("high"), Some("large"), "")]);
        t.expect_balance("F", "amount 654400 held 0 balance 654400 available 654400");
        t.after([with("j", None, Some("large"), "")]);
        t.expect_balance("F", "amount 827200 held 0 balance 827200 available 827200");
        t.after([with("j", None, None, "g")]);
        t.expect_balance("F", "amount 942400 held 0 balance 942400 available 942400");
        // The document of its scheduler states the quality of service of this one.
        let mut held = r("k", 5400);
        if let Ok(Command::Reserve(reserve)) = &mut held.command {
            reserve.request.facts.usage.qos = Some("high".into());
        }
        t.after([held.at("T0+1")]);
        t.after([
            with("k", None, Some("large"), ""),
            with("k", None, None, ""),
        ]);
        t.expect_balance("F", "amount 827200 held 0 balance 827200 available 827200");
    });
}

#[test]
fn one_source_charges_a_machine() {
    on_both(|t| {
        t.given("F{a=100000}");
        source(t, "nami");
        t.expect(ask(finished("j", 60)), "kept", "");
        t.expect(ask(finished("j", 60)), "duplicate", "");
        t.expect_balance("F", "amount 100000 held 0 balance 100000 available 100000");
        // Once the machine is this source's, what was kept is charged.
        source(t, SOURCE);
        t.expect(
            ask(finished("j", 60)),
            "charged wc 960: charged 960, balance 99040",
            "charge a -960",
        );
    });
}

#[test]
fn the_first_source_that_charges_claims_the_machine() {
    let by_nami = |id: &str, seconds: i64| {
        let Ok(Command::Charge(mut charge)) = ci(id, seconds).command else {
            panic!("ci() makes charges");
        };
        charge.terms.source = Some("nami".to_owned());
        Ask::from(Command::Charge(charge))
    };
    on_both(|t| {
        t.given("F{a=100000}");
        t.after([by_nami("j", 10)]);
        t.expect(ask(finished("k", 60)), "kept", "");
    });
    on_both(|t| {
        t.given("F{a=100000}");
        t.after([ask(finished("k", 60))]);
        // The scheduler's charge is on record, and takes nothing.
        t.expect(by_nami("j", 10), "charged 0, balance 0", "modify 0");
        let reason_text = reason(t);
        assert!(
            reason_text.contains("kept: charged from slurm:colony"),
            "{reason_text}"
        );
        // A person may charge all the same.
        t.expect(ci("p", 10), "charged 10, balance 99030", "charge a -10");
    });
}

#[test]
fn a_total_of_another_source_gives_nothing_back() {
    let total = |id: &str, seconds: i64| {
        ci(id, seconds).total().charge(|charge| {
            charge.terms.source = Some("nami".to_owned());
            charge.is_checked = true;
        })
    };
    on_both(|t| {
        t.given("F{a=100000}");
        t.expect(
            total("j", 100),
            "charged 100, balance 99900",
            "charge a -100",
        );
        source(t, SOURCE);
        t.expect(total("j", 250), "charged 0, balance 99900", "modify 0");
        // What was kept meanwhile is billed once the machine is the scheduler's again.
        source(t, "nami");
        t.expect(
            total("j", 300),
            "charged 200, balance 99700",
            "charge a -200",
        );
    });
}

#[test]
fn nobody_is_refused_and_bad_records_are() {
    on_both_with(Policy::default(), |t| {
        t.given("F{a=100000}");
        let mut stranger = finished("s", 60);
        stranger.request.whose.project = Some("NOSUCH".to_owned());
        t.expect(
            ask(stranger),
            "charged wc 960: charged 960, unbilled, balance -960",
            "charge_debt #unbilled -960",
        );
        let bad = |change: fn(&mut UsageReport)| {
            let mut report = finished("b", 60);
            change(&mut report);
            ask(report)
        };
        for (report, code) in [
            (bad(|r| r.source = String::new()), "bad_name"),
            (
                bad(|r| r.request.object_id = String::new()),
                "missing_field",
            ),
            (bad(|r| r.figures.ended = Ended::Running), "bad_value"),
            (bad(|r| r.request.facts.end = None), "missing_field"),
            (
                bad(|r| r.request.facts.end = Some(time("T0+301"))),
                "bad_value",
            ),
            (
                bad(|r| r.request.facts.wall = Some(Seconds(-1))),
                "bad_duration",
            ),
            (
                bad(|r| r.figures.cpu_s = Some(Decimal::whole(-1))),
                "negative_charge",
            ),
        ] {
            let expected = super::reply::refused(code);
            t.expect(report, &expected, "");
        }
    });
}
