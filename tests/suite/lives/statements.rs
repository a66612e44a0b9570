//! Statements month by month, their lower tables, and balance sheets, beside the journal.

use std::collections::{BTreeMap, BTreeSet};

use super::difference::{Differences, minor};
use super::house::{House, T0, month, time};
use super::truth::{Moved, Truth};

/// The suspense account: it is none of a project's, and its balance is no money that came in.
const UNBILLED: &str = "#unbilled";
const DAY: i64 = 86_400;

pub(super) fn compare(house: &House, truth: &Truth, found: &mut Differences) {
    let months = months(house.now());
    let accounts: BTreeSet<&String> = truth
        .moves
        .iter()
        .map(|moved| &moved.account)
        .filter(|name| !name.is_empty())
        .collect();
    let mut closings: BTreeMap<String, i128> = BTreeMap::new();
    for account in accounts {
        of_account(house, truth, account, &months, &mut closings, found);
    }
    within_what_came(truth, &months, &closings, found);
    of_uses(house, truth, found);
}

/// The starts of all months of the life, and of the one after it.
fn months(now: i64) -> Vec<String> {
    // Records of before the bank count when they ran.
    let first = T0 - 62 * DAY;
    let (mut at, mut found) = (first, vec![month(first)]);
    while at < now {
        at += 26 * DAY;
        let next = month(at);
        if found.last() != Some(&next) {
            found.push(next);
        }
    }
    if found.last() == Some(&month(now)) {
        found.push(month(now + 31 * DAY));
    }
    found.dedup();
    found
}

struct Totals {
    opening: i128,
    closing: i128,
    moved: i128,
    is_closed: bool,
    /// Charged and refunded by name.
    parts: BTreeMap<String, (i128, i128)>,
}

/// The statements of the closed period, to compare them later.
pub(super) fn closed(house: &House) -> Vec<(String, String)> {
    let closes = house.get("/api/v1/closes").json();
    let newest = &closes["items"][0];
    let Some(until) = newest["until"]
        .as_str()
        .filter(|_| newest["reopened_by"].is_null())
    else {
        return Vec::new();
    };
    let accounts = house.get("/api/v1/accounts").json();
    let names = accounts["items"].as_array().into_iter().flatten();
    let names = names.filter_map(|account| account["name"].as_str());
    let queries = names.flat_map(|name| {
        let name = name.replace('#', "%23");
        let from = month(T0);
        let until = until.to_owned();
        [
            format!("account={name}&until={until}"),
            format!("account={name}&from={from}&until={until}"),
        ]
    });
    let totals = queries.filter_map(|query| {
        let answer = house.get(&format!("/api/v1/statements?{query}"));
        answer.is_good().then_some((query, answer.text))
    });
    totals.collect()
}

/// Statements of a closed period never change.
pub(super) fn unchanged(house: &House, kept: &[(String, String)], found: &mut Differences) {
    for (query, text) in kept {
        let now = house.get(&format!("/api/v1/statements?{query}")).text;
        found.same("a closed statement is told again", query, &now, text);
    }
}

fn ask(house: &House, query: &str, found: &mut Differences) -> Option<Totals> {
    let answer = house.get(&format!("/api/v1/statements?{query}"));
    if !answer.is_good() {
        found.push(
            "statements answer",
            query,
            answer.text,
            "a statement".to_owned(),
        );
        return None;
    }
    let answer = answer.json();
    let places = house.places();
    let parts = answer["parts"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|part| {
            let name = part["name"].as_str().unwrap_or_default().to_owned();
            let sums = (
                minor(&part["charged"], places),
                minor(&part["refunded"], places),
            );
            (name, sums)
        });
    Some(Totals {
        opening: minor(&answer["opening"], places),
        closing: minor(&answer["closing"], places),
        moved: minor(&answer["total_credits"], places) + minor(&answer["total_debits"], places),
        is_closed: answer["closed"] == true,
        parts: parts.collect(),
    })
}

fn of_account(
    house: &House,
    truth: &Truth,
    account: &str,
    months: &[String],
    closings: &mut BTreeMap<String, i128>,
    found: &mut Differences,
) {
    let name = account.replace('#', "%23");
    let mut before: Option<i128> = None;
    let mut sum = 0;
    for pair in months.windows(2) {
        let query = format!("account={name}&from={}&until={}", pair[0], pair[1]);
        let Some(totals) = ask(house, &query, found) else {
            return;
        };
        let key = format!("{account} {}", &pair[0][..7]);
        found.same(
            "statement: adds up",
            &key,
            totals.opening + totals.moved,
            totals.closing,
        );
        if let Some(before) = before {
            found.same(
                "statement: opening is the closing before",
                &key,
                totals.opening,
                before,
            );
        }
        lower(house, &query, &key, &totals, found);
        before = Some(totals.closing);
        sum += totals.moved;
        if account != UNBILLED {
            *closings.entry(pair[1].clone()).or_default() += totals.closing;
        }
        if !totals.is_closed {
            at_the_end(house, account, &pair[1], totals.closing, found);
        }
    }
    let own = || truth.moves.iter().filter(|moved| moved.account == account);
    let active: i128 = own().map(|moved| i128::from(moved.active)).sum();
    found.same(
        "statement: all months beside the journal",
        account,
        sum,
        active,
    );
    let all = format!("account={name}&until={}", months[months.len() - 1]);
    let Some(totals) = ask(house, &all, found) else {
        return;
    };
    found.same(
        "statement: whole time beside the journal",
        account,
        totals.closing,
        active,
    );
    let mut net: BTreeMap<String, i128> = BTreeMap::new();
    for moved in own().filter(|moved| moved.is_use) {
        *net.entry(moved.user.clone()).or_default() -= i128::from(moved.active);
    }
    let seen = net_of(&totals);
    found.maps(
        &format!("statement of an account: by user, {account}"),
        &seen,
        &net,
    );
}

fn net_of(totals: &Totals) -> BTreeMap<String, i128> {
    let parts = totals.parts.iter();
    parts
        .map(|(name, (charged, refunded))| (name.clone(), charged - refunded))
        .collect()
}

/// The lower table adds up to the lines about uses of the same statement.
fn lower(house: &House, query: &str, key: &str, totals: &Totals, found: &mut Differences) {
    let answer = house
        .get(&format!("/api/v1/statements/entries?{query}&limit=1000"))
        .json();
    let places = house.places();
    let mut upper = 0;
    for line in answer["items"].as_array().into_iter().flatten() {
        let is_use =
            line["job"].is_string() && line["kind"] != "expire" && line["kind"] != "activate";
        if is_use {
            upper -= minor(&line["amount"], places);
        }
    }
    let lower: i128 = net_of(totals).values().sum();
    found.same(
        "statement: lower table beside the upper one",
        key,
        lower,
        upper,
    );
}

/// A balance of the past is the closing of what was open then.
fn at_the_end(house: &House, account: &str, until: &str, closing: i128, found: &mut Differences) {
    let end = bank_api::text::parse_rfc3339(until).unwrap();
    if end > house.now() * 1_000_000 {
        let answer = house.get(&format!(
            "/api/v1/balances?account={}",
            account.replace('#', "%23")
        ));
        let amount = minor(&answer.json()["items"][0]["amount"], house.places());
        found.same("balance now beside the statement", account, amount, closing);
        return;
    }
    let at = bank_api::text::format_rfc3339(end - 1);
    let name = account.replace('#', "%23");
    let answer = house.get(&format!("/api/v1/balances?account={name}&at={at}"));
    let seen = minor(&answer.json()["items"][0]["amount"], house.places());
    let key = format!("{account} {at}");
    found.same("balance --at beside the statement", &key, seen, closing);
}

/// Nobody has more than was ever put in.
fn within_what_came(
    truth: &Truth,
    months: &[String],
    closings: &BTreeMap<String, i128>,
    found: &mut Differences,
) {
    for until in &months[1..] {
        let end = bank_api::text::parse_rfc3339(until).unwrap();
        let came = |moved: &&Moved| {
            let is_inside = [
                "transfer_in",
                "transfer_out",
                "activate",
                "expire",
                "cycle_reset",
            ];
            moved.effective < end
                && moved.amount > 0
                && !moved.is_use
                && moved.account != UNBILLED
                && !is_inside.contains(&moved.kind.as_str())
        };
        let came: i128 = truth
            .moves
            .iter()
            .filter(came)
            .map(|moved| i128::from(moved.amount))
            .sum();
        let has = closings.get(until).copied().unwrap_or_default();
        if has > came {
            let (has, came) = (has.to_string(), came.to_string());
            found.push("a month closes with more than came in", until, has, came);
        }
    }
}

/// Statements of users and machines: what each project was charged.
fn of_uses(house: &House, truth: &Truth, found: &mut Differences) {
    type Name = fn(&Moved) -> &String;
    let sides: [(&str, Name); 2] = [
        ("user", |moved| &moved.user),
        ("machine", |moved| &moved.machine),
    ];
    for (word, name) in sides {
        let uses = || {
            truth
                .moves
                .iter()
                .filter(|moved| moved.is_use && moved.amount != 0)
        };
        let names: BTreeSet<&String> = uses().map(name).filter(|name| !name.is_empty()).collect();
        for one in names {
            let own: Vec<&Moved> = uses().filter(|moved| name(moved) == one).collect();
            let until = time(house.now() + 62 * DAY);
            let query = format!("{word}={one}&until={until}");
            let Some(totals) = ask(house, &query, found) else {
                continue;
            };
            let mut net: BTreeMap<String, i128> = BTreeMap::new();
            for moved in &own {
                *net.entry(moved.project.clone()).or_default() -= i128::from(moved.amount);
            }
            let key = format!("statement of a {word}: by project");
            found.maps(&key, &net_of(&totals), &net);
            let all: i128 = net.values().sum();
            found.same(
                &format!("statement of a {word}: sums"),
                one,
                -totals.moved,
                all,
            );
            gross(&own, truth, &totals, &format!("{key}, gross"), found);
        }
    }
}

/// For projects that have only charges, refunds and their reversals: the sums that were not undone.
fn gross(own: &[&Moved], truth: &Truth, totals: &Totals, what: &str, found: &mut Differences) {
    let reversed: BTreeMap<i64, i64> = truth
        .moves
        .iter()
        .filter_map(|moved| Some((moved.reverses?, moved.tx)))
        .collect();
    let is_undone = |tx: i64| {
        let (mut undone, mut at) = (false, tx);
        while let Some(by) = reversed.get(&at) {
            (undone, at) = (!undone, *by);
        }
        undone
    };
    let mut sums: BTreeMap<String, (i128, i128)> = BTreeMap::new();
    let mut odd: BTreeSet<String> = BTreeSet::new();
    for moved in own {
        if !["charge", "refund", "reverse"].contains(&moved.op.as_str()) {
            odd.insert(moved.project.clone());
        }
        let sum = sums.entry(moved.project.clone()).or_default();
        if moved.reverses.is_some() || is_undone(moved.tx) {
            continue;
        }
        // A total that falls gives back inside a charge.
        if moved.op == "refund" || moved.kind == "refund" {
            sum.1 += i128::from(moved.amount);
        } else {
            sum.0 -= i128::from(moved.amount);
        }
    }
    for (project, wanted) in sums.iter().filter(|(project, _)| !odd.contains(*project)) {
        let seen = totals.parts.get(project).copied().unwrap_or_default();
        found.same(what, project, seen, *wanted);
    }
}
