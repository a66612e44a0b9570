//! ledger.md 2.5, 7 and 11 (cases 93 and 94): what was used, and balances as they were, whatever
//! became of windows, credit limits and accounts since.

use super::ask::{Ask, c, ci, deposit, r, withdraw};
use super::ask_after::{
    account_rm, adjust, allocation_rm, refund, settle, transfer, undelete, undo,
};
use super::bench::{Bench, on_both};
use super::fixture::time;
use bank_core::amount::Amount;
use bank_core::command::{Command, SetAllocation};
use bank_core::ids::AllocationId;
use bank_core::model::Allocation;
use bankd_store::read::money::Figures;
use bankd_store::read::past;

/// A new end and credit limit of the allocation of a number.
fn set(id: i64, end: Option<&str>, limit: Option<i64>) -> Ask {
    Command::SetAllocation(SetAllocation {
        id: AllocationId(id),
        start: None,
        end: end.map(|end| Some(time(end))),
        credit_limit: limit.map(Amount),
    })
    .into()
}

#[test]
fn used_is_charges_less_refunds_and_nothing_else() {
    type Given = (&'static str, Vec<Ask>, &'static str);
    // Each after F{a=1000}, G{b=1000}: deposited, used and amount of a.
    let table: Vec<Given> = vec![
        ("a withdrawal", vec![withdraw("F", 400)], "1000 0 600"),
        ("a transfer", vec![transfer("F", "G", 100)], "1000 0 900"),
        ("one into it", vec![transfer("G", "F", 5)], "1000 0 1005"),
        ("a correction", vec![adjust("F", -7, "x")], "1000 0 993"),
        ("a charge", vec![c("j", 300)], "1000 300 700"),
        ("with debt", vec![c("j", 2300)], "1000 2300 -1300"),
        ("of a lien", vec![r("j", 300), c("j", 100)], "1000 100 900"),
        (
            "partly given back",
            vec![c("j", 300), refund("j", 100)],
            "1000 200 800",
        ),
        (
            "a total that fell",
            vec![ci("j", 300).total(), ci("j", 250).total()],
            "1000 250 750",
        ),
        (
            "unbilled and settled",
            vec![c("j", 30).project("nosuch"), settle("j", "P")],
            "1000 30 970",
        ),
    ];
    for (what, steps, expected) in table {
        on_both(|t| {
            t.given("F{a=1000}, G{b=1000; -u ANY,-amy}");
            t.after(steps.clone());
            let own = t.ground.allocations()[1];
            let shown = format!("{} {} {}", own.deposited.0, own.used.0, own.amount.0);
            assert_eq!(shown, expected, "{}: {what}", t.ground.name());
        });
    }
}

#[test]
fn an_undone_charge_is_not_used_and_an_undone_deposit_not_deposited() {
    on_both(|t| {
        t.given("F{a=1000}");
        let own = |t: &mut Bench<'_>| {
            let own: Allocation = t.ground.allocations()[1];
            (own.deposited.0, own.used.0, own.amount.0)
        };
        t.after([c("j", 300), deposit("F", "50")]);
        let (charge, more) = (t.tx("charge", 0), t.tx("deposit", 0));
        t.after([undo(charge), undo(more)]);
        assert_eq!(own(t), (1000, 0, 1000));
        let (first, second) = (t.tx("undo", 1), t.tx("undo", 0));
        t.after([undo(first), undo(second)]);
        assert_eq!(own(t), (1050, 300, 750));
    });
}

/// What the figures of an account were: amount, held, deposited, used, limit, and later money.
fn figures(f: &Figures) -> [i128; 6] {
    let held = f.held + f.held_future + f.held_expired;
    [
        f.amount,
        held,
        f.deposited,
        f.used,
        f.credit_limit,
        f.future,
    ]
}

/// Looks at every account after each step, a hundred seconds apart; at the end each look must be
/// what the journal says of its time.
fn looked_at(given: &str, steps: &[fn(&mut Bench<'_>)]) {
    on_both(|t| {
        t.given(given);
        let mut seen: Vec<(String, String, [i128; 6])> = Vec::new();
        for (n, step) in steps.iter().enumerate() {
            t.at(&format!("T0+{}", 100 * n));
            step(t);
            let at = format!("T0+{}", 100 * n + 50);
            t.at(&at);
            t.ground.settle(t.clock);
            let now = t.ground.ledger_now(t.clock);
            let names: Vec<_> = t.ground.directory().accounts().cloned().collect();
            let all = t.ground.allocations();
            for account in names {
                let own: Vec<_> = all
                    .iter()
                    .filter(|a| a.account == account.id)
                    .copied()
                    .collect();
                seen.push((at.clone(), account.name, figures(&Figures::of(&own, now))));
            }
        }
        let directory = t.ground.directory();
        let Some(reader) = t.ground.reader() else {
            return;
        };
        for (at, name, then) in &seen {
            let id = directory.any_account_named(name).unwrap().id;
            let shown = past::figures(reader, &[id], time(at)).unwrap().remove(0);
            assert_eq!(figures(&shown), *then, "{name} at {at}");
            let there = past::accounts(reader, time(at)).unwrap();
            assert!(there.get(&id).copied().unwrap_or(true), "{name} at {at}");
        }
        // Who was not there then is not there now.
        for account in directory.all_accounts() {
            for n in 0..steps.len() {
                let at = format!("T0+{}", 100 * n + 50);
                let then = past::accounts(reader, time(&at)).unwrap();
                let there = then.get(&account.id).copied().unwrap_or(true);
                let saw = seen
                    .iter()
                    .any(|(t, name, _)| *t == at && *name == account.name);
                assert_eq!(there, saw, "{} at {at}", account.name);
            }
        }
    });
}

#[test]
fn a_balance_is_what_it_was_whatever_became_of_windows_and_limits() {
    looked_at(
        "F{a=1000 [2026,2027), b=500 [T0+250,2028)}",
        &[
            |t| t.after([r("j", 300)]),
            |t| t.after([set(2, None, Some(70)), withdraw("F", 760)]),
            // It ends now, and lives again.
            |t| t.after([set(2, Some("2026-01-01"), None)]),
            |t| t.after([set(2, Some("2029-01-01"), Some(5))]),
            |t| t.after([ci("j", 10), deposit("F", "100")]),
            |t| t.after([allocation_rm(3, true)]),
            |t| {
                let gone = t.tx("allocation_rm", 0);
                t.after([undo(gone)]);
            },
        ],
    );
}

#[test]
fn accounts_that_were_removed_since_are_there_when_they_were() {
    looked_at(
        "F{a=1000 L=3}, G{b=50}",
        &[
            |t| t.after([r("j", 300)]),
            |t| t.after([account_rm("F", true)]),
            |t| t.after([undelete("F")]),
            |t| {
                t.after([withdraw("G", 50), account_rm("G", false)]);
                t.admin(Command::AddAccount(bank_core::command::SetAccount {
                    name: "H".to_owned(),
                    ..Default::default()
                }));
            },
            |t| t.after([deposit("H", "5"), account_rm("F", true)]),
        ],
    );
}

#[test]
fn an_undo_takes_back_what_one_change_of_a_window_changed() {
    on_both(|t| {
        t.given("F{a=100 [2026,2027)}");
        t.after([set(2, None, Some(7)), set(2, Some("2028-01-01"), None)]);
        let (limit, end) = (t.tx("allocation_set", 1), t.tx("allocation_set", 0));
        // The end stays although it was changed later.
        t.expect(undo(limit), "undid allocation_set", "modify a 0");
        let own = t.ground.allocations()[1];
        assert_eq!(own.credit_limit.0, 0);
        assert_eq!(own.window.end, Some(time("2028-01-01")));
        t.after([set(2, Some("2029-01-01"), None)]);
        t.expect(undo(end), "refused not_reversible, exit 1", "");
    });
}

#[test]
fn an_undo_cuts_no_window_backwards() {
    on_both(|t| {
        t.given("F{a=100 [2026,T0+100)}");
        t.after([set(2, Some("2027-01-01"), None)]);
        t.at("T0+500");
        t.ground.settle(t.clock);
        let longer = t.tx("allocation_set", 0);
        t.expect(
            undo(longer),
            "undid allocation_set",
            "modify a 0; expire a 0 active -100",
        );
        let own = t.ground.allocations()[1];
        assert_eq!(own.window.end, Some(time("T0+500")));
    });
}
