//! The fallback account: who pays, which settings may stand, and what is remembered (nami.md 5).

use super::ask::{Ask, ci, deposit, r};
use super::bench::{Bench, on_both, on_both_with};
use bank_core::command::{Command, Reserve, SetAccount};
use bank_core::directory::{FallbackMode, Policy};

fn by_bank() -> Policy {
    Policy {
        fallback: FallbackMode::Bank,
        ..Policy::default()
    }
}

fn account(name: &str, fallback: Option<&str>) -> Ask {
    Command::SetAccount(SetAccount {
        name: name.to_owned(),
        fallback: Some(fallback.map(str::to_owned)),
        ..SetAccount::default()
    })
    .into()
}

fn machine(fallback: Option<&str>) -> Ask {
    Command::set_record("machine", "colony", &[("fallback", fallback.into())]).into()
}

/// F of project P, and the pool FREE that members of P cannot name.
fn with_pool(t: &mut Bench<'_>, money: i64) {
    t.project("FREE", None);
    t.member("FREE", "amy", true);
    t.given(&format!("F{{a=100}}, POOL{{b={money}; -p FREE -u ANY}}"));
}

/// The same reserve for another project.
fn on(ask: Ask, project: &str) -> Ask {
    let Ok(Command::Reserve(mut reserve)) = ask.command else {
        panic!("a reserve");
    };
    reserve.request.whose.project = Some(project.to_owned());
    project.clone_into(&mut reserve.request.facts.project);
    Command::Reserve(reserve).into()
}

#[test]
fn chains_and_loops_are_refused() {
    let chain = super::reply::refused("fallback_chain");
    let chain = chain.as_str();
    on_both(|t| {
        t.given("F{}, G{}, H{}, chem{}, chem_low{}");
        t.expect(account("F", Some("F")), chain, "");
        t.expect(
            account("F", Some("nowhere")),
            &super::reply::refused("not_found"),
            "",
        );
        t.after([account("F", Some("G"))]);
        // A chain from either end, and a loop.
        t.expect(account("G", Some("H")), chain, "");
        t.expect(account("H", Some("F")), chain, "");
        t.expect(account("G", Some("F")), chain, "");
        // The machine's account may not fall back, and may not come to.
        t.expect(machine(Some("F")), chain, "");
        t.after([machine(Some("H"))]);
        t.expect(account("H", Some("chem")), chain, "");
        // A suffix: chem falls back to chem_low, which may go nowhere.
        t.after([machine(Some("+_low"))]);
        t.expect(account("chem_low", Some("H")), chain, "");
        let further = Command::AddAccount(SetAccount {
            name: "chem_low_low".to_owned(),
            ..SetAccount::default()
        });
        t.expect(further.into(), chain, "");
        t.after([machine(None), account("chem_low", Some("H"))]);
        t.expect(machine(Some("+_low")), chain, "");
        t.after([account("chem", Some("G"))]);
    });
}

#[test]
fn the_bank_steps_in_and_gives_the_reason() {
    on_both_with(by_bank(), |t| {
        with_pool(t, 1000);
        t.after([account("F", Some("POOL"))]);
        t.expect(r("j", 300), "lien 300, fallback", "lien b 0/+300");
        let reason = t.ground.journal(0).pop().unwrap().reason;
        assert_eq!(reason, "fallback_from=F needed=300 available=100");
        // After the lien has expired the pool still pays first.
        t.at("T0+1000");
        t.expect(
            ci("j", 50),
            "charged 50, balance 950",
            "lien_expire b 0/-300 (T0+900); charge b -50",
        );
        // The pool is short too: refused, with its own figures.
        t.expect(
            r("k", 2000),
            "refused insufficient_funds, exit 3: needed 2000, available 950",
            "",
        );
    });
}

#[test]
fn a_suffix_of_the_machine_finds_the_account() {
    on_both_with(by_bank(), |t| {
        t.project("FREE", None);
        t.given("F{a=10}, F_low{b=1000; -p FREE}");
        t.after([machine(Some("+_low"))]);
        t.expect(r("j", 300), "lien 300, fallback", "lien b 0/+300");
    });
}

#[test]
fn the_fallback_has_its_own_price() {
    on_both_with(by_bank(), |t| {
        with_pool(t, 1000);
        t.after([account("F", Some("POOL"))]);
        t.rate("NBM QualityOfService=low 0.5");
        t.rate("NBM QualityOfService=high 2");
        t.admin(Command::set_record(
            "machine",
            "colony",
            &[("fallback_qos", "low".into())],
        ));
        let high = |seconds: i64| {
            let Ok(Command::Reserve(Reserve { mut request, .. })) = r("j", seconds).command else {
                panic!("r() makes reserves");
            };
            request.facts.usage.qos = Some("high".to_owned());
            Ask::from(Command::Reserve(Reserve {
                request,
                ..Reserve::default()
            }))
        };
        // 300 s at twice the price are short on F; on the pool they cost half.
        t.expect(high(300), "lien 150, fallback", "lien b 0/+150");
        t.expect(ci("j", 100), "charged 50, balance 850", "charge b -50/-50");
        // With money again, its own quality of service counts.
        t.after([deposit("F", "1000")]);
        t.expect(
            high(300),
            "lien 600",
            "lien_replace b 0/-100, lien a 0/+600",
        );
    });
}

/// gold-wire.md 4: a test lien on arrival, and the reserve again at the start; where that is
/// refused the scheduler asks under the fallback account, with the same id.
#[test]
fn the_scheduler_tests_on_arrival_and_falls_back_at_the_start() {
    on_both(|t| {
        with_pool(t, 1000);
        t.expect(r("j", 80), "lien 80", "lien a 0/+80");
        // The job waits until its test lien is over, and another one takes the money.
        t.at("T0+700");
        t.expect(
            r("k", 90),
            "lien 90",
            "lien_expire a 0/-80 (T0+680); lien a 0/+90",
        );
        t.expect(
            r("j", 80),
            "refused insufficient_funds, exit 3: needed 80, available 10",
            "",
        );
        t.expect(on(r("j", 80), "FREE"), "lien 80", "lien b 0/+80");
        // The resource manager still names P: the pool pays first.
        t.expect(ci("j", 80), "charged 80, balance 920", "charge b -80/-80");
        t.expect_balance("F", "amount 100 held 90 balance 10 available 10");
    });
}

/// The same where the test is refused at once, and a test lien that still stands is replaced.
#[test]
fn a_refused_test_and_a_replaced_one_leave_one_lien() {
    on_both(|t| {
        with_pool(t, 1000);
        t.expect(
            r("j", 200),
            "refused insufficient_funds, exit 3: needed 200, available 100",
            "",
        );
        t.expect(on(r("j", 200), "FREE"), "lien 200", "lien b 0/+200");
        t.expect(r("k", 60), "lien 60", "lien a 0/+60");
        t.expect(
            on(r("k", 60), "FREE"),
            "lien 60",
            "lien_replace a 0/-60, lien b 0/+60",
        );
    });
}
