//! The first samples of ux.md 2.3.

use super::*;
use crate::out::{Form, test_form};

fn balance(name: &str, parent: Option<&str>, amounts: [&str; 5], until: &str) -> Balance {
    let [deposited, used, held, amount, available] = amounts.map(|text| format!("{text}.000"));
    Balance {
        account: name.to_owned(),
        project: Some(name.to_owned()),
        parent: parent.map(str::to_owned),
        depth: u32::from(parent.is_some()),
        allocated: deposited.clone(),
        deposited,
        used,
        held,
        amount,
        available,
        credit_limit: "0.000".into(),
        until: Some(until.to_owned()),
        unit: "SU".into(),
        unit_means: Some("core-hours".into()),
        at: "2026-11-20T21:41:00Z".into(),
        ..Balance::default()
    }
}

/// chem and chem/gpu of the sample.
fn bank() -> Vec<Balance> {
    let mut bank = vec![
        balance(
            "chem",
            None,
            ["1000000", "647500", "42000", "352500", "310500"],
            "2027-03-31T23:00:00Z",
        ),
        balance(
            "chem/gpu",
            Some("chem"),
            ["120000", "92000", "9600", "28000", "18400"],
            "2026-12-31T23:00:00Z",
        ),
    ];
    bank[1].burn_per_day = Some("1310.000".into());
    bank[1].empty_at = Some("2026-12-04T22:46:00Z".into());
    bank
}

fn shown(balances: &[Balance], args: &BalanceArgs, form: &Form) -> String {
    let now = when::read("2026-11-20T21:41:00Z").unwrap();
    let list = List::whole(balances.to_vec());
    let text = form.list(&list, &sheet(balances, args, form, now)).unwrap();
    anstream::adapter::strip_str(&text).to_string()
}

#[test]
fn attention_is_marked_and_explained() {
    let mut bank = bank();
    bank[1].used = "114000.000".into();
    bank[1].until = Some("2026-11-30T23:00:00Z".into());
    bank[0].available = "-0.500".into();
    let text = shown(&bank, &BalanceArgs::default(), &test_form());
    assert!(text.contains("−0.500   65%  2027-04-01  !\n"), "{text}");
    assert!(
        text.contains("\nAmounts in SU (core-hours). Held"),
        "{text}"
    );
    let expected = "! chem: nothing available, in debt\n! chem/gpu: 95% used; ends in 11 days\n";
    assert!(text.ends_with(expected), "{text}");
}

/// Several accounts of a project have remarks of their own.
#[test]
fn remarks_name_the_account() {
    let mut bank = bank();
    bank[1].account = "pool".to_owned();
    bank[1].project = Some("chem".to_owned());
    bank[1].used = "114000.000".into();
    let text = shown(&bank, &BalanceArgs::default(), &test_form());
    assert!(text.contains("! pool: 95% used"), "{text}");
}

#[test]
fn money_that_ends_unused_soon_has_a_remark() {
    let mut bank = bank();
    bank[1].until = Some("2026-11-30T23:00:00Z".into());
    bank[1].empty_at = None;
    bank[1].unused_at = Some("2026-11-30T23:00:00Z".into());
    bank[1].unused = Some("14310.400".into());
    // Far away: nothing is said.
    bank[0].unused_at = Some("2027-03-31T23:00:00Z".into());
    bank[0].unused = Some("5.000".into());
    let text = shown(&bank, &BalanceArgs::default(), &test_form());
    let expected = "\n! chem/gpu: ends in 11 days; 14,310 SU end unused on 2026-12-01\n";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn shadow_and_credit_show_only_where_there_is_some() {
    let mut bank = bank();
    bank[0].credit_limit = "500.000".into();
    bank[0].shadow_used = "7.250".into();
    let wide = Form {
        width: 120,
        ..test_form()
    };
    let text = shown(&bank, &BalanceArgs::default(), &wide);
    let head = text.lines().next().unwrap();
    let names: Vec<_> = head.split_whitespace().collect();
    assert_eq!(
        names.join(" "),
        "Project Deposited Used Shadow used Held Credit Available Used Until"
    );
}
