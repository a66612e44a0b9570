//! Messages to partner banks: what the transactions of a command did to uses of their projects
//! (decision 0174).

use crate::amount::Amount;
use crate::decimal::Decimal;
use crate::directory::Directory;
use crate::effects::{Effects, Entry, EntryKind, InstanceChange, Transaction};
use crate::ids::{TxId, UsageId};
use crate::model::{Closing, Instance, InstanceKey, LienState};
use crate::partner::{Ends, Sent, object_at_partner};
use crate::time::{Seconds, Timestamp};

/// Adds the messages to partners that follow from the transactions of a command.
pub(super) fn notify(effects: &mut Effects, directory: &Directory) {
    if directory.records.count("partner") == 0 {
        return;
    }
    let mut sent = Vec::new();
    for change in &effects.instances {
        of_instance(change, effects, directory, &mut sent);
    }
    effects.partners.sent = sent;
}

fn of_instance(
    change: &InstanceChange,
    effects: &Effects,
    directory: &Directory,
    sent: &mut Vec<Sent>,
) {
    let instance = &change.instance;
    let first = sent.len();
    let own = effects.transactions.iter();
    for tx in own.filter(|tx| tx.instance == Some(instance.id)) {
        of_transaction(tx, instance, (effects, directory), sent);
    }
    let ends = ended(change, effects);
    let Some(there) = directory.used_by_partner(&instance.facts.project) else {
        return;
    };
    if ends == Ends::Nothing {
        return;
    }
    let own = sent.get_mut(first..).into_iter().flatten();
    let mut own = own.filter(|row| (row.project.as_str(), row.partner.as_str()) == there);
    if let Some(last) = own.next_back() {
        last.ends = ends;
        return;
    }
    let mut all = effects.transactions.iter();
    if let Some(tx) = all.rfind(|tx| tx.instance == Some(instance.id)) {
        let row = message(instance, there, tx.id, tx.at_effective);
        sent.push(Sent { ends, ..row });
    }
}

/// The messages of a transaction: one for each project and user with an amount. Returns are sent first, so that money goes
/// back from an owner before the use is charged to another one.
fn of_transaction(
    tx: &Transaction,
    instance: &Instance,
    (effects, directory): (&Effects, &Directory),
    sent: &mut Vec<Sent>,
) {
    let moved = moved(tx, instance, effects);
    let mut own = Vec::new();
    for name in names(&tx.entries, |e| &e.project) {
        let Some(there) = directory.used_by_partner(name) else {
            continue;
        };
        let first = own.len();
        let owed: Vec<&Entry> = tx
            .entries
            .iter()
            .filter(|e| is_owed(e, name, directory))
            .collect();
        for user in names(owed.iter().copied(), |e| &e.user) {
            let owed = || owed.iter().filter(|e| e.user == user);
            let amount = owed().fold(0_i128, |sum, e| sum.saturating_sub(e.delta.amount.into()));
            let amount = Amount::clamped(amount);
            if !amount.is_zero() {
                let mut row = message(instance, there, tx.id, tx.at_effective);
                user.clone_into(&mut row.user);
                row.seconds = match moved {
                    Some((_, whole)) if is_of(instance, (name, user)) => whole,
                    Some((before, _)) => Seconds(before.0.saturating_neg()),
                    None => seconds_of(tx, (name, user), effects),
                };
                row.amount = amount;
                row.account = owed().find_map(|e| e.account);
                own.push(row);
            }
        }
        if leaves((tx, name), instance, effects, directory) {
            if own.len() == first {
                own.push(message(instance, there, tx.id, tx.at_effective));
            }
            if let Some(last) = own.last_mut() {
                last.ends = Ends::Lien;
            }
        }
    }
    own.sort_by_key(|row| row.amount > Amount::ZERO);
    sent.append(&mut own);
}

/// The time of a use before and after a transaction that moves it to another owner: it gives the amount back to one, and
/// charges the present one. Its usage rows have only the difference.
fn moved(tx: &Transaction, instance: &Instance, effects: &Effects) -> Option<(Seconds, Seconds)> {
    let named = || tx.entries.iter().filter(|e| e.usage.is_some());
    let sum = |is_own: bool| {
        let entries = named().filter(|e| is_of(instance, owner(e)) == is_own);
        entries.fold(0_i128, |sum, e| sum.saturating_sub(e.delta.amount.into()))
    };
    let rows: Vec<UsageId> = named().filter_map(|e| e.usage).collect();
    let rows = effects.usages.iter().filter(|u| rows.contains(&u.id));
    let change = rows.map(|u| u.charged).reduce(Seconds::plus)?;
    let whole = instance.charged;
    let before = Seconds(whole.0.saturating_sub(change.0));
    (sum(true) > 0 && sum(false) < 0).then_some((before, whole))
}

fn owner(entry: &Entry) -> (&str, &str) {
    (&entry.project, &entry.user)
}

/// Whether these are the present project and user of a use.
fn is_of(instance: &Instance, owner: (&str, &str)) -> bool {
    (
        instance.facts.project.as_str(),
        instance.facts.user.as_str(),
    ) == owner
}

/// The names in entries, each once.
fn names<'a>(
    entries: impl IntoIterator<Item = &'a Entry>,
    name: impl Fn(&'a Entry) -> &'a str,
) -> Vec<&'a str> {
    let mut names: Vec<&str> = entries.into_iter().map(name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The seconds that a transaction charged in the names of a project and a user, or took back with an amount.
fn seconds_of(tx: &Transaction, (project, user): (&str, &str), effects: &Effects) -> Seconds {
    let named = tx.entries.iter();
    let named = named.filter(|e| e.project == project && e.user == user);
    let rows: Vec<UsageId> = named.filter_map(|e| e.usage).collect();
    let usages = effects.usages.iter().filter(|u| rows.contains(&u.id));
    usages.fold(Seconds(0), |sum, u| sum.plus(u.charged))
}

/// Whether a transaction ends the lien of a project at a partner because the use is for another bank's project now.
fn leaves(
    (tx, name): (&Transaction, &str),
    instance: &Instance,
    effects: &Effects,
    directory: &Directory,
) -> bool {
    let bank = |name| directory.used_by_partner(name).map(|(_, bank)| bank);
    if bank(name) == bank(&instance.facts.project) {
        return false;
    }
    let ends = |e: &&Entry| matches!(e.kind, EntryKind::LienRelease | EntryKind::LienReplace);
    let is_real = |e: &&Entry| {
        let mut liens = effects.liens.iter();
        liens.any(|lien| Some(lien.id) == e.lien && !lien.shadow)
    };
    let mut ended = tx.entries.iter().filter(ends).filter(is_real);
    ended.any(|e| e.project == name)
}

/// Whether the partner owes an entry of its project: whatever account here paid, but not the suspense account.
/// The present account of the partner does not matter.
fn is_owed(entry: &Entry, name: &str, directory: &Directory) -> bool {
    let suspense = directory.suspense().map(|own| own.id);
    entry.project == name && entry.account.is_some() && entry.account != suspense
}

/// What became of the lien that the use had, or of a charged use without one: a replaced lien goes on at the partner.
fn ended(change: &InstanceChange, effects: &Effects) -> Ends {
    let instance = &change.instance;
    let is_ended = |state| matches!(state, LienState::Settled | LienState::Released);
    let mut liens = effects.liens.iter();
    let is_ended = liens.any(|l| l.instance == instance.id && is_ended(l.state) && !l.shadow);
    // The partner has a timer of its own for a use without an end.
    let closed = instance.closed.filter(|_| change.standing_changed);
    let is_over = closed.is_some_and(|(_, by)| by != Closing::Expiry);
    match (is_ended && instance.lien.is_none(), instance.is_open()) {
        (true, true) => Ends::Lien,
        (true, false) => Ends::Use,
        (false, false) if is_over && !instance.billed.is_zero() => Ends::Use,
        (false, _) => Ends::Nothing,
    }
}

/// A message without an amount about a use of a project at a partner.
fn message(instance: &Instance, (project, partner): (&str, &str), tx: TxId, at: Timestamp) -> Sent {
    Sent {
        tx,
        partner: partner.to_owned(),
        account: None,
        instance: instance.id,
        key: InstanceKey {
            object_id: object_at_partner(&instance.key, instance.number),
            ..instance.key.clone()
        },
        project: project.to_owned(),
        user: instance.facts.user.clone(),
        amount: Amount::ZERO,
        seconds: Seconds(0),
        processors: instance.facts.usage.processors.unwrap_or(Decimal::ZERO),
        at,
        ends: Ends::Nothing,
    }
}
