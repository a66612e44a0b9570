//! The request: what an item refers to comes before it.

mod liens;
mod people;

use std::collections::{BTreeMap, BTreeSet};

use bank_api::text::format_rfc3339;
use bank_api::v1::{
    Constraint, ExpectedBalance, MIGRATION_ITEMS_MAX, MigrationItem, MigrationKind, NewAccount,
    NewMigration, NewRate, OpeningAllocation,
};
use serde::Serialize;
use serde_json::Value;

use self::people::{DESCRIPTION_MAX, TEXT_MAX, cut};
use super::{names::Names, proof};
use crate::{
    Settings,
    fault::Fault,
    old::{Entry, Lien, Old},
};

/// Longest id of an item, in bytes.
const ID_MAX: usize = 200;

pub(super) fn make(
    old: &mut Old,
    names: &Names,
    settings: &Settings,
) -> Result<NewMigration, Fault> {
    let mut items = Items::default();
    people::add(old, names, &mut items)?;
    accounts(old, names, &mut items)?;
    rates(old, names, &mut items)?;
    let allocations = old.allocations.iter();
    for own in allocations {
        let body = OpeningAllocation {
            account: names
                .accounts
                .get(&own.account)
                .cloned()
                .unwrap_or_default(),
            start: own.start.map(format_rfc3339),
            end: own.end.map(format_rfc3339),
            amount: own.amount.to_string(),
            deposited: own.deposited.map(|own| own.to_string()),
            credit_limit: Some(own.credit_limit.to_string()),
            note: Some(own.note.clone()).filter(|note| !note.is_empty()),
        };
        items.add(
            MigrationKind::Allocation,
            &format!("allocation {}", own.key),
            value(&body)?,
        );
    }
    let liens = liens::open(old, names, settings);
    for (lien, body) in &liens {
        items.add(
            MigrationKind::Lien,
            &format!("lien {}", lien.key),
            value(body)?,
        );
    }
    let count = items.0.len();
    if count > MIGRATION_ITEMS_MAX {
        return Err(Fault::new(
            format!(
                "the old bank has {count} objects; one migration moves {MIGRATION_ITEMS_MAX} at most"
            ),
            "remove objects that are not used any more from the old bank, or move without reservations: --no-reservations",
        ));
    }
    let liens: Vec<&Lien> = liens.iter().map(|(lien, _)| lien).collect();
    Ok(NewMigration {
        source: settings.source.clone(),
        at: Some(format_rfc3339(settings.at)),
        items: items.0,
        expected: expected(old, names, &liens, settings),
    })
}

#[derive(Default)]
struct Items(Vec<MigrationItem>);

impl Items {
    fn add(&mut self, add: MigrationKind, id: &str, body: Value) {
        let letter = |c: char| if c.is_control() { '_' } else { c };
        let mut text: String = id.chars().map(letter).collect();
        if text.len() > ID_MAX || text != id {
            let end = (0..=ID_MAX - 20)
                .rev()
                .find(|end| text.is_char_boundary(*end));
            text.truncate(end.unwrap_or(0).min(text.len()));
            text = format!("{text}~{:016x}", hash(id));
        }
        self.0.push(MigrationItem {
            id: text,
            add,
            body,
        });
    }
}

/// A short and stable mark of a long name (FNV-1a).
fn hash(text: &str) -> u64 {
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, add)
}

fn value(body: impl Serialize) -> Result<Value, Fault> {
    serde_json::to_value(body).map_err(|error| {
        let hint = "this is a defect of bank: report it with this message";
        Fault::new(format!("cannot write JSON: {error}"), hint)
    })
}

/// Objects with those above them first. An object in a circle comes as it is.
fn parents_first<'a, T>(
    all: &'a [T],
    key: impl Fn(&T) -> &String,
    parent: impl Fn(&'a T) -> Option<&'a String>,
) -> Vec<&'a T> {
    let places: BTreeMap<String, &'a T> = all.iter().map(|own| (key(own).clone(), own)).collect();
    let mut done = BTreeSet::new();
    let mut order: Vec<&'a T> = Vec::with_capacity(all.len());
    for own in all {
        let mut chain = vec![own];
        while let Some(above) = chain.last().and_then(|own| parent(own)) {
            let Some(next) = places.get(above).copied() else {
                break;
            };
            if done.contains(above) || chain.len() > all.len() {
                break;
            }
            chain.push(next);
        }
        for own in chain.into_iter().rev() {
            if done.insert(key(own).clone()) {
                order.push(own);
            }
        }
    }
    order
}

fn accounts(old: &Old, names: &Names, items: &mut Items) -> Result<(), Fault> {
    let order = parents_first(
        &old.accounts,
        |own| &own.key,
        |own| own.above.as_ref().map(|above| &above.parent),
    );
    for own in order {
        let mut lists = own.lists.clone();
        let mut list = |dimension: &str, map: Option<&BTreeMap<String, String>>| {
            let own = lists.remove(dimension)?;
            Some(constraints(&own, map))
        };
        let projects = list("project", Some(&names.projects)).unwrap_or_default();
        let users = list("user", Some(&names.users)).unwrap_or_default();
        let machines = list("machine", Some(&names.machines)).unwrap_or_default();
        let others = lists.iter();
        let above = own.above.as_ref();
        let body = NewAccount {
            name: names.accounts.get(&own.key).cloned().unwrap_or_default(),
            description: Some(cut(&own.description, DESCRIPTION_MAX)).filter(|own| !own.is_empty()),
            projects,
            users,
            machines,
            constraints: others
                .map(|(dimension, own)| (dimension.clone(), constraints(own, None)))
                .filter(|(_, own)| !own.is_empty())
                .collect(),
            parent: above.and_then(|own| names.accounts.get(&own.parent).cloned()),
            share: above.map(|own| own.share),
            overflow: above.map(|own| own.overflow.to_owned()),
            priority: own.priority.filter(|own| *own != 0),
            ..NewAccount::default()
        };
        items.add(
            MigrationKind::Account,
            &format!("account {}", own.key),
            value(&body)?,
        );
    }
    Ok(())
}

/// A list of an account. One that allows nothing excludes everything; `ANY` alone is no list.
fn constraints(own: &[Entry], map: Option<&BTreeMap<String, String>>) -> Vec<Constraint> {
    let row = |value: &str, allow, subtree| Constraint {
        value: value.to_owned(),
        allow,
        subtree,
    };
    if !own.iter().any(|entry| entry.allow) {
        return vec![row("ANY", false, false)];
    }
    if let [only] = own
        && only.value == "ANY"
    {
        return Vec::new();
    }
    let is_word = |value: &str| ["ANY", "MEMBERS"].contains(&value);
    let named = |value: &str| match map {
        Some(map) if !is_word(value) => map.get(value).cloned(),
        _ => Some(value.to_owned()),
    };
    let rows = own.iter().filter_map(|entry| {
        let value = named(&entry.value)?;
        Some(row(&value, entry.allow, entry.subtree && !is_word(&value)))
    });
    rows.collect()
}

fn rates(old: &mut Old, names: &Names, items: &mut Items) -> Result<(), Fault> {
    for own in &old.rates {
        let machine = own.machine.as_ref();
        let body = NewRate {
            kind: own.kind.clone(),
            name: own.name.clone(),
            instance: instance(own, names),
            rate: own.figure.to_string(),
            per: own.per.clone(),
            machine: machine.map(|name| names.machines.get(name).unwrap_or(name).clone()),
            description: Some(cut(&own.description, TEXT_MAX)).filter(|text| !text.is_empty()),
            ..NewRate::default()
        };
        items.add(MigrationKind::Rate, &own.key, value(&body)?);
    }
    let is_default = |own: &crate::old::Rate| {
        own.kind == "VBR" && own.name.eq_ignore_ascii_case("Processors") && own.instance.is_empty()
    };
    if old.has_rates && !old.rates.iter().any(is_default) {
        old.notes.push(
            "the old bank has no rate VBR Processors: a new bank has one, `bank rate ls` shows it, \
             `bank rate rm` ends it"
                .to_owned(),
        );
    }
    Ok(())
}

/// The instance of a rate; a name of this bank if it is a user, a project or a machine.
fn instance(own: &crate::old::Rate, names: &Names) -> String {
    let map = match own.name.to_ascii_lowercase().as_str() {
        "user" | "userid" => &names.users,
        "project" | "account" => &names.projects,
        "machine" => &names.machines,
        _ => return own.instance.clone(),
    };
    map.get(&own.instance).unwrap_or(&own.instance).clone()
}

/// The balances now: amounts and credit limits of active allocations, and the liens that are moved. A lien on an
/// allocation that begins later does not count.
fn expected(
    old: &Old,
    names: &Names,
    liens: &[&Lien],
    settings: &Settings,
) -> Vec<ExpectedBalance> {
    let mut figures = proof::allocated(old, settings.now);
    let later: BTreeSet<&str> = old
        .allocations
        .iter()
        .filter(|own| own.start.is_some_and(|start| start > settings.now))
        .map(|own| own.key.as_str())
        .collect();
    for part in liens.iter().flat_map(|lien| &lien.parts) {
        let allocation = part.allocation.as_deref();
        if allocation.is_some_and(|key| later.contains(key)) {
            continue;
        }
        if let Some(own) = figures.get_mut(part.account.as_str()) {
            own.reserved = own.reserved.plus(part.amount);
        }
    }
    let rows = old.accounts.iter().filter_map(|account| {
        let own = figures.get(account.key.as_str())?;
        Some(ExpectedBalance {
            account: names.accounts.get(&account.key)?.clone(),
            amount: own.amount.to_string(),
            held: own.reserved.to_string(),
            credit_limit: own.credit_limit.to_string(),
        })
    });
    rows.collect()
}
